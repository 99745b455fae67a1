package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// purgeRules are about procedures that delete in bulk.
var purgeRules = []Rule{
	{
		ID:    "Q7-top",
		Title: "A purge deletes at most 1,000 rows at a time",
		Reason: "From 5,000 locks on, a statement locks the whole table; and what is cut off by a time-out has deleted nothing " +
			"(durabletask-mssql #137, #297). Which procedures purge is told by their names.",
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
		Title:  "A purge gives way: SET DEADLOCK_PRIORITY LOW",
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
		name := catalog.Fold(last(u.name).Value)
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

// oneRow says whether a DELETE without other tables names its row by a key, outside of OR.
func (u *unit) oneRow(d *syntax.Delete) bool {
	source, _ := u.target(d)
	if source == nil || source.table == nil || len(d.From) > 1 {
		return false
	}
	fixed := map[string]bool{}
	for _, c := range conjuncts(d.Where) {
		if eq, ok := c.(*syntax.Compare); ok && eq.Op == "=" {
			for _, side := range []syntax.Expr{eq.X, eq.Y} {
				if ref, ok := unparen(side).(*syntax.ColumnRef); ok && u.refs[ref].column != nil {
					fixed[catalog.Fold(u.refs[ref].column.Name)] = true
				}
			}
		}
	}
	return slices.ContainsFunc(source.table.Keys, func(k catalog.Key) bool {
		return !slices.ContainsFunc(k.Columns, func(c string) bool { return !fixed[catalog.Fold(c)] })
	})
}

// purgeBatch is how many rows a purge may delete at once.
const purgeBatch = 1000

func checkPurgeTop(p *pass) {
	p.purges(func(u *unit, deletes []*syntax.Delete) {
		for _, d := range deletes {
			if d.Top == nil {
				p.report(u, head(u, d), "DELETE TOP (1000), in a loop", "a purge without TOP")
			} else if n, ok := intValue(d.Top.N); ok && n > purgeBatch || d.Top.Percent {
				p.report(u, d.Top.Span, "TOP (1000), in a loop", "a purge of more than %d rows at once", purgeBatch)
			}
		}
	})
}

func checkPurgePriority(p *pass) {
	p.purges(func(u *unit, _ []*syntax.Delete) {
		for set := range syntax.All[*syntax.SetOption](u.node) {
			if set.Name == "DEADLOCK_PRIORITY" && (set.Value == "LOW" || strings.HasPrefix(set.Value, "-")) {
				return
			}
		}
		p.report(u, u.name.Span, "SET DEADLOCK_PRIORITY LOW;", "%s does not give way in a deadlock", nameText(u.name))
	})
}

// upsertRules are about inserting what isn't there yet.
var upsertRules = []Rule{{
	ID:    "Q10",
	Title: "A test whether a row exists, before it is inserted, holds UPDLOCK, HOLDLOCK or handles 2601 and 2627",
	Reason: "Between the test and the insert another caller inserts the same row; HOLDLOCK locks the gap, and UPDLOCK keeps " +
		"two testers from waiting for each other.",
	Bad: `CREATE PROCEDURE dbo.add_user @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
IF NOT EXISTS (SELECT 1 FROM dbo.users WHERE id = @id)
    INSERT dbo.users (id) VALUES (@id);`,
	Good: `CREATE PROCEDURE dbo.add_user @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
INSERT dbo.users (id)
SELECT @id WHERE NOT EXISTS (SELECT 1 FROM dbo.users WITH (UPDLOCK, HOLDLOCK) WHERE id = @id);`,
	check: checkUpserts,
}}

func checkUpserts(p *pass) {
	for _, u := range p.modules() {
		if u.serializable() {
			continue
		}
		handled := u.handlingDuplicates()
		p.eachList(u, func(list []syntax.Stmt) {
			for i, s := range list {
				switch s := s.(type) {
				case *syntax.If:
					p.checkTestedInsert(u, list, i, s, handled)
				case *syntax.Insert:
					p.checkNotExists(u, s.Query, s, handled)
				}
			}
		})
	}
}

// eachList calls f for the body of a unit and for every list of statements in it; a statement alone is a list of one.
func (p *pass) eachList(u *unit, f func([]syntax.Stmt)) {
	f(u.body)
	for s := range syntax.All[syntax.Stmt](u.node) {
		switch s := s.(type) {
		case *syntax.Block:
			f(s.Stmts)
		case *syntax.TryCatch:
			f(s.Try)
			f(s.Catch)
		case *syntax.If:
			f([]syntax.Stmt{s.Then})
			if s.Else != nil {
				f([]syntax.Stmt{s.Else})
			}
		case *syntax.While:
			f([]syntax.Stmt{s.Body})
		}
	}
}

// serializable says whether a unit sets the isolation level under which a test holds.
func (u *unit) serializable() bool {
	for set := range syntax.All[*syntax.SetOption](u.node) {
		if set.Name == "TRANSACTION ISOLATION LEVEL" && set.Value == "SERIALIZABLE" {
			return true
		}
	}
	return false
}

// handlingDuplicates returns the statements in a TRY whose CATCH knows the error of a duplicate key.
func (u *unit) handlingDuplicates() map[syntax.Stmt]bool {
	out := map[syntax.Stmt]bool{}
	for tc := range syntax.All[*syntax.TryCatch](u.node) {
		known := false
		for _, s := range tc.Catch {
			for l := range syntax.All[*syntax.Literal](s) {
				known = known || l.Kind == syntax.IntLiteral && (l.Value == "2627" || l.Value == "2601")
			}
		}
		if !known {
			continue
		}
		for _, s := range tc.Try {
			for inner := range syntax.All[syntax.Stmt](s) {
				out[inner] = true
			}
		}
	}
	return out
}

// checkTestedInsert looks at IF [NOT] EXISTS (…) … INSERT and at UPDATE …; IF @@ROWCOUNT = 0 INSERT.
func (p *pass) checkTestedInsert(u *unit, list []syntax.Stmt, i int, s *syntax.If, handled map[syntax.Stmt]bool) {
	for insert := range syntax.All[*syntax.Insert](s) {
		p.checkNotExists(u, s.Cond, insert, handled)
		if i == 0 || !systemVariable(s.Cond, "@@ROWCOUNT") {
			continue
		}
		update, ok := list[i-1].(*syntax.Update)
		if !ok || handled[insert] {
			continue
		}
		target, _ := u.target(insert)
		updated, _ := u.target(update)
		if target == nil || updated == nil || !u.writesStored(insert) || target.tableName() != updated.tableName() {
			continue
		}
		if updated.ref == nil || !holdsRange(updated.ref) {
			p.report(u, head(u, update), "WITH (UPDLOCK, HOLDLOCK) on the table that is updated",
				"another caller may insert the same row between this UPDATE and the INSERT")
		}
	}
}

// checkNotExists looks at tests of EXISTS over the table that is inserted into.
func (p *pass) checkNotExists(u *unit, tests syntax.Node, insert *syntax.Insert, handled map[syntax.Stmt]bool) {
	target, _ := u.target(insert)
	if target == nil || !u.writesStored(insert) || handled[insert] || isNil(tests) {
		return
	}
	for exists := range syntax.All[*syntax.Exists](tests) {
		for t := range syntax.All[*syntax.TableRef](exists) {
			source := u.sources[t]
			if source != nil && source.tableName() == target.tableName() && !holdsRange(t) {
				p.report(u, t.Span, "WITH (UPDLOCK, HOLDLOCK), in one transaction with the INSERT",
					"another caller may insert the same row between this test and the INSERT")
			}
		}
	}
}

// isNil says whether an interface holds a nil query: an INSERT of values has none.
func isNil(n syntax.Node) bool {
	q, ok := n.(*syntax.Query)
	return n == nil || ok && q == nil
}

// holdsRange says whether a read locks the gap too, in a mode that only one can have.
func holdsRange(t *syntax.TableRef) bool {
	return hinted(t, "HOLDLOCK", "SERIALIZABLE") && hinted(t, "UPDLOCK", "XLOCK") || hinted(t, "TABLOCKX")
}

// isolationRules are about the level under which procedures run.
var isolationRules = []Rule{
	{
		ID:    "Q12-level",
		Title: "Procedures run under READ COMMITTED",
		Reason: "SNAPSHOT aborts writers with 3960, SERIALIZABLE and REPEATABLE READ lock ranges that nobody asked for, and the " +
			"hints of a claim mean something else under each.",
		Bad:      "CREATE PROCEDURE dbo.one AS\nSET TRANSACTION ISOLATION LEVEL SERIALIZABLE;\nSELECT 1 AS one;",
		Good:     "CREATE PROCEDURE dbo.one AS\nSET TRANSACTION ISOLATION LEVEL READ COMMITTED;\nSELECT 1 AS one;",
		Optional: true,
		check: func(p *pass) {
			for _, u := range p.modules() {
				for set := range syntax.All[*syntax.SetOption](u.node) {
					if set.Name == "TRANSACTION ISOLATION LEVEL" && set.Value != "READ COMMITTED" && set.Value != "READ UNCOMMITTED" {
						p.report(u, set.Span, "lock what must not change with hints", "isolation level %s", set.Value)
					}
				}
			}
		},
	},
	{
		ID:    "Q12-guard",
		Title: "A procedure that claims refuses SNAPSHOT and SERIALIZABLE sessions",
		Reason: "The caller's level stays in force in a procedure. The option names the procedure or function that checks it; " +
			"SET TRANSACTION ISOLATION LEVEL READ COMMITTED does as well.",
		Bad: "CREATE PROCEDURE dbo.claim AS\nSET NOCOUNT ON; SET XACT_ABORT ON;\n" +
			"UPDATE TOP (1) dbo.jobs WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) SET taken = 1 OUTPUT inserted.id WHERE taken = 0;",
		Good: "CREATE PROCEDURE dbo.claim AS\nSET NOCOUNT ON; SET XACT_ABORT ON;\nEXEC dbo.check_isolation;\n" +
			"UPDATE TOP (1) dbo.jobs WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) SET taken = 1 OUTPUT inserted.id WHERE taken = 0;",
		Needs:   "isolation_guard",
		Example: Options{IsolationGuard: "check_isolation"},
		check:   checkIsolationGuard,
	},
}

func checkIsolationGuard(p *pass) {
	if p.Options.IsolationGuard == "" {
		return
	}
	for _, u := range p.procedures() {
		claims := false
		for t := range syntax.All[*syntax.TableRef](u.node) {
			claims = claims || hinted(t, "READPAST")
		}
		if claims && !p.guarded(u) {
			p.report(u, u.name.Span, "begin with EXEC "+p.Options.IsolationGuard, "%s claims under whatever level the session has",
				nameText(u.name))
		}
	}
}

// guarded says whether a unit checks the isolation level, or sets it.
func (p *pass) guarded(u *unit) bool {
	for n := range syntax.All[*syntax.ObjectName](u.node) {
		if among([]string{p.Options.IsolationGuard}, catalog.Name{Name: last(n).Value}) || same(nameText(n), p.Options.IsolationGuard) {
			return true
		}
	}
	for set := range syntax.All[*syntax.SetOption](u.node) {
		if set.Name == "TRANSACTION ISOLATION LEVEL" && set.Value == "READ COMMITTED" {
			return true
		}
	}
	return false
}
