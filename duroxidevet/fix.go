package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// fix is a change of the source that removes a hazard.
type fix struct {
	message string
	edits   []analysis.TextEdit
}

func replace(n span, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: n.pos, End: n.end, NewText: []byte(text)}
}

// renameFix uses another name.
func renameFix(id *ast.Ident, name string) []fix {
	if name == "" || name == id.Name {
		return nil
	}
	return []fix{{message: "Use " + name, edits: []analysis.TextEdit{replace(at(id), name)}}}
}

// callFixes are the fixes of a call of a known function.
func (w *walk) callFixes(f *types.Func, stack []ast.Node) []fix {
	if !w.f.context || len(stack) == 0 {
		return nil
	}
	ctx := w.contextAt(stack)
	if ctx == "" {
		return nil
	}
	switch r := ruleFor(f); {
	case r == sleep:
		call, i := callOf(stack)
		return w.slept(stack[:i], call, call, ctx)
	case r == timer && f.Name() == "After":
		return w.awaitedTimer(stack, ctx)
	case r == printer && f.Pkg().Path() == "log/slog":
		if sel, ok := stack[len(stack)-1].(*ast.SelectorExpr); ok {
			return []fix{{message: "Log through the context", edits: []analysis.TextEdit{replace(at(sel.X), ctx+".Logger(nil)")}}}
		}
	case r == clock && f.Name() == "Now" && f.Pkg().Path() == "time":
		return w.awaited(stack, ctx+".UTCNow()", "")
	case r == guid && (f.Name() == "NewString" || f.Name() == "New" || f.Name() == "NewV7"):
		return w.awaited(stack, ctx+".NewGUID()", "String")
	}
	return nil
}

// contextAt is the name of the context in the innermost function of a stack.
func (w *walk) contextAt(stack []ast.Node) string {
	for _, n := range slices.Backward(stack) {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			if name := w.contextName(n); name != "" || takesContext(w.signature(n)) {
				return name
			}
		}
	}
	return ""
}

// importName is the name of a package in the file of a place, empty if the file does not import it.
func (c *checker) importName(pos token.Pos, path string) string {
	file := c.fileOf(pos)
	if file == nil {
		return ""
	}
	for _, spec := range file.Imports {
		if name, ok := c.TypesInfo.PkgNameOf(spec), true; ok && name != nil && name.Imported().Path() == path && name.Name() != "_" && name.Name() != "." {
			return name.Name()
		}
	}
	return ""
}

// callOf is the call that a stack ends in, with its place in the stack.
func callOf(stack []ast.Node) (*ast.CallExpr, int) {
	for i, n := range slices.Backward(stack) {
		if n, ok := n.(*ast.CallExpr); ok {
			return n, i
		}
	}
	return nil, 0
}

// slept turns a statement into a recorded sleep of what the call's argument says. Its error is returned if the function
// returns one.
func (w *walk) slept(stack []ast.Node, statement ast.Node, call *ast.CallExpr, ctx string) []fix {
	if _, alone := stack[len(stack)-1].(*ast.ExprStmt); !alone || len(call.Args) != 1 {
		return nil
	}
	text, end := ctx+".Sleep(", ")"
	if zeros, ok := w.zeros(stack); ok {
		indent := w.indent(statement)
		text, end = "if err := "+text, "); err != nil {\n"+indent+"\treturn "+zeros+"err\n"+indent+"}"
	}
	return []fix{{message: "Sleep by a recorded timer", edits: []analysis.TextEdit{
		{Pos: statement.Pos(), End: call.Args[0].Pos(), NewText: []byte(text)},
		{Pos: call.Args[0].End(), End: statement.End(), NewText: []byte(end)},
	}}}
}

// indent is the space before a statement.
func (c *checker) indent(n ast.Node) string {
	return strings.Repeat("\t", c.Fset.Position(n.Pos()).Column-1)
}

// activityFix calls an activity by its definition.
func (w *walk) activityFix(f *types.Func, stack []ast.Node) []fix {
	definition := w.activities[f]
	call, _ := callOf(stack)
	if definition == "" || !w.f.context || call == nil || len(call.Args) != 2 || w.callee(call) != f {
		return nil
	}
	ctx, library := w.contextAt(stack), w.importName(call.Pos(), orchestration)
	if ctx == "" || library == "" {
		return nil
	}
	return []fix{{message: "Call the activity by its definition", edits: []analysis.TextEdit{
		replace(at(call.Fun), library+".Activity"), replace(at(call.Args[0]), ctx+", "+definition),
		{Pos: call.End(), End: call.End(), NewText: []byte(".Await()")},
	}}}
}

// awaitedTimer turns the statement <-time.After(d) into a sleep.
func (w *walk) awaitedTimer(stack []ast.Node, ctx string) []fix {
	call, i := callOf(stack)
	if call == nil || i < 2 || len(call.Args) != 1 {
		return nil
	}
	receive, ok := stack[i-1].(*ast.UnaryExpr)
	if !ok {
		return nil
	}
	return w.slept(stack[:i-1], receive, call, ctx)
}

