package providertest

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// selectionByCode checks what a store promises that gives work only to workers with the
// code for it (§5.20). Another store skips the scenarios. What no worker knows is in
// unknown_code.go, fetches that name nothing are in unnamed.go, and waiting fetches are in selection_waiting.go.
func selectionByCode() category {
	scenarios := []scenario{
		{"skipped_instances_are_not_locked_nor_counted", codeSkipsInstances},
		{"order_is_kept_among_admitted_instances", codeKeepsOrder},
		{"admitted_instance_behind_many_skipped_ones", codeBehindMany},
		{"empty_set_takes_no_code", codeEmptySet},
		{"start_without_version_goes_to_any_version", codeUnversionedStart},
		{"start_with_version_goes_to_that_version", codeVersionedStart},
		{"placeholder_versions_are_none", codePlaceholders},
		{"running_instance_goes_to_its_executions_version", codeOfExecution},
		{"first_start_in_queue_order_decides", codeOfFirstStart},
		{"continue_as_new_moves_the_instance", codeOfContinueAsNew},
		{"messages_of_ended_instances_go_to_anybody", codeOfEnded},
		{"messages_without_start_go_to_anybody", codeOfOrphans},
		{"history_without_instance_goes_to_anybody", codeOfHistory},
		{"deleted_and_started_again_under_other_code", codeAfterDeletion},
		{"filter_and_known_both_apply", codeAndFilter},
		{"skipped_activities_are_not_locked_nor_counted", codeSkipsActivities},
		{"order_is_kept_among_admitted_activities", codeKeepsActivityOrder},
		{"activities_by_code_and_tag", codeAndTags},
		{"activities_by_code_and_session", codeAndSessions},
		{"long_session_of_skipped_activities_hides_nothing", codeBehindManyInSession},
		{"names_are_compared_byte_for_byte", codeLookalikes},
		{"long_names_go_to_anybody", codeLongNames},
		{"large_sets", codeLargeSets},
		{"lease_that_ended_counts_the_attempt", codeAfterLease},
	}
	scenarios = append(scenarios, unknownCode()...)
	scenarios = append(scenarios, unnamed()...)
	scenarios = append(scenarios, selectionWaiting()...)
	return category{"selection by code", needing(scenarios)}
}

const (
	ruleAdmitted    = "§5.20 Known: only instances, or activities, of a code in the set or of any"
	ruleNotAdmitted = "§5.20 Known: skipped work MUST NOT be locked and its attempt count MUST NOT change"
	ruleAdmittedIn  = "§5.20 Known: among what is admitted the order is that of §5.1 and §5.10"
	ruleNoVersion   = `§5.20: a start without a version has the version "", which every set has of each of its names`
	ruleRunsCode    = "§5.20: running: name and version of that execution"
	ruleNextCode    = "§5.20: ContinuedAsNew: name and version of the first ContinueAsNew in queue order"
	ruleAnyCode     = "§5.20: work of any code is given to every fetch"
	ruleByteCode    = "§5.20: comparison: byte for byte: case, accents and blanks at the end matter"
)

// knows is a set of code: "Name" or "Name@version" each.
func knows(codes ...string) *provider.KnownCode {
	names := make([]provider.CodeName, 0, len(codes))
	for _, code := range codes {
		name, version, _ := strings.Cut(code, "@")
		names = append(names, provider.CodeName{Name: name, Version: version})
	}
	return provider.Know(names...)
}

// startOf starts an orchestration in a version, "" for none.
func startOf(instance, orchestration, version string) provider.StartOrchestrationItem {
	item := startItem(instance)
	item.Orchestration, item.Version = orchestration, nil
	if version != "" {
		item.Version = &version
	}
	return item
}

// activityOf is activity id of instance "order" with a name.
func activityOf(name string, id uint64) provider.ActivityExecuteItem {
	item := plain(id)
	item.Name = name
	return item
}

// named is the metadata of an execution's first turn.
func named(orchestration, version string) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{OrchestrationName: &orchestration, OrchestrationVersion: &version}
}

// tryFetchKnown fetches what the set admits, under a lease that does not end, or nil.
func (e *env) tryFetchKnown(known *provider.KnownCode) *provider.FetchedOrchestration {
	e.Helper()
	return e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, Known: known})
}

// admits asserts that the set's next instance is the given one, and keeps it locked.
func (e *env) admits(known *provider.KnownCode, instance, rule string) *provider.FetchedOrchestration {
	e.Helper()
	got := e.tryFetchKnown(known)
	e.check(got != nil, rule, "fetched nothing, want %q", instance)
	e.check(got.Item.Instance == instance, rule, "fetched %q, want %q", got.Item.Instance, instance)
	return got
}

