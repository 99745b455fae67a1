package analyze

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ruleParam is the id of findings about parameters.
const ruleParam = "param"

// procedureBody returns what the statements of a procedure do. It is not done while they are being walked, which a
// call sees that leads back to the procedure itself.
//
// Bodies are walked on demand and once, so that the order of the scripts does not matter: what procedure A sends is
// known only when that of B is, which it calls, and B may be defined in a later file. A circle of calls has no such
// order; the innermost call, which leads back to a walk under way, counts as silent:
//
//	CREATE PROCEDURE dbo.visit @id int AS          -- fine: sends nothing itself
//	IF … EXEC dbo.visit @parent;
//
// If the procedure then does send sets, their number depends on the depth, and the call is reported.
//
// What it does depends on the settings at its beginning, as far as they are not those of every session.
func (p *program) procedureBody(proc *catalog.Procedure, start settings) (b *body, done bool) {
	if !start.warningsOff {
		start = settings{}
	}
	key := started{proc, start}
	if b, known := p.bodies[key]; known {
		return b, !p.walking[key]
	}
	b = &body{module: inProcedure, name: proc.Name.String(), graph: newGraph(), leaves: facts{nowhere: true}}
	p.bodies[key] = b
	p.walking[key] = true
	if p.a.except.Has(proc.Name) {
		p.walkExcluded(key, b)
	} else {
		// Its findings count, also when it is the callee of one whose don't.
		p.a.loudly(func() { p.walkProcedure(key, b) })
	}
	return b, true
}

// started is a procedure with the settings that it is called with.
type started struct {
	proc *catalog.Procedure
	settings
}

// walkExcluded is walkProcedure for one that is excluded. What is wrong in it is no finding, and makes what it does
// unknown to those who call it.
func (p *program) walkExcluded(key started, b *body) {
	proc := key.proc
	var found diag.List
	switch {
	case proc.Batch.Torn:
		b.unknown = "its text can't be parsed"
	case proc.Def.External:
		b.unknown = "it is written in another language"
	default:
		found = p.a.quietly(func() {
			p.walkProcedure(key, b)
			p.shape(b)
		})
	}
	delete(p.walking, key)
	if len(found) > 0 {
		b.unknown = found[0].Error()
	}
	if b.unknown != "" {
		b.graph, b.throws = newGraph(), thrown{dynamic: true}
	}
}

// walkProcedure walks over the statements of a procedure.
func (p *program) walkProcedure(key started, b *body) {
	proc := key.proc
	w := p.walker(proc.File, b)
	w.e.settings = key.settings
	// In a procedure sales.p, FROM orders means sales.orders if there is one, and the default schema's else. That is a
	// rule about statements in modules: the user's own default schema comes in for ad-hoc SQL only.
	w.e.schema = proc.Name.Schema
	for _, param := range proc.Params {
		w.declare(param)
	}
	w.walk(proc.Def.Body)
	delete(p.walking, key)
	// A call that led back here was taken for silent, which is right if the procedure is.
	if len(b.graph.sets) > 0 {
		for _, s := range p.recursive[proc] {
			p.a.found.Add(s.file, s.span, ruleShape, "collect the rows in a table variable, or use a loop or a recursive CTE",
				"%s calls itself here and sends result sets, so that their number is unknown", proc.Name)
		}
	}
}

// shape says what a client of a body sees, and reports at the first time what is wrong with that.
//
// Callers ask too, and may come first. The answer is kept because it is the costly part, and so that what is wrong is
// reported once.
func (p *program) shape(b *body) ([]ResultSet, Flow) {
	if !b.shaped {
		var found diag.List
		b.results, b.flow = b.graph.shape(&found)
		b.shaped, b.broken = true, len(found) > 0
		*p.a.found = append(*p.a.found, found...)
	}
	return b.results, b.flow
}

// walker prepares the walk over the statements of a module.
//
// An error leads nowhere until a TRY is met.
func (p *program) walker(file *diag.File, b *body) *walker {
	w := &walker{program: p, e: newEnv(nil, file), body: b, known: catalog.NewKnown(p.cat), caught: nowhere, labels: map[string]*jump{}}
	if b.module == inProcedure {
		w.e.working = &working{tables: map[string]*catalog.Table{}, makes: w.makes}
	}
	return w
}

// walk follows all statements of the body.
//
// Falling off the end is a way out like RETURN.
func (w *walker) walk(stmts []syntax.Stmt) {
	w.begin(stmts)
	w.body.graph.pass(w.stmts(stmts, entry), exit)
	w.leave()
	w.checkLabels()
}

