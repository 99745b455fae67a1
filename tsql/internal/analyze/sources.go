package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// joined is what a part of a FROM clause offers.
type joined struct {
	sources []*source
	some    bool    // it has at least one row, whatever the tables hold
	bounds  []bound // the conditions that hold for its rows
	full    bool    // a FULL JOIN: keys of its tables say nothing about the number of rows
}

// bound is a condition of ON. It restricts the rows of some sources for given rows of the others: of an outer join,
// only those on the side that may be missing.
type bound struct {
	cond  syntax.Expr
	scope *scope
	only  []*source // nil: all
}

// from reads a comma-separated FROM clause into the sources of s, whose outer scope the tables themselves see.
func (a *analyzer) from(s *scope, list []syntax.TableSource) joined {
	around := &scope{env: s.env, outer: s.outer, ctes: s.ctes, level: level{Clause: lookup.InFrom}}
	all := joined{some: true}
	for _, src := range list {
		all = all.and(a.source(around, src))
	}
	a.checkExposed(s.env, all.sources)
	s.Sources = append(s.Sources, all.sources...)
	return all
}

// and puts two parts side by side.
func (j joined) and(k joined) joined {
	return joined{
		sources: slices.Concat(j.sources, k.sources),
		some:    j.some && k.some,
		bounds:  slices.Concat(j.bounds, k.bounds),
		full:    j.full || k.full,
	}
}

// checkExposed reports two tables under the same name.
//
// The name that counts is the alias if there is one; two schemas may have a table of the same name side by side, as
// long as it is written with the schema.
func (a *analyzer) checkExposed(e *env, sources []*source) {
	for i, src := range sources {
		for _, other := range sources[:i] {
			if src.name != "" && same(src.name, other.name) && same(src.schema, other.schema) {
				a.failName(e, src.at, "give one of them another alias", "two tables are called %s here", src.name)
				src.bad, other.bad = true, true
			}
		}
	}
}

// source reads one element of a FROM clause. s is what surrounds the element: the query further out and, on the right
// of an APPLY, the tables on its left. Tables that merely stand beside it in FROM are not seen, as the server has it.
func (a *analyzer) source(s *scope, src syntax.TableSource) joined {
	var one *source
	switch src := src.(type) {
	case *syntax.Join:
		return a.join(s, src)
	case *syntax.ParenSource:
		return a.source(s, src.X)
	case *syntax.TableRef:
		one = a.tableRef(s, src)
	case *syntax.VariableTable:
		one = a.variableTable(s, src)
	case *syntax.DerivedTable:
		rel := a.subquery(s, src.Query)
		one = a.named(s, rel, src.Alias, src.Columns, src.Span)
	case *syntax.ValuesTable:
		one = a.named(s, a.valuesTable(s, src), src.Alias, src.Columns, src.Span)
	case *syntax.FunctionTable:
		one = a.functionTable(s, src)
	case *syntax.NodesTable:
		one = a.nodes(s, src)
	case *syntax.Pivot:
		one = a.pivot(s, src)
	default:
		a.fail(s.env, src.Range(), "", "this kind of table isn't supported")
		one = &source{relation: relation{bad: true}, at: src.Range()}
	}
	a.names.read(src, one)
	return joined{sources: []*source{one}, some: one.rows == One}
}

