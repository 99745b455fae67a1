package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
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
		ID:    "Q12-set",
		Title: "A procedure that is called from outside begins under READ COMMITTED",
		Reason: "The caller's level stays in force in a procedure, and a pooled connection keeps the level that somebody else has " +
			"set. SET TRANSACTION ISOLATION LEVEL costs nothing and ends with the procedure. Helpers run under what their callers set.",
		Bad:     "CREATE PROCEDURE dbo.one AS\nSET NOCOUNT ON;\nSELECT 1 AS one;",
		Good:    "CREATE PROCEDURE dbo.one AS\nSET NOCOUNT ON;\nSET TRANSACTION ISOLATION LEVEL READ COMMITTED;\nSELECT 1 AS one;",
		Needs:   "exclude or gen:internal",
		Example: Options{Helpers: []string{"two"}},
		check: func(p *pass) {
			if len(p.Options.Helpers) == 0 {
				return
			}
			for _, u := range p.procedures() {
				if !p.helper(u) && !setsReadCommitted(u) {
					p.report(u, u.name.Span, "begin with SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
						"%s runs under whatever level the session has", syntax.Dotted(u.name.Parts))
				}
			}
		},
	},
}

// helper says whether only other procedures call the unit's.
func (p *pass) helper(u *unit) bool {
	defaultSchema := ""
	if p.Catalog != nil {
		defaultSchema = p.Catalog.DefaultSchema
	}
	return catalog.NewNames(p.Options.Helpers, defaultSchema).HasWritten(u.name)
}

func setsReadCommitted(u *unit) bool {
	for set := range syntax.All[*syntax.SetOption](u.node) {
		if set.Name == "TRANSACTION ISOLATION LEVEL" && set.Value == "READ COMMITTED" {
			return true
		}
	}
	return false
}
