package builtin

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The rules that compute the types of built-in functions, by family.

// fixed yields one type whatever the arguments.
func fixed(t sqltype.Type) rule {
	return func(*Call) (sqltype.Type, error) { return t, nil }
}

// ofFirst yields the type of the first argument, with the untyped NULL as int.
func ofFirst(c *Call) (sqltype.Type, error) {
	if c.Args[0].isNull() {
		return typeInt, nil
	}
	return c.Args[0].Type, nil
}

// ofBits yields the type of the first argument, which is a whole number or a binary.
func ofBits(c *Call) (sqltype.Type, error) {
	if t := c.Args[0].Type; !t.IsExactInteger() && !t.IsBinary() {
		return t, fmt.Errorf("it takes a whole number or a binary, not %s", t)
	}
	return ofFirst(c)
}

// aggregate applies a rule of package sqltype to the first argument.
func aggregate(f func(sqltype.Type) (sqltype.Type, error)) rule {
	return func(c *Call) (sqltype.Type, error) {
		if c.Args[0].isNull() {
			return sqltype.Type{}, errors.New("NULL has no type: CAST it")
		}
		return f(c.Args[0].Type)
	}
}

// united yields the union of the arguments from the n-th on.
//
// COALESCE (@int, N'1') is an int by the precedence of types, not by the order of the arguments: ISNULL is the one that
// goes by the first.
func united(n int) rule {
	return func(c *Call) (sqltype.Type, error) {
		t := c.Args[n].Type
		var err error
		for _, arg := range c.Args[n+1:] {
			if t, err = sqltype.Union(t, arg.Type); err != nil {
				return t, err
			}
		}
		if t.Kind == sqltype.Null {
			return t, errors.New("at least one value must have a type: CAST a NULL")
		}
		return t, nil
	}
}

// isNullRule is ISNULL: the type of the first argument, into which the second is cut.
//
//	ISNULL (CAST (NULL AS varchar(3)), 'abcdef')     -- 'abc'
//
// which is a known trap; COALESCE yields all six letters.
func isNullRule(c *Call) (sqltype.Type, error) {
	first, second := c.Args[0], c.Args[1]
	switch {
	case first.isNull() && second.isNull():
		return typeInt, nil
	case first.isNull():
		return second.Type, nil
	case second.isNull():
		return first.Type, nil
	}
	return first.Type, sqltype.Assignable(second.Type, first.Type)
}

// nullIfRule is NULLIF: the type of the first argument.
func nullIfRule(c *Call) (sqltype.Type, error) {
	if c.Args[0].isNull() {
		return sqltype.Type{}, errors.New("the first argument can't be NULL")
	}
	if c.Args[1].isNull() {
		return c.Args[0].Type, nil
	}
	return c.Args[0].Type, sqltype.Comparable(c.Args[0].Type, c.Args[1].Type)
}

// shiftRule is LAG and LEAD: the type of the value, to which the default converts.
func shiftRule(c *Call) (sqltype.Type, error) {
	if len(c.Args) == 3 && !c.Args[2].isNull() && !c.Args[0].isNull() {
		if err := sqltype.Assignable(c.Args[2].Type, c.Args[0].Type); err != nil {
			return sqltype.Type{}, err
		}
	}
	return ofFirst(c)
}

// percentileRule is PERCENTILE_DISC's: one of the ordered values. Their type is not at hand here.
func percentileRule(*Call) (sqltype.Type, error) { return sqltype.Type{}, ErrOrdered }

// sizedBy yields int, or bigint when one of the given arguments is a (max) type.
//
// LEN, DATALENGTH and CHARINDEX: a (max) value can be longer than an int counts.
func sizedBy(args ...int) rule {
	return func(c *Call) (sqltype.Type, error) {
		for _, i := range args {
			if c.Args[i].Type.IsMax() {
				return typeBigInt, nil
			}
		}
		return typeInt, nil
	}
}

// TextOf returns the varchar or nvarchar that holds text of a type: what is no text takes as much as it prints.
func TextOf(t sqltype.Type, national bool) sqltype.Type {
	switch {
	case t.Kind == sqltype.XML, t.Kind == sqltype.NText:
		return typeNVarCharMax
	case t.Kind == sqltype.Text && national:
		return typeNVarCharMax
	case t.Kind == sqltype.Text:
		return varchar(sqltype.Max)
	}
	n := t.Length
	if !t.IsCharacter() {
		n = printed(t)
	}
	if national || t.IsNational() {
		if n > 4000 {
			n = 4000
		}
		return nvarchar(n)
	}
	return varchar(n)
}

