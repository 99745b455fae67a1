package worker

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// hookedTurn is what the hook of a turn has said and is told.
type hookedTurn struct {
	hook.Around

	end hook.TurnEnd
}

// tellBegin tells the hook that the function runs.
func (t *turn) tellBegin(ctx context.Context, b begin) {
	h := t.worker.options.Hook
	if h == nil {
		return
	}
	about := hook.Turn{
		Instance: t.item.Instance, ExecutionID: b.executionID,
		Orchestration: b.started.Name, Version: b.started.Version, Headers: b.started.Headers,
		First: len(b.history) == 0, Attempt: t.fetched.AttemptCount, WorkerID: t.slot,
	}
	if b.started.ParentInstance != nil {
		about.Parent = *b.started.ParentInstance
	}
	t.hooked.Around = h.Turn(ctx, about)
}

// carry gives the hook's headers to what the turn starts, and notes how the turn will end.
func (t *turn) carry(b begin, result *replay.Result) {
	if t.worker.options.Hook == nil {
		return
	}
	for i, item := range result.WorkerItems {
		result.WorkerItems[i] = t.hooked.withHeaders(item)
	}
	for i, item := range result.OrchestratorItems {
		result.OrchestratorItems[i] = t.hooked.withHeaders(item)
	}
	end := hook.TurnEnd{Status: provider.StatusRunning, Failure: result.Details, Events: uint64(len(b.history))}
	if n := len(result.HistoryDelta); n > 0 {
		end.Events = result.HistoryDelta[n-1].EventID
	}
	if result.Metadata.Status != nil {
		end.Status = *result.Metadata.Status
	}
	t.hooked.end = end
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
	end := hook.TurnEnd{}
	if t.committed {
		end = t.hooked.end
		end.Committed = true
	}
	t.hooked.Ended(end)
}

// tellActivity tells the hook that an activity's function runs. ended is told how it ended,
// once.
func (c *call) tellActivity(ctx context.Context) (_ context.Context, ended func(error)) {
	h := c.worker.options.Hook
	if h == nil {
		return ctx, func(error) {}
	}
	info := c.info()
	ctx, ended = h.Activity(ctx, hook.Activity{
		Instance: info.Instance, ExecutionID: info.ExecutionID, ID: info.ActivityID, Name: info.Name, Tag: info.Tag,
		Headers: c.item.Headers, Attempt: info.Attempt, WorkerID: info.WorkerID,
	})
	if ended == nil {
		ended = func(error) {}
	}
	return ctx, ended
}

// Why an activity's function has not returned.
var (
	errPanicked = errors.New("the activity panicked")
	errGoexit   = errors.New("the activity called runtime.Goexit")
)
