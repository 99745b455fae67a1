package providertest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/provider"
)

// payloads checks that what is stored comes back as it was: every kind of
// event and message, texts of every size and alphabet, ids byte for byte.
func payloads() category {
	return category{"payloads", []scenario{
		{"every_event_kind_round_trips", eventKindsRoundTrip},
		{"every_message_variant_round_trips", messagesRoundTrip},
		{"every_activity_form_round_trips", activitiesRoundTrip},
		{"every_error_detail_round_trips", errorDetailsRoundTrip},
		{"large_numbers_round_trip", numbersRoundTrip},
		{"sizes_of_events", sizesOfEvents},
		{"sizes_of_messages", sizesOfMessages},
		{"sizes_of_activities_and_results", sizesOfActivities},
		{"sizes_of_outputs", sizesOfOutputs},
		{"sizes_of_custom_status", sizesOfCustomStatus},
		{"sizes_of_kv_values", sizesOfKVValues},
		{"odd_texts_in_events", textsInEvents},
		{"odd_texts_in_messages", textsInMessages},
		{"odd_texts_in_activities", textsInActivities},
		{"odd_texts_in_names_and_outputs", textsInColumns},
		{"invalid_utf8_becomes_the_replacement_character", invalidUTF8},
		{"invalid_utf8_in_columns_is_that_of_the_events", invalidUTF8InColumns},
		{"long_names_and_versions", longNames},
		{"instance_ids_are_compared_byte_for_byte", instanceIDsByteForByte},
		{"odd_texts_as_instance_ids", textsAsIDs},
		{"event_names_are_kept_byte_for_byte", namesByteForByte},
		{"reserved_ids_are_the_runtimes_business", reservedIDs},
		{"ids_of_255_characters_work", longIDs},
		{"longer_ids_are_refused_or_whole", tooLongIDs},
		{"ids_that_are_no_text_are_refused_or_work", nonTextIDs},
		{"names_that_are_no_text_meet_nobody", nonTextMeetsNobody},
		{"ids_that_are_no_text_delete_nobody", nonTextDeletesNobody},
		{"row_keys_win_over_the_json", rowKeysWin},
		{"events_written_by_others_are_read", foreignEvents},
	}}
}

const (
	ruleRoundTrip = "§3: events and items are stored as JSON and mean the same when read back"
	ruleSizes     = "Config.MaxPayload: the largest payload, which the contract expects of every store; §11.2: NVARCHAR(MAX)"
)

// details are failures of every sort.
func details() []provider.ErrorDetails {
	return []provider.ErrorDetails{
		provider.InfrastructureFailure{Operation: "ack", Message: "db down", Retryable: true},
		provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: "r"},
		provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: "r", Message: new("m")},
		provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "card declined", Retryable: true},
		provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: "no"},
		provider.ApplicationFailure{Kind: provider.AppPanicked, Message: "boom"},
		provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "user"},
		provider.ApplicationFailure{
			Kind: provider.AppActivityFailed, Message: "card declined", FailureKind: "CardDeclined", FailureDetails: `{"code":51}`, Final: true,
		},
		provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "connection reset", Heartbeat: `{"rows":700}`},
		provider.PoisonFailure{
			AttemptCount: 11, MaxAttempts: 10, Message: "[]",
			MessageType: provider.PoisonOrchestration{Instance: "i", ExecutionID: 1},
		},
		provider.PoisonFailure{
			AttemptCount: 11, MaxAttempts: 10, Message: "{}",
			MessageType: provider.PoisonActivity{Instance: "i", ExecutionID: 1, ActivityName: "A", ActivityID: 2},
		},
		provider.PoisonFailure{
			AttemptCount: math.MaxUint32, MaxAttempts: 0, Message: "e",
			MessageType: provider.PoisonDeserialization{Instance: "i", ExecutionID: 1, Error: "e"},
		},
	}
}

