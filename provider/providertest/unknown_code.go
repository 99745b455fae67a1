package providertest

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// unknownCode is about work whose code no worker knows.
func unknownCode() []scenario {
	return []scenario{
		{"unknown_for_takes_unknown_orchestrations", unknownOrchestrations},
		{"unknown_for_takes_unknown_activities", unknownActivities},
		{"unknown_for_waits_until_ready_for_that_long", unknownNotYet},
		{"unknown_for_leaves_what_was_known", unknownWasKnown},
		{"unknown_for_makes_its_own_set_seen", unknownKnowsItself},
		{"unknown_for_respects_the_filter", unknownAndFilter},
		{"unknown_for_regards_neither_tags_nor_sessions", unknownAnyTag},
		{"unknown_for_never_waits", unknownNeverWaits},
		{"unknown_for_must_not_be_negative", unknownNegative},
		{"orchestrations_and_activities_are_told_apart", unknownKinds},
		{"unknown_code_is_listed", unknownListed},
		{"unknown_code_says_when_it_was_known", unknownSince},
		{"activity_whose_tag_nobody_takes_is_unknown", unknownTags},
		{"instances_that_wait_for_code_are_listed", waitingListed},
		{"cancelled_takes_requested_ends_of_unknown_code", unknownCancelled},
		{"known_versions_are_listed", knownVersionsListed},
		{"sets_are_seen_by_every_handle", knownElsewhere},
		{"work_of_unknown_code_is_counted", unknownDepths},
	}
}

const (
	ruleUnknownFor = "§5.20 UnknownFor: takes only what has been ready for that long and whose code is unknown for that long"
	ruleSeen       = "§5.20 Seen: each fetch with Known makes its set seen at that time"
	ruleListed     = "§5.20 UnknownCode: ready work whose code or tag is unknown for that long, by code and tag: " +
		"orchestrations before activities, by name, then version"
	ruleLastKnown = "§5.20 LastKnown: when a set of any tags that has the name was last seen; zero for never"
	ruleTags      = "§5.20 Unknown: of an activity, sets count that take its tag"
	ruleWaiting   = "§5.20 WaitingForCode: whose work UnknownCode counts, those that have waited longest first; or of one instance"
	ruleRequested = "§5.20 Cancelled: only instances with a visible request to cancel, however short they are ready"
	ruleVersions  = `§5.20 KnownVersions: the versions, without "", in which sets of orchestrations seen since then have the name`
)

// unknownFor is how long the scenarios wait for code to become unknown.
func (e *env) unknownFor() time.Duration { return e.lease / 2 }

// pass waits until what is ready now has been so for unknownFor.
func (e *env) pass() {
	e.Helper()
	e.sleep(e.unknownFor() + 20*time.Millisecond)
}

// within skips the scenario when a busy machine has taken longer than what follows allows.
func (e *env) within(end time.Time) {
	e.Helper()
	if late := time.Since(end); late > -tolerance {
		e.Skipf("the machine is too busy: %v late", late)
	}
}

// tryFetchUnknown fetches an instance of code unknown to all and to known, or nil.
func (e *env) tryFetchUnknown(known *provider.KnownCode) *provider.FetchedOrchestration {
	e.Helper()
	return e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, Known: known, UnknownFor: e.unknownFor()})
}

// unknownWork fetches activities of code unknown to all and to known.
func (e *env) unknownWork(known *provider.KnownCode) provider.FetchWorkParams {
	return provider.FetchWorkParams{LockTimeout: held, Known: known, UnknownFor: e.unknownFor()}
}

// Of all that waits only what nobody knows is taken, the oldest first, and it is an
// attempt like any other.
func unknownOrchestrations(e *env) {
	e.enqueue(startOf("x1", "X", "1"), startOf("a", "A", ""), startOf("y", "Y", ""), startOf("x2", "X", "1"))
	e.createEndedLast("late")
	e.pass()
	for _, instance := range []string{"x1", "y", "x2"} {
		got := e.tryFetchUnknown(knows("A@1", "X@2"))
		e.check(got != nil && got.Item.Instance == instance, ruleUnknownFor, "fetched %s, want %q", render(got), instance)
		same(e, got.AttemptCount, 1, "§5.1 step 9: first delivery reports 1")
		same(e, len(got.Item.Messages), 1, "§5.1: return its current history together with all its visible messages")
		e.drop(got)
	}
	got := e.tryFetchUnknown(knows("A@1", "X@2"))
	e.check(got == nil, ruleUnknownFor, "fetched %s, which is known or needs no code", render(got))
}

