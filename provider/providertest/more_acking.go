package providertest

import (
	"fmt"
	"strconv"

	"github.com/duroxide/duroxide-go/provider"
)

// moreAcking checks, beyond the reference's scenarios, every step and edge case
// of ending a turn or an activity (§5.2 to §5.4, §5.11 to §5.13) and of the calls
// that write outside a turn (§5.5 to §5.9).
func moreAcking() category {
	return category{"more acking", []scenario{
		{"name_and_version_create_only_together", nameAndVersionTogether},
		{"name_and_version_follow_the_latest_ack", nameAndVersionFollow},
		{"parent_is_never_overwritten", parentNeverOverwritten},
		{"child_of_a_deleted_parent_can_be_created", childOfDeletedParent},
		{"current_execution_never_decreases", currentNeverDecreases},
		{"instance_created_in_a_later_execution", createdInLaterExecution},
		{"empty_ack_consumes_and_records_the_execution", emptyAck},
		{"completed_at_is_set_for_terminal_states_only", completedAtOfStates},
		{"updated_at_moves_with_each_ack", updatedAtMoves},
		{"last_custom_status_of_a_delta_wins", lastCustomStatusWins},
		{"instance_comes_from_the_lock", instanceFromLock},
		{"event_id_zero_rolls_back", eventIDZero},
		{"event_ids_may_have_gaps_and_any_order", eventIDGaps},
		{"ack_never_reads_history_back", ackNeverReads},
		{"hundreds_of_effects_in_one_ack", hundredsOfEffects},

		{"worker_items_keep_session_and_tag", ackKeepsSessionAndTag},
		{"worker_items_are_inserted_before_cancelling", insertBeforeCancel},
		{"cancelling_removes_locked_activities", cancelRemovesLocked},
		{"cancelling_matches_the_whole_identity", cancelMatchesIdentity},
		{"future_timer_of_an_ack_waits", timerOfAckWaits},
		{"past_timer_of_an_ack_is_immediate", timerOfAckImmediate},
		{"enqueued_timer_waits_for_the_later_of_its_times", enqueuedTimerWaits},
		{"dropping_timers_drops_nothing_else", dropsOnlyTimers},
		{"end_of_an_execution_drops_no_messages", endDropsNothing},
		{"timers_of_the_far_future_are_accepted", farTimers},
		{"items_on_the_wrong_queue_are_refused", wrongQueue},
		{"messages_to_itself_are_fetchable_after_the_ack", messageToItself},
		{"child_results_go_to_the_parent", childResultsToParent},
		{"nothing_is_deduplicated", nothingDeduplicated},
		{"items_of_a_turn_are_not_deduplicated", turnNotDeduplicated},
		{"finished_instances_still_get_messages", finishedGetMessages},
		{"late_completions_of_old_executions_are_delivered", lateCompletions},

		{"ack_with_an_expired_or_taken_token_changes_nothing", ackWithLostToken},
		{"ack_after_force_delete_recreates_nothing", ackAfterDelete},
		{"ack_repeated_after_a_lost_answer", ackRepeated},
		{"lost_lock_is_reported_before_a_bad_turn", lostLockFirst},
		{"abandon_repeated_after_a_lost_answer", abandonRepeated},
		{"abandon_touches_only_its_own_rows", abandonTouchesOwn},
		{"abandon_leaves_later_arrivals_visible", abandonLeavesLater},
		{"abandon_hides_for_the_delay", abandonHides},
		{"abandon_refuses_a_negative_delay", abandonNegativeDelay},
		{"abandon_accepts_an_expired_token", abandonExpired},
		{"abandon_changes_nothing_but_the_queue", abandonHasNoEffects},
		{"renew_counts_from_now_for_lock_and_rows", renewFromNow},
		{"renew_needs_a_live_token", renewNeedsLiveToken},

		{"work_ack_repeated_after_a_lost_answer", workAckRepeated},
		{"work_ack_refuses_other_completions", workAckRefusesOthers},
		{"work_ack_for_an_unknown_instance", workAckUnknownInstance},
		{"work_ack_after_takeover", workAckAfterTakeover},
		{"work_abandon_keeps_session_tag_and_identity", workAbandonKeeps},
		{"work_abandon_repeated_and_expired", workAbandonTokens},
		{"work_abandon_keeps_the_place_in_the_queue", workAbandonKeepsPlace},
		{"work_renew_after_abandon_fails", workRenewAfterAbandon},
		{"work_abandoned_with_a_delay_counts_its_attempt", workDelayCounts},
		{"work_ack_reaches_a_finished_instance", workAckFinished},

		{"append_of_nothing_is_a_no_op", appendNothing},
		{"append_refuses_event_id_zero_and_duplicates", appendRefuses},
		{"append_needs_neither_lock_nor_instance", appendNeedsNothing},
		{"reads_of_unknown_executions_are_empty", unknownExecutions},
		{"unknown_executions_beyond_the_last_are_empty", executionsBeyond},
		{"errors_name_their_operation", errorsNameOperation},
	}}
}

