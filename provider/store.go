package provider

import (
	"context"
	"time"
)

// Store is all that the runtime uses of a store: the contract of [Provider] and [Admin], and beside it calls that do
// more in one step or tell more. The stores of this module are Stores. Package adapt makes one of any other Provider,
// and worker.New and client.New use it, so that both take a Provider.
//
// The rules of [Provider] hold for all methods: one atomic transaction for each call unless its text says otherwise,
// [*Error] values, and safe for concurrent use.
type Store interface {
	Provider
	Admin

	// Claim locks work that is ready, several activities in one call. If there is none, it may wait for
	// [ClaimParams].Wait. Each lock is atomic by itself.
	//
	// Errors: those of the two fetches. Work that was locked before an error is given back, or stays locked until its
	// lease ends.
	Claim(ctx context.Context, params ClaimParams) (Claimed, error)

	// AckTurnAndClaim is [Provider].AckOrchestrationItem followed by Claim, each atomic by itself. If the taking fails,
	// the commit and what was taken before stay, and [Claimed].Err says why. Errors: those of the acknowledgement;
	// nothing is taken then.
	AckTurnAndClaim(ctx context.Context, ack AckOrchestrationParams, params ClaimParams) (Claimed, error)

	// AckWorkAndClaim is [Provider].AckWorkItem for each of acks, in order, followed by Claim, each atomic by itself.
	// outcomes has the outcome of each acknowledgement, in the same order: nil or the error of AckWorkItem. A failing
	// acknowledgement prevents neither the others nor the taking. If the taking fails, what was committed and taken
	// before stays, and [Claimed].Err says why.
	//
	// Errors: [ErrInvalidArgument] for params, before anything is committed; errors of the store, after which none,
	// some or all acknowledgements were committed. Repeating an acknowledgement that was committed returns
	// [ErrInvalidLockToken]. After an error nothing was taken.
	AckWorkAndClaim(ctx context.Context, acks []WorkAck, params ClaimParams) (outcomes []error, taken Claimed, err error)

	// WorkReady returns two channels that receive a notice when a Claim may find a turn, or an activity, that an
	// earlier Claim did not find: because of a call of this process, because a delay or a lease has ended, or because
	// it is time to look for work of other processes. Each channel holds one notice, so a notice between a Claim and
	// the receive is not missed. A notice does not guarantee that there is work. stop ends the notices and must be
	// called, once or more.
	WorkReady() (turns, activities <-chan struct{}, stop func())

	// RenewLocks renews leases of turns and activities, each as [Provider.RenewOrchestrationItemLock] and
	// [Provider.RenewWorkItemLock] do, and returns the outcome of each in the order of the argument: nil,
	// [ErrInvalidLockToken], [ErrLockExpired], or a retryable error if a lease could not be renewed now. A failure of
	// one lease does not prevent the renewal of the others.
	//
	// Errors: [ErrInvalidArgument] if an ExtendFor is not positive; errors of the store, after which none, some or
	// all leases were renewed. Renewing again does no harm.
	RenewLocks(ctx context.Context, locks []LockRenewal) ([]error, error)

	// LostWorkItems returns the lock tokens that hold no activity any more, in the order of the argument: the
	// activity was cancelled, acknowledged or abandoned, its instance was deleted, or another worker has it. With it a
	// worker learns of cancellations by other processes sooner than by renewing each lease. A token whose lease has
	// ended is not lost until another worker takes the activity. A text that is not a token counts as lost. It only
	// reads.
	LostWorkItems(ctx context.Context, lockTokens []string) ([]string, error)

	// KeepHeartbeat does the same as [Provider.RenewWorkItemLock], and in the same transaction stores details with
	// the activity, in place of earlier ones. Every later fetch of the activity returns them as
	// [FetchedWorkItem].Heartbeat, until the activity is acknowledged, cancelled or deleted. The details are an opaque
	// text of 1 to [MaxHeartbeat] bytes of UTF-8 without NUL.
	//
	// Errors: those of RenewWorkItemLock, and [ErrInvalidArgument] for invalid details.
	KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error

	// UnknownCode lists code that ready work waits for and that has been unknown for at least unknownFor.
	// Orchestrations come before activities, both in order of their names.
	//
	// Code counts as unknown if no fetch within the given time has named it. An activity counts as unknown, too, if no
	// fetch that has named it takes activities with its tag. A store remembers known code for a week; its information
	// may be up to 20 s old. A negative time is [ErrInvalidArgument].
	UnknownCode(ctx context.Context, unknownFor time.Duration) ([]UnknownCode, error)

	// WaitingForCode lists the instances that wait for the code that UnknownCode lists, those that have waited longest
	// first. An instance may be listed more than once. instance restricts the list to one; "" does not.
	WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) ([]WaitingInstance, error)

	// KnownVersions lists the versions of an orchestration that fetches have named within the last since, in
	// ascending order of the text.
	KnownVersions(ctx context.Context, name string, since time.Duration) ([]string, error)

	// StartInstance enqueues a start unless the id is used: by an instance, or by a start that waits for its first
	// turn. It returns what uses the id, or nil if the start was enqueued. Check and enqueue are one atomic step: of
	// several starts at the same time, exactly one is enqueued.
	//
	// Error: [ErrInvalidArgument] for an item without instance.
	StartInstance(ctx context.Context, start StartOrchestrationItem) (*IDUse, error)

	// StartInstanceWith is StartInstance followed by [Provider.EnqueueForOrchestrator] for each of the messages, which
	// are for the same instance, in one atomic step. If the id is used, the messages are sent only if toUser is true.
	StartInstanceWith(ctx context.Context, start StartOrchestrationItem, messages []WorkItem, toUser bool) (*IDUse, error)

	// FindInstance returns what uses an id, nil if nothing does.
	FindInstance(ctx context.Context, instance string) (*IDUse, error)

	// ReadProgress returns how far each instance is, in the order of the argument, which may name one twice. A
	// problem with one of them, such as an event that cannot be decoded, is in its [Progress].Err. It only reads.
	ReadProgress(ctx context.Context, instances []string) ([]Progress, error)

	// InstanceChanged returns a channel that is closed when a call of this process has committed a turn of the
	// instance, or has deleted the instance, after the call. A nil channel means that the store does not tell. It tells
	// of no changes by other processes, so callers still have to poll. stop releases the channel and must be called,
	// once or more.
	InstanceChanged(instance string) (changed <-chan struct{}, stop func())

	// InstanceEnd returns a channel that is closed when a call of this process has completed or failed the instance,
	// or deleted it, after the call. A store may also close the channel when it has seen that another process has ended
	// the instance. A nil channel means that the store does not tell. When the channel is closed, end returns the
	// progress of the instance, as ReadProgress does; nil if it is not known. stop releases the channel and must be
	// called, once or more.
	InstanceEnd(instance string) (ended <-chan struct{}, end func() *Progress, stop func())

	// ListInstancePage lists a page of instances, for retention, exports and dashboards. All pages cost about the
	// same. Deletions between two pages do not affect the next page. Error: [ErrInvalidArgument] for a
	// [PageQuery].After that is not the Next of a page of this store.
	ListInstancePage(ctx context.Context, query PageQuery) (InstancePage, error)

	// ListHeldInstances lists the instances that are held because the registered code does not fit their histories or
	// cannot read them, those held longest first. A hold begins with an abandon call that sets
	// [AbandonParams].Misfit. It ends when the instance's messages are consumed: by a turn that succeeds, by the end
	// of the instance or by its deletion.
	ListHeldInstances(ctx context.Context) ([]HeldInstance, error)

	// GetHeldInstance returns why an instance is held; nil if it is not held.
	GetHeldInstance(ctx context.Context, instance string) (*HeldInstance, error)

	// RetryHeldInstance makes messages that the hold has hidden visible at once, and reports whether the instance is
	// held. Timers stay hidden.
	RetryHeldInstance(ctx context.Context, instance string) (held bool, err error)

	// CountDeadLetters counts what the store has set aside because it could not be decoded: messages and activities
	// that a newer release wrote, or that somebody has damaged.
	CountDeadLetters(ctx context.Context) (uint64, error)

	// ListDeadLetters lists those of a query, those set aside first first.
	ListDeadLetters(ctx context.Context, query DeadLetterQuery) ([]DeadLetter, error)

	// GetDeadLetter returns one with its text; nil if there is none of that id.
	GetDeadLetter(ctx context.Context, id uint64) (*DeadLetter, error)

	// RequeueDeadLetter decodes a letter, puts it into its queue as if it were sent now, and deletes the letter, in
	// one transaction. It reports false if there is none of that id. Error: [ErrCorrupt] for one that this release
	// cannot decode either, which stays as it is.
	RequeueDeadLetter(ctx context.Context, id uint64) (found bool, err error)

	// DeleteDeadLetter deletes one, and reports whether there was one of that id.
	DeleteDeadLetter(ctx context.Context, id uint64) (found bool, err error)

	// CountHiddenMessages counts the messages in [QueueDepths].OrchestratorQueue that are not visible yet: timers, and
	// messages that were given back with a delay.
	CountHiddenMessages(ctx context.Context) (uint64, error)

	// CountOrphanMessages counts the messages for instances that never began and that have been visible for at least
	// olderThan; 0 counts all that are visible. There is no instance, no history and no waiting start. No fetch
	// returns such messages, so they stay until they are deleted or their instance is started. Only queue messages
	// ([QueueMessageItem]) can be gone before, because fetches drop them.
	CountOrphanMessages(ctx context.Context, olderThan time.Duration) (OrphanMessages, error)

	// DeleteOrphanMessages deletes what CountOrphanMessages counts, one instance id at a time. After an error the
	// result counts what was deleted before it.
	DeleteOrphanMessages(ctx context.Context, olderThan time.Duration) (OrphanMessages, error)
}
