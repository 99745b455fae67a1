package builtin

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Kind is what an argument must be. The letters are those of the table.
type Kind byte

// The kinds.
const (
	Anything     Kind = 'a'
	Text         Kind = 's' // or what converts to text by itself
	Number       Kind = 'n' // or what converts to float by itself
	Whole        Kind = 'i' // a whole number, or what converts to bigint by itself
	Document     Kind = 'j' // JSON text
	Name         Kind = 'k' // text that names something
	TextOrBinary Kind = 'b'
	Date         Kind = 'd' // a date or time, text with one, or a number of days since 1900
	PartWord     Kind = 'p' // a word such as DAY: see [PartOf]
	JSONWord     Kind = 'w' // one of [JSONWords]
	Condition    Kind = 'c' // of IIF
)

// kindInfo is what is known about a kind of which the argument is an expression.
type kindInfo struct {
	wants string       // as a message says it
	param sqltype.Type // of a parameter in its place; Invalid if it could have several
	to    sqltype.Type // what it must convert to without CAST; Invalid if anything will do
}

var kinds = map[Kind]kindInfo{
	Anything:     {},
	Text:         {wants: "text", to: typeNVarCharMax},
	Number:       {wants: "a number", to: typeFloat},
	Whole:        {wants: "a whole number", param: typeInt, to: typeBigInt},
	Document:     {wants: "JSON text", param: typeNVarCharMax, to: typeNVarCharMax},
	Name:         {wants: "a name", param: typeSysname, to: typeNVarCharMax},
	TextOrBinary: {wants: "text or binary data"},
	Date:         {wants: "a date or time", to: dateTimeOffset(7)},
}

// Wants names the kind in a message: "takes …". It is empty for [Anything].
func (k Kind) Wants() string { return kinds[k].wants }

// Parameter returns the type that a parameter takes which is used as such an argument; Invalid if it could have
// several.
func (k Kind) Parameter() sqltype.Type { return kinds[k].param }

// Accepts reports whether an argument of a type will do. The literal NULL always does.
func (k Kind) Accepts(t sqltype.Type) bool {
	info := kinds[k]
	switch {
	case t.Kind == sqltype.Null || info.wants == "":
		return true
	case k == TextOrBinary:
		return t.IsCharacter() || t.IsBinary()
	case k == Date && t.IsNumeric():
		return true // days since 1900
	default:
		return sqltype.Assignable(t, info.to) == nil
	}
}

// JSONWords are the words that ISJSON takes.
func JSONWords() []string { return []string{"VALUE", "ARRAY", "OBJECT", "SCALAR"} }

// WordOf returns the word of [JSONWords] that an argument is, in upper case, and whether it is one. The parser reads
// such a word as a column.
func WordOf(x syntax.Expr) (string, bool) {
	ref, ok := x.(*syntax.ColumnRef)
	if !ok || len(ref.Parts) != 1 {
		return "", false
	}
	word := strings.ToUpper(ref.Parts[0].Value)
	return word, slices.Contains(JSONWords(), word)
}
