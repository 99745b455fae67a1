package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// dml checks an INSERT, UPDATE, DELETE or MERGE. It says what the OUTPUT clause sends to the client, and whether there
// is one that does. The procedure of INSERT … EXEC is the business of whoever knows what it yields.
func (a *analyzer) dml(e *env, s syntax.Stmt) (rowset, bool) {
	switch s := s.(type) {
	case *syntax.Insert:
		return a.insert(e, s)
	case *syntax.Update:
		return a.update(e, s)
	case *syntax.Delete:
		return a.deleteStmt(e, s)
	case *syntax.Merge:
		return a.merge(e, s)
	default:
		return rowset{}, false
	}
}

// insert checks INSERT. The number of rows is that of VALUES or of the query; triggers are not looked at.
//
// A single row that is dropped, for TOP (@n) may be TOP (0), leaves OUTPUT empty. An INSTEAD OF trigger could do so
// too, which is its author's to say by gen:result.
func (a *analyzer) insert(e *env, s *syntax.Insert) (rowset, bool) {
	sc := &scope{env: e, level: level{Clause: lookup.InValues}}
	a.with(sc, s.With)
	if s.Top != nil {
		a.top(sc, s.Top)
	}
	target := a.target(sc, s.Target, nil)
	columns := a.insertColumns(e, target, s.Columns)
	rows := Many
	switch {
	case s.Default:
		rows = One
	case s.Query != nil:
		out := a.subqueryValues(sc, s.Query)
		rows = out.rows
		a.store(e, target, columns, out, s.Query.Span)
	case len(s.Rows) > 0:
		if len(s.Rows) == 1 {
			rows = One
		}
		for _, row := range s.Rows {
			a.storeRow(sc, target, columns, row)
		}
	}
	if len(s.Columns) > 0 || s.Default {
		a.checkMissing(e, target, s.Target.Range(), columns, s.Columns)
	}
	if rows == One && (s.Top != nil && !isNumber(s.Top.N) || target.dropsDuplicates()) {
		rows = Optional
	}
	e.found = rows
	out := sc.in(lookup.InOutput)
	out.Sources = []*source{target.as("inserted", false)}
	return a.output(out, s.Output, rows)
}

// dropsDuplicates reports whether a unique index of the table leaves out rows that are there already, instead of
// failing.
//
// The server then sends a warning, "Duplicate key was ignored", and no row in OUTPUT.
func (src *source) dropsDuplicates() bool {
	return src.table != nil && slices.ContainsFunc(src.table.Indexes, func(i catalog.Index) bool {
		return slices.ContainsFunc(i.Options, func(o syntax.Option) bool {
			return o.Name == "IGNORE_DUP_KEY" && !strings.EqualFold(o.Value, "OFF")
		})
	})
}

// target finds what a statement changes. An alias or a name of the FROM clause means that table; found is nil for
// statements without one.
//
// The names differ in what they mean:
//
//	DELETE o FROM dbo.orders AS o WHERE …            -- the alias
//	DELETE dbo.orders FROM dbo.orders AS o WHERE …   -- the same table: o is meant, if it is read once
func (a *analyzer) target(s *scope, t syntax.TableSource, found []*source) *source {
	src := a.targetOf(s, t, found)
	a.names.read(t, src)
	return src
}

// targetOf is target, which tells what the name means.
func (a *analyzer) targetOf(s *scope, t syntax.TableSource, found []*source) *source {
	ref, ok := t.(*syntax.TableRef)
	if !ok {
		v, ok := t.(*syntax.VariableTable)
		if !ok {
			a.fail(s.env, t.Range(), "", "only a table can be changed")
			return &source{relation: relation{bad: true}}
		}
		src := a.variableTable(s, v)
		if s.env.rows(v.Name) {
			a.fail(s.env, v.Span, "copy its rows into a table variable and change that", "%s is READONLY", v.Name)
		}
		for _, other := range found {
			if src.table != nil && other.table == src.table {
				return other
			}
		}
		return src
	}
	name := ref.Name.Last().Value
	if len(ref.Name.Parts) == 1 {
		for _, src := range found {
			if same(src.name, name) {
				return src
			}
		}
	}
	src := a.tableRef(s, ref)
	meant := src
	for _, other := range found {
		switch {
		case src.table == nil || other.table != src.table:
		case meant != src:
			a.failName(s.env, ref.Span, "write the alias that is meant", "FROM reads %s twice", name)
			return meant
		default:
			meant = other
		}
	}
	return meant
}

