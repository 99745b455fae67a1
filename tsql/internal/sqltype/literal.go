package sqltype

import (
	"fmt"
	"strconv"
	"strings"
)

// IntLiteral returns the type of an integer literal of digits: int, or decimal(n,0) beyond its range. T-SQL has no
// bigint literal.
// So 2147483648 is decimal(10,0), and what is computed with it too.
func IntLiteral(text string) (Type, error) {
	if !digits(text) || text == "" {
		return Type{}, fmt.Errorf("%q is not an integer", text)
	}
	if _, err := strconv.ParseInt(text, 10, 32); err == nil {
		return Type{Kind: Int}, nil
	}
	// Bigger ones are decimals even where bigint would hold them.
	n := len(strings.TrimLeft(text, "0"))
	if n > maxPrecision {
		return Type{}, fmt.Errorf("the number has %d digits; decimal has at most %d", n, maxPrecision)
	}
	return Type{Kind: Decimal, Precision: n}, nil
}

// IntLiteralBesideDecimal returns the type that an integer literal takes as an operand beside a decimal:
// decimal(n,0) with
// just its digits, where a column of type int takes decimal(10,0). So 1.0 / 3 has six fractional digits.
func IntLiteralBesideDecimal(text string) (Type, error) {
	if _, err := IntLiteral(text); err != nil {
		return Type{}, err
	}
	return Type{Kind: Decimal, Precision: max(len(strings.TrimLeft(text, "0")), 1)}, nil
}

// DecimalLiteral returns the type of a literal with a point: 12.345 is decimal(5,3). Leading zeros don't count,
// trailing
// ones do.
func DecimalLiteral(text string) (Type, error) {
	whole, part, found := strings.Cut(text, ".")
	if !found || !digits(whole) || !digits(part) || whole+part == "" {
		return Type{}, fmt.Errorf("%q is not a decimal number", text)
	}
	precision := max(len(strings.TrimLeft(whole, "0"))+len(part), 1)
	if precision > maxPrecision {
		return Type{}, fmt.Errorf("the number has %d digits; decimal has at most %d", precision, maxPrecision)
	}
	return Type{Kind: Decimal, Precision: precision, Scale: len(part)}, nil
}

// digits reports whether a text consists of decimal digits.
func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// FloatLiteral returns the type of 1e5: float.
// The exponent decides; how many digits there are doesn't matter.
func FloatLiteral() Type { return Type{Kind: Float} }

// MoneyLiteral returns the type of $1.50: money.
func MoneyLiteral() Type { return Type{Kind: Money} }

// StringLiteral returns the type of 'x', or of N'x' if national, by its content without quotes: varchar(n) or
// nvarchar(n), and the (max) type beyond what can be declared. The length counts UTF-16 units, which is what nvarchar
// counts and what varchar holds in a collation of one byte a character. The empty string has length 1.
func StringLiteral(value string, national bool) Type {
	kind := VarChar
	if national {
		kind = NVarChar
	}
	n := 0
	for _, r := range value {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return bounded(kind, n)
}

// BinaryLiteral returns the type of 0xFF: varbinary(n). An odd digit takes a byte of its own, and 0x has length 1.
func BinaryLiteral(text string) (Type, error) {
	hex, found := strings.CutPrefix(strings.ToLower(text), "0x")
	if !found || strings.Trim(hex, "0123456789abcdef") != "" {
		return Type{}, fmt.Errorf("%q is not a binary literal", text)
	}
	return bounded(VarBinary, (len(hex)+1)/2), nil
}

// bounded returns the type of varying length for a literal of n characters or bytes. A length of 0 can't be
// declared, so an
// empty literal has 1; one that is too long is of the (max) type.
func bounded(kind Kind, n int) Type {
	if n > kinds[kind].limit {
		n = Max
	} else {
		n = max(n, 1)
	}
	return Type{Kind: kind, Length: n}
}
