package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// planRules are about plans: those that are made for one call, and those that must be the same whatever the statistics
// say.
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
	Title: "A read of a queue table that locks rows, or skips locked ones, names its index",
	Reason: "The plan of an empty queue reads the whole table; kept for a long one it locks everything, and comes to rows and keys " +
		"in another order than those who write them.",
	Bad:     "SELECT TOP (1) j.id FROM dbo.jobs AS j WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK) WHERE j.taken = 0 ORDER BY j.id;",
	Good:    "SELECT TOP (1) j.id FROM dbo.jobs AS j WITH (READCOMMITTEDLOCK, READPAST, ROWLOCK, INDEX (ix_jobs_free)) WHERE j.taken = 0 ORDER BY j.id;",
	Needs:   "queue_tables",
	Example: Options{QueueTables: []string{"jobs"}, Disable: []string{"Q1"}},
	check:   checkIndexes,
}, {
	ID:    "Q9-either",
	Title: "A read of a queue table that two of its indexes can seek names one of them, unless it fixes a key",
	Reason: "Which one it comes by is the plan's choice. A read that finds a key in an index and waits for the row deadlocks with who " +
		"has locked the row and wants the key.",
	Bad: "CREATE TABLE dbo.jobs (owner int NOT NULL, id int NOT NULL, kind int NOT NULL, work varchar(99) NOT NULL, CONSTRAINT pk_jobs PRIMARY KEY (owner, id));\n" +
		"CREATE INDEX ix_kind ON dbo.jobs (owner, kind);\nGO\nSELECT j.work FROM dbo.jobs AS j WHERE j.owner = 1 AND j.kind = 2 OPTION (KEEPFIXED PLAN);",
	Good: "CREATE TABLE dbo.jobs (owner int NOT NULL, id int NOT NULL, kind int NOT NULL, work varchar(99) NOT NULL, CONSTRAINT pk_jobs PRIMARY KEY (owner, id));\n" +
		"CREATE INDEX ix_kind ON dbo.jobs (owner, kind);\nGO\nSELECT j.work FROM dbo.jobs AS j WITH (INDEX (pk_jobs)) WHERE j.owner = 1 AND j.kind = 2 OPTION (KEEPFIXED PLAN);",
	Needs:   "queue_tables",
	Example: Options{QueueTables: []string{"jobs"}, Disable: []string{"Q5"}},
	check:   checkEither,
}, {
	ID:    "Q9-key",
	Title: "A read of a hot table by a unique key that is not the clustered one names its index",
	Reason: "The plan of an empty table reads it as a whole, since that costs as much as a seek; kept for a long one it does so on " +
		"every call.",
	Bad:     "CREATE TABLE dbo.names (id int NOT NULL PRIMARY KEY, name int NOT NULL CONSTRAINT uq_name UNIQUE);\nGO\nSELECT n.id FROM dbo.names AS n WHERE n.name = 1;",
	Good:    "CREATE TABLE dbo.names (id int NOT NULL PRIMARY KEY, name int NOT NULL CONSTRAINT uq_name UNIQUE);\nGO\nSELECT n.id FROM dbo.names AS n WITH (INDEX (uq_name)) WHERE n.name = 1;",
	Needs:   "hot_tables",
	Example: Options{HotTables: []string{"names"}},
	check:   checkKeys,
}, {
	ID:    "Q9-loop",
	Title: "A join of a table variable with a hot table says LOOP",
	Reason: "How many rows a table variable has is a guess, or what the first call had. A hash or a merge join reads all of the hot " +
		"table, and locks it in an order of its own.",
	Bad:     "DECLARE @ids TABLE (id int);\nDELETE j FROM @ids AS i INNER JOIN dbo.jobs AS j ON j.id = i.id;",
	Good:    "DECLARE @ids TABLE (id int);\nDELETE j FROM @ids AS i INNER LOOP JOIN dbo.jobs AS j ON j.id = i.id;",
	Needs:   "hot_tables",
	Example: Options{HotTables: []string{"jobs"}},
	check:   checkJoins,
}, {
	ID:    "Q9-write",
	Title: "A write to a hot table that has several indexes says ROWLOCK, and names the index that finds its rows",
	Reason: "Who comes by another index locks its key first and the row after it. Who writes the row locks it first and then the keys: " +
		"the two deadlock. Without ROWLOCK the server may begin with a lock of a page or of the table.",
	Bad:     "CREATE TABLE dbo.jobs (id int NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, token int NOT NULL CONSTRAINT uq_token UNIQUE);\nGO\nUPDATE dbo.jobs SET token = 2 WHERE id = @id AND token = @token;",
	Good:    "CREATE TABLE dbo.jobs (id int NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, token int NOT NULL CONSTRAINT uq_token UNIQUE);\nGO\nUPDATE j SET token = 2 FROM dbo.jobs AS j WITH (ROWLOCK, INDEX (pk_jobs)) WHERE j.id = @id AND j.token = @token;",
	Needs:   "hot_tables",
	Example: Options{HotTables: []string{"jobs"}},
	check:   checkWrites,
}, {
	ID:    "Q9-same",
	Title: "If a procedure names an index of a hot table that has several, it names one wherever it reads or writes rows of it",
	Reason: "One reference that is free to come by any index brings back what the others prevent: another order of locks, and a plan " +
		"that reads the whole table.",
	Bad: "CREATE TABLE dbo.jobs (id int NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, owner int NOT NULL);\nCREATE INDEX ix_owner ON dbo.jobs (owner);\nGO\n" +
		"CREATE PROCEDURE dbo.find @id int AS\nSELECT j.id FROM dbo.jobs AS j WITH (INDEX (ix_owner)) WHERE j.owner = @id;\nSELECT j.owner FROM dbo.jobs AS j WHERE j.id = @id;",
	Good: "CREATE TABLE dbo.jobs (id int NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, owner int NOT NULL);\nCREATE INDEX ix_owner ON dbo.jobs (owner);\nGO\n" +
		"CREATE PROCEDURE dbo.find @id int AS\nSELECT j.id FROM dbo.jobs AS j WITH (INDEX (ix_owner)) WHERE j.owner = @id;\nSELECT j.owner FROM dbo.jobs AS j WITH (INDEX (pk_jobs)) WHERE j.id = @id;",
	Needs:    "hot_tables",
	Optional: true,
	Example:  Options{HotTables: []string{"jobs"}},
	check:    checkSame,
}, {
	ID:    "Q9-fixed",
	Title: "A statement that reads a queue table says KEEPFIXED PLAN",
	Reason: "A queue's rows are replaced thousands of times a second, which makes statistics old and compiles every statement anew, " +
		"about once a second. Hints have fixed the plan already. A condition of IF or WHILE can't have options, and VALUES needs no plan.",
	Bad:      "SELECT j.id FROM dbo.jobs AS j WHERE j.taken = 0;",
	Good:     "SELECT j.id FROM dbo.jobs AS j WHERE j.taken = 0 OPTION (KEEPFIXED PLAN);",
	Needs:    "queue_tables",
	Optional: true,
	Example:  Options{QueueTables: []string{"jobs"}},
	check:    checkFixedPlans,
}}

