package sqlite

import (
	"context"
	"math"
	"strconv"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// ListInstancePage implements [provider.Store], in the order of creation. With EndedBefore, the list ends at
// the first page that contains only instances that were created after that time, so instances that the store keeps
// cost a purge nothing.
func (s *Store) ListInstancePage(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error) {
	const operation = "list_instance_page"
	after, err := int64(0), error(nil)
	if query.Latest {
		after = math.MaxInt64
	}
	if query.After != "" {
		after, err = strconv.ParseInt(query.After, 10, 64)
	}
	if err != nil {
		return provider.InstancePage{}, columns.Invalid(operation, "no page of this list has ended at %.60q", query.After)
	}
	if query.Latest {
		return s.listLatest(ctx, operation, after, query)
	}
	before := columns.Millis(query.EndedBefore)
	rows, err := readList(ctx, s, operation, func(ctx context.Context, q *sqlitedb.Queries) ([]sqlitedb.ListInstancePageRow, error) {
		return q.ListInstancePage(ctx, before, after, query.Rows())
	})
	if err != nil {
		return provider.InstancePage{}, err
	}
	page := provider.InstancePage{InstanceIDs: []string{}}
	more := false
	for _, row := range rows {
		if before == nil || row.Ended == 1 {
			page.InstanceIDs = append(page.InstanceIDs, row.InstanceID)
		}
		more = more || before == nil || row.CreatedAt < *before
	}
	if more && int64(len(rows)) == query.Rows() {
		page.Next = strconv.FormatInt(rows[len(rows)-1].ID, 10)
	}
	return page, nil
}

// listLatest lists the instances before one, the last that was created first.
func (s *Store) listLatest(ctx context.Context, operation string, before int64, query provider.PageQuery) (provider.InstancePage, error) {
	rows, err := readList(ctx, s, operation, func(ctx context.Context, q *sqlitedb.Queries) ([]sqlitedb.ListLatestPageRow, error) {
		return q.ListLatestPage(ctx, before, query.Rows())
	})
	if err != nil {
		return provider.InstancePage{}, err
	}
	page := provider.InstancePage{InstanceIDs: []string{}}
	for _, row := range rows {
		if query.Status == "" || row.Status != nil && *row.Status == string(query.Status) {
			page.InstanceIDs = append(page.InstanceIDs, row.InstanceID)
		}
	}
	if int64(len(rows)) == query.Rows() {
		page.Next = strconv.FormatInt(rows[len(rows)-1].ID, 10)
	}
	return page, nil
}
