package analyze

import (
	"cmp"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A Source is one file to analyze.
type Source struct {
	Script     *syntax.Script
	Directives *directive.Set
	Queries    bool // a file of annotated queries rather than of definitions
}

// Options configure Analyze.
type Options struct {
	// Exclude lists the modules to leave out, with or without their schema; each must exist. An excluded procedure is
	// not described, and what is wrong in an excluded module is no finding. What calls or reads one knows what it is
	// only if nothing is.
	Exclude []string
}

// program is the state of one Analyze.
//
// It is thrown away when Analyze returns; everything that outlives it is in Program. The maps are caches and marks,
// each filled in one place and read in many.
type program struct {
	cat        *catalog.Catalog
	a          *analyzer
	directives map[*diag.File]*directive.Set
	taken      map[*directive.Directive]*diag.Span // the statement that a directive belongs to
	bodies     map[started]*body
	walking    map[started]bool
	recursive  map[*catalog.Procedure][]site // calls that lead back to the procedure
	headers    map[*catalog.Procedure]directive.Header
	book       errorBook
	queryNames map[string]site
	triggers   map[string][]*body         // by the key of their table or view
	makers     map[string]map[string]bool // see makersOf
	drops      map[string]bool            // the tables that procedures drop
}

// Analyze finds out what the procedures and annotated queries of the scripts take and yield. Everything else that the
// scripts define is checked too, whether or not something uses it. The directives that nothing used are findings, other
// than those for vet.
//
// Three orders matter. Triggers are walked before anything that may change their table, since an UPDATE raises what
// they raise. Queries and procedures come before definitions, though nothing depends on it but the order of the
// findings, which are sorted in the end. And unused directives can only be reported when everything that may use one
// has run.
func Analyze(cat *catalog.Catalog, scripts []Source, options Options) (*Program, diag.List) {
	var found diag.List
	p := &program{
		cat:        cat,
		a:          newAnalyzer(cat, &found, catalog.NewNames(options.Exclude, cat.DefaultSchema)),
		directives: map[*diag.File]*directive.Set{},
		taken:      map[*directive.Directive]*diag.Span{},
		bodies:     map[started]*body{},
		walking:    map[started]bool{},
		recursive:  map[*catalog.Procedure][]site{},
		headers:    map[*catalog.Procedure]directive.Header{},
		book:       errorBook{byNumber: map[int32]bookedError{}, byName: map[string]bookedError{}},
		queryNames: map[string]site{},
		triggers:   map[string][]*body{},
	}
	p.a.ansi = readAnsi(scripts)
	for _, src := range scripts {
		p.directives[src.Script.File] = src.Directives
	}
	// Triggers first: whatever changes a table calls them.
	for _, src := range scripts {
		for t := range syntax.All[*syntax.CreateTrigger](src.Script) {
			// One that was dropped, or defined again, is called by nothing.
			if slices.ContainsFunc(cat.Triggers, func(known *catalog.Trigger) bool { return known.Def == t }) {
				p.trigger(src.Script.File, t)
			}
		}
	}
	out := &Program{}
	// What else scripts do outside of modules, such as seed data, changes nothing that is generated, and is not looked
	// at.
	for _, src := range scripts {
		if src.Queries {
			out.Queries = append(out.Queries, p.queries(src)...)
		} else {
			p.calls(src.Script)
		}
	}
	p.definitions()
	p.checkExcluded(options.Exclude, scripts)
	out.Procedures = p.procedures()
	out.Errors = p.errorNumbers(out)
	out.TableTypes = tableTypes(out)
	slices.SortFunc(out.Queries, func(a, b *Query) int { return cmp.Compare(a.Name, b.Name) })
	p.unused(scripts)
	found.Sort()
	return out, found
}

// procedures describes those that are not excluded, sorted by name.
//
// An excluded procedure is not described, but one that is called is still walked: what its caller sends depends on it.
func (p *program) procedures() []*Procedure {
	var all []*catalog.Procedure
	for _, proc := range p.cat.Procedures {
		if p.a.except.Has(proc.Name) {
			p.ignore(proc)
			continue
		}
		all = append(all, proc)
	}
	slices.SortFunc(all, func(a, b *catalog.Procedure) int { return cmp.Compare(a.Name.Key(), b.Name.Key()) })
	// Bodies come before headers, and these before descriptions: a number in a header counts for the callers too.
	for _, proc := range all {
		p.procedureBody(proc, settings{})
	}
	for _, proc := range all {
		header, found := directive.HeaderOf(proc.Script, proc.Def)
		*p.a.found = append(*p.a.found, found...)
		p.headers[proc] = header
		p.list(p.bodies[started{proc: proc}], proc.File, header)
	}
	out := make([]*Procedure, len(all))
	for i, proc := range all {
		out[i] = p.procedure(proc)
	}
	return out
}

// checkExcluded reports names that exclude has and no script defines.
//
// A name that fits nothing is an error: otherwise a procedure that was renamed would come back into the generated code
// unnoticed.
func (p *program) checkExcluded(names []string, scripts []Source) {
	for _, name := range names {
		if !p.defines(catalog.NewNames([]string{name}, p.cat.DefaultSchema), scripts) {
			p.a.found.Add(nil, diag.Span{}, "option", p.meant(name), "there is no procedure %s that could be excluded", name)
		}
	}
}

// defines reports whether a module of that name is there. Those whose text can't be read, and triggers, are not in the
// catalog, but have their name in the scripts.
func (p *program) defines(name catalog.Names, scripts []Source) bool {
	for _, o := range p.cat.Order {
		switch o.(type) {
		case *catalog.Procedure, *catalog.Function, *catalog.View:
			if name.Has(o.ObjectName()) {
				return true
			}
		}
	}
	return slices.ContainsFunc(scripts, func(src Source) bool {
		return slices.ContainsFunc(src.Script.Batches, func(b *syntax.Batch) bool {
			return b.Module != nil && (b.Torn || b.Module.Kind == "TRIGGER") && name.HasWritten(b.Module.Name)
		})
	})
}

// meant returns a fix for a name that exclude has and no procedure, in the form in which it is written there: with its
// schema or without.
func (p *program) meant(name string) string {
	spelling := map[string]string{}
	for key, proc := range p.cat.Procedures {
		spelling[key], spelling[catalog.Fold(proc.Name.Name)] = proc.Name.String(), proc.Name.Name
	}
	if near := diag.Nearest(catalog.Fold(name), slices.Collect(maps.Keys(spelling))); near != "" {
		return "did you mean " + spelling[near] + "?"
	}
	return "remove it from exclude"
}

// ignore marks the directives of an excluded procedure as used.
//
// They cannot be right or wrong where nothing is inferred, and telling people to remove them would make it laborious to
// include the procedure again.
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

// calls reports the calls in a script of which nobody knows what they do to the definitions, unless a directive above
// the statement says that it is nothing.
func (p *program) calls(script *syntax.Script) {
	check := func(at syntax.Stmt, s *syntax.Exec) {
		why := p.cat.Unread[s]
		if why != "" && p.directiveAbove(script.File, at.Range(), directive.Changes) == nil {
			p.a.found.Add(script.File, at.Range(), ruleExec, "write what it does as statements, or, if it changes nothing that the "+
				"scripts define, above it -- gen:changes none", "%s", why)
		}
	}
	for _, batch := range script.Batches {
		for _, stmt := range batch.Stmts {
			syntax.Walk(stmt, func(n syntax.Node) bool {
				switch n := n.(type) {
				case *syntax.Insert:
					if n.Exec != nil {
						check(n, n.Exec)
					}
					return false
				case *syntax.Exec:
					check(n, n)
				}
				return batch.Module == nil
			})
		}
	}
}

// trigger checks the body of a trigger, which counts as called by whatever changes its table.
//
// What it raises ends the statement that called it. Its result sets are refused by the walker: the server sends them in
// the middle of whatever the client expects (and has long announced to forbid it: "disallow results from triggers").
func (p *program) trigger(file *diag.File, t *syntax.CreateTrigger) {
	w := p.walker(file, &body{module: inTrigger, graph: newGraph()})
	excluded := p.a.except.HasWritten(t.Name)
	w.body.throws.dynamic = excluded
	if t.Table != nil {
		name, err := p.cat.Resolve(t.Table)
		if err == nil {
			w.e.trigger, w.e.schema = p.triggerTable(name), name.Schema
		}
		if w.e.trigger == nil && !excluded {
			w.fail(t.Table, ruleName, "", "there is no table %s", file.Slice(t.Table.Span))
			return
		}
		p.triggers[name.Key()] = append(p.triggers[name.Key()], w.body)
	}
	if !excluded {
		w.walk(t.Body)
	}
}

// triggerTable returns the table, or the view as one, that a trigger belongs to.
//
// INSTEAD OF triggers stand on views. Their inserted and deleted have the columns of the view, so that a table with
// these will do.
func (p *program) triggerTable(name catalog.Name) *catalog.Table {
	v := p.cat.View(name)
	if v == nil {
		return p.cat.Table(name)
	}
	t := &catalog.Table{Place: v.Place, Name: v.Name}
	for _, c := range p.a.viewRelation(v, false).columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Span: c.Span})
	}
	return t
}

