package providertest

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// instanceLocking checks that at most one turn per instance runs at any time and
// that a turn consumes the messages it was given, no others.
func instanceLocking() category {
	return category{"instance locking", []scenario{
		{"exclusive_instance_lock", lockIsExclusive},
		{"lock_token_uniqueness", tokensAreUnique},
		{"invalid_lock_token_rejection", junkTokensRefused},
		{"concurrent_instance_fetching", concurrentFetches},
		{"completions_arriving_during_lock_blocked", completionsWaitForTheLock},
		{"cross_instance_lock_isolation", locksAreIndependent},
		{"message_tagging_during_lock", onlyFetchedMessagesTagged},
		{"ack_only_affects_locked_messages", ackLeavesLaterMessages},
		{"multi_threaded_lock_contention", oneFetcherWins},
		{"multi_threaded_no_duplicate_processing", nothingProcessedTwice},
		{"multi_threaded_lock_expiration_recovery", oneFetcherRecovers},

		{"ack_with_an_expired_or_taken_token_changes_nothing", ackWithLostToken},
		{"ack_after_force_delete_recreates_nothing", ackAfterDelete},
		{"ack_repeated_after_a_lost_answer", ackRepeated},
		{"lost_lock_is_reported_before_a_bad_turn", lostLockFirst},
	}}
}

const (
	ruleLostAnswer = "§5.2: retry after an ambiguous failure: if the first attempt committed, " +
		"the retry fails with Invalid lock token; no double effects"
	ruleExclusive = "§1: instance lock: exclusive lease; at most one turn per instance runs at any time"
	ruleNotMixed  = "§5.1: messages enqueued after the fetch: not tagged; stay queued; delivered in the next turn; " +
		"while the instance is locked they make no second fetch possible"
	ruleTwoFetch = "§5.1: two callers fetch concurrently: different instances, or one gets nil; never the same instance"
	ruleUnique   = "§2.2: lock token: globally unique; §1: changes on every fetch"
	ruleLateAck  = "§5.2: ack after expiry when nobody else fetched: still rejected; messages become fetchable again"
	ruleTaken    = "§5.2: ack after another dispatcher re-fetched: Invalid lock token"
)

// A locked instance cannot be fetched until its ack, whatever arrives meanwhile.
func lockIsExclusive(e *env) {
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.fetchNone(ruleExclusive)
	e.lockHeld("A", ruleExclusive)
	e.commit(got, provider.AckOrchestrationParams{Metadata: created()})
	e.batch(e.fetchInstance("A", held), ruleNotMixed, raised("A", "knock"))
	e.fetchNone(ruleExclusive)
}

// No two fetches return the same token: of other instances, of the same one
// again, or of activities.
func tokensAreUnique(e *env) {
	seen := map[string]bool{}
	fresh := func(token string) {
		e.Helper()
		e.check(len(token) >= 16, "§2.2: lock token: unguessable (UUID v4 or 128-bit random)", "token %q is too short for that", token)
		e.check(!seen[token], ruleUnique, "token %q came twice", token)
		seen[token] = true
	}
	for i := range 10 {
		instance := fmt.Sprint("i", i)
		e.enqueue(startItem(instance))
		e.enqueueWork(activityItem(instance, 2))
	}
	for range 3 {
		var turns []*provider.FetchedOrchestration
		var works []*provider.FetchedWorkItem
		for range 10 {
			turns, works = append(turns, e.fetch(held)), append(works, e.fetchWork(held))
		}
		for i := range turns {
			fresh(turns[i].LockToken)
			fresh(works[i].LockToken)
			e.abandon(turns[i], 0, false)
			e.abandonWork(works[i], 0, false)
		}
	}
}

// Ack, renew and abandon refuse tokens of any shape that no instance carries,
// also an activity's; the instance stays with the true token's holder.
func junkTokensRefused(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	got, work := e.fetchInstance("A", held), e.fetchWork(held)
	tokens := []string{
		"", "no-such-token", "00000000-0000-0000-0000-000000000000", "'; --",
		got.LockToken[1:], work.LockToken,
	}
	for _, token := range tokens {
		turn := turnOf(got, provider.AckOrchestrationParams{Metadata: created()})
		turn.LockToken = token
		rule := fmt.Sprintf("%s (token %q)", ruleBadToken, token)
		e.permanent(e.p.AckOrchestrationItem(e.ctx, turn), provider.ErrInvalidLockToken, rule)
		e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, token, held), provider.ErrInvalidLockToken, rule)
		abandon := provider.AbandonParams{LockToken: token}
		e.permanent(e.p.AbandonOrchestrationItem(e.ctx, abandon), provider.ErrInvalidLockToken, rule)
	}
	e.lockHeld("A", ruleNothing)
	e.noInstance("A", ruleNothing)
	e.commit(got, provider.AckOrchestrationParams{Metadata: created()})
	e.ackWork(work)
}