// as returns the target's rows under another name, as OUTPUT sees them: inserted and deleted.
//
// Of MERGE only some rows have both: missing makes the columns nullable.
func (src *source) as(name string, missing bool) *source {
	out := &source{relation: src.relation, name: name, table: src.table, pseudo: true}
	if missing {
		makeNullable([]*source{out})
	}
	return out
}

// insertColumns returns the indices of the columns that an INSERT fills, in its order. Without a list they are those
// that take a value.
//
// The index of a column that is wrong is -1, so that the values still line up with the list. A rowversion counts
// without a list, where the server wants a value for it (DEFAULT or NULL), and so do the columns of a period, which
// take DEFAULT, unless they are HIDDEN.
func (a *analyzer) insertColumns(e *env, target *source, names []syntax.Ident) []int {
	var columns []int
	if len(names) == 0 {
		for i := range target.columns {
			if c := target.definition(i); c == nil || !c.Identity && !c.Computed && !c.Hidden {
				columns = append(columns, i)
			}
		}
		return columns
	}
	for _, name := range names {
		i := a.targetColumn(e, target, name)
		if i >= 0 && slices.Contains(columns, i) {
			a.failName(e, name.Span, "", "column %s is listed twice", name.Value)
		}
		if c := target.definition(i); c != nil && !a.checkWritable(e, name, c) {
			i = -1
		}
		columns = append(columns, i)
	}
	return columns
}

// checkWritable refuses columns that only the server fills. An identity column can be filled between SET
// IDENTITY_INSERT ON and OFF, and a GENERATED ALWAYS one while its period is dropped, which is not for this check to
// know.
func (a *analyzer) checkWritable(e *env, name syntax.Ident, c *catalog.Column) bool {
	switch {
	case c.Computed:
		a.fail(e, name.Span, "leave it out", "column %s is computed", c.Name)
	case c.Type.Kind == sqltype.RowVersion:
		a.fail(e, name.Span, "leave it out", "column %s is filled by the server", c.Name)
	default:
		return true
	}
	return false
}

// targetColumn finds a column of a target, or reports it and returns -1.
func (a *analyzer) targetColumn(e *env, target *source, name syntax.Ident) int {
	i := target.column(name.Value)
	a.names.fill(name, target)
	if i < 0 && !target.bad {
		a.failName(e, name.Span, addColumn, "%s has no column %s", cmpName(target), name.Value)
		a.meant(name.Value, columnNames(target))
	}
	return i
}

func cmpName(src *source) string {
	if src.table != nil && src.table.Name.Name != "" {
		return src.table.Name.Name
	}
	if src.name == "" {
		return "the table"
	}
	return src.name
}

// definition returns the definition of a column, if it is known.
func (src *source) definition(i int) *catalog.Column {
	if src.table == nil || i < 0 || i >= len(src.table.Columns) {
		return nil
	}
	return &src.table.Columns[i]
}

// store checks the columns of a query against those that it fills.
//
// Only their number and types can be checked; which row has which value shows when the statement runs.
func (a *analyzer) store(e *env, target *source, columns []int, out result, at diag.Span) {
	if out.bad || target.bad {
		// The parameters among them still have to learn their types.
		if len(out.values) != len(columns) || target.bad {
			return
		}
	} else if len(out.columns) != len(columns) {
		a.fail(e, at, "", "%s for %s", diag.Count(len(out.columns), "value"), diag.Count(len(columns), "column"))
		return
	}
	for i, v := range out.values {
		a.storeValue(e, target, columns[i], v, out.columns[i].Span)
	}
}

// storeRow checks one row of VALUES.
func (a *analyzer) storeRow(s *scope, target *source, columns []int, row []syntax.Expr) {
	if len(row) != len(columns) {
		for _, x := range row {
			a.expr(s, x)
		}
		if !target.bad {
			a.fail(s.env, row[0].Range().Until(row[len(row)-1].Range()), "", "%s for %s",
				diag.Count(len(row), "value"), diag.Count(len(columns), "column"))
		}
		return
	}
	for i, x := range row {
		a.storeExpr(s, target, columns[i], x)
	}
}

// storeExpr checks an expression that is stored in a column. DEFAULT is one that any column but a NOT NULL one without
// a default takes.
func (a *analyzer) storeExpr(s *scope, target *source, column int, x syntax.Expr) {
	lit, ok := x.(*syntax.Literal)
	if !ok || lit.Kind != syntax.DefaultLiteral {
		a.storeValue(s.env, target, column, a.expr(s, x), x.Range())
		return
	}
	if c := target.definition(column); c != nil && !c.HasDefault && !c.Nullable && !c.Generated && !c.Identity {
		a.fail(s.env, x.Range(), "", "column %s is NOT NULL and has no default", c.Name)
	}
}

