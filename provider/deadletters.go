package provider

import (
	"context"
	"time"
)

// DeadLetterAdmin is an optional interface of a store's [Admin] that gives access to what the store has set aside
// because it could not be decoded (§6.23): messages and activities that a newer release wrote, or that somebody has
// damaged.
type DeadLetterAdmin interface {
	// CountDeadLetters counts them.
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
}

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
