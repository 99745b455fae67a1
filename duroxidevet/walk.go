package duroxidevet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// walk reads the code of one function.
type walk struct {
	*checker

	f *function
	// targets are names that are assigned to, which are no reads.
	targets map[*ast.Ident]bool
}

// add notes a hazard, unless its place is stated to be deterministic.
func (w *walk) add(h hazard) {
	if !w.trusts(h.pos) {
		w.f.hazards = append(w.f.hazards, h)
	}
}

func at(n ast.Node) span { return span{n.Pos(), n.End()} }

// visit looks at a node and reports whether to go on inside it.
func (w *walk) visit(n ast.Node, stack []ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		return w.literal(n, stack)
	case *ast.GoStmt:
		w.goroutine(n)
		return false
	case *ast.SelectStmt:
		w.channel(n, "select waits for channels", nil)
	case *ast.SendStmt:
		w.channel(n, "a send may block on another goroutine", stack)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !w.afterTimer(n) {
			w.channel(n, "a receive may block on another goroutine", stack)
		}
	case *ast.RangeStmt:
		w.ranged(n, stack)
	case *ast.DeferStmt:
		w.deferred(n)
	case *ast.IfStmt:
		w.replaying(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for i, target := range n.Lhs {
				w.assigned(target, valueOf(n, i))
			}
		}
	case *ast.IncDecStmt:
		w.assigned(n.X, nil)
	case *ast.CallExpr:
		w.call(n)
	case *ast.Ident:
		w.use(n, stack)
	}
	return true
}

func valueOf(n *ast.AssignStmt, i int) ast.Expr {
	if len(n.Lhs) == len(n.Rhs) {
		return n.Rhs[i]
	}
	return nil
}

// literal reports whether a literal is run by the function that it stands in, so that its code counts there.
func (w *walk) literal(lit *ast.FuncLit, stack []ast.Node) bool {
	parent := stack[len(stack)-1]
	if call, ok := parent.(*ast.CallExpr); ok && w.isActivityNew(call) {
		if id := w.usesContext(lit); id != nil && w.f.context {
			w.add(hazard{span: at(id), kind: "context", what: "the activity uses the orchestration's context", instead: "give the activity what it needs as input"})
		}
		return false
	}
	if w.f.context {
		return true
	}
	if w.root(lit, stack) {
		return false
	}
	switch parent.(type) {
	case *ast.ReturnStmt, *ast.KeyValueExpr, *ast.CompositeLit:
		return false // it is not known who runs it
	}
	return true
}

// usesContext finds a use of an orchestration's context that comes from outside the node.
func (w *walk) usesContext(n ast.Node) (found *ast.Ident) {
	ast.Inspect(n, func(n2 ast.Node) bool {
		if id, ok := n2.(*ast.Ident); ok && found == nil {
			if v, ok := w.TypesInfo.Uses[id].(*types.Var); ok && isContext(v.Type()) && !at(n).holds(v.Pos()) {
				found = id
			}
		}
		return found == nil
	})
	return found
}

// goroutine looks at a go statement. What the goroutine does is no part of the function.
func (w *walk) goroutine(n *ast.GoStmt) {
	what := "a goroutine runs beside the orchestration in an order that no replay repeats"
	if w.usesContext(n) != nil {
		what = "another goroutine uses the orchestration's context"
	}
	w.add(hazard{span: at(n), kind: "goroutine", what: what, instead: parallel.instead, weak: true})
}

// channel looks at an operation on a channel, which counts once in a select.
func (w *walk) channel(n ast.Node, what string, stack []ast.Node) {
	for _, around := range slices.Backward(stack) {
		if clause, ok := around.(*ast.CommClause); ok {
			if clause.Comm != nil && at(clause.Comm).holds(n.Pos()) {
				return
			}
			break
		}
	}
	w.add(hazard{
		span: at(n), kind: "channel", what: what, weak: true,
		instead: "use orchestration.NewChannel between blocks, and an orchestration.Event or Queue for what comes from outside",
	})
}

