package vet

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// session is one run: the input, what all rules share, and the findings so far.
type session struct {
	Input
	units []*unit
	sets  map[*diag.File]*directive.Set
	keys  []index // of all tables; see indexes.go
	found diag.List
}

// A unit is code that runs as one: the body of a module, or a batch that defines none.
type unit struct {
	*resolver

	script *syntax.Script
	node   syntax.Node // the module's statement, or the batch
	body   []syntax.Stmt
	name   *syntax.ObjectName      // of the module; nil for a batch
	proc   *syntax.CreateProcedure // nil for anything else
	header directive.Header        // of a procedure
	flow   *txFlow                 // how transactions run through the body
}

// pass is what a rule's check works with.
type pass struct {
	*session
	rule Rule
}

func newSession(in Input) *session {
	s := &session{Input: in, sets: map[*diag.File]*directive.Set{}}
	for i, set := range in.Directives {
		if set != nil && i < len(in.Scripts) {
			s.sets[in.Scripts[i].File] = set
		}
	}
	for _, script := range in.Scripts {
		for _, batch := range script.Batches {
			s.units = append(s.units, newUnits(in.Catalog, script, batch)...)
		}
	}
	s.keys = collectIndexes(s)
	return s
}

// newUnits makes a unit of each module in a batch, and one of the other statements.
func newUnits(c *catalog.Catalog, script *syntax.Script, batch *syntax.Batch) []*unit {
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
		case *syntax.CreateTrigger:
			u.name, u.body = m.Name, m.Body
		case *syntax.CreateView:
			u.name = m.Name
		default:
			rest.Stmts = append(rest.Stmts, stmt)
			continue
		}
		units = append(units, u)
	}
	if len(rest.Stmts) > 0 {
		units = append(units, &unit{script: script, node: rest, body: rest.Stmts})
	}
	for _, u := range units {
		u.resolver = resolve(c, script.File, u.node)
		u.flow = followTransactions(u)
	}
	return units
}

// module says that the unit is stored on the server, rather than run once.
func (u *unit) module() bool { return u.name != nil }

// procedures returns the units that are procedures.
func (s *session) procedures() []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return u.proc == nil })
}

// modules returns the units that are stored on the server.
func (s *session) modules() []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return !u.module() })
}

// report records a finding of the rule at a place in a unit.
func (p *pass) report(u *unit, at diag.Span, fix, format string, args ...any) {
	p.reportIn(u.script.File, at, fix, format, args...)
}

func (p *pass) reportIn(f *diag.File, at diag.Span, fix, format string, args ...any) {
	p.found.Add(f, at, "vet/"+p.rule.ID, fix, format, args...)
}

// suppress moves the findings that no comment allows to out and adds those about the suppressions themselves.
func (s *session) suppress(out *diag.List) {
	s.found.Sort()
	for _, f := range s.found {
		id := strings.TrimPrefix(f.Rule, "vet/")
		set := s.sets[f.File]
		if set == nil || set.Allows(f.Span, id) == nil && set.Allows(f.Span, family(id)) == nil {
			*out = append(*out, f)
		}
	}
	for _, script := range s.Scripts {
		if set := s.sets[script.File]; set != nil {
			s.checkSuppressions(set, out)
		}
	}
}

// checkSuppressions reports suppressions that name no rule or were of no use. That a rule and a reason are given is the
// directive package's business.
func (s *session) checkSuppressions(set *directive.Set, out *diag.List) {
	ids := ruleNames()
	for _, d := range set.Unused(directive.Allow) {
		switch {
		case !slices.ContainsFunc(ids, func(id string) bool { return strings.EqualFold(id, d.Rule) }):
			out.Add(set.File, d.Span, "vet/allow", meant(directive.Nearest(d.Rule, ids)), "there is no rule %q", d.Rule)
		case s.anyEnabled(d.Rule):
			out.Add(set.File, d.Span, "vet/allow", "delete the comment, or put it above the line of the finding",
				"vet:allow %s suppresses nothing", d.Rule)
		}
		set.Use(d)
	}
}

// anyEnabled says whether a rule of that id or family applies; a suppression for one that doesn't is left alone.
func (s *session) anyEnabled(id string) bool {
	return slices.ContainsFunc(Rules(), func(r Rule) bool {
		return (strings.EqualFold(r.ID, id) || strings.EqualFold(family(r.ID), id)) && s.enabled(r)
	})
}

// explained says whether a comment gives a reason for something: on one of its lines, directly above, or in the header
// by naming it.
func (u *unit) explained(at diag.Span, word string) bool {
	if u.proc != nil && containsWord(u.header.Text, word) {
		return true
	}
	line := func(p diag.Pos) int {
		n, _ := u.script.File.Position(p)
		return n
	}
	first, last, comments := line(at.From)-1, line(at.To), u.script.Comments
	near := sort.Search(len(comments), func(i int) bool { return line(comments[i].To) >= first })
	for ; near < len(comments) && line(comments[near].From) <= last; near++ {
		text := strings.TrimSpace(comments[near].Text)
		if text != "" && !strings.HasPrefix(text, "vet:") && !strings.HasPrefix(text, "gen:") {
			return true
		}
	}
	return false
}

// containsWord looks for a word without regard to case.
func containsWord(text, word string) bool {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || !isWordByte(text[from-1])) && (to == len(text) || !isWordByte(text[to])) {
			return true
		}
		at = to
	}
}

func isWordByte(b byte) bool {
	return b == '_' || b == '@' || b == '#' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// nameText writes an object's name with its dots.
func nameText(n *syntax.ObjectName) string {
	parts := make([]string, len(n.Parts))
	for i, p := range n.Parts {
		parts[i] = p.Value
	}
	return strings.Join(parts, ".")
}

// last returns the last part of a name.
func last(n *syntax.ObjectName) *syntax.Ident { return &n.Parts[len(n.Parts)-1] }

// same compares identifiers as most servers do.
func same(a, b string) bool { return catalog.Fold(a) == catalog.Fold(b) }

// among says whether a name is in a list of an option, schema-qualified or not.
func among(list []string, name catalog.Name) bool {
	return slices.ContainsFunc(list, func(s string) bool { return same(s, name.Name) || same(s, name.String()) })
}

// plural writes "1 column", "2 columns".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
