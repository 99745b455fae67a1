package analyze

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// tableRelation returns the columns and keys of a table; its computed columns are typed at the first use.
func (a *analyzer) tableRelation(t *catalog.Table, lenient bool) relation {
	a.computeColumns(t)
	rel := relation{changed: t.Changed}
	for i, c := range t.Columns {
		rel.columns = append(rel.columns, Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable || lenient && c.Fails, Span: c.Span, origin: &t.Columns[i]})
		if c.Hidden {
			rel.hidden = append(rel.hidden, make([]bool, i+1-len(rel.hidden))...)
			rel.hidden[i] = true
		}
	}
	for _, k := range t.Keys {
		rel.keys = append(rel.keys, k.Columns)
	}
	return rel
}

// computeColumns types the computed columns of a table. They see the table's other columns, computed ones excepted.
//
// The server infers their types and nullability as for a select list; a script says them nowhere.
func (a *analyzer) computeColumns(t *catalog.Table) {
	if a.tables[t] {
		return
	}
	a.tables[t] = true
	src := &source{name: t.Name.Name}
	for _, c := range t.Columns {
		if !c.Computed {
			src.columns = append(src.columns, Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Span: c.Span})
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.Computed || c.Expr == nil || c.Type.Kind != sqltype.Invalid {
			continue
		}
		a.loudly(func() {
			sc := &scope{env: newEnv(nil, c.ExprFile), level: level{Sources: []*source{src}, Clause: lookup.InDefault}}
			if a.readsComputed(sc.env, t, c.Expr) {
				return
			}
			x := a.expr(sc, c.Expr)
			unsaid := c.Nullable
			c.Type, c.Nullable = x.Type, unsaid && x.Nullable
			sc.env.warningsOff = true
			a.quietly(func() { c.Fails = unsaid && a.expr(sc, c.Expr).Nullable })
		})
	}
}

// readsComputed reports the computed columns that another one reads, which the server doesn't allow.
func (a *analyzer) readsComputed(e *env, t *catalog.Table, x syntax.Expr) bool {
	found := false
	for ref := range syntax.All[*syntax.ColumnRef](x) {
		if c := t.Column(ref.Last().Value); c != nil && c.Computed {
			a.failName(e, ref.Span, "write its expression instead", "column %s is computed, and a computed column can't read another one", c.Name)
			found = true
		}
	}
	return found
}

// loudly runs f so that its findings are reported even when those of the statement that needs it are not: what it
// computes is kept, and so must be what is wrong with it.
//
// A view with a mistake may be met first below gen:columns, which answers gaps of its own statement and would otherwise
// take those of the view with it.
func (a *analyzer) loudly(f func()) {
	outer, names := a.found, a.names
	a.found, a.names = a.root, nil // its names are not those that somebody asks about
	defer func() { a.found, a.names = outer, names }()
	f()
}

// once returns what compute yields, which is called at the first use only. While it runs, the object is marked, and a
// definition that uses itself is found. What is wrong in a definition that is excluded is left to those who read it.
func (a *analyzer) once(o catalog.Object, lenient bool, compute func(e *env) relation) relation {
	key := read{o, lenient}
	if rel, known := a.relations[key]; known {
		if rel != nil {
			return *rel
		}
		at := o.Where()
		a.loudly(func() {
			a.failName(newEnv(nil, at.File), at.Span, "", "%s is defined by means of itself", o.ObjectName())
		})
		return relation{bad: true}
	}
	a.relations[key] = nil
	var rel relation
	e := newEnv(nil, o.Where().File)
	e.schema = o.ObjectName().Schema
	e.warningsOff = lenient
	if a.except.Has(o.ObjectName()) {
		if found := a.quietly(func() { rel = compute(e) }); len(found) > 0 {
			rel = relation{bad: true, unknown: true}
		}
	} else {
		a.loudly(func() { rel = compute(e) })
	}
	a.relations[key] = &rel
	return rel
}

// viewRelation returns what a view yields.
//
// Its columns are those of the query at the time of CREATE VIEW: SELECT * goes stale when a table changes.
func (a *analyzer) viewRelation(v *catalog.View, lenient bool) relation {
	return a.once(v, lenient, func(e *env) relation {
		rel := a.subquery(&scope{env: e, level: level{Clause: lookup.InFrom}}, v.Def.Query)
		if a.rename(e, &rel, v.Def.Columns) && !a.checkNames(e, rel.columns, "of view "+v.Name.String()) {
			rel.bad = true
		}
		a.checkFresh(e, v, v.Bound, &rel)
		rel.changed = later(rel.changed, v.Changed)
		return rel
	})
}

