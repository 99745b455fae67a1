package providertest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// The mutants about the two queues: what is added, who gets it and in which order, what
// cannot be decoded, and how long a fetch waits.

func queueMutants() []mutant {
	messages := func(change func(item provider.WorkItem, delay time.Duration) (provider.WorkItem, time.Duration)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				item, delay = change(item, delay)
				if item == nil {
					return nil
				}
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
		}
	}
	return []mutant{
		{"refuses ids that are reserved", "§2.2: providers MUST NOT", []string{"payloads/reserved_ids_are_the_runtimes_business"}, func(c *calls, sound calls) {
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				if item != nil && strings.HasPrefix(item.Target(), "sub::") {
					return provider.Permanent("enqueue_for_orchestrator", "reserved", provider.ErrInvalidArgument)
				}
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
		}},
		{"drops the result of an activity of a finished instance", "§5.11", []string{"activities/work_ack_reaches_a_finished_instance"}, func(c *calls, sound calls) {
			c.AckWorkItem = func(ctx context.Context, token string, completion provider.WorkItem) error {
				if completion != nil {
					if info, err := sound.GetInstanceInfo(ctx, completion.Target()); err == nil && info.Status.Ended() {
						completion = nil
					}
				}
				return sound.AckWorkItem(ctx, token, completion)
			}
		}},
		{"counts no attempt of an activity that is put back with a delay", "§5.13: only", []string{"activities/work_abandoned_with_a_delay_counts_its_attempt"}, func(c *calls, sound calls) {
			c.AbandonWorkItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.IgnoreAttempt = params.IgnoreAttempt || params.Delay > 0
				return sound.AbandonWorkItem(ctx, params)
			}
		}},
		{"takes activities of sessions whatever their tag, beside untagged ones", "§5.10: session and tag", []string{"sessions/session_and_tag_both_apply"}, func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				if params.Session != nil && params.Tags.Mode() == provider.TagDefaultAndSet {
					params.Tags = provider.AnyTag()
				}
				return sound.FetchWorkItem(ctx, params)
			}
		}},
		{"forgets the limits of activities", "§3: events and items", []string{"payloads/every_activity_form_round_trips"}, func(c *calls, sound calls) {
			c.EnqueueForWorker = func(ctx context.Context, item provider.WorkItem) error {
				if activity, ok := item.(provider.ActivityExecuteItem); ok {
					activity.StartTimeoutMs, activity.RunTimeoutMs = 0, 0
					item = activity
				}
				return sound.EnqueueForWorker(ctx, item)
			}
		}},
		{"drops a message that is queued already", "§5.9", []string{"queue semantics/nothing_is_deduplicated"}, func(c *calls, sound calls) {
			var seen memory[string, bool]
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				if _, known := seen.get(render(item)); known {
					return nil
				}
				seen.put(render(item), true)
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
		}},
		{"appends to execution 1 instead of 0", "§2.2", []string{"error handling/append_to_execution_zero_is_refused"}, func(c *calls, sound calls) {
			c.AppendWithExecution = func(ctx context.Context, instance string, execution uint64, events []provider.Event) error {
				return sound.AppendWithExecution(ctx, instance, max(execution, 1), events)
			}
		}},
		{
			"makes delayed messages visible at once", "§5.1",
			[]string{"fetching/delayed_messages_stay_out_of_the_batch"},
			messages(func(item provider.WorkItem, _ time.Duration) (provider.WorkItem, time.Duration) { return item, 0 }),
		},
		{
			"makes queued timers visible at once", "§5.9",
			[]string{"queue semantics/enqueued_timer_waits_for_the_later_of_its_times"},
			messages(func(item provider.WorkItem, delay time.Duration) (provider.WorkItem, time.Duration) {
				if timer, ok := item.(provider.TimerFiredItem); ok {
					timer.FireAtMs = 0
					return timer, delay
				}
				return item, delay
			}),
		},
		{
			"swallows an activity on the orchestrator queue", "§5.9",
			[]string{"queue semantics/items_on_the_wrong_queue_are_refused"},
			messages(func(item provider.WorkItem, delay time.Duration) (provider.WorkItem, time.Duration) {
				if _, ok := item.(provider.ActivityExecuteItem); ok {
					return nil, 0
				}
				return item, delay
			}),
		},
		{"swallows a message on the worker queue", "§5.8", []string{"queue semantics/items_on_the_wrong_queue_are_refused"}, func(c *calls, sound calls) {
			c.EnqueueForWorker = func(ctx context.Context, item provider.WorkItem) error {
				return unless(sound.EnqueueForWorker(ctx, item), provider.ErrInvalidArgument)
			}
		}},
		{"refuses messages to instances that it does not know", "§5.9", []string{"fetching/orphans_wait_for_their_start_uncounted"}, func(c *calls, sound calls) {
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				if _, ok := item.(provider.StartOrchestrationItem); !ok {
					if _, err := sound.GetInstanceInfo(ctx, item.Target()); err != nil {
						return err
					}
				}
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
		}},
		{"refuses messages to instances that have ended", "§5.9", []string{"queue semantics/finished_instances_still_get_messages"}, func(c *calls, sound calls) {
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				if info, err := sound.GetInstanceInfo(ctx, item.Target()); err == nil && info.Status.Terminal() {
					return provider.Permanent("enqueue_for_orchestrator", "the instance has ended", nil)
				}
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
		}},
		{"gives a turn's messages out in reverse", "§5.1: message order", []string{"fetching/batch_in_row_order_whatever_the_due_time"}, turnsWith(func(got *provider.FetchedOrchestration) {
			slices.Reverse(got.Item.Messages)
		})},
		{"gives a turn one message at a time", "§5.1 step 7", []string{"amounts/messages_of_an_instance"}, turnsWith(func(got *provider.FetchedOrchestration) {
			got.Item.Messages = got.Item.Messages[:1]
		})},
		{"gives activities out in reverse", "§5.10 step 5", []string{"queue semantics/worker_queue_fifo_ordering"}, func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				first, err := sound.FetchWorkItem(ctx, params)
				if first == nil || err != nil {
					return first, err
				}
				second, err := sound.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: params.LockTimeout, Session: params.Session, Tags: params.Tags})
				if second == nil || err != nil {
					return first, err
				}
				return second, sound.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: first.LockToken, IgnoreAttempt: true})
			}
		}},
		{"gives a turn up without its delay", "§2.1", []string{"times/turn_abandon_delay_ends_on_time"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.Delay = min(params.Delay, 0)
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
		{"gives an activity up without its delay", "§5.13", []string{"lock expiration/abandon_work_item_with_delay"}, func(c *calls, sound calls) {
			c.AbandonWorkItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.Delay = min(params.Delay, 0)
				return sound.AbandonWorkItem(ctx, params)
			}
		}},
		{"takes a negative delay for none", "AbandonParams: Delay", []string{"lock expiration/abandon_refuses_a_negative_delay"}, func(c *calls, sound calls) {
			c.AbandonOrchestrationItem = func(ctx context.Context, params provider.AbandonParams) error {
				params.Delay = max(params.Delay, 0)
				return sound.AbandonOrchestrationItem(ctx, params)
			}
		}},
	}
}

