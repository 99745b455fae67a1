package providertest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// sessionClaimScenarios are those of "sessions" about who gets which item.
func sessionClaimScenarios() []scenario {
	return []scenario{
		{"lowest_row_id_across_sessions", lowestRowIDAcrossSessions},
		{"foreign_sessions_do_not_block_the_queue", foreignSessionsDoNotBlockTheQueue},
		{"foreign_sessions_do_not_block_their_tag", foreignSessionsDoNotBlockTheirTag},
		{"lost_claim_tries_the_next_candidate", lostClaimTriesTheNextCandidate},
		{"one_owner_under_32_claimers", oneOwnerUnder32Claimers},
		{"one_owner_takes_an_expired_session", oneOwnerTakesAnExpiredSession},
		{"many_sessions_many_owners", manySessionsManyOwners},
		{"takeovers_wait_for_the_lease", takeoversWaitForTheLease},
		{"session_ids_compare_byte_for_byte", sessionIDsCompareByteForByte},
		{"owner_ids_compare_byte_for_byte", ownerIDsCompareByteForByte},
		{"empty_session_id_is_a_session", emptySessionIDIsASession},
		{"session_and_tag_both_apply", sessionAndTagBothApply},
		{"item_passed_over_by_tag_claims_no_session", itemPassedOverByTagClaimsNoSession},
		{"sessions_span_instances", sessionsSpanInstances},
		{"hidden_session_item_is_skipped", hiddenSessionItemIsSkipped},
		{"hidden_session_item_returns_to_its_place", hiddenSessionItemReturnsToItsPlace},
		{"instance_deletion_leaves_sessions", instanceDeletionLeavesSessions},
	}
}

// Among items with and without sessions the oldest eligible one comes first.
func lowestRowIDAcrossSessions(e *env) {
	e.enqueueWork(inSession("s", 1), plain(2), inSession("t", 3), inSession("s", 4), plain(5), inSession("t", 6))
	e.claim(owner("ann"), 1, ruleLowestID)
	e.claim(owner("bob"), 2, ruleLowestID)
	e.claim(owner("bob"), 3, ruleLowestID)
	e.claim(owner("bob"), 5, ruleLowestID)
	e.claim(owner("bob"), 6, ruleLowestID)
	e.claim(owner("ann"), 4, ruleLowestID)
}

// Any number of items of another owner's session ahead in the queue hides none
// behind.
func foreignSessionsDoNotBlockTheQueue(e *env) {
	for id := uint64(1); id <= 200; id++ {
		e.enqueueWork(inSession("s", id))
	}
	e.enqueueWork(inSession("t", 201), plain(202))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(owner("bob"), 201, ruleForeign)
	e.claim(noSession(), 202, ruleNoSession)
	e.fetchNoWork(owner("bob"), ruleForeign)
}

// Nor do they hide an item of the same tag behind one of another tag: the oldest that
// is free comes first, whatever stands before it under its tag.
func foreignSessionsDoNotBlockTheirTag(e *env) {
	item := func(session, tag string, id uint64) provider.ActivityExecuteItem {
		work := inSession(session, id)
		work.Tag = &tag
		return work
	}
	for id := uint64(1); id <= 21; id++ {
		e.enqueueWork(item("s", "x", id))
	}
	e.enqueueWork(item("free", "x", 22), item("free2", "y", 23))
	either := func(id string) provider.FetchWorkParams {
		params := e.onlyTags("x", "y")
		params.Session = owner(id).Session
		return params
	}
	e.claim(either("ann"), 1, ruleUnclaimed)
	e.claim(either("bob"), 22, ruleLowestID)
	e.claim(either("bob"), 23, ruleLowestID)
	e.fetchNoWork(either("bob"), ruleForeign)
	e.claim(either("ann"), 2, ruleOwned)
}

