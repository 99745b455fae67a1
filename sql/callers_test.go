package scripts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The headers name the methods of the store that call a procedure. That procedures name each other right, and that what
// the generator leaves out is a helper, is rule D1-callers.
func TestHeadersNameTheStoresMethods(t *testing.T) {
	t.Parallel()
	store := readStore(t)
	for _, m := range readModules(t) {
		if m.kind != "procedures" {
			continue
		}
		var named []string
		for _, name := range regexp.MustCompile(`Store\.(\w+)`).FindAllStringSubmatch(section(m.header, "Called by:"), -1) {
			named = append(named, name[1])
		}
		if want := store.methods(strings.ReplaceAll(m.name, "_", "")); !slices.Equal(slices.Sorted(slices.Values(named)), want) {
			t.Errorf("%s is called by %q, and the header names %q", m.name, want, named)
		}
	}
}

// calls holds what each function of the store names: functions, methods with a dot, and generated methods behind q.
type calls map[string]map[string]bool

// readStore reads what the functions of provider/mssql name. Methods of one name are taken together, whatever their
// type.
func readStore(t *testing.T) calls {
	t.Helper()
	names, err := filepath.Glob("../provider/mssql/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	all := calls{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from := f.Name.Name
			if f.Recv != nil {
				from = "." + from
			}
			if all[from] == nil {
				all[from] = map[string]bool{}
			}
			var visit func(ast.Node) bool
			visit = func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "q" {
						all[from]["q."+strings.ToLower(n.Sel.Name)] = true
						return false
					}
					all[from]["."+n.Sel.Name] = true
					ast.Inspect(n.X, visit)
					return false
				case *ast.Ident:
					all[from][n.Name] = true
				}
				return true
			}
			ast.Inspect(f, visit)
		}
	}
	return all
}

// methods are the exported methods from which a generated method is reached.
func (c calls) methods(generated string) []string {
	var names []string
	for name := range c {
		if method, ok := strings.CutPrefix(name, "."); ok && ast.IsExported(method) && c.reach(name, "q."+generated, map[string]bool{}) {
			names = append(names, strings.TrimPrefix(name, "."))
		}
	}
	slices.Sort(names)
	return names
}

// reach goes from function to function, but not through another exported one: that is a caller of its own.
func (c calls) reach(from, to string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	if c[from][to] {
		return true
	}
	for name := range c[from] {
		if c[name] != nil && !ast.IsExported(strings.TrimPrefix(name, ".")) && c.reach(name, to, seen) {
			return true
		}
	}
	return false
}
