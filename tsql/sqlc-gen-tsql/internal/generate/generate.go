// Package generate composes the stages of the generator: what a set of scripts and options comes to. It reads and
// writes nothing; its result depends on its arguments alone, so that it is the same on every machine.
//
//	placeholder         the text of each script
//	syntax, directive   each script by itself
//	catalog             what all of them define
//	analyze             what procedures and queries take and yield
//	model, render       the Go package
//	vet                 the lint rules, which need no more than analyze
//
// A stage goes on behind a finding as far as it can, so that one run tells of all mistakes. What a mistake in one stage
// makes the next one say is left out, as echo.go has it, and so is what is wrong in modules that are excluded:
// excluded.go. Which procedures exclude themselves, by gen:internal, is found out by internal.go.
package generate

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/placeholder"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// A Role says what a script is there for. A script can have several.
type Role int

// The roles. What a script defines counts whatever its role; only in one with the role Queries do statements outside
// of procedures have to be annotated queries.
const (
	Schema Role = 1 << iota
	Procedures
	Queries
	// Any is the role of a script about which nothing was said: it holds queries if it annotates one.
	Any
)

// A Source is one script.
type Source struct {
	Name string // slash-separated, relative to the configuration
	Text string
	Role Role
}

// A Result is what the scripts come to. Its parts are there as far as the findings let them.
type Result struct {
	Catalog *catalog.Catalog
	Program *analyze.Program
	// Internal are the procedures of the catalog whose headers say gen:internal.
	Internal []*catalog.Procedure
	Files    map[string][]byte // the Go files by name; nil if there are findings
}

// Analyze finds out what procedures and queries take and yield. Findings of all stages are returned at once, sorted.
func Analyze(sources []Source, c config.Config) (Result, diag.List) {
	front := read(sources, c)
	result := Result{Catalog: front.catalog, Internal: front.internal}
	var bad diag.List
	result.Program, bad = analyze.Analyze(front.catalog, front.sources, analyze.Options{Exclude: front.leftOut(c)})
	front.add(bad)
	front.findings.Sort()
	return result, front.findings
}

// Run generates. There are files only without findings: half a package would compile or not by chance.
func Run(sources []Source, c config.Config) (Result, diag.List) {
	result, findings := Analyze(sources, c)
	if len(findings) > 0 {
		findings = append(findings, ahead(result, findings, c)...)
		findings.Sort()
		return result, findings
	}
	pkg, findings := model.Build(result.Program, c.Model)
	if len(findings) > 0 {
		findings.Sort()
		return result, findings
	}
	files, err := render.Files(pkg)
	if err != nil {
		// The text of the templates is wrong, not the scripts: only a test of ours should ever see this.
		findings.Add(nil, diag.Span{}, "internal", "please report it", "%s", err)
		return result, findings
	}
	result.Files = files
	return result, nil
}

// ahead returns what the model would find next, so that one run tells all: it looks at the procedures and queries that
// have no findings yet. What it says of the options is left out, since they may name what is broken.
func ahead(result Result, findings diag.List, c config.Config) diag.List {
	broken := func(file *diag.File, at diag.Span) bool {
		return slices.ContainsFunc(findings, func(d diag.Diagnostic) bool {
			return d.File == file && at.From <= d.Span.From && d.Span.From <= at.To
		})
	}
	sound := *result.Program
	sound.Procedures = slices.DeleteFunc(slices.Clone(sound.Procedures), func(p *analyze.Procedure) bool {
		defined := result.Catalog.Procedures[p.Name.Key()]
		return defined == nil || broken(p.File, defined.Batch.Span) ||
			slices.ContainsFunc(p.Results, func(r analyze.ResultSet) bool { return slices.ContainsFunc(r.Columns, untyped) })
	})
	sound.Queries = slices.DeleteFunc(slices.Clone(sound.Queries), func(q *analyze.Query) bool {
		return broken(q.File, q.Span) || slices.ContainsFunc(q.Columns, untyped)
	})
	_, more := model.Build(&sound, c.Model)
	return slices.DeleteFunc(more, func(d diag.Diagnostic) bool { return d.File == nil })
}

// untyped reports whether a column has no type because of a finding elsewhere, in a view for example.
func untyped(c analyze.Column) bool { return c.Type.Kind == sqltype.Invalid }

// Vet applies the lint rules. Those that need to know what procedures yield say nothing when that isn't known; why it
// isn't is a finding of Run. Scripts that can't be read are findings here too. An excluded module is linted as well, as
// long as it can be read.
func Vet(sources []Source, c config.Config) diag.List {
	front := read(sources, c)
	if len(front.findings) == 0 {
		leftOut := front.leftOut(c)
		program, bad := analyze.Analyze(front.catalog, front.sources, analyze.Options{Exclude: leftOut})
		if len(bad) > 0 {
			program = nil
		}
		options := c.Vet
		options.Helpers = leftOut
		front.findings = vet.Run(vet.Input{
			Scripts:    front.scripts,
			Directives: front.directives,
			Catalog:    front.catalog,
			Program:    program,
			Options:    options,
		})
		front.findings = slices.DeleteFunc(front.findings, front.excluded.torn)
		front.findings = append(front.findings, nothingToVet(sources, front, c)...)
	}
	front.findings.Sort()
	return front.findings
}

