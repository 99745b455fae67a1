package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// leaveOut is the candidate that stands for not passing an optional argument.
const leaveOut = ""

// calls returns batches that execute a procedure, the most harmless first: then with one argument at a time changed
// to the other values that it may have, those above all that the procedure itself compares it with, because they lead
// to its branches; at last with a value for everything. Each changed value is tried among the most harmless others
// and among those that stand for something, because a branch often asks for two things at once. All combinations
// would be exact and far too many.
func calls(p *analyze.Procedure, def *catalog.Procedure) []string {
	candidates := make([][]string, len(p.Params))
	for i, param := range p.Params {
		candidates[i] = candidatesOf(param, def)
	}
	base := make([]string, len(p.Params))
	full := make([]string, len(p.Params))
	for i, c := range candidates {
		// The first candidate is the most harmless.
		base[i], full[i] = c[0], c[0]
		if p.Params[i].Table == nil {
			full[i] = sample(p.Params[i].Type)
		}
	}
	batches := []string{call(p, base)}
	for i := range p.Params {
		for _, c := range candidates[i][1:] {
			for _, others := range [][]string{base, full} {
				values := slices.Clone(others)
				values[i] = c
				if batch := call(p, values); !slices.Contains(batches, batch) {
					batches = append(batches, batch)
				}
			}
		}
	}
	if batch := call(p, full); !slices.Contains(batches, batch) {
		batches = append(batches, batch)
	}
	return batches
}

// candidatesOf lists values for one parameter; the first is the most harmless. An OUTPUT parameter is never left out,
// for its variable is what is passed.
func candidatesOf(p analyze.Param, def *catalog.Procedure) []string {
	if p.Table != nil {
		return []string{"@" + tableVariable(p.Name)} // empty
	}
	var values []string
	add := func(value string) {
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	// With its default the procedure does what its author thought of as usual.
	if p.Optional && !p.Output {
		add(leaveOut)
	}
	if p.Nullable {
		add("NULL")
	}
	add(zero(p.Type))
	if def != nil {
		for _, value := range compared(p.Name, def) {
			add(value)
		}
	}
	add(sample(p.Type))
	return values
}

// tableVariable and outputVariable name the variables that a batch declares for a parameter; it declares no others.
func tableVariable(param string) string  { return "table_" + strings.TrimPrefix(param, "@") }
func outputVariable(param string) string { return "out_" + strings.TrimPrefix(param, "@") }

// call writes a batch that executes a procedure with the given arguments.
func call(p *analyze.Procedure, values []string) string {
	var declarations, arguments []string
	for i, param := range p.Params {
		value := values[i]
		switch {
		case param.Table != nil:
			declarations = append(declarations, fmt.Sprintf("DECLARE %s %s;", value, quote(param.Table.Name)))
			arguments = append(arguments, param.Name+" = "+value)
		case param.Output:
			variable := "@" + outputVariable(param.Name)
			declarations = append(declarations, fmt.Sprintf("DECLARE %s %s = %s;", variable, declared(param.Type), value))
			arguments = append(arguments, param.Name+" = "+variable+" OUTPUT")
		case value != leaveOut:
			arguments = append(arguments, param.Name+" = "+value)
		}
	}
	batch := "EXEC " + quote(p.Name)
	if len(arguments) > 0 {
		batch += " " + strings.Join(arguments, ", ")
	}
	return strings.Join(append(declarations, batch+";"), "\n")
}

// declared writes a type for a variable. A variable can't be a rowversion, which is eight bytes.
func declared(t sqltype.Type) string {
	if t.Kind == sqltype.RowVersion {
		return "binary(8)"
	}
	return t.String()
}

// zero returns the constant of a type that most probably does and finds nothing. It goes by what a type can hold: an
// empty string, 0, no bytes. A date has no zero that every date type takes, so it is the same as its sample.
func zero(t sqltype.Type) string {
	switch {
	case t.IsNumeric():
		return "0"
	case t.IsBinary():
		return "0x"
	case t.IsTemporal():
		return moment(t)
	case t.Kind == sqltype.UniqueIdentifier:
		return "'00000000-0000-0000-0000-000000000000'"
	case t.IsNational(), t.Kind == sqltype.XML:
		return "N''"
	case t.IsCharacter():
		return "''"
	default:
		return "NULL"
	}
}

// sample returns a constant of a type that differs from zero.
func sample(t sqltype.Type) string {
	switch {
	case t.Kind == sqltype.Decimal && t.Precision == t.Scale:
		return "0.1"
	case t.IsNumeric():
		return "1"
	case t.IsBinary():
		return "0x01"
	case t.IsTemporal():
		return moment(t)
	case t.Kind == sqltype.UniqueIdentifier:
		return "'11111111-1111-1111-1111-111111111111'"
	case t.Kind == sqltype.XML:
		return "N'<a/>'"
	case t.IsNational():
		return "N'1'"
	case t.IsCharacter():
		return "'1'"
	default:
		return zero(t)
	}
}

// moment returns a constant of a date or time type, in a form that no language setting reads otherwise. A date with
// dashes is read by the language of the login for datetime; without them, or with the T, it never is.
func moment(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Time:
		return "'12:00:00'"
	case sqltype.Date:
		return "'20000101'"
	case sqltype.DateTimeOffset:
		return "'2000-01-01T12:00:00+00:00'"
	default:
		return "'2000-01-01T12:00:00'"
	}
}

