package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// order reports whether the order of a map does no harm in a loop over it: each step does something that gives the same
// whatever came before, such as a sum, an entry of another map under the same key, or a list that is sorted behind the loop.
func (w *walk) order(loop *ast.RangeStmt, stack []ast.Node) bool {
	o := &ordered{walk: w, loop: loop, stack: stack}
	if !o.statements(loop.Body.List) {
		return false
	}
	return !o.stops || !o.adds
}

// ordered is what is known of one loop over a map.
type ordered struct {
	*walk

	loop  *ast.RangeStmt
	stack []ast.Node
	// stops is a loop that may end before its last step, and adds one whose steps gather something. A loop that does
	// both gathers what came first. A return leaves what was gathered behind.
	stops, adds bool
	// ends is a loop with a return, of the values in returned.
	ends     bool
	returned []string
}

func (o *ordered) statements(list []ast.Stmt) bool {
	for _, s := range list {
		if !o.statement(s) {
			return false
		}
	}
	return true
}

func (o *ordered) statement(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		return true
	case *ast.BlockStmt:
		return o.statements(s.List)
	case *ast.IncDecStmt:
		o.adds = true
		return o.local(s.X) || o.integer(s.X) || o.ownEntry(s.X)
	case *ast.ExprStmt:
		return o.deletes(s.X)
	case *ast.DeclStmt:
		return o.pure(s)
	case *ast.BranchStmt:
		o.stops = o.stops || s.Tok != token.CONTINUE
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	case *ast.ReturnStmt:
		return o.returns(s)
	case *ast.AssignStmt:
		return o.assigns(s)
	case *ast.IfStmt:
		return o.condition(s)
	case *ast.RangeStmt:
		return o.pure(s.X) && o.statements(s.Body.List)
	}
	return false
}

// condition looks at an if. The search for the largest or the smallest value is one whose order does no harm.
func (o *ordered) condition(s *ast.IfStmt) bool {
	if !o.pure(s.Cond) || s.Init != nil && !o.statement(s.Init) {
		return false
	}
	if o.extreme(s) {
		o.adds = true
		return true
	}
	return o.statement(s.Body) && (s.Else == nil || o.statement(s.Else))
}

// extreme reports whether an if is `if v > most { most = v }`.
func (o *ordered) extreme(s *ast.IfStmt) bool {
	cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	compares := ok && (cond.Op == token.LSS || cond.Op == token.GTR || cond.Op == token.LEQ || cond.Op == token.GEQ)
	if !compares || s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	set, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return false
	}
	to, from, x, y := types.ExprString(set.Lhs[0]), types.ExprString(set.Rhs[0]), types.ExprString(cond.X), types.ExprString(cond.Y)
	return to == x && from == y || to == y && from == x
}

// larger reports whether an assignment is `most = max(most, v)`, or the same with min.
func (o *ordered) larger(target, value ast.Expr) bool {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := o.TypesInfo.Uses[id].(*types.Builtin)
	same := func(arg ast.Expr) bool { return types.ExprString(arg) == types.ExprString(target) }
	return ok && (b.Name() == "max" || b.Name() == "min") && slices.ContainsFunc(call.Args, same)
}

// returns looks at a return inside the loop: every step that returns must return the same constants.
func (o *ordered) returns(s *ast.ReturnStmt) bool {
	var values []string
	for _, e := range s.Results {
		if !o.constant(e) {
			return false
		}
		values = append(values, types.ExprString(e))
	}
	if o.ends && !slices.Equal(o.returned, values) {
		return false
	}
	o.ends, o.returned = true, values
	return true
}

func (o *ordered) constant(e ast.Expr) bool {
	tv := o.TypesInfo.Types[e]
	if tv.Value != nil || tv.IsNil() {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return packageLevel(o.TypesInfo.Uses[e]) // an error that is always the same
	case *ast.CallExpr:
		f := o.callee(e)
		return f != nil && f.Pkg() != nil && makesError[f.Pkg().Path()+"."+f.Name()] && !slices.ContainsFunc(e.Args, func(arg ast.Expr) bool { return !o.constant(arg) })
	}
	return false
}

// makesError are the functions that make the same error of the same arguments.
var makesError = map[string]bool{"errors.New": true, "fmt.Errorf": true}

// assigns looks at an assignment.
func (o *ordered) assigns(s *ast.AssignStmt) bool {
	for _, value := range s.Rhs {
		if !o.pure(value) {
			return false
		}
	}
	if s.Tok == token.DEFINE {
		return true
	}
	for i, target := range s.Lhs {
		if !o.assignment(s, target, valueOf(s, i)) {
			return false
		}
	}
	return true
}

func (o *ordered) assignment(s *ast.AssignStmt, target, value ast.Expr) bool {
	if o.local(target) {
		return true
	}
	switch s.Tok {
	case token.ADD_ASSIGN, token.SUB_ASSIGN, token.MUL_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
		o.adds = true
		return o.integer(target) || o.ownEntry(target)
	case token.ASSIGN:
		if value != nil && o.constant(value) {
			return true
		}
		o.adds = true
		return o.ownEntry(target) || o.gathers(target, value) || o.larger(target, value)
	default:
		return false
	}
}

