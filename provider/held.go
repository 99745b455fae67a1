package provider

import "time"

// HeldInstance is an instance that is held. From a [Store], the fields describe the instance's oldest message that
// was given back with a misfit. A client also lists instances that wait for code, see [Store].WaitingForCode.
type HeldInstance struct {
	InstanceID string
	// Reason says what the history holds, what the code asks for, and at which line; or which event cannot be read; or
	// which code is missing.
	Reason string
	// Since is when the instance was first given back, or when the work became ready that waits for code. NextTry is
	// when it is offered again; it is in the past if a worker has the instance, or if no worker has fetched it yet,
	// and zero for an instance that goes on as soon as a worker has the code.
	Since, NextTry time.Time
}
