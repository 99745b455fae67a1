package model

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// Build decides what the package for a program holds. What has findings isn't in it.
func Build(p *analyze.Program, o Options) (*Package, diag.List) {
	b := &builder{
		options: o,
		pkg: &Package{
			Name:   o.Package,
			Nulls:  cmp.Or(o.Nulls, NullsPointer),
			Tables: cmp.Or(o.Tables, TablesJSON),
		},
		rename:   map[string]string{},
		used:     map[string]bool{},
		exported: scope{},
		methods:  scope{},
		tables:   map[*catalog.Table]*Table{},
		errors:   map[int32]string{},
	}
	b.checkOptions()
	// What a user may have named so is told, rather than that the compiler finds something declared twice.
	for _, name := range []string{"DBTX", "Queries", "Option", "New", "WithSchema", "ErrShape", "ErrArgument"} {
		b.exported[name] = "something in every generated package"
	}
	for _, name := range []string{"With", "WithTx"} {
		b.methods[name] = "something in every generated package"
	}
	b.sentinels(p.Errors)
	for _, t := range p.TableTypes {
		b.table(t)
	}
	b.methodsOf(p)
	b.unusedNames()
	b.found.Sort()
	return b.pkg, b.found
}

// A builder is a package being built.
type builder struct {
	options  Options
	pkg      *Package
	found    diag.List
	rename   map[string]string         // Options.Rename by folded name
	used     map[string]bool           // the names of it that something has
	exported scope                     // of the package
	methods  scope                     // of Queries
	tables   map[*catalog.Table]*Table // that have been built
	errors   map[int32]string          // the sentinels by number
}

// A scope knows what has which Go name, in words for a finding.
type scope map[string]string

// checkOptions refuses values that don't exist.
func (b *builder) checkOptions() {
	refuse := func(option, value, fix string) {
		b.found.Add(nil, diag.Span{}, "option", fix, "the option %s can't be %q", option, value)
	}
	if !token.IsIdentifier(b.pkg.Name) || b.pkg.Name == "_" {
		refuse("package", b.pkg.Name, "name the package as Go does, such as mssqldb")
	}
	if b.pkg.Nulls != NullsPointer && b.pkg.Nulls != NullsSQL {
		refuse("nulls", b.pkg.Nulls, "use pointer or sql")
	}
	if b.pkg.Tables != TablesJSON && b.pkg.Tables != TablesTVP {
		refuse("tables", b.pkg.Tables, "use json or tvp")
	}
	for _, name := range slices.Sorted(maps.Keys(b.options.Rename)) {
		to := b.options.Rename[name]
		if !token.IsIdentifier(to) || !token.IsExported(to) {
			refuse("rename "+name, to, "use a Go name that begins with a capital")
			continue
		}
		b.rename[catalog.Fold(name)] = to
	}
}

// unusedNames reports names in the option that nothing has: most are misspelled, or were right before something was
// renamed in the scripts.
func (b *builder) unusedNames() {
	for _, name := range slices.Sorted(maps.Keys(b.options.Rename)) {
		if key := catalog.Fold(name); b.rename[key] != "" && !b.used[key] {
			b.found.Add(nil, diag.Span{}, "option", "remove it", "the option rename is for %s, and nothing has that name", name)
		}
	}
}

// name returns the Go name of something, which may have been renamed, as its owner's or, failing that, by itself. What
// has no name that Go can spell is a finding; the name X keeps the rest going.
func (b *builder) name(at catalog.Place, owner, name string) string {
	for _, key := range []string{catalog.Fold(owner + "." + name), catalog.Fold(name), catalog.Fold(strings.TrimPrefix(name, "@"))} {
		if to := b.rename[key]; to != "" {
			b.used[key] = true
			return to
		}
	}
	goName := GoName(name)
	if goName == "" {
		b.found.Add(at.File, at.Span, "name", "give it a name with letters, or use the option rename",
			"%q of %s can't be turned into a Go name", name, owner)
		return fmt.Sprintf("X%d", len(b.found)) // meets no other
	}
	return goName
}

