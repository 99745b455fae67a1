package analyze

import (
	"go/token"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ruleQuery is the id of findings about annotated queries.
const ruleQuery = "query"

// queries describes the annotated queries of a file, in sqlc's style: a comment "-- name: GetOrder :one" directly above
// one statement. The commands tell what the method of the query returns, and only whether rows are sent at all is
// checked here: how many, the server knows. A :one that finds several rows fails at run time with ErrShape, rather than
// return the first as sqlc does: which one is first would be chance.
func (p *program) queries(src Source) []*Query {
	var out []*Query
	for _, batch := range src.Script.Batches {
		var last *directive.Directive
		for _, s := range batch.Stmts {
			d := p.annotation(src.Script.File, s)
			if d == nil {
				p.unannotated(src.Script.File, s, last)
				continue
			}
			last = d
			if q := p.annotated(src.Script, s, d); q != nil {
				out = append(out, q)
			}
		}
	}
	return out
}

// annotation returns the name directive of a statement. Only the one right above counts: an earlier one, with nothing
// but comments between, has lost its statement.
//
//	-- name: Forgotten :many
//	-- name: GetOrder :one
//	SELECT … ;
//
// is one query, GetOrder; Forgotten stays unused, which is reported in the end.
func (p *program) annotation(file *diag.File, s syntax.Stmt) *directive.Directive {
	set := p.directives[file]
	if set == nil {
		return nil
	}
	above := set.Above(s.Range(), directive.Query)
	above = slices.DeleteFunc(above, func(d *directive.Directive) bool { return p.taken[d] != nil })
	if len(above) == 0 {
		return nil
	}
	d := above[len(above)-1]
	at := s.Range()
	p.taken[d] = &at
	set.Use(d)
	return d
}

// unannotated checks a statement of a queries file that has no name.
//
// A statement without a name is none that could be left out quietly: its author expects a method. The messages differ
// by what is likely to have happened.
func (p *program) unannotated(file *diag.File, s syntax.Stmt, last *directive.Directive) {
	if set := p.directives[file]; set != nil && set.Astray(s.Range()) {
		return // the annotation is reported
	}
	w := p.walker(file, &body{module: inScript, graph: newGraph()})
	switch s := s.(type) {
	case *syntax.SetOption:
		w.setOption(s) // tools that run the file may want SET QUOTED_IDENTIFIER ON
		return
	case *syntax.Use, *syntax.Print:
		return
	case *syntax.SelectStmt, *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Merge, *syntax.Exec:
		if last == nil {
			break
		}
		w.fail(s, ruleQuery, "write -- name: SomeName :many above it, or put both statements in a procedure",
			"a query is one statement, and this is a second one after %s", last.Name)
		return
	case *syntax.CreateProcedure, *syntax.CreateFunction, *syntax.CreateView, *syntax.CreateTable, *syntax.CreateType, *syntax.CreateIndex:
		w.fail(s, ruleQuery, "move it to a file of the schema", "a definition does not belong in a file of queries")
		return
	}
	w.fail(s, ruleQuery, "write -- name: SomeName :one (or :many, :exec, :execrows, :batch) above it, or move it to a file of the schema",
		"this statement of a file of queries has no name")
}

// commands says of each command whether the query must send rows.
var commands = map[Command]bool{
	CommandOne: true, CommandMany: true,
	CommandExec: false, CommandExecRows: false, CommandBatch: false,
}

// annotated describes one query; nil if it has no usable name or is no query.
//
// It is typed like a statement of a procedure, except that nothing declares its variables: those are its parameters.
// The findings wait until gen:columns has had its say, as in [walker.yield].
func (p *program) annotated(script *syntax.Script, s syntax.Stmt, d *directive.Directive) *Query {
	w := p.walker(script.File, &body{module: inProcedure, graph: newGraph()})
	if !w.named(d) || !w.isQuery(s) {
		return nil
	}
	span := s.Range()
	// The span of a statement begins with its first word, so that comments above it are left out.
	text := strings.TrimRight(script.File.Slice(span), "; \t\r\n")
	q := &Query{
		Place:   catalog.Place{File: script.File, Span: span},
		Name:    d.Name,
		Command: Command(d.Command),
		Doc:     directive.Doc(script, span),
		Text:    text,
	}
	q.SchemaNames = p.schemaNames(s)
	w.fires(s)
	q.Errors = w.body.raised().sorted()
	var r rowset
	var sends bool
	found := p.a.quietly(func() {
		q.Params = w.inferred(s, func(e *env) {
			sel, ok := s.(*syntax.SelectStmt)
			if !ok {
				r, sends = p.a.dml(e, s)
				return
			}
			r = p.a.query(e, sel.Query)
			sends = !r.none
		})
	})
	if !sends {
		*p.a.found = append(*p.a.found, found...)
	} else {
		q.Columns = w.queryColumns(s, r, found)
	}
	if !r.bad {
		w.fitsCommand(d, sends)
	}
	return q
}

// queryColumns returns what a query sends.
func (w *walker) queryColumns(s syntax.Stmt, r rowset, found diag.List) []Column {
	r, found = w.columns(s, r, fillable(found))
	*w.a.found = append(*w.a.found, found...)
	return sent(r.Columns)
}

// fitsCommand checks that a query does what its command says.
//
// After a finding about the columns it is not asked: whether rows are sent may be wrong as well.
func (w *walker) fitsCommand(d *directive.Directive, sends bool) {
	rows, known := commands[Command(d.Command)]
	switch {
	case !known:
		w.fail(d, ruleQuery, "one of :one, :many, :exec, :execrows, :batch", "a query cannot be %q", d.Command)
	case rows && !sends:
		w.fail(d, ruleQuery, "write :exec or :execrows, or add an OUTPUT clause", "%s is %s, but sends no rows", d.Name, d.Command)
	case !rows && sends:
		w.fail(d, ruleQuery, "write :one or :many, or leave the rows out", "%s is %s, but sends rows", d.Name, d.Command)
	}
}

// named checks the name of a query and that no other has it.
//
// The name becomes a method of Queries, so that it has to be exported and there only once.
func (w *walker) named(d *directive.Directive) bool {
	if !token.IsIdentifier(d.Name) || !token.IsExported(d.Name) {
		w.fail(d, ruleQuery, "begin with an upper-case letter, then letters and digits", "%q cannot be the name of a Go method", d.Name)
		return false
	}
	if other, taken := w.queryNames[d.Name]; taken {
		w.fail(d, ruleQuery, "", "there is another query %s at %s", d.Name, other)
		return false
	}
	w.queryNames[d.Name] = site{file: w.e.file, span: d.Span}
	return true
}

// isQuery checks that a statement is of a kind that can be an annotated query.
//
// One statement and no more: the text goes to sp_executesql as it is, and its rows are read as one set.
func (w *walker) isQuery(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.SelectStmt, *syntax.Update, *syntax.Delete, *syntax.Merge:
		return true
	case *syntax.Insert:
		if s.Exec == nil {
			return true
		}
		w.fail(s, ruleQuery, "put it in a procedure", "INSERT … EXEC cannot be an annotated query")
	case *syntax.Exec:
		w.fail(s, ruleQuery, "remove it: every procedure of the scripts gets a method of its own", "a query cannot be EXEC")
	default:
		w.fail(s, ruleQuery, "put several statements in a procedure", "a query is one SELECT, INSERT, UPDATE, DELETE or MERGE")
	}
	return false
}

