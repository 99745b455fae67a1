package worker

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// A verdict says what becomes of a fetched turn or activity. It is decided while the work has a slot. The calls to the
// store that carry it out are made afterwards, by [turn.apply] and [call.apply].
type verdict interface{ verdict() }

type (
	// giveBack returns the work to the store, which offers it again. The lock token is not set.
	giveBack provider.AbandonParams
	// leave makes no call: the work is somebody else's, or stays under its lease.
	leave struct{}

	// commit acknowledges a turn with what its function did.
	commit struct {
		begin  turns.Begin
		result *replay.Result
	}
	// failure ends an execution outside the replay.
	failure struct {
		executionID uint64
		started     provider.OrchestrationStarted
		delta       []provider.Event
		// unrun means that the instance was offered to workers without its code, or held.
		unrun bool
		// otherwise is the verdict if that cannot be committed.
		otherwise giveBack
	}
	// drop consumes the messages of an instance that has ended.
	drop struct{}
	// unreadable is for an instance whose history cannot be decoded. What becomes of it depends on what the store says.
	unreadable struct{}
	// unreadFailure ends an instance whose history cannot be decoded.
	unreadFailure struct{ details provider.ErrorDetails }

	// complete acknowledges an activity.
	complete struct{ completion provider.WorkItem }
)

func (giveBack) verdict()      {}
func (leave) verdict()         {}
func (commit) verdict()        {}
func (failure) verdict()       {}
func (drop) verdict()          {}
func (unreadable) verdict()    {}
func (unreadFailure) verdict() {}
func (complete) verdict()      {}

// apply makes the calls of a verdict, and returns the next verdict if those do not settle the turn, or nil.
func (t *turn) apply(ctx context.Context, v verdict) verdict {
	switch v := v.(type) {
	case commit:
		return t.commit(ctx, v.begin, v.result)
	case failure:
		return t.fail(ctx, v)
	case drop:
		return t.drop(ctx)
	case unreadable:
		return t.unread(ctx)
	case unreadFailure:
		return t.endUnread(ctx, v.details)
	case giveBack:
		t.giveBack(ctx, v)
	}
	return nil
}

// giveBack gives the batch back. That the lock is gone already is no news.
func (t *turn) giveBack(ctx context.Context, v giveBack) {
	params := provider.AbandonParams(v)
	params.LockToken = t.fetched.LockToken
	err := t.worker.store.AbandonOrchestrationItem(t.settling.Calls, params) //nolint:contextcheck // what settles work has its own context
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		t.logger.WarnContext(ctx, "a turn could not be handed back, it returns when its lease ends", "error", err)
	}
}

// apply makes the calls of a verdict, and returns the next verdict if those do not settle the activity, or nil.
func (c *call) apply(ctx context.Context, v verdict) verdict {
	switch v := v.(type) {
	case complete:
		return c.ack(ctx, v.completion)
	case giveBack:
		c.giveBack(ctx, v)
	}
	return nil
}

// giveBack hands the activity back. From then on nothing attaches to the call: the activity may be fetched again before
// the store has answered.
func (c *call) giveBack(ctx context.Context, v giveBack) {
	if c.beats != nil {
		c.beats.handBack(c.settling.Calls) //nolint:contextcheck // as below
	}
	params := provider.AbandonParams(v)
	params.LockToken = c.giveUp()
	err := c.worker.store.AbandonWorkItem(c.settling.Calls, params) //nolint:contextcheck // what settles work has its own context
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		c.logger.WarnContext(ctx, "an activity could not be handed back, it returns when its lease ends", "error", err)
	}
}
