package vet

import (
	"github.com/duroxide/duroxide-go/internal/tsql/catalog"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// planRules are about plans: those that are made for one call, and those that must be the same whatever the statistics say.
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
}, {
	ID:    "Q9-index",
	Title: "A look into a queue table that locks rows, or passes over locked ones, names its index",
	Reason: "The plan of an empty queue reads the whole table; kept for a long one it locks everything, and comes to rows and keys " +
		"in another order than those who write them.",
	Bad:     "SELECT TOP (1) j.id FROM dbo.jobs AS j WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK) WHERE j.taken = 0 ORDER BY j.id;",
	Good:    "SELECT TOP (1) j.id FROM dbo.jobs AS j WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_jobs_free)) WHERE j.taken = 0 ORDER BY j.id;",
	Needs:   "queue_tables",
	Example: Options{QueueTables: []string{"jobs"}, Disable: []string{"Q1"}},
	check:   checkIndexes,
}}

// checkIndexes looks at the hints of queues. A row that is reached by its key has but one way.
func checkIndexes(p *pass) {
	p.queueReads(func(u *unit, s syntax.Stmt, t *syntax.TableRef, queue catalog.Name) {
		if !hinted(t, "INDEX", "FORCESEEK") && !u.reachedByKey(s, t) {
			p.report(u, t.Span, "add INDEX (…)", "the plan is free to read the whole queue %s", queue)
		}
	})
}