// createEndedLast leaves a message of an ended instance in the queue, while others wait.
func (e *env) createEndedLast(instance string) {
	e.Helper()
	e.enqueue(startOf(instance, "Ended", ""))
	got := e.tryFetchKnown(knows("Ended"))
	e.check(got != nil, ruleAdmitted, "fetched nothing, want %q", instance)
	metadata := ended(provider.StatusCompleted, "out")
	metadata.OrchestrationName, metadata.OrchestrationVersion = new("Ended"), new("1.0.0")
	e.commit(got, endedAtOnceWith(instance, metadata))
	e.wake(instance)
}

// endedAtOnceWith is a first turn that is the last.
func endedAtOnceWith(instance string, metadata provider.ExecutionMetadata) provider.AckOrchestrationParams {
	params := endedAtOnce(instance, provider.StatusCompleted, metadata)
	params.HistoryDelta = append([]provider.Event{started(instance, 1)}, params.HistoryDelta...)
	return params
}

// The same of activities.
func unknownActivities(e *env) {
	e.enqueueWork(activityOf("A", 2), activityOf("X", 3), activityOf("Y", 4), activityOf("X", 5))
	e.pass()
	for _, id := range []uint64{3, 4, 5} {
		same(e, e.claim(e.unknownWork(knows("A")), id, ruleUnknown).AttemptCount, 1, "§5.10: first delivery reports 1")
	}
	e.check(e.tryFetchWorkWith(e.unknownWork(knows("A"))) == nil, ruleUnknownFor, "fetched an activity that is known")
	e.claim(knownWork(knows("A")), 2, ruleAdmitted)
}

// What became ready just now is left alone, also behind what has waited, and what comes
// back from a lease has been ready since then.
func unknownNotYet(e *env) {
	began := time.Now()
	e.enqueue(startOf("old", "X", ""))
	e.enqueueWork(activityOf("X", 2))
	e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: e.lease, Known: nil})
	e.fetchWork(e.lease)
	e.expire()
	e.enqueue(startOf("new", "X", ""))
	e.enqueueWork(activityOf("X", 3))
	turn, work := e.tryFetchUnknown(nil), e.tryFetchWorkWith(e.unknownWork(nil))
	e.within(began.Add(e.lease + e.unknownFor()))
	e.check(turn == nil && work == nil, ruleUnknownFor, "fetched %s and %s, ready just now", render(turn), render(work))
	e.await(ruleUnknownFor, func() bool { return e.tryFetchUnknown(nil) != nil })
	e.await(ruleUnknownFor, func() bool { return e.tryFetchWorkWith(e.unknownWork(nil)) != nil })
}

// Code that some fetch knew within the time is not unknown, whoever asks; after it, it is.
func unknownWasKnown(e *env) {
	e.enqueue(startOf("a", "A", "1"))
	e.enqueueWork(activityOf("A", 2))
	e.pass()
	began := time.Now()
	e.refuses(knows("A@2", "B"), ruleAdmitted)
	e.fetchNoWork(knownWork(knows("B")), ruleAdmitted)
	e.check(e.selected(provider.Know(provider.CodeName{Name: "A", Version: "1"}, provider.CodeName{Name: "C"})) == "a",
		ruleAdmitted, "the set does not get the instance")
	e.check(e.selectedWork(knows("A", "C")) == 2, ruleAdmitted, "the set does not get the activity")
	turn, work := e.tryFetchUnknown(nil), e.tryFetchWorkWith(e.unknownWork(nil))
	e.within(began.Add(e.unknownFor()))
	e.check(turn == nil && work == nil, ruleSeen, "fetched %s and %s, whose code was known just now", render(turn), render(work))
	e.await(ruleUnknownFor, func() bool { return e.tryFetchUnknown(nil) != nil })
	e.await(ruleUnknownFor, func() bool { return e.tryFetchWorkWith(e.unknownWork(nil)) != nil })
}

// selected is the instance that the set gets next, "" for none; it is given back.
func (e *env) selected(known *provider.KnownCode) string {
	e.Helper()
	got := e.tryFetchKnown(known)
	if got == nil {
		return ""
	}
	e.release(got)
	return got.Item.Instance
}

// selectedWork is the activity that the set gets next, 0 for none; it is given back.
func (e *env) selectedWork(known *provider.KnownCode) uint64 {
	e.Helper()
	got := e.tryFetchWorkWith(knownWork(known))
	if got == nil {
		return 0
	}
	e.abandonWork(got, 0, true)
	return e.work(got).ID
}

