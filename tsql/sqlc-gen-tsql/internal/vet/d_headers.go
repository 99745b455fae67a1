package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// formRules are about the form of a header: which sections it has, in which order, and what a procedure owes its
// reader.
var formRules = []Rule{
	{
		ID:    "D1-header",
		Title: "A header has the configured sections and no others, in the configured order",
		Reason: "Whoever looks for the locks of fifty procedures looks at the same place in each. A section may be missing if it " +
			"would be empty. Result sets and Errors are asked for by P6, Parameters by D2-described, Length by D3-length.",
		Bad:      "-- Returns one.\n-- Transaction: none.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Good:     "-- Returns one.\n-- Called by: the shop.\n-- Transaction: none.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Needs:    "header",
		Optional: true,
		Example:  Options{Header: []string{"called by", "transaction", "locks"}},
		check:    checkForm,
	},
	{
		ID:       "D2-parameters",
		Title:    "The section Parameters names no parameter that the procedure does not have",
		Reason:   "What is said of a parameter that is gone, or has another name now, misleads whoever calls the procedure.",
		Bad:      "-- Waits.\n-- Parameters:\n--   @seconds  how long\nCREATE PROCEDURE dbo.wait @ms int AS SELECT @ms AS ms;",
		Good:     "-- Waits.\n-- Parameters:\n--   @ms  how long, in milliseconds\nCREATE PROCEDURE dbo.wait @ms int AS SELECT @ms AS ms;",
		Optional: true,
		check:    checkNamedParameters,
	},
	{
		ID:    "D2-described",
		Title: "The section Parameters names every parameter",
		Reason: "A name and a type don't tell the unit, what NULL means, or who chooses the value. Parameters that belong together " +
			"share a line. Where names say enough, disable the rule.",
		Bad:      "-- Waits.\n-- Parameters:\n--   @ms  how long, in milliseconds\nCREATE PROCEDURE dbo.wait @ms int, @name int AS SELECT @ms AS ms, @name AS name;",
		Good:     "-- Waits.\n-- Parameters:\n--   @ms    how long, in milliseconds\n--   @name  who waits\nCREATE PROCEDURE dbo.wait @ms int, @name int AS SELECT @ms AS ms, @name AS name;",
		Optional: true,
		check:    checkDescribed,
	},
	{
		ID:       "D2-results",
		Title:    "The section Result sets has the name of every result set that has one, in their order",
		Reason:   "The names are fields of the generated code. A reader of the procedure finds out what they hold by name.",
		Bad:      "-- Returns one.\n-- Result sets:\n--   1 one\nCREATE PROCEDURE dbo.one AS\n-- gen:result Number\nSELECT 1 AS one;",
		Good:     "-- Returns one.\n-- Result sets:\n--   1 Number: one\nCREATE PROCEDURE dbo.one AS\n-- gen:result Number\nSELECT 1 AS one;",
		Optional: true,
		check:    checkResultNames,
	},
	{
		ID:       "D3-length",
		Title:    "A procedure of more than max_lines lines, its header not counted, says why in the section Length",
		Reason:   "What fits on three screens can be reviewed as a whole. What doesn't is either split, or has a reason that holds for the next change, too.",
		Bad:      "-- Returns one and two.\nCREATE PROCEDURE dbo.two AS\nSELECT 1 AS one;\nSELECT 2 AS two;",
		Good:     "-- Returns one and two.\n-- Length: two results.\nCREATE PROCEDURE dbo.two AS\nSELECT 1 AS one;\nSELECT 2 AS two;",
		Optional: true,
		Example:  Options{MaxLines: 2},
		check:    checkLength,
	},
}

// sectionTitles maps each title to the one that options name it by.
var sectionTitles = map[string]string{
	"helper of": "called by", "arguments": "parameters", "result": "result sets", "results": "result sets",
	"result set": "result sets", "lock order": "locks",
}

// canonical is the name of a section in options.
func canonical(title string) string {
	title = strings.ToLower(strings.TrimSpace(title))
	if other, ok := sectionTitles[title]; ok {
		return other
	}
	return title
}

// section returns a section of a header by the name that options use, and whether it is there.
func (u *unit) section(title string) (directive.Section, bool) {
	i := slices.IndexFunc(u.header.Sections, func(s directive.Section) bool { return canonical(s.Title) == title })
	if i < 0 {
		return directive.Section{}, false
	}
	return u.header.Sections[i], true
}

// parameters returns those of a procedure or a function.
func (u *unit) parameters() []*syntax.Param {
	switch m := u.node.(type) {
	case *syntax.CreateProcedure:
		return m.Params
	case *syntax.CreateFunction:
		return m.Params
	default:
		return nil
	}
}

// routines returns the units that are procedures or functions.
func (s *session) routines() []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool {
		return u.proc == nil && !is[*syntax.CreateFunction](u.node)
	})
}

// checkForm looks for missing sections first, and then at the order of those that are there.
func checkForm(p *pass) {
	for _, u := range p.routines() {
		if len(p.Options.Header) == 0 {
			return
		}
		last := -1
		for _, s := range u.header.Sections {
			at := slices.IndexFunc(p.Options.Header, func(t string) bool { return canonical(t) == canonical(s.Title) })
			switch {
			case at < 0:
				p.report(u, s.Span, "the sections are "+strings.Join(p.Options.Header, ", "), "a header has no section %s", s.Title)
			case at == last:
				p.report(u, s.Span, "make one of the two", "the header of %s has the section %s twice", syntax.Dotted(u.name.Parts), s.Title)
			case at < last:
				p.report(u, s.Span, "the order is "+strings.Join(p.Options.Header, ", "), "the section %s stands too late", s.Title)
			}
			last = max(last, at)
		}
		for _, title := range p.Options.Header {
			if _, ok := u.section(canonical(title)); !ok && u.owes(canonical(title)) {
				p.report(u, u.name.Span, "add it, in its place", "the header of %s has no section %s", syntax.Dotted(u.name.Parts), title)
			}
		}
	}
}

