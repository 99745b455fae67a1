package provider

import (
	"context"
	"time"
)

// InstancePager is an optional interface of a store's [Admin] that lists instances one page at a time (§6.22), for
// retention, exports and dashboards.
type InstancePager interface {
	// ListInstancePage lists a page of instances. All pages cost about the same. Deletions between two pages do not
	// affect the next page. Error: [ErrInvalidArgument] for a [PageQuery].After that is not the Next of a page of
	// this store.
	ListInstancePage(ctx context.Context, query PageQuery) (InstancePage, error)
}

// PageQuery asks for a page of instances.
type PageQuery struct {
	// EndedBefore selects root instances whose current execution completed or failed strictly before it, to the
	// millisecond; retention deletes these. nil selects all instances.
	EndedBefore *time.Time
	// After is the [InstancePage].Next of the previous page, with the same EndedBefore; empty for the first page.
	After string
	// Limit is the greatest number of instances that the store looks at for the page, and so the greatest length of
	// the page. 0, and any value above [DefaultBulkLimit], means DefaultBulkLimit.
	Limit uint32
}

// InstancePage is a part of a list.
type InstancePage struct {
	// InstanceIDs may be shorter than the limit, or empty, although there are more pages: the store may look at
	// instances that the query does not select.
	InstanceIDs []string
	// Next is where the next page begins; empty after the last page. Other processes can use it, also after a
	// restart.
	Next string
}

// Rows returns how many rows the store looks at for the page.
func (q PageQuery) Rows() int64 {
	if q.Limit == 0 || q.Limit > DefaultBulkLimit {
		return DefaultBulkLimit
	}
	return int64(q.Limit)
}
