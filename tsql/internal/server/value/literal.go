package value

import (
	"errors"
	"math"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Literal returns the value and the type of a constant. The collation of text is open: that of the database, unless the
// other operand has one.
func Literal(x *syntax.Literal) (Value, Type, error) {
	switch x.Kind {
	case syntax.NullLiteral:
		return Value{}, OfKind(sqltype.Null), nil
	case syntax.IntLiteral:
		return numberLiteral(x.Value, sqltype.IntLiteral)
	case syntax.DecimalLiteral:
		return numberLiteral(x.Value, sqltype.DecimalLiteral)
	case syntax.FloatLiteral:
		f, err := strconv.ParseFloat(x.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			return Value{}, Type{}, fault.New(168, x.Value, 8)
		}
		return OfFloat(f), Type{Type: sqltype.FloatLiteral()}, nil
	case syntax.MoneyLiteral:
		t := Type{Type: sqltype.MoneyLiteral()}
		v, err := textToMoney(x.Value, t)
		return v, t, err
	case syntax.StringLiteral, syntax.NStringLiteral:
		national := x.Kind == syntax.NStringLiteral
		t := Type{Type: sqltype.StringLiteral(x.Value, national)}
		if !national {
			return OfString(toPage(x.Value, nil)), t, nil
		}
		return OfString(x.Value), t, nil
	case syntax.BinaryLiteral:
		t, err := sqltype.BinaryLiteral(x.Value)
		if err != nil {
			return Value{}, Type{}, fault.New(102, x.Value)
		}
		hex := x.Value[2:]
		if len(hex)%2 == 1 {
			hex = "0" + hex
		}
		b, ok := parseHex(hex, false)
		if !ok {
			return Value{}, Type{}, fault.New(102, x.Value)
		}
		return OfRaw(b), Type{Type: t}, nil
	default:
		return Value{}, Type{}, errors.New("value: DEFAULT is no constant")
	}
}

// numberLiteral reads an integer or a decimal. Its type has the digits of its text.
func numberLiteral(text string, typeOf func(string) (sqltype.Type, error)) (Value, Type, error) {
	t, err := typeOf(text)
	if err != nil {
		return Value{}, Type{}, fault.New(1007, text)
	}
	v, ok := parseDecimal(text)
	if !ok {
		return Value{}, Type{}, fault.New(1007, text)
	}
	if t.Kind == sqltype.Int {
		return OfInt(v.n), Type{Type: t}, nil
	}
	v.scale = uint8(t.Scale)
	return v, Type{Type: t}, nil
}
