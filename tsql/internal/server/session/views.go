package session

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Catalog says who asks a view of the system.
func (s *Session) Catalog() *sysview.Context {
	return &sysview.Context{
		Server: s.server.catalog, Database: s.db, User: s.user(), Login: s.Login(), Now: s.Now(), Activity: activity{s},
		Describer: describer{s},
	}
}

var _ ask.Catalog = (*Session)(nil)

// describer finds out what columns a query has.
type describer struct{ s *Session }

// Columns are those of a view or of a function that returns a table.
func (d describer) Columns(m *schema.Module) ([]sysview.ResultColumn, error) {
	if def, ok := m.Stmt.(*syntax.CreateFunction); ok && def.Table != nil {
		u, err := d.s.moduleUnit(m)
		if err != nil {
			return nil, err
		}
		var list []sysview.ResultColumn
		for _, c := range u.tables[fold(def.TableVariable)].Table.Columns {
			list = append(list, sysview.ResultColumn{
				Name: c.Name, Type: c.Type, UserType: c.UserType, Nullable: c.Nullable, Identity: c.Identity, Computed: c.Computed != nil,
			})
		}
		return list, nil
	}
	text := "SELECT * FROM " + //nolint:unqueryvet // all columns is what is asked for
		quote(m.Schema.Name) + "." + quote(m.Name)
	if def, ok := m.Stmt.(*syntax.CreateFunction); ok {
		nulls := make([]string, len(def.Params))
		for i := range nulls {
			nulls[i] = "NULL"
		}
		text += "(" + strings.Join(nulls, ", ") + ")"
	}
	return d.FirstResultSet(text+" AS t", "")
}

func resultColumns(columns []binder.Column) []sysview.ResultColumn {
	list := make([]sysview.ResultColumn, len(columns))
	for i, c := range columns {
		list[i] = sysview.ResultColumn{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Identity: c.Identity, Computed: c.Computed}
	}
	return list
}

// FirstResultSet are the columns of the first result set of a batch.
func (d describer) FirstResultSet(batch, parameters string) ([]sysview.ResultColumn, error) {
	params, err := readParams(parameters)
	if err != nil {
		return nil, d.s.dynamicError(err)
	}
	u, err := d.s.textUnit(unitKey{text: batch, params: parameters, dynamic: true}, params)
	if err != nil {
		return nil, d.s.dynamicError(err)
	}
	return d.first(u, u.stmts, 0)
}

// FirstResultSetOf are the columns of the first result set of a procedure or a trigger.
func (d describer) FirstResultSetOf(m *schema.Module) ([]sysview.ResultColumn, error) {
	u, err := d.s.moduleUnit(m)
	if err != nil {
		return nil, err
	}
	return d.first(u, u.stmts, 0)
}

// first finds the first statement of a list that sends rows, whatever decides whether it is executed.
func (d describer) first(u *unit, list []syntax.Stmt, depth int) ([]sysview.ResultColumn, error) {
	if depth > maxLevel {
		return nil, fault.New(217, maxLevel)
	}
	for _, stmt := range list {
		columns, err := d.ofStatement(u, stmt, depth)
		if err != nil || columns != nil {
			return columns, err
		}
	}
	return nil, nil
}

func (d describer) ofStatement(u *unit, stmt syntax.Stmt, depth int) ([]sysview.ResultColumn, error) {
	switch st := stmt.(type) {
	case *syntax.Block:
		return d.first(u, st.Stmts, depth)
	case *syntax.TryCatch:
		if columns, err := d.first(u, st.Try, depth); err != nil || columns != nil {
			return columns, err
		}
		return d.first(u, st.Catch, depth)
	case *syntax.While:
		return d.ofStatement(u, st.Body, depth)
	case *syntax.If:
		columns, err := d.ofStatement(u, st.Then, depth)
		if err != nil || columns != nil || st.Else == nil {
			return columns, err
		}
		return d.ofStatement(u, st.Else, depth)
	case *syntax.Exec:
		return d.ofExec(u, st, depth)
	case *syntax.SelectStmt, *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Merge:
		if in, ok := st.(*syntax.Insert); ok && in.Exec != nil {
			return nil, nil
		}
		p, err := d.s.plan(u, stmt)
		if err != nil || p.Columns == nil {
			return nil, err
		}
		return resultColumns(p.Columns), nil
	default:
		return nil, nil
	}
}

// ofExec describes the procedure that a statement calls by its name.
func (d describer) ofExec(u *unit, st *syntax.Exec, depth int) ([]sysview.ResultColumn, error) {
	if rs := st.ResultSets; rs != nil && !rs.Undefined {
		return d.redefinedFirst(u, rs)
	}
	if st.Name == nil {
		return nil, fault.New(11513, u.file.Slice(st.Span))
	}
	m, _, err := d.s.findProcedure(names(st.Name))
	if err != nil || m == nil {
		return nil, err
	}
	called, err := d.s.moduleUnit(m)
	if err != nil {
		return nil, err
	}
	return d.first(called, called.stmts, depth+1)
}