// functionRelation returns what a table function yields, whatever its arguments.
//
// A function that returns @t TABLE (…) has the columns and keys of that table.
func (a *analyzer) functionRelation(f *catalog.Function, lenient bool) relation {
	if f.Def.Inline == nil {
		return a.tableRelation(f.Table, lenient)
	}
	return a.once(f, lenient, func(e *env) relation {
		a.declareParams(e, f.Params)
		rel := a.subquery(&scope{env: e, level: level{Clause: lookup.InFrom}}, f.Def.Inline)
		if !rel.bad && !a.checkNames(e, rel.columns, "of function "+f.Name.String()) {
			rel.bad = true
		}
		a.checkFresh(e, f, f.Bound, &rel)
		rel.changed = later(rel.changed, f.Changed)
		return rel
	})
}

// declareParams makes the parameters of a function known to its body.
func (a *analyzer) declareParams(e *env, params []catalog.Param) {
	for _, p := range params {
		if p.Table != nil {
			e.declareTable(p.Name, p.Table)
		} else {
			e.declare(p.Name, variable{Type: p.Type, Span: p.Span})
		}
	}
}

// functionTable types a table function in FROM.
func (a *analyzer) functionTable(s *scope, f *syntax.FunctionTable) *source {
	name := strings.ToUpper(f.Call.Name.Last().Value)
	var rel relation
	unqualified := len(f.Call.Name.Parts) == 1
	switch {
	case unqualified && name == "OPENJSON":
		rel = a.openJSON(s, f)
	case unqualified && name == "STRING_SPLIT":
		rel = a.stringSplit(s, f.Call)
	case unqualified && name == "GENERATE_SERIES":
		rel = a.generateSeries(s, f.Call)
	case unqualified && (name == "CONTAINSTABLE" || name == "FREETEXTTABLE"):
		rel = a.fullTextTable(s, f.Call)
	default:
		rel = a.userTable(s, f.Call)
	}
	src := a.named(s, rel, f.Alias, f.Columns, f.Span)
	if f.Alias == nil {
		src.name = f.Call.Name.Last().Value
	}
	return src
}

// serverTables are the functions of the server whose columns stand in a document or on another server.
var serverTables = map[string]bool{
	"OPENDATASOURCE": true, "OPENQUERY": true, "OPENROWSET": true, "OPENXML": true,
}

// userTable types a call of a table function that a script defines. What it yields doesn't depend on the arguments.
//
// They are checked all the same. Unlike a procedure's, each must be given: a default has to be asked for with DEFAULT.
func (a *analyzer) userTable(s *scope, c *syntax.Call) relation {
	broken := relation{bad: true}
	full, err := a.resolve(s.env, c.Name)
	if err != nil {
		a.failGap(s.env, c.Name.Span, "exclude the procedure", "%v", err)
		return broken
	}
	f := a.cat.Function(full)
	switch {
	case f == nil && len(c.Name.Parts) == 1 && serverTables[strings.ToUpper(c.Name.Last().Value)]:
		a.failGap(s.env, c.Name.Span, "exclude the procedure", "the columns of %s are not known to the generator",
			strings.ToUpper(c.Name.Last().Value))
		return broken
	case f == nil && len(c.Name.Parts) == 1:
		a.failServer(s.env, c.Name.Span, "define it, or use OPENJSON, STRING_SPLIT or GENERATE_SERIES",
			"table function %s is not known to the generator", c.Name.Last().Value)
		return broken
	case f == nil && full.IsSystem():
		a.failServer(s.env, c.Name.Span, "", "%s is not known to the generator", full)
		return broken
	case f == nil:
		a.failGap(s.env, c.Name.Span, defineIt, "no script defines a function %s", full)
		a.meantObject(full)
		return broken
	case f.Def.Returns != nil:
		a.failName(s.env, c.Name.Span, "", "%s returns a value, not a table", full)
		return broken
	}
	a.functionArguments(s, c, f)
	return a.known(s.env, c.Name.Span, f.Name, a.functionRelation(f, s.env.lenient()))
}