// ranged looks at loops over channels, and over maps.
func (w *walk) ranged(n *ast.RangeStmt, stack []ast.Node) {
	if n.Tok == token.ASSIGN {
		for _, target := range []ast.Expr{n.Key, n.Value} {
			if target != nil {
				w.assigned(target, nil)
			}
		}
	}
	switch t := w.TypesInfo.TypeOf(n.X).Underlying().(type) {
	case *types.Chan:
		w.channel(&ast.RangeStmt{For: n.For, X: n.X, Body: &ast.BlockStmt{Lbrace: n.Body.Lbrace, Rbrace: n.Body.Lbrace}}, "a loop over a channel waits for another goroutine", nil)
	case *types.Map:
		if harmless := w.order(n, stack); !harmless {
			w.add(hazard{
				span: span{n.Pos(), n.X.End()}, kind: "maporder", what: "the order of a map, another one each time, can reach the result or a call",
				instead: "range over slices.Sorted(maps.Keys(m))", weak: true, fixes: w.sortedFix(n, t, stack),
			})
		}
	}
}

// deferred looks at what runs when the function is left, also in the midst of a wait.
func (w *walk) deferred(n *ast.DeferStmt) {
	if !w.f.context {
		return
	}
	var calls []call
	if lit, ok := n.Call.Fun.(*ast.FuncLit); ok {
		calls = w.callsIn(lit.Body)
	} else if obj := w.callee(n.Call); obj != nil {
		calls = []call{{span: at(n.Call), callee: obj}}
	}
	w.region(n, hazard{
		span: at(n), kind: "defer", what: "a deferred call asks for something, and deferred calls also run when the function is only put aside",
		instead: "do it before the function returns",
	}, calls)
}

// replaying looks at decisions by Context.Replaying.
func (w *walk) replaying(n *ast.IfStmt) {
	asks := slices.ContainsFunc(w.callsIn(n.Cond), func(c call) bool {
		return c.callee.Pkg() != nil && c.callee.Pkg().Path() == orchestration && c.callee.Name() == "Replaying"
	})
	if !asks {
		return
	}
	calls := w.callsIn(n.Body)
	if n.Else != nil {
		calls = append(calls, w.callsIn(n.Else)...)
	}
	w.region(n, hazard{
		span: at(n.Cond), kind: "replaying", what: "what is asked for depends on Context.Replaying, so that a replay asks for something else",
		instead: "use it for logging only",
	}, calls)
}

func (w *walk) region(n ast.Node, h hazard, calls []call) {
	if !w.trusts(n.Pos()) {
		w.f.regions = append(w.f.regions, region{hazard: h, calls: calls})
	}
}

// callsIn are the calls in a node.
func (w *walk) callsIn(n ast.Node) (calls []call) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if obj := w.callee(c); obj != nil {
				calls = append(calls, call{span: at(c), callee: obj})
			}
		}
		return true
	})
	return calls
}

// callee is the function or the variable that is called, nil if it is neither.
func (c *checker) callee(n *ast.CallExpr) types.Object {
	id := lastIdent(n.Fun)
	if id == nil {
		return nil
	}
	switch obj := c.TypesInfo.Uses[id].(type) {
	case *types.Func:
		return obj.Origin()
	case *types.Var:
		return obj
	}
	return nil
}

// use looks at a name.
func (w *walk) use(id *ast.Ident, stack []ast.Node) {
	switch obj := w.TypesInfo.Uses[id].(type) {
	case *types.Func:
		node, called := usedAs(id, stack)
		if !called && w.isActivityArgument(stack, node) {
			return
		}
		w.named(obj, at(node), called, stack...)
	case *types.Var:
		w.variable(id, obj, stack)
	}
}

// named looks at a use of a function.
func (w *walk) named(f *types.Func, where span, called bool, stack ...ast.Node) {
	f = f.Origin()
	if recorded(f) {
		w.f.schedules = true
	}
	r := ruleFor(f)
	switch {
	case r == unordered:
		if called && !w.sortedAfterwards(stack) {
			w.add(hazard{span: where, kind: r.kind, what: w.nameOf(f) + " " + r.does, instead: r.instead, weak: true})
		}
	case r != nil && called:
		w.add(hazard{span: where, kind: r.kind, what: w.nameOf(f) + " " + r.does, instead: r.instead, weak: r.weak, direct: r.direct, fixes: w.callFixes(f, stack)})
	case r != nil:
		w.add(hazard{span: where, kind: r.kind, what: w.nameOf(f) + " " + r.does, instead: r.instead, weak: r.weak, direct: true})
	case !w.trusts(where.pos):
		w.f.calls = append(w.f.calls, call{span: where, callee: f, called: called, fixes: w.activityFix(f, stack)})
	}
}

