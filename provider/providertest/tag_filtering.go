package providertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// tagFiltering checks which activities a fetch with tags gets.
func tagFiltering() category {
	return category{name: "tag filtering", scenarios: []scenario{
		{"default_only_fetches_untagged", defaultOnlyFetchesUntagged},
		{"tags_fetches_only_matching", tagsFetchesOnlyMatching},
		{"default_and_fetches_untagged_and_matching", defaultAndFetchesUntaggedAndMatching},
		{"none_filter_returns_nothing", noneFilterReturnsNothing},
		{"multi_tag_filter", multiTagFilter},
		{"tag_round_trip_preservation", tagRoundTripPreservation},
		{"any_filter_fetches_everything", anyFilterFetchesEverything},
		{"tag_survives_abandon_and_refetch", tagSurvivesAbandonAndRefetch},
		{"multi_runtime_tag_isolation", multiRuntimeTagIsolation},
		{"tag_preserved_through_ack_orchestration_item", tagPreservedThroughAckOrchestrationItem},

		{"tags_compare_byte_for_byte", tagsCompareByteForByte},
		{"tag_list_is_no_pattern", tagListIsNoPattern},
		{"empty_tag_is_a_tag", emptyTagIsATag},
		{"longest_tag", longestTag},
		{"filter_takes_one_to_five_tags", filterTakesOneToFiveTags},
		{"zero_filter_is_default_only", zeroFilterIsDefaultOnly},
		{"none_touches_nothing", noneTouchesNothing},
		{"none_does_not_wait", noneDoesNotWait},
		{"none_ignores_a_cancelled_context", noneIgnoresACancelledContext},
		{"fifo_within_the_matching_set", fifoWithinTheMatchingSet},
		{"other_tags_do_not_block_the_queue", otherTagsDoNotBlockTheQueue},
		{"tag_survives_lock_expiry", tagSurvivesLockExpiry},
		{"tag_survives_delayed_abandon", tagSurvivesDelayedAbandon},
		{"abandoned_tagged_activity_can_be_cancelled", abandonedTaggedActivityCanBeCancelled},
		{"tags_of_one_turn_do_not_mix", tagsOfOneTurnDoNotMix},
		{"concurrent_filters_share_nothing", concurrentFiltersShareNothing},
	}}
}

const (
	ruleDefaultOnly = "§3.7, DefaultOnly: matches rows with NULL tag"
	ruleTagSet      = "§3.7, Tags(set): matches rows whose tag is in the set"
	ruleDefaultAnd  = "§3.7, DefaultAnd(set): matches NULL tag or tag in set"
	ruleAnyTag      = "§3.7, Any: matches every row"
	ruleNoTag       = "§3.7, None: matches nothing: fetch returns nil without touching the database"
	ruleTagExact    = "§5.10 step 4: tag rule: case-sensitive exact match"
)

// tagged is activity id of instance "order" with a tag.
func tagged(tag string, id uint64) provider.ActivityExecuteItem {
	item := plain(id)
	item.Tag = &tag
	return item
}

// filtered fetches without a session what the filter takes.
func filtered(tags provider.TagFilter) provider.FetchWorkParams {
	return provider.FetchWorkParams{LockTimeout: held, Tags: tags}
}

// onlyTags fetches activities with one of the tags.
func (e *env) onlyTags(tags ...string) provider.FetchWorkParams {
	e.Helper()
	filter, err := provider.Tags(tags...)
	e.ok(err, "§3.7, Tags(set): 1–5 tags")
	return filtered(filter)
}

// defaultAnd fetches untagged activities and those with one of the tags.
func (e *env) defaultAnd(tags ...string) provider.FetchWorkParams {
	e.Helper()
	filter, err := provider.DefaultAndTags(tags...)
	e.ok(err, "§3.7, DefaultAnd(set): 1–5 tags")
	return filtered(filter)
}

// wantTag expects a fetched activity's tag.
func (e *env) wantTag(got *provider.FetchedWorkItem, want, rule string) {
	e.Helper()
	tag := e.work(got).Tag
	e.check(tag != nil, rule, "the fetched item has no tag, want %q", want)
	e.check(*tag == want, rule, "the fetched item has tag %q, want %q", *tag, want)
}

