package providertest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// The mutants about what clients and tools read and remove: keys, custom status, sizes,
// lists, deletion and pruning.

func keyMutants() []mutant {
	return []mutant{
		{"shows a turn the changes of its own execution", "§5.1 step 11", []string{"kv store/kv_delta_snapshot_excludes_current_execution"}, func(c *calls, sound calls) {
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil {
					all, _ := sound.GetKVAllValues(ctx, got.Item.Instance)
					got.Item.KVSnapshot = map[string]provider.KVEntry{}
					for key, value := range all {
						got.Item.KVSnapshot[key] = provider.KVEntry{Value: value}
					}
				}
				return got, err
			}
		}},
		{"gives all keys the same time", "§5.2, KeyValueSet", []string{"kv store/timestamp_is_the_events_own"}, turnsWith(func(got *provider.FetchedOrchestration) {
			for key, entry := range got.Item.KVSnapshot {
				got.Item.KVSnapshot[key] = provider.KVEntry{Value: entry.Value, LastUpdatedAtMs: 1}
			}
		})},
		{"takes an empty value for none", "§5.17", []string{"kv store/kv_empty_value"}, func(c *calls, sound calls) {
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				value, err := sound.GetKVValue(ctx, instance, key)
				if value != nil && *value == "" {
					value = nil
				}
				return value, err
			}
		}},
		{"returns an empty value for none", "§5.17", []string{"kv store/kv_get_nonexistent"}, func(c *calls, sound calls) {
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				value, err := sound.GetKVValue(ctx, instance, key)
				if value == nil {
					value = new("")
				}
				return value, err
			}
		}},
		{"trims values", "§3.6", []string{"kv store/unusual_values"}, func(c *calls, sound calls) {
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				value, err := sound.GetKVValue(ctx, instance, key)
				if value != nil {
					value = new(strings.TrimSpace(*value))
				}
				return value, err
			}
		}},
		{"compares keys without regard to case", "§11.1", []string{"kv store/keys_compare_byte_for_byte"}, func(c *calls, sound calls) {
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				return sound.GetKVValue(ctx, instance, strings.ToLower(key))
			}
		}},
		{"returns a hundred keys at most", "§5.1 step 11", []string{"amounts/keys_of_an_instance"}, func(c *calls, sound calls) {
			c.GetKVAllValues = func(ctx context.Context, instance string) (map[string]string, error) {
				all, err := sound.GetKVAllValues(ctx, instance)
				for key := range all {
					if len(all) > 100 {
						delete(all, key)
					}
				}
				return all, err
			}
		}},
	}
}

func statusMutants() []mutant {
	status := func(change func(got *provider.CustomStatus) *provider.CustomStatus) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.GetCustomStatus = func(ctx context.Context, instance string, seen uint64) (*provider.CustomStatus, error) {
				got, err := sound.GetCustomStatus(ctx, instance, seen)
				return change(got), err
			}
		}
	}
	return []mutant{
		{"returns a custom status that was seen", "§5.16", []string{"custom status/custom_status_polling_no_change"}, func(c *calls, sound calls) {
			c.GetCustomStatus = func(ctx context.Context, instance string, seen uint64) (*provider.CustomStatus, error) {
				return sound.GetCustomStatus(ctx, instance, max(seen, 1)-1)
			}
		}},
		{"returns the empty text for a custom status that was reset", "§5.16", []string{"custom status/custom_status_clear"}, status(func(got *provider.CustomStatus) *provider.CustomStatus {
			if got != nil && got.Status == nil {
				got.Status = new("")
			}
			return got
		})},
		{"takes an empty custom status for a reset one", "§5.2 step 9", []string{"custom status/empty_string_is_a_status"}, status(func(got *provider.CustomStatus) *provider.CustomStatus {
			if got != nil && got.Status != nil && *got.Status == "" {
				got.Status = nil
			}
			return got
		})},
		{"has a custom status for everybody", "§5.16", []string{"custom status/custom_status_nonexistent_instance"}, status(func(got *provider.CustomStatus) *provider.CustomStatus {
			if got == nil {
				got = &provider.CustomStatus{}
			}
			return got
		})},
		{"counts a custom status's versions in twos", "§5.2 step 9", []string{"custom status/custom_status_version_increments"}, status(func(got *provider.CustomStatus) *provider.CustomStatus {
			if got != nil {
				got.Version *= 2
			}
			return got
		})},
		{"starts a custom status over with each execution", "§5.16", []string{"custom status/version_continues_across_executions"}, func(c *calls, sound calls) {
			c.GetCustomStatus = func(ctx context.Context, instance string, seen uint64) (*provider.CustomStatus, error) {
				got, err := sound.GetCustomStatus(ctx, instance, seen)
				if info, _ := sound.GetInstanceInfo(ctx, instance); got != nil && info.CurrentExecutionID > 1 {
					got.Version = 1
				}
				return got, err
			}
		}},
	}
}

