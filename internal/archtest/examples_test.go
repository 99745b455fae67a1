package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown are the packages whose every function and method stands in an example.
var shown = []string{"activity", "client", "codec", "failure", "orchestration", "orchestrationtest", "worker"}

// notShown are methods that fmt, errors and the other packages call.
var notShown = []string{
	"Error", "Unwrap", "Is", "As", "String", "GoString", "Name", "Version", "Register",
}

// TestEveryFeatureHasAnExample compares what a package exports with what its examples use.
func TestEveryFeatureHasAnExample(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, pkg := range append(shown, "otel") {
		addSelectors(t, pkg, used)
	}
	for _, pkg := range shown {
		for _, name := range exported(t, pkg) {
			function := pkg + "." + name
			if method, ok := strings.CutPrefix(name, "."); ok {
				function, name = name, method
			}
			if !used[function] && !slices.Contains(notShown, name) {
				t.Errorf("no example shows %s of package %s", name, pkg)
			}
		}
	}
}

// exported are the exported functions of a package, and its methods with a dot.
func exported(t *testing.T, pkg string) []string {
	t.Helper()
	var names []string
	for _, file := range parsed(t, pkg, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			switch {
			case !ok || !function.Name.IsExported():
			case function.Recv == nil:
				names = append(names, function.Name.Name)
			case isExported(function.Recv.List[0].Type):
				names = append(names, "."+function.Name.Name)
			}
		}
	}
	return names
}

// isExported reports whether a method's receiver is of an exported type.
func isExported(receiver ast.Expr) bool {
	switch r := receiver.(type) {
	case *ast.StarExpr:
		return isExported(r.X)
	case *ast.IndexExpr:
		return isExported(r.X)
	case *ast.IndexListExpr:
		return isExported(r.X)
	case *ast.Ident:
		return r.IsExported()
	}
	return false
}

// addSelectors adds what the examples of a package use: package.Function, and .Method of
// whatever.
func addSelectors(t *testing.T, pkg string, used map[string]bool) {
	t.Helper()
	for _, file := range parsed(t, pkg, func(name string) bool {
		return strings.HasPrefix(name, "example_") && strings.HasSuffix(name, "_test.go")
	}) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				used["."+s.Sel.Name] = true
				if of, ok := s.X.(*ast.Ident); ok {
					used[of.Name+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
}

// parsed are the files of a package with such a name.
func parsed(t *testing.T, pkg string, wanted func(name string) bool) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if !wanted(filepath.Base(path)) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		t.Errorf("package %s has no such files", pkg)
	}
	return files
}