// A caller's own code is never unknown to it, however long ago its set was seen.
func unknownKnowsItself(e *env) {
	known := knows("A@1")
	e.enqueue(startOf("a", "A", "1"))
	e.enqueueWork(activityOf("A", 2))
	for range 3 {
		e.check(e.tryFetchUnknown(known) == nil, ruleSeen, "fetched an instance of the caller's own code")
		e.check(e.tryFetchWorkWith(e.unknownWork(known)) == nil, ruleSeen, "fetched an activity of the caller's own code")
		e.pass()
	}
	same(e, e.selected(known), "a", ruleAdmitted)
}

// A worker does not fail an instance whose framework version it does not support.
func unknownAndFilter(e *env) {
	e.createPinned("new", v(2, 0, 0))
	e.wake("new")
	e.pass()
	params := provider.FetchOrchestrationParams{
		LockTimeout: held, UnknownFor: e.unknownFor(), Filter: only(v(0, 0, 0), v(1, 0, 0)),
	}
	e.check(e.tryFetchParams(params) == nil, "§5.20 UnknownFor: the capability filter still applies", "fetched an excluded instance")
	params.Filter = only(v(0, 0, 0), v(2, 0, 0))
	e.check(e.tryFetchParams(params) != nil, ruleUnknownFor, "fetched nothing")
}

// Activities with a tag that nobody serves, or in a session of another worker, are taken
// as well, and the session stays whose it was.
func unknownAnyTag(e *env) {
	const rule = "§5.20 UnknownFor: tags and the owners of sessions don't apply, and no session is claimed"
	a := activityOf("X", 2)
	a.Tag = new("gpu")
	inOwned, inFree := inSession("s", 4), inSession("free", 5)
	inOwned.Name, inFree.Name = "X", "X"
	e.enqueueWork(a, inSession("s", 3), inOwned, inFree)
	e.claim(owner("w1"), 3, ruleUnclaimed)
	e.pass()
	none := e.unknownWork(knows("Other"))
	none.Tags = provider.NoActivities()
	e.claim(none, 2, rule)
	e.claim(e.unknownWork(knows("Other")), 4, rule)
	e.claim(e.unknownWork(knows("Other")), 5, rule)
	e.enqueueWork(inSession("s", 6), inSession("free", 7))
	e.claim(owner("w2"), 7, rule)
	e.claim(owner("w1"), 6, rule)
}

// PollTimeout does not count.
func unknownNeverWaits(e *env) {
	const rule = "§5.20 UnknownFor: pollTimeout is not used"
	took := fastest(2, func() {
		e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, PollTimeout: e.patience(), UnknownFor: e.unknownFor()})
		params := e.unknownWork(nil)
		params.PollTimeout = e.patience()
		e.fetchNoWork(params, ruleUnknown)
	})
	e.check(took < e.patience()/2, rule, "took %v", took)
}

func unknownNegative(e *env) {
	const rule = "§5.20 UnknownFor < 0: ErrInvalidArgument"
	_, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: held, UnknownFor: -1})
	e.permanent(err, provider.ErrInvalidArgument, rule)
	_, err = e.p.FetchWorkItem(e.ctx, provider.FetchWorkParams{LockTimeout: held, UnknownFor: -1})
	e.permanent(err, provider.ErrInvalidArgument, rule)
	_, err = e.full().UnknownCode(e.ctx, -1)
	e.permanent(err, provider.ErrInvalidArgument, rule)
	_, err = e.full().KnownVersions(e.ctx, "A", -1)
	e.permanent(err, provider.ErrInvalidArgument, rule)
}

// Who knows an orchestration does not know the activity of that name, nor the other way
// round, though the sets are equal.
func unknownKinds(e *env) {
	const rule = "§5.20 Unknown: orchestrations and activities are told apart, even if they have the same name"
	e.enqueue(startOf("a", "A", ""))
	e.enqueueWork(activityOf("B", 2))
	e.pass()
	e.check(e.tryFetchWorkWith(e.unknownWork(knows("A"))) != nil, rule, "no activity B")
	e.check(e.tryFetchUnknown(knows("B")) != nil, rule, "no orchestration A")
	e.sameUnknown(e.unknownCode(e.unknownFor()))
}

