package provider

import (
	"context"
	"time"
)

// Taker is an optional interface of a store that locks the next work in the call that
// commits other work, locks several activities in one call, and tells when there may be
// something to lock (§5.23). It saves calls and promises nothing about the work itself that
// [Provider] does not.
//
// Each part of a combined call is atomic by itself: a turn's commit is one, each activity's
// end is one, and so is each lock. When a turn's commit fails, nothing is taken. When the
// taking fails, what was committed and taken before stays, and [Taken].Err says why.
type Taker interface {
	// Take locks what is ready now. With [TakeParams].Wait it may wait if there is nothing.
	//
	// Errors: those of the two fetches. What was locked before an error is given back
	// or lies locked until its lease ends.
	Take(ctx context.Context, params TakeParams) (Taken, error)

	// AckTurnAndTake is [Provider.AckOrchestrationItem], and then Take. Errors: those of
	// the acknowledgement, after which nothing was taken.
	AckTurnAndTake(ctx context.Context, ack AckOrchestrationParams, params TakeParams) (Taken, error)

	// AckWorkAndTake is [Provider.AckWorkItem] for each of some activities, in order, and then
	// Take. It returns the outcome of each acknowledgement, in the order of the argument: nil
	// or that method's error. One that fails keeps no other from being committed, and nothing
	// from being taken.
	//
	// Errors: [ErrInvalidArgument] for params, before anything was committed, and trouble with
	// the store, after which none, some or all were: who repeats an acknowledgement that was
	// committed gets [ErrInvalidLockToken]. Nothing was taken.
	AckWorkAndTake(ctx context.Context, acks []WorkAck, params TakeParams) (outcomes []error, taken Taken, err error)

	// WorkReady returns two channels that receive when a Take may find a turn, or an
	// activity, which an earlier one did not find: because of what this process has done,
	// because time has passed, or because it is time to look for what other processes
	// have done. A channel holds one notice, so what comes between a Take and the receive
	// is not missed. A notice is no promise. stop ends the notices and must be called, once
	// or more. A decorator of a store that is no Taker returns nil channels, and then is
	// none either.
	WorkReady() (turns, activities <-chan struct{}, stop func())
}

// WorkAck ends one activity by a call of a [Taker]: the arguments of [Provider.AckWorkItem].
type WorkAck struct {
	LockToken string
	// Completion is nil for none.
	Completion WorkItem
}

// TakeParams say what a call of a [Taker] takes. The zero value takes nothing.
type TakeParams struct {
	// Turn takes at most one turn, as [Provider.FetchOrchestrationItem] would; nil takes
	// none. Its PollTimeout is not used.
	Turn *FetchOrchestrationParams
	// Work takes at most one activity for each entry, as [Provider.FetchWorkItem] would.
	// An entry that finds nothing leaves its place to the next. PollTimeout is not used.
	Work []FetchWorkParams
	// Wait is how long a Take that finds nothing may wait for something to become ready, 0
	// for not at all. It may return sooner, and a store that cannot wait does so at once. Only
	// Take uses it.
	Wait time.Duration
	// Early, if set, may be called once by AckWorkAndTake, in the goroutine of its caller, with
	// the turn that it has taken, before the acknowledgements are committed: Taken.Turn is nil
	// then. If the call fails afterwards, the turn's token may be unknown.
	Early func(*FetchedOrchestration)
}

// Taken is what a call of a [Taker] has locked. Turns and activities are as the fetches
// return them.
type Taken struct {
	// Turn is nil when none was ready.
	Turn *FetchedOrchestration
	// Work holds the activities, each with the entry of TakeParams.Work that it was taken
	// for.
	Work []TakenWork
	// Waited says that the call has found nothing at first and has waited (TakeParams.Wait).
	// If it has brought something, that was made ready a moment ago and locked in the same
	// transaction; there is notice of everything else that has become ready since.
	Waited bool
	// Err says why nothing, or no more, was taken by a call whose acknowledgement was
	// committed. It is a fetch's error.
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
	// RenewLocks renews leases of turns and activities, each as
	// [Provider.RenewOrchestrationItemLock] and [Provider.RenewWorkItemLock] do, and
	// returns the outcome of each in the order of the argument: nil, [ErrInvalidLockToken],
	// [ErrLockExpired], or a retryable error of one lease that could not be renewed now.
	// One that fails does not keep the others from being renewed.
	//
	// Error: [ErrInvalidArgument] when a time is not positive, and trouble with the store.
	// Then none, some or all were renewed; to renew again does no harm.
	RenewLocks(ctx context.Context, locks []LockRenewal) ([]error, error)
}

// LockRenewal is one lease of a [LockRenewer]'s call.
type LockRenewal struct {
	LockToken string
	// Turn tells the lease of a turn from that of an activity.
	Turn bool
	// ExtendFor is the lease's length from now.
	ExtendFor time.Duration
}
