package vet

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// hintRules are about hints that need another one, or a condition, beside them.
var hintRules = []Rule{{
	ID:    "Q9-pinned",
	Title: "A statement that keeps its plan seeks every table that it joins, or tests with EXISTS or IN: LOOP JOIN or FORCESEEK",
	Reason: "The first call chooses between loops, hash and merge joins by the rows that it meets. KEEPFIXED PLAN keeps the choice: a scan " +
		"that was cheapest in a new database reads, and locks, every row of a long table until the server restarts.",
	Bad: "DECLARE @ids TABLE (id int);\nSELECT i.id FROM @ids AS i\n" +
		"WHERE NOT EXISTS (SELECT 1 FROM dbo.jobs AS j WITH (INDEX (pk_jobs)) WHERE j.id = i.id) OPTION (KEEPFIXED PLAN);",
	Good: "DECLARE @ids TABLE (id int);\nSELECT i.id FROM @ids AS i\n" +
		"WHERE NOT EXISTS (SELECT 1 FROM dbo.jobs AS j WITH (INDEX (pk_jobs)) WHERE j.id = i.id) OPTION (LOOP JOIN, KEEPFIXED PLAN);",
	check: checkPinned,
}, {
	ID:    "Q9-filter",
	Title: "A hint that names a filtered index has the condition of the filter beside it",
	Reason: "An index that does not hold all rows answers only a query that asks for none of the others. The hint leaves the server no other " +
		"way: if it does not see that, there is no plan, and the call fails with error 8622.",
	Bad: "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY, token int NULL);\nCREATE UNIQUE INDEX uq_token ON dbo.jobs (token) WHERE token IS NOT NULL;\nGO\n" +
		"SELECT j.id FROM dbo.jobs AS j WITH (INDEX (uq_token)) WHERE j.token = 1;",
	Good: "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY, token int NULL);\nCREATE UNIQUE INDEX uq_token ON dbo.jobs (token) WHERE token IS NOT NULL;\nGO\n" +
		"SELECT j.id FROM dbo.jobs AS j WITH (INDEX (uq_token)) WHERE j.token = 1 AND j.token IS NOT NULL;",
	check: checkFilters,
}}

// checkPinned looks at statements under KEEPFIXED PLAN that leave the kind of a join open.
func checkPinned(p *pass) {
	p.statements(func(u *unit, _ syntax.Stmt, n syntax.Node) {
		pinned, loops := false, false
		for o := range syntax.All[*syntax.Option](n) {
			pinned, loops = pinned || o.Name == "KEEPFIXED PLAN", loops || o.Name == "LOOP JOIN"
		}
		if pinned && !loops {
			(&joins{p, u}).statement(n)
		}
	})
}

// joins finds the tables of a statement whose join may be of any kind. What is sought, because it drives the query or
// is on a side of a LOOP JOIN or an APPLY, is said to be placed.
type joins struct {
	*pass

	u *unit
}

func (j *joins) statement(n syntax.Node) {
	switch s := n.(type) {
	case *syntax.SelectStmt:
		j.query(s.Query, true)
	case *syntax.Insert:
		if s.Query != nil {
			j.query(s.Query, true)
		}
	case *syntax.Update:
		j.from(s.From, true)
		j.conditions(s.Where)
		for i := range s.Set {
			j.conditions(&s.Set[i])
		}
	case *syntax.Delete:
		j.from(s.From, true)
		j.conditions(s.Where)
	}
}

func (j *joins) query(q *syntax.Query, placed bool) {
	for _, c := range q.With {
		j.query(c.Query, placed)
	}
	j.body(q.Body, placed)
}

func (j *joins) body(b syntax.QueryBody, placed bool) {
	switch b := b.(type) {
	case *syntax.Select:
		j.from(b.From, placed)
		for i := range b.Items {
			j.conditions(&b.Items[i])
		}
		j.conditions(b.Where)
		j.conditions(b.Having)
	case *syntax.SetOperation:
		j.body(b.X, placed)
		j.body(b.Y, placed)
	case *syntax.ParenQuery:
		j.query(b.Query, placed)
	}
}