// refuses asserts that the set admits nothing that is queued.
func (e *env) refuses(known *provider.KnownCode, rule string) {
	e.Helper()
	got := e.tryFetchKnown(known)
	e.check(got == nil, rule, "fetched %s, want nothing", render(got))
}

// begin runs the first turn of an instance that was just started, as the given code.
func (e *env) begin(instance, orchestration, version string) {
	e.Helper()
	got := e.tryFetchKnown(nil)
	e.check(got != nil && got.Item.Instance == instance, "§5.1", "fetched %s, want %q", render(got), instance)
	e.commit(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started(instance, 1)}, Metadata: named(orchestration, version),
	})
}

// knownWork fetches activities that the set admits.
func knownWork(known *provider.KnownCode) provider.FetchWorkParams {
	return provider.FetchWorkParams{LockTimeout: held, Known: known}
}

// Skipping leaves an instance as it was, however often: its first delivery is attempt 1.
func codeSkipsInstances(e *env) {
	e.enqueue(startOf("a", "A", "1.0.0"))
	for range 5 {
		e.refuses(knows("B@1.0.0"), ruleAdmitted)
	}
	got := e.admits(knows("A@1.0.0"), "a", ruleNotAdmitted)
	same(e, got.AttemptCount, 1, ruleNotAdmitted)
	same(e, len(got.Item.Messages), 1, ruleNotAdmitted)
}

// Instances of several codes come in queue order, across codes and versions.
func codeKeepsOrder(e *env) {
	var want []string
	for i, code := range []string{"C@1", "A@2", "X", "B", "A@1", "X@1", "A", "C@1", "A@2"} {
		name, version, _ := strings.Cut(code, "@")
		instance := fmt.Sprint(i, code)
		e.enqueue(startOf(instance, name, version))
		if name != "X" {
			want = append(want, instance)
		}
	}
	known := knows("A@1", "A@2", "B@1", "C@1")
	for _, instance := range want {
		e.admits(known, instance, ruleAdmittedIn)
	}
	e.refuses(known, ruleAdmitted)
}

// An admitted instance is found behind more skipped ones than a store reads in one go.
func codeBehindMany(e *env) {
	for i := range 150 {
		e.enqueue(startOf(fmt.Sprint("skipped", i), fmt.Sprint("Skipped", i%30), ""))
	}
	e.enqueue(startOf("a", "A", ""))
	e.admits(knows("A"), "a", "§5.20 Known: the rule applies in the candidate query")
	e.refuses(knows("A"), ruleAdmitted)
}

// An empty set takes nothing that needs code, neither of orchestrations nor activities.
func codeEmptySet(e *env) {
	e.enqueue(startOf("a", "A", ""))
	e.enqueueWork(activityOf("A", 2))
	e.refuses(knows(), ruleAdmitted)
	e.fetchNoWork(knownWork(knows()), ruleAdmitted)
	e.admits(nil, "a", "§5.20 Known nil: no restriction")
	e.claim(knownWork(nil), 2, "§5.20 Known nil: no restriction")
}

// A start that asks for no version goes to whoever has the name.
func codeUnversionedStart(e *env) {
	e.enqueue(startOf("a", "A", ""))
	e.refuses(knows("B@1.0.0"), ruleAdmitted)
	e.release(e.admits(knows("A@1.0.0"), "a", ruleNoVersion))
	e.release(e.admits(knows("A@2.0.0", "B@1.0.0"), "a", ruleNoVersion))
	e.admits(knows("A"), "a", ruleNoVersion)
}

// A start that asks for a version goes to whoever has that one.
func codeVersionedStart(e *env) {
	e.enqueue(startOf("a", "A", "2.0.0"))
	e.refuses(knows("A@1.0.0", "A@2.0", "A@2.0.0-x"), ruleAdmitted)
	e.admits(knows("A@1.0.0", "A@2.0.0"), "a", ruleAdmitted)
}

// The versions that histories of early releases have for none mean none.
func codePlaceholders(e *env) {
	for i, version := range []string{"0.0.0", provider.UnknownVersion} {
		instance, name := fmt.Sprint("a", i), fmt.Sprint("A", i)
		e.enqueue(startOf(instance, name, version))
		e.begin(instance, name, version)
		e.wake(instance)
		e.admits(knows(name+"@1.0.0"), instance, ruleNoVersion)
	}
}

