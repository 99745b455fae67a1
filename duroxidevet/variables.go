package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// findWrites finds the package's variables that are written after they were declared, and the methods that write what
// they belong to. What init functions write is fixed before anything runs, and what only a test replaces is fixed
// outside it.
func (c *checker) findWrites() {
	c.writes, c.methods = map[types.Object]token.Pos{}, map[types.Object]bool{}
	c.eachFunction(func(decl *ast.FuncDecl) {
		receiver := c.receiverOf(decl)
		if receiver == nil {
			return
		}
		c.eachWrite(decl.Body, func(target ast.Expr) {
			if id := c.baseIdent(target); id != nil && id != target && c.TypesInfo.Uses[id] == receiver {
				c.methods[c.TypesInfo.Defs[decl.Name]] = true
			}
		})
	})
	c.eachFunction(func(decl *ast.FuncDecl) {
		if decl.Name.Name == "init" && decl.Recv == nil {
			return
		}
		c.eachWrite(decl.Body, c.noteWrite)
	})
	for _, file := range c.Files {
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok {
				c.eachWrite(g, c.noteWrite)
			}
		}
	}
	for obj, pos := range c.writes {
		if obj.Exported() && obj.Pkg() == c.Pkg {
			c.ExportObjectFact(obj, &mutableFact{Where: c.where(pos)})
		}
	}
}

// noteWrite notes a write of a variable of a package.
func (c *checker) noteWrite(target ast.Expr) {
	id := c.baseIdent(target)
	if id == nil {
		return
	}
	obj := c.TypesInfo.Uses[id]
	if obj == nil || !packageLevel(obj) || c.inTest(target.Pos()) && !c.inTest(obj.Pos()) {
		return
	}
	if _, ok := c.writes[obj]; !ok {
		c.writes[obj] = target.Pos()
	}
}

func (c *checker) inTest(pos token.Pos) bool {
	return strings.HasSuffix(c.Fset.Position(pos).Filename, "_test.go")
}

func (c *checker) eachFunction(do func(decl *ast.FuncDecl)) {
	for _, file := range c.Files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				do(f)
			}
		}
	}
}

// receiverOf is a method's receiver if the method can write it, nil otherwise.
func (c *checker) receiverOf(decl *ast.FuncDecl) types.Object {
	if decl.Recv == nil || len(decl.Recv.List[0].Names) == 0 {
		return nil
	}
	obj := c.TypesInfo.Defs[decl.Recv.List[0].Names[0]]
	if obj == nil {
		return nil
	}
	switch obj.Type().Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return obj
	}
	return nil
}

// eachWrite finds what is assigned to.
func (c *checker) eachWrite(n ast.Node, do func(target ast.Expr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				if id, ok := target.(*ast.Ident); n.Tok != token.DEFINE || ok && c.TypesInfo.Uses[id] != nil {
					do(target)
				}
			}
		case *ast.IncDecStmt:
			do(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN && n.Key != nil {
				do(n.Key)
			}
			if n.Tok == token.ASSIGN && n.Value != nil {
				do(n.Value)
			}
		case *ast.CallExpr:
			c.writesOfCall(n, do)
		}
		return true
	})
}

// writesOfCall finds what a call writes: the first argument of delete and its like, the target of a decoder or a flag,
// and the receiver of a method that writes it.
func (c *checker) writesOfCall(n *ast.CallExpr, do func(target ast.Expr)) {
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
		if b, ok := c.TypesInfo.Uses[id].(*types.Builtin); ok && writesArgument[b.Name()] {
			do(n.Args[0])
			return
		}
	}
	obj := c.callee(n)
	if obj == nil || obj.Pkg() == nil {
		return
	}
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && (c.methods[obj] || obj.Pkg().Path() == "sync/atomic" && receiver(obj) != "" && obj.Name() != "Load") {
		do(sel.X)
	}
	name := obj.Name()
	fills := strings.HasPrefix(name, "Unmarshal") || strings.HasPrefix(name, "Scan") || name == "Decode" || strings.HasSuffix(name, "Var") ||
		obj.Pkg().Path() == "sync/atomic" && !strings.HasPrefix(name, "Load")
	for _, arg := range n.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && fills && u.Op == token.AND {
			do(u.X)
		}
	}
}

