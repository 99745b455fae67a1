package vet

import (
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// planRules are about plans that are made for one call.
var planRules = []Rule{{
	ID:     "Q9",
	Title:  "RECOMPILE has its reason in a comment",
	Reason: "It spends milliseconds of processor time on every call; what is called often should have one plan that fits all.",
	Bad:    "CREATE PROCEDURE dbo.find @a int AS\n\nSELECT id FROM dbo.users WHERE a = @a\nOPTION (RECOMPILE);",
	Good: "CREATE PROCEDURE dbo.find @a int AS\n\nSELECT id FROM dbo.users WHERE a = @a\n" +
		"OPTION (RECOMPILE); -- once a night, over all or nothing",
	Optional: true,
	check: func(p *pass) {
		for _, u := range p.units {
			for o := range syntax.All[*syntax.Option](u.node) {
				if o.Name == "RECOMPILE" && !u.explained(o.Span, o.Name) {
					p.report(u, o.Span, "say why in a comment, or leave it out", "nothing says why this is compiled on every call")
				}
			}
		}
	},
}}
