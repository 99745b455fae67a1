package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// askedCall binds a call of a function that asks the catalog or the session.
func (b *Binder) askedCall(s *scope, name string, f ask.Function, x *syntax.Call) (*Node, error) {
	args, known, err := b.arguments(s, x)
	if err != nil {
		return nil, err
	}
	if err := countArguments(name, x); err != nil {
		return nil, err
	}
	typed := make([]builtin.Argument, len(known))
	for i, a := range known {
		typed[i] = builtin.Argument{Type: a.Type.Type, Nullable: a.Nullable, Literal: a.Literal}
	}
	found, _ := builtin.Lookup(x)
	call := &builtin.Call{Syntax: x, Name: name, Args: typed}
	t, err := found.Type(call)
	if err != nil {
		return nil, fault.New(8116, described(known[0].Type), 1, strings.ToLower(name))
	}
	for i := range args {
		if args[i], err = b.askedArgument(args[i], f, i); err != nil {
			return nil, err
		}
	}
	return &Node{
		Name: name + "()", Type: value.Type{Type: t}, Nullable: found.Nullable(call, builtin.Rows{}), Args: args, at: x.Span,
		session: true, Value: func(args []Code) execute.Expr { return f.Code(Operands(args)) },
	}, nil
}

// countArguments returns an error if a call has too few or too many arguments.
func countArguments(name string, x *syntax.Call) error {
	f, _ := builtin.Lookup(x)
	if _, ok := f.Kinds(len(x.Args)); ok {
		return nil
	}
	least, most := f.Arity()
	if least == most {
		return fault.New(174, strings.ToLower(name), least)
	}
	return fault.New(189, strings.ToLower(name), least, most)
}

// askedArgument converts an argument to what the function takes.
func (b *Binder) askedArgument(n *Node, f ask.Function, i int) (*Node, error) {
	to, ok := f.Takes(i)
	if !ok || n.Type.Kind == sqltype.Null {
		return n, nil
	}
	return b.implicitly(n, to)
}
