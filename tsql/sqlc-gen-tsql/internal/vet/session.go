package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// session is one run: the input, what all rules share, and the findings so far. What is expensive to find out (names,
// flow, indexes) is found out once and before the first rule, since most rules ask for all of it.
type session struct {
	Input
	units []*unit // in the order of the scripts and of their text
	sets  map[*diag.File]*directive.Set
	keys  []index   // of all tables; see indexes.go
	found diag.List // what rules have reported, suppressed or not
}

// A unit is code that runs as one: the body of a module, or what a batch holds besides. Variables, temp tables and
// the transaction don't outlive it as far as a reader can see, so that names and flow are resolved within it.
type unit struct {
	*analyze.Names

	catalog *catalog.Catalog // nil if nobody has made one
	script  *syntax.Script
	// node is the module's statement, or the batch without its modules. Walking it comes by everything in the unit,
	// parameters and options included.
	node syntax.Node
	// body is what is executed; nil for a view and for an inline function, which are queries.
	body []syntax.Stmt
	// name is the module's; nil for a batch, which has none.
	name *syntax.ObjectName
	// proc is the module if it is a procedure, nil otherwise; header is the comment above it, empty without one.
	proc   *syntax.CreateProcedure
	header directive.Header
	// flow says how transactions run through the body.
	flow *txFlow
}

// pass is what a rule's check works with: the session, and the rule that findings are reported for.
type pass struct {
	*session
	rule Rule
}

// newSession cuts the scripts into units and finds out what all rules want to know.
func newSession(in Input) *session {
	s := &session{Input: in, sets: map[*diag.File]*directive.Set{}}
	for i, set := range in.Directives {
		// Directives may be missing for some scripts or for all: nobody is obliged to read them before linting.
		if set != nil && i < len(in.Scripts) {
			s.sets[in.Scripts[i].File] = set
		}
	}
	names := analyze.NewResolver(in.Catalog)
	for _, script := range in.Scripts {
		for _, batch := range script.Batches {
			s.units = append(s.units, newUnits(in.Catalog, names, script, batch)...)
		}
	}
	s.keys = collectIndexes(s)
	return s
}

// newUnits makes a unit of each module in a batch, and one of the other statements. The server demands that CREATE
// PROCEDURE and its like stand alone in a batch, but scripts under work don't always keep to it, and the parser
// reports that already.
func newUnits(c *catalog.Catalog, names *analyze.Resolver, script *syntax.Script, batch *syntax.Batch) []*unit {
	var units []*unit
	rest := &syntax.Batch{Span: batch.Span, Count: batch.Count}
	for _, stmt := range batch.Stmts {
		u := &unit{script: script, node: stmt}
		switch m := stmt.(type) {
		case *syntax.CreateProcedure:
			u.name, u.body, u.proc = m.Name, m.Body, m
			u.header, _ = directive.HeaderOf(script, m) // its findings are the generator's
		case *syntax.CreateFunction:
			u.name, u.body = m.Name, m.Body
			u.header = directive.HeaderAbove(script, m.Span)
		case *syntax.CreateTrigger:
			u.name, u.body = m.Name, m.Body
			u.header = directive.HeaderAbove(script, m.Span)
		case *syntax.CreateView:
			u.name = m.Name
			u.header = directive.HeaderAbove(script, m.Span)
		default:
			rest.Stmts = append(rest.Stmts, stmt)
			continue
		}
		units = append(units, u)
	}
	// Resolving a made-up batch of the remaining statements keeps their variables together, as they are on the
	// server.
	if len(rest.Stmts) > 0 {
		units = append(units, &unit{script: script, node: rest, body: rest.Stmts})
	}
	for _, u := range units {
		u.catalog, u.Names = c, names.Names(script.File, u.node)
		u.flow = followTransactions(u)
	}
	return units
}

// key returns the key of a name of one or two parts. A name of three parts is in another database, about which no
// script here says anything.
func (u *unit) key(n *syntax.ObjectName) (string, bool) {
	if u.catalog == nil || len(n.Parts) > 2 {
		return "", false
	}
	name, err := u.catalog.Resolve(n)
	return name.Key(), err == nil
}

// module says that the unit is stored on the server, rather than run once. Many rules look at modules only: a script
// that runs once, under the eyes of whoever runs it, may do as it likes.
func (u *unit) module() bool { return u.name != nil }

// procedures returns the units that are procedures.
func (s *session) procedures() []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return u.proc == nil })
}