// claim gives a Go name to something, unless something else has it; it reports whether it could.
func (b *builder) claim(in scope, at catalog.Place, goName, what string) bool {
	if other, taken := in[goName]; taken {
		b.found.Add(at.File, at.Span, "name", "name one of them otherwise, or use the option rename",
			"%s would be %s in Go, and so is %s", what, goName, other)
		return false
	}
	in[goName] = what
	return true
}

// sentinels names the errors. One without a name in the scripts goes by its number: Err50001.
func (b *builder) sentinels(numbers []analyze.ErrorNumber) {
	for _, e := range numbers {
		name := fmt.Sprintf("Err%d", e.Number)
		if e.Name != "" {
			name = "Err" + b.name(e.Place, "errors", e.Name)
		}
		b.claim(b.exported, e.Place, name, fmt.Sprintf("error %d", e.Number))
		text := strings.Join(strings.Fields(e.Text), " ")
		b.errors[e.Number] = name
		b.pkg.Sentinels = append(b.pkg.Sentinels, &Sentinel{Name: name, Number: e.Number, Text: text})
	}
}

// methodsOf builds all methods and puts them into the files of their scripts.
func (b *builder) methodsOf(p *analyze.Program) {
	bySource := map[string][]*Method{}
	add := func(at catalog.Place, before int, m *Method) bool {
		if len(b.found) > before { // findings of its own, since before
			return false
		}
		bySource[sourceName(at)] = append(bySource[sourceName(at)], m)
		return true
	}
	shared := sharedNames(p.Procedures)
	methods := make([]*Method, len(p.Procedures))
	for i, proc := range p.Procedures {
		before := len(b.found)
		goName := b.name(proc.Place, proc.Name.Schema, proc.Name.Name)
		// A name that was chosen for this procedure is left as it is.
		if _, renamed := b.rename[proc.Name.Key()]; !renamed && (b.options.SchemaInNames || shared[catalog.Fold(proc.Name.Name)]) {
			goName = GoName(proc.Name.Schema) + goName
		}
		m := b.procedure(proc, goName)
		if add(proc.Place, before, m) {
			methods[i] = m
		}
	}
	b.share(p.Procedures, methods)
	b.embed(p.Procedures, methods)
	for _, query := range p.Queries {
		before := len(b.found)
		add(query.Place, before, b.query(query, b.name(query.Place, "queries", query.Name)))
	}
	sources := slices.Sorted(maps.Keys(bySource))
	names := fileNames(sources)
	for _, source := range sources {
		methods := bySource[source]
		slices.SortFunc(methods, func(a, b *Method) int { return cmp.Compare(a.Name, b.Name) })
		b.pkg.Files = append(b.pkg.Files, &File{Name: names[source], Source: source, Methods: methods})
	}
	slices.SortFunc(b.pkg.Files, func(a, b *File) int { return cmp.Compare(a.Name, b.Name) })
}

// sourceName returns the script that something comes from. Only what is built by hand, in a test, comes from none.
func sourceName(at catalog.Place) string {
	if at.File == nil {
		return "queries.sql"
	}
	return at.File.Name
}

// sharedNames returns the folded names that procedures of several schemas have.
func sharedNames(procedures []*analyze.Procedure) map[string]bool {
	schema, shared := map[string]string{}, map[string]bool{}
	for _, p := range procedures {
		name := catalog.Fold(p.Name.Name)
		if other, ok := schema[name]; ok && other != catalog.Fold(p.Name.Schema) {
			shared[name] = true
		}
		schema[name] = catalog.Fold(p.Name.Schema)
	}
	return shared
}

// typeOf returns what stands for a type and reports a type that nothing stands for.
func (b *builder) typeOf(at catalog.Place, what string, p analyze.Param) (GoType, bool) {
	g, fix := goType(p.Type)
	if fix != "" {
		b.found.Add(at.File, at.Span, "type", fix, "%s has the type %s, which can't be generated", what, cmp.Or(declaration(p.Type), "unknown"))
	}
	return g, fix == ""
}

// checkParamName refuses what database/sql refuses at run time, as @_id and @1: its names begin with a letter.
func (b *builder) checkParamName(at catalog.Place, name string) {
	if r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(name, "@")); !unicode.IsLetter(r) {
		b.found.Add(at.File, at.Span, "name", "begin its name with a letter",
			"database/sql can't pass the parameter %s, because its name doesn't begin with a letter", name)
	}
}
