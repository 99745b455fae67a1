// Package goroutine tells goroutines apart and finds out where one of them is.
//
// The runtime gives an orchestration's context to one function on one goroutine. It
// has to notice when another goroutine uses that context, at every call and so at next
// to no cost, and it has to say at which line of the user's code a function blocks.
// Go answers neither question directly.
//
// Files: goroutine.go (which goroutine is this), current_*.go and .s (the answer for
// each processor), trace.go (where other goroutines are), place.go (the line in the
// user's code).
package goroutine

// ID identifies a goroutine among those that are alive. The id of one that has ended
// may be given to another.
type ID uintptr

// Current returns the calling goroutine's id, never 0.
func Current() ID { return current() }
