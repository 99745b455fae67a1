package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// cancelChildren are the messages for children of an execution that fails outside the
// replay, and of those before it. An error means that the turn must be tried again.
func (t *turn) cancelChildren(ctx context.Context, executionID uint64) ([]provider.WorkItem, error) {
	earlier, err := t.cancelEarlier(ctx, executionID)
	if err != nil || executionID != t.item.ExecutionID {
		return earlier, err
	}
	own, err := t.withoutStrangers(ctx, cancellations(history.OpenChildren(t.item.Instance, t.item.History), history.ParentFailed))
	return append(own, earlier...), err
}

// withoutStrangers leaves out cancellations of instances that have the id a child was to
// have, and another parent or none: this one may not have been told yet. What an instance
// sends to itself stays, since its next execution has to clean up.
func (t *turn) withoutStrangers(ctx context.Context, items []provider.WorkItem) ([]provider.WorkItem, error) {
	var own []provider.WorkItem
	for _, item := range items {
		m, ok := item.(provider.CancelInstanceItem)
		if ok && m.Instance != t.item.Instance && !history.IsGeneratedChild(t.item.Instance, m.Instance) {
			events, err := t.childHistory(ctx, m.Instance)
			if err != nil {
				return nil, err
			}
			if len(events) > 0 && !t.isParent(events[0]) {
				continue
			}
		}
		own = append(own, item)
	}
	return own, nil
}

func (t *turn) childHistory(ctx context.Context, child string) (events []provider.Event, err error) {
	err = t.read(ctx, "a child's history", func(ctx context.Context) (err error) {
		events, err = t.worker.store.Read(ctx, child)
		return err
	})
	return events, err
}

// cancelEarlier are the messages for children of the executions before one that ends the
// instance. Continue-as-new has left them to themselves, and nobody else cancels them.
func (t *turn) cancelEarlier(ctx context.Context, executionID uint64) ([]provider.WorkItem, error) {
	var running []string
	execution := executionID - 1
	for left := history.MaxEarlierExecutions; execution > 0 && left > 0; execution, left = execution-1, left-1 {
		var events []provider.Event
		err := t.read(ctx, "an earlier execution's history", func(ctx context.Context) (err error) {
			events, err = t.worker.store.ReadWithExecution(ctx, t.item.Instance, execution)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(events) == 0 && execution != t.item.ExecutionID {
			break // pruned, and those before it too
		}
		running = append(running, history.OpenChildren(t.item.Instance, events)...)
	}
	if execution > 0 {
		older, err := t.olderChildren(ctx, append(history.UnreportedChildren(t.item.Instance, t.item.History), running...))
		if err != nil {
			return nil, err
		}
		running = append(running, older...)
	}
	return t.cancelRunning(ctx, running)
}

// olderChildren are the children that the store knows of and that have not ended, except for those that are
// known: the histories of the executions that started them are pruned, or too many.
func (t *turn) olderChildren(ctx context.Context, known []string) ([]string, error) {
	listed, err := t.listChildren(ctx)
	if err != nil {
		return nil, err
	}
	skip := make(map[string]bool, len(known))
	for _, child := range known {
		skip[child] = true
	}
	listed = slices.DeleteFunc(listed, func(child string) bool { return skip[child] })
	var older []string
	for some := range slices.Chunk(listed, mostChildren) {
		var progress []provider.Progress
		err := t.read(ctx, "how far children are", func(ctx context.Context) (err error) {
			progress, err = t.worker.store.ReadProgress(ctx, some)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, p := range progress {
			if !p.Ended() {
				older = append(older, some[i])
			}
		}
	}
	return older, nil
}

// mostChildren is how many children one call asks for.
const mostChildren = 100

// cancelListed are the messages for the children of an instance whose history cannot be
// read: those that the store knows of.
func (t *turn) cancelListed(ctx context.Context) ([]provider.WorkItem, error) {
	children, err := t.listChildren(ctx)
	if err != nil {
		return nil, err
	}
	return t.cancelRunning(ctx, children)
}

// listChildren are the children that the store knows of: those that have had their first turn.
func (t *turn) listChildren(ctx context.Context) (children []string, err error) {
	admin := t.worker.store.Admin()
	if admin == nil {
		return nil, nil
	}
	err = t.read(ctx, "the list of children", func(ctx context.Context) (err error) {
		children, err = admin.ListChildren(ctx, t.item.Instance)
		return err
	})
	return children, err
}

// cancelRunning are the messages for those of the children that go on. An id may have been
// taken by somebody else's instance, and the parent never told.
func (t *turn) cancelRunning(ctx context.Context, children []string) ([]provider.WorkItem, error) {
	var running []string
	for _, child := range children {
		events, err := t.childHistory(ctx, child)
		if err != nil {
			return nil, err
		}
		if turns.EndOf(events) != turns.Ended && (len(events) == 0 || t.isParent(events[0])) {
			running = append(running, child)
		}
	}
	return cancellations(running, history.ParentEnded), nil
}

// isParent reports whether an instance that begins so is a child of this one.
func (t *turn) isParent(first provider.Event) bool {
	started, ok := first.Kind.(provider.OrchestrationStarted)
	return ok && started.ParentInstance != nil && *started.ParentInstance == t.item.Instance
}

func cancellations(instances []string, reason string) []provider.WorkItem {
	items := make([]provider.WorkItem, len(instances))
	for i, instance := range instances {
		items[i] = provider.CancelInstanceItem{Instance: instance, Reason: reason}
	}
	return items
}

// read makes a call that reads what a turn needs to end. What can never be read counts as
// not there; any other error is logged and means that the turn must be tried again.
func (t *turn) read(ctx context.Context, what string, call func(context.Context) error) error {
	_, err := t.settling.Do(call)
	switch {
	case errors.Is(err, provider.ErrCorrupt), errors.Is(err, provider.ErrInvalidArgument):
		return nil
	case err != nil:
		t.logger.WarnContext(ctx, "a turn is tried again because the store could not be read", "what", what, "error", err)
	}
	return err
}