// UnknownCode tells what waits, since when, and how much of it.
func unknownListed(e *env) {
	began := time.Now()
	e.enqueue(startOf("y", "Y", ""), startOf("x1", "X", "1"), startOf("x2", "X", "1"), startOf("x3", "X", "2"), startOf("a", "A", ""))
	e.enqueueWork(activityOf("X", 2), activityOf("A", 3), activityOf("B", 4))
	e.pass()
	seen := time.Now()
	got := e.tryFetchUnknown(knows("A"))
	e.check(got != nil && got.Item.Instance == "y", ruleUnknownFor, "fetched %s, want \"y\"", render(got))
	list := e.unknownCode(e.unknownFor())
	e.within(seen.Add(e.unknownFor()))
	e.sameUnknown(list, "orchestration X@1 2", "orchestration X@2 1", "activity A@ 1", "activity B@ 1", "activity X@ 1")
	for _, u := range list {
		e.check(u.Since.After(began.Add(-time.Minute)) && u.Since.Before(seen.Add(time.Minute)), ruleListed,
			"ready since %v, the scenario began at %v", u.Since, began)
	}
	// Work that is ready just now is listed, too.
	e.enqueue(startOf("z", "Z", ""))
	e.sameUnknown(e.unknownCode(held), "orchestration X@1 2", "orchestration X@2 1", "orchestration Z@ 1", "activity A@ 1", "activity B@ 1", "activity X@ 1")
}

// Code that was known says since when it is missed, and what is known is not listed.
func unknownSince(e *env) {
	e.enqueue(startOf("a", "A", "1"))
	e.enqueueWork(activityOf("B", 2))
	for _, u := range e.unknownCode(e.unknownFor()) {
		e.check(u.LastKnown.IsZero() && !u.OtherTags, ruleLastKnown, "%s was known at %v", u.Name, u.LastKnown)
	}
	before := time.Now()
	e.selected(knows("A@1"))
	e.selectedWork(knows("B"))
	list := e.unknownCode(e.unknownFor())
	e.within(before.Add(e.unknownFor()))
	e.sameUnknown(list)
	e.pass()
	list = e.unknownCode(e.unknownFor())
	e.sameUnknown(list, "orchestration A@1 1", "activity B@ 1")
	for _, u := range list {
		away := u.LastKnown.Sub(before).Abs()
		e.check(away < time.Minute && !u.LastKnown.IsZero() && !u.OtherTags, ruleLastKnown, "%s was known at %v", u.Name, u.LastKnown)
	}
}

// tagged is a filter for one tag.
func (e *env) tagged(tag string) provider.TagFilter {
	e.Helper()
	filter, err := provider.Tags(tag)
	e.ok(err, "§5.10: a tag filter with one tag")
	return filter
}

// An activity without a tag waits while all that have it take tags only, and one with a tag while nobody takes that.
func unknownTags(e *env) {
	gpu := activityOf("A", 3)
	gpu.Tag = new("gpu")
	e.enqueueWork(activityOf("A", 2), gpu)
	fetch := func(tags provider.TagFilter) {
		params := knownWork(knows("A"))
		params.Tags = tags
		if got := e.tryFetchWorkWith(params); got != nil {
			e.abandonWork(got, 0, true)
		}
	}
	want := func(tags ...*string) {
		var got []*string
		for _, u := range e.unknownCode(held) {
			e.check(u.OtherTags && !u.LastKnown.IsZero(), ruleTags, "%s is listed with %t, known at %v", u.Name, u.OtherTags, u.LastKnown)
			got = append(got, u.Tag)
		}
		e.sameValue(got, append([]*string(nil), tags...), ruleTags, "the tags that nobody takes")
	}
	fetch(e.tagged("cpu"))
	want(new("gpu"), nil)
	fetch(e.tagged("gpu"))
	want(nil)
	fetch(provider.TagFilter{})
	want()
	e.enqueueWork(func() provider.ActivityExecuteItem { a := activityOf("A", 4); a.Tag = new("tpu"); return a }())
	want(new("tpu"))
	fetch(provider.AnyTag())
	want()
}

// WaitingForCode says who waits.
func waitingListed(e *env) {
	e.enqueue(startOf("one", "X", "1"))
	e.tick()
	e.enqueue(startOf("two", "X", "1"))
	e.tick()
	a, b := activityOf("Y", 2), activityOf("Y", 3)
	a.Instance, b.Instance = "two", "two"
	e.enqueueWork(a, b)
	e.enqueue(startOf("known", "K", ""))
	e.selected(knows("K"))
	list := func(instance string) (got []string) {
		waiting, err := e.full().WaitingForCode(e.ctx, instance, held)
		e.ok(err, ruleWaiting)
		for _, w := range waiting {
			got = append(got, fmt.Sprintf("%s %s@%s %d", w.InstanceID, w.Name, w.Version, w.Waiting))
		}
		return got
	}
	sameList(e, list(""), []string{"one X@1 1", "two X@1 1", "two Y@ 2"}, ruleWaiting)
	sameList(e, list("two"), []string{"two X@1 1", "two Y@ 2"}, ruleWaiting)
	sameList(e, list("known"), nil, ruleWaiting)
	_, err := e.full().WaitingForCode(e.ctx, "", -1)
	e.permanent(err, provider.ErrInvalidArgument, "§5.20 UnknownFor < 0: ErrInvalidArgument")
}