func statsMutants() []mutant {
	stats := func(change func(got *provider.InstanceStats)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.GetInstanceStats = func(ctx context.Context, instance string) (*provider.InstanceStats, error) {
				got, err := sound.GetInstanceStats(ctx, instance)
				if got != nil {
					change(got)
				}
				return got, err
			}
		}
	}
	return []mutant{
		{"has sizes for everybody", "§5.19", []string{"management/get_instance_stats_nonexistent"}, func(c *calls, sound calls) {
			c.GetInstanceStats = func(ctx context.Context, instance string) (*provider.InstanceStats, error) {
				got, err := sound.GetInstanceStats(ctx, instance)
				if got == nil {
					got = &provider.InstanceStats{}
				}
				return got, err
			}
		}},
		{
			"counts a history's bytes with a line end", "§5.19",
			[]string{"instance stats/history_count_and_bytes"},
			stats(func(got *provider.InstanceStats) { got.HistorySizeBytes += got.HistoryEventCount }),
		},
		{"counts queued messages as carried ones", "§5.19", []string{"instance stats/queued_messages_do_not_count"}, func(c *calls, sound calls) {
			c.GetInstanceStats = func(ctx context.Context, instance string) (*provider.InstanceStats, error) {
				got, err := sound.GetInstanceStats(ctx, instance)
				if depths, _ := sound.GetQueueDepths(ctx); got != nil {
					got.QueuePendingCount += depths.OrchestratorQueue
				}
				return got, err
			}
		}},
		{
			"counts keys by their bytes", "§5.19",
			[]string{"management/get_instance_stats_kv_delta_only"},
			stats(func(got *provider.InstanceStats) { got.KVUserKeyCount = got.KVTotalValueBytes }),
		},
	}
}