// checkFixedPlans looks at procedures and other batches. A view and an inline function are part of other statements.
func checkFixedPlans(p *pass) {
	p.statements(func(u *unit, s syntax.Stmt, n syntax.Node) {
		if n != syntax.Node(s) { // the condition of a branch or a loop
			return
		}
		queue := ""
		for t := range syntax.All[*syntax.TableRef](n) {
			_, target := u.target(s)
			if source := u.Tables[t]; (!is[*syntax.Insert](s) || target != syntax.Node(t)) && among(p.Options.QueueTables, source.StoredName()) {
				queue = source.StoredName().Name
			}
		}
		fixed := false
		for o := range syntax.All[*syntax.Option](n) {
			fixed = fixed || o.Name == "KEEPFIXED PLAN"
		}
		if queue != "" && !fixed {
			p.report(u, head(u, s), "add OPTION (KEEPFIXED PLAN)", "this statement is compiled anew whenever the statistics of %s are", queue)
		}
	})
}

// checkEither looks at what seeks a queue by a part of a key.
func checkEither(p *pass) {
	p.statements(func(u *unit, s syntax.Stmt, n syntax.Node) {
		_, target := u.target(s) // Q9-write is about it
		for t := range syntax.All[*syntax.TableRef](n) {
			source := u.Tables[t]
			if source == nil || source.Table == nil || !among(p.Options.QueueTables, source.StoredName()) ||
				target == syntax.Node(t) || hinted(t, "INDEX", "FORCESEEK") || u.reachedByKey(s, t) {
				continue
			}
			fixed, sought := u.fixed(source, syntax.All[*syntax.Compare](n)), 0
			for _, ix := range source.Table.Indexes {
				if covers(fixed, ix.Columns[:1]) {
					sought++
				}
			}
			if sought > 1 {
				p.report(u, t.Span, "add INDEX (…)", "the plan is free to come to %s by any of %d indexes", source.StoredName(), sought)
			}
		}
	})
}

