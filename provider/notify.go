package provider

// ChangeNotifier is an optional interface of a store that reports when a call of this process has changed an
// instance. A client in the same process then needs to poll less often. It reports no changes by other processes, so
// callers still have to poll.
type ChangeNotifier interface {
	// InstanceChanged returns a channel that is closed when a turn of the instance
	// was committed, or the instance deleted, after the call. stop releases the
	// channel and must be called, once or more.
	InstanceChanged(instance string) (changed <-chan struct{}, stop func())
}

// EndNotifier is an optional interface of a [ChangeNotifier] that distinguishes ends from other changes, so that a
// call that waits for the end is not woken by each turn.
type EndNotifier interface {
	// InstanceEnded returns a channel that is closed when a call of this process has
	// completed or failed the instance, or deleted it, after the call. stop releases the
	// channel and must be called, once or more.
	InstanceEnded(instance string) (ended <-chan struct{}, stop func())
}

// EndTeller is an optional interface of an [EndNotifier] that also reports the result with the end, so that the
// waiting call does not have to ask for it.
type EndTeller interface {
	// InstanceEnd returns a channel as InstanceEnded does. When the channel is closed, end returns the progress of
	// the instance, as a [ProgressReader] does; nil if it is not known.
	InstanceEnd(instance string) (ended <-chan struct{}, end func() *Progress, stop func())
}
