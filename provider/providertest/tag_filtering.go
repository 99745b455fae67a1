package providertest

import (
	"github.com/duroxide/duroxide-go/provider"
)

// tagFiltering lists the reference's scenarios for activity tags.
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
	}}
}

// What the contract says about tag filters.
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
