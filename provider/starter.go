package provider

// IDUse describes the instance, or the waiting start, that uses an instance id.
type IDUse struct {
	// Name is the orchestration's name.
	Name string
	// Status is the status of the current execution. It is empty for a start that waits for its first turn.
	Status Status
}

// Begun reports whether the instance has had its first turn.
func (u IDUse) Begun() bool { return u.Status != "" }

// OrphanMessages counts messages for instances that never began.
type OrphanMessages struct {
	// Instances is the number of different instance ids.
	Instances uint64
	Messages  uint64
}
