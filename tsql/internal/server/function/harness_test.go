package function_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// session is the Environment of the tests: a clock that stands still, and bits that count up.
type session struct {
	dateFirst string
	random    uint64
}

func (s *session) Now() time.Time { return time.Date(2024, 2, 29, 13, 14, 15, 123_456_789, time.UTC) }

func (s *session) Option(name string) string {
	if name == "DATEFIRST" {
		return s.dateFirst
	}
	return ""
}

func (s *session) Random() uint64 {
	s.random += 0x9E3779B97F4A7C15
	return s.random
}

// example is an expression of built-in functions, CAST and literals with its value, or the number of its error.
type example struct{ expr, want string }

// run evaluates each example in a subtest.
func run(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.expr, func(t *testing.T) {
			t.Parallel()
			if got := show(t, &session{}, e.expr); got != e.want {
				t.Errorf("got  %s\nwant %s", got, e.want)
			}
		})
	}
}

// show evaluates an expression and prints its value, or the number of its error.
func show(t *testing.T, env *session, text string) string {
	t.Helper()
	v, typ, err := evaluate(env, parse(t, text))
	var f *fault.Error
	var u *function.UnsupportedError
	switch {
	case errors.As(err, &f):
		return fmt.Sprintf("error %d", f.Number)
	case errors.As(err, &u):
		return "unsupported"
	case err != nil:
		t.Fatal(err)
	}
	return printed(t, v, typ)
}

// printed shows a value as CONVERT does, but text as it is and binaries in hexadecimal.
func printed(t *testing.T, v value.Value, typ value.Type) string {
	t.Helper()
	switch v.Kind() {
	case value.Null:
		return "NULL"
	case value.Bytes:
		return fmt.Sprintf("0x%X", v.Bytes())
	case value.String:
		return v.Str()
	case value.Variant:
		return printed(t, first(v.Variant()), second(v.Variant()))
	default: // what CONVERT prints
	}
	style := 0
	if typ.IsTemporal() {
		style = 121
	}
	if typ.IsMoney() {
		style = 2
	}
	text, err := value.Convert(v, typ, value.NVarChar(100), style)
	if err != nil {
		t.Fatal(err)
	}
	return text.Str()
}

func first(v value.Value, _ value.Type) value.Value { return v }
func second(_ value.Value, t value.Type) value.Type { return t }

// parse reads an expression.
func parse(t *testing.T, text string) syntax.Expr {
	t.Helper()
	script, found := syntax.Parse(diag.NewFile("q.sql", "SELECT "+text))
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	stmt, ok := script.Batches[0].Stmts[0].(*syntax.SelectStmt)
	if !ok {
		t.Fatalf("%s is no expression", text)
	}
	body, ok := stmt.Query.Body.(*syntax.Select)
	if !ok {
		t.Fatalf("%s is no expression", text)
	}
	return body.Items[0].X
}

// evaluate is a small planner: it knows literals, signs, CAST and calls.
func evaluate(env *session, x syntax.Expr) (value.Value, value.Type, error) {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		return value.Literal(x)
	case *syntax.Unary:
		v, t, err := evaluate(env, x.X)
		if err != nil {
			return v, t, err
		}
		v, err = value.Negate(v, t, t)
		return v, t, err
	case *syntax.Collate:
		v, t, err := evaluate(env, x.X)
		c, ok := value.CollationByName(x.Name.Value)
		if !ok {
			return v, t, errors.New("no collation " + x.Name.Value)
		}
		return v, t.With(c), err
	case *syntax.Cast:
		return cast(env, x)
	case *syntax.AtTimeZone:
		return atTimeZone(env, x)
	case *syntax.Binary:
		return binary(env, x)
	case *syntax.Call:
		return call(env, x)
	default:
		return value.Value{}, value.Type{}, fmt.Errorf("no test for %T", x)
	}
}

func binary(env *session, x *syntax.Binary) (value.Value, value.Type, error) {
	a, ta, err := evaluate(env, x.X)
	if err != nil {
		return a, ta, err
	}
	b, tb, err := evaluate(env, x.Y)
	if err != nil {
		return b, tb, err
	}
	t, err := sqltype.Arithmetic(x.Op, ta.Type, tb.Type)
	if err != nil {
		return b, tb, err
	}
	v, err := value.Arithmetic(x.Op, a, b, ta, tb, value.Type{Type: t})
	return v, value.Type{Type: t}, err
}

func cast(env *session, x *syntax.Cast) (value.Value, value.Type, error) {
	v, from, err := evaluate(env, x.X)
	if err != nil {
		return v, from, err
	}
	var args []string
	for _, a := range x.Type.Args {
		args = append(args, a.Value)
	}
	t, err := sqltype.ParseCast(x.Type.Name.Parts[0].Value, args)
	to := value.Type{Type: t}
	if err != nil {
		return v, to, err
	}
	v, err = value.Convert(v, from, to, 0)
	return v, to, err
}

func atTimeZone(env *session, x *syntax.AtTimeZone) (value.Value, value.Type, error) {
	v, t, err := evaluate(env, x.X)
	if err != nil {
		return v, t, err
	}
	zone, _, err := evaluate(env, x.Zone)
	if err != nil {
		return v, t, err
	}
	result, err := builtin.AtTimeZone(t.Type)
	if err != nil {
		return v, t, err
	}
	v, err = function.AtTimeZone(v, t, value.Type{Type: result}, zone.Str())
	return v, value.Type{Type: result}, err
}

// call binds a call, converts the arguments and evaluates it.
func call(env *session, x *syntax.Call) (value.Value, value.Type, error) {
	var values []value.Value
	var args []function.Argument
	for _, a := range append(append([]syntax.Expr{}, x.Args...), x.Keys...) {
		v, arg, err := argument(env, a)
		if err != nil {
			return v, arg.Type, err
		}
		values, args = append(values, v), append(args, arg)
	}
	bound, err := function.Bind(x, args)
	if err != nil {
		return value.Value{}, value.Type{}, err
	}
	for i, to := range bound.Args {
		if to.Kind != sqltype.Invalid {
			if values[i], err = value.Convert(values[i], args[i].Type, to, 0); err != nil {
				return value.Value{}, bound.Type, err
			}
		}
	}
	v, err := bound.Eval(env, values)
	if err == nil && v.IsNull() && !bound.Nullable {
		err = fmt.Errorf("%s is NULL, which Bind has ruled out", strings.ToUpper(x.Name.Parts[0].Value))
	}
	return v, bound.Type, err
}

// argument evaluates an argument. A word such as DAY has no value.
func argument(env *session, x syntax.Expr) (value.Value, function.Argument, error) {
	if _, ok := x.(*syntax.ColumnRef); ok {
		return value.Value{}, function.Argument{Type: value.OfKind(sqltype.Null), Expr: x}, nil
	}
	v, t, err := evaluate(env, x)
	arg := function.Argument{Type: t, Nullable: v.IsNull(), Expr: x}
	if lit, ok := syntax.Unparen(x).(*syntax.Literal); ok {
		arg.Literal = lit
	}
	return v, arg, err
}
