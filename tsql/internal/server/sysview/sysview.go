// Package sysview has the views through which a server tells of itself: the catalog views of schema sys, those of
// INFORMATION_SCHEMA, the dynamic management views, and the functions of sys that return tables.
//
// It knows no queries: a view gives all of its rows, and whoever plans a query treats it as a table without indexes.
// Names, types and order of the columns are those of SQL Server 2022. A column that SQL Server has and this server has
// nothing to tell about holds what SQL Server shows for a feature that is not used.
//
//	sysview.go     the surface: views, functions, and who asks; activity.go what sessions tell of themselves
//	definition.go  how a view is written down: a text with its columns, and a function for each that is not constant
//	registry.go    all views; the files after their subjects: objects.go, columns.go, indexes.go, …
//	visible.go     what a principal may see
//	print.go       expressions as SQL Server prints them in definitions
//	describe.go    what is known of a result set before it is there
package sysview

import (
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Value is short for value.Value.
type Value = value.Value

// Column is a column of a view.
type Column struct {
	Name     string
	Type     value.Type
	Nullable bool
}

// Context says who asks, and what of.
type Context struct {
	Server   *schema.Server
	Database *schema.Database
	// User is whose metadata is visible; nil sees everything.
	User  *schema.Principal
	Login *schema.Login
	Now   time.Time
	// Activity tells of sessions and locks. Without it those views are empty.
	Activity Activity
	// Describer tells the columns of views, functions and queries. Without it views have none.
	Describer Describer

	// among, unless it is nil, are the objects that are looked at.
	among []schema.Object
}

// Describer finds out what columns a query has without executing it.
type Describer interface {
	// Columns returns those of a view or of a function that returns a table.
	Columns(m *schema.Module) ([]ResultColumn, error)
	// FirstResultSet returns those of the first result set of a batch; none if it returns nothing. The parameters are
	// declared as for sp_executesql.
	FirstResultSet(batch, parameters string) ([]ResultColumn, error)
	// FirstResultSetOf is FirstResultSet for a procedure or a trigger.
	FirstResultSetOf(m *schema.Module) ([]ResultColumn, error)
}

// View is a view of the system.
type View struct {
	Schema, Name string
	definition   []definition
	rows         func(c *Context, wanted []bool) ([][]Value, error)
	keys         []key
}

// key is a column, and how to find the rows with one value in it.
type key struct {
	column int
	find   func(c *Context, equals Value, wanted []bool) ([][]Value, error)
}

// Lookup finds a view by its name in any case: in sys, in INFORMATION_SCHEMA, or one of those that old scripts call
// dbo.sysobjects and its like. Without a schema only the last are found. It returns nil if there is no such view.
func Lookup(schemaName, name string) *View {
	all := registry().views
	name = fold(name)
	switch s := fold(schemaName); s {
	case "sys", "information_schema":
		return all[s+"."+name]
	case "", "dbo":
		if compatibility[name] {
			return all["sys."+name]
		}
	}
	return nil
}

// Columns returns the columns of the view in a database, whose collation names have.
func (v *View) Columns(db *schema.Database) []Column { return columns(v.definition, db) }

// Rows returns the rows that are visible. Only columns with wanted[i] have values, unless wanted is nil. An error is
// that of a view which not everybody may read.
func (v *View) Rows(c *Context, wanted []bool) ([][]Value, error) { return v.rows(c, wanted) }

// Keys returns the columns by which Find looks for rows, the most selective first. They are integers.
func (v *View) Keys() []int {
	columns := make([]int, len(v.keys))
	for i, k := range v.keys {
		columns[i] = k.column
	}
	return columns
}

// Find is Rows for the rows that have a value in a column of Keys, which is faster than taking all and comparing.
func (v *View) Find(c *Context, column int, equals Value, wanted []bool) ([][]Value, error) {
	if equals.IsNull() {
		return nil, nil
	}
	at := slices.IndexFunc(v.keys, func(k key) bool { return k.column == column })
	return v.keys[at].find(c, equals, wanted)
}

// Function is a function of the system that returns a table.
type Function struct {
	Schema, Name string
	// Parameters are what arguments are converted to. Those from Required on may be left out or DEFAULT, which is NULL.
	Parameters []value.Type
	Required   int
	definition []definition
	rows       func(c *Context, args []Value) ([][]Value, error)
}

// LookupFunction finds a function by its name in any case. Those of schema sys are found without it when their name
// begins with fn_. It returns nil if there is no such function.
func LookupFunction(schemaName, name string) *Function {
	name = fold(name)
	if fold(schemaName) == "sys" || schemaName == "" && strings.HasPrefix(name, "fn_") {
		return registry().functions["sys."+name]
	}
	return nil
}

// Columns returns the columns of what the function returns.
func (f *Function) Columns(db *schema.Database) []Column { return columns(f.definition, db) }

// Rows returns the function's rows for its arguments, which have the types of Parameters.
func (f *Function) Rows(c *Context, args []Value) ([][]Value, error) {
	for len(args) < len(f.Parameters) {
		args = append(args, Value{})
	}
	return f.rows(c, args)
}

// fold is how names of the system are compared.
func fold(name string) string { return strings.ToLower(name) }
