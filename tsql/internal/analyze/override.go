package analyze

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ruleOverride is the id of findings about gen:columns, gen:result and WITH RESULT SETS. Whatever they say has to be
// needed and must not contradict what is known: an override that outlives its reason would hide the next mistake.
const ruleOverride = "override"

// directive returns the directive of a kind directly above a statement and marks it as used; nil if there is none.
func (w *walker) directive(s syntax.Stmt, kind directive.Kind) *directive.Directive {
	return w.directiveAbove(w.e.file, s.Range(), kind)
}

// directiveAbove is directive for any place.
//
// Two statements on one line have the same lines above them. The first to ask gets the directive:
//
//	-- gen:result Total :one
//	SELECT @n AS n; SELECT @m AS m;     -- Total is the first
//
// A statement may ask for the same one again, since a query is typed more than once.
func (p *program) directiveAbove(file *diag.File, at diag.Span, kind directive.Kind) *directive.Directive {
	set := p.directives[file]
	if set == nil {
		return nil
	}
	var first *directive.Directive
	for _, d := range set.Above(at, kind) {
		if p.taken[d] != nil && *p.taken[d] != at {
			continue // of another statement on the same line
		}
		p.taken[d] = &at
		set.Use(d)
		if first != nil {
			p.second(file, d)
			break
		}
		first = d
	}
	return first
}

// second reports a directive of which a statement has one already.
func (p *program) second(file *diag.File, d *directive.Directive) {
	if d.Trailing {
		p.a.found.Add(file, d.Span, ruleOverride, "if it is about the next statement, put it on a line of its own above that",
			"this %s stands behind a statement that has one above it", d.Kind)
		return
	}
	p.a.found.Add(file, d.Span, ruleOverride, "remove one of them", "there are two %s above this statement", d.Kind)
}

// override makes the result set of a statement: what was inferred, corrected by its directives. found are the findings
// of the inference; they are reported unless gen:columns answers them.
//
// gen:columns comes first: what gen:result says of the rows is checked against the set as it then is.
func (w *walker) override(s syntax.Stmt, r rowset, found diag.List) ResultSet {
	r, found = w.columns(s, r, found)
	*w.a.found = append(*w.a.found, found...)
	set := w.resultSet(s, r)
	if d := w.directive(s, directive.Result); d != nil {
		w.nameSet(d, &set, !r.bad)
	}
	return set
}

// columns applies the gen:columns above a statement, if there is one. It is needed in three cases: inference could not
// type a column for something that it doesn't know, which the directive answers, while mistakes remain mistakes; it
// says NOT NULL of a column of which inference could only say that it may be NULL; or it names a column that has no
// name, or shares it. It cannot change what inference is sure of.
//
// Needed:
//
//	-- gen:columns (n int not null)
//	SELECT @n AS n;     -- a variable may be NULL, as far as inference can tell
//
// Refused, because it would be wrong one day: any type other than the one inferred. A CAST in the statement says it to
// the server too.
func (w *walker) columns(s syntax.Stmt, r rowset, found diag.List) (rowset, diag.List) {
	d := w.directive(s, directive.Columns)
	if d == nil {
		return r, found
	}
	if d.None {
		w.fail(d, ruleOverride, "remove it", "this statement sends a result set; none is for an EXEC that sends nothing")
		return r, found
	}
	r.Columns = sent(r.Columns)
	given, ok := w.columnDefs(d.Columns, r.Columns)
	if !ok {
		return rowset{Columns: given, Rows: r.Rows, bad: true}, found
	}
	if isDocument(s) {
		return r, found
	}
	// With SELECT * from an unknown table not even the number of columns is known.
	unknown := r.bad
	for _, c := range r.Columns {
		unknown = unknown || !isKnown(c.Type)
	}
	if !unknown && len(given) != len(r.Columns) {
		w.fail(d, ruleOverride, "", "%s given, but the statement sends %d", diag.Count(len(given), "column"), len(r.Columns))
		return r, found
	}
	if len(given) == len(r.Columns) {
		refined, fits := w.refines(given, r.Columns)
		if !fits {
			return r, found
		}
		if !refined && !unknown {
			w.fail(d, ruleOverride, "remove it", "these columns are what the statement is known to send")
		}
		for i := range given {
			given[i].As, given[i].Name = given[i].Name, r.Columns[i].Name
		}
	}
	if unknown {
		found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Gap })
	}
	return rowset{Columns: given, Rows: r.Rows}, found
}

// isDocument reports statements that end in FOR JSON or FOR XML without TYPE.
//
// Their one column has a name of the server's making (JSON_F52E2B61-18A1-11d1-B105-00805F49916B), and long documents
// come in several rows.
func isDocument(s syntax.Stmt) bool {
	sel, ok := s.(*syntax.SelectStmt)
	return ok && sel.Query.For != nil && sel.Query.For.Kind != "BROWSE" && !yieldsXML(sel.Query.For)
}

// yieldsXML reports FOR XML … TYPE, which yields one value.
func yieldsXML(f *syntax.ForClause) bool {
	return syntax.HasOption(f.Options, "TYPE")
}

// isKnown reports whether a type is known.
func isKnown(t sqltype.Type) bool { return t.Kind != sqltype.Invalid }

