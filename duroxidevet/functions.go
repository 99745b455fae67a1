package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
)

// function is a function or a function literal, with what its code does.
type function struct {
	// obj is what it is called through: a function, a method or a variable. A literal that is an orchestration
	// function has none.
	obj  types.Object
	node ast.Node
	body *ast.BlockStmt
	// context is a function that must be deterministic itself: it gets the context, or is a callback of a policy.
	context bool
	// outer is the function that a literal stands in.
	outer *function

	hazards []hazard
	calls   []call
	regions []region
	// schedules means that it asks for something through the context.
	schedules bool
	// cause is why a helper is not deterministic.
	cause *hazardFact
}

// region is a piece of an orchestration function in which nothing may be asked for.
type region struct {
	hazard

	calls []call
}

// collect reads all functions of the package.
func (c *checker) collect() {
	c.byObject = map[types.Object]*function{}
	for _, file := range c.Files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Body != nil {
					c.read(&function{obj: c.TypesInfo.Defs[decl.Name], node: decl, body: decl.Body})
				}
			case *ast.GenDecl:
				c.readVariables(decl)
			}
		}
	}
}

// read reads one function and what is inside it.
func (c *checker) read(f *function) {
	if c.trusts(f.node.Pos()) {
		return
	}
	f.context = f.context || takesContext(c.signature(f.node))
	c.functions = append(c.functions, f)
	if f.obj != nil {
		c.byObject[f.obj] = f
	}
	w := &walk{checker: c, f: f}
	ast.PreorderStack(f.body, []ast.Node{f.node}, w.visit)
}

func (c *checker) signature(n ast.Node) *types.Signature {
	var t types.Type
	switch n := n.(type) {
	case *ast.FuncDecl:
		t = c.TypesInfo.Defs[n.Name].Type()
	case *ast.FuncLit:
		t = c.TypesInfo.TypeOf(n)
	}
	sig, ok := t.(*types.Signature)
	if !ok {
		return types.NewSignatureType(nil, nil, nil, nil, nil, false)
	}
	return sig
}

// readVariables reads the variables of the package that hold functions, and the functions in the values of all others.
func (c *checker) readVariables(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, value := range v.Values {
			var name types.Object
			if len(v.Names) == len(v.Values) {
				name = c.TypesInfo.Defs[v.Names[i]]
			}
			if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok {
				c.read(&function{obj: name, node: lit, body: lit.Body})
				continue
			}
			c.readValue(name, value)
		}
	}
}

// readValue reads a variable's value: the name of a function is one by another name, and in all else only orchestration
// functions count.
func (c *checker) readValue(name types.Object, value ast.Expr) {
	f := &function{obj: name, node: value}
	w := &walk{checker: c, f: f}
	if id := lastIdent(value); id != nil && name != nil {
		if target, ok := c.TypesInfo.Uses[id].(*types.Func); ok && !c.trusts(value.Pos()) {
			w.named(target, span{value.Pos(), value.End()}, true)
			c.functions = append(c.functions, f)
			c.byObject[name] = f
			return
		}
	}
	ast.PreorderStack(value, nil, func(n ast.Node, stack []ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			w.root(lit, stack)
			return false
		}
		return true
	})
}

// root reads a literal that is an orchestration function, and reports whether it is one.
func (w *walk) root(lit *ast.FuncLit, stack []ast.Node) bool {
	callback := w.policyCallback(stack)
	if !callback && !takesContext(w.signature(lit)) {
		return false
	}
	w.read(&function{node: lit, body: lit.Body, context: true, outer: w.f})
	return true
}

// policyCallback reports whether a literal in that place is a function of a retry.Policy, which a replay
// calls again.
func (w *walk) policyCallback(stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	switch parent := stack[len(stack)-1].(type) {
	case *ast.KeyValueExpr:
		if lit, ok := stack[len(stack)-2].(*ast.CompositeLit); ok {
			return isOf(w.TypesInfo.TypeOf(lit), retrying, "Policy")
		}
	case *ast.CallExpr:
		return isOf(w.TypesInfo.TypeOf(parent.Fun), retrying, "Backoff")
	}
	return false
}

// lastIdent is the name at the end of a.b, a[T] and a, nil for all other expressions.
func lastIdent(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return lastIdent(e.X)
	case *ast.IndexListExpr:
		return lastIdent(e.X)
	}
	return nil
}

// baseIdent is the variable that an expression reaches into: a in a.b[i].c and *a.
func (c *checker) baseIdent(e ast.Expr) *ast.Ident {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if _, imported := c.TypesInfo.Uses[id].(*types.PkgName); imported {
					return x.Sel
				}
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// packageLevel reports whether a variable belongs to a package and not to a function.
func packageLevel(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// nameOf is an object's name as a reader of the finding knows it: time.Now, sync.Mutex.Lock, helper.
func (c *checker) nameOf(obj types.Object) string {
	name := obj.Name()
	if typ := receiver(obj); typ != "" {
		name = typ + "." + name
	}
	if obj.Pkg() == nil || obj.Pkg() == c.Pkg {
		return name
	}
	return obj.Pkg().Name() + "." + name
}

// placeOf is file and line without folders.
func placeOf(at token.Position) string {
	return filepath.Base(at.Filename) + ":" + strconv.Itoa(at.Line)
}
