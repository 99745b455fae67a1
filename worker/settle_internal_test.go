package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// settle settles work whose lease is 5 s long with the answers, of which the last repeats.
func settle(work context.Context, answers ...error) (tries int, err error) {
	o := outage.New(slog.New(slog.DiscardHandler))
	s, stop := newSettling(work, 5*time.Second, o, new(claim))
	defer stop()
	n := 0
	return s.do(func(ctx context.Context) error {
		answer := answers[min(n, len(answers)-1)]
		n++
		if errors.Is(answer, errHangs) {
			<-ctx.Done()
			return provider.ContextError(ctx, "ack")
		}
		return answer
	})
}

var (
	errBusy  = provider.Retryable("ack", "busy", nil)
	errHangs = errors.New("never answers")
)

// A call that settles work is made again after transient failures only, with pauses that
// grow up to half a second, for as long as the lease.
func TestSettlingTriesAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		answers     []error
		least, most int
		want        error
	}{
		{"done", []error{nil}, 1, 1, nil},
		{"busy at first", []error{errBusy, errors.New("reset"), nil}, 3, 3, nil},
		{"refused", []error{provider.Permanent("ack", "no", nil)}, 1, 1, provider.Permanent("ack", "no", nil)},
		{"lock lost", []error{provider.ErrLockExpired}, 1, 1, provider.ErrLockLost},
		// 310 to 620 ms for the first six pauses, then 250 to 500 ms each.
		{"busy for good", []error{errBusy}, 15, 28, errBusy},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				tries, err := settle(t.Context(), test.answers...)
				if tries < test.least || tries > test.most || (err == nil) != (test.want == nil) {
					t.Errorf("%d tries, %v", tries, err)
				}
				if took := time.Since(began); took > 5*time.Second+longestSettlePause {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// When the lease is lost or the worker has to stop there is one last try, which may take a
// second, whatever the store does.
func TestSettlingEndsWithTheWork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		after time.Duration
		store error
		tries int
		took  time.Duration
	}{
		{"before", 0, errBusy, 1, 0},
		{"before, hanging", 0, errHangs, 1, time.Second},
		{"meanwhile, hanging", 3 * time.Second, errHangs, 1, 4 * time.Second},
		{"meanwhile", 3 * time.Second, errBusy, 0, 3 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				work, end := context.WithCancel(t.Context())
				began := time.Now()
				if test.after == 0 {
					end()
				} else {
					time.AfterFunc(test.after, end)
				}
				tries, err := settle(work, test.store)
				if took := time.Since(began); took != test.took || err == nil || test.tries != 0 && tries != test.tries {
					t.Errorf("ended after %v and %d tries with %v", took, tries, err)
				}
			})
		})
	}
}

// decidedFunc is work that settles as the test says.
type decidedFunc func(c *claim)

func (f decidedFunc) settle(c *claim) { f(c) }

// A slot goes on when the call that settles its work is not answered in time or fails, and stops when too many are
// left.
func TestSlotGoesOnWithoutItsResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newAcknowledging(t).dispatcher
		slot := d.worker.activitySlots(0, 1)[0]
		release := make(chan struct{})
		var settled sync.WaitGroup
		settle := func(work decidedFunc) {
			settled.Go(func() { d.settle(slot.kept, work, d.newClaim(seats{activities: []*activities{slot}}, nil)) })
		}
		began := time.Now()
		for i := range keptPerSlot {
			settle(func(c *claim) {
				if i > 0 { // all but the first fail at once
					c.release()
				}
				<-release
			})
			<-d.activities.changed // the slot is free
		}
		if took := time.Since(began); took != settlePatience {
			t.Errorf("the slot was held up for %v, want %v", took, settlePatience)
		}
		time.AfterFunc(time.Minute, func() { close(release) })
		settle(func(*claim) {
			if took := time.Since(began); took != settlePatience+time.Minute {
				t.Errorf("the slot settled more work after %v, with %d results kept", took, keptPerSlot)
			}
		})
		settled.Wait()
	})
}

