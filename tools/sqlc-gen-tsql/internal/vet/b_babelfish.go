package vet

import (
	"slices"

	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
)

// onBabelfish is what every rule here needs, and what its example assumes.
var onBabelfish = Options{Portability: []string{Babelfish}}

// babelfishRules name what Babelfish 4.4 refuses or does differently. Each was tried on that version: either the
// statement fails there, or it succeeds and means something else, which is worse. Later versions may take some of it,
// and the rules stay until somebody has tried again.
var babelfishRules = []Rule{
	portable(Rule{
		ID:     "B1",
		Title:  "No inline INDEX in CREATE TABLE or a table type",
		Reason: "Babelfish refuses it; an index of a table is a statement of its own.",
		Bad:    "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NOT NULL, INDEX by_a (a));",
		Good:   "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NOT NULL);\nCREATE INDEX by_a ON dbo.t (a);",
	}, "inline INDEX", "CREATE INDEX", func(_ *unit, n syntax.Node) bool { return is[*syntax.IndexDef](n) }),
	portable(Rule{
		ID:     "B2",
		Title:  "No ALTER COLUMN … NOT NULL",
		Reason: "Babelfish refuses it.",
		Bad:    "ALTER TABLE dbo.t ALTER COLUMN a int NOT NULL;",
		Good:   "ALTER TABLE dbo.t ADD b int NOT NULL CONSTRAINT df_b DEFAULT 0;",
	}, "ALTER COLUMN … NOT NULL", "add a column with a default", func(_ *unit, n syntax.Node) bool {
		a, ok := n.(*syntax.AlterTable)
		return ok && a.Column != nil && a.Column.Null == syntax.NullRefused
	}),
	portable(Rule{
		ID:     "B3",
		Title:  "No EXECUTE AS OWNER",
		Reason: "Babelfish refuses it.",
		Bad:    "CREATE PROCEDURE dbo.one WITH EXECUTE AS OWNER AS SELECT 1 AS one;",
		Good:   "CREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
	}, "EXECUTE AS OWNER", "grant EXECUTE on the procedure", func(_ *unit, n syntax.Node) bool {
		o, ok := n.(*syntax.Option)
		return ok && o.Name == "EXECUTE AS" && same(o.Value, "owner")
	}),
	portable(Rule{
		ID:     "B4",
		Title:  "No UPDATE or DELETE through a CTE or a derived table",
		Reason: "Babelfish refuses it; WHERE id IN (SELECT … FROM the CTE) works.",
		Bad:    "WITH first AS (SELECT TOP (1) j.id FROM dbo.jobs AS j ORDER BY j.id) DELETE FROM first;",
		Good: "WITH first AS (SELECT TOP (1) j.id FROM dbo.jobs AS j ORDER BY j.id)\n" +
			"DELETE FROM dbo.jobs WHERE id IN (SELECT f.id FROM first AS f);",
	}, "a write through a CTE or derived table", "write to the table, WHERE its key IN (SELECT … FROM the CTE)", writesQuery),
	portable(Rule{
		ID:      "B5",
		Title:   "No WAITFOR",
		Reason:  "Babelfish refuses it.",
		Bad:     "WAITFOR DELAY '00:00:01';",
		Good:    "SELECT id FROM dbo.timers WHERE due <= 17;",
		Example: Options{Disable: []string{"P4"}},
	}, "WAITFOR", "let the caller wait", func(_ *unit, n syntax.Node) bool { return is[*syntax.Waitfor](n) }),
	portable(Rule{
		ID:      "B6",
		Title:   "No MERGE",
		Reason:  "Babelfish refuses it.",
		Bad:     "MERGE dbo.users AS t USING dbo.arrivals AS a ON t.id = a.id WHEN MATCHED THEN UPDATE SET name = a.name;",
		Good:    "UPDATE t SET name = a.name FROM dbo.users AS t, dbo.arrivals AS a WHERE t.id = a.id;",
		Example: Options{Disable: []string{"P4"}},
	}, "MERGE", "write UPDATE and INSERT", func(_ *unit, n syntax.Node) bool { return is[*syntax.Merge](n) }),
	portable(Rule{
		ID:     "B7",
		Title:  "No SET @v = column = x",
		Reason: "Babelfish refuses it; OUTPUT … INTO a table variable works.",
		Bad:    "UPDATE dbo.counters SET @next = value = value + 1 WHERE id = 1;",
		Good:   "UPDATE dbo.counters SET value = value + 1 OUTPUT inserted.value INTO @taken (value) WHERE id = 1;",
	}, "SET @v = column = x", "OUTPUT … INTO a table variable", func(_ *unit, n syntax.Node) bool {
		// The statement is SQL Server's own form of "update and fetch": OUTPUT says the same in a form that both
		// take.
		a, ok := n.(*syntax.Assignment)
		return ok && a.Variable != nil && a.Column != nil
	}),
	portable(Rule{
		ID:     "B8",
		Title:  "No UPDATE … OUTPUT … FROM with a JOIN",
		Reason: "Babelfish refuses it; with a comma between the tables it works.",
		Bad:    "UPDATE t SET a = o.a OUTPUT inserted.id FROM dbo.t AS t JOIN dbo.o AS o ON o.id = t.id;",
		Good:   "UPDATE t SET a = o.a OUTPUT inserted.id FROM dbo.t AS t, dbo.o AS o WHERE o.id = t.id;",
	}, "UPDATE with OUTPUT and a JOIN", "separate the tables by a comma and join in WHERE", updatesJoinWithOutput),
	portable(Rule{
		ID:     "B9",
		Title:  "No deleted in the OUTPUT of an UPDATE",
		Reason: "Babelfish looks for the table in the caller's default schema only.",
		Bad:    "UPDATE dbo.t SET a = 1 OUTPUT deleted.a WHERE id = 1;",
		Good:   "UPDATE dbo.t SET a = 1 OUTPUT inserted.a WHERE id = 1;",
	}, "deleted in the OUTPUT of an UPDATE", "read the old values before", outputsDeleted),
	portable(Rule{
		ID:    "B10",
		Title: "No ALTER of a module, and no CREATE OR ALTER",
		Reason: "Babelfish refuses both. Procedures may be CREATE OR ALTER all the same where whoever applies the scripts drops " +
			"and creates them.",
		Bad:  "CREATE OR ALTER VIEW dbo.v AS SELECT id FROM dbo.t;",
		Good: "CREATE VIEW dbo.v AS SELECT id FROM dbo.t;",
	}, "ALTER of a module", "DROP … IF EXISTS, then CREATE", altersModule),
	portable(Rule{
		ID:      "B11",
		Title:   "No FOR JSON and no JSON_QUERY",
		Reason:  "Babelfish writes JSON with other spaces and another order of keys.",
		Bad:     "SELECT id FROM dbo.t FOR JSON PATH;",
		Good:    "SELECT id FROM dbo.t;",
		Example: Options{Disable: []string{"T4"}},
	}, "FOR JSON or JSON_QUERY", "return rows", func(_ *unit, n syntax.Node) bool {
		// Keys come back in another order and with other blanks: whoever compares or hashes the text gets another
		// result.
		c, call := n.(*syntax.Call)
		f, clause := n.(*syntax.ForClause)
		return call && callName(c) == "JSON_QUERY" || clause && f.Kind == "JSON"
	}),
	portable(Rule{
		ID:      "B12",
		Title:   "No datetimeoffset in a table type",
		Reason:  "A table argument with such a column fails on Babelfish.",
		Bad:     "CREATE TYPE dbo.times_v1 AS TABLE (at datetimeoffset NOT NULL);",
		Good:    "CREATE TYPE dbo.times_v1 AS TABLE (at bigint NOT NULL);",
		Example: Options{Disable: []string{"T2"}},
	}, "datetimeoffset in a table type", "bigint, or datetime2", func(u *unit, n syntax.Node) bool {
		// Only table arguments fail with it: columns of tables and plain parameters may have the type.
		t, ok := n.(*syntax.CreateType)
		return ok && t.Table != nil && slices.ContainsFunc(t.Table.Columns, func(c syntax.ColumnDef) bool {
			if c.Type == nil || u.catalog == nil {
				return false
			}
			typ, _, _ := u.catalog.Type(c.Type)
			return typ.Kind == sqltype.DateTimeOffset
		})
	}),
	portable(Rule{
		ID:     "B13",
		Title:  "DATALENGTH is compared with DATALENGTH only",
		Reason: "Of a text it counts UTF-8 bytes on Babelfish and UTF-16 bytes on SQL Server.",
		Bad:    "SELECT id FROM dbo.t WHERE DATALENGTH(name) > 800;",
		Good:   "SELECT id FROM dbo.t WHERE DATALENGTH(name) > DATALENGTH(RTRIM(name));",
	}, "DATALENGTH compared with a number", "compare it with DATALENGTH, or LEN with a number", func(_ *unit, n syntax.Node) bool {
		// Both sides in the same unit, bytes of one encoding, compare alike on both servers; with 0 it only matters
		// whether there is any.
		c, ok := n.(*syntax.Compare)
		return ok && calls(c.X, "DATALENGTH") != calls(c.Y, "DATALENGTH") && !isZero(c.X) && !isZero(c.Y)
	}),
	portable(Rule{
		ID:     "B14",
		Title:  "A join hint of a LEFT or RIGHT join stands behind OUTER",
		Reason: "Babelfish takes LEFT LOOP JOIN for a mistake; LEFT OUTER LOOP JOIN is the same join.",
		Bad:    "SELECT t.id, o.a FROM dbo.t AS t LEFT LOOP JOIN dbo.o AS o ON o.id = t.id;",
		Good:   "SELECT t.id, o.a FROM dbo.t AS t LEFT OUTER LOOP JOIN dbo.o AS o ON o.id = t.id;",
	}, "a join hint without OUTER", "write OUTER before the hint", func(_ *unit, n syntax.Node) bool {
		j, ok := n.(*syntax.Join)
		return ok && j.Hint != "" && !j.Outer && (j.Kind == "LEFT" || j.Kind == "RIGHT")
	}),
	portable(Rule{
		ID:     "B15",
		Title:  "OUTPUT names columns of inserted and deleted only",
		Reason: "Babelfish does not know the other tables of the statement there.",
		Bad:    "DELETE t OUTPUT o.a, deleted.id FROM dbo.t AS t, dbo.o AS o WHERE o.id = t.id;",
		Good:   "DELETE t OUTPUT deleted.id FROM dbo.t AS t, dbo.o AS o WHERE o.id = t.id;",
	}, "another table's column in OUTPUT", "return the key, and look the other table's column up by it", outputsOthers),
}

