package function

import (
	"math/bits"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// bindChecksum is CHECKSUM and BINARY_CHECKSUM, as far as it is known what SQL Server computes: the checksum of one int
// is that number, BINARY_CHECKSUM of one varchar or varbinary turns and mixes its bytes, and the checksum of a random
// value is a random number. Scripts compare checksums with stored ones, so that a number of our own would be a mistake
// that nobody sees.
func bindChecksum(c *bindCall) (*Bound, error) {
	if len(c.args) != 1 || c.syntax.Star {
		return nil, unsupported("%s of other than one value", c.name)
	}
	t := c.args[0].Type
	switch {
	case t.Kind == sqltype.Int, t.Kind == sqltype.SmallInt, t.Kind == sqltype.TinyInt:
		return checksumBy(c.name, func(v value.Value) (value.Value, bool) { return v, true }), nil
	case isRandom(c.args[0].Expr):
		return &Bound{Eval: func(env Environment, _ []value.Value) (value.Value, error) {
			return value.OfInt(int64(int32(env.Random()))), nil
		}}, nil
	case c.name == "BINARY_CHECKSUM" && (t.Kind == sqltype.VarChar || t.Kind == sqltype.VarBinary):
		return checksumBy(c.name, func(v value.Value) (value.Value, bool) { return turnedBytes(contentOf(v, t)) }), nil
	default:
		return nil, unsupported("%s of %s", c.name, t.Type.Kind)
	}
}

// isRandom reports whether an expression is a call whose value is another one each time.
func isRandom(x syntax.Expr) bool {
	call, ok := x.(*syntax.Call)
	if !ok || len(call.Name.Parts) != 1 {
		return false
	}
	name := strings.ToUpper(call.Name.Parts[0].Value)
	return name == "NEWID" || name == "CRYPT_GEN_RANDOM"
}

// checksumBy makes the checksum of one value. f reports whether it knows that of the value; nobody documents that of
// NULL.
func checksumBy(name string, f func(v value.Value) (value.Value, bool)) *Bound {
	return &Bound{Deterministic: true, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		if !args[0].IsNull() {
			if sum, ok := f(args[0]); ok {
				return sum, nil
			}
		}
		return value.Value{}, fault.New(fault.Unsupported, name+" of this value is not supported by tsqltest")
	}}
}

// maxChecksum is how many characters BINARY_CHECKSUM looks at. What it does with longer ones is not said.
const maxChecksum = 255

// turnedBytes turns the sum by four bits and mixes the next byte in. Nobody says whether the blanks at the end count.
func turnedBytes(b []byte) (value.Value, bool) {
	if len(b) == 0 || len(b) > maxChecksum || b[len(b)-1] == ' ' || b[len(b)-1] == 0 {
		return value.Value{}, false
	}
	var sum uint32
	for _, c := range b {
		sum = bits.RotateLeft32(sum, 4) ^ uint32(c)
	}
	return value.OfInt(int64(int32(sum))), true
}
