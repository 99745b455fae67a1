package provider

import (
	"context"
	"time"
)

// InstancePager is an optional interface of a store's [Admin] that lists instances a page at a
// time, however many there are (§6.22): for retention, exports and dashboards.
type InstancePager interface {
	// ListInstancePage lists a page of instances. A page costs about the same wherever it is, and
	// what was deleted meanwhile does not disturb the next one.
	// Error: [ErrInvalidArgument] for a PageQuery.After that no page of the store has ended with.
	ListInstancePage(ctx context.Context, query PageQuery) (InstancePage, error)
}

// PageQuery asks for a page of instances.
type PageQuery struct {
	// EndedBefore selects the root instances whose current execution completed or failed strictly
	// before it, to the millisecond: what retention deletes. nil selects all instances.
	EndedBefore *time.Time
	// After is [InstancePage.Next] of the page before, for the same EndedBefore; empty for the
	// first page.
	After string
	// Limit bounds what the store looks at for the page, and so the length of the page; 0, and
	// what is more, is [DefaultBulkLimit].
	Limit uint32
}

// InstancePage is a part of a list.
type InstancePage struct {
	// InstanceIDs may be short, or empty, although there are more pages: not all that the store
	// has looked at is selected.
	InstanceIDs []string
	// Next is where the next page begins, empty behind the last one. It stays good for another
	// process, and after a restart.
	Next string
}

// Rows is how many rows the store looks at for the page.
func (q PageQuery) Rows() int64 {
	if q.Limit == 0 || q.Limit > DefaultBulkLimit {
		return DefaultBulkLimit
	}
	return int64(q.Limit)
}
