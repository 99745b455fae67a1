package function

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// bindCall is a call whose arguments have been checked.
type bindCall struct {
	syntax   *syntax.Call
	name     string // upper case
	args     []Argument
	kinds    []builtin.Kind
	function builtin.Function
	known    *builtin.Call
	result   value.Type // by package builtin, with the collation of the text arguments
}

// binder prepares a checked call. What it leaves zero of Type, Nullable and the last of Args, Bind fills in.
type binder func(c *bindCall) (*Bound, error)

// check looks the function up and checks how many arguments it has and of which types. The keys of JSON_OBJECT follow
// the arguments.
func check(call *syntax.Call, args []Argument) (*bindCall, error) {
	c := &bindCall{syntax: call, name: nameOf(call), args: args}
	f, ok := builtin.Lookup(call)
	if !ok {
		return nil, fault.New(195, strings.ToLower(c.name), "built-in function name")
	}
	c.function = f
	if call.Star && builtin.TakesStar(c.name) {
		c.known = &builtin.Call{Syntax: call, Name: c.name}
	} else {
		c.kinds, ok = f.Kinds(len(args) - len(call.Keys))
		if !ok || call.Star {
			return nil, c.wrongCount()
		}
		c.known = &builtin.Call{Syntax: call, Name: c.name}
	}
	for i, arg := range args[:len(args)-len(call.Keys)] {
		if err := c.checkArgument(i); err != nil {
			return nil, err
		}
		c.known.Args = append(c.known.Args, arg.known())
	}
	t, err := f.Type(c.known)
	switch {
	case errors.Is(err, builtin.ErrOrdered):
		t = sqltype.Type{} // BindWindow knows
	case err != nil:
		return nil, c.refuse()
	}
	c.result = value.Type{Type: t}
	if t.IsCharacter() {
		c.result.Collation = c.collation()
	}
	return c, nil
}

// maxArguments is how many arguments a function takes that has no limit of its own.
const maxArguments = 254

// wrongCount is the error for too few arguments, or too many.
func (c *bindCall) wrongCount() error {
	least, most := c.function.Arity()
	if most < 0 {
		most = maxArguments
	}
	if least == most {
		return fault.New(174, strings.ToLower(c.name), least)
	}
	return fault.New(189, strings.ToLower(c.name), least, most)
}

// checkArgument checks the type of one argument.
func (c *bindCall) checkArgument(i int) error {
	arg := c.args[i]
	switch k := c.kinds[i]; k {
	case builtin.PartWord:
		if builtin.PartOf(arg.Expr) == builtin.NoPart {
			return fault.New(155, wordOf(arg.Expr), strings.ToLower(c.name))
		}
	case builtin.JSONWord:
		if _, ok := builtin.WordOf(arg.Expr); !ok {
			return fault.New(155, wordOf(arg.Expr), strings.ToLower(c.name))
		}
	case builtin.Condition:
	default:
		if !k.Accepts(arg.Type.Type) {
			return fault.New(8116, arg.Type.Type.Kind, i+1, strings.ToLower(c.name))
		}
	}
	return nil
}

// wordOf returns what stands where a word such as DAY should.
func wordOf(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.ColumnRef:
		return x.Last().Value
	case *syntax.Literal:
		return x.Value
	case *syntax.Variable:
		return x.Name
	default:
		return "the expression"
	}
}

// refuse returns the server's error for a call that package builtin has something against.
func (c *bindCall) refuse() error {
	name := strings.ToLower(c.name)
	last := c.args[len(c.args)-1]
	switch {
	case c.kinds[0] == builtin.PartWord:
		return fault.New(9810, builtin.PartOf(c.args[0].Expr).String(), name, last.Type.Type.Kind)
	case strings.HasSuffix(c.name, "FROMPARTS"):
		return fault.New(10760, strings.TrimSuffix(name, "fromparts"))
	case c.name == "COALESCE":
		return fault.New(4127)
	case c.name == "NULLIF":
		return fault.New(4151)
	case c.args[0].Type.Kind == sqltype.Null:
		return fault.New(8117, "NULL", name)
	case c.function.Use() == builtin.Group:
		return fault.New(8117, c.args[0].Type.Type.Kind, name)
	}
	var clash error
	for i := 1; i < len(c.args); i++ {
		if _, clash = sqltype.Union(c.args[0].Type.Type, c.args[i].Type.Type); clash != nil {
			return fault.New(206, c.args[i].Type.Type.Kind, c.args[0].Type.Type.Kind)
		}
	}
	return fault.New(8116, c.args[0].Type.Type.Kind, 1, name)
}