func listMutants() []mutant {
	return []mutant{
		{"lists instances oldest first", "§6.3", []string{"management/list_instances_newest_first"}, func(c *calls, sound calls) {
			c.ListInstances = func(ctx context.Context) ([]string, error) {
				ids, err := sound.ListInstances(ctx)
				slices.Reverse(ids)
				return ids, err
			}
		}},
		{"lists a thousand instances", "§6.3", []string{"amounts/children_and_instances"}, func(c *calls, sound calls) {
			c.ListInstances = func(ctx context.Context) ([]string, error) {
				ids, err := sound.ListInstances(ctx)
				return ids[:min(len(ids), 1000)], err
			}
		}},
		{"lists a thousand executions", "§6.5", []string{"amounts/executions_of_an_instance"}, func(c *calls, sound calls) {
			c.ListExecutions = func(ctx context.Context, instance string) ([]uint64, error) {
				ids, err := sound.ListExecutions(ctx, instance)
				return ids[:min(len(ids), 1000)], err
			}
		}},
		{"reads a thousand events", "§5.1, §5.5", []string{"amounts/events_of_an_execution"}, func(c *calls, sound calls) {
			c.ReadWithExecution = func(ctx context.Context, instance string, execution uint64) ([]provider.Event, error) {
				events, err := sound.ReadWithExecution(ctx, instance, execution)
				return events[:min(len(events), 1000)], err
			}
		}},
		{"lists executions newest first", "§6.5", []string{"management/list_executions"}, func(c *calls, sound calls) {
			c.ListExecutions = func(ctx context.Context, instance string) ([]uint64, error) {
				ids, err := sound.ListExecutions(ctx, instance)
				slices.Reverse(ids)
				return ids, err
			}
		}},
		{"lists all instances for an unknown status", "§6.4", []string{"management/unknown_status_matches_nothing"}, func(c *calls, sound calls) {
			c.ListInstancesByStatus = func(ctx context.Context, status provider.Status) ([]string, error) {
				if status == provider.StatusRunning || status.Terminal() {
					return sound.ListInstancesByStatus(ctx, status)
				}
				return sound.ListInstances(ctx)
			}
		}},
		{"counts instances between executions as completed", "§6.10", []string{"management/metrics_between_executions"}, func(c *calls, sound calls) {
			c.GetSystemMetrics = func(ctx context.Context) (provider.SystemMetrics, error) {
				m, err := sound.GetSystemMetrics(ctx)
				m.CompletedInstances = m.TotalInstances - m.RunningInstances - m.FailedInstances
				return m, err
			}
		}},
		{"counts messages that are locked", "§6.11", []string{"management/get_queue_depths"}, func(c *calls, sound calls) {
			locked := uint64(0)
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil {
					locked += uint64(len(got.Item.Messages))
				}
				return got, err
			}
			c.GetQueueDepths = func(ctx context.Context) (provider.QueueDepths, error) {
				depths, err := sound.GetQueueDepths(ctx)
				depths.OrchestratorQueue += locked
				return depths, err
			}
		}},
		{"says when a running execution was completed", "§5.2 steps 4 and 8", []string{"management/execution_times"}, func(c *calls, sound calls) {
			c.GetExecutionInfo = func(ctx context.Context, instance string, execution uint64) (provider.ExecutionInfo, error) {
				info, err := sound.GetExecutionInfo(ctx, instance, execution)
				if info.CompletedAt == nil {
					info.CompletedAt = &info.StartedAt
				}
				return info, err
			}
		}},
		{"counts executions for the latest id", "§6.7", []string{"management/latest_execution_id"}, func(c *calls, sound calls) {
			c.LatestExecutionID = func(ctx context.Context, instance string) (uint64, error) {
				latest, err := sound.LatestExecutionID(ctx, instance)
				ids, _ := sound.ListExecutions(ctx, instance)
				return min(latest, uint64(len(ids))), err
			}
		}},
		{"says when the last turn was for when an execution was completed", "§5.2 step 8", []string{"execution status/late_turn_leaves_the_outcome"}, func(c *calls, sound calls) {
			c.GetExecutionInfo = func(ctx context.Context, instance string, execution uint64) (provider.ExecutionInfo, error) {
				info, err := sound.GetExecutionInfo(ctx, instance, execution)
				if row, e := sound.GetInstanceInfo(ctx, instance); e == nil && info.CompletedAt != nil {
					info.CompletedAt = &row.UpdatedAt
				}
				return info, err
			}
		}},
		{"names management errors by a query", "§2.3", []string{"error handling/management_errors_name_their_operation"}, func(c *calls, sound calls) {
			c.GetParentID = func(ctx context.Context, instance string) (*string, error) {
				parent, err := sound.GetParentID(ctx, instance)
				if e := provider.AsError(err); e != nil {
					err = &provider.Error{Operation: "query", Message: e.Message, Retryable: e.Retryable, Err: e.Err}
				}
				return parent, err
			}
		}},
		{"shows an instance the status of its first execution", "§6.1: an instance's status", []string{"management/status_follows_the_current_execution"}, func(c *calls, sound calls) {
			c.GetInstanceInfo = func(ctx context.Context, instance string) (provider.InstanceInfo, error) {
				info, err := sound.GetInstanceInfo(ctx, instance)
				if first, e := sound.GetExecutionInfo(ctx, instance, 1); e == nil {
					info.Status = first.Status
				}
				return info, err
			}
		}},
		{"lists children newest first", "§6.12", []string{"management/children_in_order_of_creation"}, func(c *calls, sound calls) {
			c.ListChildren = func(ctx context.Context, instance string) ([]string, error) {
				ids, err := sound.ListChildren(ctx, instance)
				slices.Reverse(ids)
				return ids, err
			}
		}},
		{"leaves grandchildren out of a tree", "§6.1", []string{"deletion/delete_get_instance_tree"}, func(c *calls, sound calls) {
			c.GetInstanceTree = func(ctx context.Context, instance string) (provider.InstanceTree, error) {
				ids, err := sound.ListChildren(ctx, instance)
				return provider.InstanceTree{RootID: instance, AllIDs: append([]string{instance}, ids...)}, err
			}
		}},
		{"takes an unknown instance for a root", "§6.13", []string{"deletion/delete_get_parent_id"}, func(c *calls, sound calls) {
			c.GetParentID = func(ctx context.Context, instance string) (*string, error) {
				parent, err := sound.GetParentID(ctx, instance)
				return parent, unless(err, provider.ErrNotFound)
			}
		}},
		{"describes instances that it does not know", "§6.8", []string{"management/info_of_unknown_instance"}, func(c *calls, sound calls) {
			c.GetInstanceInfo = func(ctx context.Context, instance string) (provider.InstanceInfo, error) {
				info, err := sound.GetInstanceInfo(ctx, instance)
				return info, unless(err, provider.ErrNotFound)
			}
		}},
	}
}