const (
	ruleBoth      = "§5.2 step 3: only if both name and version are given"
	ruleParent    = "§5.2 step 3: the parent of an existing row is never overwritten"
	ruleCompleted = "§5.2 step 8: completed_at = now for Completed, Failed and ContinuedAsNew; leave NULL for Running (P29)"
	ruleGaps      = "§2.2: gaps are legal; §5.2 step 7: order of insertion = slice order; readers sort by id"
	ruleNoReading = "§5.2 step 7: insert only: MUST NOT read or re-encode existing rows (P10)"
)

// A name or a version alone neither creates an instance nor changes one; history
// and execution are written all the same.
func nameAndVersionTogether(e *env) {
	halves := []provider.ExecutionMetadata{{OrchestrationName: new("Half")}, {OrchestrationVersion: new("0.5.0")}, {}}
	for i, half := range halves {
		instance := fmt.Sprint("i", i)
		e.enqueue(startItem(instance))
		e.commit(e.fetchInstance(instance, held), provider.AckOrchestrationParams{
			Metadata: half, HistoryDelta: []provider.Event{started(instance, 1)},
		})
		e.noInstance(instance, ruleBoth)
		e.sameEvents(e.history(instance, 1), []provider.Event{started(instance, 1)},
			"§5.2: metadata without name/version on unknown instance: execution and history rows are written")
	}
	e.create("A")
	for _, half := range halves {
		e.turn("A", provider.AckOrchestrationParams{Metadata: half})
		e.enqueue(raised("A", "go"))
		got := e.fetchInstance("A", held)
		same(e, got.Item.OrchestrationName+" "+got.Item.Version, "Order 1.0.0", ruleBoth)
		e.drop(got)
	}
}

// Name and version of an existing instance become those of the latest ack that
// gives both.
func nameAndVersionFollow(e *env) {
	e.create("A")
	e.turn("A", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{
		OrchestrationName: new("Renamed"), OrchestrationVersion: new("2.0.0"),
	}})
	e.turn("A", provider.AckOrchestrationParams{})
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.OrchestrationName+" "+got.Item.Version, "Renamed 2.0.0", ruleCreates)
}

// An instance keeps the parent it was created with, whatever later acks say.
func parentNeverOverwritten(e *env) {
	e.create("p1")
	e.create("p2")
	e.createChild("p1", "child")
	again := created()
	again.ParentInstanceID = new("p2")
	e.turn("child", provider.AckOrchestrationParams{Metadata: again})
	e.turn("child", provider.AckOrchestrationParams{Metadata: created()})
	samePtr(e, e.info("child").ParentInstanceID, new("p1"), ruleParent)
}

// A child whose parent was deleted before the child's first turn still gets its
// row: the parent reference is not enforced.
func childOfDeletedParent(e *env) {
	e.create("parent")
	child := startItem("child")
	child.ParentInstance, child.ParentID = new("parent"), new(uint64(2))
	e.turn("parent", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{child}})
	e.delete("parent", true)
	const rule = "§5.2: child whose parent was deleted: MUST succeed (no enforced foreign key on parent, P17)"
	got := e.fetchInstance("child", held)
	metadata := created()
	metadata.ParentInstanceID = new("parent")
	e.ok(e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		Metadata: metadata, HistoryDelta: []provider.Event{started("child", 1)},
	})), rule)
	samePtr(e, e.info("child").ParentInstanceID, new("parent"), rule)
}

// An ack for an earlier execution is stored there and leaves the pointer alone.
func currentNeverDecreases(e *env) {
	e.createExecutions("A", 3)
	e.turn("A", provider.AckOrchestrationParams{
		ExecutionID: 1, HistoryDelta: []provider.Event{event("A", 1, 3, provider.ExternalSubscribed{Name: "late"})},
	})
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.ExecutionID, 3, ruleCurrent+"; never decreases")
	e.sameEvents(got.Item.History, []provider.Event{started("A", 3)}, ruleCurrent)
	same(e, len(e.history("A", 1)), 3, ruleIsolation)
}

