package provider

import (
	"context"
	"errors"
	"time"
)

// InstanceStarter is an optional interface of a store that knows who uses an instance
// id: an instance, or a start that waits for its first turn. Without it a client asks
// [Admin.GetInstanceInfo], which misses waiting starts.
type InstanceStarter interface {
	// StartInstance enqueues a start unless the id is used. It returns who uses the id,
	// or nil when the start was enqueued; to find out and to enqueue is one atomic step,
	// so of several starts that come at the same time one is enqueued.
	//
	// Error: [ErrInvalidArgument] for an item without instance.
	StartInstance(ctx context.Context, start StartOrchestrationItem) (*IDUse, error)

	// FindInstance returns who uses an id, nil for nobody.
	FindInstance(ctx context.Context, instance string) (*IDUse, error)
}

// IDUse is who uses an instance id.
type IDUse struct {
	// Name is the orchestration's name.
	Name string
	// Status is that of the current execution. It is empty for a start that waits for its
	// first turn.
	Status Status
}

// Begun reports whether the instance has had its first turn.
func (u IDUse) Begun() bool { return u.Status != "" }

// StartInstance starts an instance through the store, see [InstanceStarter]. With a store
// that is none, another start can come between the question and the start.
func StartInstance(ctx context.Context, store Provider, start StartOrchestrationItem) (*IDUse, error) {
	if starter, ok := store.(InstanceStarter); ok {
		return starter.StartInstance(ctx, start)
	}
	if use, err := FindInstance(ctx, store, start.Instance); err != nil || use != nil {
		return use, err
	}
	return nil, store.EnqueueForOrchestrator(ctx, start, 0)
}

// FindInstance asks the store who uses an id, see [InstanceStarter]. A store that is none
// knows the instances that have begun.
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

// HiddenCounter is an optional interface of a store's [Admin] that tells how much of
// [QueueDepths].OrchestratorQueue is no waiting work: messages that are not visible yet,
// which are timers, and what was handed back with a pause.
type HiddenCounter interface {
	CountHiddenMessages(ctx context.Context) (uint64, error)
}

// OrphanCollector is an optional interface of a store's [Admin] that knows messages for
// instances that never began: there is neither an instance, nor a history, nor a start
// that waits. Nobody fetches them, so they stay until they are collected, or until their
// instance is started. Dequeued messages ([QueueMessageItem]) alone are dropped by fetches
// (§5.1) and may have gone before.
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
