package providertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// The mutants about turns: what an ack stores, what a token opens, how long a lease lasts,
// what is counted.

func turnMutants() []mutant {
	ackWith := func(change func(turn *provider.AckOrchestrationParams)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
				change(&turn)
				return sound.AckOrchestrationItem(ctx, turn)
			}
		}
	}
	return []mutant{
		{
			"sends a turn's messages before it is known whether the turn can be committed", "§2.4",
			[]string{"atomicity/atomicity_failure_rollback"},
			func(c *calls, sound calls) {
				c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
					for _, item := range turn.OrchestratorItems {
						if err := sound.EnqueueForOrchestrator(ctx, item, 0); err != nil {
							return err
						}
					}
					turn.OrchestratorItems = nil
					return sound.AckOrchestrationItem(ctx, turn)
				}
			},
		},
		{
			"passes over events whose id is taken", "§2.3",
			[]string{"error handling/duplicate_event_id_rejection"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.HistoryDelta = slices.DeleteFunc(slices.Clone(turn.HistoryDelta), func(e provider.Event) bool { return e.EventID == 1 })
			}),
		},
		{
			"numbers events with id 0 itself", "§5.2 step 7",
			[]string{"atomicity/event_id_zero_rolls_back"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.HistoryDelta = slices.Clone(turn.HistoryDelta)
				for i := range turn.HistoryDelta {
					if turn.HistoryDelta[i].EventID == 0 {
						turn.HistoryDelta[i].EventID = 77
					}
				}
			}),
		},
		{
			"takes a status from the turn's events", "§5.2: metadata",
			[]string{"execution status/terminal_event_without_status_leaves_it_running"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				for _, e := range turn.HistoryDelta {
					switch e.Kind.(type) {
					case provider.OrchestrationCompleted:
						turn.Metadata.Status = new(provider.StatusCompleted)
					case provider.OrchestrationFailed:
						turn.Metadata.Status = new(provider.StatusFailed)
					case provider.OrchestrationContinuedAsNew:
						turn.Metadata.Status = new(provider.StatusContinuedAsNew)
					}
				}
			}),
		},
		{
			"believes a status only if an event ends the execution", "§5.2 step 8",
			[]string{"execution status/status_without_terminal_event_counts"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if len(turn.HistoryDelta) == 0 {
					turn.Metadata.Status = nil
				}
			}),
		},
		{
			"stores an output without a status", "§5.2 step 8",
			[]string{"execution status/output_without_status_changes_nothing"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if turn.Metadata.Output != nil && turn.Metadata.Status == nil {
					turn.Metadata.Status = new(provider.StatusRunning)
				}
			}),
		},
		{
			"stores the empty text where there is no output", "§5.2 step 8",
			[]string{"execution status/status_without_output"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if turn.Metadata.Output == nil {
					turn.Metadata.Output = new("")
				}
			}),
		},
		{
			"stores no output where it is the empty text", "§5.2 step 8",
			[]string{"execution status/empty_output_is_an_output"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if turn.Metadata.Output != nil && *turn.Metadata.Output == "" {
					turn.Metadata.Output = nil
				}
			}),
		},
		{
			"takes an unknown status for running", "§5.2 step 8",
			[]string{"error handling/unknown_status_is_refused"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if s := turn.Metadata.Status; s != nil && *s != provider.StatusRunning && !s.Terminal() {
					turn.Metadata.Status = new(provider.StatusRunning)
				}
			}),
		},
		{
			"makes an instance of a name without a version", "§5.2",
			[]string{"instance creation/name_and_version_create_only_together"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if turn.Metadata.OrchestrationName != nil && turn.Metadata.OrchestrationVersion == nil {
					turn.Metadata.OrchestrationVersion = new("unknown")
				}
			}),
		},
		{
			"forgets the parent of a new instance", "§5.2 step 3",
			[]string{"instance creation/sub_orchestration_instance_creation"},
			ackWith(func(turn *provider.AckOrchestrationParams) { turn.Metadata.ParentInstanceID = nil }),
		},
		{
			"pins a version once for all executions", "§5.2 step 5",
			[]string{"capability filtering/continue_as_new_execution_gets_own_pinned_version"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if turn.ExecutionID > 1 {
					turn.Metadata.PinnedDuroxideVersion = nil
				}
			}),
		},
		{
			"cancels no activities", "§5.2 step 13",
			[]string{"cancellation/cancelled_activities_deleted_from_worker_queue"},
			ackWith(func(turn *provider.AckOrchestrationParams) { turn.CancelledActivities = nil }),
		},
		{
			"cancels before it schedules", "§5.2 step",
			[]string{"cancellation/same_activity_in_worker_items_and_cancelled_is_noop"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.CancelledActivities = slices.DeleteFunc(slices.Clone(turn.CancelledActivities), func(a provider.ActivityRef) bool {
					return slices.ContainsFunc(turn.WorkerItems, func(item provider.WorkItem) bool {
						work, ok := item.(provider.ActivityExecuteItem)
						return ok && work.ID == a.ActivityID
					})
				})
			}),
		},
		{
			"loses the tags of the activities that a turn schedules", "§5.2 step 12",
			[]string{"tag filtering/tag_preserved_through_ack_orchestration_item"},
			ackWith(eachActivity(func(work *provider.ActivityExecuteItem) { work.Tag = nil })),
		},
		{
			"loses the sessions of the activities that a turn schedules", "§5.2 step 12",
			[]string{"queue semantics/worker_items_keep_session_and_tag"},
			ackWith(eachActivity(func(work *provider.ActivityExecuteItem) { work.SessionID = nil })),
		},
		{
			"schedules only a thousand activities of a turn", "§5.2 steps 12 and 13",
			[]string{"amounts/activities_of_a_turn"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.WorkerItems = turn.WorkerItems[:min(len(turn.WorkerItems), 1000)]
			}),
		},
		{
			"schedules equal activities of a turn once", "§5.2 steps 12 and 14",
			[]string{"queue semantics/items_of_a_turn_are_not_deduplicated"},
			ackWith(func(turn *provider.AckOrchestrationParams) { turn.WorkerItems = distinct(turn.WorkerItems) }),
		},
		{
			"sends equal messages of a turn once", "§5.2 steps 12 and 14",
			[]string{"queue semantics/items_of_a_turn_are_not_deduplicated"},
			ackWith(func(turn *provider.AckOrchestrationParams) { turn.OrchestratorItems = distinct(turn.OrchestratorItems) }),
		},
		{
			"sends only a thousand messages of a turn", "§5.1 step 7",
			[]string{"amounts/messages_of_an_instance"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.OrchestratorItems = turn.OrchestratorItems[:min(len(turn.OrchestratorItems), 1000)]
			}),
		},
		{
			"drops timers at the end of each execution", "§5.2 step 2",
			[]string{"queue semantics/end_of_an_execution_drops_no_messages"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.DropTimers = turn.Metadata.Status != nil && turn.Metadata.Status.Terminal()
			}),
		},
		{
			"cuts carried messages off at 20", "§7.6",
			[]string{"amounts/messages_carried_into_an_execution"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.HistoryDelta = slices.Clone(turn.HistoryDelta)
				for i, e := range turn.HistoryDelta {
					if begin, ok := e.Kind.(provider.OrchestrationStarted); ok {
						begin.CarryForwardEvents = begin.CarryForwardEvents[:min(20, len(begin.CarryForwardEvents))]
						turn.HistoryDelta[i].Kind = begin
					}
				}
			}),
		},
		{
			"drops the timers that the turn itself sends", "§5.2, DropTimers",
			[]string{"queue semantics/dropping_timers_drops_nothing_else"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				if turn.DropTimers {
					turn.OrchestratorItems = slices.DeleteFunc(slices.Clone(turn.OrchestratorItems), func(item provider.WorkItem) bool {
						_, timer := item.(provider.TimerFiredItem)
						return timer
					})
				}
			}),
		},
		{
			"makes timers of a turn visible at once", "§5.2 step 14",
			[]string{"queue semantics/future_timer_of_an_ack_waits"},
			ackWith(func(turn *provider.AckOrchestrationParams) {
				turn.OrchestratorItems = slices.Clone(turn.OrchestratorItems)
				for i, item := range turn.OrchestratorItems {
					if timer, ok := item.(provider.TimerFiredItem); ok {
						timer.FireAtMs = 0
						turn.OrchestratorItems[i] = timer
					}
				}
			}),
		},
	}
}

