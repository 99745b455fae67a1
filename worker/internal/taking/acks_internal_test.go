package taking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// ackStore answers each call when it is told to.
type ackStore struct {
	provider.Store

	// calls are those that wait for their answers.
	calls chan *ackStoreCall

	mu        sync.Mutex
	abandoned []string
}

type ackStoreCall struct {
	ctx     context.Context //nolint:containedctx // for the test to look at
	tokens  []string
	params  provider.ClaimParams
	answer  chan provider.Claimed
	refused map[string]error
	err     error
}

func (s *ackStore) AckWorkAndClaim(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
	call := &ackStoreCall{ctx: ctx, params: params, answer: make(chan provider.Claimed), refused: map[string]error{}}
	for _, ack := range acks {
		call.tokens = append(call.tokens, ack.LockToken)
	}
	s.calls <- call
	var taken provider.Claimed
	select {
	case taken = <-call.answer:
	case <-ctx.Done():
		return nil, taken, provider.ContextError(ctx, "ack_work_item")
	}
	outcomes := make([]error, len(acks))
	for i, ack := range acks {
		outcomes[i] = call.refused[ack.LockToken]
	}
	if call.err != nil {
		return nil, provider.Claimed{}, call.err
	}
	return outcomes, taken, nil
}

func (s *ackStore) AbandonWorkItem(_ context.Context, params provider.AbandonParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned = append(s.abandoned, params.LockToken)
	return nil
}

// acknowledging is a dispatcher without loops, whose slots acknowledge when the test says so.
type acknowledging struct {
	*testing.T
	*dispatcher

	store *ackStore
	sent  int
}

func newAcknowledging(t *testing.T, idleTurns ...*slot) *acknowledging {
	t.Helper()
	store := &ackStore{calls: make(chan *ackStoreCall, 100)}
	d := newTestDispatcher(t.Context(), store)
	d.turns = newSlots(nil, idleTurns)
	return &acknowledging{T: t, dispatcher: d, store: store}
}

// newTestDispatcher returns a dispatcher without slots, whose runner runs nothing.
func newTestDispatcher(ctx context.Context, store provider.Store) *dispatcher {
	logger := slog.New(slog.DiscardHandler)
	d := &dispatcher{
		Config: Config{
			Store: store, Outage: outage.New(logger), Sessions: NewSessions(10), Logger: logger, Loops: new(sync.WaitGroup),
			TurnLease: 5 * time.Second, ActivityLease: 30 * time.Second,
		},
		runner: idleRunner{}, ctx: ctx, work: ctx, turns: newSlots[*slot](nil, nil), activities: newSlots[*slot](nil, nil),
	}
	d.turnRunners = newRunners(d.Loops, ctx.Done())
	d.acks = &activityAcks{dispatcher: d, apart: 1}
	return d
}

// idleRunner asks for work, and is not to run any.
type idleRunner struct{ Runner }

func (idleRunner) FetchTurn() provider.FetchOrchestrationParams {
	return provider.FetchOrchestrationParams{}
}

func (idleRunner) FetchActivity(string, bool) provider.FetchWorkParams {
	return provider.FetchWorkParams{}
}

// pendingAck is an acknowledgement under way.
type pendingAck struct {
	*activityAck

	slot  *slot
	over  chan struct{}
	token string
	err   error
}

// ends acknowledges n activities, whose tokens are numbers.
func (a *acknowledging) ends(ctx context.Context, n int) (pending []*pendingAck) {
	for range n {
		a.sent++
		token := fmt.Sprint(a.sent)
		seat := &slot{id: "slot " + token}
		p := &pendingAck{slot: seat, over: make(chan struct{}), activityAck: &activityAck{
			token: func() string { return token }, claim: a.newClaim(seats{activities: []*slot{seat}}, nil),
		}}
		pending = append(pending, p)
		go func() {
			defer close(p.over)
			p.token, p.err = a.acks.do(ctx, p.activityAck)
		}()
		synctest.Wait() // so that they come in order
	}
	return pending
}