// storeValue checks that a value fits into a column: its type, NULL, and the length of a literal. The rest shows when
// the statement runs.
//
// The length of a literal is one of the few truncations that show before: "String or binary data would be truncated"
// (8152, 2628).
func (a *analyzer) storeValue(e *env, target *source, column int, v typed, at diag.Span) {
	if column < 0 {
		return
	}
	c := target.columns[column]
	if c.Type.Kind == sqltype.RowVersion && target.table != nil && !v.bad() && !v.isNull() {
		a.fail(e, at, "write DEFAULT", "column %s is filled by the server", c.Name)
		return
	}
	a.argument(e, v, c.Type, c.Nullable, at, "column "+c.Name)
	if v.isNull() && !c.Nullable && c.Type.Kind != sqltype.Invalid {
		if d := target.definition(column); d == nil || !d.Generated {
			a.fail(e, at, "", "column %s is NOT NULL", c.Name)
		}
		return
	}
	if v.literal != nil && v.Type.IsCharacter() && c.Type.IsCharacter() && !c.Type.IsLOB() && len([]rune(v.literal.Value)) > c.Type.Length {
		a.fail(e, at, "", "this text has %s, but column %s is %s", diag.Count(len([]rune(v.literal.Value)), "character"), c.Name, c.Type)
	}
}

// checkMissing reports NOT NULL columns that an INSERT leaves without a value. When a column of the list is wrong, it
// is likely to be the missing one.
//
// Without a list the number of values shows it.
func (a *analyzer) checkMissing(e *env, target *source, at diag.Span, columns []int, names []syntax.Ident) {
	if target.table == nil || target.bad || len(names) > 0 && slices.Contains(columns, -1) {
		return
	}
	for _, c := range target.table.Columns {
		if c.Nullable || c.HasDefault || c.Identity || c.Computed || c.Generated {
			continue
		}
		if !slices.ContainsFunc(names, func(n syntax.Ident) bool { return same(n.Value, c.Name) }) {
			a.fail(e, at, "add it to the list", "column %s is NOT NULL and has no default, but gets no value", c.Name)
			return
		}
	}
}

// update checks UPDATE. In OUTPUT, inserted holds the new values and deleted the old ones; a refinement by WHERE says
// nothing about either.
//
// Both have the column's declared nullability: after SET note = N'x' inserted.note cannot be NULL in truth, but a
// trigger may put it there.
func (a *analyzer) update(e *env, s *syntax.Update) (rowset, bool) {
	sc, target, from := a.changed(e, s.With, s.Top, s.Target, s.From)
	set := sc.in(lookup.InSet)
	var assigned []int
	for _, as := range s.Set {
		i := a.assignment(set, target, as)
		if i >= 0 && slices.Contains(assigned, i) {
			a.failName(e, as.Column.Span, "", "column %s is set twice", target.columns[i].Name)
		}
		assigned = append(assigned, i)
	}
	rows := a.changedRows(sc, target, from, s.Where, s.Top, s.Cursor)
	e.found = rows
	out := sc.in(lookup.InOutput)
	out.Sources = append([]*source{target.as("inserted", false), target.as("deleted", false)}, beside(sc.Sources, target)...)
	return a.output(out, s.Output, rows)
}

// deleteStmt checks DELETE.
func (a *analyzer) deleteStmt(e *env, s *syntax.Delete) (rowset, bool) {
	sc, target, from := a.changed(e, s.With, s.Top, s.Target, s.From)
	rows := a.changedRows(sc, target, from, s.Where, s.Top, s.Cursor)
	e.found = rows
	out := sc.in(lookup.InOutput)
	out.Sources = append([]*source{target.as("deleted", false)}, beside(sc.Sources, target)...)
	return a.output(out, s.Output, rows)
}

// beside returns the sources without the target: in OUTPUT, its columns are inserted's and deleted's.
func beside(sources []*source, target *source) []*source {
	return slices.DeleteFunc(slices.Clone(sources), func(src *source) bool { return src == target })
}

// changed reads what UPDATE and DELETE have in common: the target is a table of the FROM clause or, if it isn't there,
// one more table.
func (a *analyzer) changed(e *env, with []*syntax.CTE, top *syntax.Top, t syntax.TableSource, list []syntax.TableSource) (*scope, *source, joined) {
	sc := &scope{env: e, level: level{Clause: lookup.InFrom}}
	a.with(sc, with)
	if top != nil {
		a.top(sc, top)
	}
	from := a.from(sc, list)
	target := a.target(&scope{env: e, ctes: sc.ctes, level: level{Clause: lookup.InFrom}}, t, sc.Sources)
	if !slices.Contains(sc.Sources, target) {
		from = from.and(joined{sources: []*source{target}})
		sc.Sources = append(sc.Sources, target)
	}
	return sc, target, from
}