// usedAs returns the call of a function, or its name with the package where it is used as a value.
func usedAs(id *ast.Ident, stack []ast.Node) (node ast.Node, called bool) {
	node = id
	for _, around := range slices.Backward(stack) {
		switch parent := around.(type) {
		case *ast.SelectorExpr:
			if parent.Sel != id {
				return node, false
			}
			node = parent
		case *ast.IndexExpr:
			if parent.X != node {
				return node, false
			}
			node = parent
		case *ast.IndexListExpr:
			node = parent
		case *ast.ParenExpr:
			node = parent
		case *ast.CallExpr:
			if parent.Fun == node {
				return parent, true
			}
			return node, false
		default:
			return node, false
		}
	}
	return node, false
}

// pointerVerb is a verb that prints an address.
var pointerVerb = regexp.MustCompile(`(^|[^%])(%%)*%[-+# 0]*\d*p`)

// call looks at what a call does with its arguments and its receiver.
func (w *walk) call(n *ast.CallExpr) {
	obj := w.callee(n)
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && obj == nil {
		if b, ok := w.TypesInfo.Uses[id].(*types.Builtin); ok && writesArgument[b.Name()] {
			w.assigned(n.Args[0], nil)
		}
		return
	}
	if obj == nil || obj.Pkg() == nil {
		return
	}
	switch obj.Pkg().Path() {
	case "fmt":
		w.addresses(n)
	case "iter":
		if id := w.usesContext(n); id != nil && w.f.context {
			w.add(hazard{span: at(n), kind: "goroutine", what: "iter.Pull runs the iterator in another goroutine, which uses the orchestration's context", instead: "range over the iterator"})
		}
	case "sync/atomic":
		w.atomic(n, obj)
	case "log/slog":
		w.logged(n, obj)
	default:
		if w.methods[obj] {
			w.received(n)
		}
	}
}

// writesArgument are the built-in functions that change their first argument.
var writesArgument = map[string]bool{"delete": true, "clear": true, "copy": true}

// addresses looks for formats that print where something is in memory.
func (w *walk) addresses(n *ast.CallExpr) {
	for _, arg := range n.Args {
		value := w.TypesInfo.Types[arg].Value
		if value != nil && value.Kind() == constant.String && pointerVerb.MatchString(constant.StringVal(value)) {
			w.add(hazard{span: at(arg), kind: "address", what: "%p prints an address, another one in each process", instead: "print an id of your own", direct: true})
		}
	}
}

// atomic looks at operations on what goroutines share.
func (w *walk) atomic(n *ast.CallExpr, obj types.Object) {
	if receiver(obj) != "" {
		w.received(n)
	} else if len(n.Args) > 0 {
		w.assigned(n.Args[0], nil)
	}
}

// received looks at a call of a method that writes its receiver.
func (w *walk) received(n *ast.CallExpr) {
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
		w.assigned(sel.X, nil)
	}
}

// logged looks at a logger that does not come from the context: a variable of the package, or the default.
func (w *walk) logged(n *ast.CallExpr, obj types.Object) {
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || receiver(obj) != "Logger" || known["log/slog"][obj.Name()] == nil {
		return
	}
	shared := false
	if c, ok := ast.Unparen(sel.X).(*ast.CallExpr); ok {
		f := w.callee(c)
		shared = f != nil && f.Name() == "Default" && f.Pkg() != nil && f.Pkg().Path() == "log/slog"
	} else if id := w.baseIdent(sel.X); id != nil {
		shared = packageLevel(w.TypesInfo.Uses[id])
	}
	if shared {
		w.add(hazard{span: at(n), kind: "io", what: "the logger writes again in every replay", instead: "use ctx.Logger(base)"})
	}
}

// afterTimer reports whether a receive waits for time.After or the like, whose call is a finding already.
func (w *walk) afterTimer(n *ast.UnaryExpr) bool {
	c, ok := ast.Unparen(n.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	obj := w.callee(c)
	return obj != nil && ruleFor(obj) == timer
}
