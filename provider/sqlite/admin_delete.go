package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// DeleteInstance implements [provider.Admin]. It finds and deletes the whole tree in one transaction, so that no new
// child can appear in between.
//
// Errors: [provider.ErrNotFound]; [provider.ErrSubOrchestration], also with force;
// [provider.ErrStillRunning] without it.
func (s *Store) DeleteInstance(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
	const operation = "delete_instance"
	return written(ctx, s, operation, func(ctx context.Context, t *tx) (provider.DeleteInstanceResult, error) {
		parent, err := t.GetParent(ctx, instance)
		if errors.Is(err, sql.ErrNoRows) {
			return provider.DeleteInstanceResult{}, columns.InstanceNotFound(operation, instance)
		}
		if err != nil {
			return provider.DeleteInstanceResult{}, err
		}
		if parent != nil {
			return provider.DeleteInstanceResult{}, columns.SubOrchestration(operation, instance)
		}
		return t.deleteTree(ctx, operation, instance, force)
	})
}

// DeleteInstancesAtomic implements [provider.Admin]. An id that no instance can have, such as one that is too long,
// is ignored like any unknown id.
//
// Errors: [provider.ErrStillRunning] without force, [provider.ErrOrphanedChild] with
// and without. After either nothing was deleted.
func (s *Store) DeleteInstancesAtomic(
	ctx context.Context, instances []string, force bool,
) (provider.DeleteInstanceResult, error) {
	const operation = "delete_instances_atomic"
	instances = columns.IDs(instances)
	if len(instances) == 0 {
		return provider.DeleteInstanceResult{}, nil
	}
	return written(ctx, s, operation, func(ctx context.Context, t *tx) (provider.DeleteInstanceResult, error) {
		return t.deleteList(ctx, operation, instances, force)
	})
}

// DeleteInstanceBulk implements [provider.Admin]. One transaction deletes up to fifty roots with their descendants, or
// the first that have 1,000 events together; after an error the result counts what was deleted before it.
func (s *Store) DeleteInstanceBulk(
	ctx context.Context, filter provider.InstanceFilter,
) (provider.DeleteInstanceResult, error) {
	const operation = "delete_instance_bulk"
	var sum provider.DeleteInstanceResult
	selection, err := newSelection(operation, filter)
	if err != nil || selection.nothing {
		return sum, err
	}
	roots, err := readList(ctx, s, operation, selection.finishedRoots)
	if err != nil {
		return sum, err
	}
	for len(roots) > 0 {
		batch, err := written(ctx, s, operation, func(ctx context.Context, t *tx) (deletion, error) {
			return t.deleteFirst(ctx, operation, roots, selection)
		})
		if err != nil {
			return sum, err
		}
		sum = plus(sum, batch.result)
		roots = roots[batch.roots:]
	}
	return sum, nil
}

// rootsAtOnce and eventsAtOnce end a transaction of a bulk deletion: writers wait for it.
const rootsAtOnce, eventsAtOnce = 50, 1000

// deletion is what a transaction of a bulk deletion has done.
type deletion struct {
	result provider.DeleteInstanceResult
	// roots is how many roots of the list it has handled.
	roots int
}

// deleteFirst deletes the first roots of a bulk selection.
func (t *tx) deleteFirst(ctx context.Context, operation string, roots []string, selection selection) (deletion, error) {
	var d deletion
	for d.roots < len(roots) && d.roots < rootsAtOnce && d.result.EventsDeleted < eventsAtOnce {
		result, err := t.deleteFinished(ctx, operation, roots[d.roots], selection)
		if err != nil {
			return deletion{}, err
		}
		d.result = plus(d.result, result)
		d.roots++
	}
	return d, nil
}

func plus(a, b provider.DeleteInstanceResult) provider.DeleteInstanceResult {
	return provider.DeleteInstanceResult{
		InstancesDeleted:     a.InstancesDeleted + b.InstancesDeleted,
		ExecutionsDeleted:    a.ExecutionsDeleted + b.ExecutionsDeleted,
		EventsDeleted:        a.EventsDeleted + b.EventsDeleted,
		QueueMessagesDeleted: a.QueueMessagesDeleted + b.QueueMessagesDeleted,
	}
}

