package provider

import (
	"time"
)

// WorkAck ends one activity in [Store].AckWorkAndClaim: the arguments of [Provider.AckWorkItem].
type WorkAck struct {
	LockToken string
	// Completion is nil for none.
	Completion WorkItem
}

// ClaimParams say which work a call takes. The zero value takes nothing.
type ClaimParams struct {
	// Turn takes at most one turn, as [Provider].FetchOrchestrationItem does; nil takes none. Its PollTimeout has no
	// effect.
	Turn *FetchOrchestrationParams
	// Work takes at most one activity for each entry, as [Provider].FetchWorkItem does. An entry that finds nothing
	// takes nothing, and the next entry is tried. PollTimeout has no effect.
	Work []FetchWorkParams
	// Wait is how long a Claim that finds nothing may wait for work; 0 does not wait. The call may return sooner, and
	// a store that cannot wait returns at once. Only Claim uses it.
	Wait time.Duration
}

// Claimed is the work that a call has locked, as the fetches return it.
type Claimed struct {
	// Turn is nil when none was ready.
	Turn *FetchedOrchestration
	// Work holds the activities, each with the entry of ClaimParams.Work that it was taken
	// for.
	Work []ClaimedWork
	// Waited says that the call found nothing and waited (ClaimParams.Wait). Then it may return nothing although there
	// is work: WorkReady reports what has become ready since the call looked.
	Waited bool
	// Err says why a call whose acknowledgement was committed took nothing, or no more. It is an error of a fetch.
	Err error
}

// ClaimedWork is one activity that a call has locked.
type ClaimedWork struct {
	*FetchedWorkItem
	// For is the index in ClaimParams.Work.
	For int
}

// LockRenewal is one lease of a [Store].RenewLocks call.
type LockRenewal struct {
	LockToken string
	// Turn is true for the lease of a turn, and false for the lease of an activity.
	Turn bool
	// ExtendFor is the length of the lease from now.
	ExtendFor time.Duration
}
