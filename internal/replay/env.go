package replay

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/internal/goroutine"
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// Env is the function's only window on the world. It may be used by the function
// alone: a use by another goroutine ends that goroutine and fails the turn.
type Env struct {
	engine    *engine
	coroutine *coroutine
	// emitted holds the actions not yet matched or recorded, oldest first.
	emitted []*Handle
	// asked is what the function has asked for so far, emitted or not.
	asked extent
	// exceeded is the limit that asked went beyond.
	exceeded string
	// replaying is true while the function repeats what an earlier turn did. It is
	// atomic for the sake of loggers, which may be used by any goroutine.
	replaying atomic.Bool
	status    *string
	kv        map[string]provider.KVEntry
	// dropped are the handles the function gave up, in that order.
	dropped []*Handle
	// branches are those that have not ended, in the order of their starts.
	branches []*Branch
	// patches are the answers of Patched.
	patches map[string]bool
	// halted means that nothing goes on.
	halted bool
	// cleanup is what AllowCleanup has allowed, and cancelled why the execution was cancelled,
	// nil before the function was told. cleanupEnd is the timer of both. The engine asks for cleanup
	// while a blocked function still has control.
	cleanup    atomic.Int64
	cancelled  *string
	cleanupEnd *Handle
}

// Info identifies an execution.
type Info struct {
	Instance    string
	ExecutionID uint64
	Name        string
	Version     string
	// ParentInstance is empty for a root.
	ParentInstance string
}

// Info returns the execution's identity.
func (v *Env) Info() Info {
	v.coroutine.mustOwn()
	started := v.engine.started
	info := Info{
		Instance: v.engine.turn.Instance, ExecutionID: v.engine.turn.ExecutionID,
		Name: started.Name, Version: started.Version,
	}
	if started.ParentInstance != nil {
		info.ParentInstance = *started.ParentInstance
	}
	return info
}

// Replaying reports whether the function repeats what an earlier turn did.
func (v *Env) Replaying() bool {
	v.coroutine.mustOwn()
	return v.replaying.Load()
}

// Silent is Replaying for any goroutine.
func (v *Env) Silent() bool { return v.replaying.Load() }

// ActivityRetry is the worker's policy for activities, nil when it has none.
func (v *Env) ActivityRetry() *retry.Policy {
	v.coroutine.mustOwn()
	return v.engine.turn.ActivityRetry
}

// NowMs is the engine's wall clock. It differs between replays, so its value
// may only go into actions whose recorded form wins over it.
func (v *Env) NowMs() uint64 {
	v.coroutine.mustOwn()
	return v.engine.turn.NowMs()
}

// Emit asks for something and returns the place of its result. It does not
// block. A child's id that is reserved fails the call at once, and nothing is
// recorded of it; that of a detached start panics, and so does a name that is not valid UTF-8.
func (v *Env) Emit(action Action) *Handle {
	return v.emit(action, v.coroutine.branch.Load())
}

// Again asks once more for what the handle asked for, on behalf of the same branch, whoever
// calls, as what came cannot be read.
func (v *Env) Again(h *Handle, why Unreadable) *Handle {
	v.coroutine.mustRun() // the turn may be decided without the function, see cancelBlocked
	if !v.replaying.Load() {
		v.engine.res.Unreadable = append(v.engine.res.Unreadable, why)
	}
	return v.emit(h.action, h.branch)
}

// emit is Emit for a branch, which is nil for the function itself.
func (v *Env) emit(action Action, asker *Branch) *Handle {
	v.coroutine.mustRun()
	action = wellFormed(action)
	h := &Handle{coroutine: v.coroutine, action: action, instance: v.engine.turn.Instance, branch: asker}
	if turn := &v.engine.turn; turn.AllPlaces || turn.Places && !v.replaying.Load() {
		h.at = v.place(asker)
	}
	switch a := action.(type) {
	case CallSub:
		if err := history.CheckChildID(a.Instance); err != nil {
			text := err.Error()
			h.resolved, h.failure = true, &text
			return h
		}
		h.child = a.Instance
	case StartDetached:
		if err := history.CheckInstanceID(a.Instance); err != nil {
			panic(err.Error())
		}
	}
	v.spend(action)
	v.emitted = append(v.emitted, h)
	if asker != nil {
		asker.asks(h)
	}
	v.applyLocally(action)
	return h
}

