package taking

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// settle settles work whose lease is 5 s long with the answers, of which the last repeats.
func settle(work context.Context, answers ...error) (tries int, err error) {
	o := outage.New(slog.New(slog.DiscardHandler))
	s, stop := NewSettling(work, 5*time.Second, o, new(Claim))
	defer stop()
	n := 0
	return s.Do(func(ctx context.Context) error {
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
type decidedFunc func(c *Claim)

func (f decidedFunc) Settle(c *Claim) { f(c) }

// A slot goes on when the call that settles its work is not answered in time or fails, and stops when too many are
// left.
func TestSlotGoesOnWithoutItsResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newAcknowledging(t).dispatcher
		d.activities = newSlots[*slot](nil, newSlotList(strconv.Itoa, 0, 1))
		free, _ := d.activities.reserve(1)
		seat := free[0]
		release := make(chan struct{})
		var settled sync.WaitGroup
		settle := func(work decidedFunc) {
			settled.Go(func() { d.settle(seat, work, d.newClaim(seats{activities: []*slot{seat}}, nil)) })
		}
		began := time.Now()
		for i := range KeptPerSlot {
			settle(func(c *Claim) {
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
		settle(func(*Claim) {
			if took := time.Since(began); took != settlePatience+time.Minute {
				t.Errorf("the slot settled more work after %v, with %d results kept", took, KeptPerSlot)
			}
		})
		settled.Wait()
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

		s, stop := NewSettling(t.Context(), time.Hour, o, new(Claim))
		if _, err := s.Do(func(context.Context) error { time.Sleep(31 * time.Second); return nil }); err != nil {
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
		s, stop := NewSettling(work, time.Hour, o, new(Claim))
		defer stop()
		var settled sync.WaitGroup
		settled.Go(func() {
			_, _ = s.Do(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
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
