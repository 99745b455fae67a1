package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// shopSchema is what the cases read and write.
const shopSchema = `
CREATE TABLE dbo.orders (
    id bigint NOT NULL PRIMARY KEY,
    customer nvarchar(50) NOT NULL,
    note nvarchar(100) NULL,
    total decimal(10, 2) NOT NULL
);
CREATE TABLE dbo.log (id bigint IDENTITY NOT NULL PRIMARY KEY, line nvarchar(200) NULL);
GO
CREATE TYPE dbo.ids AS TABLE (id bigint NOT NULL PRIMARY KEY);
GO
`

// programOf analyzes files: first the shop's schema, then a schema file "a.sql", then a file of queries "q.sql" if its
// text is not empty. Findings of the earlier stages end the test.
func programOf(t *testing.T, definitions, queries string, options Options) (*Program, diag.List) {
	t.Helper()
	var scripts []*syntax.Script
	var sources []Source
	var early diag.List
	for _, f := range []struct{ name, text string }{{"shop.sql", shopSchema}, {"a.sql", definitions}, {"q.sql", queries}} {
		script, found := syntax.Parse(diag.NewFile(f.name, f.text))
		early = append(early, found...)
		set, found := directive.Read(script)
		early = append(early, found...)
		if f.name != "q.sql" {
			scripts = append(scripts, script)
		}
		sources = append(sources, Source{Script: script, Directives: set, Queries: f.name == "q.sql"})
	}
	cat, found := catalog.Build(scripts, catalog.Options{})
	early = append(early, found...)
	if len(early) > 0 {
		t.Fatalf("findings before the analysis:\n%s", early.Format())
	}
	return Analyze(cat, sources, options)
}

// renderFound renders findings, one a line, as "line:column rule: message"; the file is named unless it is a.sql.
func renderFound(found diag.List) string {
	var out strings.Builder
	for _, d := range found {
		if d.File == nil {
			fmt.Fprintf(&out, "%s: %s\n", d.Rule, d.Message)
			continue
		}
		line, column := d.File.Position(d.Span.From)
		name := d.File.Name + ":"
		if d.File.Name == "a.sql" {
			name = ""
		}
		fmt.Fprintf(&out, "%s%d:%d %s: %s\n", name, line, column, d.Rule, d.Message)
	}
	return out.String()
}

// renderProcedure renders what a call takes and yields:
//
//	dbo.p(@a int, @b int = 1 null out) status errors 50001
//	  a: id bigint, note nvarchar(100)?; many maybe
//	  flow: a (b | c)?
func renderProcedure(p *Procedure) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s(%s)", p.Name, renderParams(p.Params))
	if p.Status {
		out.WriteString(" status")
	}
	if len(p.Errors) > 0 {
		fmt.Fprintf(&out, " errors %s", strings.Trim(fmt.Sprint(p.Errors), "[]"))
	}
	out.WriteString("\n")
	fields := fieldNames(p.Results)
	for i, r := range p.Results {
		fmt.Fprintf(&out, "  %s: %s; %s", fields[i], renderColumns(r.Columns), [...]string{"many", "optional", "one"}[r.Rows])
		if r.Stream {
			out.WriteString(" stream")
		}
		if r.Maybe {
			out.WriteString(" maybe")
		}
		if r.Repeated {
			out.WriteString(" repeated")
		}
		out.WriteString("\n")
	}
	fmt.Fprintf(&out, "  flow: %s\n", renderFlow(p.Flow, fields))
	return out.String()
}

