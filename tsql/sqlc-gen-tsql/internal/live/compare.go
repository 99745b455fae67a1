package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// columns compares the columns of a result set, whose names are equal already. Types and nullability are compared;
// the order is part of the names' equality.
func (v *verifier) columns(what string, place catalog.Place, set string, want []analyze.Column, have []column) {
	for i, w := range want {
		h := have[i]
		part := set + ", column " + w.Name
		if differs(w, h) {
			v.report.drift(what, place, part, w.Type.String(), typeName(h))
		}
		switch {
		case w.Nullable:
		case h.null:
			v.report.drift(what, place, part, "not null", "a row has NULL")
		case h.nullable:
			// The server takes COUNT(*), COALESCE(x, 0) and much else for nullable; no NULL came, and the tables'
			// columns are compared, so that this alone is no drift.
			v.report.unchecked(what, "%s: never NULL by the scripts, which the server can't confirm", part)
		}
	}
}

// differs reports whether a column has another type than every one that the statements which send it may give it.
func differs(want analyze.Column, have column) bool {
	return !sameType(want.Type, have.Type) && !slices.ContainsFunc(want.Types, func(t sqltype.Type) bool { return sameType(t, have.Type) })
}

// sameType compares types. A driver reports precision for kinds that have none, so that it counts for decimals only.
func sameType(want, have sqltype.Type) bool {
	switch {
	case want == have:
		return true
	// A table's column has the type, a result's only its bytes.
	case want.Kind == sqltype.RowVersion:
		return have == sqltype.Type{Kind: sqltype.Binary, Length: 8}
	default: // facets that this kind doesn't have
		return want.Kind == have.Kind && want.Kind != sqltype.Decimal && want.Length == have.Length && want.Scale == have.Scale
	}
}

// typeName writes a type that T-SQL may not know.
func typeName(c column) string {
	if c.Type.Kind == sqltype.Invalid {
		return strings.ToLower(c.raw)
	}
	return c.Type.String()
}

// sameNames reports whether a set has the names of the expected columns. Case doesn't count: the driver's column
// names are matched so by everybody who reads by name.
func sameNames(want []analyze.Column, have set) bool {
	return slices.EqualFunc(want, have.columns, func(w analyze.Column, h column) bool {
		return strings.EqualFold(w.Name, h.name)
	})
}

// setName calls a result set as people would: by its name, or by its place in the text.
func setName(p *analyze.Procedure, i int) string {
	if name := p.Results[i].Name; name != "" {
		return "result set " + name
	}
	return fmt.Sprintf("result set %d", i+1)
}

// listColumns writes the names of expected columns.
func listColumns(columns []analyze.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return "(" + strings.Join(names, ", ") + ")"
}
