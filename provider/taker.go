package provider

import (
	"context"
	"time"
)

// Taker is an optional interface of a store that locks the next work in the call that commits other work, locks
// several activities in one call, and reports when there may be work to lock (§5.23). It saves calls; the rules for
// the work itself are those of [Provider].
//
// Each part of a combined call is atomic by itself: the commit of a turn, the end of each activity, and each lock. If
// the commit of a turn fails, nothing is taken. If the taking fails, everything committed and taken before stays, and
// [Taken].Err says why.
type Taker interface {
	// Take locks work that is ready. If there is none, it may wait for [TakeParams].Wait.
	//
	// Errors: those of the two fetches. Work that was locked before an error is given back, or stays locked until its
	// lease ends.
	Take(ctx context.Context, params TakeParams) (Taken, error)

	// AckTurnAndTake is [Provider].AckOrchestrationItem followed by Take. Errors: those of the acknowledgement;
	// nothing is taken then.
	AckTurnAndTake(ctx context.Context, ack AckOrchestrationParams, params TakeParams) (Taken, error)

	// AckWorkAndTake is [Provider].AckWorkItem for each of acks, in order, followed by Take. outcomes has the outcome
	// of each acknowledgement, in the same order: nil or the error of AckWorkItem. A failing acknowledgement prevents
	// neither the others nor the taking.
	//
	// Errors: [ErrInvalidArgument] for params, before anything is committed; errors of the store, after which none,
	// some or all acknowledgements were committed. Repeating an acknowledgement that was committed returns
	// [ErrInvalidLockToken]. After an error nothing was taken.
	AckWorkAndTake(ctx context.Context, acks []WorkAck, params TakeParams) (outcomes []error, taken Taken, err error)

	// WorkReady returns two channels that receive a notice when a Take may find a turn, or an activity, that an
	// earlier Take did not find: because of a call of this process, because a delay or a lease has ended, or because
	// it is time to look for work of other processes. Each channel holds one notice, so a notice between a Take and
	// the receive is not missed. A notice does not guarantee that there is work. stop ends the notices and must be
	// called, once or more. nil channels mean that the store is not a Taker after all, as with a decorator of a store
	// that is none.
	WorkReady() (turns, activities <-chan struct{}, stop func())
}

// WorkAck ends one activity by a call of a [Taker]: the arguments of [Provider.AckWorkItem].
type WorkAck struct {
	LockToken string
	// Completion is nil for none.
	Completion WorkItem
}

// TakeParams say which work a call of a [Taker] takes. The zero value takes nothing.
type TakeParams struct {
	// Turn takes at most one turn, as [Provider].FetchOrchestrationItem does; nil takes none. Its PollTimeout has no
	// effect.
	Turn *FetchOrchestrationParams
	// Work takes at most one activity for each entry, as [Provider].FetchWorkItem does. An entry that finds nothing
	// takes nothing, and the next entry is tried. PollTimeout has no effect.
	Work []FetchWorkParams
	// Wait is how long a Take that finds nothing may wait for work; 0 does not wait. The call may return sooner, and
	// a store that cannot wait returns at once. Only Take uses it.
	Wait time.Duration
	// Early, if not nil, may be called once by AckWorkAndTake, in the caller's goroutine, with the turn that it has
	// taken, before the acknowledgements are committed. Taken.Turn is then nil. If the call fails afterwards, the
	// turn's token may be invalid.
	Early func(*FetchedOrchestration)
}

// Taken is the work that a call of a [Taker] has locked, as the fetches return it.
type Taken struct {
	// Turn is nil when none was ready.
	Turn *FetchedOrchestration
	// Work holds the activities, each with the entry of TakeParams.Work that it was taken
	// for.
	Work []TakenWork
	// Waited says that the call found nothing at first and waited (TakeParams.Wait). Work that it then took became
	// ready a moment ago and was locked in the same transaction. WorkReady reports everything else that has become
	// ready since.
	Waited bool
	// Err says why a call whose acknowledgement was committed took nothing, or no more. It is an error of a fetch.
	Err error
}

// TakenWork is one activity that a [Taker] has locked.
type TakenWork struct {
	*FetchedWorkItem
	// For is the index in TakeParams.Work.
	For int
}

// LockRenewer is an optional interface of a store that renews many leases in one call
// (§5.24).
type LockRenewer interface {
	// RenewLocks renews leases of turns and activities, each as [Provider.RenewOrchestrationItemLock] and
	// [Provider.RenewWorkItemLock] do, and returns the outcome of each in the order of the argument: nil,
	// [ErrInvalidLockToken], [ErrLockExpired], or a retryable error if a lease could not be renewed now. A failure of
	// one lease does not prevent the renewal of the others.
	//
	// Errors: [ErrInvalidArgument] if an ExtendFor is not positive; errors of the store, after which none, some or
	// all leases were renewed. Renewing again does no harm.
	RenewLocks(ctx context.Context, locks []LockRenewal) ([]error, error)
}

// LockRenewal is one lease of a [LockRenewer]'s call.
type LockRenewal struct {
	LockToken string
	// Turn is true for the lease of a turn, and false for the lease of an activity.
	Turn bool
	// ExtendFor is the length of the lease from now.
	ExtendFor time.Duration
}