// A worker that loses the race for a session gets another item in the same call,
// and the lost one's attempt does not count.
func lostClaimTriesTheNextCandidate(e *env) {
	const rule = "§5.10 step 8: undo the row lock (attempt not counted) and SHOULD try the next candidate"
	for round := range 5 {
		session := fmt.Sprint("s", round)
		e.enqueueWork(inSession(session, 1), inSession(session, 2))
		for id := uint64(3); id <= 10; id++ {
			e.enqueueWork(plain(id))
		}
		got := make([]*provider.FetchedWorkItem, 8)
		e.together(len(got), func(i int) (err error) {
			got[i], err = e.fetchAmong(owner(fmt.Sprint("w", i)))
			return err
		})
		winner := -1
		for i, item := range got {
			e.check(item != nil, rule, "round %d: of 8 workers, worker %d got nothing although 9 items are free", round, i)
			if e.work(item).SessionID != nil {
				winner = i
			}
			e.ackWork(item)
		}
		e.check(winner >= 0, ruleUnclaimed, "round %d: nobody claimed the free session", round)
		for range 2 {
			rest := e.fetchWorkWith(owner(fmt.Sprint("w", winner)))
			same(e, rest.AttemptCount, 1, rule)
			e.ackWork(rest)
		}
	}
}

// Of 32 owners that race for a fresh session one gets all of its items.
func oneOwnerUnder32Claimers(e *env) {
	raceForSession(e, "§5.10: two owners claim a fresh session at once: exactly one wins")
}

// Of 32 owners that race for an expired session one gets all of its items.
func oneOwnerTakesAnExpiredSession(e *env) {
	e.enqueueWork(inSession("s", 99))
	e.ackWork(e.claim(ownerFor("ann", held, e.lease), 99, ruleUnclaimed))
	e.expire()
	raceForSession(e, "§5.10 step 7: allowed only if the row is absent, expired or already owned by the same owner")
}

// raceForSession lets 32 owners fetch 64 items of session s and expects that one
// of them gets any, and each on its first attempt.
func raceForSession(e *env, rule string) {
	for id := range uint64(64) {
		e.enqueueWork(inSession("s", id))
	}
	counts := make([]int, 32)
	drain := func(i int) error {
		for {
			got, err := e.fetchAmong(owner(fmt.Sprint("w", i)))
			if err != nil || got == nil {
				return err
			}
			counts[i]++
			if got.AttemptCount != 1 {
				return violation("§5.10 step 8: the attempt of a lost race is not counted",
					"attempt count %d, want 1", got.AttemptCount)
			}
		}
	}
	e.together(len(counts), drain)
	winner := slices.Index(counts, slices.Max(counts))
	e.ok(drain(winner), rule)
	total := 0
	for _, n := range counts {
		total += n
	}
	e.check(counts[winner] == 64 && total == 64, rule, "items per owner: %v, want 64 for one and 0 for the others", counts)
}

// Under load every session belongs to one owner as long as its lease lives, and
// no item is lost or delivered twice.
func manySessionsManyOwners(e *env) {
	const sessions, perSession, owners, slots = 8, 15, 4, 8
	for id := range uint64(sessions * perSession) {
		e.enqueueWork(inSession(fmt.Sprint("s", id%sessions), id))
	}
	var mu sync.Mutex
	ownerOf := map[string]string{}
	delivered := map[uint64]int{}
	drain := func(i int) error {
		me := fmt.Sprint("w", i%owners)
		for {
			got, err := e.fetchAmong(owner(me))
			if err != nil || got == nil {
				return err
			}
			id, session, err := e.dropSessionItem(got)
			if err != nil {
				return err
			}
			mu.Lock()
			first, taken := ownerOf[session]
			ownerOf[session] = me
			delivered[id]++
			mu.Unlock()
			if taken && first != me {
				return violation(ruleForeign, "session %s went from %s to %s", session, first, me)
			}
		}
	}
	e.together(slots, drain)
	for i := range owners { // what a slot left behind that saw nothing for a moment
		e.ok(drain(i), ruleOwned)
	}
	for id := range uint64(sessions * perSession) {
		e.check(delivered[id] == 1, "§5.10 step 6: a fetched row is locked",
			"item %d was delivered %d times", id, delivered[id])
	}
}

