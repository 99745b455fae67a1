package catalog

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Resolve qualifies a name with the default schema if it has none. Names of other databases and servers are refused:
// what is there is not known.
//
//	orders       dbo.orders, if dbo is the default schema
//	db..orders   refused
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
// Scripts read them and define nothing in them.
func (n Name) IsSystem() bool {
	schema := Fold(n.Schema)
	return schema == "sys" || schema == "information_schema"
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

// as returns an object as what it is, or nil if it is something else, a nil Object included.
func as[T Object](o Object) T {
	t, _ := o.(T)
	return t
}

// nearest is [diag.Nearest] without the word itself, which is no suggestion.
func nearest(word string, known []string) string {
	return diag.Nearest(word, slices.DeleteFunc(known, func(k string) bool { return k == word }))
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
		// The schema doesn't count: with it, dbo.a would be near to dbo.b. Of two schemas, the one that was
		// written wins.
		if key := Fold(n.Name); spelling[key] == "" || Fold(n.Schema) == Fold(name.Schema) {
			spelling[key] = n.String()
			known = append(known, key)
		}
	}
	return spelling[nearest(Fold(name.Name), known)]
}
