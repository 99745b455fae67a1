package sqlite

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// everything takes a turn and two activities.
func everything() provider.ClaimParams {
	work := provider.FetchWorkParams{LockTimeout: time.Hour}
	return provider.ClaimParams{
		Turn: &provider.FetchOrchestrationParams{LockTimeout: time.Hour}, Work: []provider.FetchWorkParams{work, work},
	}
}

// When the taking fails, what was done before it stays: the acknowledgement, and the turn
// that was locked first. That is so for a call alone and for one of a group.
func TestTakingFailsAfterTheAck(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]int{"alone": 0, "in a group": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMemory(t, Options{})
			must(t, s.EnqueueForOrchestrator(t.Context(), start("first"), 0))
			held := fetch(t, s)
			must(t, s.EnqueueForOrchestrator(t.Context(), start("second"), 0))
			must(t, s.bare(t, func(ctx context.Context) error {
				_, err := s.writer.conn.ExecContext(ctx, `
					CREATE TRIGGER broken BEFORE UPDATE OF attempt_count ON worker_queue
					BEGIN SELECT raise(ABORT, 'broken'); END`)
				return err
			}))
			ack := provider.AckOrchestrationParams{LockToken: held.LockToken, ExecutionID: 1, WorkerItems: []provider.WorkItem{
				provider.ActivityExecuteItem{Instance: "first", ExecutionID: 1, ID: 2},
			}}
			release := hold(t, s)
			for i := range beside {
				go func() { _ = s.EnqueueForOrchestrator(t.Context(), start("beside"), time.Hour) }()
				s.writer.queuedCalls(t, i+1)
			}
			type outcome struct {
				provider.Claimed
				err error
			}
			done := make(chan outcome, 1)
			go func() {
				taken, err := s.AckTurnAndClaim(t.Context(), ack, everything())
				done <- outcome{taken, err}
			}()
			s.writer.queuedCalls(t, beside+1)
			release()
			got := soon(t, done)
			must(t, got.err)
			if got.Err == nil || len(got.Work) != 0 || got.Turn == nil || got.Turn.Item.Instance != "second" {
				t.Fatalf("took %v and %v, error %v; want the turn and an error", got.Turn, got.Work, got.Err)
			}
			must(t, s.RenewOrchestrationItemLock(t.Context(), got.Turn.LockToken, time.Hour))
			if err := s.RenewOrchestrationItemLock(t.Context(), held.LockToken, time.Hour); !errors.Is(err, provider.ErrInvalidLockToken) {
				t.Errorf("renewing the acknowledged turn: %v", err)
			}
			must(t, s.bare(t, func(ctx context.Context) error {
				_, err := s.writer.conn.ExecContext(ctx, "DROP TRIGGER broken")
				return err
			}))
			work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour})
			must(t, err)
			if work == nil || work.AttemptCount != 1 {
				t.Errorf("fetched %v; want the activity at its first attempt", work)
			}
		})
	}
}

// A transaction that is done again tells nothing of what the first try had taken.
func TestNothingIsKeptOfTheFirstTry(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	s := openMemory(t, Options{now: func() int64 { return 1_000_000 + looks.Load() }})
	for id := range uint64(3) {
		must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2 + id}))
	}
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour})
	must(t, err)
	// The first try takes the turn and one activity, and fails with the other. By the time
	// of the second, the turn cannot be locked.
	must(t, s.bare(t, func(ctx context.Context) error {
		_, err := s.writer.conn.ExecContext(ctx, `
			CREATE TRIGGER second BEFORE UPDATE OF attempt_count ON worker_queue WHEN new.activity_id = 4
			BEGIN SELECT raise(ABORT, 'the first try'); END;
			CREATE TRIGGER late BEFORE UPDATE OF lock_token ON inboxes WHEN new.locked_at > 1000000
			BEGIN SELECT raise(ABORT, 'the second try'); END`)
		return err
	}))
	s.writer.clock = func() int64 { return 1_000_000 + max(0, looks.Add(1)-2) }
	_, taken, err := s.AckWorkAndClaim(t.Context(), []provider.WorkAck{{LockToken: work.LockToken}}, everything())
	must(t, err)
	if taken.Turn != nil || len(taken.Work) != 0 || taken.Err == nil || !strings.HasPrefix(taken.Err.Error(), opFetchOrchestration) || !strings.Contains(taken.Err.Error(), "the second try") {
		t.Errorf("took %v and %v, error %v; want nothing because of the second try", taken.Turn, taken.Work, taken.Err)
	}
}

