package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// when says whether a statement of a loop over a map is part of a step only because of what other steps did.
type when struct {
	// state: it depends on a variable that the loop changes, such as a count of the steps so far.
	state bool
	// first: it is the first step with this value, so what it does must depend on nothing but the value.
	first bool
}

// writes are the variables declared outside the loop that it changes.
func (o *ordered) writes() map[types.Object]bool {
	written := map[types.Object]bool{}
	write := func(target ast.Expr) {
		if id := o.baseIdent(target); id != nil && id.Name != "_" {
			if obj := o.TypesInfo.Uses[id]; obj != nil && !at(o.loop).holds(obj.Pos()) {
				written[obj] = true
			}
		}
	}
	ast.Inspect(o.loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, target := range n.Lhs {
					write(target)
				}
			}
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.CallExpr:
			if o.builtin(n, "delete") {
				write(n.Args[0])
			}
		}
		return true
	})
	return written
}

// reads notes what code in a step knows of other steps. The step's own entry of a map is nothing of others. Whether a
// map has an entry for the value says only whether this is the first step with the value.
func (o *ordered) reads(code ast.Node) { o.when = o.knows(code, nil, o.when) }

// knows is w with what code knows of other steps, except by itself, a variable that the code changes.
func (o *ordered) knows(code ast.Node, itself types.Object, w when) when {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if o.ownEntry(n) {
				return false
			}
			if id, ok := ast.Unparen(n.Index).(*ast.Ident); ok && o.is(id, o.loop.Value) {
				if base := o.baseIdent(n.X); base != nil && o.written[o.TypesInfo.Uses[base]] {
					w.first = true
					return false
				}
			}
		case *ast.Ident:
			if obj := o.TypesInfo.Uses[n]; obj != itself && o.written[obj] {
				w.state = true
			}
		}
		return true
	})
	return w
}

// effect reports whether a change of what is outside the loop may be made where it stands. What only some steps change,
// chosen by those before them, must be the same whichever they are.
func (o *ordered) effect(target, value ast.Expr) bool {
	w := o.when
	if index, ok := ast.Unparen(target).(*ast.IndexExpr); ok {
		w = o.knows(index.Index, nil, w)
	}
	if value != nil {
		w = o.knows(value, o.TypesInfo.Uses[o.baseIdent(target)], w)
	}
	if w.state && (o.varies(target, nil) || o.varies(value, nil)) {
		return false
	}
	return !w.first || !o.varies(target, o.loop.Value) && !o.varies(value, o.loop.Value)
}

// varies reports whether code uses a variable of the loop or of its body, other than but: whether it may differ from
// step to step.
func (o *ordered) varies(code, but ast.Expr) (varies bool) {
	if code == nil {
		return false
	}
	ast.Inspect(code, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !varies {
			obj := o.TypesInfo.Uses[id]
			varies = obj != nil && at(o.loop).holds(obj.Pos()) && (but == nil || !o.is(id, but))
		}
		return !varies
	})
	return varies
}
