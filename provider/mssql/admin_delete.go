package mssql

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// DeleteInstance implements [provider.Admin]: one transaction for the whole
// tree. If that has hundreds of thousands of events, [Options.CallTimeout] may be too
// short for it.
//
// Errors: [provider.ErrNotFound]; [provider.ErrSubOrchestration], also with force;
// [provider.ErrStillRunning] without it.
func (s *Store) DeleteInstance(ctx context.Context, instance string, force bool) (provider.DeleteInstanceResult, error) {
	const operation = "delete_instance"
	id, ok := lookupID(instance)
	if !ok {
		return provider.DeleteInstanceResult{}, columns.InstanceNotFound(operation, instance)
	}
	var result mssqldb.DeleteInstanceResult
	err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.DeleteInstance(ctx, mssqldb.DeleteInstanceParams{InstanceID: id, Force: force})
		return deletable(operation, instance, err)
	})
	if err != nil {
		return provider.DeleteInstanceResult{}, err
	}
	if result.Running != nil {
		return provider.DeleteInstanceResult{}, columns.StillRunning(operation, restored(result.Running.InstanceID))
	}
	s.announceEnd(restoredIDs(result.Deleted)...)
	return deleteCounts(result.Counts).result(), nil
}

// deletable says why an instance is not one to begin a deletion at. Other errors pass.
func deletable(operation, instance string, err error) error {
	switch {
	case errors.Is(err, mssqldb.ErrInstanceNotFound):
		return columns.InstanceNotFound(operation, instance)
	case errors.Is(err, mssqldb.ErrSubOrchestration):
		return columns.SubOrchestration(operation, instance)
	}
	return err
}

// deleteCounts are the counts that the procedures return.
type deleteCounts struct{ Instances, Executions, Events, Messages int64 }

func (c deleteCounts) result() provider.DeleteInstanceResult {
	return provider.DeleteInstanceResult{
		InstancesDeleted:     uint64(c.Instances),
		ExecutionsDeleted:    uint64(c.Executions),
		EventsDeleted:        uint64(c.Events),
		QueueMessagesDeleted: uint64(c.Messages),
	}
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
	list := idList(instances)
	if len(list) == 0 {
		return provider.DeleteInstanceResult{}, nil
	}
	var result mssqldb.DeleteInstancesResult
	err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.DeleteInstances(ctx, mssqldb.DeleteInstancesParams{List: list, Force: force})
		return err
	})
	if err != nil {
		return provider.DeleteInstanceResult{}, err
	}
	switch c := result.Conflict; {
	case c == nil:
		s.announceEnd(instances...)
		return deleteCounts(result.Counts).result(), nil
	case c.ParentInstanceID == nil:
		return provider.DeleteInstanceResult{}, columns.StillRunning(operation, restored(c.InstanceID))
	default:
		return provider.DeleteInstanceResult{}, columns.OrphanedChild(operation, restored(c.InstanceID), restored(*c.ParentInstanceID))
	}
}

// idList makes a table argument of ids. Those that no instance can have are left out.
func idList(ids []string) []mssqldb.IDListV1Row {
	list := make([]mssqldb.IDListV1Row, 0, len(ids))
	for _, instance := range ids {
		if id, ok := lookupID(instance); ok {
			list = append(list, mssqldb.IDListV1Row{Position: int32(len(list)), ID: id})
		}
	}
	return list
}

// DeleteInstanceBulk implements [provider.Admin]. Each root is deleted with its descendants in a transaction of its
// own, in the order in which they finished. After an error the result counts what was deleted before it.
//
// It calls the procedure once, or several times if there are more than a thousand roots or if it takes long. Each
// call continues where the last one ended.
func (s *Store) DeleteInstanceBulk(
	ctx context.Context, filter provider.InstanceFilter,
) (provider.DeleteInstanceResult, error) {
	const operation = "delete_instance_bulk"
	var sum deleteCounts
	selection := newSelection(filter)
	params := mssqldb.DeleteInstanceBulkParams{
		Listed: selection.listed, List: selection.list, CompletedBefore: selection.completedBefore, BudgetMs: s.bulkBudget(),
	}
	for more := true; more && selection.left > 0; {
		params.MaxRoots = selection.portion()
		var result mssqldb.DeleteInstanceBulkResult
		err := s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
			result, err = q.DeleteInstanceBulk(ctx, params)
			return err
		})
		if err != nil {
			return sum.result(), err
		}
		s.announceEnd(restoredIDs(result.Deleted)...)
		c := result.Counts
		sum.Instances += c.Instances
		sum.Executions += c.Executions
		sum.Events += c.Events
		sum.Messages += c.Messages
		selection.left -= c.Roots
		more = c.More
		params.AfterCompletedAt, params.AfterInstanceID, params.AfterExecutionID = &c.AfterCompletedAt, &c.AfterInstanceID, &c.AfterExecutionID
	}
	return sum.result(), nil
}

const (
	// bulkPortion is the most that one call of a bulk procedure handles: what it has
	// done is known only when it returns.
	bulkPortion = 1000
	// bulkTime is how long such a call goes on to begin something new.
	bulkTime = 10 * time.Second
)

// bulkBudget is bulkTime in milliseconds, or less if a call has little time.
func (s *Store) bulkBudget() int64 {
	budget := bulkTime
	if s.retries.patience > 0 {
		budget = min(budget, s.retries.patience/4)
	}
	return budget.Milliseconds()
}

// selection is a bulk call's filter as the procedures take it.
type selection struct {
	// listed says that only instances of the list are meant.
	listed          bool
	list            []mssqldb.IDListV1Row
	completedBefore *int64
	// left is how many instances may still be handled.
	left int64
}

func newSelection(filter provider.InstanceFilter) selection {
	s := selection{
		listed: filter.InstanceIDs != nil, list: idList(filter.InstanceIDs),
		completedBefore: columns.Millis(filter.CompletedBefore), left: provider.DefaultBulkLimit,
	}
	if filter.Limit != nil {
		s.left = int64(*filter.Limit)
	}
	if s.listed {
		s.left = min(s.left, int64(len(s.list)))
	}
	return s
}

// portion is how many instances the next call may handle.
func (s selection) portion() int64 { return min(s.left, bulkPortion) }
