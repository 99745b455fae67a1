package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// hookedTurn is what the hook of a turn has said and is told.
type hookedTurn struct {
	hook.Around

	begun bool
	end   hook.TurnEnd
}

// tellBegin tells the hook that the function runs.
func (t *turn) tellBegin(ctx context.Context, b turns.Begin) {
	h := t.worker.options.Hook
	if h == nil {
		return
	}
	about := hook.Turn{
		Instance: t.item.Instance, ExecutionID: b.ExecutionID,
		Orchestration: b.Started.Name, Version: b.Started.Version, Headers: b.Started.Headers,
		First: len(b.History) == 0, Attempt: t.fetched.AttemptCount, WorkerID: t.slot,
	}
	if b.Started.ParentInstance != nil {
		about.Parent = *b.Started.ParentInstance
	}
	t.hooked.Around, t.hooked.begun = h.Turn(ctx, about), true
}

// carry gives the hook's headers to what the turn starts, and notes how the turn will end.
func (t *turn) carry(b turns.Begin, result *replay.Result) {
	if t.worker.options.Hook == nil {
		return
	}
	for i, item := range result.WorkerItems {
		result.WorkerItems[i] = t.hooked.withHeaders(item)
	}
	for i, item := range result.OrchestratorItems {
		result.OrchestratorItems[i] = t.hooked.withHeaders(item)
	}
	t.hooked.end = turnEnd(b.History, result.HistoryDelta, result.Metadata, result.Details)
}

// turnEnd is what comes of a turn if it is committed.
func turnEnd(past, added []provider.Event, metadata provider.ExecutionMetadata, failure provider.ErrorDetails) hook.TurnEnd {
	end := hook.TurnEnd{
		Status: provider.StatusRunning, Failure: failure, Events: uint64(len(past)), History: past, Added: added,
	}
	if n := len(added); n > 0 {
		end.Events = added[n-1].EventID
	}
	if metadata.Status != nil {
		end.Status = *metadata.Status
	}
	return end
}

// tellFailed tells the hook of an execution that was failed, as the delta says, without a run
// of its function, or in spite of one.
func (t *turn) tellFailed(ctx context.Context, b turns.Begin, delta []provider.Event) {
	if t.worker.options.Hook == nil {
		return
	}
	if !t.hooked.begun {
		t.tellBegin(ctx, b)
	}
	failed, _ := delta[len(delta)-1].Kind.(provider.OrchestrationFailed)
	t.hooked.end = turnEnd(b.History, delta, history.Metadata(delta), failed.Details)
	t.hooked.end.Committed = true
}

// withHeaders is an item with headers, if it is one that carries some.
func (h *hookedTurn) withHeaders(item provider.WorkItem) provider.WorkItem {
	switch i := item.(type) {
	case provider.ActivityExecuteItem:
		i.Headers = h.Headers
		return i
	case provider.StartOrchestrationItem:
		i.Headers = h.Headers
		return i
	case provider.ContinueAsNewItem:
		if i.Headers = h.Headers; h.Next != nil {
			i.Headers = h.Next()
		}
		return i
	}
	return item
}

// tellEnd tells the hook what came of the turn.
func (t *turn) tellEnd() {
	if t.hooked.Ended == nil {
		return
	}
	if t.committed {
		t.hooked.end.Committed = true
	}
	if !t.hooked.end.Committed {
		t.hooked.end = hook.TurnEnd{}
	}
	t.hooked.Ended(t.hooked.end)
}

// tellActivity tells the hook that an activity's function runs. ended is told how it ended,
// once.
func (c *call) tellActivity(ctx context.Context) (_ context.Context, ended func(error)) {
	h := c.worker.options.Hook
	if h == nil {
		return ctx, func(error) {}
	}
	info := c.info()
	ctx, tell := h.Activity(ctx, hook.Activity{
		Instance: info.Instance, ExecutionID: info.ExecutionID, ID: info.ActivityID, Name: info.Name, Tag: info.Tag,
		Headers: c.item.Headers, Attempt: info.Attempt, WorkerID: info.WorkerID,
	})
	if tell == nil {
		return ctx, func(error) {}
	}
	return ctx, func(err error) { tell(c.outcome(err)) }
}

// outcome is how a hook is told that the function has returned.
func (c *call) outcome(err error) error {
	switch {
	case !wasCancelled(c.ctx):
		return err
	case err == nil:
		return hook.ErrCancelled
	}
	return fmt.Errorf("%w: %w", hook.ErrCancelled, err)
}

// tellNotRun tells the hook of an activity that fails without a run of its function.
func (c *call) tellNotRun(ctx context.Context, why provider.ErrorDetails) {
	_, ended := c.tellActivity(ctx)
	ended(&hook.NotRunError{Details: why})
}

// Why an activity's function has not returned.
var (
	errPanicked = errors.New("the activity panicked")
	errGoexit   = errors.New("the activity called runtime.Goexit")
)
