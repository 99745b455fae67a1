package duroxidevet

import (
	"go/ast"
	"go/types"
	"slices"
)

// findActivities finds the functions that definitions are made of: those of activities, which an orchestration must not
// call itself, and those of orchestrations.
func (c *checker) findActivities() {
	c.activities, c.roots = map[types.Object]string{}, map[types.Object]bool{}
	for _, file := range c.Files {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			if n, ok := n.(*ast.CallExpr); ok {
				c.definition(n, stack)
			}
			return true
		})
	}
	for obj, name := range c.activities {
		if f, ok := obj.(*types.Func); ok && f.Pkg() == c.Pkg && f.Exported() {
			c.ExportObjectFact(f, &activityFact{Definition: name})
		}
	}
}

// definition looks at a call that gives a definition its function.
func (c *checker) definition(n *ast.CallExpr, stack []ast.Node) {
	fn, pkg := c.given(n)
	if fn == nil {
		return
	}
	id := lastIdent(fn)
	if id == nil {
		return
	}
	obj := c.TypesInfo.Uses[id]
	if fn, ok := obj.(*types.Func); ok {
		obj = fn.Origin()
	}
	switch {
	case obj == nil:
	case pkg == orchestration:
		c.roots[obj] = true
	case pkg == activity:
		c.activities[obj] = definedAs(n, stack)
	}
}

// definedAs is the variable that holds a definition, empty if there is none.
func definedAs(n *ast.CallExpr, stack []ast.Node) string {
	spec, ok := stack[len(stack)-1].(*ast.ValueSpec)
	if !ok || len(spec.Names) != len(spec.Values) {
		return ""
	}
	for i, value := range spec.Values {
		if value == n {
			return spec.Names[i].Name
		}
	}
	return ""
}

// given returns the function that a call of New or Implement gives a definition, and the package of the definition. It
// is nil for all other calls.
func (c *checker) given(n *ast.CallExpr) (fn ast.Expr, pkg string) {
	f := c.callee(n)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != orchestration && f.Pkg().Path() != activity {
		return nil, ""
	}
	switch {
	case f.Name() == "New" && receiver(f) == "" && len(n.Args) == 2:
		return n.Args[1], f.Pkg().Path()
	case f.Name() == "Implement" && receiver(f) == "Definition" && len(n.Args) == 1:
		return n.Args[0], f.Pkg().Path()
	}
	return nil, ""
}

// isActivityNew reports whether a call gives an activity its function.
func (c *checker) isActivityNew(n *ast.CallExpr) bool {
	_, pkg := c.given(n)
	return pkg == activity
}

// isActivityArgument reports whether a function is given to an activity's definition.
func (c *checker) isActivityArgument(stack []ast.Node, node ast.Node) bool {
	for _, around := range slices.Backward(stack) {
		if n, ok := around.(*ast.CallExpr); ok {
			return c.isActivityNew(n) && at(n).holds(node.Pos())
		}
	}
	return false
}

// ofBlock looks at a context in a block of orchestration.Go or Map, which has one of its own.
func (w *walk) ofBlock(id *ast.Ident, v *types.Var, stack []ast.Node) {
	for _, around := range slices.Backward(stack) {
		lit, ok := around.(*ast.FuncLit)
		if !ok || !takesContext(w.signature(lit)) {
			continue
		}
		if !at(lit).holds(v.Pos()) && !v.IsField() {
			w.add(hazard{
				span: at(id), kind: "block", what: id.Name + " is the context outside this block", instead: "use the context that the block is given",
				fixes: renameFix(id, w.contextName(lit)),
			})
		}
		return
	}
}

// contextName is the name of a function's context, empty if it has none.
func (c *checker) contextName(n ast.Node) string {
	var params *ast.FieldList
	switch n := n.(type) {
	case *ast.FuncLit:
		params = n.Type.Params
	case *ast.FuncDecl:
		params = n.Type.Params
	default:
		return ""
	}
	for _, p := range params.List {
		for _, name := range p.Names {
			if obj := c.TypesInfo.Defs[name]; obj != nil && isContext(obj.Type()) && name.Name != "_" {
				return name.Name
			}
		}
	}
	return ""
}
