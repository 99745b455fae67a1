package define

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ResolveType finds the type of a variable or a parameter. A name without a schema is looked for in the given one
// first, then in dbo. The user type is that of an alias or table type. Text has no collation: that of a variable gives
// way to others.
func ResolveType(db *schema.Database, t *syntax.TypeName, first string) (Type, *schema.UserType, error) {
	return resolveType(db, t, first, typeOf{ordinal: 1, what: "type"})
}

// typeOf is what a type is of, for messages.
type typeOf struct {
	ordinal    int
	what, name string // "column", "parameter", "type" and its name; without one it is the type's
}

// resolveType finds a type.
func resolveType(db *schema.Database, t *syntax.TypeName, first string, of typeOf) (Type, *schema.UserType, error) {
	name, schemaName := t.Name.Last().Value, t.Name.Schema()
	builtin := schemaName == "" || strings.EqualFold(schemaName, "sys")
	if builtin && sqltype.Known(name) {
		found, err := builtinType(name, t, of)
		return found, nil, err
	}
	u := db.FindType(schemaName, name, first)
	switch {
	case u == nil:
		return Type{}, nil, value.UnknownType(text(t.Name), fault.New(2715, of.ordinal, text(t.Name)))
	case len(t.Args) > 0:
		return Type{}, nil, fault.New(2716, of.ordinal, text(t.Name))
	case u.Table != nil:
		return Type{Type: sqltype.Type{Kind: sqltype.Table, Name: u.Schema.Name + "." + u.Name}}, u, nil
	default:
		return u.Type, u, nil
	}
}

// isSysname reports whether a type is sysname, which is NOT NULL unless it is said.
func isSysname(t *syntax.TypeName) bool {
	return len(t.Name.Parts) <= 2 && sqltype.IsSysname(t.Name.Last().Value)
}

// builtinType is one of the server's own types with its facets.
func builtinType(name string, t *syntax.TypeName, of typeOf) (Type, error) {
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = a.Value
	}
	found, err := sqltype.Parse(name, args)
	if err == nil && t.Collection != nil {
		return Type{}, value.OfCollection()
	}
	if err == nil {
		return Type{Type: found}, nil
	}
	if of.name == "" {
		of.what, of.name = "type", strings.ToLower(name)
	}
	return Type{}, facetError(name, args, of)
}

// facetError says what is wrong with the numbers of a type.
func facetError(name string, args []string, of typeOf) error {
	if len(args) == 0 {
		return fault.New(2715, of.ordinal, name)
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return fault.New(2716, of.ordinal, strings.ToLower(name))
	}
	bare, parseErr := sqltype.Parse(name, nil)
	switch {
	case parseErr != nil:
		return fault.New(2715, of.ordinal, name)
	case n == 0:
		return fault.New(1001, 1, n)
	case bare.IsNational() && n > 4000 && n <= 8000:
		return fault.New(2717, n, of.what, of.name, 4000)
	case (bare.IsCharacter() || bare.IsBinary()) && n > 8000:
		return fault.New(131, n, of.what, of.name, 8000)
	case bare.Kind == sqltype.Decimal && n > 38:
		return fault.New(2750, of.ordinal, n, 38)
	case bare.Kind == sqltype.Decimal && len(args) > 1:
		scale, _ := strconv.Atoi(args[1])
		return fault.New(2751, of.ordinal, scale, n)
	case slices.Contains([]sqltype.Kind{sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset}, bare.Kind):
		return fault.New(1002, 1, n)
	default:
		return fault.New(2716, of.ordinal, strings.ToLower(name))
	}
}

// collate gives the type of a column its collation: the one that is written, or the given one.
func collate(t Type, written string, otherwise *value.Collation) (Type, error) {
	switch {
	case written == "" || strings.EqualFold(written, "database_default"):
		if t.IsCharacter() {
			t.Collation = otherwise
		}
	case !t.IsCharacter():
		return t, fault.New(452)
	default:
		c, ok := value.CollationByName(written)
		if !ok {
			return t, value.UnknownCollation(written)
		}
		t.Collation = c
	}
	return t, nil
}
