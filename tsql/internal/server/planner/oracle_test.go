package planner_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the second opinion
)

// author writes random queries in the language that SQL Server and SQLite have in common: whole numbers, NULL, joins,
// subqueries, groups and set operations.
type author struct {
	random *rand.Rand
	alias  int
	depth  int
}

// from is a table of a query with its columns.
type from struct {
	alias   string
	columns []string
}

var tables = map[string][]string{"a": {"id", "x", "y"}, "b": {"id", "x", "z"}, "c": {"id", "a_id", "b_id", "n"}}

func (w *author) one(list ...string) string { return list[w.random.IntN(len(list))] }
func (w *author) chance(percent int) bool   { return w.random.IntN(100) < percent }

func (w *author) name() string {
	w.alias++
	return fmt.Sprintf("t%d", w.alias)
}

// source writes a table or a derived table.
func (w *author) source(outer []from) (string, from) {
	f := from{alias: w.name()}
	if w.depth > 0 && w.chance(20) {
		w.depth--
		text, n := w.query(outer, 2)
		w.depth++
		for i := range n {
			f.columns = append(f.columns, fmt.Sprintf("c%d", i))
		}
		return "(" + text + ") AS " + f.alias, f
	}
	table := w.one("a", "b", "c")
	f.columns = tables[table]
	return "dbo." + table + " AS " + f.alias, f
}

func (w *author) column(sources []from) string {
	f := sources[w.random.IntN(len(sources))]
	return f.alias + "." + f.columns[w.random.IntN(len(f.columns))]
}

func (w *author) value(sources []from) string {
	switch {
	case w.chance(70):
		return w.column(sources)
	case w.chance(30):
		return "(" + w.column(sources) + w.one(" + ", " - ", " * ") + fmt.Sprint(w.random.IntN(4)) + ")"
	case w.chance(20):
		return "COALESCE(" + w.column(sources) + ", " + fmt.Sprint(w.random.IntN(5)) + ")"
	case w.chance(20): //nolint:gocritic // each call draws anew
		return "CASE WHEN " + w.condition(sources, 1) + " THEN " + w.column(sources) + " ELSE " + fmt.Sprint(w.random.IntN(5)) + " END"
	case w.depth > 0 && w.chance(20):
		w.depth--
		defer func() { w.depth++ }()
		text, f := w.source(nil)
		inner := append(slices.Clone(sources), f)
		return "(SELECT " + w.one("MIN", "MAX", "COUNT", "SUM") + "(" + w.column([]from{f}) + ") FROM " + text + " WHERE " + w.condition(inner, 1) + ")"
	default:
		return fmt.Sprint(w.random.IntN(6))
	}
}

func (w *author) condition(sources []from, size int) string {
	if size > 0 && w.chance(45) {
		text := w.condition(sources, size-1) + w.one(" AND ", " AND ", " OR ") + w.condition(sources, size-1)
		if w.chance(20) {
			return "NOT (" + text + ")"
		}
		return "(" + text + ")"
	}
	switch w.random.IntN(10) {
	case 0:
		return w.value(sources) + w.one(" IS NULL", " IS NOT NULL")
	case 1:
		return w.column(sources) + w.one(" IN ", " NOT IN ") + fmt.Sprintf("(%d, %s, %d)", w.random.IntN(5), w.value(sources), w.random.IntN(5))
	case 2:
		return w.column(sources) + fmt.Sprintf(" BETWEEN %d AND %d", w.random.IntN(3), 2+w.random.IntN(4))
	case 3, 4:
		if w.depth > 0 {
			w.depth--
			defer func() { w.depth++ }()
			text, f := w.source(nil)
			if w.chance(50) {
				return w.one("", "NOT ") + "EXISTS (SELECT 1 FROM " + text + " WHERE " + w.condition(append(slices.Clone(sources), f), 1) + ")"
			}
			within := []from{f}
			if w.chance(40) {
				within = append(within, sources...)
			}
			return w.column(sources) + w.one(" IN ", " NOT IN ") + "(SELECT " + w.column([]from{f}) + " FROM " + text + " WHERE " + w.condition(within, 1) + ")"
		}
	}
	return w.value(sources) + w.one(" = ", " = ", " = ", " <> ", " < ", " <= ", " > ", " >= ") + w.value(sources)
}

// joined writes a FROM clause.
func (w *author) joined(outer []from) (string, []from) {
	text, f := w.source(outer)
	sources := []from{f}
	var textSb118 strings.Builder
	for range w.random.IntN(3) {
		more, f := w.source(outer)
		kind := w.one("INNER", "INNER", "LEFT", "LEFT", "RIGHT", "FULL", "CROSS")
		if kind == "CROSS" {
			textSb118.WriteString(" CROSS JOIN " + more)
			sources = append(sources, f)
			continue
		}
		equal := f.alias + "." + f.columns[w.random.IntN(len(f.columns))] + " = " + w.column(sources)
		sources = append(sources, f)
		if w.chance(40) {
			equal += " AND " + w.plain(sources)
		}
		textSb118.WriteString(" " + kind + " JOIN " + more + " ON " + equal)
	}
	text += textSb118.String()
	return text, sources
}

