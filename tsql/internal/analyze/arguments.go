package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// arguments checks the arguments of a call against the parameters of a procedure.
//
// All that is wrong here the server says only when the call runs: EXEC is bound late, so that a procedure with a call
// of too few arguments can be created.
func (w *walker) arguments(s *syntax.Exec, callee *catalog.Procedure) {
	// Positional arguments come first, which the parser has checked.
	given := make([]bool, len(callee.Params))
	for i := range s.Args {
		arg := &s.Args[i]
		at := i
		switch {
		case arg.Name != "":
			at = slices.IndexFunc(callee.Params, func(p catalog.Param) bool {
				return catalog.Fold(p.Name) == catalog.Fold(arg.Name)
			})
			if at < 0 {
				w.fail(arg, ruleExec, "leave it out, or add the parameter", "%s has no parameter %s", callee.Name, arg.Name)
			}
		case i >= len(callee.Params):
			w.fail(arg, ruleExec, "leave the rest out, or add parameters", "%s has only %s", callee.Name, diag.Count(len(callee.Params), "parameter"))
			at = -1
		}
		if at < 0 {
			w.looseArgument(arg)
			continue
		}
		if given[at] {
			w.fail(arg, ruleExec, "", "the parameter %s is given twice", callee.Params[at].Name)
		}
		given[at] = true
		w.argument(s, arg, callee, &callee.Params[at])
	}
	var missing []string
	for i, p := range callee.Params {
		if !given[i] && p.Default == nil && p.Table == nil { // a table argument left out is an empty table
			missing = append(missing, p.Name)
		}
	}
	if len(missing) > 0 {
		w.fail(s, ruleExec, "pass it, or give it a default", "%s also needs %s", callee.Name, strings.Join(missing, ", "))
	}
}

// argument checks one argument.
//
// An argument is a constant or a variable in T-SQL, never an expression; the parser has seen to it.
func (w *walker) argument(s *syntax.Exec, arg *syntax.ExecArg, callee *catalog.Procedure, p *catalog.Param) {
	if l, ok := arg.X.(*syntax.Literal); ok && l.Kind == syntax.DefaultLiteral {
		if p.Default == nil && p.Table == nil {
			w.fail(arg, ruleExec, "", "the parameter %s of %s has no default", p.Name, callee.Name)
		}
		return
	}
	if p.Table != nil {
		w.tableArgument(arg, p)
		return
	}
	if arg.Output && !p.Output {
		w.fail(arg, ruleExec, "remove OUTPUT here, or add it to the parameter", "the parameter %s of %s is not declared OUTPUT", p.Name, callee.Name)
	}
	x := w.looseArgument(arg)
	w.a.argument(w.e, x, p.Type, true, arg.X.Range(), "the parameter "+p.Name)
	// OUTPUT is an assignment the other way round.
	if v, ok := arg.X.(*syntax.Variable); ok && arg.Output && p.Output {
		b, done := (*body)(nil), false
		if s.Name != nil && w.callee(s.Name) == callee {
			b, done = w.procedureBody(callee, w.e.settings)
		}
		notNull := done && b.unknown == "" && b.leaves.has(p.Name)
		w.a.assignVariable(w.e, v, "=", typed{Type: p.Type, Nullable: !notNull}, arg)
	}
}

// tableArgument checks an argument for a table-valued parameter: a table variable of that very type.
//
// Another type with the same columns will not do: the server compares types, not columns.
func (w *walker) tableArgument(arg *syntax.ExecArg, p *catalog.Param) {
	v, ok := arg.X.(*syntax.Variable)
	if !ok {
		w.fail(arg, ruleExec, "", "the parameter %s needs a table variable of type %s", p.Name, p.Table.Name)
		return
	}
	t, ok := w.e.table(v.Name)
	switch {
	case !ok:
		w.fail(arg, ruleName, "", "there is no table variable %s", v.Name)
	case t.Name.Key() != p.Table.Name.Key():
		w.fail(arg, ruleType, "declare it AS "+p.Table.Name.String(), "%s is not of the table type %s", v.Name, p.Table.Name)
	}
}

// looseArguments checks the arguments of a call whose parameters are not known.
//
// Table variables are left out, as they have no value of their own.
func (w *walker) looseArguments(s *syntax.Exec) {
	for i := range s.Args {
		arg := &s.Args[i]
		if v, ok := arg.X.(*syntax.Variable); ok {
			if _, table := w.e.table(v.Name); table {
				continue
			}
		}
		w.looseArgument(arg)
	}
}

// looseArgument types an argument as far as that can be done without its parameter.
func (w *walker) looseArgument(arg *syntax.ExecArg) typed {
	if x, ok := arg.X.(*syntax.Literal); ok && x.Kind == syntax.DefaultLiteral {
		return typed{}
	}
	return w.value(arg.X)
}
