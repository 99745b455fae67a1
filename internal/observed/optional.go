package observed

import (
	"cmp"
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// The optional interfaces of a store. As says whether the store has them; a call of one that
// it has not comes from nobody.
var (
	_ provider.Taker           = (*store)(nil)
	_ provider.LockRenewer     = (*store)(nil)
	_ provider.LeaseWatcher    = (*store)(nil)
	_ provider.HeartbeatKeeper = (*store)(nil)
	_ provider.CodeSelector    = (*store)(nil)
	_ provider.InstanceStarter = (*store)(nil)
	_ provider.MessageStarter  = (*store)(nil)
	_ provider.ProgressReader  = (*store)(nil)
	_ provider.ChangeNotifier  = (*store)(nil)
	_ provider.EndNotifier     = (*store)(nil)
)

// inner is the store as an optional interface, which it has.
func inner[T any](s *store) T {
	optional, _ := s.Provider.(T)
	return optional
}

func (s *store) Take(ctx context.Context, params provider.TakeParams) (provider.Taken, error) {
	told := s.begin(ctx, "take")
	taken, err := inner[provider.Taker](s).Take(ctx, params)
	told.took(err, taken)
	return taken, err
}

func (s *store) AckTurnAndTake(
	ctx context.Context, ack provider.AckOrchestrationParams, params provider.TakeParams,
) (provider.Taken, error) {
	told := s.begin(ctx, "ack_turn_and_take")
	taken, err := inner[provider.Taker](s).AckTurnAndTake(ctx, ack, params)
	told.took(err, taken)
	return taken, err
}

func (s *store) AckWorkAndTake(
	ctx context.Context, acks []provider.WorkAck, params provider.TakeParams,
) (outcomes []error, taken provider.Taken, err error) {
	told := s.begin(ctx, "ack_work_and_take")
	var early *provider.FetchedOrchestration
	if told != nil && params.Early != nil {
		start := params.Early
		params.Early = func(turn *provider.FetchedOrchestration) {
			early = turn
			start(turn)
		}
	}
	outcomes, taken, err = inner[provider.Taker](s).AckWorkAndTake(ctx, acks, params)
	seen := taken
	seen.Turn = cmp.Or(taken.Turn, early)
	told.took(first(err, outcomes), seen)
	return outcomes, taken, err
}

// first is a call's error or, if it has none, the first of its outcomes' errors.
func first(err error, outcomes []error) error {
	for _, outcome := range outcomes {
		if err == nil {
			err = outcome
		}
	}
	return err
}

func (s *store) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	return inner[provider.Taker](s).WorkReady()
}

func (s *store) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	told := s.begin(ctx, "renew_locks")
	outcomes, err := inner[provider.LockRenewer](s).RenewLocks(ctx, locks)
	told.fetched(first(err, outcomes), 0, 0)
	return outcomes, err
}

func (s *store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) (err error) {
	defer s.begin(ctx, "keep_heartbeat").end(&err)
	return inner[provider.HeartbeatKeeper](s).KeepHeartbeat(ctx, lockToken, extendFor, details)
}

func (s *store) LostWorkItems(ctx context.Context, lockTokens []string) (_ []string, err error) {
	defer s.begin(ctx, "lost_work_items").end(&err)
	return inner[provider.LeaseWatcher](s).LostWorkItems(ctx, lockTokens)
}

func (s *store) UnknownCode(ctx context.Context, unknownFor time.Duration) (_ []provider.UnknownCode, err error) {
	defer s.begin(ctx, "unknown_code").end(&err)
	return inner[provider.CodeSelector](s).UnknownCode(ctx, unknownFor)
}

func (s *store) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) (_ []provider.WaitingInstance, err error) {
	defer s.begin(ctx, "waiting_for_code").end(&err)
	return inner[provider.CodeSelector](s).WaitingForCode(ctx, instance, unknownFor)
}

func (s *store) KnownVersions(ctx context.Context, name string, since time.Duration) (_ []string, err error) {
	defer s.begin(ctx, "known_versions").end(&err)
	return inner[provider.CodeSelector](s).KnownVersions(ctx, name, since)
}

// StartInstance and the next three may be asked of a store that is none: package provider
// has functions that ask for more than one call then.
func (s *store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (_ *provider.IDUse, err error) {
	defer s.begin(ctx, "start_instance").end(&err)
	return provider.StartInstance(ctx, s.Provider, start)
}

func (s *store) FindInstance(ctx context.Context, instance string) (_ *provider.IDUse, err error) {
	defer s.begin(ctx, "find_instance").end(&err)
	return provider.FindInstance(ctx, s.Provider, instance)
}

func (s *store) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (_ *provider.IDUse, err error) {
	defer s.begin(ctx, "start_instance_with").end(&err)
	return provider.StartInstanceWith(ctx, s.Provider, start, messages, toUser)
}

func (s *store) ReadProgress(ctx context.Context, instances []string) (_ []provider.Progress, err error) {
	defer s.begin(ctx, "read_progress").end(&err)
	return provider.ReadProgress(ctx, s.Provider, instances)
}

func (s *store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return inner[provider.ChangeNotifier](s).InstanceChanged(instance)
}

func (s *store) InstanceEnded(instance string) (ended <-chan struct{}, stop func()) {
	return inner[provider.EndNotifier](s).InstanceEnded(instance)
}