// join reads both sides of a join and its condition, which sees the tables of both sides and no others. The side of an
// outer join that may be missing has columns that may be NULL, whatever their definition.
//
//	FROM dbo.orders AS o LEFT JOIN dbo.customers AS c ON c.id = o.customer_id
//
// makes all columns of c nullable, c.id included, and FULL JOIN those of both. CROSS APPLY keeps what the right side
// says of itself, OUTER APPLY is like LEFT JOIN.
func (a *analyzer) join(s *scope, j *syntax.Join) joined {
	left := a.source(s, j.X)
	inner := s
	apply := strings.HasSuffix(j.Kind, "APPLY")
	if apply {
		// The right side sees the left one, as a correlated subquery sees the query around it.
		side := &scope{env: s.env, outer: s, ctes: s.ctes, level: level{Clause: lookup.InFrom, Sources: left.sources}}
		inner = side.inner()
	}
	right := a.source(inner, j.Y)
	for _, src := range right.sources {
		src.lateral = src.lateral || apply
	}
	both := left.and(right)
	on := bound{cond: j.On}
	switch j.Kind {
	case "LEFT", "OUTER APPLY":
		makeNullable(right.sources)
		on.only, both.some = right.sources, left.some
		waits(right.sources, left.sources)
	case "RIGHT":
		makeNullable(left.sources)
		on.only, both.some = left.sources, right.some
		waits(left.sources, right.sources)
	case "CROSS APPLY":
		waits(right.sources, left.sources)
	case "FULL":
		makeNullable(both.sources)
		both.full, both.some = true, left.some || right.some
	case "INNER":
		both.some = false
	}
	if j.On != nil {
		on.scope = &scope{env: s.env, outer: s, ctes: s.ctes, level: level{Sources: both.sources, Clause: lookup.InOn}}
		a.cond(on.scope, j.On)
		if j.Kind == "INNER" {
			a.refine(on.scope, j.On)
		}
		both.bounds = append(both.bounds, on)
	}
	return both
}

// waits notes that the rows of some tables depend on those of others.
//
// A key of the right side of LEFT JOIN says how many of its rows there are for one row of the left side, and not in
// all.
func waits(sources, others []*source) {
	for _, src := range sources {
		src.after = slices.Concat(src.after, others)
	}
}

// makeNullable marks the columns of tables of which a join may have no row.
func makeNullable(sources []*source) {
	for _, src := range sources {
		src.columns = slices.Clone(src.columns)
		for i := range src.columns {
			src.columns[i].Nullable = true
		}
	}
}

// tableRef finds what a name in FROM stands for: a common table expression, a temp table, a table or a view. The first
// hides the others, but has no schema.
//
// WITH orders AS (SELECT … FROM dbo.orders) SELECT … FROM orders reads the expression.
func (a *analyzer) tableRef(s *scope, ref *syntax.TableRef) *source {
	src := &source{at: ref.Span, name: ref.Name.Last().Value}
	if ref.Alias != nil {
		src.name = ref.Alias.Value
	}
	if len(ref.Name.Parts) == 1 {
		if c := s.ctes.find(ref.Name.Parts[0].Value); c != nil {
			src.relation = *c.rel
			a.names.readCTE(ref, src, c)
			return src
		}
	}
	src.relation, src.table = a.object(s.env, ref.Name)
	a.names.readObject(ref, src, s.env.trigger)
	if ref.Versions {
		// A key tells rows apart at any one moment; over a span of time each has as many versions as it had changes. A
		// view applies the clause to the tables in it, and what it says of its rows holds as little.
		src.keys, src.rows = nil, Many
	}
	if ref.Alias == nil && !ref.Name.IsTemp() {
		if name, err := a.resolve(s.env, ref.Name); err == nil {
			src.schema = name.Schema
		}
	}
	return src
}