// checkSame looks at all references to a hot table in a procedure, but those that say only what an INSERT, an UPDATE or
// a DELETE is about.
func checkSame(p *pass) {
	for _, u := range p.units {
		targets := map[*syntax.TableRef]bool{}
		for s := range syntax.All[syntax.Stmt](u.node) {
			written, node := u.target(s)
			if ref, ok := node.(*syntax.TableRef); ok && (is[*syntax.Insert](s) || written != nil && written.Ref != nil && written.Ref != ref) {
				targets[ref] = true
			}
		}
		named, free := map[string]bool{}, []*syntax.TableRef{}
		for t := range syntax.All[*syntax.TableRef](u.node) {
			s := u.Tables[t]
			switch {
			case s == nil || s.Table == nil || s.Kind != analyze.StoredTable || targets[t]:
			case len(s.Table.Indexes) < 2 || !among(p.Options.HotTables, s.StoredName()):
			case hinted(t, "INDEX", "FORCESEEK"):
				named[s.StoredName().Key()] = true
			default:
				free = append(free, t)
			}
		}
		for _, t := range free {
			if name := u.Tables[t].StoredName(); named[name.Key()] {
				p.report(u, t.Span, "add INDEX or FORCESEEK", "%s is reached by a named index elsewhere, and by any here", name)
			}
		}
	}
}

// checkWrites looks at tables that are updated and deleted from. Their own reference is in FROM, if there is one.
func checkWrites(p *pass) {
	p.statements(func(u *unit, s syntax.Stmt, _ syntax.Node) {
		written, node := u.target(s)
		if written == nil || written.Table == nil || written.Kind != analyze.StoredTable || is[*syntax.Insert](s) ||
			len(written.Table.Indexes) < 2 || !among(p.Options.HotTables, written.StoredName()) {
			return
		}
		at := written.Ref
		if at == nil {
			at, _ = node.(*syntax.TableRef)
		}
		switch {
		case at == nil:
		case !hinted(at, "INDEX", "FORCESEEK"):
			p.report(u, at.Span, "add INDEX or FORCESEEK", "the plan is free to come to %s by any index", written.StoredName())
		case !hinted(at, "ROWLOCK"):
			p.report(u, at.Span, "add ROWLOCK", "this write may begin with a lock of all of %s", written.StoredName())
		}
	})
}

// checkKeys looks at hot tables that are asked for one row by a unique index.
func checkKeys(p *pass) {
	p.statements(func(u *unit, _ syntax.Stmt, n syntax.Node) {
		for t := range syntax.All[*syntax.TableRef](n) {
			source := u.Tables[t]
			if source == nil || source.Table == nil || source.Kind != analyze.StoredTable || !among(p.Options.HotTables, source.StoredName()) || hinted(t, "INDEX", "FORCESEEK") {
				continue
			}
			fixed, unique, clustered := u.fixed(source, syntax.All[*syntax.Compare](n)), "", false
			for _, ix := range source.Table.Indexes {
				switch {
				case !covers(fixed, ix.Columns):
				case ix.Clustered:
					clustered = true
				case ix.Unique:
					unique = ix.Name
				}
			}
			if unique != "" && !clustered {
				p.report(u, t.Span, "add INDEX ("+unique+")", "the plan is free to read all of %s", source.StoredName())
			}
		}
	})
}

// checkJoins looks at joins. APPLY is a loop by itself.
func checkJoins(p *pass) {
	p.statements(func(u *unit, _ syntax.Stmt, n syntax.Node) {
		for o := range syntax.All[*syntax.Option](n) {
			if o.Name == "LOOP JOIN" {
				return
			}
		}
		for j := range syntax.All[*syntax.Join](n) {
			if j.Hint == "LOOP" || j.On == nil {
				continue
			}
			for _, sides := range [][2]syntax.TableSource{{j.X, j.Y}, {j.Y, j.X}} {
				if hot := p.hot(u, sides[0]); hot != "" && u.joinsLocal(sides[1]) {
					p.report(u, j.Range(), "write LOOP before JOIN", "the plan is free to read all of %s", hot)
				}
			}
		}
	})
}

// hot is the name of a hot table on one side of a join, empty if there is none.
func (p *pass) hot(u *unit, side syntax.TableSource) string {
	for t := range syntax.All[*syntax.TableRef](side) {
		if source := u.Tables[t]; source != nil && source.Kind == analyze.StoredTable && among(p.Options.HotTables, source.StoredName()) {
			return source.StoredName().String()
		}
	}
	return ""
}

// joinsLocal says whether a table variable is on one side of a join.
func (u *unit) joinsLocal(side syntax.TableSource) bool {
	for t := range syntax.All[syntax.TableSource](side) {
		if source := u.Tables[t]; source != nil && source.Kind == analyze.LocalTable {
			return true
		}
	}
	return false
}

// checkIndexes looks at the hints of queues. A row that is reached by its key has but one way.
func checkIndexes(p *pass) {
	p.queueReads(func(u *unit, s syntax.Stmt, t *syntax.TableRef, queue catalog.Name) {
		if !hinted(t, "INDEX", "FORCESEEK") && !u.reachedByKey(s, t) {
			p.report(u, t.Span, "add INDEX (…)", "the plan is free to read the whole queue %s", queue)
		}
	})
}