// distinct leaves out items that are there before.
func distinct(items []provider.WorkItem) (list []provider.WorkItem) {
	seen := map[string]bool{}
	for _, item := range items {
		if !seen[render(item)] {
			list = append(list, item)
		}
		seen[render(item)] = true
	}
	return list
}

// eachActivity changes the activities that a turn schedules.
func eachActivity(change func(work *provider.ActivityExecuteItem)) func(turn *provider.AckOrchestrationParams) {
	return func(turn *provider.AckOrchestrationParams) {
		turn.WorkerItems = slices.Clone(turn.WorkerItems)
		for i, item := range turn.WorkerItems {
			if work, ok := item.(provider.ActivityExecuteItem); ok {
				change(&work)
				turn.WorkerItems[i] = work
			}
		}
	}
}

func tokenMutants() []mutant {
	return []mutant{
		{"looks at the turn before the token", "§5.2 step 1", []string{
			"error handling/unknown_token_comes_before_a_bad_turn", "error handling/expired_token_comes_before_a_bad_turn",
		}, func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
				if s := turn.Metadata.Status; s != nil && !s.Terminal() && *s != provider.StatusRunning {
					return provider.Permanent("ack_orchestration_item", "unknown status", provider.ErrInvalidArgument)
				}
				return sound.AckOrchestrationItem(ctx, turn)
			}
		}},
		{"accepts any token of a turn", "§2.3: unknown lock token", []string{"error handling/invalid_lock_token_on_ack"}, acceptAnyToken},
		{"accepts a turn's token twice", "§5.2: same token acked twice", []string{"atomicity/concurrent_ack_prevention"}, acceptAnyToken},
		{"calls a lost lock retryable", "§2.3: unknown lock token", []string{"error handling/invalid_lock_token_on_ack"}, func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
				err := sound.AckOrchestrationItem(ctx, turn)
				if errors.Is(err, provider.ErrLockLost) {
					return provider.Retryable("ack_orchestration_item", err.Error(), err)
				}
				return err
			}
		}},
		{"calls a duplicate event retryable", "§2.3", []string{"error handling/duplicate_event_id_rejection"}, func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
				err := sound.AckOrchestrationItem(ctx, turn)
				if errors.Is(err, provider.ErrDuplicateEvent) {
					return provider.Retryable("ack_orchestration_item", err.Error(), provider.ErrDuplicateEvent)
				}
				return err
			}
		}},
		{"names errors by another method", "§2.3", []string{"error handling/errors_name_their_operation"}, func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
				err := sound.AckOrchestrationItem(ctx, turn)
				if e := provider.AsError(err); e != nil {
					return &provider.Error{Operation: "ack", Message: e.Message, Retryable: e.Retryable, Err: e.Err}
				}
				return nil
			}
		}},
		{"revives an expired turn", "§5.4", []string{"lock expiration/orchestration_lock_renewal_after_expiration"}, func(c *calls, sound calls) {
			c.RenewOrchestrationItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return unless(sound.RenewOrchestrationItemLock(ctx, token, extendFor), provider.ErrLockExpired)
			}
		}},
		{"revives an expired activity", "§5.12", []string{"lock expiration/worker_lock_renewal_after_expiration"}, func(c *calls, sound calls) {
			c.RenewWorkItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return unless(sound.RenewWorkItemLock(ctx, token, extendFor), provider.ErrLockLost)
			}
		}},
		{
			"lets anybody complete an activity", "§5.11",
			[]string{"activities/work_ack_repeated_after_a_lost_answer", "lock expiration/worker_ack_fails_after_lock_expiry"},
			func(c *calls, sound calls) {
				c.AckWorkItem = func(ctx context.Context, token string, completion provider.WorkItem) error {
					return unless(sound.AckWorkItem(ctx, token, completion), provider.ErrLockLost)
				}
			},
		},
		{"completes an activity before it looks at the token", "§5.11", []string{"activities/work_ack_after_takeover"}, func(c *calls, sound calls) {
			c.AckWorkItem = func(ctx context.Context, token string, completion provider.WorkItem) error {
				if completion != nil {
					if err := sound.EnqueueForOrchestrator(ctx, completion, 0); err != nil {
						return err
					}
				}
				return sound.AckWorkItem(ctx, token, nil)
			}
		}},
		{"accepts any message as an activity's result", "§5.11", []string{"activities/work_ack_refuses_other_completions"}, func(c *calls, sound calls) {
			c.AckWorkItem = func(ctx context.Context, token string, completion provider.WorkItem) error {
				return unless(sound.AckWorkItem(ctx, token, completion), provider.ErrInvalidArgument)
			}
		}},
		{"lets a turn be given up twice", "§5.3", []string{"lock expiration/abandon_repeated_after_a_lost_answer"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				return unless(sound.AbandonOrchestrationItem(ctx, params), provider.ErrInvalidLockToken)
			}
		}},
		{"lets an activity be given up twice", "§5.13", []string{"activities/work_abandon_repeated_and_expired"}, func(c *calls, sound calls) {
			c.AbandonWorkItem = func(ctx context.Context, params provider.AbandonParams) error {
				return unless(sound.AbandonWorkItem(ctx, params), provider.ErrInvalidLockToken)
			}
		}},
		{"takes a turn's token for that of an activity", "§5.13: unknown token", []string{"activities/tokens_of_any_shape_are_refused"}, func(c *calls, sound calls) {
			c.RenewWorkItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				if sound.RenewOrchestrationItemLock(ctx, token, extendFor) == nil {
					return nil
				}
				return sound.RenewWorkItemLock(ctx, token, extendFor)
			}
		}},
		{"gives each holder the same token", "§2.2: lock token", []string{"instance locking/lock_token_uniqueness"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil {
					got.LockToken = "token"
				}
				return got, err
			}
		}},
	}
}