// Once it runs an instance needs the version that it runs in, not the one asked for.
func codeOfExecution(e *env) {
	e.enqueue(startOf("a", "A", ""))
	e.begin("a", "A", "2.0.0")
	e.wake("a")
	e.refuses(knows("A@1.0.0"), ruleRunsCode)
	got := e.admits(knows("A@2.0.0"), "a", ruleRunsCode)
	same(e, got.AttemptCount, 1, ruleNotAdmitted)
	e.drop(got) // names nothing, so nothing changes
	e.enqueue(startOf("a", "B", "1.0.0"))
	e.refuses(knows("A@1.0.0", "B@1.0.0"), ruleRunsCode)
	e.admits(knows("A@2.0.0"), "a", ruleRunsCode)
}

// Of several starts of an instance the first decides, also when it comes into sight later.
func codeOfFirstStart(e *env) {
	const rule = "§5.20: no instance row and no history: the first StartOrchestration in queue order"
	e.enqueue(startOf("a", "A", ""), startOf("a", "B", ""), startOf("a", "C", ""))
	e.refuses(knows("B", "C"), rule)
	e.admits(knows("A"), "a", rule)

	e.enqueueLater(startOf("b", "A", ""), e.lease)
	e.enqueue(startOf("b", "B", ""))
	e.refuses(knows("A", "B"), "§5.1: while an instance has a not-yet-visible start, it is not eligible at all")
	e.expire()
	e.refuses(knows("B"), rule)
	e.admits(knows("A"), "b", rule)
}

// Continue-as-new hands the instance to whoever has the next execution's code: at once,
// and when that runs.
func codeOfContinueAsNew(e *env) {
	e.enqueue(startOf("a", "A", "1.0.0"))
	e.begin("a", "A", "1.0.0")
	e.wake("a")
	old, next := knows("A@1.0.0"), knows("A@2.0.0")
	e.commit(e.admits(old, "a", ruleRunsCode), provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("a", 1, 2, terminal(provider.StatusContinuedAsNew, "in"))},
		OrchestratorItems: []provider.WorkItem{provider.ContinueAsNewItem{
			Instance: "a", Orchestration: "A", Input: "in", Version: new("2.0.0"),
		}},
		Metadata: ended(provider.StatusContinuedAsNew, "in"),
	})
	e.wake("a")
	e.refuses(old, ruleNextCode)
	got := e.admits(next, "a", ruleNextCode)
	same(e, got.AttemptCount, 1, ruleNotAdmitted)
	e.commit(got, provider.AckOrchestrationParams{
		ExecutionID: 2, HistoryDelta: []provider.Event{started("a", 2)}, Metadata: named("A", "2.0.0"),
	})
	e.wake("a")
	e.refuses(old, ruleRunsCode)
	e.admits(next, "a", ruleRunsCode)
}

// What comes for an instance that has ended may be dropped by anybody.
func codeOfEnded(e *env) {
	for i, status := range []provider.Status{provider.StatusCompleted, provider.StatusFailed} {
		instance := fmt.Sprint("a", i)
		e.createEnded(instance, status)
		e.wake(instance)
		e.drop(e.admits(knows("Other"), instance, ruleAnyCode))
		e.enqueue(startOf(instance, "A", "1.0.0"))
		e.drop(e.admits(knows(), instance, ruleAnyCode))
	}
}

// Messages of an instance that nobody started are dropped by anybody, and keep nobody
// from finding other work.
func codeOfOrphans(e *env) {
	e.enqueue(provider.QueueMessageItem{Instance: "ghost", Name: "q", Data: "x"})
	e.refuses(knows("A"), "§5.1: orphans: delete them, then next candidate / nil")
	if e.p.Admin() != nil {
		same(e, e.depths().OrchestratorQueue, 0, "§5.1: orphans: delete them")
	}
	e.enqueue(provider.QueueMessageItem{Instance: "ghost", Name: "q", Data: "x"}, startOf("a", "A", ""))
	e.admits(knows("A"), "a", ruleAdmittedIn)
}

// An instance without a row whose history has begun may be taken by anybody.
func codeOfHistory(e *env) {
	e.appendEvents("a", 1, started("a", 1))
	e.wake("a")
	e.admits(knows("Other"), "a", ruleAnyCode)
}

