package duroxidevet_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/duroxide/duroxide-go/duroxidevet"
)

// usable are the packages that tests may import beside those of the library, by the names they have in code.
var usable = map[string]string{
	"activity": library + "/activity", "orchestration": library + "/orchestration", "client": library + "/client",
	"uuid": "github.com/google/uuid", "crand": "crypto/rand", "rand": "math/rand/v2",
	"atomic": "sync/atomic", "slog": "log/slog", "http": "net/http", "sql": "database/sql",
	"context": "context", "errors": "errors", "fmt": "fmt", "iter": "iter", "log": "log", "maps": "maps", "os": "os", "runtime": "runtime",
	"slices": "slices", "sort": "sort", "strconv": "strconv", "strings": "strings", "sync": "sync", "time": "time", "flag": "flag",
}

// library is the module that the analyser is for.
const library = "github.com/duroxide/duroxide-go"

// exports finds what the compiler has written about the packages that a test or an example may import, and about those
// that the repository imports from elsewhere. The repository's own are read from source, and need not be compiled.
var exports = sync.OnceValues(func() (map[string]string, error) {
	foreign, err := list("-deps", "-f", `{{with .Module}}{{if ne .Path "`+library+`"}}{{$.ImportPath}}{{end}}{{else}}{{.ImportPath}}{{end}}`, "./...")
	if err != nil {
		return nil, err
	}
	compiled, err := list(slices.Concat([]string{"-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./examples/..."}, slices.Collect(maps.Values(usable)), foreign)...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, line := range compiled {
		path, file, _ := strings.Cut(line, "=")
		files[path] = file
	}
	return files, nil
})

// list returns what go list says in the repository, a word each.
func list(args ...string) ([]string, error) {
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	output, err := cmd.Output()
	return strings.Fields(string(output)), err
}

// loader type-checks packages whose imports were compiled before, so that many small packages are analysed in little
// time. The analyser knows of other packages only what its tables say.
type loader struct {
	fset     *token.FileSet
	compiled types.Importer
	// checked are packages that were loaded from source, and facts what the analyser has found in them.
	checked map[string]*types.Package
	facts   map[factKey]analysis.Fact
}

// Import returns a package that was loaded from source, or else what the compiler knows of it.
func (l *loader) Import(path string) (*types.Package, error) {
	if pkg, ok := l.checked[path]; ok {
		return pkg, nil
	}
	return l.compiled.Import(path)
}

func newLoader(tb testing.TB) *loader {
	tb.Helper()
	files, err := exports()
	if err != nil {
		tb.Fatal(err)
	}
	l := &loader{fset: token.NewFileSet(), checked: map[string]*types.Package{}, facts: map[factKey]analysis.Fact{}}
	l.compiled = importer.ForCompiler(l.fset, "gc", func(path string) (io.ReadCloser, error) {
		file, ok := files[path]
		if !ok {
			return nil, fmt.Errorf("no package %s", path)
		}
		return os.Open(file)
	})
	return l
}

// pass makes an analysis of a package out of its files.
func (l *loader) pass(tb testing.TB, path string, sources map[string]string) *analysis.Pass {
	tb.Helper()
	pass := &analysis.Pass{
		Analyzer: duroxidevet.Analyzer, Fset: l.fset, Module: &analysis.Module{Path: library},
		TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
		},
		Report:   func(analysis.Diagnostic) {},
		ReadFile: func(name string) ([]byte, error) { return []byte(sources[name]), nil },
	}
	pass.ExportObjectFact = func(obj types.Object, fact analysis.Fact) { l.facts[factKey{obj, reflect.TypeOf(fact)}] = fact }
	pass.ImportObjectFact = func(obj types.Object, fact analysis.Fact) bool {
		known, ok := l.facts[factKey{obj, reflect.TypeOf(fact)}]
		if ok {
			reflect.ValueOf(fact).Elem().Set(reflect.ValueOf(known).Elem())
		}
		return ok
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := parser.ParseFile(l.fset, name, sources[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			tb.Fatal(err)
		}
		pass.Files = append(pass.Files, file)
	}
	pkg, err := (&types.Config{Importer: l}).Check(path, l.fset, pass.Files, pass.TypesInfo)
	if err != nil {
		tb.Fatal(err)
	}
	pass.Pkg = pkg
	return pass
}

type factKey struct {
	obj  types.Object
	fact reflect.Type
}

// findings runs the analyser on a package. Imports that are missing are added.
func (l *loader) findings(tb testing.TB, path string, sources map[string]string) (found []analysis.Diagnostic) {
	tb.Helper()
	for name, source := range sources {
		sources[name] = withImports(tb, source)
	}
	pass := l.pass(tb, path, sources)
	pass.Report = func(d analysis.Diagnostic) { found = append(found, d) }
	if _, err := duroxidevet.Analyzer.Run(pass); err != nil {
		tb.Fatal(err)
	}
	return found
}

// withImports imports the usable packages that a source names and neither imports nor declares, and no others of them.
func withImports(tb testing.TB, source string) string {
	tb.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, source)
	}
	used, imported := map[string]bool{}, map[string]bool{}
	for _, id := range file.Unresolved {
		used[id.Name] = true
	}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		for name, p := range usable {
			if imported[name] = imported[name] || p == path; p == path && !used[name] {
				source = strings.Replace(source, "\t"+spec.Path.Value+"\n", "", 1)
			}
		}
	}
	head, rest, _ := strings.Cut(source[file.Name.Pos()-1:], "\n")
	var text strings.Builder
	text.WriteString(source[:file.Name.Pos()-1] + head)
	for name := range used {
		if path, ok := usable[name]; ok && !imported[name] {
			fmt.Fprintf(&text, "; import %s %q", name, path)
		}
	}
	return text.String() + "\n" + rest
}