// deleteFinished deletes a root of a bulk selection with its descendants, unless
// it has changed since it was selected: a finished instance may have been deleted
// and created anew.
func (t *tx) deleteFinished(
	ctx context.Context, operation, root string, selection selection,
) (provider.DeleteInstanceResult, error) {
	still, err := t.IsFinishedRoot(ctx, root, selection.completedBefore)
	if err != nil || !still {
		return provider.DeleteInstanceResult{}, err
	}
	return t.deleteTree(ctx, operation, root, true)
}

// deleteTree deletes an instance with its descendants.
func (t *tx) deleteTree(
	ctx context.Context, operation, root string, force bool,
) (provider.DeleteInstanceResult, error) {
	tree, err := t.ListTree(ctx, root)
	if err != nil {
		return provider.DeleteInstanceResult{}, err
	}
	return t.deleteList(ctx, operation, tree, force)
}

// deleteList deletes instances with all they have, after the checks of contract §6.16. With the
// inbox goes the lease: a turn in progress cannot bring the instance back (pitfall
// P19). With the queues go messages of the old life, which a new instance of the same
// id must not get. Sessions stay: they belong to workers.
func (t *tx) deleteList(
	ctx context.Context, operation string, instances []string, force bool,
) (provider.DeleteInstanceResult, error) {
	var result provider.DeleteInstanceResult
	list, err := jsonList(operation, instances)
	if err != nil {
		return result, err
	}
	if !force {
		if err := t.checkFinished(ctx, operation, list); err != nil {
			return result, err
		}
	}
	if err := t.checkNoOrphan(ctx, operation, list); err != nil {
		return result, err
	}
	for _, step := range []struct {
		run   func(context.Context, string) (int64, error)
		count *uint64
	}{
		{t.DeleteHistoryOf, &result.EventsDeleted},
		{t.DeleteExecutionsOf, &result.ExecutionsDeleted},
		{t.DeleteMessagesOf, &result.QueueMessagesDeleted},
		{t.DeleteWorkOf, &result.QueueMessagesDeleted},
		{t.DeleteInstancesOf, &result.InstancesDeleted},
	} {
		n, err := step.run(ctx, list)
		if err != nil {
			return provider.DeleteInstanceResult{}, err
		}
		*step.count += uint64(n)
	}
	for _, run := range []func(context.Context, string) error{t.DeleteInboxesOf, t.DeleteStoreOf, t.DeleteDeltaOf, t.DeleteDeadLettersOf} {
		if err := run(ctx, list); err != nil {
			return provider.DeleteInstanceResult{}, err
		}
	}
	for _, instance := range instances {
		t.drop(instance)
	}
	t.changed = append(t.changed, instances...)
	t.ended = append(t.ended, instances...)
	return result, nil
}

// checkFinished refuses a list with a running instance.
func (t *tx) checkFinished(ctx context.Context, operation, list string) error {
	running, err := t.FindRunning(ctx, list)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return columns.StillRunning(operation, running)
}

// checkNoOrphan refuses a list that would leave a child without its parent.
func (t *tx) checkNoOrphan(ctx context.Context, operation, list string) error {
	orphan, err := t.FindOrphan(ctx, list)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return columns.OrphanedChild(operation, orphan.InstanceID, *orphan.ParentInstanceID)
}

// selection is a bulk call's filter as the queries take it.
type selection struct {
	// nothing is a filter that selects nothing.
	nothing bool
	// instances is a JSON list, nil for no restriction.
	instances       *string
	completedBefore *int64
	limit           int64
}

func newSelection(operation string, filter provider.InstanceFilter) (selection, error) {
	s := selection{limit: provider.DefaultBulkLimit, completedBefore: columns.Millis(filter.CompletedBefore)}
	if filter.Limit != nil {
		s.limit = int64(*filter.Limit)
	}
	if filter.InstanceIDs == nil {
		return s, nil
	}
	ids := columns.IDs(filter.InstanceIDs)
	s.nothing = len(ids) == 0
	list, err := jsonList(operation, ids)
	s.instances = &list
	return s, err
}