// dropSessionItem acknowledges a fetched item without a result, and returns its
// id and session.
func (e *env) dropSessionItem(got *provider.FetchedWorkItem) (id uint64, session string, err error) {
	item, ok := got.Item.(provider.ActivityExecuteItem)
	if !ok || item.SessionID == nil {
		return 0, "", violation("§5.10 step 9: the item is returned as it was queued", "fetched %+v", got.Item)
	}
	err = patiently(func() error { return e.p.AckWorkItem(e.ctx, got.LockToken, nil) })
	if err != nil {
		err = violation("§5.11: a row with this token and a live lock is deleted", "%v", err)
	}
	return item.ID, *item.SessionID, err
}

// sessionClaim is a fetch that made owner the owner of session, some time
// between begin and end.
type sessionClaim struct {
	session, owner string
	begin, end     time.Time
}

// When owners die and others take over, no session ever changes hands before the
// lease of its last fetch is over.
func takeoversWaitForTheLease(e *env) {
	const sessions, perSession, workers, perOwner = 4, 12, 6, 3
	lease := e.lease / 4
	for id := range uint64(sessions * perSession) {
		e.enqueueWork(inSession(fmt.Sprint("s", id%sessions), id))
	}
	var left atomic.Int64
	left.Store(sessions * perSession)
	claims := make([][]sessionClaim, workers)
	deadline := time.Now().Add(e.patience())
	e.together(workers, func(i int) error {
		for left.Load() > 0 && time.Now().Before(deadline) {
			me := fmt.Sprintf("w%d.%d", i, len(claims[i])/perOwner) // a new owner every few items
			begin := time.Now()
			got, err := e.fetchAmong(ownerFor(me, held, lease))
			if err != nil {
				return err
			}
			if got == nil {
				time.Sleep(lease / 10) // for a lease to end
				continue
			}
			end := time.Now()
			_, session, err := e.dropSessionItem(got)
			if err != nil {
				return err
			}
			claims[i] = append(claims[i], sessionClaim{session, me, begin, end})
			left.Add(-1)
		}
		return nil
	})
	e.check(left.Load() == 0, "§5.10: session lock expired: anyone with a session config may claim",
		"%d items were not fetched within %v", left.Load(), e.patience())
	noOverlap(e, slices.Concat(claims...), lease-20*time.Millisecond)
}

// noOverlap expects that of two claims of one session by different owners one
// began a lease before the other ended.
func noOverlap(e *env, claims []sessionClaim, lease time.Duration) {
	for i, a := range claims {
		for _, b := range claims[:i] {
			if a.session != b.session || a.owner == b.owner {
				continue
			}
			apart := a.end.Sub(b.begin) >= lease || b.end.Sub(a.begin) >= lease
			e.check(apart, ruleForeign, "%s and %s both claimed %s within %v", a.owner, b.owner, a.session, lease)
		}
	}
}

// Session ids that differ in case, accents or blanks are different sessions.
func sessionIDsCompareByteForByte(e *env) {
	const rule = "§11.1: session ids: byte-exact, case-sensitive"
	for _, offset := range []int{0, 100} {
		for i, session := range lookalikes {
			e.enqueueWork(inSession(session, uint64(offset+i)))
		}
		for i := range lookalikes {
			e.claim(owner(fmt.Sprint("w", i)), uint64(offset+i), rule)
		}
	}
	e.sessionRows(rule, lookalikes...)
}

// Owner ids that differ in case, accents or blanks are different owners.
func ownerIDsCompareByteForByte(e *env) {
	const rule = "§5.10 step 3: rows whose session has a live row owned by session.OwnerID are eligible, byte-exact"
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(owner(lookalikes[0]), 1, ruleUnclaimed)
	for _, other := range lookalikes[1:] {
		e.fetchNoWork(owner(other), rule)
	}
	e.renewSessions(0, "§5.14: only sessions whose owner is in the list", held, forever, lookalikes[1:]...)
	e.renewSessions(1, ruleRenewed, held, forever, lookalikes...)
	e.claim(owner(lookalikes[0]), 2, ruleOwned)
}

