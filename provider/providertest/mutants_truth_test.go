package providertest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// truthMutants take from their own ideas what is in the data.
func truthMutants() []mutant {
	return []mutant{
		{"reads events in the order of insertion", "readers sort by id", []string{"history/events_are_read_by_id_not_by_insertion"}, insertionOrder},
		{"sends a completion to the activity's instance", "the instance that the completion names", []string{"activities/completion_goes_to_the_instance_that_it_names"}, completesByActivity},
		{"leaves the leases of children when it deletes", "their tokens are unknown", []string{"deletion/deletion_ends_the_leases_of_descendants"}, leavesLeases},
		{"invents a version for an instance without any", "MUST NOT invent a version", []string{"instance creation/no_version_is_invented"}, turnsWith(func(got *provider.FetchedOrchestration) {
			if got.Item.Version == provider.UnknownVersion {
				got.Item.Version = "1.0.0"
			}
		})},
		{"invents a version in the facts of an instance", "MUST NOT invent a version", []string{"instance creation/no_version_is_invented"}, func(c *calls, sound calls) {
			c.GetInstanceInfo = func(ctx context.Context, instance string) (provider.InstanceInfo, error) {
				info, err := sound.GetInstanceInfo(ctx, instance)
				if info.OrchestrationVersion == provider.UnknownVersion {
					info.OrchestrationVersion = "1.0.0"
				}
				return info, err
			}
		}},
	}
}

// insertionOrder reads the events of an instance as they were stored.
func insertionOrder(c *calls, sound calls) {
	var mu sync.Mutex
	place := map[uint64]int{}
	store := func(events []provider.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, event := range events {
			place[event.EventID] = len(place)
		}
	}
	sorted := func(events []provider.Event, err error) ([]provider.Event, error) {
		mu.Lock()
		defer mu.Unlock()
		slices.SortStableFunc(events, func(a, b provider.Event) int { return cmp.Compare(place[a.EventID], place[b.EventID]) })
		return events, err
	}
	c.AckOrchestrationItem = func(ctx context.Context, params provider.AckOrchestrationParams) error {
		store(params.HistoryDelta)
		return sound.AckOrchestrationItem(ctx, params)
	}
	c.AppendWithExecution = func(ctx context.Context, instance string, executionID uint64, events []provider.Event) error {
		store(events)
		return sound.AppendWithExecution(ctx, instance, executionID, events)
	}
	c.Read = func(ctx context.Context, instance string) ([]provider.Event, error) {
		return sorted(sound.Read(ctx, instance))
	}
}

// completesByActivity sends each completion to the instance that the activity was queued for.
func completesByActivity(c *calls, sound calls) {
	var mu sync.Mutex
	instances := map[string]string{}
	c.FetchWorkItem = func(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
		got, err := sound.FetchWorkItem(ctx, params)
		if got != nil {
			mu.Lock()
			defer mu.Unlock()
			instances[got.LockToken] = got.Item.Target()
		}
		return got, err
	}
	c.AckWorkItem = func(ctx context.Context, lockToken string, completion provider.WorkItem) error {
		mu.Lock()
		defer mu.Unlock()
		if done, ok := completion.(provider.ActivityCompletedItem); ok {
			done.Instance = instances[lockToken]
			completion = done
		}
		return sound.AckWorkItem(ctx, lockToken, completion)
	}
}

// leavesLeases still renews, after a deletion, the leases of turns of all but the first instance.
func leavesLeases(c *calls, sound calls) {
	var mu sync.Mutex
	children, left := map[string]bool{}, false
	c.FetchOrchestrationItem = func(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
		got, err := sound.FetchOrchestrationItem(ctx, params)
		if got != nil {
			mu.Lock()
			defer mu.Unlock()
			children[got.LockToken] = got.Item.Instance != "root"
		}
		return got, err
	}
	c.DeleteInstance = func(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
		result, err := sound.DeleteInstance(ctx, instance, force)
		mu.Lock()
		defer mu.Unlock()
		left = left || err == nil
		return result, err
	}
	c.RenewOrchestrationItemLock = func(ctx context.Context, lockToken string, extendFor time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		if left && children[lockToken] {
			return nil
		}
		return sound.RenewOrchestrationItemLock(ctx, lockToken, extendFor)
	}
}
