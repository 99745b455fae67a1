package provider

import (
	"context"
	"time"
)

// Provider is what the runtime needs from a store.
//
// Every method is one atomic transaction: all of its effects or none. A failed call leaves locks, queues,
// history, metadata, key-value data and sessions exactly as they were. The only exception is documented at
// FetchOrchestrationItem.
//
// Errors are [*Error] values. [IsRetryable] tells whether the same call may be repeated; the sentinels
// ([ErrLockLost], [ErrNotFound], …) tell why it failed. All methods are safe for concurrent use. A call returns soon
// after its context has ended, with a retryable error that wraps the context's error and its cause (see
// [ContextError]).
type Provider interface {
	// Name is the store's short name for logs and metrics, such as "sqlite".
	Name() string

	// Version is the semantic version of the store implementation.
	Version() string

	// Admin returns the management interface, or nil when the store has none.
	Admin() Admin

	// FetchOrchestrationItem picks one instance that has visible messages and no live lock, locks it for LockTimeout,
	// and returns its history with all its visible messages. It returns nil, nil when nothing is eligible by
	// the end of PollTimeout. If another call takes that instance first, it tries the next one and does not return
	// empty.
	//
	// A history that cannot be decoded is not an error of the call: the lock and
	// the attempt counts stay committed and the item carries HistoryError, so
	// that the runtime can fail the instance.
	FetchOrchestrationItem(ctx context.Context, params FetchOrchestrationParams) (*FetchedOrchestration, error)

	// AckOrchestrationItem commits one turn and releases the instance.
	//
	// Errors, the first that applies: [ErrInvalidLockToken] when the token is
	// unknown, [ErrLockExpired] when its lease has ended, [ErrInvalidArgument] for
	// an event id of 0, an item on the wrong queue or an unknown status,
	// [ErrDuplicateEvent] when an event id is taken. After any of them nothing has
	// changed; after the last two the lock is still held.
	AckOrchestrationItem(ctx context.Context, params AckOrchestrationParams) error

	// AbandonOrchestrationItem gives a turn up without effects. It releases the instance and the messages that
	// the token holds, hides these messages for Delay, and uncounts the attempt if IgnoreAttempt is set. A token
	// whose lease has ended is accepted as long as no other worker has taken the instance; otherwise the error is
	// [ErrInvalidLockToken].
	AbandonOrchestrationItem(ctx context.Context, params AbandonParams) error

	// RenewOrchestrationItemLock moves the lease's end to now + extendFor. Errors: [ErrInvalidLockToken];
	// [ErrLockExpired], because an expired lease cannot be renewed.
	RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error

	// Read returns the history of the instance's latest execution in event id
	// order, empty for an unknown instance. An event that cannot be decoded
	// is [ErrCorrupt], never a shortened list.
	Read(ctx context.Context, instance string) ([]Event, error)

	// ReadWithExecution is Read for one given execution.
	ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]Event, error)

	// AppendWithExecution appends events outside a turn, for tests and tools. It needs no lock and creates no
	// instance. Without events it does nothing. Errors: [ErrInvalidArgument] for event id 0, [ErrDuplicateEvent].
	AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []Event) error

	// EnqueueForWorker adds one activity to the worker queue, visible at once.
	// Any item but [ActivityExecuteItem] is [ErrInvalidArgument].
	EnqueueForWorker(ctx context.Context, item WorkItem) error

	// EnqueueForOrchestrator adds one message for an instance, visible after
	// delay; a [TimerFiredItem] no earlier than its fire time. It neither
	// needs nor creates the instance and never deduplicates. An
	// [ActivityExecuteItem] is [ErrInvalidArgument].
	EnqueueForOrchestrator(ctx context.Context, item WorkItem, delay time.Duration) error

	// FetchWorkItem locks and returns the oldest eligible activity, or
	// nil, nil when there is none by the end of PollTimeout.
	FetchWorkItem(ctx context.Context, params FetchWorkParams) (*FetchedWorkItem, error)

	// AckWorkItem deletes a locked activity and, unless completion is nil,
	// enqueues it for the instance it names in the same transaction.
	// The completion is an [ActivityCompletedItem] or [ActivityFailedItem];
	// anything else is [ErrInvalidArgument].
	// Errors: [ErrInvalidLockToken] or [ErrLockExpired] when the activity was
	// cancelled, already acknowledged, or its lease has ended.
	AckWorkItem(ctx context.Context, lockToken string, completion WorkItem) error

	// RenewWorkItemLock moves the activity's lease to now + extendFor. The permanent error [ErrLockLost]
	// tells a worker that it has lost the activity, for example because the activity was cancelled.
	RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error

	// AbandonWorkItem returns an activity to the queue, visible after Delay.
	// Error: [ErrInvalidLockToken].
	AbandonWorkItem(ctx context.Context, params AbandonParams) error

	// RenewSessionLock extends all live, non-idle sessions of the given owners
	// and returns how many.
	RenewSessionLock(ctx context.Context, params RenewSessionParams) (int, error)

	// CleanupOrphanedSessions deletes expired sessions without queued activities and returns how many.
	// idleTimeout has no effect; the contract's signature contains it.
	CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error)

	// GetCustomStatus returns the instance's custom status when its version is
	// greater than lastSeenVersion, else nil.
	GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*CustomStatus, error)

	// GetKVValue returns the current value of a key, nil when there is none.
	// It sees the changes of the running execution.
	GetKVValue(ctx context.Context, instance, key string) (*string, error)

	// GetKVAllValues returns all current keys, empty for an unknown instance.
	// It sees the changes of the running execution.
	GetKVAllValues(ctx context.Context, instance string) (map[string]string, error)

	// GetInstanceStats returns sizes of an instance, nil when it does not exist.
	// A first event that cannot be decoded is [ErrCorrupt].
	GetInstanceStats(ctx context.Context, instance string) (*InstanceStats, error)
}

