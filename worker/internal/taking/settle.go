package taking

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// KeptPerSlot bounds the finished pieces of work of one slot that the store has not taken
// yet. A slot that has so many fetches no more until it has one less.
const KeptPerSlot = 16

// The pauses between two tries to settle work: they double from first to longest, and each
// is shortened at random by up to a half. The longest bounds how late a result is after an
// outage.
const (
	firstSettlePause   = 10 * time.Millisecond
	longestSettlePause = 500 * time.Millisecond
)

// settlePatience is how long a slot waits for the first answer to a call that settles its
// work before it goes on.
const settlePatience = time.Second

// SettleGrace is how long calls that settle work may go on when their lease is lost or the
// worker has to stop.
const SettleGrace = time.Second

// Settling makes the calls that settle one piece of finished work.
type Settling struct {
	// work ends when the lease is lost or the worker has to stop.
	work context.Context //nolint:containedctx // of the work that is settled
	// Calls ends a moment after that. It is not bound to the work's more closely: the store
	// knows best whether a lease still holds, and a shutdown should not undo what is finished.
	Calls context.Context //nolint:containedctx // as above
	// lease is how long a call is made again that the store fails while it renews the lease.
	lease  time.Duration
	outage *outage.Watch
	// claim takes more work beside an acknowledgement. Its slot need not wait for a call that is repeated.
	claim *Claim
}

// NewSettling makes the calls for work that ends with its context and has a lease of that length. stop ends them.
func NewSettling(work context.Context, lease time.Duration, o *outage.Watch, c *Claim) (_ Settling, stop func()) {
	calls, cancel := context.WithCancel(context.WithoutCancel(work))
	watched := context.AfterFunc(work, func() {
		timer := time.AfterFunc(SettleGrace, cancel)
		context.AfterFunc(calls, func() { timer.Stop() })
	})
	return Settling{work: work, Calls: calls, lease: lease, outage: o, claim: c}, func() { watched(); cancel() }
}

// Do makes a call, again after each transient failure as long as the lease lasts, and
// returns how often it did. Making it again is safe: if an earlier try had its effect, the
// token is gone. When the time is up there is one last try.
func (s *Settling) Do(call func(context.Context) error) (tries int, err error) {
	var giveUp time.Time
	for pause := firstSettlePause; ; pause = min(2*pause, longestSettlePause) {
		last := s.work.Err() != nil
		tries++
		returned := s.outage.Expect(s.Calls, outage.OpSettle, 0)
		err = call(s.Calls)
		returned()
		s.outage.Observe(s.Calls, outage.OpSettle, nil) // an error is no silence, and is not told: the looks fail too
		switch {
		case err == nil:
			if tries > 1 {
				s.outage.Recovered()
			}
			return tries, nil
		case errors.Is(err, provider.ErrLockLost), !provider.IsRetryable(err), last, s.Calls.Err() != nil:
			return tries, err
		}
		s.claim.release()
		if giveUp.IsZero() {
			giveUp = time.Now().Add(s.lease)
		}
		if !time.Now().Before(giveUp) {
			return tries, err
		}
		_ = s.outage.Pause(s.work, pause-rand.N(pause/2)) //nolint:gosec // no secret; the loop looks whether the work's time is over
	}
}

// AckTurn makes a turn's acknowledgement, again as Do does. The first try, and only that, is made by combined
// if there are slots that it may take work for. queued is how many activities it queues.
func (s *Settling) AckTurn(
	queued int, plain func(context.Context) error,
	combined func(context.Context, provider.ClaimParams) (provider.Claimed, error),
) (tries int, err error) {
	return s.Do(func(ctx context.Context) error {
		request, ok := s.claim.ask(0, queued)
		if !ok {
			return plain(ctx)
		}
		taken, err := combined(ctx, request.params)
		d := s.claim.dispatcher
		if err == nil {
			d.observe(request, taken)
		}
		s.claim.answered(taken, err)
		d.note(request, taken, err)
		return err
	})
}

// AckActivity acknowledges an activity, and returns the token that was used. It is for the first try, whose call is
// shared with activities that end at the same time. ok is false if the claim is the zero one: then no call is made. If
// ctx ends first, the error is that of a call of the store that was left.
func (s *Settling) AckActivity(ctx context.Context, token func() string, completion provider.WorkItem) (used string, ok bool, err error) {
	d := s.claim.dispatcher
	if d == nil {
		return "", false, nil
	}
	used, err = d.acks.do(ctx, &activityAck{token: token, completion: completion, claim: s.claim})
	return used, true, err
}
