package providertest

import "github.com/duroxide/duroxide-go/provider"

// customStatus checks the status that an orchestration sets and clients poll by
// version.
func customStatus() category {
	return category{"custom status", []scenario{
		{"custom_status_set", customStatusSet},
		{"custom_status_clear", customStatusClear},
		{"custom_status_none_preserves", customStatusKept},
		{"custom_status_version_increments", customStatusVersions},
		{"custom_status_polling_no_change", customStatusPolling},
		{"custom_status_nonexistent_instance", customStatusUnknown},
		{"custom_status_default_on_new_instance", customStatusDefault},
	}}
}

const (
	ruleStatusLast = "§5.2 step 9: the last CustomStatusUpdated in the delta: store its value (NULL for reset) " +
		"and increase custom_status_version by exactly 1 for the whole ack"
	ruleStatusNewer = "§5.16: {Status, Version} if its version is greater than lastSeenVersion; otherwise nil"
)

// statusEvents are custom status updates with consecutive ids from first; nil
// resets.
func statusEvents(instance string, execution, first uint64, statuses ...*string) []provider.Event {
	var events []provider.Event
	for i, status := range statuses {
		events = append(events, event(instance, execution, first+uint64(i), provider.CustomStatusUpdated{Status: status}))
	}
	return events
}

// setStatus runs a turn of execution 1 that updates the custom status, with event
// ids from first.
func (e *env) setStatus(instance string, first uint64, statuses ...*string) {
	e.Helper()
	e.turn(instance, provider.AckOrchestrationParams{HistoryDelta: statusEvents(instance, 1, first, statuses...)})
}

// customStatus reads the custom status; nil when it is no newer than lastSeen.
func (e *env) customStatus(instance string, lastSeen uint64) *provider.CustomStatus {
	e.Helper()
	got, err := e.p.GetCustomStatus(e.ctx, instance, lastSeen)
	e.ok(err, "§5.16: GetCustomStatus")
	return got
}

// hasStatus asserts the custom status and its version.
func (e *env) hasStatus(instance string, status *string, version uint64, rule string) {
	e.Helper()
	got := e.customStatus(instance, version-1)
	e.check(got != nil, rule, "GetCustomStatus of %q with last seen version %d: nil, want version %d",
		instance, version-1, version)
	same(e, got.Version, version, rule)
	samePtr(e, got.Status, status, rule)
}

// customStatusSet: a status set in a turn is readable afterwards with version 1.
func customStatusSet(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.hasStatus("order", new("50 %"), 1, ruleStatusLast)
}

// customStatusClear: a reset is a change too: no status, and a higher version.
func customStatusClear(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.setStatus("order", 3, nil)
	e.hasStatus("order", nil, 2, "§5.16: a reset yields Status == nil with an increased version")
}

// customStatusKept: turns without an update leave status and version.
func customStatusKept(e *env) {
	const rule = "§5.2 step 9: absent → unchanged"
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.turn("order", provider.AckOrchestrationParams{})
	e.turn("order", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("order", 1, 3, provider.ExternalSubscribed{Name: "approve"})},
		Metadata:     created(),
	})
	e.finish("order", provider.StatusCompleted, "out")
	e.hasStatus("order", new("50 %"), 1, rule)
	e.check(e.customStatus("order", 1) == nil, rule, "the version grew without an update")
}

// customStatusVersions: each turn that updates the status adds exactly 1.
func customStatusVersions(e *env) {
	e.create("order")
	for version := uint64(1); version <= 5; version++ {
		status := new(string(rune('a' + version)))
		e.setStatus("order", version+1, status)
		e.hasStatus("order", status, version, ruleStatusLast)
		e.check(e.customStatus("order", version) == nil, ruleStatusLast, "version is above %d", version)
	}
}

// customStatusPolling: a poll with the version it already saw gets nothing until
// the next update.
func customStatusPolling(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("a"))
	seen := e.customStatus("order", 0)
	e.check(seen != nil, ruleStatusNewer, "nil after the first update")
	for range 3 {
		e.check(e.customStatus("order", seen.Version) == nil, ruleStatusNewer, "a status without a change")
	}
	e.setStatus("order", 3, new("b"))
	next := e.customStatus("order", seen.Version)
	e.check(next != nil, ruleStatusNewer, "nil after the second update")
	samePtr(e, next.Status, new("b"), ruleStatusNewer)
}

// customStatusUnknown: an unknown instance has no status, and asking is no error.
func customStatusUnknown(e *env) {
	e.enqueue(startItem("queued"))
	for _, instance := range []string{"nobody", "queued"} {
		got := e.customStatus(instance, 0)
		e.check(got == nil, "§5.16: {Status, Version} if the instance exists; otherwise nil",
			"custom status of %q: %s", instance, render(got))
	}
}

// customStatusDefault: a fresh instance has version 0, so polling from 0 waits
// for the first update.
func customStatusDefault(e *env) {
	const rule = "§5.16: a fresh instance has version 0, so lastSeen = 0 returns nil until the first update"
	e.create("order")
	got := e.customStatus("order", 0)
	e.check(got == nil, rule, "custom status of a fresh instance: %s", render(got))
	e.setStatus("order", 2, new("a"))
	e.hasStatus("order", new("a"), 1, rule)
}
