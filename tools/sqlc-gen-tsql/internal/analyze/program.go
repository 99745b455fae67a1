package analyze

import (
	"cmp"
	"slices"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// A Source is one file to analyze.
type Source struct {
	Script     *syntax.Script
	Directives *directive.Set
	Queries    bool // a file of annotated queries rather than of definitions
}

// Options configure Analyze.
type Options struct {
	Exclude []string // procedures to leave out, with or without their schema; each must exist
}

// program is the state of one Analyze.
type program struct {
	cat        *catalog.Catalog
	a          *analyzer
	directives map[*diag.File]*directive.Set
	taken      map[*directive.Directive]*diag.Span // the statement that a directive belongs to
	bodies     map[*catalog.Procedure]*body
	walking    map[*catalog.Procedure]bool
	recursive  map[*catalog.Procedure][]site // calls that lead back to the procedure
	headers    map[*catalog.Procedure]directive.Header
	book       errorBook
	queryNames map[string]site
	triggers   map[string][]*body // by the key of their table or view
}

// Analyze finds out what the procedures and annotated queries of the scripts take and yield. Everything else that the
// scripts define is checked too, whether or not something uses it. The directives that nothing used are findings, other
// than those for vet.
func Analyze(cat *catalog.Catalog, scripts []Source, options Options) (*Program, diag.List) {
	var found diag.List
	p := &program{
		cat:        cat,
		a:          newAnalyzer(cat, &found),
		directives: map[*diag.File]*directive.Set{},
		taken:      map[*directive.Directive]*diag.Span{},
		bodies:     map[*catalog.Procedure]*body{},
		walking:    map[*catalog.Procedure]bool{},
		recursive:  map[*catalog.Procedure][]site{},
		headers:    map[*catalog.Procedure]directive.Header{},
		book:       errorBook{byNumber: map[int32]bookedError{}, byName: map[string]bookedError{}},
		queryNames: map[string]site{},
		triggers:   map[string][]*body{},
	}
	for _, src := range scripts {
		p.directives[src.Script.File] = src.Directives
	}
	// Triggers first: whatever changes a table calls them.
	for _, src := range scripts {
		for t := range syntax.All[*syntax.CreateTrigger](src.Script) {
			p.trigger(src.Script.File, t)
		}
	}
	out := &Program{}
	for _, src := range scripts {
		if src.Queries {
			out.Queries = append(out.Queries, p.queries(src)...)
		} else {
			p.script(src.Script)
		}
	}
	p.definitions()
	out.Procedures = p.procedures(options)
	out.Errors = p.errorNumbers(out)
	out.TableTypes = tableTypes(out)
	slices.SortFunc(out.Queries, func(a, b *Query) int { return cmp.Compare(a.Name, b.Name) })
	p.unused(scripts)
	found.Sort()
	return out, found
}

// procedures describes those that are not excluded, sorted by name.
func (p *program) procedures(options Options) []*Procedure {
	excluded := p.excluded(options.Exclude)
	var all []*catalog.Procedure
	for _, proc := range p.cat.Procedures {
		if excluded[proc] {
			p.ignore(proc)
			continue
		}
		all = append(all, proc)
	}
	slices.SortFunc(all, func(a, b *catalog.Procedure) int { return cmp.Compare(a.Name.Key(), b.Name.Key()) })
	// Bodies come before headers, and these before descriptions: a number in a header counts for the callers too.
	for _, proc := range all {
		p.procedureBody(proc)
	}
	for _, proc := range all {
		header, found := directive.HeaderOf(proc.Script, proc.Def)
		*p.a.found = append(*p.a.found, found...)
		p.headers[proc] = header
		p.list(p.bodies[proc], proc.File, header)
	}
	out := make([]*Procedure, len(all))
	for i, proc := range all {
		out[i] = p.procedure(proc)
	}
	return out
}

// excluded finds the procedures that the options leave out.
func (p *program) excluded(names []string) map[*catalog.Procedure]bool {
	out := map[*catalog.Procedure]bool{}
	for _, name := range names {
		proc := p.cat.Procedures[catalog.Fold(name)]
		if proc == nil {
			proc = p.cat.Procedures[catalog.Name{Schema: p.cat.DefaultSchema, Name: name}.Key()]
		}
		if proc == nil {
			p.a.found.Add(nil, diag.Span{}, "option", "remove it from exclude", "there is no procedure %s that could be excluded", name)
			continue
		}
		out[proc] = true
	}
	return out
}

// ignore marks the directives of an excluded procedure as used.
func (p *program) ignore(proc *catalog.Procedure) {
	set := p.directives[proc.File]
	if set == nil {
		return
	}
	// Directives of vet stay: an excluded procedure is linted all the same.
	for _, d := range set.InHeader(proc.Def) {
		if d.Kind != directive.Allow {
			set.Use(d)
		}
	}
	for _, d := range set.All {
		if d.Kind != directive.Allow && proc.Def.From <= d.From && d.To <= proc.Def.To {
			set.Use(d)
		}
	}
}

// script checks the statements of a schema file that belong to no module. They see the variables of their batch.
func (p *program) script(script *syntax.Script) {
	session := newEnv(nil, script.File)
	for _, batch := range script.Batches {
		// A batch has variables of its own; temp tables last as long as the session.
		w := p.walker(script.File, &body{module: inScript, graph: newGraph()})
		w.e = newEnv(session, script.File)
		for _, s := range batch.Stmts {
			w.stmt(s, entry)
		}
		w.checkLabels()
		session.keepTemp(w.e)
	}
}

// trigger checks the body of a trigger, which counts as called by whatever changes its table.
func (p *program) trigger(file *diag.File, t *syntax.CreateTrigger) {
	w := p.walker(file, &body{module: inTrigger, graph: newGraph()})
	if t.Table != nil {
		name, err := p.cat.Resolve(t.Table)
		if err == nil {
			w.e.trigger, w.e.schema = p.triggerTable(name), name.Schema
		}
		if w.e.trigger == nil {
			w.fail(t.Table, ruleName, "", "there is no table %s", file.Slice(t.Table.Span))
			return
		}
		p.triggers[name.Key()] = append(p.triggers[name.Key()], w.body)
	}
	w.walk(t.Body)
}

// triggerTable returns the table, or the view as one, that a trigger belongs to.
func (p *program) triggerTable(name catalog.Name) *catalog.Table {
	v := p.cat.View(name)
	if v == nil {
		return p.cat.Table(name)
	}
	t := &catalog.Table{Place: v.Place, Name: v.Name}
	for _, c := range p.a.viewRelation(v).columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Span: c.Span})
	}
	return t
}

