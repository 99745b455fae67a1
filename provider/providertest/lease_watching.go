package providertest

import "github.com/duroxide/duroxide-go/provider"

// leaseWatching checks what a store promises that tells which leases on activities are
// gone (§5.21). Another store skips the scenarios.
func leaseWatching() category {
	return category{"lease watching", []scenario{
		{"lost_leases_are_told_in_order", watchesLosses},
		{"lease_that_ended_is_lost_when_taken", watchesTakeover},
		{"watching_changes_nothing", watchesOnly},
	}}
}

const (
	ruleLost     = "§5.21 LostWorkItems: the tokens that belong to no activity any more, in the order of the argument"
	ruleNotTaken = "§5.21 LostWorkItems: a lease that has ended is not lost before somebody took the activity"
)

// lost returns what the store says of the tokens; the scenario is skipped if it says nothing.
func (e *env) lost(tokens ...string) []string {
	e.Helper()
	lost, err := e.full().LostWorkItems(e.ctx, tokens)
	e.ok(err, ruleLost)
	return lost
}

// Cancelled, acknowledged, abandoned, deleted with its instance, and no token at all.
func watchesLosses(e *env) {
	e.createWithActivities("A", 2, 3, 4, 5)
	e.createWithActivities("B", 2)
	fetched := map[provider.ActivityRef]*provider.FetchedWorkItem{}
	var tokens []string
	for range 5 {
		got := e.fetchWork(held)
		item := e.work(got)
		fetched[ref(item.Instance, item.ID)] = got
		tokens = append(tokens, got.LockToken)
	}
	e.sameValue(e.lost(tokens...), []string(nil), ruleLost, "lost while all are held")
	e.sameValue(e.lost(), []string(nil), ruleLost, "lost of none")
	e.cancel("A", ref("A", 2))
	e.ackWork(fetched[ref("A", 3)])
	e.abandonWork(fetched[ref("A", 4)], 0, true)
	e.delete("B", true)
	var want []string
	for _, token := range tokens {
		if token != fetched[ref("A", 5)].LockToken {
			want = append(want, token)
		}
	}
	e.sameValue(e.lost(append([]string{"no token"}, tokens...)...), append([]string{"no token"}, want...), ruleLost, "lost")
}

func watchesTakeover(e *env) {
	e.createWithActivities("A", 2)
	first := e.fetchWork(e.lease)
	e.expire()
	e.sameValue(e.lost(first.LockToken), []string(nil), ruleNotTaken, "lost when the lease has ended")
	second := e.fetchWork(held)
	e.sameValue(e.lost(first.LockToken, second.LockToken), []string{first.LockToken}, ruleLost, "lost when somebody took it")
}

// Neither the lease nor the attempt count changes.
func watchesOnly(e *env) {
	e.createWithActivities("A", 2)
	got := e.fetchWork(e.lease)
	e.lost(got.LockToken)
	e.expire()
	e.lost(got.LockToken)
	again := e.fetchWork(held)
	e.sameValue(again.AttemptCount, uint32(2), "§5.21 LostWorkItems: changes nothing", "attempts")
}
