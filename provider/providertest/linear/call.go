package linear

import (
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Call is a call of a store and what came of it.
type Call struct {
	Client string
	// Begin and End are counted over all clients. End is 0 if nobody knows the answer: the call may still have its
	// effect, or never have it.
	Begin, End uint64
	// From and Until are what the store's clock showed before and after the call, in milliseconds.
	From, Until int64

	op operation
	// err is the answer of a call that failed.
	err error
}

// operation is a call's arguments and answer.
type operation interface {
	// apply makes the call on a state of the model. It returns why the answer could not have been the store's, "" if it
	// could.
	apply(s *State, c *Call) string
	// objects are the instances and sessions that the call is about. An empty answer is about all.
	objects() []string
	// effects are the parts of the store that the call may have changed.
	effects(c *Call) Parts
	// describe tells the call and the answer of a call that did not fail.
	describe() (call, answer string)
}

// lost reports whether the call may or may not have had its effect.
func (c *Call) lost() bool { return c.End == 0 }

// is reports whether the call failed with one of the errors.
func (c *Call) is(targets ...error) bool {
	for _, target := range targets {
		if errors.Is(c.err, target) {
			return true
		}
	}
	return false
}

// now is the time that the call has read.
func (c *Call) now() span { return span{c.From, c.Until} }

// after is a time so long after the call's.
func (c *Call) after(d time.Duration) span {
	ms := int64((d + time.Millisecond - 1) / time.Millisecond)
	return span{c.From + ms, c.Until + ms}
}

// span is a time of which no more is known than that it is not before min and not after max.
type span struct{ min, max int64 }

// surelyBy and maybeBy report whether the time has come.
func (t span) surelyBy(now span) bool { return t.max <= now.min }
func (t span) maybeBy(now span) bool  { return t.min <= now.max }

func (t span) plus(d time.Duration) span {
	return span{t.min + d.Milliseconds(), t.max + d.Milliseconds()}
}

// answer tells what came of a call.
func (c *Call) answer() string {
	_, answer := c.op.describe()
	switch {
	case c.err == nil && c.lost():
		return "(still running)"
	case c.err == nil:
		return answer
	}
	for _, known := range []error{
		provider.ErrInvalidLockToken, provider.ErrLockExpired, provider.ErrDuplicateEvent, provider.ErrNotFound,
		provider.ErrStillRunning, provider.ErrSubOrchestration,
	} {
		if errors.Is(c.err, known) {
			return "error: " + known.Error()
		}
	}
	return "error: " + c.err.Error()
}
