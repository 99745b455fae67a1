package replay

// Stuck is a function that waits for nothing that can come: a channel, a wait group or a block
// that no other block serves. Only a cancellation wakes it.
type Stuck struct{ At string }

// stuck looks only after a turn that has asked for nothing to wait for. Otherwise a long
// execution would be searched at each of its steps.
func (e *engine) stuck() *Stuck {
	if len(e.open) > 0 {
		return nil
	}
	for _, event := range e.events[e.persisted:] {
		if isSchedule(event.Kind) && !isStateChange(event.Kind) {
			return nil
		}
	}
	for _, h := range e.bound {
		if h.sub != nil && !h.resolved && !h.dropped {
			return nil
		}
	}
	trace, _ := stacks.of(e.coroutine)
	return &Stuck{At: trace.Place()}
}