// An activity whose session id is the empty string has a session.
func emptySessionIDIsASession(e *env) {
	e.enqueueWork(inSession("", 1), inSession("", 2), plain(3))
	e.claim(noSession(), 3, ruleNoSession)
	got := e.claim(owner("ann"), 1, ruleUnclaimed)
	samePtr(e, e.work(got).SessionID, new(""), "§5.8: session columns filled from the item")
	e.fetchNoWork(owner("bob"), ruleForeign)
	e.claim(owner("ann"), 2, ruleOwned)
}

// An item with session and tag needs a worker that satisfies both.
func sessionAndTagBothApply(e *env) {
	const rule = "§5.10: session and tag together: both rules apply"
	for id := uint64(1); id <= 2; id++ {
		item := inSession("s", id)
		item.Tag = new("gpu")
		e.enqueueWork(item)
	}
	withTag := func(id string) provider.FetchWorkParams {
		params := e.onlyTags("gpu")
		params.Session = owner(id).Session
		return params
	}
	e.fetchNoWork(owner("ann"), rule)
	e.fetchNoWork(e.onlyTags("gpu"), rule)
	e.claim(withTag("ann"), 1, rule)
	e.fetchNoWork(withTag("bob"), rule)
	e.fetchNoWork(owner("ann"), rule)
	e.claim(withTag("ann"), 2, rule)
	other := inSession("s", 3)
	other.Tag = new("cpu")
	e.enqueueWork(other, inSession("s", 4))
	withDefault := e.defaultAnd("gpu")
	withDefault.Session = owner("ann").Session
	e.claim(withDefault, 4, rule)
	e.fetchNoWork(withDefault, rule)
}

// Passing over a session's item because of its tag leaves the session free.
func itemPassedOverByTagClaimsNoSession(e *env) {
	item := inSession("s", 1)
	item.Tag = new("gpu")
	e.enqueueWork(item, inSession("t", 2))
	e.claim(owner("ann"), 2, "§5.10: session and tag together: both rules apply")
	e.sessionRows("§5.10 step 7: the session of the returned row is claimed", "t")
	gpu := e.onlyTags("gpu")
	gpu.Session = owner("bob").Session
	e.claim(gpu, 1, ruleUnclaimed)
}

// A session is known by its id alone: it binds the activities of all instances.
func sessionsSpanInstances(e *env) {
	other := inSession("s", 2)
	other.Instance = "invoice"
	e.enqueueWork(inSession("s", 1), other)
	e.ackWork(e.claim(owner("ann"), 1, ruleUnclaimed))
	e.fetchNoWork(owner("bob"), ruleForeign)
	same(e, e.work(e.claim(owner("ann"), 2, ruleOwned)).Instance, "invoice", ruleOwned)
}

// While an item is hidden after abandon, its session goes on with the next one.
func hiddenSessionItemIsSkipped(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.abandonWork(e.claim(owner("ann"), 1, ruleUnclaimed), held, false)
	e.claim(owner("ann"), 2, "§5.10 step 2: eligible rows: visible_at <= now")
	e.fetchNoWork(owner("ann"), "§5.13: visible_at = now + delay")
}

// Once visible again, an abandoned item comes before the younger ones.
func hiddenSessionItemReturnsToItsPlace(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	first, second := e.claim(owner("ann"), 1, ruleUnclaimed), e.claim(owner("ann"), 2, ruleOwned)
	e.abandonWork(first, e.lease, false)
	e.ackWork(second)
	e.expire()
	e.claim(owner("ann"), 1, ruleLowestID)
	e.claim(owner("ann"), 3, ruleLowestID)
}

// Deleting an instance removes its activities but not the sessions they had.
func instanceDeletionLeavesSessions(e *env) {
	const rule = "§6.16: sessions: untouched; cleaned up later"
	e.admin()
	e.create("order")
	e.enqueueWork(inSession("s", 1), inSession("t", 2))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(ownerFor("ann", held, e.lease), 2, ruleUnclaimed)
	e.delete("order", true)
	e.sessionRows(rule, "s", "t")
	e.enqueueWork(inSession("s", 3))
	e.fetchNoWork(owner("bob"), rule)
	e.claim(owner("ann"), 3, rule)
	e.expire()
	e.cleanup(1, rule)
	e.sessionRows(rule, "s")
}
