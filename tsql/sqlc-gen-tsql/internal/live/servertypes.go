package live

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// longest is from where a length that a server reports means (max); the driver reports 2 GB for it, in characters.
const longest = 1 << 29

// serverType makes a type of a server's name for it and its facets; lengths are in characters for national types. The
// zero type, Invalid, stands for a name that isn't known here.
func serverType(name string, length, precision, scale int) sqltype.Type {
	t, err := sqltype.Parse(strings.ToLower(name), nil)
	if err != nil {
		return sqltype.Type{}
	}
	switch t.Kind {
	case sqltype.Char, sqltype.VarChar, sqltype.NChar, sqltype.NVarChar, sqltype.Binary, sqltype.VarBinary:
		t.Length = length
		if length <= 0 || length >= longest { // 0 is what some report instead
			t.Length = sqltype.Max
		}
	case sqltype.Decimal:
		t.Precision, t.Scale = precision, scale
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		t.Scale = scale
	default: // has no facets
	}
	return t
}

// metadataType makes a type of a row of sys.columns or sys.parameters, whose lengths are in bytes.
func metadataType(name string, bytes, precision, scale int) sqltype.Type {
	t := serverType(name, bytes, precision, scale)
	if (t.Kind == sqltype.NChar || t.Kind == sqltype.NVarChar) && t.Length > 0 {
		t.Length /= 2
	}
	return t
}

// writtenType makes a type of its text, "nvarchar(50)". That is how sys.dm_exec_describe_first_result_set tells
// types.
func writtenType(text string) sqltype.Type {
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	var facets []string
	if rest != "" {
		facets = strings.Split(strings.ReplaceAll(rest, " ", ""), ",")
	}
	t, err := sqltype.Parse(name, facets)
	if err != nil {
		return sqltype.Type{}
	}
	return t
}