// FetchOrchestrationParams are the arguments of [Provider.FetchOrchestrationItem].
type FetchOrchestrationParams struct {
	// LockTimeout is the length of the instance lease; it must be positive.
	LockTimeout time.Duration
	// PollTimeout is how long the call may wait for work; 0 does not wait. A store may ignore it and answer at once.
	// A store that waits returns within PollTimeout plus 200 ms.
	PollTimeout time.Duration
	// Filter restricts the executions by their pinned version; nil is no
	// restriction.
	Filter *CapabilityFilter
	// Known restricts the instances to those whose next turn runs one of these orchestrations or runs no code,
	// because the instance has ended or has no start. nil takes all but what another fetch has named within
	// [LiveFor]. Only a [Store] uses it.
	Known *KnownCode
	// UnknownFor, if positive, makes the call take only instances that have been ready for that long and whose
	// orchestration no fetch has named for that long, so that the runtime can fail them. The code in Known is then
	// recorded as known and selects nothing. Such a call never waits. Use it only with a [Store].
	UnknownFor time.Duration
	// Cancelled, with UnknownFor, makes the call take only instances with a visible request to cancel them, and these
	// as soon as their orchestration has been unknown for that long, however short they have been ready.
	Cancelled bool
	// Held, if not nil, returns how much of an execution's history the caller has: the id of the last event, 0 for
	// none. The store may then leave out the events before that one; [OrchestrationItem].HistoryFrom says whether it
	// did. A store calls it at most once for each item it fetches. It must neither block nor call the store.
	Held func(instance string, executionID uint64) (lastEventID uint64)
	// Peek leaves the instance's queue messages in the store until a turn reads them, so that any number of them may
	// wait. The item then comes with the first of them only, see [OrchestrationItem].Peeked. A store that cannot keep
	// them ignores Peek.
	Peek bool
	// SetAside, if not nil, is called for each message that the store sets aside because it cannot be decoded, once
	// the letter is stored. Without it, the store tells its own log. It must neither block nor call the store, and may
	// be called by another goroutine and after the call has returned. A store that keeps no dead letters ignores it.
	SetAside func(DeadLetter)
}