// portable completes a rule of this family: it reports the nodes that match if Babelfish is among the servers.
func portable(r Rule, what, fix string, matches func(*unit, syntax.Node) bool) Rule {
	r.Needs = "portability: [babelfish]"
	r.Example.Portability = onBabelfish.Portability
	r.check = func(p *pass) {
		if !slices.Contains(p.Options.Portability, Babelfish) {
			return
		}
		for _, u := range p.units {
			syntax.Walk(u.node, func(n syntax.Node) bool {
				if matches(u, n) {
					p.report(u, head(u, n), fix, "%s fails or differs on Babelfish", what)
				}
				return true
			})
		}
	}
	return r
}

// isZero recognises comparisons that only ask for emptiness.
func isZero(x syntax.Expr) bool {
	n, ok := intValue(x)
	return ok && n == 0
}

// writesQuery finds UPDATE and DELETE whose target is a CTE or a derived table (B4).
func writesQuery(u *unit, n syntax.Node) bool {
	s, ok := n.(syntax.Stmt)
	if !ok || !is[*syntax.Update](n) && !is[*syntax.Delete](n) {
		return false
	}
	source, _ := u.target(s)
	return source != nil && source.kind == querySource
}

// updatesJoinWithOutput finds UPDATE with OUTPUT and a JOIN anywhere in its FROM (B8).
func updatesJoinWithOutput(_ *unit, n syntax.Node) bool {
	s, ok := n.(*syntax.Update)
	return ok && s.Output != nil && slices.ContainsFunc(s.From, func(t syntax.TableSource) bool {
		for range syntax.All[*syntax.Join](t) {
			return true
		}
		return false
	})
}