// turnsWith changes the turns that fetches return.
func turnsWith(change func(got *provider.FetchedOrchestration)) func(*calls, calls) {
	return func(c *calls, sound calls) {
		c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
			got, err := sound.FetchOrchestrationItem(ctx, params)
			if got != nil {
				change(got)
			}
			return got, err
		}
	}
}

// fetchesWith changes what fetches of activities ask for.
func fetchesWith(change func(params *provider.FetchWorkParams)) func(*calls, calls) {
	return func(c *calls, sound calls) {
		c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
			change(&params)
			return sound.FetchWorkItem(ctx, params)
		}
	}
}

func selectionMutants() []mutant {
	return []mutant{
		{"takes no notice of the capability filter", "§5.1", []string{"capability filtering/fetch_with_incompatible_filter_skips_item"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				params.Filter = nil
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
		{"takes a filter without ranges for none", "§5.1", []string{"capability filtering/filter_with_empty_supported_versions_returns_nothing"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				if params.Filter != nil {
					if _, ok := params.Filter.Range(); !ok {
						params.Filter = nil
					}
				}
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
		{"applies the filter to what it has locked", "§5.1", []string{
			"capability filtering/fetch_filter_skips_incompatible_selects_compatible", "capability filtering/fetch_filter_does_not_lock_skipped_instances",
		}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				filter := params.Filter
				params.Filter = nil
				first, err := sound.FetchOrchestrationItem(ctx, params)
				if first == nil || err != nil || filter == nil {
					return first, err
				}
				if err := sound.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: first.LockToken}); err != nil {
					return nil, err
				}
				params.Filter = filter
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got == nil || got.Item.Instance == first.Item.Instance {
					return got, err
				}
				return nil, sound.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: got.LockToken})
			}
		}},
		{"hands out the name of a start instead of the row's", "§5.1", []string{"fetching/duplicate_start_changes_nothing"}, turnsWith(func(got *provider.FetchedOrchestration) {
			for _, item := range got.Item.Messages {
				if start, ok := item.(provider.StartOrchestrationItem); ok {
					got.Item.OrchestrationName = start.Orchestration
				}
			}
		})},
		{"hands out the next execution with its ContinueAsNew", "§5.1", []string{"fetching/continue_as_new_batch_reports_the_old_execution"}, turnsWith(func(got *provider.FetchedOrchestration) {
			for _, item := range got.Item.Messages {
				if _, ok := item.(provider.ContinueAsNewItem); ok {
					got.Item.ExecutionID++
				}
			}
		})},
		{
			"takes no notice of tags", "§3.7, DefaultOnly",
			[]string{"tag filtering/default_only_fetches_untagged"},
			fetchesWith(func(params *provider.FetchWorkParams) { params.Tags = provider.AnyTag() }),
		},
		{"gives untagged activities to who wants none", "§3.7, None", []string{"tag filtering/none_filter_returns_nothing"}, fetchesWith(func(params *provider.FetchWorkParams) {
			if params.Tags.Mode() == provider.TagNone {
				params.Tags = provider.TagFilter{}
			}
		})},
		{"gives untagged activities to who wants tags only", "§3.7, Tags", []string{"tag filtering/tags_fetches_only_matching"}, fetchesWith(func(params *provider.FetchWorkParams) {
			if params.Tags.Mode() == provider.TagSet {
				params.Tags, _ = provider.DefaultAndTags(params.Tags.Tags()...)
			}
		})},
		{"looks at the first tag of a filter only", "§3.7, Tags", []string{"tag filtering/multi_tag_filter"}, fetchesWith(func(params *provider.FetchWorkParams) {
			if params.Tags.Mode() == provider.TagSet {
				params.Tags, _ = provider.Tags(params.Tags.Tags()[0])
			}
		})},
	}
}

