package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// caseOf binds CASE. Only the arm that is taken is computed.
func (b *Binder) caseOf(s *scope, x *syntax.Case) (*Node, error) {
	var input *Node
	var err error
	if x.Input != nil {
		if input, err = b.expr(s, x.Input); err != nil {
			return nil, err
		}
	}
	var conditions, results []*Node
	for _, arm := range x.Whens {
		var when *Node
		if input == nil {
			when, err = b.cond(s, arm.When)
		} else if when, err = b.expr(s, arm.When); err == nil {
			when, err = b.compare("=", input, when)
		}
		if err != nil {
			return nil, err
		}
		then, err := b.expr(s, arm.Then)
		if err != nil {
			return nil, err
		}
		conditions, results = append(conditions, when), append(results, then)
	}
	if x.Else != nil {
		n, err := b.expr(s, x.Else)
		if err != nil {
			return nil, err
		}
		results = append(results, n)
	}
	return b.choose("CASE", conditions, results, 8133, x)
}

// choose is the result of the first condition that is true, or else the last result if there is one more of them, or
// NULL. If all results are NULL, error is the error's number.
func (b *Binder) choose(name string, conditions, results []*Node, number int32, at syntax.Node) (*Node, error) {
	t, label, err := b.unite(results)
	if err != nil {
		return nil, err
	}
	if t.Kind == sqltype.Null {
		return nil, fault.New(number)
	}
	out := &Node{Name: name, Type: t, Label: label, Nullable: len(results) == len(conditions), at: at.Range()}
	out.Args = append(out.Args, conditions...)
	for _, n := range results {
		out.Nullable = out.Nullable || n.Nullable
		out.Args = append(out.Args, b.become(n, t))
	}
	count := len(conditions)
	out.Value = func(args []Code) execute.Expr { return chooseCode(args[:count], args[count:]) }
	return b.folded(out), nil
}

func chooseCode(conditions, results []Code) execute.Expr {
	return func(r *execute.Run) (execute.Value, error) {
		for i := range conditions {
			t, err := conditions[i].Cond(r)
			if err != nil {
				return execute.Value{}, err
			}
			if t == execute.True {
				return results[i].Expr(r)
			}
		}
		if len(results) > len(conditions) {
			return results[len(results)-1].Expr(r)
		}
		return execute.Value{}, nil
	}
}

// lazyCall binds the functions that compute only some of their arguments.
func (b *Binder) lazyCall(s *scope, name string, x *syntax.Call) (*Node, error) {
	minimum := map[string]int{"COALESCE": 2, "NULLIF": 2, "IIF": 3, "CHOOSE": 2, "GREATEST": 1, "LEAST": 1}[name]
	if len(x.Args) < minimum || (name == "NULLIF" || name == "IIF") && len(x.Args) > minimum {
		return nil, fault.New(174, x.Name.Parts[0].Value, minimum)
	}
	var args []*Node
	for i, a := range x.Args {
		var n *Node
		var err error
		if i == 0 && name == "IIF" {
			n, err = b.cond(s, a)
		} else {
			n, err = b.expr(s, a)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	switch name {
	case "COALESCE":
		return b.coalesce(args, x)
	case "NULLIF":
		return b.nullIf(args, x)
	case "IIF":
		return b.choose(name, args[:1], args[1:], 8133, x)
	case "CHOOSE":
		return b.chooseByNumber(args, x)
	default:
		return b.extreme(name, args, x)
	}
}

// coalesce is the first argument that is not NULL. Unlike the CASE that SQL Server makes of it, each argument is
// computed once.
func (b *Binder) coalesce(args []*Node, x *syntax.Call) (*Node, error) {
	t, label, err := b.unite(args)
	if err != nil {
		return nil, err
	}
	if t.Kind == sqltype.Null {
		return nil, fault.New(4127)
	}
	out := &Node{Name: "COALESCE", Type: t, Label: label, Nullable: true, at: x.Span}
	for _, n := range args {
		out.Nullable = out.Nullable && n.Nullable
		out.Args = append(out.Args, b.become(n, t))
	}
	out.Value = func(args []Code) execute.Expr {
		list := Operands(args)
		return func(r *execute.Run) (execute.Value, error) {
			for _, e := range list {
				if v, err := e(r); err != nil || !v.IsNull() {
					return v, err
				}
			}
			return execute.Value{}, nil
		}
	}
	return b.folded(out), nil
}

// nullIf is NULL if the arguments are equal, else the first one.
func (b *Binder) nullIf(args []*Node, x *syntax.Call) (*Node, error) {
	if args[0].Type.Kind == sqltype.Null {
		return nil, fault.New(4151)
	}
	eq, err := b.compare("=", args[0], args[1])
	if err != nil {
		return nil, err
	}
	out := &Node{Name: "NULLIF", Type: args[0].Type, Label: args[0].Label, Nullable: true, Args: []*Node{eq, args[0]}, at: x.Span}
	out.Value = func(args []Code) execute.Expr {
		return func(r *execute.Run) (execute.Value, error) {
			t, err := args[0].Cond(r)
			if err != nil || t == execute.True {
				return execute.Value{}, err
			}
			return args[1].Expr(r)
		}
	}
	return b.folded(out), nil
}

// chooseByNumber is CHOOSE.
func (b *Binder) chooseByNumber(args []*Node, x *syntax.Call) (*Node, error) {
	index, err := b.implicitly(args[0], value.OfKind(sqltype.Int))
	if err != nil {
		return nil, err
	}
	t, label, err := b.unite(args[1:])
	if err != nil {
		return nil, err
	}
	if t.Kind == sqltype.Null {
		return nil, fault.New(8133)
	}
	out := &Node{Name: "CHOOSE", Type: t, Label: label, Nullable: true, Args: []*Node{index}, at: x.Span}
	for _, n := range args[1:] {
		out.Args = append(out.Args, b.become(n, t))
	}
	out.Value = func(args []Code) execute.Expr {
		return func(r *execute.Run) (execute.Value, error) {
			i, err := args[0].Expr(r)
			if err != nil || i.IsNull() || i.Int() < 1 || i.Int() >= int64(len(args)) {
				return execute.Value{}, err
			}
			return args[i.Int()].Expr(r)
		}
	}
	return b.folded(out), nil
}

// extreme is GREATEST and LEAST, which pass over NULL.
func (b *Binder) extreme(name string, args []*Node, x *syntax.Call) (*Node, error) {
	t, label, err := b.unite(args)
	if err != nil {
		return nil, err
	}
	compared := b.Collated(t)
	sign := 1
	if name == "LEAST" {
		sign = -1
	}
	out := &Node{Name: name, Type: t, Label: label, Nullable: true, at: x.Span}
	for _, n := range args {
		out.Nullable = out.Nullable && n.Nullable
		out.Args = append(out.Args, b.become(n, t))
	}
	out.Value = func(args []Code) execute.Expr {
		return func(r *execute.Run) (execute.Value, error) {
			var best execute.Value
			for _, a := range args {
				v, err := a.Expr(r)
				if err != nil {
					return v, err
				}
				if !v.IsNull() && (best.IsNull() || sign*value.Compare(v, best, compared) > 0) {
					best = v
				}
			}
			return best, nil
		}
	}
	return b.folded(out), nil
}