// place is the innermost line of the user's code that is at work. In a branch whose code is the library's, as that of a
// retried call, it is the line that started the branch.
func (v *Env) place(b *Branch) string {
	if at := goroutine.Caller(); at != "" || b == nil {
		return at
	}
	return b.at
}

// applyLocally makes the function's own state changes visible to it at once.
func (v *Env) applyLocally(action Action) {
	switch a := action.(type) {
	case SetStatus:
		v.status = a.Status
	case SetKV:
		v.kv[a.Key] = provider.KVEntry{Value: a.Value, LastUpdatedAtMs: a.AtMs}
	case ClearKV:
		delete(v.kv, a.Key)
	case ClearAllKV:
		clear(v.kv)
	}
}

// WaitUntil blocks the function, or the branch that calls it, until ready returns true.
// ready looks at handles and branches only; it is called again after each result.
func (v *Env) WaitUntil(ready func() bool) {
	c := v.coroutine
	for {
		c.mustRun()
		if !v.halted && ready() {
			return
		}
		if b := c.branch.Load(); b != nil {
			b.wait(ready)
		} else if !v.runBranches() {
			c.pause()
		}
	}
}

// Halt ends the function and its branches where they are; their deferred calls still run
// when the turn ends.
func (v *Env) Halt() {
	v.coroutine.mustRun()
	v.halted = true
	v.WaitUntil(func() bool { return false })
}

// Drop gives a result up: an activity or child is cancelled, a wait is taken back,
// also if the result is there and was not read. Dropping a timer has no effect but
// that its result is never ready; dropping what was read has none at all.
func (v *Env) Drop(h *Handle) {
	v.coroutine.mustRun()
	v.drop(h)
}

func (v *Env) drop(h *Handle) {
	if h.read || h.dropped {
		return
	}
	h.dropped = true
	v.dropped = append(v.dropped, h)
	if h.sub != nil && v.engine.exact {
		h.sub.cancel()
	}
}

// CustomStatus returns the status last set in this execution or carried into it.
func (v *Env) CustomStatus() *string {
	v.coroutine.mustOwn()
	return v.status
}

// KV returns the value of a key.
func (v *Env) KV(key string) (provider.KVEntry, bool) {
	v.coroutine.mustOwn()
	mustBeText("a key", key)
	entry, ok := v.kv[key]
	return entry, ok
}

// KVAll returns a copy of the key-value map.
func (v *Env) KVAll() map[string]provider.KVEntry {
	v.coroutine.mustOwn()
	return maps.Clone(v.kv)
}

// KVBefore returns the keys that were last set before a time, in order.
func (v *Env) KVBefore(ms uint64) []string {
	v.coroutine.mustRun() // as in Again
	v.takeRecordedTimes()
	keys := slices.Sorted(maps.Keys(v.kv))
	return slices.DeleteFunc(keys, func(key string) bool { return v.kv[key].LastUpdatedAtMs >= ms })
}

// takeRecordedTimes gives the keys that a replay has set since it was last polled the times that the history has, which
// are those that the function saw.
func (v *Env) takeRecordedTimes() {
	e, next := v.engine, 0
	for at := e.at; at < e.persisted && next < len(v.emitted); at++ {
		if !isSchedule(e.events[at].Kind) {
			continue
		}
		if recorded, ok := e.events[at].Kind.(provider.KeyValueSet); ok && matches(v.emitted[next].action, recorded) {
			e.bindTime(recorded)
		}
		next++
	}
}