// conditions looks at the queries within an expression, each of which is a join with what is around it.
func (j *joins) conditions(x syntax.Node) {
	syntax.Walk(x, func(n syntax.Node) bool {
		q, ok := n.(*syntax.Query)
		if ok {
			j.query(q, false)
		}
		return !ok
	})
}

func (j *joins) from(list []syntax.TableSource, placed bool) {
	for i, s := range list {
		j.source(s, placed && i == 0)
	}
}

func (j *joins) source(s syntax.TableSource, placed bool) {
	switch s := s.(type) {
	case *syntax.TableRef:
		if t := j.u.Tables[s]; !placed && t != nil && t.Kind == analyze.StoredTable && !hinted(s, "FORCESEEK") {
			j.report(j.u, s.Span, "add LOOP JOIN to OPTION (…), or FORCESEEK", "the plan that is kept may read all of %s", t.StoredName())
		}
	case *syntax.FunctionTable:
		if !placed && s.Call != nil && len(s.Call.Name.Parts) > 1 {
			j.report(j.u, s.Span, "add LOOP JOIN to OPTION (…)", "the plan that is kept may read all that the function reads")
		}
	case *syntax.Join:
		loop := s.Hint == "LOOP" || s.On == nil
		j.source(s.X, placed || loop)
		_, function := s.Y.(*syntax.FunctionTable) // its query becomes a part of this one, whose joins are free
		j.source(s.Y, loop && !function)
		j.conditions(s.On)
	case *syntax.ParenSource:
		j.source(s.X, placed)
	case *syntax.DerivedTable:
		j.query(s.Query, placed)
	}
}

// checkFilters compares the conditions of filters with those of queries. A condition that is neither a comparison with
// a literal nor IS NULL is not understood, and left alone.
func checkFilters(p *pass) {
	for _, u := range p.units {
		for t := range syntax.All[*syntax.TableRef](u.node) {
			source := u.Tables[t]
			if source == nil || source.Table == nil || source.Kind != analyze.StoredTable {
				continue
			}
			for _, h := range t.Hints {
				if where := filter(source.Table, h); where != nil && !u.implies(source, where) {
					p.report(u, h.Span, "add the condition of the filter", "the index holds only some rows of %s, and this query does not say that it wants no others", source.StoredName())
				}
			}
		}
	}
}

// filter is the condition of the index that a hint names, nil if there is none.
func filter(table *catalog.Table, h syntax.Option) syntax.Expr {
	if h.Name != "INDEX" && h.Name != "FORCESEEK" {
		return nil
	}
	name, _, _ := strings.Cut(h.Value, "(")
	name = strings.Trim(strings.TrimSpace(name), "[]")
	for _, ix := range table.Indexes {
		if catalog.Fold(ix.Name) == catalog.Fold(name) {
			return ix.Where
		}
	}
	return nil
}

// implies says whether a unit states every part of a filter about a source in the same words.
func (u *unit) implies(source *analyze.ReadTable, where syntax.Expr) bool {
	switch x := syntax.Unparen(where).(type) {
	case *syntax.Logical:
		return x.Op != "AND" || u.implies(source, x.X) && u.implies(source, x.Y)
	case *syntax.IsNull:
		for n := range syntax.All[*syntax.IsNull](u.node) {
			if n.Not == x.Not && u.isColumn(source, n.X, x.X) {
				return true
			}
		}
		return false
	case *syntax.Compare:
		value, ok := syntax.Unparen(x.Y).(*syntax.Literal)
		for n := range syntax.All[*syntax.Compare](u.node) {
			stated, literal := syntax.Unparen(n.Y).(*syntax.Literal)
			if ok && literal && n.Op == x.Op && stated.Value == value.Value && u.isColumn(source, n.X, x.X) {
				return true
			}
		}
		return !ok
	}
	return true
}

// isColumn says whether an expression is a column of the source, the one that another names without saying whose it is.
func (u *unit) isColumn(source *analyze.ReadTable, x, named syntax.Expr) bool {
	ref, ok := syntax.Unparen(x).(*syntax.ColumnRef)
	name, isRef := syntax.Unparen(named).(*syntax.ColumnRef)
	return ok && isRef && u.Refs[ref].Source == source && u.Refs[ref].Column != nil &&
		catalog.Fold(u.Refs[ref].Column.Name) == catalog.Fold(name.Last().Value)
}
