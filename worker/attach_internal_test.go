package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// tokens is a store that answers renewals and acks by the token.
type tokens struct {
	provider.Store
	renew, ack func(token string) error
}

func (s tokens) RenewWorkItemLock(_ context.Context, token string, _ time.Duration) error {
	return s.renew(token)
}

func (s tokens) AckWorkItem(_ context.Context, token string, _ provider.WorkItem) error {
	return s.ack(token)
}

func (s tokens) AbandonWorkItem(context.Context, provider.AbandonParams) error { return nil }

// fetchedAs is a call of an activity, fetched so often.
func fetchedAs(w *Worker, id uint64, input, token string, attempt uint32) *call {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &call{
		worker: w, ctx: ctx, cancel: cancel, logger: slog.New(slog.DiscardHandler),
		item:    provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, Name: "A", Input: input},
		fetched: &provider.FetchedWorkItem{LockToken: token, AttemptCount: attempt},
	}
}

// running starts a call as run does. It ends with the test.
func running(t *testing.T, w *Worker, token string) *call {
	t.Helper()
	c := fetchedAs(w, 2, "in", token, 1)
	c.takeLease(c.ctx)
	w.live.enter(c)
	t.Cleanup(c.end)
	return c
}

func newTestWorker(t *testing.T, store tokens) *Worker {
	t.Helper()
	w, err := New(store, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func renews(err error) func(string) error { return func(string) error { return err } }

// Only the same activity, fetched once more, attaches to a call, and only to one that runs
// or whose result is on its way.
func TestWhatAttaches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		prepare func(*call)
		again   func(*Worker) *call
		want    bool
	}{
		{"come back", nil, nil, true},
		{"its result is on its way", func(c *call) { c.hasReturned(); c.cancel(errLeaseEnded) }, nil, true},
		{"finished after the shutdown", func(c *call) { c.cancel(errShutdown); c.hasReturned() }, nil, true},
		{"told to stop", func(c *call) { c.cancel(errCancelled) }, nil, false},
		{"told to stop by the shutdown", func(c *call) { c.cancel(errShutdown) }, nil, false},
		{"told to stop, and has returned", func(c *call) { c.cancel(errCancelled); c.hasReturned() }, nil, false},
		{"given up", func(c *call) { c.giveUp() }, nil, false},
		{"settled", func(c *call) { c.conclude("1", nil) }, nil, false},
		{"over", func(c *call) { c.end() }, nil, false},
		{"its instance was started anew", nil, func(w *Worker) *call { return fetchedAs(w, 2, "in", "2", 1) }, false},
		{"other input", nil, func(w *Worker) *call { return fetchedAs(w, 2, "other", "2", 2) }, false},
		{"another activity", nil, func(w *Worker) *call { return fetchedAs(w, 3, "in", "2", 2) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newTestWorker(t, tokens{renew: renews(nil)})
			c := running(t, w, "1")
			if test.prepare != nil {
				test.prepare(c)
			}
			again := fetchedAs(w, 2, "in", "2", 2)
			if test.again != nil {
				again = test.again(w)
			}
			if got := again.attached(again.ctx); got != test.want || (c.token() == "2") != test.want {
				t.Errorf("attached: %t, the token is %s", got, c.token())
			}
		})
	}
}

// A call whose lease could not be renewed and whose token is unknown waits a moment for the
// fetch that may have taken it, and goes on with that one's token. Without it, and when its
// lease was in order, it is cancelled.
func TestLostTokens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		answer   error
		attached bool
		want     error
		after    time.Duration
	}{
		{"in order", nil, false, errCancelled, 0},
		{"could not be renewed", errBusy, false, errCancelled, attachPatience},
		{"has ended", provider.ErrLockExpired, false, errCancelled, attachPatience},
		{"fetched again", errBusy, true, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newTestWorker(t, tokens{renew: func(token string) error {
					if token == "1" {
						return test.answer
					}
					return nil
				}})
				c := running(t, w, "1")
				time.Sleep(40 * time.Second) // on the test's clock
				began := time.Now()
				c.lose("1")
				c.lose("1")
				if test.attached {
					time.Sleep(attachPatience / 2)
					if again := fetchedAs(w, 2, "in", "2", 2); !again.attached(again.ctx) {
						t.Error("not attached")
					}
					c.lose("1") // an answer to an older question
					time.Sleep(time.Hour)
					if c.ctx.Err() != nil {
						t.Errorf("ended with %v", context.Cause(c.ctx))
					}
					return
				}
				<-c.ctx.Done()
				if took := time.Since(began); !errors.Is(context.Cause(c.ctx), test.want) || took != test.after {
					t.Errorf("ended with %v after %v", context.Cause(c.ctx), took)
				}
			})
		})
	}
}

// A renewal that tells of the loss of a lease in order cancels the call at once.
func TestRenewalTellsOfTheLossAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := running(t, newTestWorker(t, tokens{renew: renews(provider.ErrInvalidLockToken)}), "1")
		<-c.ctx.Done()
		if took := time.Since(began); !wasCancelled(c.ctx) || took != 25*time.Second {
			t.Errorf("ended with %v after %v", context.Cause(c.ctx), took)
		}
	})
}

// A result whose ack is refused because a slot has fetched the activity meanwhile is sent
// with the new token if that slot has the answer, and else kept until it has.
func TestResultMeetsItsActivity(t *testing.T) {
	t.Parallel()
	for _, meanwhile := range []bool{true, false} {
		t.Run(map[bool]string{true: "while it is sent", false: "later"}[meanwhile], func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var w *Worker
				var again *call
				acked := false
				w = newTestWorker(t, tokens{
					renew: renews(errBusy),
					ack: func(token string) error {
						if token == "2" {
							acked = true
							return nil
						}
						again = fetchedAs(w, 2, "in", "2", 2)
						if meanwhile && !again.attached(again.ctx) {
							t.Error("not attached")
						}
						return provider.ErrInvalidLockToken
					},
				})
				c := running(t, w, "1")
				time.Sleep(40 * time.Second) // on the test's clock, until the lease has ended
				c.verdict = c.finish(c.ctx, provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: 2})
				var stop func()
				c.settling, stop = taking.NewSettling(c.ctx, time.Minute, w.outage, new(taking.Claim))
				defer stop()
				if v := c.apply(c.ctx, c.verdict); v != nil {
					t.Errorf("then %+v", v)
				}
				if meanwhile {
					if !acked || len(w.kept.results) != 0 {
						t.Errorf("acknowledged: %t, kept: %d", acked, len(w.kept.results))
					}
					return
				}
				if _, kept := w.kept.take(again); again.attached(again.ctx) || !kept {
					t.Error("the result is not kept")
				}
			})
		})
	}
}