// outputsDeleted finds deleted.column and deleted.* in the OUTPUT of an UPDATE (B9). In a DELETE it works.
func outputsDeleted(_ *unit, n syntax.Node) bool {
	s, ok := n.(*syntax.Update)
	if !ok || s.Output == nil {
		return false
	}
	for ref := range syntax.All[*syntax.ColumnRef](s.Output) {
		if len(ref.Parts) == 2 && same(ref.Parts[0].Value, "deleted") {
			return true
		}
	}
	for star := range syntax.All[*syntax.Star](s.Output) {
		if len(star.Qualifier) == 1 && same(star.Qualifier[0].Value, "deleted") {
			return true
		}
	}
	return false
}

// outputsOthers finds columns in an OUTPUT that are neither of inserted nor of deleted (B15).
func outputsOthers(_ *unit, n syntax.Node) bool {
	o, ok := n.(*syntax.Output)
	if !ok {
		return false
	}
	others := func(table syntax.Ident) bool { return !same(table.Value, "inserted") && !same(table.Value, "deleted") }
	for _, item := range o.Items {
		for ref := range syntax.All[*syntax.ColumnRef](&item) {
			if len(ref.Parts) > 1 && others(ref.Parts[0]) {
				return true
			}
		}
		for star := range syntax.All[*syntax.Star](&item) {
			if len(star.Qualifier) > 0 && others(star.Qualifier[0]) {
				return true
			}
		}
	}
	return false
}

// altersModule finds ALTER and CREATE OR ALTER of modules (B10). CREATE OR ALTER PROCEDURE is left to whoever applies
// the scripts: it is the usual form, and easily replaced by DROP and CREATE.
func altersModule(_ *unit, n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CreateView:
		return n.Alter || n.OrAlter
	case *syntax.CreateFunction:
		return n.Alter || n.OrAlter
	case *syntax.CreateTrigger:
		return n.Alter || n.OrAlter
	case *syntax.CreateProcedure:
		return n.Alter
	default:
		return false
	}
}
