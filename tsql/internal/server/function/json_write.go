package function

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// IsJSON reports whether an expression yields JSON to the functions that build JSON and to FOR JSON: they put it in as
// it is, where they quote any other text.
func IsJSON(x syntax.Expr) bool {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Call:
		switch nameOf(x) {
		case "JSON_QUERY", "JSON_MODIFY", "JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG":
			return true
		}
	case *syntax.Subquery:
		return x.Query.For != nil && x.Query.For.Kind == "JSON" && !hasOption(x.Query.For, "WITHOUT_ARRAY_WRAPPER")
	}
	return false
}

// hasOption reports whether FOR JSON has an option.
func hasOption(f *syntax.ForClause, name string) bool {
	for _, o := range f.Options {
		if strings.EqualFold(o.Name, name) {
			return true
		}
	}
	return false
}

// appendJSON appends a value as JSON.
func appendJSON(dst []byte, v value.Value, t value.Type, isJSON bool) ([]byte, error) {
	if v.Kind() == value.Variant {
		v, t = v.Variant()
	}
	switch {
	case v.IsNull():
		return append(dst, "null"...), nil
	case isJSON:
		return append(dst, v.Str()...), nil
	case v.Kind() == value.String:
		return appendQuoted(dst, v.Str()), nil
	case v.Kind() == value.Bytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes())
		return append(dst, '"'), nil
	case t.Kind == sqltype.Bit:
		return strconv.AppendBool(dst, v.Bool()), nil
	case v.Kind() == value.Int:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case v.Kind() == value.Float:
		return appendFloat(dst, v.Float(), t), nil
	}
	text, err := jsonText(v, t)
	if err != nil {
		return dst, err
	}
	if t.IsNumeric() {
		return append(dst, text...), nil
	}
	return appendQuoted(dst, text), nil
}

// jsonText is a decimal, a date or a GUID as JSON has it: dates as style 126 of CONVERT, money with four digits.
func jsonText(v value.Value, t value.Type) (string, error) {
	style := 126
	switch v.Kind() {
	case value.Money:
		style = 2
	case value.DateTimeOffset:
		if v.OffsetMinutes() == 0 {
			style = 127 // Z
		}
	case value.Decimal, value.GUID:
		style = 0
	default: // dates and times
	}
	text, err := value.Convert(v, t, value.NVarChar(100), style)
	return text.Str(), err
}

// appendFloat prints a float with all its digits, as 1.500000000000000e+000.
func appendFloat(dst []byte, f float64, t value.Type) []byte {
	digits := 15
	if t.Kind == sqltype.Real {
		digits = 7
	}
	text := strconv.FormatFloat(f, 'e', digits, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	dst = append(dst, mantissa...)
	dst = append(dst, 'e', exponent[0])
	for range 3 - len(exponent[1:]) {
		dst = append(dst, '0')
	}
	return append(dst, exponent[1:]...)
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

// escapes are the characters with an escape of their own. The slash is one for the server.
var escapes = map[byte]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// appendEscaped appends a text as the content of a JSON string.
func appendEscaped(dst []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != '/' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if e, ok := escapes[c]; ok {
			dst = append(dst, e...)
			continue
		}
		const hex = "0123456789abcdef"
		dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(dst, s[from:]...)
}

// bindJSONBuild is JSON_OBJECT, whose NULLs are there by default, and JSON_ARRAY, whose NULLs are not.
func bindJSONBuild(c *bindCall) (*Bound, error) {
	object := c.name == "JSON_OBJECT"
	absent := c.syntax.JSONNulls == "ABSENT ON NULL" || !object && c.syntax.JSONNulls == ""
	types := make([]value.Type, len(c.args))
	count := len(c.args) - len(c.syntax.Keys)
	for i := count; i < len(types); i++ {
		types[i] = value.NVarChar(4000)
	}
	marks := "[]"
	if object {
		marks = "{}"
	}
	return &Bound{Deterministic: true, Args: types, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		dst := []byte{marks[0]}
		for i, v := range args[:count] {
			if object && args[count+i].IsNull() {
				return value.Value{}, fault.New(13638, "json_object")
			}
			if absent && v.IsNull() {
				continue
			}
			if len(dst) > 1 {
				dst = append(dst, ',')
			}
			if object {
				dst = append(appendQuoted(dst, args[count+i].Str()), ':')
			}
			var err error
			if dst, err = appendJSON(dst, v, c.args[i].Type, IsJSON(c.args[i].Expr)); err != nil {
				return value.Value{}, err
			}
		}
		return value.OfString(string(append(dst, marks[1]))), nil
	}}, nil
}