func deletionMutants() []mutant {
	return []mutant{
		{"deletes running instances without force", "§6.1", []string{"deletion/delete_running_rejected_force_succeeds"}, func(c *calls, sound calls) {
			c.DeleteInstance = func(ctx context.Context, instance string, _ bool) (provider.DeleteInstanceResult, error) {
				return sound.DeleteInstance(ctx, instance, true)
			}
		}},
		{"deletes no running instances, with force either", "§6.1", []string{"deletion/delete_running_rejected_force_succeeds"}, func(c *calls, sound calls) {
			c.DeleteInstance = func(ctx context.Context, instance string, _ bool) (provider.DeleteInstanceResult, error) {
				return sound.DeleteInstance(ctx, instance, false)
			}
		}},
		{"deletes a child by itself", "§6.15", []string{"deletion/child_is_refused_even_with_force"}, func(c *calls, sound calls) {
			c.DeleteInstance = func(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
				if parent, err := sound.GetParentID(ctx, instance); err != nil || parent == nil {
					return sound.DeleteInstance(ctx, instance, force)
				}
				return sound.DeleteInstancesAtomic(ctx, []string{instance}, force)
			}
		}},
		{"deletes unknown instances", "§6.15", []string{"deletion/delete_nonexistent_instance"}, func(c *calls, sound calls) {
			c.DeleteInstance = func(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
				got, err := sound.DeleteInstance(ctx, instance, force)
				return got, unless(err, provider.ErrNotFound)
			}
		}},
		{"deletes children that are not in the list", "§6.16", []string{"deletion/delete_instances_atomic_orphan_detection"}, func(c *calls, sound calls) {
			c.DeleteInstancesAtomic = func(ctx context.Context, instances []string, force bool) (provider.DeleteInstanceResult, error) {
				var all []string
				for _, instance := range instances {
					tree, err := sound.GetInstanceTree(ctx, instance)
					if err != nil {
						return provider.DeleteInstanceResult{}, err
					}
					all = append(all, tree.AllIDs...)
				}
				return sound.DeleteInstancesAtomic(ctx, all, force)
			}
		}},
		{"deletes a list one by one", "§6.16", []string{"deletion/delete_instances_atomic"}, func(c *calls, sound calls) {
			c.DeleteInstancesAtomic = func(ctx context.Context, instances []string, force bool) (sum provider.DeleteInstanceResult, err error) {
				for _, instance := range instances {
					got, err := sound.DeleteInstancesAtomic(ctx, []string{instance}, force)
					if err != nil {
						return sum, err
					}
					addTo(&sum, got)
				}
				return sum, nil
			}
		}},
		{"counts what it was asked to delete", "§6.16", []string{"deletion/atomic_repeated_ids_count_once"}, func(c *calls, sound calls) {
			c.DeleteInstancesAtomic = func(ctx context.Context, instances []string, force bool) (provider.DeleteInstanceResult, error) {
				got, err := sound.DeleteInstancesAtomic(ctx, instances, force)
				got.InstancesDeleted = uint64(len(instances))
				return got, err
			}
		}},
	}
}