// A front is what the stages before the analysis make of the scripts. The three slices have an element for each script,
// in the order of the sources; behind them come those that are executed as text.
type front struct {
	scripts    []*syntax.Script
	directives []*directive.Set
	sources    []analyze.Source
	catalog    *catalog.Catalog
	findings   diag.List // unsorted
	tears      tears
	excluded   excludedParts
	internal   []*catalog.Procedure
}

// read parses the scripts and collects what they define.
func read(sources []Source, c config.Config) *front {
	excluded := catalog.NewNames(c.Exclude, c.DefaultSchema)
	f := &front{excluded: excludedParts{at: map[*diag.File][]excludedPart{}}, tears: newTears()}
	filler := placeholder.New(c.Placeholders)
	for _, source := range sources {
		// A checkout with other line ends must not change what is generated: text of a query goes into the Go code.
		text := f.readable(source.Name, strings.ReplaceAll(source.Text, "\r\n", "\n"))
		file, gaps := filler.File(source.Name, text)
		script, bad := syntax.ParseExcept(file, excluded.HasWritten)
		set, bad := f.take(script, bad, gaps, excluded)
		f.findings = append(f.findings, bad...)
		f.sources = append(f.sources, analyze.Source{
			Script:     script,
			Directives: set,
			Queries:    source.Role&Queries != 0 || source.Role&Any != 0 && annotates(set),
		})
	}
	f.findings = append(f.findings, filler.Findings()...)
	var bad diag.List
	f.catalog, bad = catalog.Build(f.scripts, catalog.Options{DefaultSchema: c.DefaultSchema})
	for _, script := range f.catalog.Texts {
		set, _ := f.take(script, bad.Of(script.File, "syntax"), nil, excluded)
		f.sources = append(f.sources, analyze.Source{Script: script, Directives: set})
	}
	f.findInternal(excluded)
	f.add(bad)
	return f
}

// take enters one script with what the parser found in it, and returns those findings that don't come of a placeholder
// without a value.
func (f *front) take(script *syntax.Script, found diag.List, gaps []diag.Span, excluded catalog.Names) (*directive.Set, diag.List) {
	found = f.tears.add(script, found, gaps)
	f.excluded.add(script, excluded)
	set, bad := directive.Read(script)
	f.findings = append(f.findings, f.excluded.others(bad)...)
	f.scripts = append(f.scripts, script)
	f.directives = append(f.directives, set)
	return set, found
}

// readable returns the text of a script that can be read. Text in a code page is one finding, and is read on as far as
// its ASCII goes.
func (f *front) readable(name, text string) string {
	const mark = "\ufeff"
	readable, invalid := replaceInvalid(strings.TrimPrefix(text, mark))
	// Comments and texts of queries go into Go source, which can hold neither of the two.
	odd := max(strings.IndexByte(readable, 0), strings.Index(readable, mark))
	switch {
	case invalid >= 0:
		at := diag.Pos(invalid)
		f.findings.Add(diag.NewFile(name, readable), diag.Span{From: at, To: at + 1}, "syntax", "save the file as UTF-8 or UTF-16",
			"this character is not UTF-8")
	case odd >= 0:
		_, size := utf8.DecodeRuneInString(readable[odd:])
		f.findings.Add(diag.NewFile(name, readable), diag.Span{From: diag.Pos(odd), To: diag.Pos(odd + size)}, "syntax", "remove it",
			"a zero character or a byte order mark stands in the text")
	}
	return readable
}

// replaceInvalid replaces each byte that is not UTF-8 by a question mark, and returns where the first one is, -1 if
// there is none.
func replaceInvalid(text string) (readable string, first int) {
	first = -1
	if utf8.ValidString(text) {
		return text, first
	}
	bytes := []byte(text)
	for i := 0; i < len(bytes); {
		r, size := utf8.DecodeRune(bytes[i:])
		if r == utf8.RuneError && size == 1 {
			bytes[i] = '?'
			if first < 0 {
				first = i
			}
		}
		i += size
	}
	return string(bytes), first
}

// add takes the findings of a stage that builds on what was read.
func (f *front) add(findings diag.List) {
	for _, d := range f.excluded.others(findings) {
		if !f.tears.echo(d) {
			f.findings = append(f.findings, d)
		}
	}
}

// annotates reports whether a script has annotated queries.
func annotates(set *directive.Set) bool {
	return slices.ContainsFunc(set.All, func(d *directive.Directive) bool { return d.Kind == directive.Query })
}

// Merge puts sources that were named several times together, each at its first place with all its roles: one file may
// be matched by the patterns of the schema and of the queries, and must not define everything twice.
func Merge(sources []Source) []Source {
	var merged []Source
	at := map[string]int{}
	for _, source := range sources {
		if i, ok := at[source.Name]; ok {
			merged[i].Role |= source.Role
			continue
		}
		at[source.Name] = len(merged)
		merged = append(merged, source)
	}
	return merged
}

// SortedNames returns the names of files in order.
func SortedNames(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}
