package analyze

import (
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// dynamic follows dynamic SQL. Where WITH RESULT SETS or gen:columns says what is sent, that counts. Else a text that
// is known from the statements before is followed like the body of a procedure.
//
//	DECLARE @sql nvarchar(max) = N'SELECT o.id FROM dbo.orders AS o WHERE o.customer = @customer';
//	EXEC sp_executesql @sql, N'@customer int', @customer;
func (w *walker) dynamic(s *syntax.Exec, at int) int {
	const why = "what dynamic SQL sends is not known"
	if s.ResultSets != nil || w.body.module != inProcedure || w.directive(s, directive.Columns) != nil {
		w.a.quietly(func() { w.text(s) }) // for what it does to temp tables
		return w.opaque(s, at, why)
	}
	b := w.text(s)
	if b == nil {
		return w.opaque(s, at, why)
	}
	w.body.throws.call(b, !w.swallowed)
	return w.callBody(s, b, at)
}

// growing finds the temp tables that a text changes.
var growing = regexp.MustCompile(`(?i)\balter\s+table\s+\[?(##?\w+)`)

// text returns what the text does that an EXEC executes, or nil if that isn't known. The text sees the temp tables of
// the procedure, but none of its variables.
func (w *walker) text(s *syntax.Exec) *body {
	x := catalog.Executed(s)
	if x == nil {
		return nil
	}
	if text := w.known.Text(x); catalog.HasHole(text) {
		for _, found := range growing.FindAllStringSubmatch(text, -1) {
			w.e.grown[catalog.Fold(found[1])] = true
		}
		return nil
	}
	file := w.known.Part(w.e.file, x)
	script, found := syntax.Parse(file)
	if len(found) > 0 || len(script.Batches) != 1 || script.Batches[0].Module != nil {
		return nil
	}
	b := &body{module: inProcedure, name: w.body.name, graph: newGraph()}
	inner := w.walker(file, b)
	for name, t := range w.e.tables {
		if strings.HasPrefix(name, "#") {
			inner.e.tables[name] = t
		}
	}
	inner.e.settings = w.e.settings
	if w.e.working != nil {
		inner.e.working.tables = w.e.working.tables
	}
	if !inner.textParams(s, w.known) {
		return nil
	}
	inner.nested = w.nested
	inner.walk(script.Batches[0].Stmts)
	w.takeTemp(inner.e)
	return b
}

// takeTemp takes over what a text does to temp tables. It may change and drop those of the procedure. Of those that it
// makes, a global one (##t) is there after it, and a local one is not.
func (w *walker) takeTemp(inner *env) {
	for name := range w.e.tables {
		if t, there := inner.tables[name]; there && strings.HasPrefix(name, "#") {
			w.e.tables[name] = t
		} else if strings.HasPrefix(name, "#") {
			delete(w.e.tables, name)
		}
	}
	for name, t := range inner.tables {
		if strings.HasPrefix(name, "##") {
			w.e.tables[name] = t
		}
	}
}

// textParams declares the parameters of sp_executesql. It is false if they aren't known.
func (w *walker) textParams(s *syntax.Exec, known *catalog.Known) bool {
	if len(s.SQL) > 0 || len(s.Args) < 2 {
		return true
	}
	text := known.Text(s.Args[1].X)
	if catalog.HasHole(text) || strings.TrimSpace(text) == "" {
		return !catalog.HasHole(text)
	}
	script, found := syntax.Parse(diag.NewFile("", "CREATE PROCEDURE p "+text+" AS RETURN"))
	if len(found) > 0 || len(script.Batches) != 1 {
		return false
	}
	for p := range syntax.All[*syntax.CreateProcedure](script) {
		for _, param := range p.Params {
			t, table, err := w.cat.Type(param.Type)
			if err != nil {
				return false
			}
			w.declare(catalog.Param{Name: param.Name, Type: t, Table: table, Span: s.Args[1].X.Range()})
		}
	}
	return true
}
