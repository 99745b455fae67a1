package observed

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

func (s *store) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	told := s.begin(ctx, "take")
	taken, err := s.Store.Claim(ctx, params)
	told.took(err, taken)
	return taken, err
}

func (s *store) AckTurnAndClaim(
	ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams,
) (provider.Claimed, error) {
	told := s.begin(ctx, "ack_turn_and_take")
	taken, err := s.Store.AckTurnAndClaim(ctx, ack, params)
	told.took(err, taken)
	return taken, err
}

func (s *store) AckWorkAndClaim(
	ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams,
) (outcomes []error, taken provider.Claimed, err error) {
	told := s.begin(ctx, "ack_work_and_take")
	outcomes, taken, err = s.Store.AckWorkAndClaim(ctx, acks, params)
	told.took(first(err, outcomes), taken)
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

func (s *store) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	told := s.begin(ctx, "renew_locks")
	outcomes, err := s.Store.RenewLocks(ctx, locks)
	told.fetched(first(err, outcomes), 0, 0)
	return outcomes, err
}

func (s *store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) (err error) {
	defer s.begin(ctx, "keep_heartbeat").end(&err)
	return s.Store.KeepHeartbeat(ctx, lockToken, extendFor, details)
}

func (s *store) LostWorkItems(ctx context.Context, lockTokens []string) (_ []string, err error) {
	defer s.begin(ctx, "lost_work_items").end(&err)
	return s.Store.LostWorkItems(ctx, lockTokens)
}

func (s *store) UnknownCode(ctx context.Context, unknownFor time.Duration) (_ []provider.UnknownCode, err error) {
	defer s.begin(ctx, "unknown_code").end(&err)
	return s.Store.UnknownCode(ctx, unknownFor)
}

func (s *store) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) (_ []provider.WaitingInstance, err error) {
	defer s.begin(ctx, "waiting_for_code").end(&err)
	return s.Store.WaitingForCode(ctx, instance, unknownFor)
}

func (s *store) KnownVersions(ctx context.Context, name string, since time.Duration) (_ []string, err error) {
	defer s.begin(ctx, "known_versions").end(&err)
	return s.Store.KnownVersions(ctx, name, since)
}

func (s *store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (_ *provider.IDUse, err error) {
	defer s.begin(ctx, "start_instance").end(&err)
	return s.Store.StartInstance(ctx, start)
}

func (s *store) FindInstance(ctx context.Context, instance string) (_ *provider.IDUse, err error) {
	defer s.begin(ctx, "find_instance").end(&err)
	return s.Store.FindInstance(ctx, instance)
}

func (s *store) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (_ *provider.IDUse, err error) {
	defer s.begin(ctx, "start_instance_with").end(&err)
	return s.Store.StartInstanceWith(ctx, start, messages, toUser)
}

func (s *store) ReadProgress(ctx context.Context, instances []string) (_ []provider.Progress, err error) {
	defer s.begin(ctx, "read_progress").end(&err)
	return s.Store.ReadProgress(ctx, instances)
}