// collation returns that of the first text argument that has one. The planner, which knows how strongly each insists,
// has checked that they agree.
func (c *bindCall) collation() *value.Collation {
	for _, arg := range c.args {
		if arg.Type.Collation != nil && arg.Type.IsCharacter() {
			return arg.Type.Collation
		}
	}
	return nil
}

// collationOr is collation with the default for text that has none.
func (c *bindCall) collationOr() *value.Collation {
	if found := c.collation(); found != nil {
		return found
	}
	return value.DefaultCollation
}

// Types of arguments.
var (
	asIs        value.Type // the argument stays what it is
	typeInt     = value.OfKind(sqltype.Int)
	typeBigInt  = value.OfKind(sqltype.BigInt)
	typeFloat   = value.OfKind(sqltype.Float)
	typeMaxText = value.NVarChar(sqltype.Max)
	typeSysname = value.NVarChar(128)
)

// text returns the type that an argument takes as text: itself if it is text, else a varchar that it fits in.
func (c *bindCall) text(i int) value.Type {
	t := c.args[i].Type
	if t.IsCharacter() && t.Kind != sqltype.Text && t.Kind != sqltype.NText {
		return asIs
	}
	if t.Kind == sqltype.Null {
		return value.NVarChar(1)
	}
	return value.Type{Type: builtin.TextOf(t.Type, false), Collation: t.Collation}
}

// textOrBytes is text for functions that take binaries too.
func (c *bindCall) textOrBytes(i int) value.Type {
	if c.args[i].Type.IsBinary() {
		return asIs
	}
	return c.text(i)
}

// converted returns the type that an argument has when Eval gets it.
func (c *bindCall) converted(i int, to value.Type) value.Type {
	if to.Kind == sqltype.Invalid {
		return c.args[i].Type
	}
	return to
}

// strict makes an Eval of a function that is NULL if an argument is NULL.
func strict(f Eval) Eval {
	return func(env Environment, args []value.Value) (value.Value, error) {
		for _, arg := range args {
			if arg.IsNull() {
				return value.Value{}, nil
			}
		}
		return f(env, args)
	}
}

// plain makes a binder of a deterministic function that is NULL if an argument is NULL and whose arguments convert to
// given types.
func plain(f func(args []value.Value) (value.Value, error), types ...value.Type) binder {
	return func(*bindCall) (*Bound, error) { return simple(f, types...), nil }
}

// simple is the Bound that plain makes.
func simple(f func(args []value.Value) (value.Value, error), types ...value.Type) *Bound {
	return &Bound{Deterministic: true, Args: types, Eval: strict(func(_ Environment, args []value.Value) (value.Value, error) { return f(args) })}
}

// literalInt returns the whole number that an argument is as a literal.
func (a Argument) literalInt() (int64, bool) {
	if a.Literal == nil || a.Literal.Kind != syntax.IntLiteral {
		return 0, false
	}
	v, _, err := value.Literal(a.Literal)
	if err != nil || v.Kind() != value.Int {
		return 0, false
	}
	return v.Int(), true
}

// within reports whether an argument is a literal in a range.
func (a Argument) within(low, high int64) bool {
	n, ok := a.literalInt()
	return ok && n >= low && n <= high
}

// literalText returns the text that an argument is as a literal.
func (a Argument) literalText() (string, bool) {
	if a.Literal == nil || a.Literal.Kind != syntax.StringLiteral && a.Literal.Kind != syntax.NStringLiteral {
		return "", false
	}
	return a.Literal.Value, true
}