// changedRows checks WHERE and says how many rows of the target it leaves.
func (a *analyzer) changedRows(sc *scope, target *source, from joined, where syntax.Expr, top *syntax.Top, cursor *syntax.CursorName) Cardinality {
	if where != nil {
		a.cond(sc.in(lookup.InWhere), where)
	}
	if cursor != nil {
		if _, ok := sc.env.cursor(cursor.Name); !ok {
			if _, ok := sc.env.variable(cursor.Name); !ok {
				a.failName(sc.env, target.at, "", "cursor %s isn't declared", cursor.Name)
			}
		}
		return Optional
	}
	// A row is changed once, however many rows of other tables it meets: that it is the only one will do.
	reached, _ := a.reaches(sc, where, from, nil)
	if top != nil && isOne(top.N) && !top.Percent || reached[target] && !from.full {
		return Optional
	}
	return Many
}

// assignment checks one element of SET and returns the index of the column, or -1. The forms are column = x, @v = x and
// @v = column = x, each also with a compound operator.
//
// In @v = column = x both get the new value.
func (a *analyzer) assignment(s *scope, target *source, as syntax.Assignment) int {
	column := -1
	a.names.assign(as.Column, target)
	if as.Column != nil {
		name := as.Column.Last()
		column = a.targetColumn(s.env, target, name)
		if c := target.definition(column); c != nil {
			switch {
			case c.Identity:
				a.fail(s.env, name.Span, "", "column %s is an identity column, which can't be updated", c.Name)
				column = -1
			case !a.checkWritable(s.env, name, c):
				column = -1
			}
		}
	}
	lit, isLiteral := as.X.(*syntax.Literal)
	if column >= 0 && as.Op == "=" && isLiteral && lit.Kind == syntax.DefaultLiteral {
		a.storeExpr(s, target, column, as.X)
		return column
	}
	if m, ok := as.X.(*syntax.Method); ok && m.X == syntax.Expr(as.Column) && column >= 0 {
		// column.modify(…): the column is the target's, whatever else has its name.
		c := target.columns[column]
		a.isXMLMethod(s, m, typed{Type: c.Type, Nullable: c.Nullable})
		return column
	}
	v := a.expr(s, as.X)
	if column >= 0 {
		c := target.columns[column]
		if as.Op != "=" {
			v = a.compound(s.env, as.Op, typed{Type: c.Type, Nullable: c.Nullable}, v, as.Span)
		}
		a.storeValue(s.env, target, column, v, as.X.Range())
		v = typed{Type: c.Type, Nullable: c.Nullable}
	}
	if as.Variable != nil {
		op := as.Op
		if column >= 0 {
			op = "="
		}
		a.assignVariable(s.env, as.Variable, op, v, as.X)
	}
	return column
}

// compound types x op= y.
func (a *analyzer) compound(e *env, op string, x, y typed, at diag.Span) typed {
	pairNumbers(x, y, at)
	if x.bad() || y.bad() {
		return typed{}
	}
	t, err := sqltype.Arithmetic(strings.TrimSuffix(op, "="), x.Type, y.Type)
	if err != nil {
		return a.fail(e, at, "CAST the value", "%v", err)
	}
	out := typed{Type: t, Nullable: x.Nullable || y.Nullable}
	out.Nullable = out.Nullable || e.lenient() && binaryFails(strings.TrimSuffix(op, "="), x, y, out)
	return out
}

// output checks an OUTPUT clause and the one that may follow it, and says what goes to the client.
//
// There may be two: OUTPUT … INTO @t OUTPUT … stores the one and sends the other. At most the last goes to the client.
func (a *analyzer) output(s *scope, o *syntax.Output, rows Cardinality) (rowset, bool) {
	if o == nil {
		return rowset{}, false
	}
	out := a.selectList(s, &syntax.Select{Span: o.Span, Items: o.Items})
	if o.Into == nil {
		return rowset{Columns: out.columns, Rows: rows, bad: out.bad}, true
	}
	into := a.target(&scope{env: s.env, ctes: s.ctes, level: level{Clause: lookup.InFrom}}, o.Into, nil)
	a.store(s.env, into, a.insertColumns(s.env, into, o.IntoColumns), out, o.Span)
	return a.output(s, o.Then, rows)
}
