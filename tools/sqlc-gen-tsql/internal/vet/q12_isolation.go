package vet

import (
	"github.com/duroxide/duroxide-go/internal/tsql/catalog"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

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
						p.report(u, set.Span, "lock what must not change with hints", "the procedure sets isolation level %s", set.Value)
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

// checkIsolationGuard takes READPAST as the mark of a claim: no other use of it is common.
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
	// Both EXEC guard and a call of a function in an expression have the name as such.
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