// openJSON types OPENJSON: with WITH the columns it lists, which may all be NULL, or else the three documented ones.
//
// Without WITH they are key, value and type. With it, lax mode (the default) yields NULL for whatever the document does
// not have.
func (a *analyzer) openJSON(s *scope, f *syntax.FunctionTable) relation {
	at := f.Call.Span
	if n := len(f.Call.Args); n < 1 || n > 2 {
		a.fail(s.env, at, "", "OPENJSON takes a document and perhaps a path, not %s", diag.Count(n, "argument"))
		return relation{bad: true}
	}
	a.takes(s, f.Call.Args[0], typeNVarCharMax, "OPENJSON's document")
	if len(f.Call.Args) == 2 {
		a.takes(s, f.Call.Args[1], nvarchar(4000), "OPENJSON's path")
	}
	if f.With == nil {
		return relation{columns: []Column{
			{Name: "key", Type: nvarchar(4000), Span: at},
			{Name: "value", Type: typeNVarCharMax, Nullable: true, Span: at},
			{Name: "type", Type: typeTinyInt, Span: at},
		}}
	}
	var rel relation
	for _, c := range f.With {
		t, table, err := a.cat.Type(c.Type)
		switch {
		case err != nil:
			a.fail(s.env, c.Type.Span, catalog.Advice(err), "%v", err)
		case table != nil:
			a.fail(s.env, c.Type.Span, "", "a column of OPENJSON can't be a table")
			t = sqltype.Type{}
		case c.AsJSON && t != typeNVarCharMax:
			a.fail(s.env, c.Type.Span, "declare it nvarchar(max)", "AS JSON needs nvarchar(max), not %s", t)
			t = sqltype.Type{}
		}
		rel.bad = rel.bad || t.Kind == sqltype.Invalid
		rel.columns = append(rel.columns, Column{Name: c.Name.Value, Type: t, Nullable: true, Span: c.Name.Span})
	}
	return rel
}

// stringSplit types STRING_SPLIT: pieces as long as the whole at most. Of NULL there are none, so that none is NULL.
func (a *analyzer) stringSplit(s *scope, c *syntax.Call) relation {
	if n := len(c.Args); n < 2 || n > 3 {
		a.fail(s.env, c.Span, "", "STRING_SPLIT takes a string, a separator and perhaps 1 for ordinals, not %s", diag.Count(n, "argument"))
		return relation{bad: true}
	}
	text := a.expr(s, c.Args[0])
	separator := a.expr(s, c.Args[1])
	if text.bad() || separator.bad() {
		return relation{bad: true}
	}
	if !text.Type.IsCharacter() || !separator.Type.IsCharacter() {
		a.fail(s.env, c.Span, "CAST the argument", "STRING_SPLIT takes strings, not %s and %s", text.Type, separator.Type)
		return relation{bad: true}
	}
	piece := builtin.TextOf(text.Type, separator.Type.IsNational())
	rel := relation{columns: []Column{{Name: "value", Type: piece, Span: c.Span}}}
	if len(c.Args) == 2 {
		return rel
	}
	ordinal := a.expr(s, c.Args[2])
	switch {
	case ordinal.bad():
		rel.bad = true
	case ordinal.literal == nil || ordinal.literal.Value != "0" && ordinal.literal.Value != "1":
		a.fail(s.env, c.Args[2].Range(), "", "the third argument of STRING_SPLIT is 0 or 1")
		rel.bad = true
	case ordinal.literal.Value == "1":
		rel.columns = append(rel.columns, Column{Name: "ordinal", Type: typeBigInt, Span: c.Span})
	}
	return rel
}

// generateSeries types GENERATE_SERIES: start, stop and step have one type, and so have the values.
func (a *analyzer) generateSeries(s *scope, c *syntax.Call) relation {
	if n := len(c.Args); n < 2 || n > 3 {
		a.fail(s.env, c.Span, "", "GENERATE_SERIES takes a start, a stop and perhaps a step, not %s", diag.Count(n, "argument"))
		return relation{bad: true}
	}
	rel := relation{}
	var value sqltype.Type
	for i, x := range c.Args {
		t := a.expr(s, x)
		switch {
		case t.bad():
			rel.bad = true
		case !t.Type.IsExactInteger() && t.Type.Kind != sqltype.Decimal:
			a.fail(s.env, x.Range(), "CAST it", "GENERATE_SERIES counts in whole numbers or decimals, not in %s", t.Type)
			rel.bad = true
		case i == 0:
			value = t.Type
		case t.Type.Kind != value.Kind && !rel.bad:
			a.fail(s.env, x.Range(), "CAST it to "+value.String(), "GENERATE_SERIES starts with %s and goes on with %s", value, t.Type)
			rel.bad = true
		case !rel.bad: // decimals may have other digits
			value, _ = sqltype.Union(value, t.Type)
		}
	}
	rel.columns = []Column{{Name: "value", Type: value, Span: c.Span}}
	return rel
}
