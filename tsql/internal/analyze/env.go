package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// env is what the statements of a body see besides the catalog: variables, table variables, temp tables and cursors.
// T-SQL declarations are visible from where they stand to the end of the batch, whatever the blocks, so a body needs
// one env; a child env is for trying something out. Temp tables that a calling procedure made are not seen: a body that
// relies on them cannot be checked by itself.
//
// There are no scopes by blocks. After
//
//	IF @x = 1 BEGIN DECLARE @y int = 2; CREATE TABLE #t (a int); END
//
// both @y and #t are known; that @y is NULL, and #t missing, when @x was another value is for the author to know.
type env struct {
	parent *env
	file   *diag.File
	vars   map[string]variable
	tables map[string]*catalog.Table // table variables (with the @) and temp tables (with the #)
	// grown holds the temp tables that get columns which are not known.
	grown map[string]bool
	// readonly holds the table-valued parameters among the tables.
	readonly map[string]bool
	cursors  map[string]rowset
	infer    *inference // of an annotated query; nil elsewhere
	// schema is that of the module, where the server looks for names without one before it looks in the default schema.
	schema  string
	working *working       // of a procedure
	trigger *catalog.Table // the table whose inserted and deleted a trigger's body sees
	settings
	facts    facts
	assigned map[string]bool // by the variables that the present statement assigns: whether all it stores is not NULL
	found    Cardinality     // of the query that is the present statement
}

// variable is a scalar variable, a parameter, or a cursor variable.
type variable struct {
	Type sqltype.Type
	Span diag.Span
}

// rowset is what a query yields.
//
// Unlike a relation, which other parts of a query read, it is on its way to the client, to a cursor or into a variable.
type rowset struct {
	Columns []Column
	Rows    Cardinality
	bad     bool // a finding has been reported
	// none says that no rows go to the client: SELECT … INTO and SELECT @v = … .
	none bool
}

// newEnv returns an env for statements of a file; its parent may be nil.
//
// A child's declarations are gone with it, which is what trying a query out takes; what it looks up and does not have,
// it asks its parent.
func newEnv(parent *env, file *diag.File) *env {
	e := &env{
		parent:   parent,
		file:     file,
		vars:     map[string]variable{},
		tables:   map[string]*catalog.Table{},
		grown:    map[string]bool{},
		readonly: map[string]bool{},
		cursors:  map[string]rowset{},
		assigned: map[string]bool{},
	}
	if parent != nil {
		e.infer, e.trigger, e.schema, e.settings = parent.infer, parent.trigger, parent.schema, parent.settings
		e.working = parent.working
	}
	return e
}

// declare makes a scalar variable known; name is with its @.
func (e *env) declare(name string, v variable) { e.vars[catalog.Fold(name)] = v }

// declareTable makes a table variable or a temp table known; name is with its @ or #.
func (e *env) declareTable(name string, t *catalog.Table) { e.tables[catalog.Fold(name)] = t }

// declareRows makes a table-valued parameter known.
func (e *env) declareRows(name string, t *catalog.Table) {
	e.declareTable(name, t)
	e.readonly[catalog.Fold(name)] = true
}

// declareCursor makes a cursor known with what its query yields.
func (e *env) declareCursor(name string, r rowset) { e.cursors[catalog.Fold(name)] = r }

// grows reports whether a table is a temp table that gets columns which are not known.
func (e *env) grows(t *catalog.Table) bool {
	for at := e; at != nil; at = at.parent {
		if t != nil && at.grown[catalog.Fold(t.Name.Name)] {
			return true
		}
	}
	return false
}

// dropTable forgets a temp table.
func (e *env) dropTable(name string) {
	for at := e; at != nil; at = at.parent {
		delete(at.tables, catalog.Fold(name))
	}
}

// variable looks a scalar variable up.
//
// All look-ups fold the name: whether names differ by case is a matter of the database's collation, and most ignore it.
func (e *env) variable(name string) (variable, bool) {
	for at := e; at != nil; at = at.parent {
		if v, ok := at.vars[catalog.Fold(name)]; ok {
			return v, true
		}
	}
	return variable{}, false
}

// table looks a table variable or a temp table up.
func (e *env) table(name string) (*catalog.Table, bool) {
	for at := e; at != nil; at = at.parent {
		if t, ok := at.tables[catalog.Fold(name)]; ok {
			return t, true
		}
	}
	return nil, false
}

// rows reports whether a table is a table-valued parameter, which can't be changed.
//
// The server insists on READONLY in the declaration and refuses every change of one.
func (e *env) rows(name string) bool {
	for at := e; at != nil; at = at.parent {
		if at.readonly[catalog.Fold(name)] {
			return true
		}
	}
	return false
}

// cursor looks a cursor up.
func (e *env) cursor(name string) (rowset, bool) {
	for at := e; at != nil; at = at.parent {
		if r, ok := at.cursors[catalog.Fold(name)]; ok {
			return r, true
		}
	}
	return rowset{}, false
}

// names returns the variables and table variables that statements see, for suggestions.
func (e *env) names() []string {
	var names []string
	for at := e; at != nil; at = at.parent {
		for name := range at.vars {
			names = append(names, name)
		}
		for name := range at.tables {
			names = append(names, name)
		}
	}
	return names
}