// The default filter takes activities without a tag and no other.
func defaultOnlyFetchesUntagged(e *env) {
	e.enqueueWork(tagged("gpu", 1), plain(2), tagged("cpu", 3), plain(4))
	e.claim(filtered(provider.TagFilter{}), 2, ruleDefaultOnly)
	e.claim(filtered(provider.TagFilter{}), 4, ruleDefaultOnly)
	e.fetchNoWork(filtered(provider.TagFilter{}), ruleDefaultOnly)
}

// A filter for one tag takes activities with that tag and no other.
func tagsFetchesOnlyMatching(e *env) {
	e.enqueueWork(plain(1), tagged("cpu", 2), tagged("gpu", 3))
	e.claim(e.onlyTags("gpu"), 3, ruleTagSet)
	e.fetchNoWork(e.onlyTags("gpu"), ruleTagSet)
	e.claim(e.onlyTags("cpu"), 2, ruleTagSet)
}

// Default-and takes activities without a tag and those with its tags.
func defaultAndFetchesUntaggedAndMatching(e *env) {
	e.enqueueWork(tagged("cpu", 1), plain(2), tagged("gpu", 3))
	e.claim(e.defaultAnd("gpu"), 2, ruleDefaultAnd)
	e.claim(e.defaultAnd("gpu"), 3, ruleDefaultAnd)
	e.fetchNoWork(e.defaultAnd("gpu"), ruleDefaultAnd)
}

// The filter of an orchestration-only process takes nothing.
func noneFilterReturnsNothing(e *env) {
	e.enqueueWork(plain(1), tagged("gpu", 2))
	e.fetchNoWork(filtered(provider.NoActivities()), ruleNoTag)
	e.claim(filtered(provider.AnyTag()), 1, ruleAnyTag)
}

// A filter for several tags takes all of them in the order of the queue.
func multiTagFilter(e *env) {
	e.enqueueWork(tagged("cpu", 1), tagged("gpu", 2), plain(3), tagged("fpga", 4), tagged("gpu", 5))
	for _, id := range []uint64{2, 4, 5} {
		e.claim(e.onlyTags("gpu", "fpga"), id, ruleTagSet)
	}
	e.fetchNoWork(e.onlyTags("gpu", "fpga"), ruleTagSet)
}

// A fetched activity carries the tag it was queued with, or none.
func tagRoundTripPreservation(e *env) {
	const rule = "§5.8: identity, session and tag columns filled from the item"
	e.enqueueWork(tagged("gpu", 1), plain(2))
	e.wantTag(e.claim(e.onlyTags("gpu"), 1, ruleTagSet), "gpu", rule)
	got := e.claim(filtered(provider.TagFilter{}), 2, ruleDefaultOnly)
	e.check(e.work(got).Tag == nil, rule, "an untagged item came back with a tag")
}

// The any filter takes every activity in the order of the queue.
func anyFilterFetchesEverything(e *env) {
	e.enqueueWork(tagged("gpu", 1), plain(2), tagged("cpu", 3), tagged("gpu", 4))
	for id := uint64(1); id <= 4; id++ {
		e.claim(filtered(provider.AnyTag()), id, ruleAnyTag)
	}
}

// An abandoned activity is still found by its tag, and only by it.
func tagSurvivesAbandonAndRefetch(e *env) {
	const rule = "§5.13: tag, session id and identity columns are preserved"
	e.enqueueWork(tagged("gpu", 1))
	e.abandonWork(e.claim(e.onlyTags("gpu"), 1, ruleTagSet), 0, false)
	e.fetchNoWork(filtered(provider.TagFilter{}), rule)
	e.fetchNoWork(e.onlyTags("cpu"), rule)
	e.wantTag(e.claim(e.onlyTags("gpu"), 1, rule), "gpu", rule)
}