// addTo adds up deletions.
func addTo(sum *provider.DeleteInstanceResult, got provider.DeleteInstanceResult) {
	sum.InstancesDeleted += got.InstancesDeleted
	sum.ExecutionsDeleted += got.ExecutionsDeleted
	sum.EventsDeleted += got.EventsDeleted
	sum.QueueMessagesDeleted += got.QueueMessagesDeleted
}

func bulkMutants() []mutant {
	filters := func(change func(filter *provider.InstanceFilter)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.DeleteInstanceBulk = func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
				change(&filter)
				return sound.DeleteInstanceBulk(ctx, filter)
			}
		}
	}
	return []mutant{
		{"takes an empty list for all instances", "§6.17", []string{"bulk deletion/nil_and_empty_ids"}, filters(func(filter *provider.InstanceFilter) {
			if len(filter.InstanceIDs) == 0 {
				filter.InstanceIDs = nil
			}
		})},
		{
			"deletes in bulk without a limit", "§6.17",
			[]string{"bulk deletion/limit_counts_roots", "bulk deletion/limit_zero"},
			filters(func(filter *provider.InstanceFilter) { filter.Limit = new(uint32(1 << 30)) }),
		},
		{
			"deletes in bulk whenever it ended", "§6.17",
			[]string{"bulk deletion/delete_instance_bulk_completed_before_filter"},
			filters(func(filter *provider.InstanceFilter) { filter.CompletedBefore = nil }),
		},
		{"deletes running instances in bulk", "§6.17", []string{"bulk deletion/every_final_status_is_taken"}, func(c *calls, sound calls) {
			c.DeleteInstanceBulk = func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
				sum, err := sound.DeleteInstanceBulk(ctx, filter)
				if err != nil || filter.InstanceIDs != nil {
					return sum, err
				}
				ids, err := sound.ListInstances(ctx)
				if err != nil {
					return sum, err
				}
				got, err := sound.DeleteInstancesAtomic(ctx, ids, true)
				addTo(&sum, got)
				return sum, err
			}
		}},
		{"counts roots only in bulk", "§6.17", []string{"bulk deletion/completed_root_takes_running_children"}, func(c *calls, sound calls) {
			c.DeleteInstanceBulk = func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
				got, err := sound.DeleteInstanceBulk(ctx, filter)
				got.InstancesDeleted = min(got.InstancesDeleted, 1)
				return got, err
			}
		}},
		{"leaves keys behind in bulk deletion", "§6.17", []string{"bulk deletion/deletion_takes_keys_and_custom_status"}, func(c *calls, sound calls) {
			var left memory[string, map[string]string]
			c.DeleteInstanceBulk = func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
				ids, _ := sound.ListInstances(ctx)
				for _, id := range ids {
					all, _ := sound.GetKVAllValues(ctx, id)
					left.put(id, all)
				}
				return sound.DeleteInstanceBulk(ctx, filter)
			}
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				value, err := sound.GetKVValue(ctx, instance, key)
				if all, _ := left.get(instance); value == nil && err == nil {
					if old, ok := all[key]; ok {
						value = &old
					}
				}
				return value, err
			}
		}},
		{"leaves the queues of children behind in bulk deletion", "§6.17", []string{"bulk deletion/deletion_takes_the_children_s_queues"}, func(c *calls, sound calls) {
			c.DeleteInstanceBulk = func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
				got, err := sound.DeleteInstanceBulk(ctx, filter)
				if err == nil {
					err = sound.EnqueueForWorker(ctx, activityItem("child", 2))
				}
				got.QueueMessagesDeleted--
				return got, err
			}
		}},
		{"leaves the leases of children behind in bulk deletion", "§6.17", []string{"bulk deletion/deletion_ends_the_leases_of_children"}, func(c *calls, sound calls) {
			deleted := false
			c.DeleteInstanceBulk = func(ctx context.Context, filter provider.InstanceFilter) (provider.DeleteInstanceResult, error) {
				deleted = true
				return sound.DeleteInstanceBulk(ctx, filter)
			}
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				if deleted { // as if the lock's row were still there
					return nil, nil
				}
				return sound.FetchOrchestrationItem(ctx, params)
			}
		}},
	}
}

