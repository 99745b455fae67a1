package columns

import (
	"github.com/duroxide/duroxide-go/provider"
)

// OpReadProgress labels errors about how far an instance is.
const OpReadProgress = "read_progress"

// Progress is how far an instance is, as the columns of the store say.
type Progress struct {
	// Name and Status are the instance's, Start is the item of a start that waits, see [NewUse].
	Name, Status, Start *string
	// CustomStatus is not read while the instance runs.
	CustomStatus        *string
	CustomStatusVersion *int64
	// Execution is the current one, and Events are its first and its last, the same if there
	// is one. There are none while the instance runs.
	Execution *int64
	Events    []Event
}

// NewProgress is what a client sees of it.
func NewProgress(instance string, c Progress) provider.Progress {
	p := provider.Progress{Use: NewUse(c.Name, c.Status, c.Start)}
	if c.CustomStatusVersion != nil {
		p.CustomStatusVersion = uint64(*c.CustomStatusVersion)
	}
	if !p.Ended() {
		return p
	}
	p.CustomStatus = c.CustomStatus
	if len(c.Events) == 2 && c.Events[0].ID == c.Events[1].ID {
		c.Events = c.Events[:1]
	}
	var err error
	if p.History, err = DecodeEvents(instance, uint64(*c.Execution), c.Events); err != nil {
		p.Err = CorruptEvent(OpReadProgress, err)
	}
	return p
}
