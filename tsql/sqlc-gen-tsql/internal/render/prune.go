package render

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Every package gets the part of package runtime that it uses. A whole copy would be simpler, but a thousand lines that
// nothing calls are a thousand lines that reviewers and linters of a user's project ask about; a package to import would
// tie generated code to a version of this module. What is used is found by name, without types: whatever might be meant
// is kept, and the packages of livetest and the golden cases show that little is kept in vain.
//
//go:embed runtime/*.go
var runtimeFiles embed.FS

// destinations are the files of package runtime with the generated file that each goes to, in the order in which they
// are written.
var destinations = []struct{ from, to string }{
	{"db.go", "db.go"},
	{"errors.go", "errors.go"},
	{"args.go", "wire.go"},
	{"numbers.go", "wire.go"},
	{"text.go", "wire.go"},
	{"binary.go", "wire.go"},
	{"times.go", "wire.go"},
	{"rows.go", "rows.go"},
	{"tables.go", "tables.go"},
}

// packages are what generated code may import, by the name that it is used under. It is the list that users read in
// their go.mod: a further module needs a good reason. Package rendertest has the list once more, as a check.
var packages = map[string]string{
	"big": "math/big", "context": "context", "errors": "errors", "fmt": "fmt", "hex": "encoding/hex", "iter": "iter",
	"math": "math", "slices": "slices", "sql": "database/sql", "strconv": "strconv", "strings": "strings", "time": "time",
	"utf8":  "unicode/utf8",
	"civil": "github.com/golang-sql/civil", "mssql": "github.com/microsoft/go-mssqldb",
	"decimal": "github.com/shopspring/decimal",
}

// A unit is a top-level declaration of package runtime. Constants in one block stay together.
type unit struct {
	to       string   // the file that it goes to
	text     string   // with its comment
	names    []string // that it declares
	receiver string   // of a method: the name of its type
	uses     names
}

// names are what a piece of code mentions.
type names struct {
	plain    map[string]bool // by themselves
	selected map[string]bool // behind a dot, or as a method of an interface
}

// add makes n mention what other does.
func (n names) add(other names) {
	maps.Copy(n.plain, other.plain)
	maps.Copy(n.selected, other.selected)
}

// mentioned collects the names of a piece of code. A local variable that is called like a declaration keeps it, which
// is harmless.
func mentioned(node ast.Node) names {
	found := names{plain: map[string]bool{}, selected: map[string]bool{}}
	members := map[*ast.Ident]bool{} // names of fields and methods, which stand for no declaration
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found.selected[n.Sel.Name] = true
			members[n.Sel] = true
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, name := range m.Names {
					found.selected[name.Name] = true
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				members[name] = true
			}
		case *ast.KeyValueExpr:
			if name, ok := n.Key.(*ast.Ident); ok {
				members[name] = true
			}
		case *ast.Ident:
			if !members[n] {
				found.plain[n.Name] = true
			}
		}
		return true
	})
	return found
}

// units parses package runtime, once for all packages that are generated. The units are in the order of destinations and
// of the text, and are never changed.
var units = sync.OnceValues(func() ([]*unit, error) {
	var list []*unit
	for _, d := range destinations {
		text, err := runtimeFiles.ReadFile(path.Join("runtime", d.from))
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, d.from, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			u := newUnit(decl)
			u.to = d.to
			// Cut out of the source rather than printed from the tree: comments inside a body stay where they are.
			from, to := set.Position(begin(decl)).Offset, set.Position(decl.End()).Offset
			u.text = string(text[from:to])
			list = append(list, u)
		}
	}
	return list, nil
})

// begin returns where a declaration begins with its comment.
func begin(decl ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch d := decl.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return decl.Pos()
}

// newUnit finds out what a declaration declares and uses. Where it goes and its text are the caller's.
func newUnit(decl ast.Decl) *unit {
	u := &unit{uses: mentioned(decl)}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		u.names = []string{d.Name.Name}
		if d.Recv != nil {
			u.receiver = receiver(d.Recv.List[0].Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				u.names = append(u.names, s.Name.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					u.names = append(u.names, name.Name)
				}
			}
		}
	}
	return u
}

// receiver returns the name of a receiver's type. No type with parameters has methods in package runtime.
func receiver(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// exports are what every package offers whether it uses it or not.
var exports = []string{"New", "WithSchema", "ErrShape", "ErrArgument"}

// addRuntime adds to generated sources what they use of package runtime, and what the package is to offer.
func addRuntime(sources map[string]*source) error {
	all, err := units()
	if err != nil {
		return err
	}
	used := names{plain: map[string]bool{}, selected: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := sources[name].parse()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		used.add(mentioned(file))
	}
	for _, name := range exports {
		used.plain[name] = true
	}
	keep := reachable(all, used)
	for i, u := range all {
		if !keep[i] {
			continue
		}
		s := sources[u.to]
		if s == nil {
			s = &source{}
			sources[u.to] = s
		}
		s.text.WriteString("\n" + u.text + "\n")
	}
	return nil
}

// reachable says which declarations are used, directly or by others that are. It adds to used what those mention, and goes
// round until nothing is added: a declaration may use one in front of it.
func reachable(all []*unit, used names) []bool {
	keep := make([]bool, len(all))
	for changed := true; changed; {
		changed = false
		for i, u := range all {
			if !keep[i] && u.usedBy(used) {
				keep[i], changed = true, true
				used.add(u.uses)
			}
		}
	}
	return keep
}

// usedBy says whether a declaration is used by code that mentions some names. A method needs its type, and is then kept
// if it is exported or called; nobody calls a method that isn't.
func (u *unit) usedBy(used names) bool {
	if u.receiver != "" {
		return used.plain[u.receiver] && (token.IsExported(u.names[0]) || used.selected[u.names[0]])
	}
	return slices.ContainsFunc(u.names, func(name string) bool { return used.plain[name] })
}

// importsOf writes the imports of a source: the packages whose names stand in front of a dot and are declared nowhere in
// the file, so that a variable called time imports nothing.
func importsOf(file *ast.File) string {
	outer := map[string]bool{}
	for _, name := range file.Unresolved {
		outer[name.Name] = true
	}
	var std, others []string
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		switch {
		case !ok || !outer[x.Name] || packages[x.Name] == "":
		case strings.Contains(packages[x.Name], "."):
			others = append(others, packages[x.Name])
		default:
			std = append(std, packages[x.Name])
		}
		return true
	})
	return importDecl(sorted(std), sorted(others))
}

// sorted sorts a list and drops what is there twice.
func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// importDecl writes an import declaration, the packages of Go first, as goimports does.
func importDecl(std, others []string) string {
	if len(std)+len(others) == 0 {
		return ""
	}
	var out bytes.Buffer
	out.WriteString("import (\n")
	for _, p := range std {
		fmt.Fprintf(&out, "\t%q\n", p)
	}
	if len(others) > 0 {
		out.WriteString("\n")
	}
	for _, p := range others {
		if p == packages["mssql"] {
			out.WriteString("\tmssql ")
		}
		fmt.Fprintf(&out, "\t%q\n", p)
	}
	out.WriteString(")\n")
	return out.String()
}
