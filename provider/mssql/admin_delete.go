package mssql

import (
	"context"
	"math"
	"slices"

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
	result, err := s.deleteTrees(ctx, operation, mssqldb.DeleteTreesParams{List: listOf(id), Force: force, Wait: true})
	if err != nil || len(result.Kept) == 0 {
		var counts deleteCounts
		counts.add(result.Counts)
		return counts.result(), err
	}
	switch kept := result.Kept[0]; kept.Reason {
	case keptMissing:
		return provider.DeleteInstanceResult{}, columns.InstanceNotFound(operation, instance)
	case keptChild:
		return provider.DeleteInstanceResult{}, columns.SubOrchestration(operation, instance)
	default:
		return provider.DeleteInstanceResult{}, columns.StillRunning(operation, restored(*kept.Cause))
	}
}

// Why a root is kept, of the result set Kept of delete_trees.
const (
	keptMissing = "missing"
	keptChild   = "child"
	keptLater   = "later"
	keptBusy    = "busy"
)

// deleteTrees deletes the first roots of a list, in one transaction.
func (s *Store) deleteTrees(ctx context.Context, operation string, params mssqldb.DeleteTreesParams) (result mssqldb.DeleteTreesResult, err error) {
	err = s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) (err error) {
		result, err = q.DeleteTrees(ctx, params)
		return err
	})
	if err == nil {
		s.announceEnd(restoredIDs(result.Deleted)...)
	}
	return result, err
}

// deleteCounts are the counts that the procedures return.
type deleteCounts struct{ Instances, Executions, Events, Messages int64 }

func (c *deleteCounts) add(d mssqldb.DeleteTreesCountsRow) {
	c.Instances, c.Executions, c.Events, c.Messages = c.Instances+d.Instances, c.Executions+d.Executions, c.Events+d.Events, c.Messages+d.Messages
}

func (c *deleteCounts) result() provider.DeleteInstanceResult {
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
		counts := deleteCounts(result.Counts)
		return counts.result(), nil
	case c.ParentInstanceID == nil:
		return provider.DeleteInstanceResult{}, columns.StillRunning(operation, restored(c.InstanceID))
	default:
		return provider.DeleteInstanceResult{}, columns.OrphanedChild(operation, restored(c.InstanceID), restored(*c.ParentInstanceID))
	}
}

// idsOf returns ids as they are stored. Those that no instance can have are left out.
func idsOf(instances []string) []string {
	ids := make([]string, 0, len(instances))
	for _, instance := range instances {
		if id, ok := lookupID(instance); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// listOf makes a table argument of stored ids.
func listOf(ids ...string) []mssqldb.IDListV1Row {
	list := make([]mssqldb.IDListV1Row, len(ids))
	for i, id := range ids {
		list[i] = mssqldb.IDListV1Row{Position: int32(i), ID: id}
	}
	return list
}

// idList is listOf of the ids that instances can have.
func idList(instances []string) []mssqldb.IDListV1Row { return listOf(idsOf(instances)...) }

// DeleteInstanceBulk implements [provider.Admin]. One transaction deletes up to fifty roots with their descendants, or
// fewer that have about 1,000 events together. A root whose tree somebody else has locked is deleted after all others,
// alone. After an error the result counts what was deleted before it.
func (s *Store) DeleteInstanceBulk(
	ctx context.Context, filter provider.InstanceFilter,
) (provider.DeleteInstanceResult, error) {
	const operation = "delete_instance_bulk"
	var sum deleteCounts
	ended := mssqldb.ListEndedPageParams{EndedBefore: math.MaxInt64, Limit: bulkPortion, Continued: true}
	if before := columns.Millis(filter.CompletedBefore); before != nil {
		ended.EndedBefore = *before
	}
	roots, more, left := idsOf(filter.InstanceIDs), filter.InstanceIDs == nil, limitOf(filter)
	var busy []string
	for left > 0 {
		var err error
		if len(roots) == 0 && more {
			if roots, more, err = s.nextEnded(ctx, operation, &ended); err != nil {
				return sum.result(), err
			}
			continue
		}
		alone := len(roots) == 0
		if alone && len(busy) == 0 {
			break
		}
		batch := roots[:min(len(roots), rootsAtOnce, left)]
		if alone {
			batch, busy = busy[:1], busy[1:]
		}
		result, err := s.deleteTrees(ctx, operation, mssqldb.DeleteTreesParams{
			List: listOf(batch...), Force: true, EndedBefore: &ended.EndedBefore, Wait: alone,
		})
		if err != nil {
			return sum.result(), err
		}
		sum.add(result.Counts)
		left -= int(result.Counts.Roots)
		done := len(batch)
		for _, kept := range result.Kept {
			switch kept.Reason {
			case keptBusy:
				busy = append(busy, kept.InstanceID)
			case keptLater:
				done = min(done, slices.Index(batch, kept.InstanceID))
			}
		}
		if !alone {
			roots = roots[done:]
		}
	}
	return sum.result(), nil
}

// nextEnded reads the next page of roots whose current execution has ended, in the order of the ends.
func (s *Store) nextEnded(ctx context.Context, operation string, page *mssqldb.ListEndedPageParams) (roots []string, more bool, err error) {
	result, err := read(ctx, s, operation, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListEndedPageResult, error) {
		return q.ListEndedPage(ctx, *page)
	})
	if err != nil {
		return nil, false, err
	}
	for _, row := range result.Instances {
		roots = append(roots, row.InstanceID)
	}
	if at := result.Next; at != nil {
		page.AfterCompletedAt, page.AfterInstanceID, page.AfterExecutionID = &at.CompletedAt, &at.InstanceID, &at.ExecutionID
	}
	return roots, result.Next != nil, nil
}

// rootsAtOnce is how many roots one transaction deletes: few enough that nobody waits long for one of them.
const rootsAtOnce = 50

// bulkPortion is how many ids the store reads or sends at once.
const bulkPortion = 1000

// limitOf is how many instances a bulk call may handle.
func limitOf(filter provider.InstanceFilter) int {
	if filter.Limit == nil {
		return provider.DefaultBulkLimit
	}
	return int(*filter.Limit)
}
