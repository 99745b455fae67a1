package provider

// ChangeNotifier is an optional interface of a store that knows when a call of
// this process has changed an instance, so that a client in the same process can
// wait without polling. It adds speed and promises nothing about changes that
// other processes make, so a caller still polls, only less often.
type ChangeNotifier interface {
	// InstanceChanged returns a channel that is closed when a turn of the instance
	// was committed, or the instance deleted, after the call. stop releases the
	// channel and must be called, once or more.
	InstanceChanged(instance string) (changed <-chan struct{}, stop func())
}

// EndNotifier is an optional interface of a store that is a [ChangeNotifier] and tells
// ends from other changes, so that who waits for the end is not woken by each turn.
type EndNotifier interface {
	// InstanceEnded returns a channel that is closed when a call of this process has
	// completed or failed the instance, or deleted it, after the call. stop releases the
	// channel and must be called, once or more.
	InstanceEnded(instance string) (ended <-chan struct{}, stop func())
}

// EndTeller is an optional interface of a store that is an [EndNotifier] and tells with the end
// what the instance has ended with, so that who waits for it need not ask.
type EndTeller interface {
	// InstanceEnd returns a channel as InstanceEnded does. When it is closed, end returns how
	// far the call's commit has left the instance, as [ProgressReader] tells; nil if that is not known.
	InstanceEnd(instance string) (ended <-chan struct{}, end func() *Progress, stop func())
}
