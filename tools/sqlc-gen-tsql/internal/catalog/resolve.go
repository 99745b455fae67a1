package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// Resolve qualifies a name with the default schema if it has none. Names of other databases and servers are refused:
// what is there is not known.
func (c *Catalog) Resolve(name *syntax.ObjectName) (Name, error) {
	parts := name.Parts
	// From the right: the object, its schema, its database, its server. "db..t" leaves the schema out.
	n := Name{Schema: c.DefaultSchema, Name: parts[len(parts)-1].Value}
	if len(parts) > 1 && parts[len(parts)-2].Value != "" {
		n.Schema = parts[len(parts)-2].Value
	}
	switch {
	case len(parts) > 3 && parts[0].Value != "":
		return n, fmt.Errorf("%s is on another server (%s), whose objects are not known: use a view or a procedure there",
			n, parts[0].Value)
	case len(parts) > 2 && parts[len(parts)-3].Value != "":
		return n, fmt.Errorf("%s is in the database %s: leave the database's name out, and if it is another one, "+
			"its objects are not known", n, parts[len(parts)-3].Value)
	default:
		return n, nil
	}
}

// IsSystem reports whether a name is in a schema of the server: sys or INFORMATION_SCHEMA.
func (n Name) IsSystem() bool {
	schema := Fold(n.Schema)
	return schema == "sys" || schema == "information_schema"
}

// object returns the object of that name as it was defined, types left out; nil if there is none.
func (c *Catalog) object(name Name) Object {
	// A map's nil pointer must not become a non-nil Object, hence the repetition.
	key := name.Key()
	if o, ok := c.Tables[key]; ok {
		return o
	}
	if o, ok := c.Views[key]; ok {
		return o
	}
	if o, ok := c.Functions[key]; ok {
		return o
	}
	if o, ok := c.Procedures[key]; ok {
		return o
	}
	if o, ok := c.Sequences[key]; ok {
		return o
	}
	if o, ok := c.Synonyms[key]; ok {
		return o
	}
	return nil
}

// typeObject returns the type of that name, or nil.
func (c *Catalog) typeObject(name Name) Object {
	key := name.Key()
	if o, ok := c.TableTypes[key]; ok {
		return o
	}
	if o, ok := c.AliasTypes[key]; ok {
		return o
	}
	return nil
}

// Lookup returns the object of that name, or nil. A synonym gives what it stands for, nil if that is unknown; views of
// the server are tables. Types are not objects: [Catalog.Type] finds them.
func (c *Catalog) Lookup(name Name) Object {
	if name.IsSystem() {
		if t := systemTable(name); t != nil {
			return t
		}
		return nil
	}
	// A synonym of a synonym is refused by the server only when it is used; a circle of them ends here.
	for range 10 {
		o := c.object(name)
		synonym, ok := o.(*Synonym)
		if !ok {
			return o
		}
		name = synonym.For
		if name.IsSystem() {
			return c.Lookup(name)
		}
	}
	return nil
}

// Table returns the table of that name, or the one that a synonym of that name stands for, or nil. Catalog views of the
// server that are known are tables too. View, Function, Procedure and Sequence do the same.
func (c *Catalog) Table(name Name) *Table { return as[*Table](c.Lookup(name)) }

// View returns the view of that name, or nil.
func (c *Catalog) View(name Name) *View { return as[*View](c.Lookup(name)) }

// Function returns the function of that name, or nil.
func (c *Catalog) Function(name Name) *Function { return as[*Function](c.Lookup(name)) }

// Procedure returns the procedure of that name, or nil.
func (c *Catalog) Procedure(name Name) *Procedure { return as[*Procedure](c.Lookup(name)) }

// Sequence returns the sequence of that name, or nil.
func (c *Catalog) Sequence(name Name) *Sequence { return as[*Sequence](c.Lookup(name)) }

// as returns an object as what it is, or nil if it is something else.
func as[T Object](o Object) T {
	t, _ := o.(T)
	return t
}

// typeText returns the name of a type without qualifier.
func typeText(t *syntax.TypeName) string { return t.Name.Parts[len(t.Name.Parts)-1].Value }

// builtin reports whether a type's name is that of a built-in type: unqualified, or in sys.
func builtin(t *syntax.TypeName) bool {
	parts := t.Name.Parts
	qualified := len(parts) > 2 || len(parts) == 2 && Fold(parts[0].Value) != "sys"
	return !qualified && sqltype.Known(typeText(t))
}

// args returns the facets of a type.
func args(t *syntax.TypeName) []string {
	list := make([]string, len(t.Args))
	for i, a := range t.Args {
		list[i] = a.Value
	}
	return list
}

// Type resolves a type as it is written in a declaration: a built-in type, or an alias type, which gives what it stands
// for, or a table type, which comes with its table.
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

// CastType resolves a type as it is written in CAST and CONVERT, where a length that is left out is 30 and only built-in
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

// typeRefusesNull reports whether a column of a type is NOT NULL unless it says otherwise.
func (c *Catalog) typeRefusesNull(t *syntax.TypeName) bool {
	if builtin(t) {
		return sqltype.IsSysname(typeText(t))
	}
	name, err := c.Resolve(t.Name)
	if err != nil {
		return false
	}
	alias, ok := c.AliasTypes[name.Key()]
	return ok && alias.NotNull
}

// unknownType says that a type isn't known, and which one may be meant: one of the scripts, with its schema if the
// unknown one has any, or a built-in one.
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
	_, err := sqltype.Parse(typeText(t), nil) // it knows types of later servers
	if qualified || err == nil {
		err = fmt.Errorf("unknown type %s", name)
	} else if sqltype.HasSubstitute(word) {
		return err
	}
	if near := spelling[nearest(word, slices.Collect(maps.Keys(spelling)))]; near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}

// nearest is [directive.Nearest] without the word itself, which is no suggestion.
func nearest(word string, known []string) string {
	return directive.Nearest(word, slices.DeleteFunc(known, func(k string) bool { return k == word }))
}

// Nearest returns the name of an object, types left out, that a misspelt one may have meant: the same name in another
// schema, or one that differs by a typing error. It is "" if there is none.
func (c *Catalog) Nearest(name Name) string {
	spelling := map[string]string{}
	var known []string
	for _, o := range c.Order {
		n := o.ObjectName()
		switch {
		case isType(o), n.Key() == name.Key(): // a synonym that leads nowhere is no suggestion for itself
			continue
		case Fold(n.Name) == Fold(name.Name):
			return n.String()
		}
		// The schema doesn't count: with it, dbo.a would be near to dbo.b. Of two schemas, the one that was written wins.
		if key := Fold(n.Name); spelling[key] == "" || Fold(n.Schema) == Fold(name.Schema) {
			spelling[key] = n.String()
			known = append(known, key)
		}
	}
	return spelling[nearest(Fold(name.Name), known)]
}