func renderParams(params []Param) string {
	var out []string
	for _, p := range params {
		text := p.Name + " "
		if p.Table != nil {
			text += p.Table.Name.String()
		} else {
			text += p.Type.String()
		}
		if p.Optional {
			text += " = " + p.Default
		}
		if p.Nullable {
			text += " null"
		}
		if p.Output {
			text += " out"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func renderColumns(columns []Column) string {
	var out []string
	for _, c := range columns {
		text := c.Name + " " + c.Type.String()
		if c.Nullable {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// fieldNames names result sets by gen:result or their first column; a second one of a name gets an apostrophe.
func fieldNames(results []ResultSet) []string {
	var out []string
	for _, r := range results {
		name := r.Name
		if name == "" && len(r.Columns) > 0 {
			name = r.Columns[0].Name
		}
		for slices.Contains(out, name) {
			name += "'"
		}
		out = append(out, name)
	}
	return out
}

// renderFlow writes an automaton as a regular expression, and one with loops as a table, where the end is a $. A state
// from which nothing but failure comes is "!".
func renderFlow(f Flow, fields []string) string {
	if len(f.States) == 0 {
		return "?"
	}
	if f.loops() {
		var states []string
		for i, s := range f.States {
			words := []string{strconv.Itoa(i)}
			for _, e := range s.Edges {
				words = append(words, fmt.Sprintf("%s>%d", fields[e.Set], e.To))
			}
			if s.Final {
				words = append(words, "$")
			}
			states = append(states, strings.Join(words, " "))
		}
		return strings.Join(states, ", ")
	}
	text := strings.Join(f.region(0, len(f.States), fields), " ")
	if text == "" {
		return "-"
	}
	return text
}

// loops reports whether a state leads to itself.
func (f Flow) loops() bool {
	next := func(s int) (to []int) {
		for _, e := range f.States[s].Edges {
			to = append(to, e.To)
		}
		return to
	}
	for s := range f.States {
		for _, after := range next(s) {
			if reach(after, len(f.States), next)[s] {
				return true
			}
		}
	}
	return false
}

// region writes what comes between two states as factors; len(States) stands for the end.
func (f Flow) region(from, to int, fields []string) []string {
	var out []string
	for from != to {
		if !f.States[from].Final && len(f.States[from].Edges) == 0 {
			return append(out, "!")
		}
		join := f.join(from)
		var ways [][]string
		for _, e := range f.States[from].Edges {
			ways = append(ways, append([]string{fields[e.Set]}, f.region(e.To, join, fields)...))
		}
		if f.States[from].Final {
			ways = append(ways, nil)
		}
		out = append(out, alternatives(ways)...)
		from = join
	}
	return out
}

// join finds the first state that every way from a state passes.
func (f Flow) join(from int) int {
	end := len(f.States)
	avoidable := func(s int) bool {
		if s == end {
			return false
		}
		seen := reach(from, end+1, func(n int) []int {
			if n == end || n == s {
				return nil
			}
			var to []int
			for _, e := range f.States[n].Edges {
				to = append(to, e.To)
			}
			if f.States[n].Final {
				to = append(to, end)
			}
			return to
		})
		return seen[end]
	}
	// Of the states that cannot be avoided, the one from which the fewest others are reached is the last; the first is
	// the one that reaches the most.
	best, most := end, -1
	for s := range end {
		if s == from || avoidable(s) {
			continue
		}
		seen := reach(from, end, func(n int) []int {
			var to []int
			for _, e := range f.States[n].Edges {
				to = append(to, e.To)
			}
			return to
		})
		if !seen[s] {
			continue
		}
		n := 0
		for _, r := range reach(s, end, func(n int) []int {
			var to []int
			for _, e := range f.States[n].Edges {
				to = append(to, e.To)
			}
			return to
		}) {
			if r {
				n++
			}
		}
		if n > most {
			best, most = s, n
		}
	}
	return best
}

// alternatives joins ways, taking out a common end.
func alternatives(ways [][]string) []string {
	var tail []string
	for len(ways) > 1 && len(ways[0]) > 0 {
		last := ways[0][len(ways[0])-1]
		for _, w := range ways {
			if len(w) == 0 || w[len(w)-1] != last {
				last = ""
			}
		}
		if last == "" {
			break
		}
		tail = append([]string{last}, tail...)
		for i := range ways {
			ways[i] = ways[i][:len(ways[i])-1]
		}
	}
	if len(ways) == 1 {
		return append(ways[0], tail...)
	}
	optional := ""
	var texts []string
	for _, w := range ways {
		if len(w) == 0 {
			optional = "?"
			continue
		}
		texts = append(texts, strings.Join(w, " "))
	}
	text := strings.Join(texts, " | ")
	if len(texts) > 1 || strings.ContainsAny(text, " ?") {
		text = "(" + text + ")"
	}
	return append([]string{text + optional}, tail...)
}

// renderProgram renders everything, or the findings if there are any.
func renderProgram(p *Program, found diag.List) string {
	if len(found) > 0 {
		return renderFound(found)
	}
	var out strings.Builder
	for _, proc := range p.Procedures {
		out.WriteString(renderProcedure(proc))
	}
	for _, q := range p.Queries {
		fmt.Fprintf(&out, "%s %s(%s)", q.Name, q.Command, renderParams(q.Params))
		if q.Columns != nil {
			fmt.Fprintf(&out, ": %s", renderColumns(q.Columns))
		}
		if len(q.Errors) > 0 {
			fmt.Fprintf(&out, " errors %s", strings.Trim(fmt.Sprint(q.Errors), "[]"))
		}
		out.WriteString("\n")
	}
	for _, e := range p.Errors {
		if e.Name != "" {
			fmt.Fprintf(&out, "error %d %s: %s\n", e.Number, e.Name, e.Text)
		}
	}
	return out.String()
}

// checkText compares renderings without regard to blank space around them.
func checkText(t *testing.T, got, want string) {
	t.Helper()
	trim := func(s string) []string {
		var out []string
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
		return out
	}
	if diff := cmp.Diff(trim(want), trim(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A flowCase is the body of a procedure dbo.p with the parameter @x int, and either its flow or what is found. Line 1
// of a finding is the first line of the body.
type flowCase struct {
	name, body, want string
}

// runFlow runs cases in parallel. A want with a colon is one of findings.
func runFlow(t *testing.T, cases []flowCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkText(t, bodyOf(t, "", c.body, true), c.want)
		})
	}
}

// A programCase is a schema file, a file of queries, and the rendering of the program or of the findings.
type programCase struct {
	name, definitions, queries, want string
}

func runPrograms(t *testing.T, cases []programCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, found := programOf(t, strings.TrimLeft(c.definitions, "\n"), strings.TrimLeft(c.queries, "\n"), Options{})
			checkText(t, renderProgram(p, found), c.want)
		})
	}
}

// bodyOf analyzes a body of dbo.p, which stands after other definitions, and renders its flow only, or all of it, or
// what is found; line 1 of a finding is then the first line of the body, and findings elsewhere are said to be above.
func bodyOf(t *testing.T, definitions, body string, flow bool) string {
	t.Helper()
	before := strings.TrimLeft(definitions, "\n") + "CREATE PROCEDURE dbo.p @x int = 1 AS\n"
	body = strings.TrimLeft(body, "\n")
	p, found := programOf(t, before+body, "", Options{})
	own := diag.NewFile("a.sql", body)
	for i, d := range found {
		if d.File.Name == "a.sql" && int(d.Span.From) >= len(before) {
			found[i].File = own
			found[i].Span.From -= diag.Pos(len(before))
		} else {
			found[i].File = diag.NewFile("above", d.File.Text)
		}
	}
	if len(found) > 0 {
		return renderFound(found)
	}
	for _, proc := range p.Procedures {
		if proc.Name.Name != "p" {
			continue
		}
		if flow {
			return renderFlow(proc.Flow, fieldNames(proc.Results))
		}
		return renderProcedure(proc)
	}
	return "no dbo.p"
}
