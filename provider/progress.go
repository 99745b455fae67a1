package provider

// Progress is how far an instance is.
type Progress struct {
	// Use describes what uses the id, nil if nothing does.
	Use *IDUse
	// StartsHidden says that Use tells of no start that waits for its first turn, as with a plain store.
	StartsHidden bool
	// CustomStatusVersion grows with each change of the custom status, from 0.
	CustomStatusVersion uint64
	// CustomStatus is the custom status of an instance that has ended, nil for none.
	CustomStatus *string
	// History holds the first and the last event of the latest execution, or all of its
	// events, if the instance has ended. Otherwise it is empty.
	History []Event
	// Err says why the other fields are not known. It matches [ErrCorrupt].
	Err error
}

// Ended reports whether the instance has completed or failed.
func (p Progress) Ended() bool { return p.Use != nil && p.Use.Status.Ended() }