// acceptAnyToken makes a store that takes turns from everybody.
func acceptAnyToken(c *calls, sound calls) {
	c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
		return unless(sound.AckOrchestrationItem(ctx, turn), provider.ErrInvalidLockToken)
	}
}

// unless forgets an error that matches target.
func unless(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

func leaseMutants() []mutant {
	turnLease := func(change func(time.Duration) time.Duration) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				params.LockTimeout = change(params.LockTimeout)
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}
	}
	workLease := func(change func(time.Duration) time.Duration) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				params.LockTimeout = change(params.LockTimeout)
				return sound.FetchWorkItem(ctx, params)
			}
		}
	}
	return []mutant{
		{
			"rounds a turn's lease up to seconds", "§2.1",
			[]string{"times/turn_lease_ends_on_time"},
			turnLease(inSeconds),
		},
		{"rounds a turn's renewal up to seconds", "§2.1", []string{"times/turn_renewal_ends_on_time"}, func(c *calls, sound calls) {
			c.RenewOrchestrationItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return sound.RenewOrchestrationItemLock(ctx, token, inSeconds(extendFor))
			}
		}},
		{"rounds a turn's delay up to seconds", "§2.1", []string{"times/turn_abandon_delay_ends_on_time"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.Delay = inSeconds(params.Delay)
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"rounds a message's delay up to seconds", "§2.1", []string{"times/message_delay_ends_on_time"}, func(c *calls, sound calls) {
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				return sound.EnqueueForOrchestrator(ctx, item, inSeconds(delay))
			}
		}},
		{
			"ends a turn's lease early", "§2.1",
			[]string{"fetching/lease_is_honoured_to_the_millisecond"},
			turnLease(func(d time.Duration) time.Duration { return d / 2 }),
		},
		{
			"ends an activity's lease early", "§5.10 step 6",
			[]string{"activities/activity_lease_ends_on_time"},
			workLease(func(d time.Duration) time.Duration { return d / 2 }),
		},
		{"keeps a turn's lease in 32 bits", "§2.1", []string{"times/lease_of_a_turn"}, turnLease(in32Bits)},
		{"keeps an activity's lease in 32 bits", "§2.1", []string{"times/lease_of_an_activity"}, workLease(in32Bits)},
		{
			"keeps an activity's lease in 32 bits without sign", "§2.1",
			[]string{"times/lease_of_an_activity"},
			workLease(func(d time.Duration) time.Duration {
				return max(time.UnixMilli(int64(uint32(d.Milliseconds()))).Sub(time.UnixMilli(0)), time.Millisecond)
			}),
		},
		{"keeps a session's lease in 32 bits", "§2.1", []string{"times/lease_of_a_session"}, func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				if params.Session != nil {
					params.Session = &provider.SessionFetchConfig{OwnerID: params.Session.OwnerID, LockTimeout: in32Bits(params.Session.LockTimeout)}
				}
				return sound.FetchWorkItem(ctx, params)
			}
		}},
		{"keeps a session's renewal in 32 bits", "§2.1", []string{"times/lease_of_a_session"}, func(c *calls, sound calls) {
			c.RenewSessionLock = func(ctx context.Context, params provider.RenewSessionParams) (int, error) {
				params.ExtendFor = in32Bits(params.ExtendFor)
				return sound.RenewSessionLock(ctx, params)
			}
		}},
		{"keeps a turn's renewal in 32 bits", "§2.1", []string{"times/lease_of_a_turn"}, func(c *calls, sound calls) {
			c.RenewOrchestrationItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return sound.RenewOrchestrationItemLock(ctx, token, in32Bits(extendFor))
			}
		}},
		{"keeps a message's delay in 32 bits", "§2.1", []string{"times/delay_of_a_message"}, func(c *calls, sound calls) {
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				return sound.EnqueueForOrchestrator(ctx, item, in32Bits(delay))
			}
		}},
		{"keeps an abandoned turn's delay in 32 bits", "§2.1", []string{"times/delay_of_an_abandoned_turn"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.Delay = in32Bits(params.Delay)
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"keeps an abandoned activity's delay in 32 bits", "§2.1", []string{"times/delay_of_an_abandoned_activity"}, func(c *calls, sound calls) {
			c.AbandonWorkItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.Delay = in32Bits(params.Delay)
				return sound.AbandonWorkItem(ctx, params)
			}
		}},
		{"renews a turn for no time", "§5.4", []string{"error handling/renewal_for_no_time_is_refused"}, func(c *calls, sound calls) {
			c.RenewOrchestrationItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return unless(sound.RenewOrchestrationItemLock(ctx, token, extendFor), provider.ErrInvalidArgument)
			}
		}},
		{"renews an activity for no time", "§5.12", []string{"error handling/renewal_for_no_time_is_refused"}, func(c *calls, sound calls) {
			c.RenewWorkItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return unless(sound.RenewWorkItemLock(ctx, token, extendFor), provider.ErrInvalidArgument)
			}
		}},
		{"does not renew turns", "§5.4", []string{"lock expiration/renew_counts_from_now_for_lock_and_rows"}, func(c *calls, _ calls) {
			c.RenewOrchestrationItemLock = func(context.Context, string, time.Duration) error { return nil }
		}},
		{"does not renew activities", "§5.12", []string{"lock expiration/worker_lock_renewal_success"}, func(c *calls, _ calls) {
			c.RenewWorkItemLock = func(context.Context, string, time.Duration) error { return nil }
		}},
		{"adds a renewal to what is left of the lease", "§5.4", []string{"lock expiration/renew_counts_from_now_for_lock_and_rows"}, func(c *calls, sound calls) {
			c.RenewOrchestrationItemLock = func(ctx context.Context, token string, extendFor time.Duration) error {
				return sound.RenewOrchestrationItemLock(ctx, token, held+extendFor)
			}
		}},
		{"gives up only turns whose lease has not ended", "§5.3", []string{"lock expiration/abandon_accepts_an_expired_token"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				if err := sound.RenewOrchestrationItemLock(ctx, params.LockToken, held); err != nil {
					return err
				}
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
	}
}

