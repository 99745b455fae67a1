package builtin

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// An Identity is IDENTITY (type, seed, increment), which makes an identity column of the table of SELECT … INTO.
type Identity struct {
	Type            sqltype.Type
	Seed, Increment *big.Int
}

// IsIdentity reports calls of IDENTITY.
func IsIdentity(x syntax.Expr) (*syntax.Call, bool) {
	c, ok := x.(*syntax.Call)
	if !ok || len(c.Name.Parts) != 1 || c.Name.Parts[0].Quoted || !strings.EqualFold(c.Name.Parts[0].Value, "IDENTITY") {
		return nil, false
	}
	return c, true
}

// ReadIdentity reads a call of IDENTITY. The type is one of whole numbers other than bit; seed and increment are whole
// numbers, both or none.
func ReadIdentity(c *syntax.Call) (Identity, error) {
	id := Identity{Seed: big.NewInt(1), Increment: big.NewInt(1)}
	if len(c.Args) != 1 && len(c.Args) != 3 {
		return id, errors.New("IDENTITY takes a type, a seed and an increment")
	}
	var err error
	if id.Type, err = typeArgument(c.Args[0]); err != nil {
		return id, err
	}
	if !numbersRows(id.Type) {
		return id, fmt.Errorf("an identity column is tinyint, smallint, int, bigint, or decimal without digits behind the point, not %s", id.Type)
	}
	for i, to := range []*big.Int{id.Seed, id.Increment}[:len(c.Args)-1] {
		if !wholeNumber(c.Args[i+1], to) {
			return id, errors.New("seed and increment of IDENTITY are whole numbers")
		}
	}
	return id, nil
}

// numbersRows reports whether a column of a type can be an identity column.
func numbersRows(t sqltype.Type) bool {
	switch t.Kind {
	case sqltype.TinyInt, sqltype.SmallInt, sqltype.Int, sqltype.BigInt:
		return true
	case sqltype.Decimal:
		return t.Scale == 0
	default:
		return false
	}
}

// typeArgument reads a type that stands as an argument: int, or numeric (10, 0).
func typeArgument(x syntax.Expr) (sqltype.Type, error) {
	switch x := x.(type) {
	case *syntax.ColumnRef:
		if len(x.Parts) == 1 {
			return sqltype.Parse(x.Parts[0].Value, nil)
		}
	case *syntax.Call:
		facets := make([]string, len(x.Args))
		for i, arg := range x.Args {
			if lit, ok := arg.(*syntax.Literal); ok {
				facets[i] = lit.Value
			}
		}
		return sqltype.Parse(x.Name.Last().Value, facets)
	}
	return sqltype.Type{}, errors.New("the first argument of IDENTITY is a type")
}

// wholeNumber reads a whole number with its sign.
func wholeNumber(x syntax.Expr, to *big.Int) bool {
	sign := ""
	if u, ok := x.(*syntax.Unary); ok && (u.Op == "-" || u.Op == "+") {
		sign, x = u.Op, u.X
	}
	lit, ok := x.(*syntax.Literal)
	if !ok || lit.Kind != syntax.IntLiteral {
		return false
	}
	_, ok = to.SetString(sign+lit.Value, 10)
	return ok
}