// declare makes a parameter known to the statements.
//
// Table-valued parameters are READONLY in T-SQL, always: a statement that changes one is reported where it stands.
func (w *walker) declare(p catalog.Param) {
	if p.Table != nil {
		w.e.declareRows(p.Name, p.Table)
		return
	}
	w.e.declare(p.Name, variable{Type: p.Type, Span: p.Span})
}

// procedure describes one procedure to its callers.
func (p *program) procedure(proc *catalog.Procedure) *Procedure {
	b, _ := p.procedureBody(proc, settings{})
	out := &Procedure{
		Place:  proc.Place,
		Name:   proc.Name,
		Doc:    p.headers[proc].Doc,
		Params: p.params(proc),
		Status: b.status,
		Errors: b.raised().sorted(),
	}
	for i := range out.Params {
		param := &out.Params[i]
		param.NotNull = param.Output && b.leaves.has(param.Name)
	}
	if proc.Def.External {
		p.a.found.Add(proc.File, proc.Span, ruleStatement, "exclude it, or call it from a procedure with WITH RESULT SETS",
			"%s is written in another language, so that its result sets are unknown", proc.Name)
	}
	out.Results, out.Flow = p.shape(b)
	out.Embeds = p.embeds(proc)
	return out
}

// embeds are the procedures that a header names.
func (p *program) embeds(proc *catalog.Procedure) (embeds []Embed) {
	set := p.directives[proc.File]
	if set == nil {
		return nil
	}
	for _, d := range set.InHeader(proc.Def, directive.Embed) {
		set.Use(d)
		for _, name := range d.Names {
			embeds = append(embeds, Embed{Span: d.Span, Name: name, Names: catalog.NewNames([]string{name}, p.cat.DefaultSchema)})
		}
	}
	return embeds
}

// params describes the parameters of a procedure.
//
// gen:null is for the parameters that the procedure lets be NULL without saying so by a default. Without it the Go type
// has no NULL, though the server would take one: that most parameters must not be NULL is what authors mean and T-SQL
// cannot declare.
func (p *program) params(proc *catalog.Procedure) []Param {
	w := p.walker(proc.File, &body{module: inProcedure, graph: newGraph()})
	params := make([]Param, len(proc.Params))
	for i := range proc.Params {
		params[i] = w.param(&proc.Params[i])
	}
	set := p.directives[proc.File]
	if set == nil {
		return params
	}
	for _, d := range set.InHeader(proc.Def, directive.Null) {
		set.Use(d)
		for _, name := range d.Params {
			w.allowNull(d, params, name)
		}
	}
	for _, d := range set.InHeader(proc.Def, directive.Param) {
		set.Use(d)
		w.fail(d, ruleOverride, "remove it", "the parameters of a procedure are declared; gen:param is for queries")
	}
	return params
}

// param describes one parameter and checks its declaration.
//
// A default must be a constant in T-SQL, and the parser accepts nothing else; that it fits the type is checked here.
func (w *walker) param(p *catalog.Param) Param {
	out := Param{Name: p.Name, Type: p.Type, Table: p.Table, Nullable: p.Null, Output: p.Output, Span: p.Span}
	switch {
	case p.Type.Kind == sqltype.Cursor:
		w.fail(part{p.Span}, ruleParam, "send a result set, or take a table type", "a client cannot pass a cursor")
	case p.Table != nil && p.Output:
		w.fail(part{p.Span}, ruleParam, "", "the table-valued parameter %s cannot be OUTPUT", p.Name)
	}
	if p.Default == nil {
		return out
	}
	// A parameter with a default can be left out of the call; NULL as the default says that NULL means something.
	out.Optional, out.Default = true, w.e.file.Slice(p.Default.Range())
	if l, ok := p.Default.(*syntax.Literal); ok && l.Kind == syntax.NullLiteral {
		out.Nullable = true
		return out
	}
	w.a.argument(w.e, w.a.scalar(w.e, p.Default), p.Type, true, p.Default.Range(), "the parameter "+p.Name)
	return out
}

// allowNull applies one name of a gen:null.
//
// That a name is needed is checked as for every directive: see ruleOverride.
func (w *walker) allowNull(d *directive.Directive, params []Param, name string) {
	i := slices.IndexFunc(params, func(p Param) bool { return catalog.Fold(p.Name) == catalog.Fold(name) })
	switch {
	case i < 0:
		w.fail(d, ruleOverride, "", "gen:null names %s, which is no parameter", name)
	case params[i].Table != nil:
		w.fail(d, ruleOverride, "", "gen:null names %s, but a table is never NULL", name)
	case params[i].Nullable:
		w.fail(d, ruleOverride, "remove it", "gen:null names %s, which may be NULL without saying", name)
	default:
		params[i].Nullable = true
	}
}