// kinds is every kind of event, those with optional fields with and without them.
func kinds() []provider.EventKind {
	failure := details()[3]
	return []provider.EventKind{
		provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}"},
		provider.OrchestrationStarted{
			Name: "Order", Version: "1.0.0", Input: "x", ParentInstance: new("root"), ParentID: new(uint64(4)),
			CarryForwardEvents: []provider.CarriedMessage{{Name: "inbox", Data: "m1"}, {}}, InitialCustomStatus: new("50%"),
		},
		provider.OrchestrationStarted{
			Name: "Order", Version: "1.0.0", Input: "x",
			ParentInstance: new("root"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(7)), DroppedMessages: 14, Headers: "a=1",
		},
		provider.OrchestrationCompleted{Output: "done"},
		provider.OrchestrationFailed{Details: failure},
		provider.OrchestrationContinuedAsNew{Input: "next"},
		provider.OrchestrationContinuedAsNew{Input: "next", DroppedMessages: 11},
		provider.OrchestrationCancelRequested{Reason: "user"},
		provider.ActivityScheduled{Name: "Charge", Input: "{}"},
		provider.ActivityScheduled{Name: "Charge", Input: "{}", SessionID: new("s1"), Tag: new("gpu")},
		provider.ActivityScheduled{Name: "Charge", Input: "{}", SessionID: new(""), Tag: new("")},
		provider.ActivityCompleted{Result: "ok"},
		provider.ActivityFailed{Details: failure},
		provider.ActivityCancelRequested{Reason: "dropped_future"},
		provider.TimerCreated{FireAtMs: baseMs},
		provider.TimerFired{FireAtMs: baseMs},
		provider.ExternalSubscribed{Name: "approve"},
		provider.ExternalEvent{Name: "approve", Data: "yes"},
		provider.ExternalSubscribedCancelled{Reason: "dropped_future"},
		provider.QueueSubscribed{Name: "inbox"},
		provider.QueueEventDelivered{Name: "inbox", Data: "m1"},
		provider.QueueSubscriptionCancelled{Reason: "orchestration_terminal"},
		provider.OrchestrationChained{Name: "Audit", Instance: "audit-1", Input: "x"},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::2", Input: "x"},
		provider.SubOrchestrationCompleted{Result: "ok"},
		provider.SubOrchestrationFailed{Details: failure},
		provider.SubOrchestrationCancelRequested{Reason: "dropped_future"},
		provider.CustomStatusUpdated{Status: new("50%")},
		provider.CustomStatusUpdated{},
		provider.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: baseMs},
		provider.KeyValueCleared{Key: "k"},
		provider.KeyValuesCleared{},
	}
}

// messages is every variant of the orchestrator queue, with and without optional
// fields.
func messages(instance string) []provider.WorkItem {
	child := startItem(instance)
	child.Version, child.ParentInstance, child.ParentID, child.ExecutionID = nil, new("root"), new(uint64(2)), 3
	stamped := child
	stamped.ParentExecutionID, stamped.Headers = new(uint64(7)), "a=1"
	return append(otherItems(instance), child, stamped,
		provider.ContinueAsNewItem{
			Instance: instance, Orchestration: "Order", Input: "x",
			ParentInstance: new("root"), ParentID: new(uint64(2)), ParentExecutionID: new(uint64(7)), DroppedMessages: 11, Headers: "a=1",
		},
		provider.QueueMessageItem{Instance: instance},
		provider.ContinueAsNewItem{
			Instance: instance, Orchestration: "Order", Input: "x", Version: new("2.0.0"), InitialCustomStatus: new(""),
			CarryForwardEvents: []provider.CarriedMessage{{Name: "inbox", Data: "m1"}, {Name: "inbox", Data: "m2"}},
		})
}

// storedAsHistory writes kinds as the history of a new instance, by one ack, and
// asserts that all reads return it.
func (e *env) storedAsHistory(instance, rule string, kinds ...provider.EventKind) {
	e.Helper()
	events := make([]provider.Event, len(kinds))
	for i, kind := range kinds {
		events[i] = event(instance, 1, uint64(i+1), kind)
		events[i].TimestampMs += uint64(i)
		if i%2 == 1 {
			events[i] = after(uint64(i), events[i])
		}
	}
	e.enqueue(startItem(instance))
	e.commit(e.fetchInstance(instance, held), provider.AckOrchestrationParams{HistoryDelta: events, Metadata: created()})
	e.sameEvents(e.history(instance, 1), events, rule)
	e.sameEvents(e.read(instance), events, rule)
	e.enqueue(raised(instance, "go"))
	got := e.fetchInstance(instance, held)
	e.sameEvents(got.Item.History, events, rule)
	e.drop(got)
}

