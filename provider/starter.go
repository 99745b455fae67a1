package provider

import (
	"context"
	"errors"
	"time"
)

// InstanceStarter is an optional interface of a store that knows whether an instance id is used: by an instance, or
// by a start that waits for its first turn. Without it a client calls [Admin].GetInstanceInfo, which does not find
// waiting starts.
type InstanceStarter interface {
	// StartInstance enqueues a start unless the id is used. It returns what uses the id, or nil if the start was
	// enqueued. Check and enqueue are one atomic step: of several starts at the same time, exactly one is enqueued.
	//
	// Error: [ErrInvalidArgument] for an item without instance.
	StartInstance(ctx context.Context, start StartOrchestrationItem) (*IDUse, error)

	// FindInstance returns what uses an id, nil if nothing does.
	FindInstance(ctx context.Context, instance string) (*IDUse, error)
}

// IDUse describes the instance, or the waiting start, that uses an instance id.
type IDUse struct {
	// Name is the orchestration's name.
	Name string
	// Status is the status of the current execution. It is empty for a start that waits for its first turn.
	Status Status
}

// Begun reports whether the instance has had its first turn.
func (u IDUse) Begun() bool { return u.Status != "" }

// StartInstance starts an instance through the store, see [InstanceStarter]. With a store that is not an
// InstanceStarter, another start can come between the check of the id and the start.
func StartInstance(ctx context.Context, store Provider, start StartOrchestrationItem) (*IDUse, error) {
	if starter, ok := store.(InstanceStarter); ok {
		return starter.StartInstance(ctx, start)
	}
	if use, err := FindInstance(ctx, store, start.Instance); err != nil || use != nil {
		return use, err
	}
	return nil, store.EnqueueForOrchestrator(ctx, start, 0)
}

// FindInstance returns what uses an instance id, nil if nothing does, see [InstanceStarter]. With a store that is not
// an InstanceStarter it finds only instances that have had their first turn.
func FindInstance(ctx context.Context, store Provider, instance string) (*IDUse, error) {
	if starter, ok := store.(InstanceStarter); ok {
		return starter.FindInstance(ctx, instance)
	}
	if admin := store.Admin(); admin != nil {
		info, err := admin.GetInstanceInfo(ctx, instance)
		if errors.Is(err, ErrNotFound) {
			return nil, nil //nolint:nilnil // nobody uses the id
		}
		if err != nil {
			return nil, err
		}
		return &IDUse{Name: info.OrchestrationName, Status: info.Status}, nil
	}
	history, err := store.Read(ctx, instance)
	if err != nil {
		return nil, err
	}
	return useOf(history), nil
}

// useOf is who uses an id with that history, nil for nobody.
func useOf(history []Event) *IDUse {
	if len(history) == 0 {
		return nil
	}
	use := &IDUse{Name: UnknownVersion, Status: StatusRunning}
	for _, event := range history {
		switch k := event.Kind.(type) {
		case OrchestrationStarted:
			use.Name = k.Name
		case OrchestrationCompleted:
			use.Status = StatusCompleted
		case OrchestrationFailed:
			use.Status = StatusFailed
		}
	}
	return use
}

// HiddenCounter is an optional interface of a store's [Admin] that counts the messages in
// [QueueDepths].OrchestratorQueue that are not visible yet: timers, and messages that were given back with a delay.
type HiddenCounter interface {
	CountHiddenMessages(ctx context.Context) (uint64, error)
}

// OrphanCollector is an optional interface of a store's [Admin] that counts and deletes messages for instances that
// never began: there is no instance, no history and no waiting start. No fetch returns such messages, so they stay
// until they are deleted or their instance is started. Only queue messages ([QueueMessageItem]) can be gone before,
// because fetches drop them (§5.1).
type OrphanCollector interface {
	// CountOrphanMessages counts the messages that have been visible for at least
	// olderThan; 0 counts all that are visible.
	CountOrphanMessages(ctx context.Context, olderThan time.Duration) (OrphanMessages, error)

	// DeleteOrphanMessages deletes what CountOrphanMessages counts, one instance id at a
	// time. After an error the result counts what was deleted before it.
	DeleteOrphanMessages(ctx context.Context, olderThan time.Duration) (OrphanMessages, error)
}

// OrphanMessages counts messages for instances that never began.
type OrphanMessages struct {
	// Instances is the number of different instance ids.
	Instances uint64
	Messages  uint64
}
