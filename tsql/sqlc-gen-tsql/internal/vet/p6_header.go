package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// headerRules are about the comment above a procedure, which is its documentation in SQL and in Go.
var headerRules = []Rule{
	{
		ID:       "P6-header",
		Title:    "A procedure has a header comment whose first sentence says what it does",
		Reason:   "The sentence is the documentation of the generated method, and what a reviewer checks the text against.",
		Bad:      "CREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Good:     "-- Returns one.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Optional: true,
		check:    checkHeaders,
	},
	{
		ID:       "P6-results",
		Title:    "The header has a section Result sets if and only if the procedure returns some",
		Reason:   "Callers read result sets by position; their order and meaning are a contract.",
		Bad:      "-- Returns one.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Good:     "-- Returns one.\n-- Result sets:\n--   1. the number\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Optional: true,
		check:    checkResultSections,
	},
	{
		ID:       "P6-errors",
		Title:    "The header has a section Errors if the procedure throws",
		Reason:   "The numbers are part of the contract, and their names come from there.",
		Bad:      "-- Fails.\nCREATE PROCEDURE dbo.fail AS THROW 50010, N'gone', 1;",
		Good:     "-- Fails.\n-- Errors:\n--   50010 gone: it is not there\nCREATE PROCEDURE dbo.fail AS THROW 50010, N'gone', 1;",
		Optional: true,
		check:    checkErrorSections,
	},
	{
		ID:     "P6-locks",
		Title:  "The header of a procedure that writes several tables states the order in which it locks them",
		Reason: "Two procedures that lock the same tables in another order deadlock, and nobody sees it in either text.",
		Bad: `-- Pays.
CREATE PROCEDURE dbo.pay @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE dbo.orders SET paid = 1 WHERE id = @id;
    INSERT dbo.payments (order_id) VALUES (@id);
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Good: `-- Pays.
-- Locks: orders, payments.
CREATE PROCEDURE dbo.pay @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE dbo.orders SET paid = 1 WHERE id = @id;
    INSERT dbo.payments (order_id) VALUES (@id);
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Optional: true,
		check:    checkLockSections,
	},
	{
		ID:    "P6-hints",
		Title: "Every hint has its reason: in the header, on its line or on the line above; those of vet.hints need none",
		Reason: "A hint overrules the server for good. Whoever meets it later must be able to tell whether the reason still " +
			"holds.",
		Bad:      "-- Lists users.\nCREATE PROCEDURE dbo.list_users AS\n\nSELECT name FROM dbo.users WITH (INDEX (by_name));",
		Good:     "-- Lists users.\nCREATE PROCEDURE dbo.list_users AS\n\n-- Sorted already.\nSELECT name FROM dbo.users WITH (INDEX (by_name));",
		Optional: true,
		check:    checkHints,
	},
}

// checkHeaders asks for a first sentence; sections alone say how, not what.
func checkHeaders(p *pass) {
	for _, u := range p.procedures() {
		if strings.TrimSpace(u.header.Doc) == "" {
			p.report(u, u.name.Span, "write a sentence above CREATE PROCEDURE", "%s has no header comment", syntax.Dotted(u.name.Parts))
		}
	}
}

// checkResultSections needs the analysis: only it knows which statements of a procedure yield a result.
func checkResultSections(p *pass) {
	for _, u := range p.procedures() {
		program := p.program(u)
		if program == nil {
			continue
		}
		has, wants := u.hasSection("result sets", "result set", "results", "result"), len(program.Results) > 0
		switch {
		case wants && !has:
			p.report(u, u.name.Span, "add Result sets: to the header, with a line for each",
				"the header of %s does not say what its %s hold", syntax.Dotted(u.name.Parts), diag.Count(len(program.Results), "result set"))
		case has && !wants:
			p.report(u, u.name.Span, "delete the section", "the header of %s lists result sets, and it returns none", syntax.Dotted(u.name.Parts))
		}
	}
}

// checkErrorSections asks the analysis, which knows the errors of procedures that are called as well; without it the
// body must do.
func checkErrorSections(p *pass) {
	for _, u := range p.procedures() {
		throws := len(u.thrown()) > 0
		if program := p.program(u); program != nil {
			throws = len(program.Errors) > 0
		}
		if throws && !u.hasSection("errors") {
			p.report(u, u.name.Span, "add Errors: to the header, with a line <number> <name>: <text> for each",
				"the header of %s does not list its errors", syntax.Dotted(u.name.Parts))
		}
	}
}

// checkLockSections counts the tables that are written. Reads lock as well, but not for long under READ COMMITTED,
// and not at all where it reads versions.
func checkLockSections(p *pass) {
	for _, u := range p.procedures() {
		tables := map[string]bool{}
		// By name and not by source: the same table twice is one table to lock.
		for _, s := range u.writes() {
			source, _ := u.target(s)
			if name := source.StoredName(); name.Name != "" {
				tables[name.Key()] = true
			}
		}
		if len(tables) > 1 && !u.hasSection("locks", "lock order") {
			p.report(u, u.name.Span, "add Locks: to the header, with the tables in order",
				"the header of %s does not state in which order it locks %d tables", syntax.Dotted(u.name.Parts), len(tables))
		}
	}
}

// checkHints looks at the hints of tables, of statements (OPTION) and of joins. LOOP, HASH and MERGE between two
// tables also fix the order of all joins of the query, which surprises most people who write one.
func checkHints(p *pass) {
	for _, u := range p.modules() {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.TableRef:
				p.explainHints(u, n.Hints)
			case *syntax.Query:
				p.explainHints(u, n.Options)
			case *syntax.Insert:
				p.explainHints(u, n.Options)
			case *syntax.Update:
				p.explainHints(u, n.Options)
			case *syntax.Delete:
				p.explainHints(u, n.Options)
			case *syntax.Merge:
				p.explainHints(u, n.Options)
			case *syntax.Join:
				if n.Hint != "" && !p.known(n.Hint) && !u.explained(n.Y.Range(), n.Hint) {
					p.report(u, n.Y.Range(), "say why in a comment", "nothing says why the join is a %s join", n.Hint)
				}
			}
			return true
		})
	}
}

// explainHints reports hints without a reason. RECOMPILE has a rule of its own.
func (p *pass) explainHints(u *unit, hints []syntax.Option) {
	for _, h := range hints {
		if h.Name != "RECOMPILE" && !p.known(h.Name) && !u.explained(h.Span, h.Name) {
			p.report(u, h.Span, "say why in a comment", "nothing says why %s is here", h.Name)
		}
	}
}

// known says whether one text explains a hint for all scripts.
func (p *pass) known(hint string) bool {
	return slices.ContainsFunc(p.Options.Hints, func(name string) bool { return same(name, hint) })
}