// object finds a table or a view by its name, and reports it if there is none.
func (a *analyzer) object(e *env, name *syntax.ObjectName) (relation, *catalog.Table) {
	broken := relation{bad: true}
	last := name.Last().Value
	if name.IsTemp() {
		if t, ok := e.table(last); t != nil {
			rel := a.tableRelation(t, e.lenient())
			rel.rows = e.rowsOf(last)
			return rel, t
		} else if ok {
			return broken, nil
		}
		a.failGap(e, name.Span, createTemp(last), "temp table %s isn't known here", last)
		return broken, nil
	}
	if e.trigger != nil && len(name.Parts) == 1 && (same(last, "inserted") || same(last, "deleted")) {
		rel := a.tableRelation(e.trigger, e.lenient())
		return rel, nil
	}
	full, err := a.resolve(e, name)
	if t := a.systemElsewhere(name); err != nil && t != nil {
		return a.tableRelation(t, e.lenient()), t
	}
	if err != nil {
		a.failGap(e, name.Span, "exclude the procedure, or hand in the rows as a table-valued parameter", "%v", err)
		return broken, nil
	}
	if t := a.cat.Table(full); t != nil {
		return a.tableRelation(t, e.lenient()), t
	}
	if t := e.workingTable(full); t != nil {
		return a.tableRelation(t, e.lenient()), t
	}
	if t := a.compatibilityView(full); t != nil {
		return a.tableRelation(t, e.lenient()), t
	}
	switch o := a.cat.Lookup(full).(type) {
	case *catalog.View:
		return a.known(e, name.Span, o.Name, a.viewRelation(o, e.lenient())), nil
	case *catalog.Function:
		a.failName(e, name.Span, "write the arguments in parentheses", "%s is a function", o.Name)
	case nil:
		if full.IsSystem() {
			a.failServer(e, name.Span, "", "%s is not known to the generator", full)
			return broken, nil
		}
		a.failGap(e, name.Span, defineIt, "no script defines a table or a view %s", full)
		a.meantObject(full)
	default:
		a.failName(e, name.Span, "", "%s is no table and no view", full)
	}
	return broken, nil
}

// known returns what a view or a function yields for one that reads it, who is told if that is not known because it is
// excluded.
func (a *analyzer) known(e *env, at diag.Span, name catalog.Name, rel relation) relation {
	if !rel.unknown {
		return rel
	}
	a.failGap(e, at, "", "%s is excluded and can't be typed, so that its columns are not known", name)
	return relation{bad: true}
}

// compatibilityView returns sys.sysobjects and its like, which scripts from before there was a schema sys call dbo's.
func (a *analyzer) compatibilityView(name catalog.Name) *catalog.Table {
	if !same(name.Schema, "dbo") || !strings.HasPrefix(strings.ToLower(name.Name), "sys") || a.cat.Lookup(name) != nil {
		return nil
	}
	return a.cat.Table(catalog.Name{Schema: "sys", Name: name.Name})
}

// systemElsewhere returns a view of the server of which a name says the database: tempdb.sys.tables,
// tempdb..sysobjects. Each database has the same ones.
func (a *analyzer) systemElsewhere(name *syntax.ObjectName) *catalog.Table {
	if len(name.Parts) != 3 {
		return nil
	}
	full := catalog.Name{Schema: name.Parts[1].Value, Name: name.Parts[2].Value}
	if (full.Schema == "" || same(full.Schema, "dbo")) && strings.HasPrefix(strings.ToLower(full.Name), "sys") {
		full.Schema = "sys"
	}
	if !full.IsSystem() {
		return nil
	}
	return a.cat.Table(full)
}

// resolve qualifies a name as the server does: in a module, an object of the module's own schema comes first.
//
// Outside of modules that is the default schema alone, which stands for that of the user who runs the statement.
func (a *analyzer) resolve(e *env, name *syntax.ObjectName) (catalog.Name, error) {
	full, err := a.cat.Resolve(name)
	if err != nil {
		return full, err
	}
	if e.schema != "" && len(name.Parts) == 1 {
		if own := (catalog.Name{Schema: e.schema, Name: full.Name}); a.cat.Lookup(own) != nil {
			return own, nil
		}
	}
	if synonym := a.cat.Synonyms[full.Key()]; synonym != nil && synonym.Elsewhere != nil {
		return full, fmt.Errorf("%s is a synonym: %w", full, synonym.Elsewhere)
	}
	return full, nil
}

// createTemp is the fix for a temp table that is not known.
func createTemp(name string) string {
	return "create it in the same procedure, and if a caller creates it, under IF OBJECT_ID('tempdb.." + name + "') IS NULL"
}

// defineIt is the fix for an object that no script defines.
const defineIt = "name the script that defines it in the configuration"