// delivered sends items to a running instance, by a call and by a turn, and
// asserts that both batches hold them.
func (e *env) delivered(instance, rule string, items ...provider.WorkItem) {
	e.Helper()
	e.enqueue(items...)
	got := e.fetchInstance(instance, held)
	e.batch(got, rule, items...)
	e.commit(got, provider.AckOrchestrationParams{OrchestratorItems: items})
	got = e.fetchInstance(instance, held)
	e.batch(got, rule, items...)
	e.drop(got)
}

// All 26 kinds of events, with all optional fields, read back as written.
func eventKindsRoundTrip(e *env) {
	e.storedAsHistory("A", ruleRoundTrip, kinds()...)
	e.adminReads("A", e.read("A"), ruleRoundTrip)
}

// adminReads wants that the management side reads the first execution's history as it was written.
func (e *env) adminReads(instance string, events []provider.Event, rule string) {
	e.Helper()
	admin := e.p.Admin()
	if admin == nil {
		return
	}
	read, err := admin.ReadHistory(e.ctx, instance)
	e.ok(err, rule)
	e.sameEvents(read, events, rule)
	read, err = admin.ReadHistoryWithExecutionID(e.ctx, instance, 1)
	e.ok(err, rule)
	e.sameEvents(read, events, rule)
}

// All ten variants of messages, with all optional fields, are delivered as sent.
func messagesRoundTrip(e *env) {
	e.create("A")
	e.delivered("A", ruleRoundTrip, messages("A")...)
}

// Activities keep all fields, by a call and by a turn, an empty session or tag
// included.
func activitiesRoundTrip(e *env) {
	full, empty := activityItem("A", 3), activityItem("A", 4)
	full.ExecutionID, full.SessionID, full.Tag = 7, new("s1"), new("gpu")
	full.Headers, full.Heartbeat, full.StartTimeoutMs, full.RunTimeoutMs = "a=1", `{"rows":7}`, 1000, 2000
	empty.Name, empty.Input, empty.SessionID, empty.Tag = "", "", new(""), new("")
	items := []provider.ActivityExecuteItem{activityItem("A", 2), full, empty}
	e.createWith("A", provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{items[0], items[1], items[2]}})
	e.enqueueWork(items...)
	all := provider.FetchWorkParams{
		LockTimeout: held, Tags: provider.AnyTag(), Session: &provider.SessionFetchConfig{OwnerID: "w", LockTimeout: held},
	}
	for i := range 6 {
		e.sameItem(e.fetchWorkWith(all).Item, items[i%3], ruleRoundTrip)
	}
}

// Failures of every sort keep all fields, in events and in messages.
func errorDetailsRoundTrip(e *env) {
	var events []provider.EventKind
	var items []provider.WorkItem
	for i, d := range details() {
		events = append(events, provider.ActivityFailed{Details: d}, provider.OrchestrationFailed{Details: d})
		items = append(items,
			provider.ActivityFailedItem{Instance: "A", ExecutionID: 1, ID: uint64(i), Details: d},
			provider.SubOrchFailedItem{ParentInstance: "A", ParentExecutionID: 1, ParentID: uint64(i), Details: d})
	}
	e.storedAsHistory("A", ruleRoundTrip, events...)
	e.delivered("A", ruleRoundTrip, items...)
}

// Numbers up to 2^63−1 come back exactly, as row keys and inside the JSON.
func numbersRoundTrip(e *env) {
	const rule = "§2.2: all integers in JSON are unsigned 64-bit, written without fraction or exponent; in databases signed 64-bit"
	e.create("A")
	for _, n := range []uint64{1<<53 - 1, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		e.delivered("A", rule,
			provider.ActivityCompletedItem{Instance: "A", ExecutionID: n, ID: n, Result: "ok"},
			provider.SubOrchCompletedItem{ParentInstance: "A", ParentExecutionID: n, ParentID: n})
		work := provider.ActivityExecuteItem{Instance: "A", ExecutionID: n, ID: n, Name: "Charge"}
		e.enqueueWork(work)
		e.sameItem(e.fetchWork(held).Item, work, rule)
		written := after(n, event("B", n, n, provider.TimerCreated{FireAtMs: n}))
		written.TimestampMs = n
		e.appendEvents("B", n, written)
		e.sameEvents(e.history("B", n), []provider.Event{written}, rule)
	}
}

// payload is a text of n bytes whose parts differ, with characters of one to
// four bytes and some that JSON and SQL treat specially.
func payload(n int) string {
	text := make([]byte, 0, n+64)
	for i := int64(0); len(text) <= n; i++ {
		text = strconv.AppendInt(text, i, 10)
		text = append(text, " é€😀\"\\\n'%<"...)
	}
	cut := n
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + strings.Repeat("x", n-cut)
}