// inferred finds the parameters of a query, with the help of gen:param and gen:null, which have to be needed.
//
// A directive that says what inference finds by itself would hide a change of the column some day; so the query is
// typed without directives first, and compared.
func (w *walker) inferred(s syntax.Stmt, run func(*env)) []Param {
	var given []Param
	var nulls []string
	types := map[string]Param{}
	paramOf, nullOf := map[string]*directive.Directive{}, map[string]*directive.Directive{}
	for _, d := range w.above(s, directive.Param) {
		t, table, err := w.cat.Type(d.Param.Type)
		if err != nil {
			w.fail(d, ruleType, catalog.Advice(err), "%s", err)
			continue
		}
		paramOf[catalog.Fold(d.Param.Name)] = d
		param := Param{Name: d.Param.Name, Type: t, Table: table, Nullable: d.Param.Null, Span: d.Span}
		given, types[catalog.Fold(param.Name)] = append(given, param), param
	}
	for _, d := range w.above(s, directive.Null) {
		for _, name := range d.Params {
			nullOf[catalog.Fold(name)] = d
			nulls = append(nulls, name)
		}
	}
	infer := func(in *inference) []Param {
		e := newEnv(nil, w.e.file)
		e.infer = in
		return w.a.inferParams(e, run)
	}
	// Whether a directive is needed shows when the query is typed without it. That the text tests a parameter for NULL
	// doesn't count then: whoever has said so with gen:null, too, isn't told off.
	if len(given)+len(nulls) > 0 {
		var alone []Param
		w.a.quietly(func() { alone = infer(newInference(nil, nil)) })
		w.needed(alone, types, paramOf, nullOf)
	}
	in := newInference(given, nulls)
	in.testsNull(s)
	params := infer(in)
	for name, d := range paramOf {
		if !hasParam(params, name) {
			w.fail(d, ruleOverride, "", "the query has no parameter %s", name)
		}
	}
	for name, d := range nullOf {
		if !hasParam(params, name) {
			w.fail(d, ruleOverride, "", "gen:null names %s, which is no parameter", name)
		}
	}
	return params
}