// variableTable finds a table variable or a table-valued parameter. Columns can be qualified by its alias, or without
// one by its name in brackets: [@t].id.
func (a *analyzer) variableTable(s *scope, v *syntax.VariableTable) *source {
	src := &source{at: v.Span, name: v.Name}
	if v.Alias != nil {
		src.name = v.Alias.Value
	}
	if t, ok := s.env.table(v.Name); ok {
		s.env.infer.takesTable(v.Name, v.Span)
		src.relation, src.table = a.tableRelation(t, s.env.lenient()), t
		src.rows = s.env.rowsOf(v.Name)
		return src
	}
	src.bad = true
	other, scalar := s.env.variable(v.Name)
	switch {
	case scalar && other.Type.Kind == sqltype.Invalid: // its type is unknown, which has been reported
	case scalar:
		a.failName(s.env, v.Span, "", "%s is no table variable", v.Name)
	case s.env.infer != nil:
		a.failName(s.env, v.Span, "add -- gen:param "+v.Name+" <table type>", "the type of table parameter %s isn't known", v.Name)
	default:
		a.failName(s.env, v.Span, "declare it", "table variable %s isn't declared", v.Name)
		a.meant(v.Name, s.env.names)
	}
	return src
}

// named gives a relation its alias and, if there is a list, the names of its columns. All must have one, each its own.
func (a *analyzer) named(s *scope, rel relation, alias *syntax.Ident, names []syntax.Ident, at diag.Span) *source {
	src := &source{relation: rel, at: at}
	if alias != nil {
		src.name = alias.Value
	}
	if !a.rename(s.env, &src.relation, names) {
		return src
	}
	a.checkNames(s.env, src.columns, "in "+cmp.Or(src.name, "a table of FROM"))
	return src
}

// rename puts the names of a column list in place of those of a relation. The list must be as long as the relation.
//
// FROM (SELECT 1, 2) AS t (a, b) and a view's CREATE VIEW dbo.v (a, b) AS … are the same thing.
func (a *analyzer) rename(e *env, rel *relation, names []syntax.Ident) bool {
	if len(names) == 0 || rel.bad && len(rel.columns) == 0 {
		return !rel.bad
	}
	if len(names) != len(rel.columns) {
		if !rel.bad {
			a.fail(e, names[0].Span.Until(names[len(names)-1].Span), "", "%s for %s",
				diag.Count(len(names), "name"), diag.Count(len(rel.columns), "column"))
		}
		rel.bad = true
		return false
	}
	renamed := map[string]string{}
	rel.columns = slices.Clone(rel.columns)
	for i, name := range names {
		renamed[catalog.Fold(rel.columns[i].Name)] = name.Value
		rel.columns[i].Name = name.Value
		rel.columns[i].Span = name.Span
	}
	keys := make([][]string, len(rel.keys))
	for i, key := range rel.keys {
		for _, column := range key {
			keys[i] = append(keys[i], renamed[catalog.Fold(column)])
		}
	}
	rel.keys = keys
	return !rel.bad
}

// checkNames reports columns without a name and columns that share one.
func (a *analyzer) checkNames(e *env, columns []Column, where string) bool {
	ok := true
	var star diag.Span // the place of the last finding: columns of one place are those of a star
	for i, c := range columns {
		if c.Name == "" {
			a.failName(e, c.Span, "add an alias: … AS name", "column %d %s has no name", i+1, where)
			ok = false
			continue
		}
		if slices.ContainsFunc(columns[:i], func(other Column) bool { return same(other.Name, c.Name) }) {
			if ok || c.Span != star {
				fix := "give one of them another alias"
				if strings.HasSuffix(e.file.Slice(c.Span), "*") {
					fix = "list the columns in place of *, and " + fix
				}
				a.failName(e, c.Span, fix, "two columns %s are called %s", where, c.Name)
			}
			ok, star = false, c.Span
		}
	}
	return ok
}