// sizes are the payload sizes up to what the store under test is given: around
// the limits at which databases change how they keep a text.
func (e *env) sizes() []int {
	sizes := []int{1, 3999, 4000, 4001, 7999, 8001, 64 << 10, 1 << 20, e.config.MaxPayload}
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return n > e.config.MaxPayload })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// An event may have any size.
func sizesOfEvents(e *env) {
	for _, n := range e.sizes() {
		e.storedAsHistory(fmt.Sprint("i", n), fmt.Sprintf("%s (%d bytes)", ruleSizes, n),
			provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: payload(n)})
	}
}

// Messages of any size are delivered, queued by a call or by a turn.
func sizesOfMessages(e *env) {
	for _, n := range e.sizes() {
		text, instance, rule := payload(n), fmt.Sprint("i", n), fmt.Sprintf("%s (%d bytes)", ruleSizes, n)
		start := startItem(instance)
		start.Input = text
		message := provider.QueueMessageItem{Instance: instance, Name: "inbox", Data: text}
		e.enqueue(start)
		got := e.fetchInstance(instance, held)
		e.batch(got, rule, start)
		e.commit(got, provider.AckOrchestrationParams{Metadata: created(), OrchestratorItems: []provider.WorkItem{message}})
		e.batch(e.fetchInstance(instance, held), rule, message)
	}
}

// Activities take inputs of any size, and their results reach the instance.
func sizesOfActivities(e *env) {
	e.create("A")
	for _, n := range e.sizes() {
		rule := fmt.Sprintf("%s (%d bytes)", ruleSizes, n)
		text, item := payload(n), activityItem("A", uint64(n))
		item.Input = text
		e.enqueueWork(item)
		got := e.fetchWork(held)
		e.sameItem(got.Item, item, rule)
		done := provider.ActivityCompletedItem{Instance: "A", ExecutionID: 1, ID: item.ID, Result: text}
		e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, done), rule)
		turn := e.fetchInstance("A", held)
		e.batch(turn, rule, done)
		e.drop(turn)
	}
}

// An execution's output may have any size.
func sizesOfOutputs(e *env) {
	e.admin()
	for _, n := range e.sizes() {
		text, instance, rule := payload(n), fmt.Sprint("i", n), fmt.Sprintf("%s (%d bytes)", ruleSizes, n)
		e.createWith(instance, provider.AckOrchestrationParams{Metadata: ended(provider.StatusCompleted, text)})
		output := e.execution(instance, 1).Output
		e.check(output != nil, rule, "no output")
		e.sameText(*output, text, rule, "output")
		e.sameText(*e.info(instance).Output, text, rule, "output")
	}
}

// A custom status may have any size; the limit of §7.2 is the runtime's.
func sizesOfCustomStatus(e *env) {
	e.create("A")
	for i, n := range e.sizes() {
		text, rule := payload(n), fmt.Sprintf("%s (%d bytes)", ruleSizes, n)
		e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
			event("A", 1, uint64(i+2), provider.CustomStatusUpdated{Status: &text}),
		}})
		got, err := e.p.GetCustomStatus(e.ctx, "A", uint64(i))
		e.ok(err, rule)
		e.check(got != nil && got.Status != nil, rule, "no custom status")
		e.sameText(*got.Status, text, rule, "custom status")
	}
}

// A value may have any size, for clients and in the snapshot; the limit of §7.2
// is the runtime's.
func sizesOfKVValues(e *env) {
	for _, n := range e.sizes() {
		text, instance, rule := payload(n), fmt.Sprint("i", n), fmt.Sprintf("%s (%d bytes)", ruleSizes, n)
		e.createWith(instance, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
			event(instance, 1, 2, provider.KeyValueSet{Key: "k", Value: text, LastUpdatedAtMs: baseMs}),
		}})
		value, err := e.p.GetKVValue(e.ctx, instance, "k")
		e.ok(err, rule)
		e.check(value != nil, rule, "no value")
		e.sameText(*value, text, rule, "value")
		e.finish(instance, provider.StatusContinuedAsNew, "next")
		got := e.fetchInstance(instance, held)
		e.sameText(got.Item.KVSnapshot["k"].Value, text, rule, "value in the snapshot")
	}
}
