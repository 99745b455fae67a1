package provider

import "time"

// PageQuery asks for a page of instances.
type PageQuery struct {
	// EndedBefore selects root instances whose current execution completed or failed strictly before it, to the
	// millisecond; retention deletes these. nil selects all instances.
	EndedBefore *time.Time
	// Latest lists the latest first, for people. A store may go by creation, or list those that run by their start and
	// then those that have ended by their end. It excludes EndedBefore.
	Latest bool
	// Status restricts a list with Latest to instances whose current execution has the status; empty selects all.
	Status Status
	// After is the [InstancePage].Next of the previous page of the same list; empty for the first page.
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