// columnDefs types the columns of a gen:columns or of WITH RESULT SETS. Where they don't say whether NULL is allowed,
// the inferred column of the same place does, if there is one.
//
// The other columns are typed on after a mistake in one, so that all mistakes are reported.
func (w *walker) columnDefs(defs []syntax.ColumnDef, inferred []Column) ([]Column, bool) {
	ok := true
	columns := make([]Column, len(defs))
	for i := range defs {
		def := &defs[i]
		columns[i] = Column{Name: def.Name.Value, Nullable: def.Null != syntax.NullRefused, Span: def.Span}
		if def.Null == syntax.NullUnsaid && len(inferred) == len(defs) && isKnown(inferred[i].Type) {
			columns[i].Nullable = inferred[i].Nullable
		}
		if def.Type == nil {
			ok = false
			w.fail(def, ruleOverride, "", "column %s has no type", def.Name.Value)
			continue
		}
		t, table, err := w.cat.Type(def.Type)
		if err == nil && table != nil {
			err = fmt.Errorf("%s is a table type", table.Name)
		}
		if err != nil {
			ok = false
			w.fail(def.Type, ruleType, catalog.Advice(err), "%s", err)
			continue
		}
		columns[i].Type = t
	}
	return columns, ok
}

// refines compares given columns with inferred ones: whether they say more, and whether they don't contradict.
//
// Nullability is refined in one direction only. Inference errs towards NULL; where it says NOT NULL, it is sure.
func (w *walker) refines(given, inferred []Column) (refined, fits bool) {
	fits = true
	for i, g := range given {
		c := inferred[i]
		free := c.Name == "" || shares(inferred, i)
		refined = refined || free && g.Name != c.Name
		switch {
		case !free && g.Name != c.Name:
			fits = false
			w.fail(part{g.Span}, ruleOverride, "", "the column is called %s", c.Name)
		case !isKnown(c.Type):
			refined = true
		case g.Type != c.Type:
			fits = false
			w.fail(part{g.Span}, ruleOverride, "CAST it in the statement if another type is wanted", "column %s is known to be %s", c.Name, c.Type)
		case g.Nullable && !c.Nullable:
			fits = false
			w.fail(part{g.Span}, ruleOverride, "write NOT NULL", "column %s is known never to be NULL", c.Name)
		case c.Nullable && !g.Nullable:
			refined = true
		}
	}
	return refined, fits
}

// shares reports whether another column has the name of column i.
func shares(columns []Column, i int) bool {
	for j, c := range columns {
		if j != i && same(c.Name, columns[i].Name) {
			return true
		}
	}
	return false
}

// resultSet makes a result set of what a statement yields.
func (w *walker) resultSet(s syntax.Stmt, r rowset) ResultSet {
	return ResultSet{Columns: r.Columns, Rows: r.Rows, File: w.e.file, Span: s.Range()}
}

// rowCommands are the words that gen:result may say about the number of rows.
var rowCommands = map[string]Cardinality{":one": One, ":optional": Optional, ":many": Many, ":stream": Many}

// nameSet applies a gen:result. known says that the number of rows in the set is inferred rather than a default.
//
// For example :one on SELECT … WHERE id = @id, which inference says has no row or one: the author knows that there is
// one, and the generated code makes its absence an error.
func (w *walker) nameSet(d *directive.Directive, set *ResultSet, known bool) {
	set.Name = d.Name
	if d.Command == "" {
		return
	}
	// A stronger word than what was inferred is a promise of the author; the same word, or a weaker one, is a mistake.
	rows, ok := rowCommands[d.Command]
	switch {
	case !ok:
		w.fail(d, ruleOverride, "one of :one, :optional, :many, :stream", "gen:result does not know %s", d.Command)
	case !known, rows > set.Rows, d.Command == ":stream" && set.Rows == Many:
		set.Rows, set.Stream = rows, d.Command == ":stream"
	case rows == set.Rows:
		w.fail(d, ruleOverride, "leave it out", "%s is known without saying", d.Command)
	default:
		w.fail(d, ruleOverride, "leave it out", "%s contradicts that the statement yields %s", d.Command, rowsText[set.Rows])
	}
}

// rowsText renders cardinalities in messages.
var rowsText = map[Cardinality]string{Many: "any number of rows", Optional: "no row or one", One: "one row"}

// definedColumns types the columns of one definition in WITH RESULT SETS.
//
// The forms are (a int NOT NULL, b date), AS TYPE dbo.ids and AS OBJECT dbo.orders.
func (w *walker) definedColumns(def *syntax.ResultSetDef) ([]Column, bool) {
	switch {
	case def.Type != nil:
		_, table, err := w.cat.Type(&syntax.TypeName{Span: def.Type.Span, Name: def.Type})
		if err == nil && table == nil {
			err = fmt.Errorf("%s is not a table type", w.e.file.Slice(def.Type.Span))
		}
		if err != nil {
			w.fail(def.Type, ruleName, catalog.Advice(err), "%s", err)
			return nil, false
		}
		return tableColumns(table), true
	case def.Object != nil:
		// AS OBJECT means the columns of a table, a view or a table function: what SELECT * from it sends.
		star := &syntax.Select{
			Span:  def.Span,
			Items: []syntax.SelectItem{{Span: def.Span, X: &syntax.Star{Span: def.Span}}},
			From:  []syntax.TableSource{&syntax.TableRef{Span: def.Object.Span, Name: def.Object}},
		}
		r := w.a.query(w.e, &syntax.Query{Span: def.Span, Body: star})
		return r.Columns, !r.bad
	default:
		return w.columnDefs(def.Columns, nil)
	}
}

// tableColumns returns the columns of a table as those of a result set.
func tableColumns(t *catalog.Table) []Column {
	columns := make([]Column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Span: c.Span}
	}
	return columns
}
