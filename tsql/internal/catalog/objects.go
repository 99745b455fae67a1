package catalog

import (
	"fmt"
	"slices"
)

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

// add enters an object whose name is free (see builder.free), in the map of its sort.
func (c *Catalog) add(o Object) {
	key := o.ObjectName().Key()
	c.Order = append(c.Order, o)
	switch o := o.(type) {
	case *Table:
		if o.Type {
			c.TableTypes[key] = o
		} else {
			c.Tables[key] = o
		}
	case *AliasType:
		c.AliasTypes[key] = o
	case *View:
		c.Views[key] = o
	case *Function:
		c.Functions[key] = o
	case *Procedure:
		c.Procedures[key] = o
	case *Sequence:
		c.Sequences[key] = o
	case *Synonym:
		c.Synonyms[key] = o
	}
}

// remove takes an object out. Its synonyms stay: they lead nowhere until there is another of its name.
func (c *Catalog) remove(o Object) {
	key := o.ObjectName().Key()
	c.Order = slices.DeleteFunc(c.Order, func(other Object) bool { return other == o })
	switch o := o.(type) {
	case *Table:
		if o.Type {
			delete(c.TableTypes, key)
		} else {
			delete(c.Tables, key)
		}
	case *AliasType:
		delete(c.AliasTypes, key)
	case *View:
		delete(c.Views, key)
	case *Function:
		delete(c.Functions, key)
	case *Procedure:
		delete(c.Procedures, key)
	case *Sequence:
		delete(c.Sequences, key)
	case *Synonym:
		delete(c.Synonyms, key)
	}
}

// isType reports whether an object is a type.
func isType(o Object) bool {
	t, table := o.(*Table)
	_, alias := o.(*AliasType)
	return alias || table && t.Type
}

// sortOf names the sort of an object, with an article, for messages. It also tells sorts apart: two objects are of
// the same
// sort if these texts are the same.
func sortOf(o Object) string {
	switch o := o.(type) {
	case *Table:
		if o.Type {
			return "a table type"
		}
		return "a table"
	case *AliasType:
		return "an alias type"
	case *View:
		return "a view"
	case *Function:
		return "a function"
	case *Procedure:
		return "a procedure"
	case *Sequence:
		return "a sequence"
	case *Synonym:
		return "a synonym"
	default:
		return "an object"
	}
}

// position returns "file:line" of an object.
func position(o Object) string {
	at := o.Where()
	if at.File == nil {
		return "the server"
	}
	line, _ := at.File.Position(at.Span.From)
	return fmt.Sprintf("%s:%d", at.File.Name, line)
}
