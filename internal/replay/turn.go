package replay

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// Func is an orchestration function on opaque texts. It reads and asks for
// everything through env, and must not block on anything else.
type Func func(env *Env, input string) (string, error)

// Turn is everything a turn depends on. The same Turn always gives the same
// Result, but for the times that NowMs returns.
type Turn struct {
	Instance    string
	ExecutionID uint64
	// Func is the handler of Started's orchestration.
	Func Func
	// History is the execution's recorded history. When it is empty the turn
	// begins the execution with Started.
	History []provider.Event
	// Resume, if not nil, is the function where an earlier turn left it, and History
	// comes from [Suspended.Extend]. The turn goes on from there, and what it was at the
	// start, KV and Started, is not looked at.
	Resume *Suspended
	// Keep asks for Result.Suspended.
	Keep bool
	// Started is event 1 of a new execution; unused when History is not empty.
	Started provider.OrchestrationStarted
	// Messages are the batch in order, without start and continue items.
	Messages []provider.WorkItem
	// Peeked means that the store keeps the queue messages of the batch that the function does
	// not read, see Result.Read. Otherwise all are recorded.
	Peeked bool
	// KV is the key-value map as of the execution's start.
	KV map[string]provider.KVEntry
	// FrameworkVersion is stamped on new events.
	FrameworkVersion string
	// NowMs returns the wall clock in milliseconds.
	NowMs func() uint64

	// ActivityRetry is the worker's policy for activities, nil when it has none.
	ActivityRetry *retry.Policy
	// Limits bound what an execution may become.
	Limits Limits
	// BlockedAfter is how long the function may keep control before it counts as
	// blocked, up to a sixteenth more; ten times that while it computes. 0 is for ever.
	BlockedAfter time.Duration
	// Slow, if not nil, is called at most once, by the goroutine of Run, when the
	// function has kept control for about an eighth of BlockedAfter.
	Slow func()
	// Places asks for the lines of the user's code that ask for something new, in Result.Places.
	// AllPlaces is for those that ask for what is recorded, too, as Misfit.At needs it.
	Places, AllPlaces bool
	// Silent makes the function count as replaying to the end of the turn.
	Silent bool
	// ended says that History is all of an execution but its end; see Check.
	ended bool
	// UsedLate, if not nil, is called when another goroutine than the function's uses
	// the Env too late for the turn to fail: after it is decided, or when it is given up
	// anyway. at is the line. It is called for the first such use; a turn that goes on by
	// Resume after it fails.
	UsedLate func(at string)
}

// Outcome says how a turn ended.
type Outcome int

// The outcomes of a turn (contract §7.5).
const (
	// Continue waits for more messages.
	Continue Outcome = iota
	Completed
	Failed
	ContinuedAsNew
	// Cancelled is a failure by request.
	Cancelled
)

// Ends reports whether the instance is over, not just the turn or the execution.
func (o Outcome) Ends() bool { return o == Completed || o == Failed || o == Cancelled }

// Result is a turn's effects, ready for AckOrchestrationItem.
type Result struct {
	Outcome             Outcome
	HistoryDelta        []provider.Event
	WorkerItems         []provider.WorkItem
	OrchestratorItems   []provider.WorkItem
	CancelledActivities []provider.ActivityRef
	Metadata            provider.ExecutionMetadata
	// Parent is set when the turn ended a sub-orchestration: the message for the
	// parent. When its ParentExecutionID is 0 the caller finds it out.
	Parent provider.WorkItem
	// Details is the failure of a Failed or Cancelled turn.
	Details provider.ErrorDetails
	// Misfit says where the code stopped fitting the history, nil when it fits. Then Details
	// say it, too.
	Misfit *Misfit
	// Places are the lines that asked for what this turn has recorded, by event.
	Places map[uint64]string
	// PanicStack is where the function panicked, nil when it did not.
	PanicStack []byte
	// Misused is where another goroutine used the context, which has failed the turn, or empty.
	Misused string
	// StampError says why the stamp of the execution's first event is no version, which
	// makes it run by the legacy policy; nil when it is one.
	StampError error
	// Read counts, by queue, the messages of a peeked batch that were read, and Awaited are the
	// queues of which the function waits for a message that it did not find.
	Read    map[string]int
	Awaited []string
	// Nearing are the limits of which this turn has reached half.
	Nearing []Nearing
	// Unheard are the names of events that arrived and that nobody waited for.
	Unheard []string
	// Stuck is set when the function waits and nothing that it has asked for can wake it. At is
	// where it waits, empty if that is not known.
	Stuck *Stuck
	// Unreadable are the messages that the function has read in this turn and passed over,
	// see [Env.Again].
	Unreadable []Unreadable
	// Blocked is set when the function blocks and was cancelled, which ends the execution all the same.
	Blocked *BlockedError
	// Lingering is set when a deferred call of the function blocks. The turn's effects
	// were decided before.
	Lingering *BlockedError
	// Suspended is the function where the turn left it, nil when it has ended or cannot
	// go on, or when nobody asked. It has seen effects that are not committed yet: who does
	// not commit them must stop it.
	Suspended *Suspended
}

// Unreadable is a message that the function could not read.
type Unreadable struct {
	// Source says what it came by, such as `event "approve"`.
	Source string
	Err    error
}

// ErrBlocked reports that ctx ended while the function was blocked on something
// other than its Env. The turn has no effects and can be repeated.
var ErrBlocked = errors.New("the orchestration function did not give control back: it may only wait through its context")

// Run runs one turn, and takes turn.Resume over. Its only error is ErrBlocked, as a
// *BlockedError unless ctx ended first; every failure of the function or of the history is
// a Result.
func Run(ctx context.Context, turn Turn) (*Result, error) {
	e := engineFor(turn)
	suspended := false
	defer func() { // also after a panic; the first call counts
		if !suspended {
			_ = e.coroutine.stop(ctx)
		}
	}()
	if err := e.run(ctx); err != nil {
		e.tellMisuse()
		return nil, err
	}
	result := e.result()
	if turn.Keep && e.suspendable() {
		suspended = true
		result.Suspended = e.suspend()
		return result, nil
	}
	result.Lingering = e.coroutine.stop(ctx)
	return result, nil
}