// AckOrchestrationParams are the effects of one turn.
type AckOrchestrationParams struct {
	// LockToken comes from the fetch.
	LockToken string
	// ExecutionID is the execution the delta belongs to: the fetched one, or the
	// next when a ContinueAsNewItem started a new execution.
	ExecutionID uint64
	// HistoryDelta holds the events to append; it may be empty.
	HistoryDelta []Event
	// WorkerItems are the activities to queue, all ActivityExecuteItem.
	WorkerItems []WorkItem
	// OrchestratorItems are the messages to queue for instances.
	OrchestratorItems []WorkItem
	// Metadata holds facts that the runtime has derived from HistoryDelta. The store does not derive them itself.
	Metadata ExecutionMetadata
	// CancelledActivities are deleted from the worker queue, even if they are locked, after WorkerItems have been
	// added. Unknown ones are ignored.
	CancelledActivities []ActivityRef
	// DropTimers is for a turn that ends the instance. It deletes the instance's timers, which are its messages that
	// are not visible yet, except starts and queue messages. Messages that the turn itself sends stay. A store may
	// ignore DropTimers, because timers of an ended instance are dropped when they become due.
	DropTimers bool
	// Queues says what the turn did with the queue messages of a peeked item. nil deletes those that the item had, as
	// all of an item that is not peeked, and lets the instance await all of its queues.
	Queues *QueueReads
}

// QueueReads is what a turn did with queue messages.
type QueueReads struct {
	// Read counts the messages that the turn has read, by queue. They are the oldest of their queue, and are deleted.
	// Those that were not read wait in the store, each in its place, and the attempt of this turn is not counted.
	Read map[string]int
	// Awaited are the queues from which the instance waits for a message. It is fetchable when one of them has a
	// message. A message in another queue makes it fetchable only if the queue was empty, and then once.
	Awaited []string
}

// MaxPeeked is about how many messages of a queue a peeked item has at most.
const MaxPeeked = 100

// AbandonParams are the arguments of the two abandon calls.
type AbandonParams struct {
	// LockToken comes from the fetch.
	LockToken string
	// Delay hides the work from fetches for that long. 0 is no delay; a negative delay is invalid.
	Delay time.Duration
	// IgnoreAttempt uncounts the attempt of the fetch; the count never goes below 0.
	IgnoreAttempt bool
	// Misfit says why the registered code does not fit the history. It applies to turns only. A [Store] keeps it with
	// the messages. Empty leaves an earlier text unchanged.
	Misfit string
}

// FetchWorkParams are the arguments of [Provider.FetchWorkItem].
type FetchWorkParams struct {
	// LockTimeout is the length of the activity lease; it must be positive.
	LockTimeout time.Duration
	// PollTimeout is as in FetchOrchestrationParams.
	PollTimeout time.Duration
	// Session lets the worker take activities of sessions; nil means only
	// activities without one.
	Session *SessionFetchConfig
	// Tags selects activities by tag; the zero value takes untagged ones.
	Tags TagFilter
	// Known restricts the activities to these; nil takes all but what another fetch has named within [LiveFor]. Only
	// a [Store] uses it.
	Known *KnownCode
	// UnknownFor is as in FetchOrchestrationParams. It applies to activities with any tag, and in sessions of any
	// owner: only the name counts. Tags say what the other fetches of the caller take.
	UnknownFor time.Duration
	// SetAside is as in FetchOrchestrationParams.
	SetAside func(DeadLetter)
}

// SessionFetchConfig identifies who claims sessions.
type SessionFetchConfig struct {
	// OwnerID names the owner: a node, or one worker slot.
	OwnerID string
	// LockTimeout is the length of the session lease; it must be positive.
	LockTimeout time.Duration
}

// RenewSessionParams are the arguments of [Provider.RenewSessionLock].
type RenewSessionParams struct {
	// OwnerIDs are the owners whose sessions are renewed; none renews nothing.
	OwnerIDs []string
	// ExtendFor is the new lease's length from now.
	ExtendFor time.Duration
	// IdleTimeout excludes sessions that have had no activity for that long; 0 excludes all.
	IdleTimeout time.Duration
}

// FetchedOrchestration is a locked instance.
type FetchedOrchestration struct {
	Item OrchestrationItem
	// LockToken is the sole credential for ack, abandon and renew.
	LockToken string
	// AttemptCount is the largest count over the batch; 1 on first delivery.
	AttemptCount uint32
}

