package provider

import "time"

// DeadLetterQuery selects dead letters.
type DeadLetterQuery struct {
	// InstanceID selects the letters of one instance; empty selects all.
	InstanceID string
	// After selects letters with a greater id; 0 selects all.
	After uint64
	// Limit is the greatest length of the list. 0, and any value above [DefaultBulkLimit], means DefaultBulkLimit.
	Limit uint32
}

// Rows returns how many letters the store lists.
func (q DeadLetterQuery) Rows() int64 { return PageQuery{Limit: q.Limit}.Rows() }

// DeadLetter is a message or an activity that a store has set aside.
type DeadLetter struct {
	// ID orders the letters of a store; 0 in the call of SetAside.
	ID         uint64
	InstanceID string
	// Activity is true for an activity, and false for a message to an instance.
	Activity bool
	// Kind is the letter's name in the contract, such as "ExternalRaised", or a name that this release does not
	// know; empty if the text has none.
	Kind string
	// Reason says why the letter could not be decoded. It quotes no payload.
	Reason string
	// SetAsideAt is by the store's clock.
	SetAsideAt time.Time
	// WorkItem is the text as it was stored, payloads included. Only GetDeadLetter returns it.
	WorkItem string
}
