package mssql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

const opListPage = "list_instance_page"

// ListInstancePage implements [provider.Store]. All instances come in the order of
// their ids, and those that have ended in the order of their ends.
func (s *Store) ListInstancePage(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error) {
	switch {
	case query.Latest:
		return s.listLatest(ctx, query)
	case query.EndedBefore != nil:
		return s.listEnded(ctx, query)
	}
	after, ok := strings.CutPrefix(query.After, "id:")
	if ok != (query.After != "") || ok && checkLength(opListPage, "PageQuery.After", after) != nil {
		return provider.InstancePage{}, badPage(query)
	}
	params := mssqldb.ListInstancePageParams{Limit: int32(query.Rows())}
	if ok {
		params.After = &after
	}
	result, err := read(ctx, s, opListPage, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListInstancePageResult, error) {
		return q.ListInstancePage(ctx, params)
	})
	if err != nil {
		return provider.InstancePage{}, err
	}
	page := provider.InstancePage{InstanceIDs: restoredIDs(result.Instances)}
	if n := len(result.Instances); n == int(params.Limit) {
		page.Next = "id:" + result.Instances[n-1].InstanceID
	}
	return page, nil
}

func (s *Store) listEnded(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error) {
	params := mssqldb.ListEndedPageParams{EndedBefore: query.EndedBefore.UnixMilli(), Limit: int32(query.Rows())}
	if query.After != "" {
		at, ok := parseEnd(query.After)
		if !ok {
			return provider.InstancePage{}, badPage(query)
		}
		params.AfterCompletedAt, params.AfterInstanceID, params.AfterExecutionID = &at.CompletedAt, &at.InstanceID, &at.ExecutionID
	}
	result, err := read(ctx, s, opListPage, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListEndedPageResult, error) {
		return q.ListEndedPage(ctx, params)
	})
	if err != nil {
		return provider.InstancePage{}, err
	}
	page := provider.InstancePage{InstanceIDs: restoredIDs(result.Instances)}
	if next := result.Next; next != nil {
		page.Next = fmt.Sprintf("end:%d:%d:%s", next.CompletedAt, next.ExecutionID, next.InstanceID)
	}
	return page, nil
}

// beginLatest is before everything in a list that begins with the latest.
const beginLatest = "latest:%s:9223372036854775807:0:"

// listLatest lists what runs, and then what has ended.
func (s *Store) listLatest(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error) {
	after, running := query.After, string(provider.StatusRunning)
	all := query.Status == ""
	if after == "" && (all || query.Status == provider.StatusRunning) {
		after = fmt.Sprintf(beginLatest, running)
	} else if after == "" {
		after = fmt.Sprintf(beginLatest, "")
	}
	rest, ok := strings.CutPrefix(after, "latest:")
	phase, rest, found := strings.Cut(rest, ":")
	at, parsed := parseEnd("end:" + rest)
	if !ok || !found || !parsed || phase != running && phase != "" {
		return provider.InstancePage{}, badPage(query)
	}
	params := mssqldb.ListLatestPageParams{
		BeforeAt: &at.CompletedAt, BeforeInstanceID: &at.InstanceID, BeforeExecutionID: &at.ExecutionID, Limit: int32(query.Rows()),
	}
	switch {
	case phase == running:
		params.Status = &running
	case !all:
		text, ok := lookupKey(string(query.Status))
		if !ok || len(text) > maxStatus {
			return provider.InstancePage{InstanceIDs: []string{}}, nil
		}
		params.Status = &text
	}
	result, err := read(ctx, s, opListPage, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ListLatestPageResult, error) {
		return q.ListLatestPage(ctx, params)
	})
	if err != nil {
		return provider.InstancePage{}, err
	}
	page := provider.InstancePage{InstanceIDs: restoredIDs(result.Instances)}
	if next := result.Next; next != nil {
		page.Next = fmt.Sprintf("latest:%s:%d:%d:%s", phase, next.At, next.ExecutionID, next.InstanceID)
	} else if all && phase == running {
		page.Next = fmt.Sprintf(beginLatest, "")
	}
	return page, nil
}

// parseEnd reads where a page of ended instances ended.
func parseEnd(text string) (at mssqldb.ListEndedPageNextRow, ok bool) {
	parts := strings.SplitN(text, ":", 4)
	if len(parts) != 4 || parts[0] != "end" || checkLength(opListPage, "PageQuery.After", parts[3]) != nil {
		return at, false
	}
	completedAt, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return at, false
	}
	executionID, err := strconv.ParseInt(parts[2], 10, 64)
	return mssqldb.ListEndedPageNextRow{CompletedAt: completedAt, InstanceID: parts[3], ExecutionID: executionID}, err == nil
}

func badPage(query provider.PageQuery) error {
	return columns.Invalid(opListPage, "no page of this list has ended at %.60q", query.After)
}