// call returns the call that is under way, which must acknowledge the tokens.
func (a *acknowledging) call(tokens ...string) *ackStoreCall {
	a.Helper()
	synctest.Wait()
	select {
	case call := <-a.store.calls:
		if !slices.Equal(call.tokens, tokens) || len(call.params.Work) != len(tokens) {
			a.Fatalf("a call acknowledges %v and asks for %d activities, want %v", call.tokens, len(call.params.Work), tokens)
		}
		return call
	default:
		a.Fatalf("no call acknowledges %v", tokens)
		return nil
	}
}

func (a *acknowledging) noCall() {
	a.Helper()
	synctest.Wait()
	select {
	case call := <-a.store.calls:
		a.Fatalf("a call acknowledges %v, want none", call.tokens)
	default:
	}
}

// What becomes ready while a call is under way shares the next one, and each has its own outcome
// and what was taken for its slot.
func TestAcksOfOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAcknowledging(t, &slot{}, &slot{})
		first := a.ends(t.Context(), 1)[0]
		call := a.call("1")
		others := a.ends(t.Context(), 3)
		a.noCall()
		call.answer <- provider.Claimed{}
		<-first.over
		if first.token != "1" || first.err != nil || call.params.Turn == nil {
			t.Errorf("outcome of %q: %v; asked for a turn: %t", first.token, first.err, call.params.Turn != nil)
		}
		call = a.call("2", "3", "4")
		if call.params.Turn == nil {
			t.Error("no turn is asked for, although a slot is idle")
		}
		call.refused["3"] = provider.Permanent("ack_work_item", "lost", provider.ErrInvalidLockToken)
		turn := &provider.FetchedOrchestration{LockToken: "turn"}
		call.answer <- provider.Claimed{Turn: turn, Work: []provider.ClaimedWork{
			{FetchedWorkItem: &provider.FetchedWorkItem{LockToken: "for 4"}, For: 2},
			{FetchedWorkItem: &provider.FetchedWorkItem{LockToken: "for 2"}, For: 0},
		}}
		for i, p := range others {
			<-p.over
			if lost := errors.Is(p.err, provider.ErrInvalidLockToken); lost != (i == 1) || p.token != fmt.Sprint(i+2) {
				t.Errorf("outcome of %q: %v", p.token, p.err)
			}
			got := <-p.claim.answer
			if (got.Turn == turn) != (i == 0) {
				t.Errorf("%s has the turn: %t", p.token, got.Turn == turn)
			}
			switch {
			case i == 1 && len(got.Work) != 0, i != 1 && (len(got.Work) != 1 || got.Work[0].LockToken != "for "+p.token || got.Work[0].For != 0):
				t.Errorf("%s has %+v", p.token, got.Work)
			}
		}
		a.noCall()
	})
}

// A few calls are made side by side before others wait for them.
func TestAcksApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAcknowledging(t)
		a.acks.apart = 2
		pending := a.ends(t.Context(), 4)
		first, second := a.call("1"), a.call("2")
		a.noCall()
		second.answer <- provider.Claimed{}
		third := a.call("3", "4")
		third.answer <- provider.Claimed{}
		first.answer <- provider.Claimed{}
		for _, p := range pending {
			if <-p.over; p.err != nil {
				t.Errorf("outcome of %q: %v", p.token, p.err)
			}
		}
	})
}

// The failure of a call is that of all who share it, and their slots are free.
func TestAckCallFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAcknowledging(t)
		first := a.ends(t.Context(), 1)
		call := a.call("1")
		others := a.ends(t.Context(), 2)
		call.answer <- provider.Claimed{}
		call = a.call("2", "3")
		call.err = &provider.Error{Message: "away", Retryable: true}
		call.answer <- provider.Claimed{}
		for _, p := range others {
			<-p.over
			if !errors.Is(p.err, call.err) {
				t.Errorf("outcome of %q: %v", p.token, p.err)
			}
		}
		if free := len(a.activities.free); free != 2 || !a.activities.look {
			t.Errorf("%d slots are free, look: %t; want 2 that look", free, a.activities.look)
		}
		<-first[0].over
	})
}

