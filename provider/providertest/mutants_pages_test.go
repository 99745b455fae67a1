package providertest

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// pageMutants are about lists in pages.
func pageMutants() []mutant {
	const in = "pages/"
	type list = func(context.Context, provider.PageQuery) (provider.InstancePage, error)
	changed := func(change func(ctx context.Context, sound list, query provider.PageQuery) (provider.InstancePage, error)) func(*calls, calls) {
		return func(c *calls, sound calls) {
			c.ListInstancePage = func(ctx context.Context, query provider.PageQuery) (provider.InstancePage, error) {
				return change(ctx, sound.ListInstancePage, query)
			}
		}
	}
	return []mutant{
		{"lists more than the limit", "§6.22 Limit", []string{in + "pages_have_every_instance_once"}, changed(
			func(ctx context.Context, sound list, query provider.PageQuery) (provider.InstancePage, error) {
				query.Limit++
				return sound(ctx, query)
			})},
		{"forgets the time", "§6.22 EndedBefore", []string{in + "pages_of_ended_instances"}, changed(
			func(ctx context.Context, sound list, query provider.PageQuery) (provider.InstancePage, error) {
				if query.EndedBefore != nil {
					query.EndedBefore = new(query.EndedBefore.Add(time.Hour))
				}
				return sound(ctx, query)
			})},
		{"ends with the first page", "§6.22 Pages", []string{in + "pages_have_every_instance_once"}, changed(
			func(ctx context.Context, sound list, query provider.PageQuery) (provider.InstancePage, error) {
				page, err := sound(ctx, query)
				page.Next = ""
				return page, err
			})},
		{"counts the pages that are behind it", "§6.22 Next", []string{in + "next_page_is_behind_what_was_deleted"}, changed(byOffset)},
		{"begins again wherever it is told to", "§6.22 After", []string{in + "pages_that_never_were"}, changed(
			func(ctx context.Context, sound list, query provider.PageQuery) (provider.InstancePage, error) {
				if page, err := sound(ctx, query); err == nil {
					return page, nil
				}
				query.After = ""
				return sound(ctx, query)
			})},
	}
}

// byOffset is a page of all that there is now, behind as many as were listed before.
func byOffset(
	ctx context.Context, sound func(context.Context, provider.PageQuery) (provider.InstancePage, error), query provider.PageQuery,
) (provider.InstancePage, error) {
	if query.EndedBefore == nil || query.Limit == 0 || len(query.After)%int(query.Limit) != 0 {
		return sound(ctx, query)
	}
	behind, limit := len(query.After), int(query.Limit)
	query.After, query.Limit = "", 0
	page, err := sound(ctx, query)
	page.Next = ""
	page.InstanceIDs = page.InstanceIDs[min(behind, len(page.InstanceIDs)):]
	if len(page.InstanceIDs) > limit {
		page.InstanceIDs = page.InstanceIDs[:limit]
		page.Next = string(make([]byte, behind+limit))
	}
	return page, err
}