// plain is a condition without subqueries, as SQLite wants it in some outer joins.
func (w *author) plain(sources []from) string {
	depth := w.depth
	w.depth = 0
	defer func() { w.depth = depth }()
	return w.condition(sources, 1)
}

// query writes a query of at most so many columns, and returns how many it has.
func (w *author) query(outer []from, most int) (string, int) {
	n := 1 + w.random.IntN(most)
	text := w.selection(outer, n)
	if w.chance(15) {
		text += w.one(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ") + w.selection(outer, n)
	}
	return text, n
}

// selection writes one SELECT of n columns.
func (w *author) selection(outer []from, n int) string {
	text, sources := w.joined(outer)
	seen := append(slices.Clone(sources), outer...)
	where := ""
	if w.chance(70) {
		where = " WHERE " + w.condition(seen, 2)
	}
	var items []string
	if w.chance(30) {
		key := w.column(sources)
		items = append(items, key+" AS c0")
		for i := 1; i < n; i++ {
			items = append(items, w.one("COUNT", "SUM", "MIN", "MAX", "COUNT", "COUNT(DISTINCT")+w.argument(sources)+fmt.Sprintf(" AS c%d", i))
		}
		for i := range items {
			items[i] = strings.ReplaceAll(items[i], "(DISTINCT(", "(DISTINCT ")
		}
		having := ""
		if w.chance(30) {
			having = " HAVING COUNT(*) > " + fmt.Sprint(w.random.IntN(3))
		}
		return "SELECT " + strings.Join(items, ", ") + " FROM " + text + where + " GROUP BY " + key + having
	}
	if w.chance(10) {
		for i := range n {
			items = append(items, w.one("COUNT", "SUM", "MIN", "MAX")+w.argument(sources)+fmt.Sprintf(" AS c%d", i))
		}
		return "SELECT " + strings.Join(items, ", ") + " FROM " + text + where
	}
	for i := range n {
		items = append(items, w.value(seen)+fmt.Sprintf(" AS c%d", i))
	}
	return "SELECT " + w.one("", "", "DISTINCT ") + strings.Join(items, ", ") + " FROM " + text + where
}

func (w *author) argument(sources []from) string { return "(" + w.column(sources) + ")" }

// secondOpinion is a SQLite database with the tables.
func secondOpinion(t *testing.T, script string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "ATTACH ':memory:' AS dbo"); err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(script, ";") {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

func answer(t *testing.T, db *sql.DB, query string) ([]string, error) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []string
	for rows.Next() {
		values := make([]sql.NullInt64, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		parts := make([]string, len(names))
		for i, v := range values {
			parts[i] = "NULL"
			if v.Valid {
				parts[i] = fmt.Sprint(v.Int64)
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out, rows.Err()
}

// TestSecondOpinion executes random queries, by random plans, and compares the rows with SQLite's.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	const seeds, queries = 8, 60
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			cell := func() string {
				if random.IntN(4) == 0 {
					return "NULL"
				}
				return fmt.Sprint(random.IntN(5))
			}
			var script strings.Builder
			script.WriteString(`CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY, x int NULL, y int NULL);
CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY, x int NULL, z int NULL);
CREATE TABLE dbo.c (id int NOT NULL PRIMARY KEY, a_id int NULL, b_id int NULL, n int NULL)`)
			for i := range 7 {
				fmt.Fprintf(&script, ";INSERT INTO dbo.a (id, x, y) VALUES (%d, %s, %s)", i, cell(), cell())
				fmt.Fprintf(&script, ";INSERT INTO dbo.b (id, x, z) VALUES (%d, %s, %s)", i, cell(), cell())
				fmt.Fprintf(&script, ";INSERT INTO dbo.c (id, a_id, b_id, n) VALUES (%d, %s, %s, %s)", i, cell(), cell(), cell())
			}
			db := secondOpinion(t, script.String())
			l := newLab(t)
			l.run(script.String())
			l.run("CREATE INDEX ix_a ON dbo.a (x, y); CREATE INDEX ix_b ON dbo.b (z DESC) INCLUDE (x); CREATE INDEX ix_c ON dbo.c (a_id, b_id); CREATE INDEX ix_n ON dbo.c (n) WHERE n IS NOT NULL; CREATE UNIQUE INDEX ux_b ON dbo.b (x, id)")
			compared := 0
			for i := range queries {
				w := &author{random: random, depth: 2}
				query, _ := w.query(nil, 3)
				want, err := answer(t, db, query)
				if err != nil {
					continue // SQLite has limits of its own
				}
				slices.Sort(want)
				for plan := range 3 {
					choose := func() {
						l.chooser = nil
						if plan > 0 {
							l.chooser = &anyPlan{rand.New(rand.NewPCG(uint64(i), uint64(plan)))}
						}
					}
					choose()
					got, err := l.query(query)
					if err != nil {
						t.Errorf("%s\n%v", query, err)
						break
					}
					slices.Sort(got)
					if !slices.Equal(got, want) {
						choose()
						st, _ := l.compile(query)
						t.Errorf("%s\ngot  %v\nwant %v\n%s", query, got, want, st.Explain)
						break
					}
				}
				compared++
			}
			if compared < queries/2 {
				t.Errorf("only %d queries compared", compared)
			}
		})
	}
}
