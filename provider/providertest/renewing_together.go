package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// renewingTogether checks what a store promises that renews many leases in one call
// (§5.24). Another store skips the scenarios.
func renewingTogether() category {
	return category{"renewing together", []scenario{
		{"each_lease_has_its_outcome", renewsEach},
		{"leases_count_from_now", renewsFromNow},
		{"sessions_are_extended", renewsSessions},
		{"no_locks_are_no_error", renewsNone},
		{"bad_times_renew_nothing", renewsNothingBad},
	}}
}

const (
	ruleRenewsEach = "§5.24 result: one outcome for each lock, in order; one that fails keeps no other from being renewed"
	ruleRenewsBad  = "§5.24 error: ErrInvalidArgument when an ExtendFor is not positive: nothing is renewed"
)

// renewAll renews leases together.
func (e *env) renewAll(locks ...provider.LockRenewal) ([]error, error) {
	e.Helper()
	return e.full().RenewLocks(e.ctx, locks)
}

// turnLease and workLease are renewals.
func turnLease(token string, d time.Duration) provider.LockRenewal {
	return provider.LockRenewal{LockToken: token, Turn: true, ExtendFor: d}
}

func workLease(token string, d time.Duration) provider.LockRenewal {
	return provider.LockRenewal{LockToken: token, ExtendFor: d}
}

// Live leases, one that has ended, one that was acknowledged, and no tokens at all; a
// turn's token is no activity's.
func renewsEach(e *env) {
	e.createWithActivities("A", 2, 3, 4)
	e.create("B")
	e.create("C")
	e.wake("A", "B", "C")
	done, live, late := e.fetchWork(held), e.fetchWork(held), e.fetchWork(e.lease)
	doneTurn, liveTurn, lateTurn := e.fetch(held), e.fetch(held), e.fetch(e.lease)
	e.ackWork(done)
	e.drop(doneTurn)
	e.expire()
	outcomes, err := e.renewAll(
		turnLease(lateTurn.LockToken, held), workLease("no token", held), workLease(live.LockToken, held),
		workLease(late.LockToken, held), turnLease(liveTurn.LockToken, held), workLease(done.LockToken, held),
		turnLease(doneTurn.LockToken, held), turnLease(live.LockToken, held), turnLease("no token", held),
	)
	e.ok(err, ruleRenewsEach)
	want := []error{
		provider.ErrLockExpired, provider.ErrInvalidLockToken, nil,
		provider.ErrLockExpired, nil, provider.ErrInvalidLockToken,
		provider.ErrInvalidLockToken, provider.ErrInvalidLockToken, provider.ErrInvalidLockToken,
	}
	e.check(len(outcomes) == len(want), ruleRenewsEach, "%d outcomes of %d locks", len(outcomes), len(want))
	for i, outcome := range outcomes {
		if want[i] == nil {
			e.ok(outcome, ruleRenewsEach)
			continue
		}
		e.permanent(outcome, want[i], ruleRenewsEach)
	}
}

// A renewal makes a lease longer, or shorter.
func renewsFromNow(e *env) {
	e.createWithActivities("A", 2)
	e.create("B")
	e.wake("A", "B")
	work := e.fetchWork(e.lease)
	turn := e.fetchInstance("A", e.lease)
	short := e.fetchInstance("B", held)
	outcomes, err := e.renewAll(workLease(work.LockToken, held), turnLease(turn.LockToken, held), turnLease(short.LockToken, e.lease))
	e.ok(err, ruleRenewsEach)
	for _, outcome := range outcomes {
		e.ok(outcome, ruleRenewsEach)
	}
	e.fetchNone(ruleRenewsEach)
	e.expire()
	got := e.tryFetch(held)
	e.check(got != nil && got.Item.Instance == "B", ruleRenewsEach, "fetched %s, want B, whose lease was made shorter", render(got))
	e.fetchNone(ruleRenewsEach)
	e.fetchNoWork(noSession(), ruleRenewsEach)
	e.ackWork(work)
	e.drop(turn)
}

// An activity's renewal counts as its session's activity.
func renewsSessions(e *env) {
	stamps(e, 1, "§5.24 result: a session is extended as §5.12 says", func(got *provider.FetchedWorkItem) {
		outcomes, err := e.renewAll(workLease("no token", held), workLease(got.LockToken, held))
		e.ok(err, ruleRenewsEach)
		e.check(len(outcomes) == 2 && outcomes[1] == nil, ruleRenewsEach, "outcomes %v", outcomes)
	})
}

func renewsNone(e *env) {
	outcomes, err := e.renewAll()
	e.ok(err, "§5.24 none: no locks: nothing happens")
	e.check(len(outcomes) == 0, "§5.24 none: no locks: nothing happens", "outcomes %v", outcomes)
}

func renewsNothingBad(e *env) {
	e.createWithActivities("A", 2)
	e.wake("A")
	work, turn := e.fetchWork(e.lease), e.fetchInstance("A", e.lease)
	for _, bad := range []provider.LockRenewal{turnLease(turn.LockToken, 0), workLease(work.LockToken, -time.Second), turnLease("no token", 0)} {
		_, err := e.renewAll(workLease(work.LockToken, held), turnLease(turn.LockToken, held), bad)
		e.permanent(err, provider.ErrInvalidArgument, ruleRenewsBad)
	}
	e.expire()
	e.check(e.tryFetch(held) != nil, ruleRenewsBad, "the turn's lease was extended")
	e.check(e.tryFetchWork(held) != nil, ruleRenewsBad, "the activity's lease was extended")
}
