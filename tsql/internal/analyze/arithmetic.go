package analyze

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// settings are those that decide what becomes of an overflow, a division by zero or a value outside of a function's
// domain, as far as a path to the present statement can have set them. With both OFF the result is NULL, else it is an
// error.
//
// Neither is stored with a module: what counts is what the session has when the statement runs, and what a procedure
// sets is set until it ends, also for what it calls. A session begins with ANSI_WARNINGS ON, as drivers set it.
// ARITHABORT no driver sets, so that it may be OFF in the beginning; with ANSI_WARNINGS ON nothing comes of that.
type settings struct {
	warningsOff bool // ANSI_WARNINGS can be OFF
	abortOn     bool // ARITHABORT is ON
}

// after returns the settings behind a SET. It may be on one of several ways: those are joined where they meet.
func (s settings) after(o *syntax.SetOption) settings {
	switch o.Name {
	case "ANSI_WARNINGS", "ANSI_DEFAULTS":
		s.warningsOff = o.Value != "ON"
	case "ARITHABORT":
		s.abortOn = o.Value == "ON"
	}
	return s
}

// join returns what can be set after either of two ways.
func (s settings) join(o settings) settings {
	return settings{warningsOff: s.warningsOff || o.warningsOff, abortOn: s.abortOn && o.abortOn}
}

// anywhere returns what can be set at any place in statements: in a loop, which comes back to its beginning, and in a
// TRY, of which the CATCH may follow each statement.
func (s settings) anywhere(stmts ...syntax.Stmt) settings {
	for _, stmt := range stmts {
		for o := range syntax.All[*syntax.SetOption](stmt) {
			s = s.join(s.after(o))
		}
	}
	return s
}

// lenient reports whether arithmetic that fails yields NULL.
func (s settings) lenient() bool { return s.warningsOff && !s.abortOn }

// sets notes a SET. In a body with labels every SET counts everywhere, for a GOTO can lead from any place to another.
func (w *walker) sets(o *syntax.SetOption) {
	if !w.jumps {
		w.e.settings = w.e.settings.after(o)
	}
}

// begin notes the settings at the beginning of a body.
func (w *walker) begin(stmts []syntax.Stmt) {
	w.jumps = slices.ContainsFunc(stmts, func(s syntax.Stmt) bool {
		for range syntax.All[*syntax.Label](s) {
			return true
		}
		return false
	})
	if w.jumps {
		w.e.settings = w.e.settings.anywhere(stmts...)
	}
}

// binaryFails reports whether x op y can fail for values that are not NULL.
func binaryFails(op string, x, y, result typed) bool {
	switch op {
	case "+", "-", "*":
		return !result.Type.IsCharacter() && !result.Type.IsBinary()
	case "/", "%":
		// Of whole numbers only a division by zero does, and the least number by -1, which is no literal.
		n := y.literal
		return !x.Type.IsExactInteger() || n == nil || n.Kind != syntax.IntLiteral || onlyZeros(n.Value)
	default:
		return false // of bits
	}
}

// onlyZeros reports whether the digits of a literal are all 0.
func onlyZeros(digits string) bool {
	return !slices.ContainsFunc([]byte(digits), func(c byte) bool { return c != '0' })
}

// wholeDigits returns how many digits a number of a type has before the point at most.
func wholeDigits(t sqltype.Type) int {
	switch t.Kind {
	case sqltype.Bit:
		return 1
	case sqltype.TinyInt:
		return 3
	case sqltype.SmallInt:
		return 5
	case sqltype.Int:
		return 10
	case sqltype.BigInt:
		return 19
	case sqltype.SmallMoney:
		return 6
	case sqltype.Money:
		return 15
	case sqltype.Decimal:
		return t.Precision - t.Scale
	default:
		return 400 // real and float, and texts of numbers
	}
}

// rounds reports whether a number loses digits behind the point in a decimal: 9.9 is 10 in decimal(1, 0).
func rounds(from, to sqltype.Type) bool {
	return from.Kind == sqltype.Decimal && to.Scale < from.Scale || from.IsMoney() && to.Scale < 4
}

// conversionFails reports whether a value of one type can be out of the range of another.
func conversionFails(from, to sqltype.Type) bool {
	switch {
	case from == to, from.Kind == sqltype.Null, to.Kind == sqltype.Bit:
		return false
	case to.IsCharacter():
		return from.IsNumeric() && !to.IsMax() && !to.IsLOB() && to.Length <= wholeDigits(from)+2+from.Scale
	case to.IsApproximate():
		return from.IsCharacter() || from.Kind == sqltype.Float && to.Kind == sqltype.Real
	case from.IsBinary():
		return false
	case from.IsExactInteger() && to.IsNumeric(), to.Kind == sqltype.Decimal && !rounds(from, to):
		return wholeDigits(to) < wholeDigits(from)
	case to.IsNumeric():
		return wholeDigits(to) <= wholeDigits(from)
	case to.IsTemporal():
		return from.IsCharacter() || from.IsNumeric() || to.Kind == sqltype.DateTime || to.Kind == sqltype.SmallDateTime ||
			from.Kind == sqltype.DateTimeOffset || to.Kind == sqltype.DateTimeOffset
	default:
		return false
	}
}

// callFails reports whether a built-in function can fail for values that are not NULL.
func callFails(c *invocation, f builtin.Function) bool {
	if c.name == "ISNULL" { // its second argument becomes of the type of the first
		return len(c.args) == 2 && !c.args[0].isNull() && conversionFails(c.args[1].Type, c.args[0].Type) && c.args[1].literal == nil
	}
	return f.Fails(c.name)
}