// A first ack with a later execution number makes that the current one.
func createdInLaterExecution(e *env) {
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		ExecutionID: 4, Metadata: created(), HistoryDelta: []provider.Event{started("A", 4)},
	})
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.ExecutionID, 4, "§5.2 step 3: insert the row if absent (current_execution_id = executionID)")
	e.sameEvents(got.Item.History, []provider.Event{started("A", 4)}, ruleCurrent)
	e.sameEvents(e.read("A"), []provider.Event{started("A", 4)}, ruleLatest)
}

// An ack without any effect consumes its batch, unlocks the instance and still
// records the execution.
func emptyAck(e *env) {
	const rule = "§5.2: all lists empty, empty metadata: valid: consumes the batch and unlocks; still inserts a missing execution row"
	e.enqueue(startItem("A"), raised("A", "go"))
	e.drop(e.fetchInstance("A", held))
	e.fetchNone(rule)
	e.noInstance("A", ruleBoth)
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.batch(got, rule, startItem("A"))
	same(e, len(got.Item.History), 0, rule)
	same(e, len(e.read("A")), 0, rule)
	if e.p.Admin() != nil {
		e.commit(got, provider.AckOrchestrationParams{ExecutionID: 2})
		sameList(e, e.executions("A"), []uint64{1, 2}, rule)
	}
}

// Each terminal status ends the execution at a time, also in an ack without
// events; Running does not.
func completedAtOfStates(e *env) {
	states := []provider.Status{provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew, provider.StatusRunning}
	for _, status := range states {
		instance := string(status)
		e.create(instance)
		samePtr(e, e.execution(instance, 1).CompletedAt, nil, ruleCompleted)
		e.turn(instance, provider.AckOrchestrationParams{Metadata: ended(status, "out")})
		got := e.execution(instance, 1)
		same(e, got.Status, status, "§5.2 step 8: set status, output on the execution row; happens also with an empty delta")
		samePtr(e, got.Output, new("out"), "§5.2 step 8: set status, output on the execution row")
		if !status.Terminal() {
			samePtr(e, got.CompletedAt, nil, ruleCompleted)
			continue
		}
		e.check(got.CompletedAt != nil && !got.CompletedAt.Before(got.StartedAt), ruleCompleted,
			"%s: completed %s, started %v", status, render(got.CompletedAt), got.StartedAt)
	}
}

// The instance's time of change follows its acks; its time of creation stays.
func updatedAtMoves(e *env) {
	e.create("A")
	before := e.info("A")
	e.tick()
	e.turn("A", provider.AckOrchestrationParams{})
	after := e.info("A")
	e.check(after.UpdatedAt.After(before.UpdatedAt), "§5.2 step 16: updated_at SHOULD be set to now on the instance row",
		"still %v", after.UpdatedAt)
	e.check(after.CreatedAt.Equal(before.CreatedAt) && before.CreatedAt.UnixMilli() > 0,
		"§2.1: audit timestamps SHOULD be epoch milliseconds (P37)", "created %v, then %v", before.CreatedAt, after.CreatedAt)
}

// Several custom status events in one ack count once, and the last one holds,
// also when it is a reset.
func lastCustomStatusWins(e *env) {
	const rule = "§5.2 step 9: find the last CustomStatusUpdated in the delta; increase custom_status_version by exactly 1"
	set := func(id uint64, status *string) provider.Event {
		return event("A", 1, id, provider.CustomStatusUpdated{Status: status})
	}
	e.create("A", set(2, new("a")), set(3, new("b")))
	e.statusIs("A", new("b"), 1, rule)
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{set(4, new("c")), set(5, nil)}})
	e.statusIs("A", nil, 2, rule)
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{set(6, nil), set(7, new(""))}})
	e.statusIs("A", new(""), 3, rule)
	e.turn("A", provider.AckOrchestrationParams{})
	e.statusIs("A", new(""), 3, "§5.2 step 9: absent → unchanged")
}