// definitions checks views, functions and computed columns in the order of their definition.
func (p *program) definitions() {
	for _, o := range p.cat.Order {
		switch o := o.(type) {
		case *catalog.Table:
			p.a.computeColumns(o)
		case *catalog.View:
			p.a.viewRelation(o)
		case *catalog.Function:
			p.checkFunction(o)
		}
	}
}

// checkFunction checks the body of a function.
func (p *program) checkFunction(f *catalog.Function) {
	if f.Def.External {
		return
	}
	if f.Def.Inline != nil {
		p.a.functionRelation(f)
		return
	}
	w := p.walker(f.File, &body{module: inFunction, graph: newGraph()})
	w.e.schema = f.Name.Schema
	// A table function returns the rows in its variable, and RETURN stands alone.
	w.returns, w.scalar = f.Returns, f.Def.Returns != nil
	for _, param := range f.Params {
		w.declare(param)
	}
	if f.Table != nil {
		w.returns = sqltype.Type{}
		w.e.declareTable(f.Def.TableVariable, f.Table)
	}
	w.walk(f.Def.Body)
}

// tableTypes lists the table types that parameters use.
func tableTypes(out *Program) []*catalog.Table {
	var all []*catalog.Table
	add := func(params []Param) {
		for _, param := range params {
			if param.Table != nil && !slices.Contains(all, param.Table) {
				all = append(all, param.Table)
			}
		}
	}
	for _, proc := range out.Procedures {
		add(proc.Params)
	}
	for _, q := range out.Queries {
		add(q.Params)
	}
	slices.SortFunc(all, func(a, b *catalog.Table) int { return cmp.Compare(a.Name.Key(), b.Name.Key()) })
	return all
}

// homeless says of each kind of directive where it would have belonged.
var homeless = map[directive.Kind]string{
	directive.Query:   "directly above the one statement that it names, in a file of queries",
	directive.Null:    "above CREATE PROCEDURE or directly behind its AS, or above an annotated query",
	directive.Param:   "above an annotated query",
	directive.Result:  "directly above a statement of a procedure that sends a result set; an annotated query needs none",
	directive.Columns: "directly above a statement that sends a result set",
}

// unused reports the directives that belong to nothing.
func (p *program) unused(scripts []Source) {
	for _, src := range scripts {
		if src.Directives == nil {
			continue
		}
		for _, d := range src.Directives.Unused() {
			if where, ours := homeless[d.Kind]; ours {
				p.a.found.Add(src.Script.File, d.Span, ruleOverride, "remove it, or put it "+where, "this %s belongs to nothing", d.Kind)
			}
		}
	}
}