// Runtimes with different filters on one store each get their own activities.
func multiRuntimeTagIsolation(e *env) {
	e.enqueueWork(tagged("gpu", 1), tagged("cpu", 2), plain(3), tagged("gpu", 4), tagged("cpu", 5))
	none := filtered(provider.NoActivities())
	e.claim(e.onlyTags("cpu"), 2, ruleTagSet)
	e.fetchNoWork(none, ruleNoTag)
	e.claim(e.onlyTags("gpu"), 1, ruleTagSet)
	e.claim(e.onlyTags("gpu"), 4, ruleTagSet)
	e.fetchNoWork(e.onlyTags("gpu"), ruleTagSet)
	e.claim(e.defaultAnd("cpu"), 3, ruleDefaultAnd)
	e.claim(e.defaultAnd("cpu"), 5, ruleDefaultAnd)
	e.fetchNoWork(filtered(provider.AnyTag()), "§5.10 step 2: a locked row is not eligible")
}

// An activity that a turn schedules keeps its tag.
func tagPreservedThroughAckOrchestrationItem(e *env) {
	const rule = "§5.2 step 12: insert, visible now, attempt 0, identity/session/tag columns from the item"
	e.createWith("order", provider.AckOrchestrationParams{
		WorkerItems: []provider.WorkItem{tagged("gpu", 2), plain(3)},
	})
	e.claim(filtered(provider.TagFilter{}), 3, rule)
	e.fetchNoWork(filtered(provider.TagFilter{}), rule)
	e.wantTag(e.claim(e.onlyTags("gpu"), 2, rule), "gpu", rule)
}

// Tags that differ in case, accents or blanks are different tags. Fetching from
// the newest to the oldest shows a filter that takes too much.
func tagsCompareByteForByte(e *env) {
	for i, tag := range lookalikes {
		e.enqueueWork(tagged(tag, uint64(i)))
	}
	for i, tag := range slices.Backward(lookalikes) {
		e.wantTag(e.claim(e.onlyTags(tag), uint64(i), ruleTagExact), tag, ruleTagExact)
		e.fetchNoWork(e.onlyTags(tag), ruleTagExact)
	}
}

// A filter is a set of whole tags, neither a pattern nor a joined list.
func tagListIsNoPattern(e *env) {
	e.enqueueWork(tagged("a,b", 1), tagged("gpu", 2), tagged(`a","b`, 3), tagged("", 4))
	e.fetchNoWork(e.onlyTags("a", "b", "%", "g_u", "*"), ruleTagExact)
	e.fetchNoWork(e.onlyTags("' OR '1'='1", "gp", "pu", "gpu%", "[g]pu"), ruleTagExact)
	e.claim(e.onlyTags("a,b"), 1, ruleTagExact)
	e.claim(e.onlyTags(`a","b`), 3, ruleTagExact)
}

// An activity tagged with the empty string is tagged.
func emptyTagIsATag(e *env) {
	e.enqueueWork(tagged("", 1), plain(2))
	e.claim(filtered(provider.TagFilter{}), 2, ruleDefaultOnly)
	e.fetchNoWork(e.defaultAnd("gpu"), ruleDefaultAnd)
	e.wantTag(e.claim(e.onlyTags(""), 1, ruleTagSet), "", ruleTagSet)
}

// The longest tag the runtime lets through is stored whole.
func longestTag(e *env) {
	const rule = "§7.2: tag name: 256 bytes"
	long := strings.Repeat("x", 255)
	e.enqueueWork(tagged(long+"a", 1), tagged(long+"b", 2), tagged(long, 3))
	e.wantTag(e.claim(e.onlyTags(long), 3, rule), long, rule)
	e.wantTag(e.claim(e.onlyTags(long+"b"), 2, rule), long+"b", rule)
	e.wantTag(e.claim(e.onlyTags(long+"a"), 1, rule), long+"a", rule)
}

// Five tags make a filter that works; six or none are refused.
func filterTakesOneToFiveTags(e *env) {
	const rule = "§3.7: 1–5 tags; constructor rejects 0 or more than 5"
	six := []string{"a", "b", "c", "d", "e", "f"}
	for _, construct := range []func(...string) (provider.TagFilter, error){provider.Tags, provider.DefaultAndTags} {
		for _, bad := range [][]string{nil, six} {
			_, err := construct(bad...)
			e.check(errors.Is(err, provider.ErrInvalidArgument), rule, "a filter of %d tags: error %v", len(bad), err)
		}
	}
	for i, tag := range six {
		e.enqueueWork(tagged(tag, uint64(i+1)))
	}
	e.enqueueWork(plain(7))
	for id := uint64(1); id <= 5; id++ {
		e.claim(e.onlyTags(six[:5]...), id, rule)
	}
	e.fetchNoWork(e.onlyTags(six[:5]...), rule)
	e.claim(e.defaultAnd(six[1:]...), 6, rule)
	e.claim(e.defaultAnd(six[1:]...), 7, rule)
}