// Those that wait do so until the call under way has returned, is late, or until there is enough
// for a whole call.
func TestAcksWaitNotForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAcknowledging(t)
		pending := a.ends(t.Context(), 1)
		began := time.Now()
		calls := []*ackStoreCall{a.call("1")}
		pending = append(pending, a.ends(t.Context(), ackTogether-1)...)
		a.noCall()
		pending = append(pending, a.ends(t.Context(), 3)...)
		var whole []string
		for n := range ackTogether {
			whole = append(whole, strconv.Itoa(2+n))
		}
		calls = append(calls, a.call(whole...))
		a.noCall()
		time.Sleep(ackPatience - time.Nanosecond)
		a.noCall()
		if len(pending) != ackTogether+3 {
			t.Fatalf("%d acknowledgements", len(pending))
		}
		time.Sleep(time.Nanosecond)
		calls = append(calls, a.call(strconv.Itoa(ackTogether+2), strconv.Itoa(ackTogether+3)))
		if waited := time.Since(began); waited != ackPatience {
			t.Errorf("waited for %v", waited)
		}
		for _, call := range calls {
			call.answer <- provider.Claimed{}
		}
		for _, p := range pending {
			<-p.over
		}
		synctest.Wait() // a call tells its outcome before it is over
		if a.acks.under != 0 {
			t.Errorf("%d calls under way", a.acks.under)
		}
	})
}

// Who does not wait any more has the error of a call that was left. What has not been sent is not,
// and a call goes on for the others; it ends when there are none.
func TestAcksAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAcknowledging(t)
		ctx, cancel := context.WithCancel(t.Context())
		unsentCtx, cancelUnsent := context.WithCancel(t.Context())
		sent := a.ends(ctx, 1)[0]
		sent.claim.Finish()
		call := a.call("1")
		unsent := a.ends(unsentCtx, 1)[0]
		stays := a.ends(t.Context(), 1)[0]
		cancelUnsent()
		<-unsent.over
		cancel()
		<-sent.over
		for _, p := range []*pendingAck{sent, unsent} {
			if !errors.Is(p.err, context.Canceled) || p.token == "" {
				t.Errorf("outcome of %q: %v", p.token, p.err)
			}
		}
		<-call.ctx.Done()
		call = a.call("3")

		ctx, cancel = context.WithCancel(t.Context())
		gone := a.ends(ctx, 1)[0]
		other := a.ends(t.Context(), 1)[0]
		call.answer <- provider.Claimed{}
		<-stays.over
		call = a.call("4", "5")
		cancel()
		<-gone.over
		gone.claim.Finish()
		synctest.Wait()
		if call.ctx.Err() != nil {
			t.Error("the call ends although somebody waits for it")
		}
		// Its slot has other work by now. What was taken for it is given back.
		if free, _ := a.activities.reserve(10); !slices.Contains(free, gone.slot) {
			t.Error("the slot of who is gone is not free")
		}
		call.answer <- provider.Claimed{Work: []provider.ClaimedWork{
			{FetchedWorkItem: &provider.FetchedWorkItem{LockToken: "for 4"}, For: 0},
		}}
		<-other.over
		if other.err != nil {
			t.Errorf("outcome of the other: %v", other.err)
		}
		a.Loops.Wait()
		if !slices.Equal(a.store.abandoned, []string{"for 4"}) {
			t.Errorf("given back: %v", a.store.abandoned)
		}
	})
}

// A call that finds nothing to acknowledge, as nobody waits any more, is not made and keeps nobody
// waiting.
func TestAckIsLeftBeforeItsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAcknowledging(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 { // whoever leaves may be early or late
			left := a.ends(ctx, 1)[0]
			<-left.over
			if !errors.Is(left.err, context.Canceled) {
				t.Errorf("outcome of %q: %v", left.token, left.err)
			}
			synctest.Wait()
			if a.acks.under != 0 || a.acks.gathering || len(a.acks.waiting) != 0 {
				t.Fatalf("%d calls under way, gathering: %t, %d wait", a.acks.under, a.acks.gathering, len(a.acks.waiting))
			}
			select {
			case <-a.store.calls: // which has been left
			default:
			}
		}
		a.ends(t.Context(), 1)
		a.call("21").answer <- provider.Claimed{}
	})
}
