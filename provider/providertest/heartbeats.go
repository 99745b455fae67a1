package providertest

import (
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// heartbeats checks what a store promises that keeps the details of heartbeats (§5.27).
// Another store skips the scenarios.
func heartbeats() category {
	return category{"heartbeats", needing([]scenario{
		{"every_later_fetch_has_the_last_details", keepsDetails},
		{"details_are_kept_as_they_are", keepsAnyDetails},
		{"heartbeat_renews_the_lease", heartbeatRenews},
		{"heartbeat_extends_the_session", heartbeatExtendsSession},
		{"lost_lease_keeps_nothing", lostLeaseKeepsNothing},
		{"bad_details_change_nothing", badDetailsChangeNothing},
		{"wait_counts_from_the_queueing", waitsFromQueueing},
	})}
}

const (
	ruleKept        = "§5.27: every later fetch of the activity returns the details of the last heartbeat"
	ruleBeatRenews  = "§5.27: KeepHeartbeat is RenewWorkItemLock: the lease ends extendFor from now, and a session is extended"
	ruleLostKept    = "§5.27 error: those of §5.12; nothing is kept"
	ruleBadDetails  = "§5.27 error: ErrInvalidArgument for details that are empty, too long, or no UTF-8 without NUL; nothing is kept or renewed"
	ruleHeartWaited = "§5.10 result: Waited is the time since the activity was queued, whatever happened to it since"
)

// beat keeps details with a fetched activity.
func (e *env) beat(got *provider.FetchedWorkItem, extendFor time.Duration, details string) error {
	e.Helper()
	return e.full().KeepHeartbeat(e.ctx, got.LockToken, extendFor, details)
}

// hasHeartbeat asserts which details came with an activity.
func (e *env) hasHeartbeat(got *provider.FetchedWorkItem, want string) {
	e.Helper()
	e.check(got.Heartbeat == want, ruleKept, "details %q, want %q", got.Heartbeat, want)
}

// None at first; then the last, after a renewal, the end of the lease, an abandonment, a fetch
// without a heartbeat, and by each way to fetch. Another activity has its own, and one that is queued
// anew none.
func keepsDetails(e *env) {
	e.createWithActivities("A", 2, 3)
	first, other := e.fetchWork(held), e.fetchWork(held)
	e.hasHeartbeat(first, "")
	e.hasHeartbeat(other, "")
	e.ok(e.beat(other, held, "of the other"), ruleKept)
	e.ok(e.beat(first, held, "1"), ruleKept)
	e.ok(e.beat(first, held, "2"), ruleKept)
	e.ok(e.p.RenewWorkItemLock(e.ctx, first.LockToken, e.lease), ruleKept)
	e.expire()
	again := e.fetchWork(held)
	e.hasHeartbeat(again, "2")
	e.abandonWork(again, 0, true)
	again = e.fetchWork(held)
	e.hasHeartbeat(again, "2")
	e.ok(e.beat(again, held, "3"), ruleKept)
	e.abandonWork(again, 0, true)
	taken := e.took(e.full().Claim(e.ctx, someWork(noSession())))
	e.check(len(taken.Work) == 1, ruleKept, "%d activities taken, want 1", len(taken.Work))
	again = taken.Work[0].FetchedWorkItem
	e.hasHeartbeat(again, "3")
	e.ackWork(again)
	e.enqueueWork(e.work(first))
	e.hasHeartbeat(e.fetchWork(held), "")
	e.abandonWork(other, 0, true)
	e.hasHeartbeat(e.fetchWork(held), "of the other")
}

// Any text comes back as it was, the longest too.
func keepsAnyDetails(e *env) {
	e.createWithActivities("A", 2)
	for _, details := range []string{`{"rows":700}`, " ", "\"", "a\x01b\n\t\u241b", "é😀\u2028", strings.Repeat("é", provider.MaxHeartbeat/2)} {
		got := e.fetchWork(held)
		e.ok(e.beat(got, held, details), ruleKept)
		e.abandonWork(got, 0, true)
		again := e.fetchWork(held)
		e.hasHeartbeat(again, details)
		e.abandonWork(again, 0, true)
	}
}

// The lease becomes longer, and shorter.
func heartbeatRenews(e *env) {
	e.createWithActivities("A", 2, 3)
	longer, shorter := e.fetchWork(e.lease), e.fetchWork(held)
	e.ok(e.beat(longer, held, "1"), ruleBeatRenews)
	e.ok(e.beat(shorter, e.lease, "1"), ruleBeatRenews)
	e.expire()
	got := e.tryFetchWork(held)
	e.check(got != nil && e.work(got).ID == e.work(shorter).ID, ruleBeatRenews, "fetched %v, want the activity whose lease was made shorter", got)
	e.fetchNoWork(noSession(), ruleBeatRenews)
	e.ackWork(longer)
}

func heartbeatExtendsSession(e *env) {
	stamps(e, 1, ruleBeatRenews, func(got *provider.FetchedWorkItem) { e.ok(e.beat(got, held, "1"), ruleRenewed) })
}

// A lease that has ended, is another's, or was given up; and no token at all.
func lostLeaseKeepsNothing(e *env) {
	e.createWithActivities("A", 2)
	first := e.fetchWork(e.lease)
	e.ok(e.beat(first, e.lease, "kept"), ruleKept)
	e.expire()
	e.permanent(e.beat(first, held, "late"), provider.ErrLockExpired, ruleLostKept)
	second := e.fetchWork(held)
	e.hasHeartbeat(second, "kept")
	e.permanent(e.beat(first, held, "another's"), provider.ErrInvalidLockToken, ruleLostKept)
	e.permanent(e.beat(&provider.FetchedWorkItem{LockToken: "no token"}, held, "nobody's"), provider.ErrInvalidLockToken, ruleLostKept)
	e.abandonWork(second, 0, true)
	e.permanent(e.beat(second, held, "given up"), provider.ErrInvalidLockToken, ruleLostKept)
	third := e.fetchWork(held)
	e.hasHeartbeat(third, "kept")
	e.cancel("A", ref("A", 2))
	e.permanent(e.beat(third, held, "cancelled"), provider.ErrInvalidLockToken, ruleLostKept)
}

func badDetailsChangeNothing(e *env) {
	e.createWithActivities("A", 2)
	got := e.fetchWork(e.lease)
	for _, bad := range []string{"", strings.Repeat("x", provider.MaxHeartbeat+1), "a\x00b", "\xff"} {
		e.permanent(e.beat(got, held, bad), provider.ErrInvalidArgument, ruleBadDetails)
	}
	e.permanent(e.beat(got, 0, "1"), provider.ErrInvalidArgument, ruleBadDetails)
	e.expire()
	e.hasHeartbeat(e.fetchWork(held), "")
}

// An abandonment that hides the activity changes nothing of when it was queued.
func waitsFromQueueing(e *env) {
	e.enqueueWork(activityItem("A", 2))
	first := e.fetchWork(held)
	e.check(first.Waited >= 0 && first.Waited < held, ruleHeartWaited, "waited %v at once", first.Waited)
	e.abandonWork(first, e.lease, true)
	e.expire()
	again := e.fetchWork(held)
	e.check(again.Waited >= e.lease && again.Waited < held, ruleHeartWaited, "waited %v after a delay of %v", again.Waited, e.lease)
}
