package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// declareStmt makes the variables of a DECLARE known and checks their initial values.
//
// A variable that is declared a second time is an error in T-SQL even in another block: see [env].
func (a *analyzer) declareStmt(e *env, s *syntax.Declare) {
	for _, v := range s.Vars {
		_, scalar := e.vars[catalog.Fold(v.Name)]
		_, table := e.tables[catalog.Fold(v.Name)]
		if scalar || table {
			a.failName(e, v.Span, "", "%s is declared twice", v.Name)
		}
		switch {
		case v.Table != nil:
			a.declareDefined(e, v.Name, v.Table, v.Span)
		case v.Type != nil:
			a.declareTyped(e, v)
		}
	}
}

// declareTyped declares a variable of a type, which may be a table type. A type that is not known is reported once: the
// variable is then there with no type.
func (a *analyzer) declareTyped(e *env, v syntax.VarDecl) {
	t, table, err := a.cat.TypeIn(e.schema, v.Type)
	if err != nil {
		a.fail(e, v.Type.Span, catalog.Advice(err), "%v", err)
	}
	if table != nil {
		e.declareTable(v.Name, table)
		return
	}
	if v.Init != nil {
		x := a.scalar(e, v.Init)
		a.argument(e, x, t, true, v.Init.Range(), "variable "+v.Name)
		e.stored(v.Name, a.storesNotNull(e, x, t))
	}
	e.declare(v.Name, variable{Type: t, Span: v.Span})
}

// declareDefined declares a table by its columns: a table variable or a temp table.
func (a *analyzer) declareDefined(e *env, name string, def *syntax.TableDef, at diag.Span) {
	table, found := a.cat.TableFromDef(e.file, catalog.Name{Name: name}, def)
	*a.found = append(*a.found, found...)
	if table == nil {
		table = &catalog.Table{Place: catalog.Place{File: e.file, Span: at}, Name: catalog.Name{Name: name}}
	}
	a.computeColumns(table)
	e.declareTable(name, table)
}

// createTemp makes the temp table of a CREATE TABLE known.
//
// Its name is not unique in the server but in the session: two procedures may each have a #t of other columns.
func (a *analyzer) createTemp(e *env, s *syntax.CreateTable) {
	name := s.Name.Last()
	a.checkCreatedOnce(e, name)
	a.declareDefined(e, name.Value, s.Def, s.Span)
}

// assignVariable checks that a value can be stored in a variable: SET @v = x, SELECT @v = x, FETCH INTO, RETURN.
func (a *analyzer) assignVariable(e *env, v *syntax.Variable, op string, x typed, at syntax.Node) {
	known, ok := e.variable(v.Name)
	if !ok {
		switch _, table := e.table(v.Name); {
		case table:
			a.failName(e, v.Span, "INSERT into it", "%s is a table variable", v.Name)
		case e.infer != nil:
			a.fail(e, v.Span, "use a procedure, or return the value as a column", "an annotated query can't assign its parameter %s", v.Name)
		default:
			a.failName(e, v.Span, "declare it", "variable %s isn't declared", v.Name)
			a.meant(v.Name, e.names)
		}
		return
	}
	if known.Type.Kind == sqltype.Cursor {
		return
	}
	if op != "=" {
		x = a.compound(e, op, typed{Type: known.Type, Nullable: !e.facts.has(v.Name)}, x, at.Range())
	}
	a.argument(e, x, known.Type, true, at.Range(), "variable "+v.Name)
	e.stored(v.Name, a.storesNotNull(e, x, known.Type))
}

// storesNotNull reports whether a value that is stored in a variable of a type is not NULL.
func (a *analyzer) storesNotNull(e *env, x typed, to sqltype.Type) bool {
	fails := e.lenient() && conversionFails(x.Type, to)
	return !x.bad() && !x.Nullable && !fails
}