// awaited turns `x := call` into a call that is recorded and may fail, in a function that returns an error. method is
// one that the statement may call of the result, and that goes.
func (w *walk) awaited(stack []ast.Node, text, method string) []fix {
	call, i := callOf(stack)
	if call == nil || i < 1 {
		return nil
	}
	var whole ast.Node = call
	if sel, ok := stack[i-1].(*ast.SelectorExpr); ok && i > 2 && sel.Sel.Name == method {
		if outer, ok := stack[i-2].(*ast.CallExpr); ok {
			whole, i = outer, i-2
		}
	}
	set, ok := stack[i-1].(*ast.AssignStmt)
	if !ok || set.Tok != token.DEFINE || len(set.Lhs) != 1 || set.Rhs[0] != whole {
		return nil
	}
	if method != "" && !isText(w.TypesInfo.TypeOf(set.Rhs[0])) {
		return nil
	}
	if _, ok := stack[i-2].(*ast.BlockStmt); !ok {
		return nil
	}
	zeros, ok := w.zeros(stack)
	if !ok {
		return nil
	}
	indent := w.indent(set)
	return []fix{{message: "Ask for it through the context", edits: []analysis.TextEdit{
		{Pos: set.Lhs[0].End(), End: set.Lhs[0].End(), NewText: []byte(", err")},
		replace(at(whole), text),
		{Pos: set.End(), End: set.End(), NewText: []byte("\n" + indent + "if err != nil {\n" + indent + "\treturn " + zeros + "err\n" + indent + "}")},
	}}}
}

func isText(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.String
}

// zeros is what the innermost function returns before its error, as "0, "; ok is false if it returns none.
func (w *walk) zeros(stack []ast.Node) (string, bool) {
	for _, n := range slices.Backward(stack) {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			results := w.signature(n).Results()
			if results.Len() == 0 || results.At(results.Len()-1).Type().String() != "error" {
				return "", false
			}
			var text strings.Builder
			for j := range results.Len() - 1 {
				text.WriteString(w.zero(results.At(j).Type()) + ", ")
			}
			return text.String(), true
		}
	}
	return "", false
}

// zero is the zero value of a type.
func (w *walk) zero(t types.Type) string {
	name := types.TypeString(t, func(p *types.Package) string {
		if p == w.Pkg {
			return ""
		}
		return p.Name()
	})
	if _, parameter := types.Unalias(t).(*types.TypeParam); parameter {
		return "*new(" + name + ")"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsNumeric != 0:
			return "0"
		}
		return "nil"
	case *types.Struct, *types.Array:
		return name + "{}"
	}
	return "nil"
}

// sortedFix ranges over the sorted keys of a map.
func (w *walk) sortedFix(loop *ast.RangeStmt, m *types.Map, stack []ast.Node) []fix {
	basic, ordered := m.Key().Underlying().(*types.Basic)
	if !ordered || basic.Info()&types.IsOrdered == 0 || loop.Tok != token.DEFINE || w.baseIdent(loop.X) == nil {
		return nil
	}
	text := types.ExprString(loop.X)
	key, value := nameIn(loop.Key), nameIn(loop.Value)
	if key == "" {
		if key = "key"; w.mentionsName(stack, key) {
			return nil
		}
	}
	edits := []analysis.TextEdit{replace(span{loop.Key.Pos(), loop.X.End()}, "_, "+key+" := range slices.Sorted(maps.Keys("+text+"))")}
	if value != "" {
		indent := strings.Repeat("\t", w.Fset.Position(loop.Pos()).Column)
		edits = append(edits, analysis.TextEdit{
			Pos: loop.Body.Lbrace + 1, End: loop.Body.Lbrace + 1, NewText: []byte("\n" + indent + value + " := " + text + "[" + key + "]"),
		})
	}
	return []fix{{message: "Range over the sorted keys", edits: append(edits, w.addImports(loop.Pos(), "maps", "slices")...)}}
}

func nameIn(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
		return id.Name
	}
	return ""
}

// mentionsName reports whether the function around uses a name.
func (w *walk) mentionsName(stack []ast.Node, name string) (found bool) {
	ast.Inspect(stack[0], func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// addImports imports packages of the standard library that the file does not import yet.
func (w *walk) addImports(pos token.Pos, paths ...string) (edits []analysis.TextEdit) {
	file := w.fileOf(pos)
	for _, path := range paths {
		if w.importName(pos, path) != "" {
			continue
		}
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Lparen.IsValid() {
				edits = append(edits, analysis.TextEdit{Pos: g.Lparen + 1, End: g.Lparen + 1, NewText: []byte("\n\t" + strconv.Quote(path))})
				break
			}
		}
	}
	return edits
}