// A fetch that says nothing about tags takes untagged activities, in sessions
// too.
func zeroFilterIsDefaultOnly(e *env) {
	bound := inSession("s", 1)
	bound.Tag = new("gpu")
	e.enqueueWork(bound, tagged("gpu", 2), inSession("s", 3))
	e.check(provider.TagFilter{}.Mode() == provider.TagDefaultOnly, "§3.7: modes: DefaultOnly (zero value)",
		"the zero filter has mode %d", provider.TagFilter{}.Mode())
	e.fetchNoWork(noSession(), ruleDefaultOnly)
	e.claim(owner("ann"), 3, ruleDefaultOnly)
	e.fetchNoWork(owner("ann"), ruleDefaultOnly)
}

// A fetch for no activities leaves attempts, locks and sessions alone.
func noneTouchesNothing(e *env) {
	e.enqueueWork(plain(1), tagged("gpu", 2), inSession("s", 3))
	none := owner("ann")
	none.Tags = provider.NoActivities()
	for range 3 {
		e.fetchNoWork(none, ruleNoTag)
	}
	e.sessionRows(ruleNoTag)
	bob := owner("bob")
	bob.Tags = provider.AnyTag()
	for id := uint64(1); id <= 3; id++ {
		got := e.claim(bob, id, ruleNoTag)
		e.check(got.AttemptCount == 1, ruleNoTag, "activity %d: attempt count %d, want 1", id, got.AttemptCount)
	}
}

// A fetch for no activities answers at once whatever its poll timeout.
func noneDoesNotWait(e *env) {
	none := filtered(provider.NoActivities())
	none.PollTimeout = e.lease
	took := fastest(5, func() { e.fetchNoWork(none, ruleNoTag) })
	e.check(took <= e.config.ShortPollLimit, "§5.10 step 1: tag mode None → nil immediately", "the fetch took %v", took)
}

// With a cancelled context, too, a fetch for no activities takes nothing: it
// answers nil or reports the context.
func noneIgnoresACancelledContext(e *env) {
	e.enqueueWork(plain(1))
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	got, err := e.p.FetchWorkItem(ctx, filtered(provider.NoActivities()))
	e.check(got == nil, ruleNoTag, "fetched %v", got)
	e.check(err == nil || errors.Is(err, context.Canceled) && provider.IsRetryable(err), ruleNoTag,
		"error %v is neither nil nor a retryable context error", err)
	e.check(e.claim(noSession(), 1, ruleNoTag).AttemptCount == 1, ruleNoTag, "the fetch for nothing counted an attempt")
}

// Each filter sees its activities in the order of the queue, whatever lies
// between them.
func fifoWithinTheMatchingSet(e *env) {
	tags := []string{"gpu", "cpu", "fpga"}
	for id := range uint64(30) {
		e.enqueueWork(tagged(tags[id%3], id))
	}
	for turn := range uint64(10) {
		for i, tag := range slices.Backward(tags) {
			e.ackWork(e.claim(e.onlyTags(tag), 3*turn+uint64(i), ruleLowestID))
		}
	}
}

// Any number of activities for other workers ahead in the queue hides none behind.
func otherTagsDoNotBlockTheQueue(e *env) {
	for id := range uint64(200) {
		e.enqueueWork(tagged("gpu", id))
	}
	e.enqueueWork(plain(200), tagged("cpu", 201))
	e.claim(filtered(provider.TagFilter{}), 200, ruleDefaultOnly)
	e.claim(e.onlyTags("cpu"), 201, ruleTagSet)
	e.claim(e.onlyTags("gpu"), 0, ruleLowestID)
}