// OrchestrationItem is what a turn works on.
type OrchestrationItem struct {
	Instance          string
	OrchestrationName string
	// Version is the orchestration's version, [UnknownVersion] when not known.
	Version string
	// ExecutionID is the current execution, never the one about to begin.
	ExecutionID uint64
	// History holds that execution's events in event id order, from HistoryFrom on.
	History []Event
	// HistoryFrom is the id of the first event in History if the store left out earlier events because the caller has
	// them. History contains that event so that the caller can compare it: an instance that was deleted and started
	// again has other events under the same ids. 0 means that History is complete.
	HistoryFrom uint64
	// Messages holds the batch in queue order.
	Messages []WorkItem
	// Peeked answers [FetchOrchestrationParams].Peek. Of each queue, Messages then holds the oldest messages, without
	// a gap: about [MaxPeeked] of a queue that the instance awaits, and one of some other queues. They stay in the
	// store unless AckOrchestrationParams.Queues says that they were read.
	Peeked bool
	// HistoryError is set when an event could not be decoded. History and
	// KVSnapshot are then empty. It matches [ErrCorrupt].
	HistoryError error
	// KVSnapshot is the key-value map as of the start of the current execution;
	// it never holds that execution's own changes.
	KVSnapshot map[string]KVEntry
}

// UnknownVersion stands for an orchestration version that was not recorded.
const UnknownVersion = "unknown"

// KVEntry is a stored value with the time it was last set.
type KVEntry struct {
	Value           string
	LastUpdatedAtMs uint64
}

// FetchedWorkItem is a locked activity.
type FetchedWorkItem struct {
	Item WorkItem
	// LockToken is the sole credential for ack, abandon and renew.
	LockToken string
	// AttemptCount is 1 on first delivery.
	AttemptCount uint32
	// Waited is how long ago the activity was queued, by the store's clock; 0 if the store does not report it.
	Waited time.Duration
	// Heartbeat holds the details that [Store].KeepHeartbeat keeps with the activity; empty for none.
	Heartbeat string
}

// ExecutionMetadata holds what a turn changes on the instance and execution
// rows. nil leaves a field unchanged.
type ExecutionMetadata struct {
	// Status is the execution's new status.
	Status *Status
	// Output is stored with Status: the result, the failure's display message,
	// or the next execution's input.
	Output *string
	// OrchestrationName and OrchestrationVersion create the instance when both
	// are set.
	OrchestrationName    *string
	OrchestrationVersion *string
	// ParentInstanceID is stored when the instance is created.
	ParentInstanceID *string
	// PinnedDuroxideVersion is the framework version that the execution is bound to.
	PinnedDuroxideVersion *Version
}

// Status is the state of an execution.
type Status string

// The states of an execution. An instance's status is that of its current
// execution; between a continue-as-new turn and the next execution's first turn
// it shows StatusContinuedAsNew.
const (
	StatusRunning        Status = "Running"
	StatusCompleted      Status = "Completed"
	StatusFailed         Status = "Failed"
	StatusContinuedAsNew Status = "ContinuedAsNew"
	// StatusUnknown is reported for an instance without an execution row.
	StatusUnknown Status = "Unknown"
)

// Terminal reports whether the status ends an execution.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusContinuedAsNew
}

// Ended reports whether the status ends the instance.
func (s Status) Ended() bool { return s == StatusCompleted || s == StatusFailed }

// ActivityRef identifies a scheduled activity.
type ActivityRef struct {
	Instance    string
	ExecutionID uint64
	// ActivityID is the event id of its ActivityScheduled event.
	ActivityID uint64
}

// CustomStatus is an instance's user-set status.
type CustomStatus struct {
	// Status is nil after a reset.
	Status *string
	// Version grows by one with each turn that sets or resets the status.
	Version uint64
}

// InstanceStats are the sizes of an instance. Bytes are UTF-8 bytes. The contract prescribes the names in
// JSON.
type InstanceStats struct {
	// HistoryEventCount and HistorySizeBytes count the current execution's
	// events and their stored JSON.
	HistoryEventCount uint64 `json:"history_event_count"`
	HistorySizeBytes  uint64 `json:"history_size_bytes"`
	// QueuePendingCount is the number of messages carried into the execution. It
	// does not shrink as they are consumed.
	QueuePendingCount uint64 `json:"queue_pending_count"`
	// KVUserKeyCount and KVTotalValueBytes measure the current key-value map.
	KVUserKeyCount    uint64 `json:"kv_user_key_count"`
	KVTotalValueBytes uint64 `json:"kv_total_value_bytes"`
}