// inSeconds rounds up.
func inSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// in32Bits is what a signed column of 32 bits makes of a time. What it takes for negative
// is over at once.
func in32Bits(d time.Duration) time.Duration {
	ms := time.Duration(int32(d.Milliseconds())) * time.Millisecond
	if d > 0 {
		return max(ms, time.Millisecond)
	}
	return ms
}

func attemptMutants() []mutant {
	return []mutant{
		{"delivers an activity ten times at most", "§1 (Poison)", []string{
			"poison message/activity_is_delivered_without_end", "poison message/activity_whose_leases_end_is_delivered_without_end",
		}, func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				got, err := sound.FetchWorkItem(ctx, params)
				if got != nil && got.AttemptCount > 10 {
					return nil, sound.AckWorkItem(ctx, got.LockToken, nil)
				}
				return got, err
			}
		}},
		{"delivers a turn ten times at most", "§1 (Poison)", []string{"poison message/turn_is_delivered_without_end"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil && got.AttemptCount > 10 {
					return nil, err
				}
				return got, err
			}
		}},
		{
			"counts the attempts before this one", "§5.1",
			[]string{"poison message/orchestration_attempt_count_starts_at_one"},
			turnsWith(func(got *provider.FetchedOrchestration) { got.AttemptCount-- }),
		},
		{
			"counts no attempts", "§5.1",
			[]string{"poison message/orchestration_attempt_count_increments_on_refetch"},
			turnsWith(func(got *provider.FetchedOrchestration) { got.AttemptCount = 1 }),
		},
		{"always gives a turn's attempt back", "§5.1 step 7", []string{"poison message/orchestration_attempt_count_increments_on_refetch"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.IgnoreAttempt = true
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"never gives a turn's attempt back", "§5.3", []string{"poison message/abandon_orchestration_item_ignore_attempt_decrements"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.IgnoreAttempt = false
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"never gives an activity's attempt back", "§5.13", []string{"poison message/abandon_work_item_ignore_attempt_decrements"}, func(c *calls, sound calls) {
			c.AbandonWorkItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.IgnoreAttempt = false
				return sound.AbandonWorkItem(ctx, params)
			}
		}},
	}
}

// memory is what a mutant remembers between calls.
type memory[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// put remembers a value.
func (m *memory[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = value
}

// get is what was put last.
func (m *memory[K, V]) get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[key]
	return value, ok
}