// Nothing of a deleted instance's code is left for the one that comes after it.
func codeAfterDeletion(e *env) {
	e.createEnded("a", provider.StatusCompleted)
	e.delete("a", true)
	e.enqueue(startOf("a", "B", "1.0.0"))
	e.refuses(knows("Order@1.0.0"), ruleAdmitted)
	e.admits(knows("B@1.0.0"), "a", ruleAdmitted)
}

// Framework version and code are two conditions, and both must hold.
func codeAndFilter(e *env) {
	e.createPinned("old", v(1, 0, 0))
	e.createPinned("new", v(2, 0, 0))
	e.wake("old", "new")
	take := func(filter *provider.CapabilityFilter, known *provider.KnownCode) string {
		got := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, Filter: filter, Known: known})
		if got == nil {
			return ""
		}
		e.release(got)
		return got.Item.Instance
	}
	same(e, take(only(v(2, 0, 0), v(2, 0, 0)), knows("Order@1.0.0")), "new", ruleAdmitted)
	same(e, take(only(v(1, 0, 0), v(2, 0, 0)), knows("Order@1.0.0")), "old", ruleAdmittedIn)
	same(e, take(only(v(1, 0, 0), v(2, 0, 0)), knows("Order@2.0.0")), "", ruleAdmitted)
	same(e, take(only(v(3, 0, 0), v(4, 0, 0)), knows("Order@1.0.0")), "", ruleFilter)
}

// Skipping leaves an activity as it was, however often.
func codeSkipsActivities(e *env) {
	e.enqueueWork(activityOf("A", 2))
	for range 5 {
		e.fetchNoWork(knownWork(knows("B")), ruleAdmitted)
	}
	same(e, e.claim(knownWork(knows("A")), 2, ruleNotAdmitted).AttemptCount, 1, ruleNotAdmitted)
}

// Activities of several names come in queue order, and those of others stand in nobody's
// way.
func codeKeepsActivityOrder(e *env) {
	for id, name := range []string{"X", "C", "A", "X", "B", "A", "X", "C", "A"} {
		e.enqueueWork(activityOf(name, uint64(id+2)))
	}
	for i := range 100 {
		e.enqueueWork(activityOf(fmt.Sprint("Skipped", i), uint64(i+50)))
	}
	e.enqueueWork(activityOf("A", 200))
	known := knownWork(knows("A", "B", "C"))
	for _, id := range []uint64{3, 4, 6, 7, 9, 10, 200} {
		e.claim(known, id, ruleAdmittedIn)
	}
	e.fetchNoWork(known, ruleAdmitted)
}

// Name and tag are two conditions.
func codeAndTags(e *env) {
	item := func(name, tag string, id uint64) provider.ActivityExecuteItem {
		a := activityOf(name, id)
		a.Tag = &tag
		return a
	}
	e.enqueueWork(item("X", "gpu", 2), item("A", "cpu", 3), item("A", "gpu", 4), activityOf("A", 5), item("B", "gpu", 6), activityOf("X", 7))
	fetch := func(params provider.FetchWorkParams) provider.FetchWorkParams {
		params.Known = knows("A", "B")
		return params
	}
	e.claim(fetch(e.onlyTags("gpu")), 4, ruleAdmitted)
	e.claim(fetch(filtered(provider.TagFilter{})), 5, ruleAdmitted)
	e.fetchNoWork(fetch(filtered(provider.TagFilter{})), ruleAdmitted)
	e.claim(fetch(filtered(provider.AnyTag())), 3, ruleAdmittedIn)
	e.claim(fetch(filtered(provider.AnyTag())), 6, ruleAdmittedIn)
	e.fetchNoWork(fetch(filtered(provider.AnyTag())), ruleAdmitted)
}

// Name and session are two conditions, and a session is claimed only with an activity.
func codeAndSessions(e *env) {
	bound := func(name, session string, id uint64) provider.ActivityExecuteItem {
		a := activityOf(name, id)
		a.SessionID = &session
		return a
	}
	by := func(id string, known *provider.KnownCode) provider.FetchWorkParams {
		params := owner(id)
		params.Known = known
		return params
	}
	e.enqueueWork(bound("X", "s", 2), bound("A", "s", 3), bound("B", "t", 4), activityOf("X", 5))
	e.fetchNoWork(by("w1", knows("C")), ruleAdmitted)
	e.fetchNoWork(knownWork(knows("A", "B")), ruleNoSession)
	e.claim(by("w2", knows("A", "B")), 3, ruleAdmittedIn)
	e.fetchNoWork(by("w1", knows("A")), ruleAdmitted)
	e.claim(by("w1", knows("X")), 5, ruleForeign)
	e.claim(by("w1", knows("A", "B", "X")), 4, ruleAdmittedIn)
	e.claim(by("w2", knows("X")), 2, ruleOwned)
}

