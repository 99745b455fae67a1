package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// claimRules are about statements that take work out of a table that others take from at the same time.
var claimRules = []Rule{
	{
		ID:    "Q1",
		Title: "A scan that claims carries READCOMMITTEDLOCK, READPAST, UPDLOCK and ROWLOCK",
		Reason: "Where READ COMMITTED reads versions (the default in Azure SQL), READPAST and UPDLOCK lose their meaning " +
			"without READCOMMITTEDLOCK; page locks make others skip rows that are free.",
		Bad:   "UPDATE TOP (1) dbo.jobs WITH (UPDLOCK, READPAST) SET taken = 1 OUTPUT inserted.id WHERE taken = 0;",
		Good:  "UPDATE TOP (1) dbo.jobs WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) SET taken = 1 OUTPUT inserted.id WHERE taken = 0;",
		check: checkClaims,
	},
	{
		ID:    "Q2",
		Title: "A SELECT that locks rows stands inside a transaction",
		Reason: "Outside of one, the locks of UPDLOCK, XLOCK and HOLDLOCK are gone when the statement ends, and what it read " +
			"may have changed before the next.",
		Bad: `CREATE PROCEDURE dbo.peek @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
DECLARE @state int;
SELECT @state = state FROM dbo.jobs WITH (UPDLOCK, HOLDLOCK) WHERE id = @id;
IF @state = 1 UPDATE dbo.jobs SET state = 2 WHERE id = @id;`,
		Good: `CREATE PROCEDURE dbo.peek @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
DECLARE @state int;
BEGIN TRY
    BEGIN TRANSACTION;
    SELECT @state = state FROM dbo.jobs WITH (UPDLOCK, HOLDLOCK) WHERE id = @id;
    IF @state = 1 UPDATE dbo.jobs SET state = 2 WHERE id = @id;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		check: checkHeldLocks,
	},
	{
		ID:     "Q2-exists",
		Title:  "EXISTS does not skip locked rows",
		Reason: "A row that somebody is writing is there, or was, or will be. NOT EXISTS with READPAST says that it is not.",
		Bad: "SELECT j.id FROM dbo.jobs AS j WHERE NOT EXISTS " +
			"(SELECT 1 FROM dbo.owners AS o WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) WHERE o.job = j.id);",
		Good:  "SELECT j.id FROM dbo.jobs AS j WHERE NOT EXISTS (SELECT 1 FROM dbo.owners AS o WITH (READCOMMITTEDLOCK) WHERE o.job = j.id);",
		check: checkExists,
	},
}

// claimHints are the four that belong together. READPAST skips what others have locked, UPDLOCK keeps two from taking
// the same row, ROWLOCK keeps a lock from covering rows that nobody asked for, and READCOMMITTEDLOCK makes the other
// three work where READ COMMITTED reads versions.
var claimHints = []string{"READCOMMITTEDLOCK", "READPAST", "ROWLOCK", "UPDLOCK"}

// checkClaims looks at every statement that may take rows; nobody claims by MERGE.
func checkClaims(p *pass) {
	for _, u := range p.units {
		for s := range syntax.All[syntax.Stmt](u.node) {
			switch s := s.(type) {
			case *syntax.SelectStmt, *syntax.Insert, *syntax.Update:
				p.checkClaim(u, s)
			case *syntax.Delete: // a purge may skip what is locked; what returns rows takes them
				if s.Output != nil {
					p.checkClaim(u, s)
				}
			}
		}
	}
}

// checkClaim looks at the hints of every table of a statement. UPDLOCK with HOLDLOCK guards an insert (rule Q10), and a
// row that is reached by its key is waited for rather than skipped.
func (p *pass) checkClaim(u *unit, s syntax.Stmt) {
	for t := range syntax.All[*syntax.TableRef](s) {
		claims := hinted(t, "READPAST") || hinted(t, "UPDLOCK", "XLOCK") && !u.reachedByKey(s, t)
		if !claims || hinted(t, "HOLDLOCK", "SERIALIZABLE", "TABLOCK", "TABLOCKX") {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(claimHints), func(h string) bool { return hinted(t, h) })
		if len(missing) > 0 {
			p.report(u, t.Span, "WITH ("+strings.Join(claimHints, ", ")+")",
				"a scan that claims rows lacks %s", strings.Join(missing, ", "))
		}
	}
}

// reachedByKey says whether the conditions around a table fix all columns of one of its keys. Of a table that isn't
// known, only TOP tells that rows are looked for.
func (u *unit) reachedByKey(s syntax.Stmt, t *syntax.TableRef) bool {
	source := u.Tables[t]
	if source == nil || source.Table == nil {
		return !hasTop(s)
	}
	return u.fixesKey(source, syntax.All[*syntax.Compare](s))
}

// hasTop says whether TOP stands anywhere in a statement.
func hasTop(s syntax.Stmt) bool {
	for range syntax.All[*syntax.Top](s) {
		return true
	}
	return false
}

// checkHeldLocks reports locking reads that may run without a transaction. An UPDATE or DELETE needs none: it locks
// and writes in one statement.
func checkHeldLocks(p *pass) {
	for _, u := range p.procedures() {
		for s := range syntax.All[*syntax.SelectStmt](u.node) {
			if u.flow.before[s]&txClosed == 0 || u.flow.joinsCaller {
				continue
			}
			for t := range syntax.All[*syntax.TableRef](s) {
				if hinted(t, "UPDLOCK", "XLOCK", "HOLDLOCK", "SERIALIZABLE", "TABLOCKX") {
					p.report(u, t.Span, "BEGIN TRANSACTION before it", "the locks of this SELECT end with the statement")
				}
			}
		}
	}
}

// checkExists looks at subqueries of EXISTS, and at what they read in subqueries of their own.
func checkExists(p *pass) {
	for _, u := range p.units {
		for e := range syntax.All[*syntax.Exists](u.node) {
			for t := range syntax.All[*syntax.TableRef](e) {
				if hinted(t, "READPAST") {
					p.report(u, t.Span, "leave READPAST out", "a locked row counts as if it were not there")
				}
			}
		}
	}
}
