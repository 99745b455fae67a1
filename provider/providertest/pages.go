package providertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// pages checks what a store promises that lists instances a page at a time (§6.22). Another store
// skips the scenarios.
func pages() category {
	return category{"pages", needing([]scenario{
		{"pages_have_every_instance_once", pagesOfAll},
		{"pages_of_ended_instances", pagesOfEnded},
		{"pages_of_the_latest", pagesOfLatest},
		{"next_page_is_behind_what_was_deleted", pagesOfDeleted},
		{"pages_that_never_were", pagesOfNothing},
	})}
}

const (
	rulePages       = "§6.22 Pages: together they have each instance once"
	rulePageLimit   = "§6.22 Limit: a page is no longer"
	rulePagesEnded  = "§6.22 EndedBefore: root instances whose current execution completed or failed strictly before it"
	rulePagesLatest = "§6.22 Latest, Status: each instance once, those with the status, the latest first"
	rulePageNext    = "§6.22 Next: goes on behind the page, whatever was deleted meanwhile"
	rulePageAfter   = "§6.22 After: what no page has ended with is refused"
)

// page asks for a page.
func (e *env) page(query provider.PageQuery) provider.InstancePage {
	e.Helper()
	page, err := e.full().ListInstancePage(e.ctx, query)
	e.ok(err, rulePages)
	e.check(query.Limit == 0 || len(page.InstanceIDs) <= int(query.Limit), rulePageLimit, "%d instances of at most %d", len(page.InstanceIDs), query.Limit)
	return page
}

// allPages asks for one page after the other, of two each.
func (e *env) allPages(before *time.Time) (ids []string) {
	e.Helper()
	return e.allPagesOf(provider.PageQuery{EndedBefore: before, Limit: 2})
}

func (e *env) allPagesOf(query provider.PageQuery) (ids []string) {
	e.Helper()
	for range 100 {
		page := e.page(query)
		ids = append(ids, page.InstanceIDs...)
		if query.After = page.Next; page.Next == "" {
			return ids
		}
	}
	e.violated(rulePages, "there are no more than 20 instances, and more than 100 pages")
	return nil
}

func pagesOfAll(e *env) {
	e.check(len(e.allPages(nil)) == 0, rulePages, "an empty store lists something")
	names := []string{"b", "a ", "a", "c:1", "Ä", "\U0001F600", "end:"}
	for _, name := range names {
		e.create(name)
	}
	e.createChild("a", "a.child")
	e.finish("b", provider.StatusCompleted, "out")
	sameSet(e, e.allPages(nil), append(names, "a.child"), rulePages)
	sameSet(e, e.page(provider.PageQuery{}).InstanceIDs, append(names, "a.child"), rulePages)
}

func pagesOfEnded(e *env) {
	for _, name := range []string{"a", "c:2", "e ", "long"} {
		e.create(name)
	}
	e.createEnded("d", provider.StatusFailed)
	e.finish("c:2", provider.StatusCompleted, "out")
	e.createExecutions("again", 3)
	e.createEndedChild("a", "a.child", provider.StatusCompleted)
	e.finish("again", provider.StatusCompleted, "out")
	e.finish("e ", provider.StatusCompleted, "out")
	e.tick()
	e.finish("long", provider.StatusCompleted, "out")
	late := e.completedAt("long", 1)
	sameSet(e, e.allPages(&late), []string{"again", "c:2", "d", "e "}, rulePagesEnded)
	later := late.Add(time.Millisecond)
	sameSet(e, e.allPages(&later), []string{"again", "c:2", "d", "e ", "long"}, rulePagesEnded)
	e.create("between")
	e.finish("between", provider.StatusContinuedAsNew, "next")
	far := late.Add(time.Hour)
	sameSet(e, e.allPages(&far), []string{"again", "c:2", "d", "e ", "long"}, rulePagesEnded)
	early := e.completedAt("again", 1).Add(-time.Hour)
	e.check(len(e.allPages(&early)) == 0, rulePagesEnded, "something ended an hour before all")
}

func pagesOfLatest(e *env) {
	latest := func(status provider.Status) []string {
		return e.allPagesOf(provider.PageQuery{Latest: true, Status: status, Limit: 2})
	}
	e.check(len(latest("")) == 0, rulePagesLatest, "an empty store lists something")
	names := []string{"first", "end:", "c:2", "again", "last "}
	for _, name := range names[:3] {
		e.createEnded(name, provider.StatusCompleted)
		e.tick()
	}
	e.createExecutions("again", 3)
	e.tick()
	e.create("last ")
	e.createEnded("failed", provider.StatusFailed)
	sameSet(e, latest(""), append(names, "failed"), rulePagesLatest)
	sameList(e, latest(provider.StatusCompleted), []string{"c:2", "end:", "first"}, rulePagesLatest)
	sameList(e, latest(provider.StatusRunning), []string{"last ", "again"}, rulePagesLatest)
	sameList(e, latest(provider.StatusFailed), []string{"failed"}, rulePagesLatest)
	e.check(len(latest(provider.StatusContinuedAsNew)) == 0, rulePagesLatest, "an execution is listed that is not the current one")
	e.check(len(latest("Nothing")) == 0, rulePagesLatest, "a status that there is not lists something")
}

// What a purge does: it deletes what a page has, and asks for the next one.
func pagesOfDeleted(e *env) {
	var all, listed []string
	for i := range 7 {
		all = append(all, fmt.Sprint("i", i))
		e.createEnded(all[i], provider.StatusCompleted)
	}
	later := e.completedAt("i6", 1).Add(time.Millisecond)
	query := provider.PageQuery{EndedBefore: &later, Limit: 3}
	for more := true; more; more = query.After != "" {
		page := e.page(query)
		listed = append(listed, page.InstanceIDs...)
		if len(page.InstanceIDs) > 0 {
			e.deleteBulk(provider.InstanceFilter{InstanceIDs: page.InstanceIDs, CompletedBefore: &later})
		}
		e.check(len(listed) <= len(all), rulePageNext, "listed %v", listed)
		query.After = page.Next
	}
	slices.Sort(listed)
	sameList(e, listed, all, rulePageNext)
	e.gone(rulePageNext, all...)
}

func pagesOfNothing(e *env) {
	now := time.Now()
	for _, query := range []provider.PageQuery{{After: "\x01?"}, {After: "\x01?", EndedBefore: &now}, {After: "\x01?", Latest: true}} {
		_, err := e.full().ListInstancePage(e.ctx, query)
		e.permanent(err, provider.ErrInvalidArgument, rulePageAfter)
	}
}