// printed is how many characters a value that is no text takes at most.
func printed(t sqltype.Type) int {
	switch t.Kind {
	case sqltype.Bit, sqltype.Null:
		return 1
	case sqltype.TinyInt:
		return 3
	case sqltype.SmallInt:
		return 6
	case sqltype.Int:
		return 12
	case sqltype.Decimal:
		return 41
	case sqltype.UniqueIdentifier:
		return 36
	case sqltype.Binary, sqltype.VarBinary:
		return t.Length
	default:
		return 40
	}
}

// sameText keeps the length of the first argument.
func sameText(c *Call) (sqltype.Type, error) {
	if c.Args[0].isNull() {
		return varchar(1), nil
	}
	return TextOf(c.Args[0].Type, false), nil
}

// longText has room for any result: 8,000 bytes, or (max) when the first argument has. STUFF and REPLICATE keep binary
// data, of which REPLACE and TRANSLATE make text.
//
// REPLACE may make a text longer than it was, to an extent that no rule tells; the server too describes the result as
// 8,000 bytes.
func longText(c *Call) (sqltype.Type, error) {
	first := c.Args[0].Type
	national := first.IsNational()
	if c.Name == "REPLACE" {
		for _, arg := range c.Args[1:] {
			national = national || arg.Type.IsNational()
		}
	}
	switch {
	case first.IsBinary() && (c.Name == "STUFF" || c.Name == "REPLICATE"):
		if first.IsMax() {
			return first, nil
		}
		return varbinary(8000), nil
	case first.IsLOB():
		return TextOf(first, national), nil
	case national:
		return nvarchar(4000), nil
	default:
		return varchar(8000), nil
	}
}

// partOf is SUBSTRING, LEFT and RIGHT: as long as the whole, or as the number says if it is a literal. SUBSTRING keeps
// binary data, of which LEFT and RIGHT make text.
func partOf(number int) rule {
	return func(c *Call) (sqltype.Type, error) {
		first := c.Args[0].Type
		if c.Name == "SUBSTRING" && !first.IsCharacter() && !first.IsBinary() && !c.Args[0].isNull() {
			return sqltype.Type{}, fmt.Errorf("takes text or binary data, not %s", first)
		}
		t := TextOf(first, false)
		if first.IsBinary() && c.Name == "SUBSTRING" {
			t = varbinary(first.Length)
			switch first.Kind {
			case sqltype.Image:
				t = varbinary(sqltype.Max)
			case sqltype.RowVersion:
				t = varbinary(8)
			default: // binary and varbinary keep their length
			}
		}
		if lit := c.Args[number].Literal; lit != nil && t.Length != sqltype.Max {
			if n, err := strconv.Atoi(lit.Value); err == nil {
				t.Length = max(1, min(n, t.Length))
			}
		}
		return t, nil
	}
}

// concatRule is CONCAT and CONCAT_WS: the lengths add up, and (max) is contagious.
//
// Unlike +, CONCAT takes values that are no text, and takes NULL for an empty one.
func concatRule(c *Call) (sqltype.Type, error) {
	values := c.Args
	length, national, unbound := 0, false, false
	add := func(t Argument, times int) {
		v := TextOf(t.Type, false)
		national = national || v.Kind == sqltype.NVarChar
		unbound = unbound || v.Length == sqltype.Max
		length += v.Length * times
	}
	if c.Name == "CONCAT_WS" {
		values = c.Args[1:]
		add(c.Args[0], len(values)-1)
	}
	for _, v := range values {
		add(v, 1)
	}
	switch {
	case unbound && national:
		return typeNVarCharMax, nil
	case unbound:
		return varchar(sqltype.Max), nil
	case national:
		return nvarchar(max(1, min(length, 4000))), nil
	default:
		return varchar(max(1, min(length, 8000))), nil
	}
}

// strRule is STR: as long as the second argument says, 10 without one.
//
// What does not fit comes as asterisks, not as an error, so that the length is exact.
func strRule(c *Call) (sqltype.Type, error) {
	if len(c.Args) < 2 {
		return varchar(10), nil
	}
	if lit := c.Args[1].Literal; lit != nil {
		if n, err := strconv.Atoi(lit.Value); err == nil && n > 0 && n <= 8000 {
			return varchar(n), nil
		}
	}
	return varchar(8000), nil
}