// modules returns the units that are stored on the server.
func (s *session) modules() []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return !u.module() })
}

// report records a finding of the rule at a place in a unit. Message and fix follow the conventions of package diag:
// no full stop, and the fix is an order.
func (p *pass) report(u *unit, at diag.Span, fix, format string, args ...any) {
	p.reportIn(u.script.File, at, fix, format, args...)
}

// reportIn records a finding that stands in no unit, such as one about a column's definition.
func (p *pass) reportIn(f *diag.File, at diag.Span, fix, format string, args ...any) {
	p.found.Add(f, at, "vet/"+p.rule.ID, fix, format, args...)
}

// suppress moves the findings that no comment allows to out and adds those about the suppressions themselves. A
// finding is looked for in two ways, by the id and by the family of its rule: the first that is found counts as used.
func (s *session) suppress(out *diag.List) {
	// Sorted and without repetitions first: two rules' walks may come to the same place twice, and a suppression is
	// used by the first finding it fits.
	s.found.Sort()
	for _, f := range s.found {
		id := strings.TrimPrefix(f.Rule, "vet/")
		set := s.sets[f.File]
		if set == nil || !s.allows(set, f, id) && !s.allows(set, f, family(id)) {
			*out = append(*out, f)
		}
	}
	for _, script := range s.Scripts {
		if set := s.sets[script.File]; set != nil {
			s.checkSuppressions(set, out)
		}
	}
}

// allows reports whether a comment suppresses a finding: above its line, or in the header of the module around it.
func (s *session) allows(set *directive.Set, f diag.Diagnostic, rule string) bool {
	if set.Allows(f.Span, rule) != nil {
		return true
	}
	return slices.ContainsFunc(s.units, func(u *unit) bool {
		at := u.node.Range()
		return u.module() && u.script.File == f.File && at.From <= f.Span.From && f.Span.From < at.To && set.Allows(at, rule) != nil
	})
}

// checkSuppressions reports suppressions that name no rule or were of no use. That a rule and a reason are given is the
// directive package's business.
func (s *session) checkSuppressions(set *directive.Set, out *diag.List) {
	ids := ruleNames()
	for _, d := range set.Unused(directive.Allow) {
		switch {
		case !slices.ContainsFunc(ids, func(id string) bool { return strings.EqualFold(id, d.Rule) }):
			out.Add(set.File, d.Span, "vet/allow", meant(diag.Nearest(d.Rule, ids)), "there is no rule %q", d.Rule)
		case s.anyEnabled(d.Rule):
			out.Add(set.File, d.Span, "vet/allow", "delete the comment, or put it above the line of the finding",
				"vet:allow %s suppresses nothing", d.Rule)
		}
		// It has been reported: whoever looks at the set again need not do so once more.
		set.Use(d)
	}
}

// anyEnabled says whether a rule of that id or family applies; a suppression for one that doesn't is left alone. It
// may be of use to somebody who lints the same scripts with more rules.
func (s *session) anyEnabled(id string) bool {
	return slices.ContainsFunc(Rules(), func(r Rule) bool {
		return (strings.EqualFold(r.ID, id) || strings.EqualFold(family(r.ID), id)) && s.enabled(r)
	})
}

// hasSection says whether a header has one of the sections. Titles are given in lower case, as the directive package
// keeps them.
func (u *unit) hasSection(titles ...string) bool {
	return slices.ContainsFunc(u.header.Sections, func(s directive.Section) bool {
		return slices.Contains(titles, s.Title)
	})
}

// program returns what the analysis says about a procedure, nil if there is none. Without a schema in the script the
// catalog's default counts, and two files may define the same name when a caller passes several versions of a script;
// so file and name must both agree.
func (s *session) program(u *unit) *analyze.Procedure {
	if s.Program == nil || u.name == nil {
		return nil
	}
	key := u.fullName().Key()
	i := slices.IndexFunc(s.Program.Procedures, func(p *analyze.Procedure) bool {
		return p.File == u.script.File && p.Name.Key() == key
	})
	if i < 0 {
		return nil
	}
	return s.Program.Procedures[i]
}

// fullName returns the schema-qualified name of a module. Without a catalog it is as short as it was written.
func (u *unit) fullName() catalog.Name {
	if u.catalog != nil {
		if name, err := u.catalog.Resolve(u.name); err == nil {
			return name
		}
	}
	return catalog.Name{Name: u.name.Last().Value}
}
