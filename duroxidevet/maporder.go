package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// order reports whether the order of a map does no harm in a loop over it: each step does something that gives the same
// whatever came before, such as a sum, an entry of another map under the same key, or a list that is sorted behind the
// loop.
func (w *walk) order(loop *ast.RangeStmt, stack []ast.Node) bool {
	o := &ordered{walk: w, loop: loop, stack: stack}
	o.written = o.writes()
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
	// written are the variables from outside that the loop changes, and when says which steps the statement that is
	// looked at belongs to.
	written map[types.Object]bool
	when    when
	// inner counts the loops and switches around a statement, of which a break without a label ends the innermost.
	inner int
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
	case nil, *ast.EmptyStmt:
		return true
	case *ast.BlockStmt:
		return o.statements(s.List)
	case *ast.IncDecStmt:
		o.adds = true
		return o.local(s.X) || o.effect(s.X, nil) && (o.integer(s.X) || o.ownEntry(s.X))
	case *ast.ExprStmt:
		return o.deletes(s.X) || o.panics(s.X)
	case *ast.DeclStmt:
		o.reads(s)
		return o.pure(s)
	case *ast.BranchStmt:
		return o.branches(s)
	case *ast.ReturnStmt:
		return o.returns(s)
	case *ast.AssignStmt:
		return o.assigns(s)
	case *ast.IfStmt:
		return o.condition(s)
	case *ast.SwitchStmt:
		return o.cases(s)
	case *ast.RangeStmt:
		o.reads(s.X)
		return o.pure(s.X) && o.within(s.Body.List)
	case *ast.ForStmt:
		return o.counts(s)
	}
	return false
}

// within looks at the statements of an inner loop or a switch.
func (o *ordered) within(list []ast.Stmt) bool {
	o.inner++
	defer func() { o.inner-- }()
	return o.statements(list)
}

// branches looks at a break or a continue. What leaves this loop stops it, also as the continue of one around it.
func (o *ordered) branches(s *ast.BranchStmt) bool {
	switch {
	case s.Tok != token.BREAK && s.Tok != token.CONTINUE:
		return false
	case s.Label != nil, s.Tok == token.BREAK && o.inner == 0:
		o.stops = true
	}
	return true
}

// counts looks at a loop with a condition.
func (o *ordered) counts(s *ast.ForStmt) bool {
	if !o.statement(s.Init) || s.Cond != nil && !o.pure(s.Cond) {
		return false
	}
	if s.Cond != nil {
		o.reads(s.Cond)
	}
	return o.within(s.Body.List) && o.statement(s.Post)
}

// cases looks at a switch.
func (o *ordered) cases(s *ast.SwitchStmt) bool {
	if !o.statement(s.Init) || s.Tag != nil && !o.pure(s.Tag) {
		return false
	}
	if s.Tag != nil {
		o.reads(s.Tag)
	}
	for _, s := range s.Body.List {
		c, ok := s.(*ast.CaseClause)
		if !ok || slices.ContainsFunc(c.List, func(value ast.Expr) bool { return !o.pure(value) }) {
			return false
		}
		for _, value := range c.List {
			o.reads(value)
		}
		if !o.within(c.Body) {
			return false
		}
	}
	return true
}

// condition looks at an if. The search for the largest or the smallest value is one whose order does no harm.
func (o *ordered) condition(s *ast.IfStmt) bool {
	before := o.when
	if !o.pure(s.Cond) || !o.statement(s.Init) {
		return false
	}
	if o.extreme(s) {
		o.adds = true
		return true
	}
	o.reads(s.Cond)
	if !o.statement(s.Body) || !o.statement(s.Else) {
		return false
	}
	if !leaves(s) {
		o.when = before // the condition says nothing about what follows
	}
	return true
}

// leaves reports whether a branch of an if skips what follows it.
func leaves(s *ast.IfStmt) (leaves bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		_, branch := n.(*ast.BranchStmt)
		leaves = leaves || branch
		return !leaves
	})
	return leaves
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
	case *ast.CompositeLit:
		return !slices.ContainsFunc(e.Elts, func(elt ast.Expr) bool { return !o.constant(elt) })
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
		for _, value := range s.Rhs {
			o.reads(value)
		}
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
		if value != nil {
			o.reads(value)
		}
		return true
	}
	if !o.effect(target, value) {
		return false
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
		return o.ownEntry(target) || o.ownValue(target, value) || o.gathers(target, value) || o.larger(target, value) ||
			o.accumulates(target, value)
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

// ownEntry reports whether a target is the entry of a map under the key of this step, which no other step writes, or a
// part of it.
func (o *ordered) ownEntry(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		_, isMap := o.TypesInfo.TypeOf(e.X).Underlying().(*types.Map)
		return isMap && o.isKey(e.Index) || o.ownEntry(e.X)
	case *ast.SelectorExpr:
		return o.ownEntry(e.X)
	}
	return false
}

// isKey reports whether an expression is the key of the loop, or a struct or an array with the key in it.
func (o *ordered) isKey(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return o.is(e, o.loop.Key)
	case *ast.CompositeLit:
		return slices.ContainsFunc(e.Elts, o.isKey)
	case *ast.KeyValueExpr:
		return o.isKey(e.Value)
	}
	return false
}

