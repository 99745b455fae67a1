package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// allVerdicts lets cmp look into verdicts.
var allVerdicts = cmp.AllowUnexported(commit{}, failure{}, unreadFailure{}, complete{})

// What becomes of a turn that needs no run of its function, and of one whose function is missing (§7.5).
func TestVerdictsOfTurns(t *testing.T) {
	t.Parallel()
	delay := 7 * time.Second
	for _, test := range []struct {
		name    string
		turn    *turn
		attempt uint32
		change  func(*turn)
		want    verdict
	}{
		{name: "for a finished instance", turn: newTurn([]provider.Event{begun, completed}, raised), want: drop{}},
		{name: "for a finished instance, the last of many attempts", turn: newTurn([]provider.Event{begun, completed}, raised), attempt: 9, want: drop{}},
		{
			name: "its history cannot be decoded", turn: newTurn(nil, raised),
			change: func(t *turn) { t.item.HistoryError = errors.New("no JSON") }, want: unreadable{},
		},
		{
			name: "between two executions", turn: newTurn([]provider.Event{supported(begun), endedByNext}, raised),
			want: giveBack{Delay: delay},
		},
		{
			name: "without a beginning", turn: newTurn(nil, raised),
			want: giveBack{Delay: time.Second},
		},
		{
			name: "of another release", turn: newTurn([]provider.Event{{
				EventID: 1, DuroxideVersion: "2.0.0", Kind: provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"},
			}}, raised),
			want: giveBack{
				Delay: time.Second, IgnoreAttempt: true,
				Misfit: "a worker that supports framework version 2.0.0, to which the execution is pinned",
			},
		},
		{
			name: "its code is missing", turn: newTurn([]provider.Event{supported(begun)}, raised), attempt: 9,
			want: giveBack{
				Delay: delay, IgnoreAttempt: true,
				Misfit: `orchestration "Order" version 1.0.0, which this worker does not have; versions that it has: none`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			turn := test.turn
			turn.worker.options.MaxAttempts = 3
			turn.worker.options.UnregisteredBackoff, turn.worker.options.UnregisteredBackoffMax = delay, delay
			turn.worker.options.Logger = slog.New(slog.DiscardHandler)
			turn.worker.registry, turn.worker.cache = registry.New(), newCache(turn.worker.options)
			turn.worker.outage = outage.New(turn.worker.options.Logger)
			turn.fetched.AttemptCount = max(1, test.attempt)
			if test.change != nil {
				test.change(turn)
			}
			if diff := cmp.Diff(test.want, turn.decide(t.Context()), allVerdicts); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// supported is an event of a release that newTurn's worker supports.
func supported(e provider.Event) provider.Event {
	e.DuroxideVersion = "0.1.26"
	return e
}

// What becomes of an activity by its outcome, and by why its context has ended.
func TestVerdictsOfActivities(t *testing.T) {
	t.Parallel()
	done := provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: 2}
	failure := provider.ActivityFailedItem{Instance: "i", ExecutionID: 1, ID: 2, Details: provider.ApplicationFailure{Kind: provider.AppActivityFailed}}
	busy := unread{err: errBusy}
	for _, test := range []struct {
		name    string
		outcome provider.WorkItem
		ended   error
		want    verdict
	}{
		{"completed", done, nil, complete{done}},
		{"failed", failure, nil, complete{failure}},
		{"completed, cancelled", done, errCancelled, leave{}},
		{"failed, cancelled", failure, errCancelled, leave{}},
		{"completed after its lease ended", done, errLeaseEnded, complete{done}},
		{"failed after its lease ended", failure, errLeaseEnded, leave{}},
		{"completed in the shutdown", done, errShutdown, complete{done}},
		{"failed in the shutdown", failure, errShutdown, giveBack{IgnoreAttempt: true}},
		{"could not read the store", busy, nil, giveBack{Delay: time.Second}},
		{"could not read the store in the shutdown", busy, errShutdown, giveBack{IgnoreAttempt: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newTestWorker(t, tokens{renew: renews(nil)})
			w.options.UnregisteredBackoff, w.options.UnregisteredBackoffMax = time.Second, time.Second
			c := running(t, w, "1")
			if test.ended != nil {
				c.cancel(test.ended)
			}
			got := c.finish(c.ctx, test.outcome)
			if diff := cmp.Diff(test.want, got, allVerdicts); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// A verdict whose acknowledgement the store refuses for good is followed by another one.
func TestVerdictAfterARefusal(t *testing.T) {
	t.Parallel()
	c := running(t, newTestWorker(t, tokens{
		renew: renews(nil), ack: func(string) error { return provider.Permanent("ack", "no", nil) },
	}), "1")
	var stop func()
	c.settling, stop = taking.NewSettling(context.WithoutCancel(c.ctx), time.Minute, c.worker.outage, new(taking.Claim))
	defer stop()
	got := c.apply(c.ctx, complete{provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: 2}})
	if diff := cmp.Diff(verdict(giveBack{Delay: 100 * time.Millisecond}), got); diff != "" {
		t.Errorf("the next verdict (-want +got):\n%s", diff)
	}
}