// owes says whether a section has something to say about a unit.
func (u *unit) owes(title string) bool {
	switch title {
	case "parameters", "result sets", "errors", "length": // other rules ask for these
		return false
	case "transaction":
		return u.proc != nil
	case "returns":
		return u.proc == nil
	case "locks":
		return len(u.tables()) > 0
	case "hints":
		return u.hints()
	default:
		return true
	}
}

// tables are the names of the stored tables that a unit reads or writes, in the order of the text.
func (u *unit) tables() []string {
	var names []string
	add := func(s *analyze.ReadTable) {
		if name := s.StoredName(); name.Name != "" && s.Table != nil && u.catalog.Table(name) != nil && !slices.Contains(names, name.Name) {
			names = append(names, name.Name)
		}
	}
	for t := range syntax.All[*syntax.TableRef](u.node) {
		add(u.Tables[t])
	}
	for _, s := range u.writes() {
		written, _ := u.target(s)
		add(written)
	}
	return names
}

// hints says whether a unit has hints of tables, joins or statements.
func (u *unit) hints() bool { return len(u.hintNames()) > 0 }

// hintNames returns the hints of tables, joins and statements.
func (u *unit) hintNames() []string {
	var names []string
	add := func(options []syntax.Option) {
		for _, o := range options {
			names = append(names, o.Name)
		}
	}
	syntax.Walk(u.node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.TableRef:
			add(n.Hints)
		case *syntax.Join:
			if n.Hint != "" {
				names = append(names, n.Hint)
			}
		default:
			add(statementOptions(n))
		}
		return true
	})
	return names
}

// statementOptions returns what stands in OPTION (…) of a statement.
func statementOptions(n syntax.Node) []syntax.Option {
	switch n := n.(type) {
	case *syntax.Query:
		return n.Options
	case *syntax.Insert:
		return n.Options
	case *syntax.Update:
		return n.Options
	case *syntax.Delete:
		return n.Options
	case *syntax.Merge:
		return n.Options
	default:
		return nil
	}
}

// checkDescribed looks for the declared parameters in the section.
func checkDescribed(p *pass) {
	for _, u := range p.routines() {
		params := u.parameters()
		section, ok := u.section("parameters")
		if !ok {
			if len(params) > 0 {
				p.report(u, u.name.Span, "add Parameters: to the header, with each of them and its unit",
					"the header of %s does not say what its parameters are", syntax.Dotted(u.name.Parts))
			}
			continue
		}
		for _, param := range params {
			if !containsWord(section.Text, param.Name) {
				p.report(u, param.Span, "add it to the section Parameters", "the header does not say what %s is", param.Name)
			}
		}
	}
}

// checkNamedParameters looks for the parameters of the section in the declaration.
func checkNamedParameters(p *pass) {
	for _, u := range p.routines() {
		params := u.parameters()
		section, _ := u.section("parameters")
		for _, name := range variableNames(section.Text) {
			if !slices.ContainsFunc(params, func(p *syntax.Param) bool { return same(p.Name, name) }) {
				p.report(u, section.Span, "delete it from the section", "%s has no parameter %s", syntax.Dotted(u.name.Parts), name)
			}
		}
	}
}

// variableNames returns the words of a text that begin with @.
func variableNames(text string) []string {
	var names []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || !isWordByte(byte(r)) }) {
		if strings.HasPrefix(word, "@") && !strings.HasPrefix(word, "@@") && len(word) > 1 {
			names = append(names, word)
		}
	}
	return names
}

// checkResultNames needs the analysis, which knows also what comes from procedures that are called.
func checkResultNames(p *pass) {
	for _, u := range p.procedures() {
		program := p.program(u)
		section, ok := u.section("result sets")
		if program == nil || !ok {
			continue
		}
		rest := section.Text
		for _, r := range program.Results {
			switch at := wordIndex(rest, r.Name); {
			case r.Name == "":
			case at >= 0:
				if r.File == u.script.File { // those of procedures that are called may come before and after
					rest = rest[at:]
				}
			case containsWord(section.Text, r.Name):
				p.report(u, section.Span, "put them in the order in which they are sent", "the result set %s is listed too early", r.Name)
			default:
				p.report(u, section.Span, "add it, with what it holds", "the section does not name the result set %s", r.Name)
			}
		}
	}
}

// checkLength counts the lines of the statement itself. A reason that is no longer needed would outlive the next
// change.
func checkLength(p *pass) {
	for _, u := range p.procedures() {
		from, _ := u.script.File.Position(u.proc.From)
		to, _ := u.script.File.Position(u.proc.To)
		lines := int64(to - from + 1)
		switch section, ok := u.section("length"); {
		case !ok && lines > p.Options.MaxLines:
			p.report(u, u.name.Span, "split it, or add Length: to the header with the reason",
				"%s has %d lines, and its header does not say why", syntax.Dotted(u.name.Parts), lines)
		case ok && lines <= p.Options.MaxLines:
			p.report(u, section.Span, "delete the section", "%s has no more than %d lines", syntax.Dotted(u.name.Parts), p.Options.MaxLines)
		}
	}
}