// compared returns the constants that the body of a procedure compares a parameter with, and their neighbours where
// it asks for less or more. A branch behind IF @kind = 3 is reached by no argument but 3, and the text says so.
func compared(param string, def *catalog.Procedure) []string {
	var values []string
	is := func(x syntax.Expr) bool {
		v, ok := x.(*syntax.Variable)
		return ok && strings.EqualFold(v.Name, param)
	}
	syntax.Walk(def.Def, func(node syntax.Node) bool {
		for _, x := range comparedIn(node, is) {
			if text, ok := constant(x, def.File); ok {
				values = append(values, text)
			}
		}
		if c, ok := node.(*syntax.Compare); ok && (is(c.X) || is(c.Y)) {
			values = append(values, neighbours(c.Op, c.X)...)
			values = append(values, neighbours(c.Op, c.Y)...)
		}
		return true
	})
	return values
}

// comparedIn returns what a node compares something with.
func comparedIn(node syntax.Node, is func(syntax.Expr) bool) []syntax.Expr {
	switch n := node.(type) {
	case *syntax.Compare:
		if is(n.X) || is(n.Y) {
			return []syntax.Expr{n.X, n.Y}
		}
	case *syntax.In:
		if is(n.X) {
			return n.List
		}
	case *syntax.Between:
		if is(n.X) {
			return []syntax.Expr{n.Low, n.High}
		}
	case *syntax.Case:
		if n.Input == nil || !is(n.Input) {
			return nil
		}
		var list []syntax.Expr
		for _, when := range n.Whens {
			list = append(list, when.When)
		}
		return list
	}
	return nil
}

// constant returns the text of a literal that can be passed as an argument.
func constant(x syntax.Expr, file *diag.File) (string, bool) {
	literal, ok := x.(*syntax.Literal)
	if !ok || literal.Kind == syntax.DefaultLiteral || literal.Kind == syntax.NullLiteral {
		return "", false
	}
	return file.Slice(literal.Span), true
}

// neighbours returns the whole numbers beside one that is compared with less or greater. @n < 10 is decided on both
// sides of 10; which side is the new one isn't worth telling.
func neighbours(op string, x syntax.Expr) []string {
	literal, ok := x.(*syntax.Literal)
	if !ok || literal.Kind != syntax.IntLiteral || !strings.ContainsAny(op, "<>") {
		return nil
	}
	n, err := strconv.ParseInt(literal.Value, 10, 64)
	if err != nil {
		return nil
	}
	return []string{strconv.FormatInt(n-1, 10), strconv.FormatInt(n+1, 10)}
}