// assigned looks at a write: of a variable that outlives the run of the function, a replay writes it again.
func (w *walk) assigned(target, value ast.Expr) {
	id := w.baseIdent(target)
	if id == nil {
		return
	}
	obj := w.TypesInfo.Uses[id]
	if obj == nil {
		return
	}
	owner := w.outlives(obj, id != target)
	if owner == "" {
		return
	}
	if w.targets == nil {
		w.targets = map[*ast.Ident]bool{}
	}
	w.targets[id] = true
	h := hazard{
		span: at(target), kind: "global", what: "a write of " + id.Name + ", which is " + owner + " and outlives this run, is repeated by a replay",
		instead: "use a variable of the function, an orchestration.Key, or an activity", weak: true,
	}
	if value != nil && isContext(w.TypesInfo.TypeOf(value)) {
		h.kind, h.what, h.instead = "context", "the context is stored in "+id.Name+", which is "+owner+" and outlives this run", "pass it as an argument"
	}
	w.add(h)
}

// outlives says what a variable is that outlives one run of an orchestration function, empty if it does not.
func (w *walk) outlives(obj types.Object, inside bool) string {
	switch {
	case packageLevel(obj):
		return "a variable of the package"
	case !w.f.context:
		return ""
	case w.captured(obj):
		return "declared outside the orchestration"
	case inside && w.sharedReceiver(obj):
		return "shared by all instances"
	}
	return ""
}

// captured reports whether an orchestration function is a literal that takes the variable from around it.
func (w *walk) captured(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && w.f.outer != nil && !v.IsField() && !packageLevel(v) && !at(w.f.node).holds(v.Pos())
}

// sharedReceiver reports whether a variable is the receiver of a method that is an orchestration by itself, as in
// orchestration.New("Order", shop.order).
func (w *walk) sharedReceiver(obj types.Object) bool {
	decl, ok := w.f.node.(*ast.FuncDecl)
	return ok && w.roots[w.f.obj] && w.receiverOf(decl) == obj
}

// variable looks at a read of a variable.
func (w *walk) variable(id *ast.Ident, v *types.Var, stack []ast.Node) {
	node, called := usedAs(id, stack)
	if _, ok := w.activities[v]; ok && called && !w.trusts(id.Pos()) {
		w.f.calls = append(w.f.calls, call{span: at(node), callee: v, called: true})
		return
	}
	switch {
	case isContext(v.Type()):
		w.ofBlock(id, v, stack)
	case packageLevel(v):
		w.global(id, v, stack)
	case w.f.context && w.captured(v) && !w.targets[id] && w.laterWritten(v):
		w.add(hazard{span: at(id), kind: "global", what: id.Name + " is declared outside the orchestration and changes", instead: "pass it as input"})
	}
}

// global looks at a variable of a package.
func (w *walk) global(id *ast.Ident, v *types.Var, stack []ast.Node) {
	node, called := usedAs(id, stack)
	if r := ruleFor(v); r != nil {
		w.add(hazard{span: at(id), kind: r.kind, what: w.nameOf(v) + " " + r.does, instead: r.instead, weak: r.weak})
		return
	}
	where := ""
	if pos, ok := w.writes[v]; ok {
		where = w.where(pos)
	} else if fact := new(mutableFact); v.Pkg() != w.Pkg && w.ImportObjectFact(v, fact) {
		where = fact.Where
	}
	switch {
	case where != "" && !w.targets[id]:
		w.add(hazard{
			span: at(id), kind: "global", weak: true, instead: "pass it as input, or read it in an activity",
			what: w.nameOf(v) + " is a variable that " + where + " writes, so a replay may read something else",
		})
	case called && !w.trusts(id.Pos()):
		w.f.calls = append(w.f.calls, call{span: at(node), callee: v, called: true})
	}
}

// laterWritten reports whether a variable around an orchestration function is written behind it, or by another literal.
// What is written before belongs to making the definition.
func (w *walk) laterWritten(v *types.Var) (found bool) {
	outer := w.f.outer
	for outer.outer != nil {
		outer = outer.outer
	}
	if outer.node == nil {
		return false
	}
	ast.PreorderStack(outer.node, nil, func(n ast.Node, stack []ast.Node) bool {
		if n == w.f.node || found {
			return false
		}
		if _, ok := n.(ast.Stmt); !ok {
			return true
		}
		switch n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt:
			w.eachWrite(n, func(target ast.Expr) {
				id := w.baseIdent(target)
				if id != nil && w.TypesInfo.Uses[id] == v && (target.Pos() > w.f.node.End() || insideLiteral(stack)) {
					found = true
				}
			})
			return !found
		}
		return true
	})
	return found
}

func insideLiteral(stack []ast.Node) bool {
	for _, n := range stack {
		if _, ok := n.(*ast.FuncLit); ok {
			return true
		}
	}
	return false
}
