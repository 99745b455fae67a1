package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

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

// checkUpserts looks for the three ways to insert what isn't there: IF NOT EXISTS … INSERT, INSERT … WHERE NOT
// EXISTS, and UPDATE followed by IF @@ROWCOUNT = 0 INSERT. Each has a gap that another caller fits through, even in a
// transaction and even as one statement: READ COMMITTED locks no rows that aren't there.
func checkUpserts(p *pass) {
	for _, u := range p.modules() {
		// Every read of the unit holds its range; nothing more can be asked for.
		if u.serializable() {
			continue
		}
		handled := u.handlingDuplicates()
		u.eachList(func(list []syntax.Stmt) {
			for i, s := range list {
				switch s := s.(type) {
				case *syntax.If:
					p.checkTestedInsert(u, list, i, s, handled)
				case *syntax.Insert:
					if s.Query != nil && negated(s.Query) {
						p.checkNotExists(u, s.Query, s, handled)
					}
				}
			}
		})
	}
}

// eachList calls f for the body of a unit and for every list of statements in it; a statement alone is a list of one.
func (u *unit) eachList(f func([]syntax.Stmt)) {
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

// serializable says whether a unit sets the isolation level under which a test holds. Under SERIALIZABLE every read
// locks its range, and deadlocks where UPDLOCK would wait; but it is correct.
func (u *unit) serializable() bool {
	for set := range syntax.All[*syntax.SetOption](u.node) {
		if set.Name == "TRANSACTION ISOLATION LEVEL" && set.Value == "SERIALIZABLE" {
			return true
		}
	}
	return false
}

// handlingDuplicates returns the statements in a TRY whose CATCH knows the error of a duplicate key. 2627 is raised
// by a constraint and 2601 by a unique index; whoever names one of them has thought of the race.
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

// checkTestedInsert looks at IF [NOT] EXISTS (…) … INSERT and at UPDATE …; IF @@ROWCOUNT = 0 INSERT. Any test of
// EXISTS in the condition counts, whatever else is asked: the condition as a whole decides whether the row is
// inserted.
func (p *pass) checkTestedInsert(u *unit, list []syntax.Stmt, i int, s *syntax.If, handled map[syntax.Stmt]bool) {
	absent, present := s.Then, s.Else // where the row is missing, and where it is there
	if !negated(s.Cond) {
		absent, present = s.Else, s.Then
	}
	if absent != nil {
		for insert := range syntax.All[*syntax.Insert](absent) {
			p.checkNotExists(u, s.Cond, insert, handled)
		}
	}
	// Everything behind such an IF is where the row is missing.
	if present != nil && absent == nil && leaves(present) { // IF EXISTS (…) RETURN; INSERT …
		for _, rest := range list[i+1:] {
			for insert := range syntax.All[*syntax.Insert](rest) {
				p.checkNotExists(u, s.Cond, insert, handled)
			}
		}
	}
	if update, ok := previous(list, i).(*syntax.Update); ok && systemVariable(s.Cond, "@@ROWCOUNT") {
		for insert := range syntax.All[*syntax.Insert](s) {
			p.checkUpdateFirst(u, update, insert, handled)
		}
	}
}

// negated says whether EXISTS stands under NOT in a condition.
func negated(x syntax.Node) bool {
	for not := range syntax.All[*syntax.Not](x) {
		for range syntax.All[*syntax.Exists](not) {
			return true
		}
	}
	return false
}

// previous returns the statement before the one at i, or nil.
func previous(list []syntax.Stmt, i int) syntax.Stmt {
	if i == 0 {
		return nil
	}
	return list[i-1]
}

// checkUpdateFirst looks at an INSERT into the table that an UPDATE before it found nothing in. An UPDATE that finds
// no row holds no lock that would keep another caller from inserting it, unless HOLDLOCK makes it lock the gap.
func (p *pass) checkUpdateFirst(u *unit, update *syntax.Update, insert *syntax.Insert, handled map[syntax.Stmt]bool) {
	target, _ := u.target(insert)
	updated, _ := u.target(update)
	// An insert into another table is no upsert, whatever was updated before.
	if handled[insert] || target == nil || updated == nil || !u.writesStored(insert) || target.StoredName() != updated.StoredName() {
		return
	}
	if updated.Ref == nil || !holdsRange(updated.Ref) {
		p.report(u, head(u, update), "WITH (UPDLOCK, HOLDLOCK) on the table that is updated",
			"another caller may insert the same row between this UPDATE and the INSERT")
	}
}

// checkNotExists looks at tests of EXISTS over the table that is inserted into.
func (p *pass) checkNotExists(u *unit, tests syntax.Node, insert *syntax.Insert, handled map[syntax.Stmt]bool) {
	target, _ := u.target(insert)
	if target == nil || !u.writesStored(insert) || handled[insert] {
		return
	}
	for exists := range syntax.All[*syntax.Exists](tests) {
		for t := range syntax.All[*syntax.TableRef](exists) {
			source := u.Tables[t]
			if source != nil && source.Kind == analyze.StoredTable && source.StoredName() == target.StoredName() && !holdsRange(t) {
				p.report(u, t.Span, "WITH (UPDLOCK, HOLDLOCK), in one transaction with the INSERT",
					"another caller may insert the same row between this test and the INSERT")
			}
		}
	}
}

// holdsRange says whether a read locks the gap too, in a mode that only one can have. HOLDLOCK alone takes shared
// locks on the gap, which two callers get at once and then wait for each other.
func holdsRange(t *syntax.TableRef) bool {
	return hinted(t, "HOLDLOCK", "SERIALIZABLE") && hinted(t, "UPDLOCK", "XLOCK") || hinted(t, "TABLOCKX")
}