// Events go to the instance whose lock the token is and the execution of the
// call, whatever they say themselves.
func instanceFromLock(e *env) {
	e.create("A")
	stray := event("B", 7, 2, provider.ExternalSubscribed{Name: "go"})
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{stray}})
	const rule = "§5.2 step 1: the instance id comes from the lock row, not from the caller"
	same(e, len(e.history("B", 7)), 0, rule)
	same(e, len(e.history("B", 1)), 0, rule)
	e.sameEvents(e.history("A", 1), []provider.Event{
		started("A", 1), event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}),
	}, rule)
}

// An event without an id is refused with everything that came along; the turn
// stays open.
func eventIDZero(e *env) {
	got := e.readyForEverything("A")
	for _, at := range []int{0, 2} {
		bad := turnOf(got, everything("A"))
		bad.HistoryDelta[at].EventID = 0
		err := e.p.AckOrchestrationItem(e.ctx, bad)
		e.permanent(err, provider.ErrInvalidArgument, "§5.2 step 7: id 0 → permanent error")
		e.says(err, "§2.3: bad argument: `event_id must be set by runtime`", "event_id must be set by runtime")
	}
	e.untouched("A", ruleStays)
	e.commit(got, everything("A"))
	e.drop(e.fetchInstance("A", held))
	e.happened("A", ruleAll)
}

// Event ids are kept as given, with gaps; reading sorts them.
func eventIDGaps(e *env) {
	e.create("A")
	at := func(id uint64) provider.Event {
		return event("A", 1, id, provider.ExternalSubscribed{Name: strconv.FormatUint(id, 10)})
	}
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{at(99999), at(7), at(100), at(10)}})
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{at(9), at(2)}})
	want := []provider.Event{started("A", 1), at(2), at(7), at(9), at(10), at(100), at(99999)}
	e.sameEvents(e.history("A", 1), want, ruleGaps)
	e.enqueue(raised("A", "go"))
	e.sameEvents(e.fetchInstance("A", held).Item.History, want, ruleGaps)
}

// An instance whose history cannot be decoded can be failed with event 99999;
// the damaged event stays what it is.
func ackNeverReads(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	e.corrupt("A", 1, 2, `{"type":"NoSuchKind"}`)
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	failed := event("A", 1, 99999, provider.OrchestrationFailed{Details: provider.Poison{
		AttemptCount: 11, MaxAttempts: 10, Message: "e",
		MessageType: provider.PoisonDeserialization{Instance: "A", ExecutionID: 1, Error: "e"},
	}})
	e.ok(e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{failed}, Metadata: ended(provider.StatusFailed, "poison"),
	})), ruleNoReading)
	_, err := e.p.ReadWithExecution(e.ctx, "A", 1)
	e.permanent(err, provider.ErrCorrupt, "§5.1: corrupted history: never skip, drop or repair the bad event")
	if e.p.Admin() != nil {
		info := e.execution("A", 1)
		same(e, info.Status, provider.StatusFailed, ruleNoReading)
		same(e, info.EventCount, 3, ruleNoReading)
	}
	err = e.p.AppendWithExecution(e.ctx, "A", 1, []provider.Event{failed})
	e.permanent(err, provider.ErrDuplicateEvent, "§5.2 step 7: event 99999 is appended")
}

// One ack carries hundreds of events, activities, messages and cancellations.
func hundredsOfEffects(e *env) {
	const n = 400
	const rule = "§5.2: large deltas: at least hundreds of events and items per ack"
	var turn provider.AckOrchestrationParams
	for i := range uint64(n) {
		turn.HistoryDelta = append(turn.HistoryDelta,
			event("A", 1, 2+i, provider.ActivityScheduled{Name: fmt.Sprint("Charge", i), Input: "{}"}))
		turn.WorkerItems = append(turn.WorkerItems, activityItem("A", 2+i))
		turn.OrchestratorItems = append(turn.OrchestratorItems, raised("A", strconv.FormatUint(i, 10)))
		if i%2 == 0 {
			turn.CancelledActivities = append(turn.CancelledActivities, ref("A", 2+i))
		}
	}
	e.createWith("A", turn)
	got := e.fetchInstance("A", held)
	e.sameEvents(got.Item.History, append([]provider.Event{started("A", 1)}, turn.HistoryDelta...), rule)
	e.batch(got, rule, turn.OrchestratorItems...)
	for i := uint64(1); i < n; i += 2 {
		e.claim(provider.FetchWorkParams{LockTimeout: held}, 2+i, rule)
	}
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}