func sessionMutants() []mutant {
	renewals := func(change func(params *provider.RenewSessionParams)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.RenewSessionLock = func(ctx context.Context, params provider.RenewSessionParams) (int, error) {
				change(&params)
				return sound.RenewSessionLock(ctx, params)
			}
		}
	}
	return []mutant{
		{"takes all owners of sessions for one", "§5.10", []string{"sessions/session_affinity_blocks_other_worker"}, fetchesWith(func(params *provider.FetchWorkParams) {
			if params.Session != nil {
				params.Session = &provider.SessionFetchConfig{OwnerID: "all", LockTimeout: params.Session.LockTimeout}
			}
		})},
		{"gives sessions to who wants none", "§5.10", []string{"sessions/none_session_skips_session_items"}, fetchesWith(func(params *provider.FetchWorkParams) {
			if params.Session == nil {
				params.Session = &provider.SessionFetchConfig{OwnerID: "nobody", LockTimeout: held}
			}
		})},
		{"gives only sessions to who wants them", "§5.10", []string{"sessions/some_session_returns_all_items"}, func(c *calls, sound calls) {
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				got, err := sound.FetchWorkItem(ctx, params)
				if got == nil || params.Session == nil || got.Item.(provider.ActivityExecuteItem).SessionID != nil {
					return got, err
				}
				return nil, sound.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: got.LockToken, IgnoreAttempt: true})
			}
		}},
		{
			"renews idle sessions", "§5.14",
			[]string{"sessions/renew_session_lock_skips_idle"},
			renewals(func(params *provider.RenewSessionParams) { params.IdleTimeout = held }),
		},
		{"renews the sessions of the first owner", "§5.14", []string{"sessions/renewal_of_several_owners"}, renewals(func(params *provider.RenewSessionParams) {
			params.OwnerIDs = params.OwnerIDs[:min(1, len(params.OwnerIDs))]
		})},
		{"does not renew sessions", "§5.14", []string{"sessions/session_lock_renewal_extends_past_original_timeout"}, func(c *calls, _ calls) {
			c.RenewSessionLock = func(context.Context, provider.RenewSessionParams) (int, error) { return 1, nil }
		}},
		{"counts owners instead of sessions", "§5.14", []string{"sessions/renew_session_lock_no_sessions"}, func(c *calls, sound calls) {
			c.RenewSessionLock = func(ctx context.Context, params provider.RenewSessionParams) (int, error) {
				_, err := sound.RenewSessionLock(ctx, params)
				return len(params.OwnerIDs), err
			}
		}},
		{"never cleans sessions up", "§5.15", []string{"sessions/cleanup_removes_expired_no_items"}, func(c *calls, _ calls) {
			c.CleanupOrphanedSessions = func(context.Context, time.Duration) (int, error) { return 0, nil }
		}},
	}
}