// As many callers as instances, all at once: each gets an instance of its own.
func concurrentFetches(e *env) {
	const n = 10
	for i := range n {
		e.enqueue(startItem(fmt.Sprint("i", i)))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	e.together(n, func(int) error {
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return violation("§5.1 step 6: nil may be returned only when no eligible candidate remains",
				"got %v, error %v", got, err)
		}
		mu.Lock()
		defer mu.Unlock()
		seen[got.Item.Instance]++
		return nil
	})
	e.check(len(seen) == n, ruleTwoFetch, "%d callers got %d instances: %v", n, len(seen), seen)
	e.fetchNone(ruleExclusive)
}

// A completion that arrives during a turn waits for the next one, and is counted
// only there.
func completionsWaitForTheLock(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.ackWork(e.fetchWork(held))
	e.fetchNone(ruleNotMixed)
	e.drop(got)
	next := e.fetchInstance("A", held)
	e.batch(next, ruleNotMixed, completedItem("A", 2))
	same(e, next.AttemptCount, 1, "§5.1 step 9: first delivery reports 1")
}

// One instance's lock, ack and abandon leave every other instance alone.
func locksAreIndependent(e *env) {
	for _, instance := range []string{"A", "B", "C"} {
		e.enqueue(startItem(instance))
	}
	a, b, c := e.fetchInstance("A", held), e.fetchInstance("B", held), e.fetchInstance("C", held)
	e.commit(b, provider.AckOrchestrationParams{Metadata: created()})
	e.enqueue(raised("A", "x"), raised("B", "x"), raised("C", "x"))
	e.fetchInstance("B", held)
	e.fetchNone(ruleExclusive)
	e.abandon(c, 0, false)
	e.batch(e.fetchInstance("C", held), "§5.3: delete the lock row: immediately fetchable", startItem("C"), raised("C", "x"))
	e.fetchNone(ruleExclusive)
	e.commit(a, provider.AckOrchestrationParams{Metadata: created()})
	e.batch(e.fetchInstance("A", held), "§5.2 step 2: rows that arrived later are untouched", raised("A", "x"))
}

// A fetch tags all messages that are there; those that come later wait, and a
// turn given up delivers both.
func onlyFetchedMessagesTagged(e *env) {
	e.enqueue(startItem("A"), raised("A", "1"), raised("A", "2"))
	got := e.fetchInstance("A", held)
	e.batch(got, "§5.1 step 7: for every visible message of the instance", startItem("A"), raised("A", "1"), raised("A", "2"))
	e.enqueue(raised("A", "3"))
	e.abandon(got, 0, false)
	e.batch(e.fetchInstance("A", held), "§5.1 step 8: rows with this token ordered by id",
		startItem("A"), raised("A", "1"), raised("A", "2"), raised("A", "3"))
}

// An ack deletes the messages it was given; those that came during the turn are
// all delivered by the next, in order.
func ackLeavesLaterMessages(e *env) {
	e.create("A")
	e.enqueue(raised("A", "1"), raised("A", "2"))
	got := e.fetchInstance("A", held)
	e.enqueue(raised("A", "3"), completedItem("A", 7), raised("A", "4"))
	e.drop(got)
	const rule = "§5.2 step 2: delete orchestrator rows with this token; rows that arrived later are untouched"
	e.batch(e.fetchInstance("A", held), rule, raised("A", "3"), completedItem("A", 7), raised("A", "4"))
}

// Of many callers that want the same instance at once exactly one gets it.
func oneFetcherWins(e *env) {
	e.create("A")
	for round := range 5 {
		e.enqueue(raised("A", strconv.Itoa(round)))
		winners := make(chan *provider.FetchedOrchestration, 16)
		e.together(16, func(int) error {
			got, err := e.grab(e.p, held)
			if got != nil {
				winners <- got
			}
			return err
		})
		same(e, len(winners), 1, ruleTwoFetch)
		got := <-winners
		e.batch(got, ruleTwoFetch, raised("A", strconv.Itoa(round)))
		same(e, got.AttemptCount, 1, "§5.1 step 9: first delivery reports 1")
		e.drop(got)
	}
}