// What a Claim has done in a transaction that fails is not taken for committed: nobody is told of it, and the next one
// makes its set of code seen.
func TestFailedTakeLeavesNothing(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	turn := provider.FetchOrchestrationParams{LockTimeout: time.Hour, Known: know("Order", "1.0.0")}
	params := provider.ClaimParams{Turn: &turn}
	_, err := s.Claim(t.Context(), params)
	must(t, err)
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	clock.Add(seenEvery)
	var told []effects
	commit, published := s.writer.control.commit, s.writer.published
	must(t, s.bare(t, func(context.Context) error {
		s.writer.control.commit = s.writer.control.undo // which fails without a savepoint
		s.writer.published = func(e effects) {
			told = append(told, e)
			published(e)
		}
		return nil
	}))
	if taken, err := s.Claim(t.Context(), params); err == nil || taken.Turn != nil {
		t.Errorf("took %+v, error %v; want an error of the transaction", taken, err)
	}
	must(t, s.bare(t, func(context.Context) error {
		s.writer.control.commit, s.writer.published = commit, published
		return nil
	}))
	if want := []effects{{}}; !reflect.DeepEqual(told, want) {
		t.Errorf("told of %+v; want %+v", told, want)
	}
	taken, err := s.Claim(t.Context(), params)
	must(t, err)
	if taken.Turn == nil || taken.Turn.AttemptCount != 1 {
		t.Errorf("took %+v; want the turn at its first attempt", taken)
	}
	seen, err := s.queryTexts(t.Context(), "SELECT CAST(seen_at AS TEXT) FROM known_code")
	must(t, err)
	if want := fmt.Sprint(clock.Load()); len(seen) != 1 || seen[0] != want {
		t.Errorf("the set was seen at %v; want %s", seen, want)
	}
}

// A combined call whose caller has gone gives back what it has taken, with the attempts;
// the acknowledgement stays.
func TestTakeGivesBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	var armed atomic.Bool
	s := openMemory(t, Options{now: func() int64 {
		if armed.CompareAndSwap(true, false) {
			cancel()
			<-gone
		}
		return time.Now().UnixMilli()
	}})
	must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}))
	work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour})
	must(t, err)
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	for id := range uint64(2) {
		must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 3 + id}))
	}
	armed.Store(true)
	_, _, err = s.AckWorkAndClaim(ctx, []provider.WorkAck{{LockToken: work.LockToken}}, everything())
	contextEnded(t, err, context.Canceled)
	close(gone)
	taken, err := s.Claim(t.Context(), everything())
	must(t, err)
	if taken.Turn == nil || taken.Turn.AttemptCount != 1 || len(taken.Work) != 2 {
		t.Fatalf("took %+v; want a turn at its first attempt and two activities", taken)
	}
	for _, w := range taken.Work {
		if w.AttemptCount != 1 {
			t.Errorf("took %v at attempt %d; want 1", w.Item, w.AttemptCount)
		}
	}
}

// A notice comes for what a call leaves, and not for what it takes itself.
func TestNoNoticeForWhatTheCallTakes(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	turns, activities, stop := s.WorkReady()
	defer stop()
	soon(t, turns)
	soon(t, activities)
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	soon(t, turns)
	turn := fetch(t, s)
	var items []provider.WorkItem
	for id := range uint64(2) {
		items = append(items, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2 + id})
	}
	taken, err := s.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, WorkerItems: items,
	}, everything())
	must(t, err)
	if len(taken.Work) != 2 {
		t.Fatalf("took %v; want both activities", taken.Work)
	}
	// The writer tells before it begins the next call.
	must(t, s.RenewWorkItemLock(t.Context(), taken.Work[0].LockToken, time.Hour))
	if len(turns)+len(activities) != 0 {
		t.Errorf("%d and %d notices of what was taken", len(turns), len(activities))
	}
	must(t, s.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: taken.Work[0].LockToken}))
	soon(t, activities)
}

// Calls that share a transaction are all done before any of them takes work: the turn that
// the first of several completions takes has the others too, and nothing is left to tell of.
func TestTakingSeesTheWholeGroup(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	turns, _, stop := s.WorkReady()
	defer stop()
	const n = 5
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	turn := fetch(t, s)
	var items []provider.WorkItem
	for id := range uint64(n) {
		items = append(items, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2 + id})
	}
	params := provider.ClaimParams{Work: slices.Repeat([]provider.FetchWorkParams{{LockTimeout: time.Hour}}, n)}
	held, err := s.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, WorkerItems: items,
		HistoryDelta: []provider.Event{event("i", 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"})},
		Metadata:     provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")},
	}, params)
	must(t, err)
	for len(turns) > 0 {
		<-turns
	}
	release := hold(t, s)
	taken := make(chan provider.Claimed, n)
	for i, work := range held.Work {
		go func() {
			outcomes, got, err := s.AckWorkAndClaim(t.Context(), []provider.WorkAck{{
				LockToken: work.LockToken, Completion: provider.ActivityCompletedItem{
					Instance: "i", ExecutionID: 1, ID: 2 + uint64(i), Result: "r",
				},
			}}, everything())
			if err = errors.Join(append(outcomes, err)...); err != nil {
				t.Error(err)
			}
			taken <- got
		}()
		s.writer.queuedCalls(t, i+1)
	}
	release()
	var messages []int
	for range n {
		if got := soon(t, taken); got.Turn != nil {
			messages = append(messages, len(got.Turn.Item.Messages))
		}
	}
	if !slices.Equal(messages, []int{n}) {
		t.Errorf("turns with %v messages were taken; want one with all %d", messages, n)
	}
	// The writer tells before it begins the next call.
	_, err = s.Claim(t.Context(), everything())
	must(t, err)
	if len(turns) != 0 {
		t.Error("a notice of what was taken")
	}
}