// is reports whether an identifier is a variable of the loop.
func (o *ordered) is(id *ast.Ident, variable ast.Expr) bool {
	declared, ok := variable.(*ast.Ident)
	return ok && o.TypesInfo.Uses[id] != nil && o.TypesInfo.Uses[id] == o.TypesInfo.ObjectOf(declared)
}

// ownValue reports whether a target is a field of the value of this step, which gets nothing of the key.
func (o *ordered) ownValue(target, value ast.Expr) bool {
	field, ok := ast.Unparen(target).(*ast.SelectorExpr)
	if !ok || value == nil {
		return false
	}
	id, ok := ast.Unparen(field.X).(*ast.Ident)
	return ok && o.is(id, o.loop.Value) && !o.varies(value, o.loop.Value)
}

// accumulates reports whether an assignment is `sum = sum + v`, or the same with another operator whose order makes no
// difference.
func (o *ordered) accumulates(target, value ast.Expr) bool {
	sum, ok := ast.Unparen(value).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	same := types.ExprString(sum.X) == types.ExprString(target) || types.ExprString(sum.Y) == types.ExprString(target)
	switch sum.Op { //nolint:exhaustive // the order of the others makes a difference
	case token.ADD, token.MUL, token.OR, token.AND, token.XOR:
		return same && o.integer(target)
	case token.LAND, token.LOR:
		return same
	}
	return false
}

// deletes reports whether a call is delete of an entry.
func (o *ordered) deletes(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && o.builtin(call, "delete") && o.effect(call.Args[0], call.Args[1])
}

// panics reports whether a call is a panic with the same value in each step.
func (o *ordered) panics(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && o.builtin(call, "panic") && o.constant(call.Args[0])
}

func (w *walk) builtin(call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := w.TypesInfo.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// gathers reports whether an assignment appends to a list that is sorted behind the loop, before anything else uses it.
func (o *ordered) gathers(target, value ast.Expr) bool {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if value == nil || !ok || !o.builtin(call, "append") || types.ExprString(call.Args[0]) != types.ExprString(target) {
		return false
	}
	switch list := ast.Unparen(target).(type) {
	case *ast.Ident:
		return o.sortedBehind(o.loop, o.TypesInfo.Uses[list], o.stack)
	case *ast.SelectorExpr:
		return o.sortedBehind(o.loop, o.TypesInfo.Uses[o.baseIdent(list)], o.stack)
	}
	return false
}

// sortedBehind reports whether the next statement that uses a list behind n, in n's block or one around it, sorts it.
// What only asks for its length does not use it.
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

// mentions reports whether something uses a list, other than for what its order makes no difference to.
func (w *walk) mentions(n ast.Node, list types.Object) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && w.ignoresOrder(call) {
			return false
		}
		id, ok := n.(*ast.Ident)
		found = found || ok && w.TypesInfo.Uses[id] == list
		return !found
	})
	return found
}

func (w *walk) ignoresOrder(call *ast.CallExpr) bool {
	f := w.callee(call)
	return w.builtin(call, "len") || f != nil && f.Pkg() != nil && orderless[f.Pkg().Path()+"."+f.Name()]
}

// orderless are the functions that give the same for a list in any order.
var orderless = map[string]bool{"slices.Contains": true, "slices.ContainsFunc": true, "slices.Max": true, "slices.Min": true}

// sorts reports whether a statement sorts a list, or uses only what a sorting function makes of it.
func (w *walk) sorts(s ast.Stmt, list types.Object) bool {
	sorted, otherwise := false, false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f := w.callee(n)
			if f != nil && f.Pkg() != nil && len(n.Args) > 0 && w.mentions(n.Args[0], list) {
				name := f.Pkg().Path() + "." + f.Name()
				sorted = sorted || sorting[name] || absorbing[name]
				return !sorting[name] && !absorbing[name]
			}
		case *ast.AssignStmt: // of a target, what it held before is gone
			for _, value := range n.Rhs {
				otherwise = otherwise || !w.sortsIn(value, list)
			}
			sorted = sorted || !otherwise
			return false
		case *ast.Ident:
			otherwise = otherwise || w.TypesInfo.Uses[n] == list && !sorted
		}
		return true
	})
	return sorted && !otherwise
}

// sortsIn reports whether an expression does not use a list, or only what a sorting function makes of it.
func (w *walk) sortsIn(e ast.Expr, list types.Object) bool {
	return !w.mentions(e, list) || w.sorts(&ast.ExprStmt{X: e}, list)
}

// sorting are the functions that put a list in an order that does not depend on the one before.
var sorting = map[string]bool{
	"sort.Strings": true, "sort.Ints": true, "sort.Float64s": true, "sort.Sort": true, "sort.Stable": true, "sort.Slice": true, "sort.SliceStable": true,
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true,
}

// absorbing are the functions to which the order of an iterator makes no difference.
var absorbing = map[string]bool{"slices.Sorted": true, "slices.SortedFunc": true, "maps.Collect": true, "maps.Insert": true}

// sortedAfterwards reports whether the order of maps.Keys and its like, the last node of the stack's call, does no
// harm.
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