// local reports whether a variable is declared in the loop.
func (o *ordered) local(e ast.Expr) bool {
	id := o.baseIdent(e)
	if id == nil {
		return false
	}
	if id.Name == "_" {
		return true
	}
	obj := o.TypesInfo.Uses[id]
	return obj != nil && at(o.loop.Body).holds(obj.Pos()) && id == ast.Unparen(e)
}

// integer reports whether adding in another order gives the same: not so for floating point and for texts.
func (o *ordered) integer(e ast.Expr) bool {
	basic, ok := o.TypesInfo.TypeOf(e).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// ownEntry reports whether a target is the entry of a map under the key of this step, which no other step writes.
func (o *ordered) ownEntry(e ast.Expr) bool {
	index, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, isMap := o.TypesInfo.TypeOf(index.X).Underlying().(*types.Map)
	return isMap && o.isKey(index.Index)
}

// isKey reports whether an expression is the key of the loop.
func (o *ordered) isKey(e ast.Expr) bool {
	key, ok := o.loop.Key.(*ast.Ident)
	used, ok2 := ast.Unparen(e).(*ast.Ident)
	return ok && ok2 && o.TypesInfo.Uses[used] != nil && o.TypesInfo.Uses[used] == o.TypesInfo.ObjectOf(key)
}

// deletes reports whether a call is delete of the entry of this step.
func (o *ordered) deletes(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := o.TypesInfo.Uses[id].(*types.Builtin)
	return ok && b.Name() == "delete"
}

// gathers reports whether an assignment appends to a list that is sorted behind the loop, before anything else uses it.
func (o *ordered) gathers(target, value ast.Expr) bool {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if value == nil || !ok || len(call.Args) == 0 {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok || id.Name != "append" || types.ExprString(call.Args[0]) != types.ExprString(target) {
		return false
	}
	list := o.baseIdent(target)
	return list != nil && list == target && o.sortedBehind(o.loop, o.TypesInfo.Uses[list], o.stack)
}

// sortedBehind reports whether the next statement that uses a list behind n, in n's block or one around it, sorts it. What
// only asks for its length does not use it.
func (w *walk) sortedBehind(n ast.Node, list types.Object, stack []ast.Node) bool {
	if list == nil {
		return false
	}
	for _, around := range slices.Backward(stack) {
		var statements []ast.Stmt
		switch b := around.(type) {
		case *ast.BlockStmt:
			statements = b.List
		case *ast.CaseClause:
			statements = b.Body
		case *ast.CommClause:
			statements = b.Body
		case *ast.FuncLit:
			return false
		}
		for _, s := range statements {
			if s.Pos() >= n.End() && w.mentions(s, list) {
				return w.sorts(s, list)
			}
		}
	}
	return false
}

func (w *walk) mentions(n ast.Node, obj types.Object) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "len" {
				return false
			}
		}
		id, ok := n.(*ast.Ident)
		found = found || ok && w.TypesInfo.Uses[id] == obj
		return !found
	})
	return found
}

// sorts reports whether a statement sorts a list.
func (w *walk) sorts(s ast.Stmt, list types.Object) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	f := w.callee(call)
	return f != nil && f.Pkg() != nil && sorting[f.Pkg().Path()+"."+f.Name()] && w.mentions(call.Args[0], list)
}

// sorting are the functions that put a list in an order that does not depend on the one before.
var sorting = map[string]bool{
	"sort.Strings": true, "sort.Ints": true, "sort.Float64s": true, "sort.Sort": true, "sort.Stable": true, "sort.Slice": true, "sort.SliceStable": true,
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true,
}

// absorbing are the functions to which the order of an iterator makes no difference.
var absorbing = map[string]bool{"slices.Sorted": true, "slices.SortedFunc": true, "maps.Collect": true, "maps.Insert": true}

// sortedAfterwards reports whether the order of maps.Keys and its like, the last node of the stack's call, does no harm.
func (w *walk) sortedAfterwards(stack []ast.Node) bool {
	calls := 0
	for i, n := range slices.Backward(stack) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if calls++; calls == 1 {
				continue // the call itself
			}
			f := w.callee(n)
			if f == nil || f.Pkg() == nil {
				return false
			}
			name := f.Pkg().Path() + "." + f.Name()
			if absorbing[name] {
				return true
			}
			if name != "slices.Collect" {
				return false
			}
		case *ast.AssignStmt:
			id, ok := n.Lhs[0].(*ast.Ident)
			return ok && len(n.Lhs) == 1 && w.sortedBehind(n, w.TypesInfo.ObjectOf(id), stack[:i])
		case *ast.RangeStmt:
			return n.X.Pos() <= stack[len(stack)-1].Pos() && stack[len(stack)-1].Pos() < n.X.End() && w.order(n, stack[:i])
		case ast.Stmt:
			return false
		}
	}
	return false
}

// pure reports whether code in a step only computes something: it sends nothing, and calls nothing with a context.
func (o *ordered) pure(n ast.Node) bool {
	pure := true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.SendStmt:
			pure = false
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW
		case *ast.Ident:
			if v, ok := o.TypesInfo.Uses[n].(*types.Var); ok && isContext(v.Type()) {
				pure = false
			}
		case *ast.SelectorExpr:
			if f, ok := o.TypesInfo.Uses[n.Sel].(*types.Func); ok && recorded(f) {
				pure = false
			}
		}
		return pure
	})
	return pure
}
