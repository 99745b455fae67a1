package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/analyze"
	"github.com/duroxide/duroxide-go/internal/tsql/catalog"
	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
)

// columns compares the columns of a result set, whose names are equal already. Types and nullability are compared;
// the order is part of the names' equality.
func (v *verifier) columns(what string, place catalog.Place, set string, want []analyze.Column, have []column) {
	for i, w := range want {
		h := have[i]
		part := set + ", column " + w.Name
		if odd, differs := v.compareColumn(w, h); differs {
			v.report.drift(what, place, part, w.Type.String(), typeName(h))
		} else if odd != "" {
			v.report.unchecked(what, "%s: %s expected, %s there, but %s", part, w.Type, typeName(h), odd)
		}
		switch {
		case w.Nullable:
		case h.null:
			v.report.drift(what, place, part, "not null", "a row has NULL")
		case h.nullable == yes && v.traits.nullability:
			// A server takes COUNT(*), COALESCE(x, 0) and much else for nullable; no NULL came, and the tables' columns
			// are compared, so that this alone is no drift.
			v.report.unchecked(what, "%s: never NULL by the scripts, which the server can't confirm", part)
		}
	}
}

// compareColumn is compareTypes for a column that several statements may send, each with a type of its own.
func (v *verifier) compareColumn(want analyze.Column, have column) (odd string, differs bool) {
	odd, differs = v.compareTypes(want.Type, have)
	for _, t := range want.Types {
		if sent, other := v.compareTypes(t, have); differs && !other {
			odd, differs = sent, false
		}
	}
	return odd, differs
}

// compareTypes reports whether types differ, or why a difference says nothing. A driver reports precision for kinds
// that have none, so that it counts for decimals only.
func (v *verifier) compareTypes(want sqltype.Type, have column) (odd string, differs bool) {
	switch {
	case want == have.Type:
		return "", false
	// A table's column has the type, a result's only its bytes.
	case want.Kind == sqltype.RowVersion && have.Type == sqltype.Type{Kind: sqltype.Binary, Length: 8}:
		return "", false // rows have no type of their own for it
	case want.Kind == have.Type.Kind && want.Kind != sqltype.Decimal && want.Length == have.Type.Length && want.Scale == have.Type.Scale:
		return "", false // facets that this kind doesn't have
	}
	// The server types such expressions in its own way, so that the difference may come from there.
	odd, known := v.traits.odd[kinds{want.Kind, have.Type.Kind}]
	return odd, !known
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