// valuesTable types (VALUES (…), (…)): each column is the union of what its rows have.
//
// (VALUES (1), (2.5)) has one column, whose type is found as that of UNION ALL would be.
func (a *analyzer) valuesTable(s *scope, v *syntax.ValuesTable) relation {
	rel := relation{rows: Many}
	if len(v.Rows) == 1 {
		rel.rows = One
	}
	width := len(v.Rows[0])
	columns := make([][]operand, width)
	values := s.in(lookup.InValues)
	for _, row := range v.Rows {
		if len(row) != width {
			a.fail(s.env, row[0].Range().Until(row[len(row)-1].Range()), "",
				"this row has %s, the first one %s", diag.Count(len(row), "value"), diag.Count(width, "value"))
			return relation{bad: true}
		}
		for i, x := range row {
			columns[i] = append(columns[i], operand{x, a.expr(values, x)})
		}
	}
	for i, column := range columns {
		t := a.unite(s.env, column)
		if t.isNull() {
			t.Type = typeInt
		}
		rel.columns = append(rel.columns, Column{Type: t.Type, Nullable: t.Nullable, Span: v.Rows[0][i].Range()})
		rel.bad = rel.bad || t.bad()
		rel.params = append(rel.params, column[0].param)
	}
	return rel
}

// pivot types PIVOT and UNPIVOT over the columns of what they read: those that the clause doesn't name stay, those that
// it uses go, and new ones come.
//
//	FROM (SELECT kind, year, total FROM …) AS s PIVOT (SUM(total) FOR year IN ([2024], [2025])) AS p
//
// has the columns kind, 2024 and 2025: total and year go, and whatever is not named is grouped by.
func (a *analyzer) pivot(s *scope, p *syntax.Pivot) *source {
	from := a.source(s, p.X)
	out := &source{at: p.Span}
	if p.Alias != nil {
		out.name = p.Alias.Value
	}
	in := s.inner()
	in.outer, in.Sources = s, from.sources
	var used []place
	find := func(ref *syntax.ColumnRef) (Column, bool) {
		at, _, ok := a.find(in, ref)
		if !ok {
			out.bad = true
			return Column{}, false
		}
		used = append(used, at)
		return at.Table.columns[at.Column], true
	}
	var added []Column
	if p.Unpivot {
		added = a.unpivotColumns(s.env, p, find, out)
	} else {
		added = a.pivotColumns(in, p, find)
	}
	for _, src := range from.sources {
		out.bad = out.bad || src.bad
		for i, c := range src.columns {
			if !slices.Contains(used, place{Table: src, Column: i}) {
				out.columns = append(out.columns, c)
			}
		}
	}
	out.columns = append(out.columns, added...)
	return out
}

// pivotColumns returns a column per value of IN, of the aggregate's type. A combination that no row has is NULL, and
// 0 when counted.
func (a *analyzer) pivotColumns(in *scope, p *syntax.Pivot, find func(*syntax.ColumnRef) (Column, bool)) []Column {
	group := in.in(lookup.InList)
	group.group = &grouping{whole: true} // of perhaps no rows
	total := a.expr(group, p.Aggregate)
	for _, arg := range p.Aggregate.Args {
		if ref, ok := arg.(*syntax.ColumnRef); ok {
			find(ref)
		}
	}
	find(&p.For)
	var added []Column
	for _, name := range p.In {
		added = append(added, Column{Name: name.Value, Type: total.Type, Nullable: total.Nullable, Span: name.Span})
	}
	return added
}

// unpivotColumns returns the value column and the name column. The columns that become rows must have one type; NULLs
// are left out.
func (a *analyzer) unpivotColumns(e *env, p *syntax.Pivot, find func(*syntax.ColumnRef) (Column, bool), out *source) []Column {
	var value sqltype.Type
	for i, name := range p.In {
		c, ok := find(&syntax.ColumnRef{Span: name.Span, Parts: []syntax.Ident{name}})
		switch {
		case !ok:
		case i == 0:
			value = c.Type
		case c.Type != value && !out.bad:
			a.fail(e, name.Span, "CAST the columns to one type in a derived table",
				"UNPIVOT needs columns of one type: %s is %s, %s is %s", p.In[0].Value, value, name.Value, c.Type)
			out.bad = true
		}
	}
	forName := p.For.Last()
	return []Column{
		{Name: p.Value.Value, Type: value, Span: p.Value.Span},
		{Name: forName.Value, Type: typeSysname, Span: forName.Span},
	}
}