// What a turn queues goes to the entries of its own call that it fits, at its first
// attempt, and behind what is older.
func TestTurnHandsOnByTheEntriesTerms(t *testing.T) {
	t.Parallel()
	gpu, err := provider.Tags("gpu")
	must(t, err)
	item := func(id uint64, tag, session *string) provider.WorkItem {
		return provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, Tag: tag, SessionID: session}
	}
	plain := provider.FetchWorkParams{LockTimeout: time.Hour}
	owner := provider.FetchWorkParams{LockTimeout: time.Hour, Session: &provider.SessionFetchConfig{OwnerID: "me", LockTimeout: time.Hour}}
	for name, c := range map[string]struct {
		older, queued []provider.WorkItem
		cancelled     []provider.ActivityRef
		entries       []provider.FetchWorkParams
		// want are the activities taken, by their entry, and left those that are not.
		want map[int]uint64
		left []uint64
	}{
		"by tag": {
			queued:  []provider.WorkItem{item(2, nil, nil), item(3, new("gpu"), nil), item(4, nil, nil), item(5, nil, nil)},
			entries: []provider.FetchWorkParams{{LockTimeout: time.Hour, Tags: gpu}, plain, plain},
			want:    map[int]uint64{0: 3, 1: 2, 2: 4}, left: []uint64{5},
		},
		"in the order of the queue": {
			queued:  []provider.WorkItem{item(2, nil, new("s")), item(3, nil, nil)},
			entries: []provider.FetchWorkParams{owner}, want: map[int]uint64{0: 2}, left: []uint64{3},
		},
		"no sessions for those who want none": {
			queued:  []provider.WorkItem{item(2, nil, new("s")), item(3, nil, nil)},
			entries: []provider.FetchWorkParams{plain}, want: map[int]uint64{0: 3},
		},
		"what is older first": {
			older: []provider.WorkItem{item(9, nil, nil)}, queued: []provider.WorkItem{item(2, nil, nil)},
			entries: []provider.FetchWorkParams{plain}, want: map[int]uint64{0: 9}, left: []uint64{2},
		},
		"nothing that the turn cancels": {
			queued:    []provider.WorkItem{item(2, nil, nil), item(3, nil, nil)},
			cancelled: []provider.ActivityRef{{Instance: "i", ExecutionID: 1, ActivityID: 2}},
			entries:   []provider.FetchWorkParams{plain, plain}, want: map[int]uint64{0: 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMemory(t, Options{})
			must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
			turn := fetch(t, s)
			_, err := s.Claim(t.Context(), provider.ClaimParams{Work: c.entries}) // so that the store knows the queue
			must(t, err)
			for _, w := range c.older {
				must(t, s.EnqueueForWorker(t.Context(), w))
			}
			taken, err := s.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
				LockToken: turn.LockToken, ExecutionID: 1, WorkerItems: c.queued, CancelledActivities: c.cancelled,
			}, provider.ClaimParams{Work: c.entries})
			must(t, err)
			must(t, taken.Err)
			got := map[int]uint64{}
			for _, work := range taken.Work {
				activity, _ := work.Item.(provider.ActivityExecuteItem)
				got[work.For] = activity.ID
				if work.AttemptCount != 1 {
					t.Errorf("activity %d is at attempt %d", activity.ID, work.AttemptCount)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("taken by entry (-want +got):\n%s", diff)
			}
			var left []uint64
			for {
				work, err := s.FetchWorkItem(t.Context(), plain)
				must(t, err)
				if work == nil {
					break
				}
				activity, _ := work.Item.(provider.ActivityExecuteItem)
				left = append(left, activity.ID)
			}
			if diff := cmp.Diff(c.left, left); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			for _, work := range taken.Work {
				must(t, s.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: work.LockToken}))
			}
			again, err := s.Claim(t.Context(), provider.ClaimParams{Work: c.entries})
			must(t, err)
			for _, work := range again.Work {
				if work.AttemptCount != 2 {
					t.Errorf("%v is at attempt %d after it was given up; want 2", work.Item, work.AttemptCount)
				}
			}
			if len(again.Work) != len(c.want) {
				t.Errorf("took %d again, want %d", len(again.Work), len(c.want))
			}
		})
	}
}
