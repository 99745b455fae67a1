package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// typeText returns the name of a type without qualifier.
func typeText(t *syntax.TypeName) string { return t.Name.Last().Value }

// builtin reports whether a type's name is that of a built-in type: unqualified, or in sys. A type of a script that has
// such a name is reached only with its schema.
func builtin(t *syntax.TypeName) bool {
	parts := t.Name.Parts
	qualified := len(parts) > 2 || len(parts) == 2 && Fold(parts[0].Value) != "sys"
	return !qualified && sqltype.Known(typeText(t))
}

// args returns the facets of a type as written, "max" and numbers, which package sqltype reads.
func args(t *syntax.TypeName) []string {
	list := make([]string, len(t.Args))
	for i, a := range t.Args {
		list[i] = a.Value
	}
	return list
}

// Type resolves a type as it is written in a declaration: a built-in type, or an alias type, which gives what it stands
// for, or a table type, which comes with its table.
// The errors may come with advice, see [Advice].
func (c *Catalog) Type(t *syntax.TypeName) (sqltype.Type, *Table, error) {
	if builtin(t) {
		resolved, err := sqltype.Parse(typeText(t), args(t))
		return resolved, nil, err
	}
	name, err := c.Resolve(t.Name)
	if err != nil {
		return sqltype.Type{}, nil, err
	}
	o := c.typeObject(name)
	if to, renamed := c.renamed[name.Key()]; o == nil && renamed {
		o = c.typeObject(to) // what was written before knows the type by its former name
	}
	if later, ok := c.later[name.Key()]; o == nil && ok {
		o = later
	}
	if o == nil {
		return sqltype.Type{}, nil, c.unknownType(t, name)
	}
	if len(t.Args) > 0 {
		return sqltype.Type{}, nil, fmt.Errorf("%s takes nothing in parentheses: it is %s", name, sortOf(o))
	}
	if alias, ok := o.(*AliasType); ok {
		return alias.Type, nil, nil
	}
	table := as[*Table](o)
	return sqltype.Type{Kind: sqltype.Table, Name: table.Name.String()}, table, nil
}

// TypeIn is Type in a module of a schema: what has no schema is looked for there first. Table types are used like that
// by Microsoft's own scripts.
func (c *Catalog) TypeIn(schema string, t *syntax.TypeName) (sqltype.Type, *Table, error) {
	if schema != "" && len(t.Name.Parts) == 1 && !builtin(t) {
		own := *t
		own.Name = &syntax.ObjectName{Span: t.Name.Span, Parts: []syntax.Ident{{Span: t.Name.Span, Value: schema}, t.Name.Parts[0]}}
		if resolved, table, err := c.Type(&own); err == nil {
			return resolved, table, nil
		}
	}
	return c.Type(t)
}

// CastType resolves a type as it is written in CAST and CONVERT, where a length that is left out is 30 and only
// built-in
// types are possible.
func (c *Catalog) CastType(t *syntax.TypeName) (sqltype.Type, error) {
	if builtin(t) {
		resolved, err := sqltype.ParseCast(typeText(t), args(t))
		if err == nil && !resolved.IsScalar() {
			return sqltype.Type{}, fmt.Errorf("nothing converts to %s", resolved)
		}
		return resolved, err
	}
	resolved, _, err := c.Type(t)
	if err != nil {
		return sqltype.Type{}, err
	}
	return sqltype.Type{}, fmt.Errorf("CAST and CONVERT take built-in types only: write %s", resolved)
}

// typeRefusesNull reports whether a column of a type is NOT NULL unless it says otherwise: one of sysname, and one
// of an
// alias type that was made with NOT NULL.
func (c *Catalog) typeRefusesNull(t *syntax.TypeName) bool {
	if builtin(t) {
		return sqltype.IsSysname(typeText(t))
	}
	name, err := c.Resolve(t.Name)
	if err != nil {
		return false
	}
	alias := c.AliasTypes[name.Key()]
	if alias == nil {
		alias = c.later[name.Key()]
	}
	return alias != nil && alias.NotNull
}

// unknownType says that a type isn't known, and which one may be meant: one of the scripts, with its schema if the
// unknown one has any, or a built-in one.
// What a built-in of another server is called here goes before names that are merely near.
func (c *Catalog) unknownType(t *syntax.TypeName, name Name) error {
	word, qualified := Fold(typeText(t)), len(t.Name.Parts) > 1
	if qualified {
		word = name.Key()
	}
	spelling := map[string]string{}
	for _, builtin := range sqltype.Names() {
		spelling[builtin] = builtin
	}
	for _, o := range c.Order {
		switch n := o.ObjectName(); {
		case !isType(o):
		case qualified:
			spelling[n.Key()] = n.String()
		default:
			spelling[Fold(n.Name)] = n.Name
		}
	}
	unknown := &sqltype.UnknownError{Message: fmt.Sprintf("unknown type %s", name)}
	if !qualified {
		_, err := sqltype.Parse(typeText(t), nil) // it knows the types of later and of other servers
		errors.As(err, &unknown)
	}
	if near := spelling[nearest(word, slices.Collect(maps.Keys(spelling)))]; near != "" && unknown.Fix == "" {
		unknown.Fix = "did you mean " + near + "?"
	}
	return unknown
}

// Advice returns what to do about an error of [Catalog.Type] and its like: the fix of a finding of which the error is
// the message. It is "" if the message says all.
func Advice(err error) string {
	if unknown, ok := errors.AsType[*sqltype.UnknownError](err); ok {
		return unknown.Fix
	}
	return ""
}