// A request to cancel is found among instances whose code nobody has, and only there.
func unknownCancelled(e *env) {
	e.enqueue(startOf("x", "X", "1"), startOf("y", "Y", ""), startOf("a", "A", ""))
	fetch := func(known *provider.KnownCode) *provider.FetchedOrchestration {
		return e.tryFetchParams(provider.FetchOrchestrationParams{
			LockTimeout: held, Known: known, UnknownFor: held, Cancelled: true,
		})
	}
	e.check(fetch(knows("A")) == nil, ruleRequested, "fetched an instance without a request")
	e.enqueue(provider.CancelInstanceItem{Instance: "a"}, provider.CancelInstanceItem{Instance: "y"})
	e.enqueueLater(provider.CancelInstanceItem{Instance: "x"}, farOff)
	got := fetch(knows("A"))
	e.check(got != nil && got.Item.Instance == "y", ruleRequested, "fetched %s, want \"y\"", render(got))
	e.check(fetch(knows("A")) == nil, ruleRequested, "fetched a known instance, or one whose request is hidden")
}

// unknownCode is what work waits for.
func (e *env) unknownCode(unknownFor time.Duration) []provider.UnknownCode {
	e.Helper()
	list, err := e.full().UnknownCode(e.ctx, unknownFor)
	e.ok(err, ruleListed)
	return list
}

// sameUnknown compares what UnknownCode lists with "kind name@version waiting".
func (e *env) sameUnknown(list []provider.UnknownCode, want ...string) {
	e.Helper()
	var got []string
	for _, u := range list {
		kind := "orchestration"
		if u.Activity {
			kind = "activity"
		}
		got = append(got, fmt.Sprintf("%s %s@%s %d", kind, u.Name, u.Version, u.Waiting))
	}
	sameList(e, got, want, ruleListed)
}

// KnownVersions tells what sets have, of orchestrations only, and for how long.
func knownVersionsListed(e *env) {
	versions := func(name string, since time.Duration) []string {
		list, err := e.full().KnownVersions(e.ctx, name, since)
		e.ok(err, ruleVersions)
		return list
	}
	e.refuses(knows("A@2", "A@10", "B@3"), ruleAdmitted)
	e.refuses(knows("A@2", "A@1", "a@7"), ruleAdmitted)
	e.fetchNoWork(knownWork(knows("A@9")), ruleAdmitted)
	sameList(e, versions("A", held), []string{"1", "10", "2"}, ruleVersions)
	sameList(e, versions("B", held), []string{"3"}, ruleVersions)
	sameList(e, versions("C", held), nil, ruleVersions)
	e.pass()
	seen := time.Now()
	e.refuses(knows("A@4"), ruleAdmitted)
	list := versions("A", e.unknownFor())
	e.within(seen.Add(e.unknownFor()))
	sameList(e, list, []string{"4"}, ruleVersions)
}

// What a set of another handle knows is known.
func knownElsewhere(e *env) {
	other := e.reopen()
	e.enqueue(startOf("a", "A", "1"))
	_, err := other.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: held, Known: knows("A@2")})
	e.ok(err, ruleSeen)
	list, err := e.full().KnownVersions(e.ctx, "A", held)
	e.ok(err, ruleVersions)
	sameList(e, list, []string{"2"}, ruleVersions)
	got, err := other.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: held, Known: knows("A@1")})
	e.ok(err, ruleAdmitted)
	e.check(got != nil, ruleAdmitted, "the other handle's set does not get the instance")
}

// What nobody has is counted at once.
func unknownDepths(e *env) {
	const rule = "§5.20 GetQueueDepths: counts what UnknownCode lists for 75 seconds"
	e.enqueue(startOf("x", "X", ""), startOf("a", "A", ""))
	e.enqueueWork(activityOf("X", 2), activityOf("A", 3))
	e.selected(knows("A"))
	e.selectedWork(knows("A"))
	depths := e.allDepths()
	same(e, depths.UnknownOrchestrations, 1, rule)
	same(e, depths.UnknownActivities, 1, rule)
}
