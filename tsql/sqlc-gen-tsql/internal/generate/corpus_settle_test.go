package generate

import (
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/placeholder"
)

// A project is a database that somebody else has written, with its placeholders filled in.
type project struct {
	name    string
	sources []Source
	options config.Config
}

// settle takes out of a project what has findings, until there are none: modules are excluded, as the author of such a
// project would do, and statements outside modules are blanked.
func (p *project) settle(t *testing.T) (project, Result) {
	t.Helper()
	left := *p
	p = &left
	p.sources = slices.Clone(p.sources)
	for {
		result, findings := Run(p.sources, p.options)
		if len(findings) == 0 {
			return left, result
		}
		modules, excluded, before := modulesOf(result.Catalog), p.options.Exclude, p.texts()
		p.options.Exclude = slices.Clone(excluded)
		for _, d := range findings {
			if d.File == nil {
				continue
			}
			name := modules.around(d)
			if name == "" {
				name = p.unread(d)
			}
			if name == "" || slices.Contains(excluded, name) {
				p.blank(d)
			} else if !slices.Contains(p.options.Exclude, name) {
				p.options.Exclude = append(p.options.Exclude, name)
			}
		}
		if len(p.options.Exclude) == len(excluded) && p.texts() == before {
			t.Errorf("%s: taking out what has findings doesn't help: %s", p.name, findings.Format())
			return left, Result{Catalog: result.Catalog, Program: &analyze.Program{}}
		}
	}
}

// texts returns all that the project has to read.
func (p *project) texts() string {
	var all strings.Builder
	for _, s := range p.sources {
		all.WriteString(s.Text)
	}
	return all.String()
}

// around returns the batch in which a finding stands, if one could be read, and what is around it.
func (p *project) around(d diag.Diagnostic) (source *Source, batch *syntax.Batch, whole diag.Span) {
	source = &p.sources[slices.IndexFunc(p.sources, func(s Source) bool { return s.Name == d.File.Name })]
	script, _ := syntax.Parse(diag.NewFile(source.Name, source.Text))
	at := offset(source.Text, d)
	whole.To = diag.Pos(len(source.Text)) // between the batches that can be read
	for _, batch := range script.Batches {
		switch {
		case batch.To < at:
			whole.From = batch.To
		case at < batch.From:
			whole.To = min(whole.To, batch.From)
		default:
			return source, batch, batch.Span
		}
	}
	return source, nil, whole
}

// blank takes the statement out in which a finding stands, or the batch if it can't be read.
func (p *project) blank(d diag.Diagnostic) {
	source, batch, whole := p.around(d)
	at := offset(source.Text, d)
	if batch != nil {
		for _, stmt := range batch.Stmts {
			if s := stmt.Range(); s.From <= at && at < s.To {
				whole = s
			}
		}
	}
	text := source.Text
	source.Text = text[:whole.From] + blanks(text[whole.From:whole.To]) + text[whole.To:]
}

// unread returns the name of the module in which a finding stands if the module is in no catalog, as it can't be read.
func (p *project) unread(d diag.Diagnostic) string {
	if _, batch, _ := p.around(d); batch != nil {
		return p.moduleName(batch)
	}
	return ""
}

// moduleName returns the name of the module that a batch defines; empty if it defines none.
func (p *project) moduleName(batch *syntax.Batch) string {
	if batch.Module == nil {
		return ""
	}
	parts := batch.Module.Name.Parts
	name := catalog.Name{Schema: p.options.DefaultSchema, Name: parts[len(parts)-1].Value}
	if len(parts) > 1 && parts[len(parts)-2].Value != "" {
		name.Schema = parts[len(parts)-2].Value
	}
	return name.String()
}

// blanks returns as many blanks as a text has bytes, on as many lines.
func blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// offset returns where a finding stands in the text of its source; the text that it was found in may be a string there.
func offset(text string, d diag.Diagnostic) diag.Pos {
	place, at := placeOf(d.File, d.Span.From), 0
	for range place.line - 1 {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for i := range text[at:] {
		if place.column--; place.column == 0 {
			return diag.Pos(at + i)
		}
	}
	return diag.Pos(len(text))
}

// modules are the procedures, views, functions and triggers of each file, by its name.
type modules map[string][]module

type module struct {
	name     string
	from, to place
}

// A place is one of a source, also for what stands in a text that the source executes.
type place struct{ line, column int }

func placeOf(file *diag.File, at diag.Pos) place {
	line, column := file.Position(at)
	return place{line, column}
}

func (p place) before(other place) bool {
	return p.line < other.line || p.line == other.line && p.column < other.column
}

func modulesOf(c *catalog.Catalog) modules {
	m := modules{}
	add := func(at catalog.Place, name catalog.Name, whole diag.Span) {
		one := module{name.String(), placeOf(at.File, whole.From), placeOf(at.File, whole.To)}
		m[at.File.Name] = append(m[at.File.Name], one)
	}
	for _, p := range c.Procedures {
		add(p.Place, p.Name, diag.Span{From: p.Batch.From, To: p.Batch.To})
	}
	for _, v := range c.Views {
		add(v.Place, v.Name, v.Def.Span)
	}
	for _, f := range c.Functions {
		add(f.Place, f.Name, f.Def.Span)
	}
	for _, trigger := range c.Triggers {
		add(trigger.Place, trigger.Name, trigger.Def.Span)
	}
	return m
}

// around returns the name of the module in which a finding stands; empty if it stands in none.
func (m modules) around(d diag.Diagnostic) string {
	if d.File == nil {
		return ""
	}
	at := placeOf(d.File, d.Span.From)
	for _, one := range m[d.File.Name] {
		if !at.before(one.from) && at.before(one.to) {
			return one.name
		}
	}
	return ""
}

// fill puts the values of placeholders into the sources.
func fill(sources []Source, values map[string]string) []Source {
	filler := placeholder.New(values)
	filled := slices.Clone(sources)
	for i, s := range sources {
		file, _ := filler.File(s.Name, strings.ReplaceAll(s.Text, "\r\n", "\n"))
		filled[i].Text = file.Text
	}
	return filled
}