func damageMutants() []mutant {
	return []mutant{
		{"fails a fetch for a history that cannot be decoded", "§5.1", []string{"capability filtering/fetch_corrupted_history_filtered_vs_unfiltered"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil && got.Item.HistoryError != nil {
					return nil, provider.Permanent("fetch_orchestration_item", "corrupt", provider.ErrCorrupt)
				}
				return got, err
			}
		}},
		{"hands out a snapshot beside a history that cannot be decoded", "§5.1, corrupted history", []string{"kv store/snapshot_of_a_corrupted_history_is_empty"}, turnsWith(func(got *provider.FetchedOrchestration) {
			if got.Item.HistoryError != nil {
				got.Item.KVSnapshot = map[string]provider.KVEntry{"k": {}}
			}
		})},
		{"hides that a history cannot be decoded", "§5.1 corrupted history", []string{"capability filtering/fetch_corrupted_history_filtered_vs_unfiltered"}, turnsWith(func(got *provider.FetchedOrchestration) {
			got.Item.HistoryError = nil
		})},
		{"reads the largest execution for one beyond it", "§5.6: unknown execution", []string{"history/unknown_executions_beyond_the_last_are_empty"}, func(c *calls, sound calls) {
			c.ReadWithExecution = func(ctx context.Context, instance string, executionID uint64) ([]provider.Event, error) {
				return sound.ReadWithExecution(ctx, instance, min(executionID, math.MaxInt64))
			}
		}},
		{"leaves out events that cannot be decoded", "§5.5", []string{"error handling/read_corrupted_history_returns_error"}, func(c *calls, sound calls) {
			c.Read = func(ctx context.Context, instance string) ([]provider.Event, error) {
				events, err := sound.Read(ctx, instance)
				return events, unless(err, provider.ErrCorrupt)
			}
		}},
		{"calls a corrupt history retryable", "§5.5", []string{"error handling/read_corrupted_history_returns_error"}, func(c *calls, sound calls) {
			c.Read = func(ctx context.Context, instance string) ([]provider.Event, error) {
				events, err := sound.Read(ctx, instance)
				if errors.Is(err, provider.ErrCorrupt) {
					err = provider.Retryable("read", err.Error(), provider.ErrCorrupt)
				}
				return events, err
			}
		}},
		{"fails a fetch for an activity that cannot be decoded", "§5.10", []string{"activities/undecodable_activity_does_not_block"}, func(c *calls, sound calls) {
			damaged := 0
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				got, err := sound.FetchWorkItem(ctx, params)
				if got != nil && damaged == 0 {
					damaged++
					return nil, provider.Permanent("fetch_work_item", "corrupt", provider.ErrCorrupt)
				}
				return got, err
			}
		}},
	}
}

