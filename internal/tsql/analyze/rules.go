package analyze

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
)

// The rules that compute the types of built-in functions, by family.

// fixed yields one type whatever the arguments.
func fixed(t sqltype.Type) rule {
	return func(*invocation) (sqltype.Type, error) { return t, nil }
}

// ofFirst yields the type of the first argument, with the untyped NULL as int.
func ofFirst(c *invocation) (sqltype.Type, error) {
	if c.args[0].isNull() {
		return typeInt, nil
	}
	return c.args[0].Type, nil
}

// ofBits yields the type of the first argument, which is a whole number or a binary.
func ofBits(c *invocation) (sqltype.Type, error) {
	if t := c.args[0].Type; !t.IsExactInteger() && !t.IsBinary() {
		return t, fmt.Errorf("it takes a whole number or a binary, not %s", t)
	}
	return ofFirst(c)
}

// aggregate applies a rule of package sqltype to the first argument.
func aggregate(f func(sqltype.Type) (sqltype.Type, error)) rule {
	return func(c *invocation) (sqltype.Type, error) {
		if c.args[0].isNull() {
			return sqltype.Type{}, errors.New("NULL has no type: CAST it")
		}
		return f(c.args[0].Type)
	}
}

// united yields the union of the arguments from the n-th on.
//
// COALESCE (@int, N'1') is an int by the precedence of types, not by the order of the arguments: ISNULL is the one that
// goes by the first.
func united(n int) rule {
	return func(c *invocation) (sqltype.Type, error) {
		t := c.args[n].Type
		var err error
		for _, arg := range c.args[n+1:] {
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
func isNullRule(c *invocation) (sqltype.Type, error) {
	first, second := c.args[0], c.args[1]
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
func nullIfRule(c *invocation) (sqltype.Type, error) {
	if c.args[0].isNull() {
		return sqltype.Type{}, errors.New("the first argument can't be NULL")
	}
	if c.args[1].isNull() {
		return c.args[0].Type, nil
	}
	return c.args[0].Type, sqltype.Comparable(c.args[0].Type, c.args[1].Type)
}

// shiftRule is LAG and LEAD: the type of the value, to which the default converts.
func shiftRule(c *invocation) (sqltype.Type, error) {
	if len(c.args) == 3 && !c.args[2].isNull() && !c.args[0].isNull() {
		if err := sqltype.Assignable(c.args[2].Type, c.args[0].Type); err != nil {
			return sqltype.Type{}, err
		}
	}
	return ofFirst(c)
}

// percentileRule is PERCENTILE_DISC's: one of the ordered values. Their type is not at hand here.
func percentileRule(*invocation) (sqltype.Type, error) {
	return sqltype.Type{}, errPercentile
}

var errPercentile = errors.New("not known to the generator; use PERCENTILE_CONT, which is float")

// sizedBy yields int, or bigint when one of the given arguments is a (max) type.
//
// LEN, DATALENGTH and CHARINDEX: a (max) value can be longer than an int counts.
func sizedBy(args ...int) rule {
	return func(c *invocation) (sqltype.Type, error) {
		for _, i := range args {
			if c.args[i].Type.IsMax() {
				return typeBigInt, nil
			}
		}
		return typeInt, nil
	}
}

// varying returns the varchar or nvarchar that holds text of a type: what is no text takes as much as it prints.
func varying(t sqltype.Type, national bool) sqltype.Type {
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
func sameText(c *invocation) (sqltype.Type, error) {
	if c.args[0].isNull() {
		return varchar(1), nil
	}
	return varying(c.args[0].Type, false), nil
}

// longText has room for any result: 8,000 bytes, or (max) when the first argument has.
//
// REPLACE may make a text longer than it was, to an extent that no rule tells; the server too describes the result as
// 8,000 bytes.
func longText(c *invocation) (sqltype.Type, error) {
	first := c.args[0].Type
	national := first.IsNational()
	if c.name == "REPLACE" {
		for _, arg := range c.args[1:] {
			national = national || arg.Type.IsNational()
		}
	}
	switch {
	case first.IsBinary():
		if first.IsMax() {
			return first, nil
		}
		return varbinary(8000), nil
	case first.IsLOB():
		return varying(first, national), nil
	case national:
		return nvarchar(4000), nil
	default:
		return varchar(8000), nil
	}
}

// partOf is SUBSTRING, LEFT and RIGHT: as long as the whole, or as the number says if it is a literal.
func partOf(number int) rule {
	return func(c *invocation) (sqltype.Type, error) {
		first := c.args[0].Type
		if c.name == "SUBSTRING" && !first.IsCharacter() && !first.IsBinary() && !c.args[0].isNull() {
			return sqltype.Type{}, fmt.Errorf("takes text or binary data, not %s", first)
		}
		t := varying(first, false)
		if first.IsBinary() {
			t = varbinary(first.Length)
			switch first.Kind {
			case sqltype.Image:
				t = varbinary(sqltype.Max)
			case sqltype.RowVersion:
				t = varbinary(8)
			default: // binary and varbinary keep their length
			}
		}
		if lit := c.args[number].literal; lit != nil && t.Length != sqltype.Max {
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
func concatRule(c *invocation) (sqltype.Type, error) {
	values := c.args
	length, national, unbound := 0, false, false
	add := func(t typed, times int) {
		v := varying(t.Type, false)
		national = national || v.Kind == sqltype.NVarChar
		unbound = unbound || v.Length == sqltype.Max
		length += v.Length * times
	}
	if c.name == "CONCAT_WS" {
		values = c.args[1:]
		add(c.args[0], len(values)-1)
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
func strRule(c *invocation) (sqltype.Type, error) {
	if len(c.args) < 2 {
		return varchar(10), nil
	}
	if lit := c.args[1].literal; lit != nil {
		if n, err := strconv.Atoi(lit.Value); err == nil && n > 0 && n <= 8000 {
			return varchar(n), nil
		}
	}
	return varchar(8000), nil
}

// keepsDate is DATEADD: the type of the date, and datetime for text. DATETRUNC makes datetime2 of text.
func keepsDate(argument int, ofText sqltype.Type) rule {
	return func(c *invocation) (sqltype.Type, error) {
		t := c.args[argument]
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
func withOffset(c *invocation) (sqltype.Type, error) {
	if n, ok := fraction(c.args[0].Type); ok {
		return dateTimeOffset(n), nil
	}
	return dateTimeOffset(7), nil
}

// withPrecision is TIMEFROMPARTS and its like: the last argument, a literal, says how many fractional digits.
func withPrecision(of func(int) sqltype.Type) rule {
	return func(c *invocation) (sqltype.Type, error) {
		lit := c.args[len(c.args)-1].literal
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
	return func(c *invocation) (sqltype.Type, error) {
		t := c.args[0].Type
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
func trimRule(c *invocation) (sqltype.Type, error) {
	return sameText(&invocation{call: c.call, name: c.name, args: c.args[len(c.args)-1:]})
}

// encodeRule is BASE64_ENCODE: four characters for three bytes.
func encodeRule(c *invocation) (sqltype.Type, error) {
	t := c.args[0].Type
	if !t.IsBinary() {
		return t, fmt.Errorf("takes binary data, not %s", t)
	}
	if n := (t.Length + 2) / 3 * 4; !t.IsMax() && n <= 8000 {
		return varchar(n), nil
	}
	return varchar(sqltype.Max), nil
}

// randomRule is CRYPT_GEN_RANDOM: as many bytes as the literal says.
func randomRule(c *invocation) (sqltype.Type, error) {
	if lit := c.args[0].literal; lit != nil {
		if n, err := strconv.Atoi(lit.Value); err == nil && n > 0 && n <= 8000 {
			return varbinary(n), nil
		}
	}
	return varbinary(8000), nil
}
