package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// purgeRules are about procedures that delete in bulk.
var purgeRules = []Rule{
	{
		ID:    "Q7-top",
		Title: "A purge deletes at most 1,000 rows at a time",
		Reason: "From 5,000 locks on, a statement locks the whole table; and what is cut off by a time-out has deleted nothing " +
			"(durabletask-mssql #137, #297). Which procedures purge is told by their names. In the caller's transaction, where " +
			"portions save nothing, a table for which the scripts say LOCK_ESCALATION = DISABLE may be deleted from in one statement.",
		Bad: `CREATE PROCEDURE dbo.purge_log @before bigint AS
SET NOCOUNT ON; SET XACT_ABORT ON; SET DEADLOCK_PRIORITY LOW;
DELETE dbo.log WHERE at < @before;`,
		Good: `CREATE PROCEDURE dbo.purge_log @before bigint AS
SET NOCOUNT ON; SET XACT_ABORT ON; SET DEADLOCK_PRIORITY LOW;
DELETE TOP (1000) dbo.log WHERE at < @before;`,
		Optional: true,
		check:    checkPurgeTop,
	},
	{
		ID:     "Q7-priority",
		Title:  "A purge sets DEADLOCK_PRIORITY LOW",
		Reason: "When a purge and real work deadlock, the purge can be repeated.",
		Bad: `CREATE PROCEDURE dbo.purge_log @before bigint AS
SET NOCOUNT ON; SET XACT_ABORT ON;
DELETE TOP (1000) dbo.log WHERE at < @before;`,
		Good: `CREATE PROCEDURE dbo.purge_log @before bigint AS
SET NOCOUNT ON; SET XACT_ABORT ON; SET DEADLOCK_PRIORITY LOW;
DELETE TOP (1000) dbo.log WHERE at < @before;`,
		Optional: true,
		check:    checkPurgePriority,
	},
}

// purges calls f for every bulk delete of a procedure that is named like a purge. A row that its key names is no bulk.
func (p *pass) purges(f func(u *unit, deletes []*syntax.Delete)) {
	for _, u := range p.procedures() {
		name := catalog.Fold(u.name.Last().Value)
		if !slices.ContainsFunc(p.Options.PurgePrefixes, func(s string) bool { return strings.HasPrefix(name, catalog.Fold(s)) }) {
			continue
		}
		var deletes []*syntax.Delete
		for d := range syntax.All[*syntax.Delete](u.node) {
			if u.writesStored(d) && (d.Top != nil || !u.oneRow(d)) {
				deletes = append(deletes, d)
			}
		}
		if len(deletes) > 0 {
			f(u, deletes)
		}
	}
}

// oneRow says whether a DELETE without other tables names its row by a key, outside of OR. Names of columns under OR
// fix nothing, for the other side may hold as well.
func (u *unit) oneRow(d *syntax.Delete) bool {
	source, _ := u.target(d)
	// With several tables in FROM a row is deleted if any combination matches, which conditions on the key don't
	// bound in an obvious way.
	if source == nil || source.Table == nil || len(d.From) > 1 {
		return false
	}
	return u.fixesKey(source, func(yield func(*syntax.Compare) bool) {
		for _, c := range syntax.Conjuncts(d.Where) {
			if eq, ok := c.(*syntax.Compare); ok && !yield(eq) {
				return
			}
		}
	})
}

// purgeBatch is how many rows a purge may delete at once. The server tries to lock the whole table when one statement
// holds 5,000 locks in it, and a row costs a lock in every index as well.
const purgeBatch = 1000

// bound returns what limits the rows of a DELETE, nil if nothing does: its own TOP, or that of a CTE or subquery that
// picks the rows. The latter is how a batch is deleted in an order.
// Any TOP below the statement is taken for one that picks rows, since a rule that isn't sure says nothing.
func bound(d *syntax.Delete) *syntax.Top {
	if d.Top != nil {
		return d.Top
	}
	for top := range syntax.All[*syntax.Top](d) {
		return top
	}
	return nil
}

func checkPurgeTop(p *pass) {
	p.purges(func(u *unit, deletes []*syntax.Delete) {
		for _, d := range deletes {
			top := bound(d)
			if top == nil && p.atOnce(u, d) {
				continue
			}
			if top == nil {
				p.report(u, head(u, d), "DELETE TOP (1000), in a loop", "a purge without TOP deletes any number of rows at once")
			} else if n, ok := intValue(top.N); ok && n > purgeBatch || top.Percent {
				p.report(u, top.Span, "TOP (1000), in a loop", "a purge of more than %d rows at once", purgeBatch)
			}
		}
	})
}

// atOnce says that portions would be of no use: all of them are in the caller's transaction, and no number of locks
// becomes one of the whole table.
func (p *pass) atOnce(u *unit, d *syntax.Delete) bool {
	source, _ := u.target(d)
	return u.inCallers() && source.StoredName().Name != "" && slices.ContainsFunc(p.units, func(o *unit) bool {
		for a := range syntax.All[*syntax.AlterTable](o.node) {
			if same(a.Name.Last().Value, source.StoredName().Name) && slices.ContainsFunc(a.Options, func(s syntax.Option) bool {
				return s.Name == "LOCK_ESCALATION" && strings.EqualFold(strings.TrimSpace(s.Value), "DISABLE")
			}) {
				return true
			}
		}
		return false
	})
}

// checkPurgePriority looks for the setting anywhere in the procedure. Numbers below zero are lower than the default,
// too.
func checkPurgePriority(p *pass) {
	p.purges(func(u *unit, _ []*syntax.Delete) {
		for set := range syntax.All[*syntax.SetOption](u.node) {
			if set.Name == "DEADLOCK_PRIORITY" && (set.Value == "LOW" || strings.HasPrefix(set.Value, "-")) {
				return
			}
		}
		p.report(u, u.name.Span, "SET DEADLOCK_PRIORITY LOW;", "%s does not give way in a deadlock", syntax.Dotted(u.name.Parts))
	})
}
