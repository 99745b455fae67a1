package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// ending is a store with running activities: two of instance a, and one of b.
type ending struct {
	*testing.T
	*Store

	acks []provider.WorkAck
}

func newEnding(t *testing.T) ending {
	t.Helper()
	e := ending{T: t, Store: openMemory(t, Options{})}
	for _, instance := range []string{"a", "b"} {
		create(t, e.Store, instance, 0)
	}
	for i, instance := range []string{"a", "b", "a"} {
		must(t, e.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: uint64(2 + i)}))
		work, err := e.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour})
		must(t, err)
		e.acks = append(e.acks, provider.WorkAck{LockToken: work.LockToken, Completion: provider.ActivityCompletedItem{
			Instance: instance, ExecutionID: 1, ID: uint64(2 + i), Result: payload,
		}})
	}
	e.exec("SELECT 1")
	return e
}

// exec carries out a statement, and has the store know its queues and the code that was named afterwards.
func (e ending) exec(text string) {
	e.Helper()
	must(e.T, e.bare(e.T, func(ctx context.Context) error {
		_, err := e.writer.conn.ExecContext(ctx, text)
		return err
	}))
	for range 2 { // the first finds that somebody has written
		_, err := e.Claim(e.Context(), only(provider.FetchOrchestrationParams{Known: knowing("Nothing")}))
		must(e.T, err)
	}
	must(e.T, e.write(e.Context(), "test", func(ctx context.Context, tx *tx) error {
		_, err := tx.namedCodes(ctx, orchestrationCode)
		return err
	}))
}

func only(turn provider.FetchOrchestrationParams) provider.ClaimParams {
	turn.LockTimeout = time.Hour
	return provider.ClaimParams{Turn: &turn}
}

func knowing(name string) *provider.KnownCode {
	return provider.Know(provider.CodeName{Name: name, Version: "1.0.0"})
}

// turn names a turn's instance, attempt and completions; "" without one.
func (e ending) turn(f *provider.FetchedOrchestration) string {
	if f == nil {
		return ""
	}
	var ids []uint64
	for _, m := range f.Item.Messages {
		if c, ok := m.(provider.ActivityCompletedItem); ok {
			ids = append(ids, c.ID)
		}
	}
	return fmt.Sprintf("%s %s %d events, attempt %d: %v", f.Item.Instance, f.Item.OrchestrationName, len(f.Item.History), f.AttemptCount, ids)
}

// ends acknowledges everything and returns the turn taken.
func (e ending) ends(params provider.ClaimParams) provider.Claimed {
	e.Helper()
	outcomes, taken, err := e.AckWorkAndClaim(e.Context(), e.acks, params)
	must(e.T, errors.Join(append(outcomes, err)...))
	return taken
}

// left takes all turns there are, in order.
func (e ending) left() (turns []string) {
	e.Helper()
	for {
		taken, err := e.Claim(e.Context(), everything())
		must(e.T, err)
		if taken.Turn == nil {
			return turns
		}
		turns = append(turns, e.turn(taken.Turn))
	}
}

// Completions are in the turn that their call takes, all of the instance and at its first
// attempt, when nothing comes before. What the call may not take is there for others.
func TestCallTakesTheTurnOfItsCompletions(t *testing.T) {
	t.Parallel()
	turnOfA, turnOfB := "a Order 1 events, attempt 1: [2 4]", "b Order 1 events, attempt 1: [3]"
	for name, c := range map[string]struct {
		before func(ending)
		params provider.ClaimParams
		taken  string
		left   []string
	}{
		"at once": {params: everything(), taken: turnOfA, left: []string{turnOfB}},
		"after what is older": {
			before: func(e ending) { must(e.T, e.EnqueueForOrchestrator(e.Context(), start("old"), 0)) },
			params: everything(), taken: "old Order 0 events, attempt 1: []", left: []string{turnOfA, turnOfB},
		},
		"with what waits": {
			before: func(e ending) {
				must(e.T, e.EnqueueForOrchestrator(e.Context(), provider.TimerFiredItem{
					Instance: "a", ExecutionID: 1, ID: 9, FireAtMs: uint64(time.Now().Add(time.Hour).UnixMilli()),
				}, 0))
			},
			params: everything(), taken: turnOfA, left: []string{turnOfB},
		},
		"to nobody who does not know the code": {
			params: only(provider.FetchOrchestrationParams{Known: knowing("Other")}),
			left:   []string{turnOfA, turnOfB},
		},
		"to nobody without a turn": {left: []string{turnOfA, turnOfB}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnding(t)
			if c.before != nil {
				c.before(e)
			}
			if c.params.Turn != nil && c.params.Turn.Known != nil { // so that its code is known to the store
				_, err := e.Claim(t.Context(), c.params)
				must(t, err)
			}
			taken := e.ends(c.params)
			must(t, taken.Err)
			if got := e.turn(taken.Turn); got != c.taken {
				t.Errorf("took %q, want %q", got, c.taken)
			}
			if diff := cmp.Diff(c.left, e.left()); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if taken.Turn == nil {
				return
			}
			must(t, e.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: taken.Turn.LockToken}))
			again := []string{strings.Replace(c.taken, "attempt 1", "attempt 2", 1)}
			if diff := cmp.Diff(again, e.left()); diff != "" {
				t.Errorf("after it was given up (-want +got):\n%s", diff)
			}
		})
	}
}

// When the turn of the completions cannot be read, the activities have ended all the same.
func TestActivitiesEndWhenTheirTurnCannotBeRead(t *testing.T) {
	t.Parallel()
	e := newEnding(t)
	e.exec("ALTER TABLE history RENAME TO away")
	taken := e.ends(everything())
	if taken.Err == nil || taken.Turn != nil {
		t.Errorf("took %v, error %v; want an error alone", taken.Turn, taken.Err)
	}
	e.exec("ALTER TABLE away RENAME TO history")
	want := []string{"a Order 1 events, attempt 1: [2 4]", "b Order 1 events, attempt 1: [3]"}
	if diff := cmp.Diff(want, e.left()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}