func waitMutants() []mutant {
	fetches := func(change func(poll *time.Duration)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				change(&params.PollTimeout)
				return sound.FetchOrchestrationItem(ctx, params)
			}
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				change(&params.PollTimeout)
				return sound.FetchWorkItem(ctx, params)
			}
		}
	}
	return []mutant{
		{
			"never waits", "§5.1",
			[]string{"long polling/long_poll_waits_for_timeout", "long polling/long_poll_work_item_waits_for_timeout"},
			fetches(func(poll *time.Duration) { *poll = 0 }),
		},
		{
			"always waits", "§5.1",
			[]string{"long polling/short_poll_returns_immediately", "long polling/short_poll_work_item_returns_immediately"},
			fetches(func(poll *time.Duration) { *poll = max(*poll, 2*mutantLease) }),
		},
		{
			"waits longer than it may", "§5.1",
			[]string{"long polling/fetch_respects_timeout_upper_bound"},
			fetches(func(poll *time.Duration) { *poll += 2 * mutantLease }),
		},
		{"looks for turns only when it begins to wait and when a message is sent", "§5.1", []string{
			"long polling/turn_whose_lease_ends", "long polling/abandoned_turn", "long polling/old_messages_that_become_visible",
		}, func(c *calls, sound calls) {
			sent := make(chan struct{}, 100)
			c.EnqueueForOrchestrator = func(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
				defer func() { sent <- struct{}{} }()
				return sound.EnqueueForOrchestrator(ctx, item, delay)
			}
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				end := time.After(params.PollTimeout)
				params.PollTimeout = 0
				for {
					got, err := sound.FetchOrchestrationItem(ctx, params)
					if got != nil || err != nil {
						return got, err
					}
					select {
					case <-sent:
					case <-end:
						return nil, nil
					}
				}
			}
		}},
		{"looks for activities only when it begins to wait and when one is sent", "§5.1", []string{
			"long polling/activity_whose_lease_ends", "long polling/activity_whose_renewed_lease_ends",
			"long polling/session_whose_lease_ends", "long polling/session_whose_renewed_lease_ends",
		}, func(c *calls, sound calls) {
			sent := make(chan struct{}, 100)
			c.EnqueueForWorker = func(ctx context.Context, item provider.WorkItem) error {
				defer func() { sent <- struct{}{} }()
				return sound.EnqueueForWorker(ctx, item)
			}
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				end := time.After(params.PollTimeout)
				params.PollTimeout = 0
				for {
					got, err := sound.FetchWorkItem(ctx, params)
					if got != nil || err != nil {
						return got, err
					}
					select {
					case <-sent:
					case <-end:
						return nil, nil
					}
				}
			}
		}},
	}
}

func contextMutants() []mutant {
	return []mutant{
		{"waits on when its context has ended", "Provider: a call ends soon after its context", []string{"concurrency/waiting_fetch_ends_with_its_context"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				return sound.FetchOrchestrationItem(context.WithoutCancel(ctx), params)
			}
			c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
				return sound.FetchWorkItem(context.WithoutCancel(ctx), params)
			}
		}},
		{"takes no notice of a context that has ended", "Provider: a call ends soon after its context", []string{"concurrency/cancelled_context_changes_nothing"}, func(c *calls, sound calls) {
			c.AckOrchestrationItem = func(ctx context.Context, turn provider.AckOrchestrationParams) error {
				return sound.AckOrchestrationItem(context.WithoutCancel(ctx), turn)
			}
		}},
		{"calls the end of a context permanent", "Provider: a call ends soon after its context", []string{"concurrency/cancelled_context_changes_nothing"}, func(c *calls, sound calls) {
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				if ctx.Err() != nil {
					return nil, provider.Permanent("get_kv_value", "context ended", ctx.Err())
				}
				return sound.GetKVValue(ctx, instance, key)
			}
		}},
		{"never returns from a read", "§5: every call ends", []string{"error handling/missing_instance_metadata"}, func(c *calls, _ calls) {
			c.Read = func(ctx context.Context, _ string) ([]provider.Event, error) {
				<-ctx.Done() // the scenario's, when it is over
				return nil, nil
			}
		}},
	}
}
