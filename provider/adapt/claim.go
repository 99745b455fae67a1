package adapt

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// lookEvery is how often a worker looks for work that no call of its own has made ready.
const lookEvery = 100 * time.Millisecond

// Claim fetches a turn, and then activities until there are no more. Only the fetch of the turn waits.
func (s *store) Claim(ctx context.Context, params provider.ClaimParams) (taken provider.Claimed, err error) {
	if params.Turn != nil {
		turn := *params.Turn
		turn.PollTimeout = params.Wait
		began := time.Now()
		if params.Wait > 0 {
			s.waiting.Add(1)
			defer s.waiting.Add(-1)
		}
		if taken.Turn, err = s.FetchOrchestrationItem(ctx, turn); err != nil {
			return provider.Claimed{}, err
		}
		taken.Waited = taken.Turn == nil && params.Wait > 0 && time.Since(began) >= params.Wait/2
	}
	for i, work := range params.Work {
		work.PollTimeout = 0
		fetched, err := s.FetchWorkItem(ctx, work)
		switch {
		case err != nil && taken.Turn == nil && len(taken.Work) == 0:
			return provider.Claimed{}, err
		case err != nil: // what is locked already is not lost
			taken.Err = err
			return taken, nil
		case fetched != nil:
			taken.Work = append(taken.Work, provider.ClaimedWork{FetchedWorkItem: fetched, For: i})
		}
	}
	return taken, nil
}

// AckTurnAndClaim commits the turn, and then takes.
func (s *store) AckTurnAndClaim(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
	if err := s.AckOrchestrationItem(ctx, ack); err != nil {
		return provider.Claimed{}, err
	}
	return s.takeBeside(ctx, params), nil
}

// AckWorkAndClaim ends one activity after the other, and then takes.
func (s *store) AckWorkAndClaim(
	ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams,
) (outcomes []error, taken provider.Claimed, err error) {
	outcomes = make([]error, len(acks))
	for i, ack := range acks {
		outcomes[i] = s.AckWorkItem(ctx, ack.LockToken, ack.Completion)
	}
	return outcomes, s.takeBeside(ctx, params), nil
}

// takeBeside is Claim after an acknowledgement, which its error does not undo.
func (s *store) takeBeside(ctx context.Context, params provider.ClaimParams) provider.Claimed {
	params.Wait = 0
	taken, err := s.Claim(ctx, params)
	if err != nil {
		taken.Err = err
	}
	return taken
}

// listener has the channels of one call of WorkReady.
type listener struct{ turns, activities chan struct{} }

// WorkReady sends a notice after each call of this store that may have made work ready, and every lookEvery. Notices
// for turns are not sent by time while a Claim waits for one in the plain store.
func (s *store) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	l := &listener{turns: make(chan struct{}, 1), activities: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				l.notify(s.waiting.Load() == 0, true)
			case <-ctx.Done():
				return
			}
		}
	}()
	return l.turns, l.activities, func() {
		cancel()
		<-ended
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}
}

// notify sends notices.
func (l *listener) notify(turns, activities bool) {
	send := func(c chan struct{}, want bool) {
		if !want {
			return
		}
		select {
		case c <- struct{}{}:
		default: // there is one already
		}
	}
	send(l.turns, turns)
	send(l.activities, activities)
}

// ready notifies all listeners if a call has succeeded.
func (s *store) ready(err error, turns, activities bool) error {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for l := range s.listeners {
			l.notify(turns, activities)
		}
	}
	return err
}

func (s *store) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	return s.ready(s.Provider.AckOrchestrationItem(ctx, params), true, len(params.WorkerItems) > 0)
}

func (s *store) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	return s.ready(s.Provider.AbandonOrchestrationItem(ctx, params), params.Delay == 0, false)
}

func (s *store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	return s.ready(s.Provider.EnqueueForWorker(ctx, item), false, true)
}

func (s *store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	return s.ready(s.Provider.EnqueueForOrchestrator(ctx, item, delay), delay == 0, false)
}

func (s *store) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	return s.ready(s.Provider.AckWorkItem(ctx, lockToken, completion), true, false)
}

func (s *store) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	return s.ready(s.Provider.AbandonWorkItem(ctx, params), false, params.Delay == 0)
}