// Many dispatchers over many instances process every message exactly once.
func nothingProcessedTwice(e *env) {
	const instances, messages = 10, 8
	for i := range instances {
		e.create(fmt.Sprint("i", i))
	}
	for m := range messages {
		for i := range instances {
			e.enqueue(raised(fmt.Sprint("i", i), strconv.Itoa(m)))
		}
	}
	const rule = "§7.3: exactly one effect per message: delete-on-ack"
	var mu sync.Mutex
	seen := map[provider.WorkItem]int{}
	var total atomic.Int64
	e.loops(8, rule, func() bool { return total.Load() >= instances*messages }, func(int) (bool, error) {
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return false, err
		}
		turn := turnOf(got, provider.AckOrchestrationParams{})
		if err := patiently(func() error { return e.p.AckOrchestrationItem(e.ctx, turn) }); err != nil {
			return false, violation(rule, "ack of a live turn: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, item := range got.Item.Messages {
			seen[item]++
		}
		total.Add(int64(len(got.Item.Messages)))
		return true, nil
	})
	e.check(len(seen) == instances*messages && total.Load() == instances*messages, rule,
		"%d different messages in %d deliveries, want %d in as many", len(seen), total.Load(), instances*messages)
	e.fetchNone(rule)
}

// After a dispatcher died in a turn nobody gets the instance before the lease
// has ended, and exactly one of those waiting gets it then.
func oneFetcherRecovers(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	due := time.Now().Add(e.lease)
	dead := e.fetchInstance("A", e.lease)
	const rule = "§5.1: instance lock expired, worker crashed: fetchable again: same messages, new token, attempt +1"
	winners := make(chan *provider.FetchedOrchestration, 8)
	e.loops(8, rule, func() bool { return len(winners) > 0 }, func(int) (bool, error) {
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return false, err
		}
		if early := time.Until(due); early > tolerance {
			return false, violation("§2.1: lock is held: locked_until > now", "taken %v before the lease's end", early)
		}
		winners <- got
		return true, nil
	})
	same(e, len(winners), 1, rule)
	got := <-winners
	e.batch(got, rule, raised("A", "go"))
	same(e, got.AttemptCount, 2, rule)
	e.check(got.LockToken != dead.LockToken, ruleUnique, "the dead turn's token came again")
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(dead, provider.AckOrchestrationParams{})),
		provider.ErrInvalidLockToken, "§5.1: the old token becomes invalid immediately")
	e.drop(got)
}

// A token whose lease ended, or whose instance somebody else took, commits
// nothing; the next turn sees everything as before.
func ackWithLostToken(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 90))
	e.enqueue(raised("A", "go"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(late, everything("A"))), provider.ErrLockExpired, ruleLateAck)
	got := e.fetchInstance("A", held)
	err := e.p.AckOrchestrationItem(e.ctx, turnOf(late, everything("A")))
	e.permanent(err, provider.ErrInvalidLockToken, ruleTaken)
	e.says(err, ruleTaken, "Invalid lock token")
	e.batch(got, ruleLateAck, raised("A", "go"))
	same(e, got.AttemptCount, 2, ruleRefetch)
	e.untouched("A", ruleNothing)
	e.commit(got, everything("A"))
	e.batch(e.fetchInstance("A", held), ruleNotMixed, raised("A", "knock"))
	e.happened("A", ruleAll)
}

// A turn whose instance was deleted cannot be committed and brings nothing back.
func ackAfterDelete(e *env) {
	got := e.readyForEverything("A")
	e.delete("A", true)
	const rule = "§5.2: instance force-deleted during the turn: lock row is gone → Invalid lock token; nothing is recreated (P19)"
	turn := turnOf(got, everything("A"))
	turn.Metadata.OrchestrationName, turn.Metadata.OrchestrationVersion = new("Order"), new("1.0.0")
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turn), provider.ErrInvalidLockToken, rule)
	abandon := provider.AbandonParams{LockToken: got.LockToken}
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, abandon), provider.ErrInvalidLockToken, rule)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, held), provider.ErrInvalidLockToken, rule)
	e.gone(rule, "A")
	e.fetchNone(rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// An ack repeated because its answer was lost fails as lost lock and does nothing
// twice.
func ackRepeated(e *env) {
	turn := turnOf(e.readyForEverything("A"), everything("A"))
	e.ack(turn)
	for range 2 {
		e.permanent(e.p.AckOrchestrationItem(e.ctx, turn), provider.ErrInvalidLockToken, ruleLostAnswer)
	}
	e.happened("A", ruleLostAnswer)
}

// Whoever has lost the lock is told so, and not that something else is wrong with the
// turn: that would look like a turn which its holder has to fail.
func lostLockFirst(e *env) {
	turn := turnOf(e.readyForEverything("A"), everything("A"))
	e.ack(turn)
	zero, twice := turn, turn
	zero.ExecutionID = 0
	twice.HistoryDelta = append(slices.Clone(turn.HistoryDelta), turn.HistoryDelta[0])
	for _, again := range []provider.AckOrchestrationParams{zero, twice} {
		e.permanent(e.p.AckOrchestrationItem(e.ctx, again), provider.ErrLockLost, ruleLostAnswer)
	}
	e.happened("A", ruleLostAnswer)
}