// keepsDate is DATEADD: the type of the date, and datetime for text. DATETRUNC makes datetime2 of text.
func keepsDate(argument int, ofText sqltype.Type) rule {
	return func(c *Call) (sqltype.Type, error) {
		t := c.Args[argument]
		switch {
		case t.Type.IsTemporal():
			return t.Type, nil
		case t.Type.IsCharacter(), t.Type.IsNumeric(), t.isNull():
			return ofText, nil
		default:
			return sqltype.Type{}, fmt.Errorf("takes a date or time, not %s", t.Type)
		}
	}
}

// withOffset is SWITCHOFFSET and TODATETIMEOFFSET: the fractional digits are kept.
func withOffset(c *Call) (sqltype.Type, error) {
	if n, ok := fraction(c.Args[0].Type); ok {
		return dateTimeOffset(n), nil
	}
	return dateTimeOffset(7), nil
}

// AtTimeZone returns the type of x AT TIME ZONE zone: a datetimeoffset with the fractional digits of x.
func AtTimeZone(t sqltype.Type) (sqltype.Type, error) {
	scale, ok := fraction(t)
	if !ok || t.Kind == sqltype.Date || t.Kind == sqltype.Time {
		return sqltype.Type{}, fmt.Errorf("AT TIME ZONE takes a point in time, not %s", t)
	}
	return dateTimeOffset(scale), nil
}

// fraction returns the fractional digits of a date or time type.
func fraction(t sqltype.Type) (int, bool) {
	switch t.Kind {
	case sqltype.DateTime:
		return 3, true
	case sqltype.SmallDateTime, sqltype.Date:
		return 0, true
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return t.Scale, true
	default:
		return 0, false
	}
}

// withPrecision is TIMEFROMPARTS and its like: the last argument, a literal, says how many fractional digits.
func withPrecision(of func(int) sqltype.Type) rule {
	return func(c *Call) (sqltype.Type, error) {
		lit := c.Args[len(c.Args)-1].Literal
		if lit == nil {
			return sqltype.Type{}, errors.New("the precision must be a number from 0 to 7")
		}
		n, err := strconv.Atoi(lit.Value)
		if err != nil || n < 0 || n > 7 {
			return sqltype.Type{}, errors.New("the precision must be a number from 0 to 7")
		}
		return of(n), nil
	}
}

// sameNumber is ABS and its like: the type of the number, with small integers as int. A decimal is changed by adjust.
func sameNumber(adjust func(sqltype.Type) sqltype.Type) rule {
	return func(c *Call) (sqltype.Type, error) {
		t := c.Args[0].Type
		switch t.Kind {
		case sqltype.TinyInt, sqltype.SmallInt, sqltype.Int:
			return typeInt, nil
		case sqltype.BigInt:
			return typeBigInt, nil
		case sqltype.Decimal:
			return adjust(t), nil
		case sqltype.Money, sqltype.SmallMoney:
			return sqltype.Type{Kind: sqltype.Money}, nil
		default:
			return typeFloat, nil
		}
	}
}

func unchanged(t sqltype.Type) sqltype.Type { return t }

func withoutFraction(t sqltype.Type) sqltype.Type { return decimal(t.Precision, 0) }

func widest(t sqltype.Type) sqltype.Type { return decimal(38, t.Scale) }

// trimRule is TRIM, whose text comes last.
func trimRule(c *Call) (sqltype.Type, error) {
	return sameText(&Call{Syntax: c.Syntax, Name: c.Name, Args: c.Args[len(c.Args)-1:]})
}

// encodeRule is BASE64_ENCODE: four characters for three bytes.
func encodeRule(c *Call) (sqltype.Type, error) {
	t := c.Args[0].Type
	if !t.IsBinary() {
		return t, fmt.Errorf("takes binary data, not %s", t)
	}
	if n := (t.Length + 2) / 3 * 4; !t.IsMax() && n <= 8000 {
		return varchar(n), nil
	}
	return varchar(sqltype.Max), nil
}

// randomRule is CRYPT_GEN_RANDOM: as many bytes as the literal says.
func randomRule(c *Call) (sqltype.Type, error) {
	if lit := c.Args[0].Literal; lit != nil {
		if n, err := strconv.Atoi(lit.Value); err == nil && n > 0 && n <= 8000 {
			return varbinary(n), nil
		}
	}
	return varbinary(8000), nil
}