// hasParam reports whether there is a parameter of a name, given in its folded form.
func hasParam(params []Param, name string) bool {
	return slices.ContainsFunc(params, func(p Param) bool { return catalog.Fold(p.Name) == name })
}

// needed checks gen:param and gen:null against what is inferred without them.
func (w *walker) needed(alone []Param, given map[string]Param, paramOf, nullOf map[string]*directive.Directive) {
	for _, p := range alone {
		name := catalog.Fold(p.Name)
		// Another type than the one inferred is the user's to choose; whether it fits, the query itself shows.
		if d := paramOf[name]; d != nil && isKnown(p.Type) && p.Type == given[name].Type && given[name].Nullable == p.Nullable {
			w.fail(d, ruleOverride, "remove it", "%s is known to be %s without saying", p.Name, p.Type)
		}
		if d := nullOf[name]; d != nil && p.Nullable {
			w.fail(d, ruleOverride, "remove it", "gen:null names %s, which may be NULL without saying", p.Name)
		}
	}
}

// above returns the directives of a kind above a query.
//
// Unlike directive, it returns all of them: a query has one gen:param for each parameter that needs one.
func (w *walker) above(s syntax.Stmt, kind directive.Kind) []*directive.Directive {
	set := w.directives[w.e.file]
	if set == nil {
		return nil
	}
	above := set.Above(s.Range(), kind)
	for _, d := range above {
		set.Use(d)
	}
	return above
}

// schemaNames finds the schema qualifiers in the text of a query.
//
// The package can be told at run time to use another schema in place of one in the scripts. For
//
//	SELECT o.id, dbo.orders.note FROM dbo.orders AS o
//
// it returns the places of both dbo: in front of a column a schema is the third name from the right, in front of a
// table the second. Three-part names (db.dbo.orders) have theirs in the same place.
func (p *program) schemaNames(s syntax.Stmt) []SchemaName {
	var out []SchemaName
	begin := s.Range().From
	qualifier := func(parts []syntax.Ident, after int) {
		// The last parts are the object and, after a column's or star's table, after more.
		if i := len(parts) - 2 - after; i >= 0 && parts[i].Value != "" {
			out = append(out, SchemaName{From: int(parts[i].From - begin), To: int(parts[i].To - begin), Schema: parts[i].Value})
		}
	}
	skip := map[*syntax.ObjectName]bool{}
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Call:
			// x.value(…) is a method of an XML column: only functions of the scripts and of the server have a schema.
			name, err := p.cat.Resolve(n.Name)
			skip[n.Name] = err != nil || p.cat.Function(name) == nil && !name.IsSystem()
		case *syntax.ObjectName:
			if !skip[n] {
				qualifier(n.Parts, 0)
			}
		case *syntax.ColumnRef:
			qualifier(n.Parts, 1)
		case *syntax.Star:
			qualifier(n.Qualifier, 0)
		}
		return true
	})
	slices.SortFunc(out, func(a, b SchemaName) int { return a.From - b.From })
	return slices.Compact(out)
}
