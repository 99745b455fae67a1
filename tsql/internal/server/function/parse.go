package function

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// PARSE is .NET's Parse of numbers and dates, for the cultures that FORMAT knows. parse_number.go and parse_date.go
// have the two. Of dates .NET reads almost anything; what is not certain is an error that no TRY_PARSE turns into NULL.

// parseKind says what PARSE makes of a type.
type parseKind uint8

const (
	parsesNothing parseKind = iota
	parsesNumber
	parsesDate
)

func parseKindOf(t value.Type) parseKind {
	switch {
	case t.Kind == sqltype.Bit:
		return parsesNothing
	case t.IsNumeric():
		return parsesNumber
	case t.IsTemporal():
		return parsesDate
	default:
		return parsesNothing
	}
}

// CanParse returns the error of a PARSE of a type into another; nil if it can be.
func CanParse(name string, from, to value.Type) error {
	name = strings.ToLower(name)
	switch {
	case from.Kind == sqltype.Null || !from.IsCharacter():
		return fault.New(8116, nullName(from), 1, name)
	case parseKindOf(to) == parsesNothing:
		return fault.New(10761, to.Type.Kind, name)
	default:
		return nil
	}
}

// nullName is the name of a type in messages.
func nullName(t value.Type) string {
	if t.Kind == sqltype.Null {
		return "NULL"
	}
	return string(t.Type.Kind)
}

// Parse makes a value of a text as a culture writes it. An empty name is the culture of the session, which is English.
func Parse(text, name string, to value.Type) (value.Value, error) {
	shown := name
	if name == "" {
		name = "en-US"
	}
	c, ok := cultures[strings.ToLower(strings.TrimSpace(name))]
	if !ok {
		return value.Value{}, fault.New(fault.Unsupported, "PARSE with the culture '"+name+"' is not supported by tsqltest")
	}
	var v value.Value
	var err error
	if parseKindOf(to) == parsesNumber {
		v, err = c.parseNumber(text, to)
	} else {
		v, err = c.parseDate(text, to)
	}
	if e, ok := fault.As(err); err == nil || ok && e.Number == fault.Unsupported {
		return v, err
	}
	return value.Value{}, fault.New(9819, text, parsedName(to), shown)
}

// parsedName is the name of a type in error 9819.
func parsedName(t value.Type) string {
	if t.Kind == sqltype.Decimal {
		return "numeric"
	}
	return string(t.Type.Kind)
}

// errNoValue says that a text is no value of the type.
var errNoValue = errors.New("function: the text is no such value")

// uncertain is the error for a text of which it is not certain what .NET makes of it.
func uncertain(text string) error {
	return fault.New(fault.Unsupported, "PARSE of '"+text+"' is not supported by tsqltest")
}