// What is kept is for the same activity, fetched once more, and the oldest goes first.
func TestKeptResults(t *testing.T) {
	t.Parallel()
	fetched := func(id uint64, input string, attempt uint32) *call {
		return &call{
			item:    provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, Name: "A", Input: input},
			fetched: &provider.FetchedWorkItem{AttemptCount: attempt},
		}
	}
	k := keptResults{limit: 2, results: map[provider.ActivityRef]keptResult{}}
	done := provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1}
	for id := range uint64(3) {
		k.keep(fetched(id, "in", 1).item, 1, done)
		k.keep(fetched(id, "in", 2).item, 2, done)
	}
	for _, test := range []struct {
		name string
		call *call
		want bool
	}{
		{"evicted", fetched(0, "in", 3), false},
		{"its instance was started anew", fetched(1, "in", 1), false},
		{"forgotten with that", fetched(1, "in", 3), false},
		{"come back", fetched(2, "in", 3), true},
		{"taken", fetched(2, "in", 4), false},
	} {
		if _, ok := k.take(test.call); ok != test.want {
			t.Errorf("%s: %t", test.name, ok)
		}
	}
	if len(k.results) != 0 || len(k.order) != 0 {
		t.Errorf("%d results and %d places are left", len(k.results), len(k.order))
	}
}

// An activity that is fetched while a turn cancels it is not told by the turn. It renews its
// lease at once, which tells it.
func TestCallsOfJustCancelledActivitiesRenewAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		renewed := map[uint64]time.Duration{}
		r := newRunningCalls()
		for id := range uint64(2*maxRecent + 1) {
			r.cancel([]provider.ActivityRef{{Instance: "i", ExecutionID: 1, ActivityID: id}})
		}
		for _, id := range []uint64{0, 2*maxRecent + 1, 2 * maxRecent} { // long ago, never, just now
			c := &call{item: provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id}}
			c.lease = leases.Hold(t.Context(), 30*time.Second, 5*time.Second, func(context.Context) error {
				renewed[id] = time.Since(began)
				return provider.ErrInvalidLockToken
			}, func(error) {}, slog.New(slog.DiscardHandler))
			t.Cleanup(c.lease.Stop)
			t.Cleanup(r.enter(c))
		}
		synctest.Wait()
		if len(renewed) != 1 || renewed[2*maxRecent] != 0 {
			t.Errorf("renewed %v", renewed)
		}
	})
}

// silence is how long a call takes before the store counts as away.
const silence = 5 * time.Second

// A store that does not answer is away like one that fails: it is told when a call takes longer
// than it may wait and 5 s more, rarely after that, and once when the store is back.
func TestSilentStoreIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := outage.New(slog.New(slog.NewTextHandler(&log, nil)))
		returned, forEver := o.Expect(t.Context(), "take", time.Minute), o.Expect(t.Context(), "fetch", math.MaxInt64)
		time.Sleep(time.Minute + silence - 1)
		synctest.Wait()
		returned()
		forEver()
		time.Sleep(time.Minute)
		if log.Len() > 0 {
			t.Errorf("told of a call that returned in time:\n%s", &log)
		}

		s, stop := newSettling(t.Context(), time.Hour, o, new(claim))
		if _, err := s.do(func(context.Context) error { time.Sleep(31 * time.Second); return nil }); err != nil {
			t.Error(err)
		}
		stop()
		synctest.Wait()
		for text, want := range map[string]int{
			`level=ERROR msg="the store fails; its calls are repeated until it is back" operation=acknowledge error="a call has not returned for 5s"`: 1,
			`level=ERROR msg="the store still fails"`:           1, // after 10 s, and next after 20 more
			`level=WARN msg="the store is back" failed_for=26s`: 1,
		} {
			if n := strings.Count(log.String(), text); n != want {
				t.Errorf("%d times, want %d: %s\nlog:\n%s", n, want, text, &log)
			}
		}
		if o.Ongoing() {
			t.Error("the store is still taken for away")
		}
	})
}

// An acknowledgement that does not return and is given up, as its lease is lost, is not repeated: the store is back
// when it answers something else.
func TestAcknowledgementThatIsGivenUpIsNoLastingOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := outage.New(slog.New(slog.NewTextHandler(&log, nil)))
		work, lost := context.WithCancel(t.Context())
		s, stop := newSettling(work, time.Hour, o, new(claim))
		defer stop()
		var settled sync.WaitGroup
		settled.Go(func() {
			_, _ = s.do(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		})
		time.Sleep(silence + time.Second)
		o.Observe(t.Context(), outage.OpFetchWork, nil)
		if !o.Ongoing() {
			t.Error("taken for back while the acknowledgement does not return")
		}
		lost()
		settled.Wait()
		if !o.Ongoing() {
			t.Error("taken for back before the store has answered")
		}
		o.Observe(t.Context(), outage.OpFetchWork, nil)
		if o.Ongoing() || strings.Count(log.String(), `msg="the store is back"`) != 1 {
			t.Errorf("still away: %v; log:\n%s", o.Ongoing(), &log)
		}
	})
}