// An activity is found behind many of the same and other sessions that the set skips.
func codeBehindManyInSession(e *env) {
	for i := range 60 {
		a := inSession([]string{"s", "t", "u"}[i%3], uint64(i+2))
		a.Name = fmt.Sprint("Skipped", i%7)
		e.enqueueWork(a)
	}
	e.enqueueWork(inSession("t", 100))
	params := owner("w")
	params.Known = knows("Charge")
	e.claim(params, 100, ruleAdmitted)
	e.fetchNoWork(params, ruleAdmitted)
}

// Names and versions that look alike are different code.
func codeLookalikes(e *env) {
	for i, name := range lookalikes {
		e.enqueue(startOf(fmt.Sprint("name", i), name, "1"))
		e.enqueue(startOf(fmt.Sprint("version", i), "V", name))
		e.enqueueWork(activityOf(name, uint64(i+2)))
	}
	for i, name := range lookalikes {
		known := provider.Know(provider.CodeName{Name: name, Version: "1"})
		e.admits(known, fmt.Sprint("name", i), ruleByteCode)
		e.refuses(known, ruleByteCode)
		known = provider.Know(provider.CodeName{Name: "V", Version: name})
		e.admits(known, fmt.Sprint("version", i), ruleByteCode)
		e.refuses(known, ruleByteCode)
		work := knownWork(provider.Know(provider.CodeName{Name: name}))
		e.claim(work, uint64(i+2), ruleByteCode)
		e.fetchNoWork(work, ruleByteCode)
	}
}

// A name of the longest length is looked for; a longer one is everybody's.
func codeLongNames(e *env) {
	const rule = "§5.20: a name or version of more than 400 UTF-16 units counts as any"
	longest := strings.Repeat("😀", provider.MaxCodeNameLength/2)
	longer := longest + "x"
	e.enqueue(startOf("a", longest, longest), startOf("b", longer, ""), startOf("c", "C", longer))
	e.enqueueWork(activityOf(longest, 2), activityOf(longer, 3))
	e.admits(knows("C"), "b", rule)
	e.admits(knows("C"), "c", rule)
	e.refuses(knows("C"), rule)
	e.claim(knownWork(knows("C")), 3, rule)
	e.fetchNoWork(knownWork(knows("C")), rule)
	known := provider.Know(provider.CodeName{Name: longest, Version: longest}, provider.CodeName{Name: longer})
	e.admits(known, "a", ruleAdmitted)
	e.claim(knownWork(known), 2, ruleAdmitted)
	// A running instance of such a name is everybody's as well.
	e.enqueue(startOf("d", longer, ""))
	e.begin("d", longer, "1.0.0")
	e.wake("d")
	e.admits(knows("C"), "d", rule)
}

// A set may have far more names than work waits for, and the other way round.
func codeLargeSets(e *env) {
	var names []provider.CodeName
	for i := range 1000 {
		names = append(names, provider.CodeName{Name: fmt.Sprintf("Orchestration %04d", i), Version: "1.0.0"})
	}
	known := provider.Know(names...)
	e.enqueue(startOf("x", "X", ""), startOf("a", "Orchestration 0999", "1.0.0"), startOf("b", "Orchestration 0000", ""))
	e.admits(known, "a", ruleAdmittedIn)
	e.admits(known, "b", ruleAdmittedIn)
	e.refuses(known, ruleAdmitted)
}

// A set that takes over after a lease has ended is told the attempt before.
func codeAfterLease(e *env) {
	e.enqueue(startOf("a", "A", ""))
	e.enqueueWork(activityOf("A", 2))
	got := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: e.lease, Known: knows("A@1")})
	e.check(got != nil, ruleNoVersion, "fetched nothing")
	params := knownWork(knows("A"))
	params.LockTimeout = e.lease
	e.claim(params, 2, ruleAdmitted)
	e.expire()
	e.refuses(knows("B"), ruleAdmitted)
	e.fetchNoWork(knownWork(knows("B")), ruleAdmitted)
	same(e, e.admits(knows("A"), "a", ruleAdmitted).AttemptCount, 2, "§5.1 step 9: maximum attempt_count over the batch")
	same(e, e.claim(knownWork(knows("A")), 2, ruleAdmitted).AttemptCount, 2, "§5.10: attempt_count += 1")
}