func pruneMutants() []mutant {
	return []mutant{
		{"keeps one execution more than it should", "§6.18", []string{"prune/prune_options_combinations"}, func(c *calls, sound calls) {
			c.PruneExecutions = func(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error) {
				if options.KeepLast != nil {
					options.KeepLast = new(*options.KeepLast + 1)
				}
				return sound.PruneExecutions(ctx, instance, options)
			}
		}},
		{"takes either of two conditions for enough", "§6.18", []string{"prune/prune_options_combinations"}, func(c *calls, sound calls) {
			c.PruneExecutions = func(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error) {
				if options.KeepLast != nil {
					options.CompletedBefore = nil
				}
				return sound.PruneExecutions(ctx, instance, options)
			}
		}},
		{"counts only instances that had something to prune", "§6.18", []string{"prune/nothing_to_prune_is_processed"}, func(c *calls, sound calls) {
			c.PruneExecutions = func(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error) {
				got, err := sound.PruneExecutions(ctx, instance, options)
				got.InstancesProcessed = min(got.InstancesProcessed, got.ExecutionsDeleted)
				return got, err
			}
		}},
		{"prunes in bulk whenever the current execution ended", "§6.1: InstanceFilter", []string{"prune/bulk_conditions_all_count"}, func(c *calls, sound calls) {
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				if filter.InstanceIDs != nil {
					filter.CompletedBefore = nil
				}
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
		}},
		{"prunes a list of instances without a limit", "§6.1: InstanceFilter", []string{"prune/bulk_conditions_all_count"}, func(c *calls, sound calls) {
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				if filter.InstanceIDs != nil {
					filter.Limit = nil
				}
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
		}},
		{"prunes in bulk by time alone if a time is given", "§6.1: InstanceFilter", []string{"prune/bulk_conditions_all_count"}, func(c *calls, sound calls) {
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				if options.CompletedBefore != nil {
					options.KeepLast = nil
				}
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
		}},
		{"prunes by a list of instances that may be gone", "§6.19: bulk pruning applies", []string{"prune/bulk_passes_over_what_is_deleted_meanwhile"}, func(c *calls, sound calls) {
			c.PruneExecutionsBulk = func(ctx context.Context, _ provider.InstanceFilter, options provider.PruneOptions) (sum provider.PruneResult, err error) {
				instances, err := sound.ListInstances(ctx)
				if err != nil {
					return sum, err
				}
				for _, instance := range slices.Backward(instances) {
					if _, err := sound.PruneExecutions(ctx, instance, options); err != nil {
						return sum, err
					}
				}
				return sum, nil
			}
		}},
		{"prunes unknown instances", "§6.18", []string{"prune/unknown_instance"}, func(c *calls, sound calls) {
			c.PruneExecutions = func(ctx context.Context, instance string, options provider.PruneOptions) (provider.PruneResult, error) {
				got, err := sound.PruneExecutions(ctx, instance, options)
				return got, unless(err, provider.ErrNotFound)
			}
		}},
		{"prunes no children in bulk", "§6.19", []string{"prune/bulk_includes_sub_orchestrations"}, pruningOnly(func(ctx context.Context, sound calls, id string) bool {
			parent, _ := sound.GetParentID(ctx, id)
			return parent == nil
		})},
		{"prunes no running instances in bulk", "§6.19", []string{"prune/prune_bulk_includes_running_instances"}, pruningOnly(func(ctx context.Context, sound calls, id string) bool {
			info, _ := sound.GetInstanceInfo(ctx, id)
			return info.Status != provider.StatusRunning
		})},
		{"leaves long histories in bulk pruning", "§6.19", []string{"prune/bulk_takes_long_histories"}, pruningOnly(func(ctx context.Context, sound calls, id string) bool {
			events, _ := sound.ReadWithExecution(ctx, id, 1)
			return len(events) < 500
		})},
		{"forgets keys in bulk pruning", "§6.19", []string{"prune/pruning_keeps_keys"}, func(c *calls, sound calls) {
			pruned := false
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				pruned = true
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
			c.GetKVValue = func(ctx context.Context, instance, key string) (*string, error) {
				if pruned {
					return nil, nil
				}
				return sound.GetKVValue(ctx, instance, key)
			}
		}},
		{"ends leases in bulk pruning", "§6.19", []string{"prune/pruning_keeps_leases_and_queues"}, func(c *calls, sound calls) {
			var mu sync.Mutex
			var tokens []string
			c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
				got, err := sound.FetchOrchestrationItem(ctx, params)
				if got != nil {
					mu.Lock()
					defer mu.Unlock()
					tokens = append(tokens, got.LockToken)
				}
				return got, err
			}
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				mu.Lock()
				defer mu.Unlock()
				for _, token := range tokens {
					_ = sound.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: token})
				}
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
		}},
		{"forgets running executions in bulk pruning", "§6.19", []string{"prune/pruning_keeps_running_executions"}, func(c *calls, sound calls) {
			pruned := false
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				pruned = true
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
			c.ListExecutions = func(ctx context.Context, instance string) ([]uint64, error) {
				ids, err := sound.ListExecutions(ctx, instance)
				if pruned && len(ids) > 1 {
					ids = ids[len(ids)-1:]
				}
				return ids, err
			}
		}},
		{"forgets custom status in bulk pruning", "§6.19", []string{"prune/pruning_keeps_instances_and_custom_status"}, func(c *calls, sound calls) {
			pruned := false
			c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
				pruned = true
				return sound.PruneExecutionsBulk(ctx, filter, options)
			}
			c.GetCustomStatus = func(ctx context.Context, instance string, seen uint64) (*provider.CustomStatus, error) {
				if pruned {
					return nil, nil
				}
				return sound.GetCustomStatus(ctx, instance, seen)
			}
		}},
	}
}

// pruningOnly leaves instances out of bulk pruning.
func pruningOnly(takes func(ctx context.Context, sound calls, id string) bool) func(*calls, calls) {
	return func(c *calls, sound calls) {
		c.PruneExecutionsBulk = func(ctx context.Context, filter provider.InstanceFilter, options provider.PruneOptions) (provider.PruneResult, error) {
			ids := filter.InstanceIDs
			if ids == nil {
				ids, _ = sound.ListInstances(ctx)
			}
			filter.InstanceIDs = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !takes(ctx, sound, id) })
			return sound.PruneExecutionsBulk(ctx, filter, options)
		}
	}
}