// An activity whose lease ended is found again by its tag, and only by it.
func tagSurvivesLockExpiry(e *env) {
	e.enqueueWork(tagged("gpu", 1))
	short := e.onlyTags("gpu")
	short.LockTimeout = e.lease
	e.claim(short, 1, ruleTagSet)
	e.expire()
	e.fetchNoWork(filtered(provider.TagFilter{}), ruleDefaultOnly)
	e.fetchNoWork(e.onlyTags("cpu"), ruleTagSet)
	got := e.claim(e.onlyTags("gpu"), 1, ruleTagSet)
	e.wantTag(got, "gpu", ruleTagSet)
	same(e, got.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
}

// A tagged activity that was hidden for a while comes back with its tag.
func tagSurvivesDelayedAbandon(e *env) {
	const rule = "§5.13: tag, session id and identity columns are preserved"
	e.enqueueWork(tagged("gpu", 1))
	e.abandonWork(e.claim(e.onlyTags("gpu"), 1, ruleTagSet), e.lease, true)
	e.expire()
	e.fetchNoWork(filtered(provider.TagFilter{}), rule)
	e.wantTag(e.claim(e.onlyTags("gpu"), 1, rule), "gpu", rule)
}

// After abandon and expiry an activity is still known by instance, execution and
// id: a turn can cancel it.
func abandonedTaggedActivityCanBeCancelled(e *env) {
	e.createWith("order", provider.AckOrchestrationParams{
		WorkerItems: []provider.WorkItem{tagged("gpu", 2), tagged("cpu", 3)},
	})
	e.abandonWork(e.claim(e.onlyTags("gpu"), 2, ruleTagSet), 0, false)
	short := e.onlyTags("cpu")
	short.LockTimeout = e.lease
	e.claim(short, 3, ruleTagSet)
	e.expire()
	e.turn("order", provider.AckOrchestrationParams{CancelledActivities: []provider.ActivityRef{
		{Instance: "order", ExecutionID: 1, ActivityID: 2}, {Instance: "order", ExecutionID: 1, ActivityID: 3},
	}})
	e.fetchNoWork(filtered(provider.AnyTag()), "§5.13: tag, session id and identity columns are preserved")
}

// Activities of one turn keep their own tag and session each.
func tagsOfOneTurnDoNotMix(e *env) {
	const rule = "§5.2 step 12: identity/session/tag columns from the item"
	both := inSession("s", 4)
	both.Tag = new("cpu")
	items := []provider.WorkItem{tagged("gpu", 2), inSession("s", 3), both, plain(5)}
	e.createWith("order", provider.AckOrchestrationParams{WorkerItems: items})
	ann := owner("ann")
	ann.Tags = provider.AnyTag()
	for i, want := range items {
		item := e.work(e.claim(ann, uint64(i+2), rule))
		samePtr(e, item.Tag, want.(provider.ActivityExecuteItem).Tag, rule)
		samePtr(e, item.SessionID, want.(provider.ActivityExecuteItem).SessionID, rule)
	}
}

// Workers with different filters at the same time get every activity once, each
// from a filter that takes it.
func concurrentFiltersShareNothing(e *env) {
	tags := []*string{new("gpu"), new("cpu"), nil}
	for id := range uint64(60) {
		item := plain(id)
		item.Tag = tags[id%3]
		e.enqueueWork(item)
	}
	workers := []provider.FetchWorkParams{
		e.onlyTags("gpu"), e.onlyTags("cpu"), filtered(provider.TagFilter{}), e.defaultAnd("gpu"), filtered(provider.AnyTag()),
	}
	var mu sync.Mutex
	seen := map[uint64]int{}
	e.together(len(workers), func(i int) error {
		for {
			got, err := e.fetchAmong(workers[i])
			if err != nil || got == nil {
				return err
			}
			item, ok := got.Item.(provider.ActivityExecuteItem)
			if !ok || !workers[i].Tags.Matches(item.Tag) {
				return violation(ruleTagExact, "worker %d fetched %+v", i, got.Item)
			}
			mu.Lock()
			seen[item.ID]++
			mu.Unlock()
		}
	})
	for id := range uint64(60) {
		e.check(seen[id] == 1, "§5.10 step 6: a fetched row is locked",
			"activity %d was fetched %d times", id, seen[id])
	}
}