// definitions checks views, functions and computed columns in the order of their definition.
//
// A view that nobody queries is checked too: the server does so at CREATE VIEW, unlike the bodies of procedures, whose
// names it resolves when they are first run.
func (p *program) definitions() {
	for _, o := range p.cat.Order {
		switch o := o.(type) {
		case *catalog.Table:
			p.a.computeColumns(o)
		case *catalog.View:
			p.a.viewRelation(o, false)
		case *catalog.Function:
			p.checkFunction(o)
		}
	}
}

// checkFunction checks the body of a function, unless it is excluded: what it returns stands in its head, or is found
// out when it is read.
//
// Inline functions are one query, whose columns are the function's. Functions with a body can have IF and WHILE, and
// declare variables, but send nothing and change nothing.
func (p *program) checkFunction(f *catalog.Function) {
	if f.Def.External || p.a.except.Has(f.Name) {
		return
	}
	if f.Def.Inline != nil {
		p.a.functionRelation(f, false)
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
//
// Others need no Go type: a table type that only procedures use among themselves never crosses the wire.
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
	directive.Embed:   "above CREATE PROCEDURE or directly behind its AS",
	directive.Changes: "directly above an EXEC outside of procedures whose effect on the scripts is not known",
}

// unused reports the directives that belong to nothing.
//
// A directive that silently does nothing is worse than none: its author believes in it. Those for vet are not ours to
// judge.
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
