package session

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// define executes a statement that changes the catalog.
func (s *Session) define(a *activation, stmt syntax.Stmt) error {
	if !define.Handles(stmt) {
		what := "this statement"
		if o, ok := stmt.(*syntax.Other); ok {
			what = o.Words
		}
		return s.unsupported(a.unit, stmt.Range(), what)
	}
	if s.transaction.doomed {
		return fault.New(3930)
	}
	if s.transaction.count > 0 && s.options.isolation == store.SnapshotIsolation && hasNoVersions(stmt) {
		return fault.New(3964)
	}
	scope := s.begin()
	s.Statement() // what is defined can be undone with the transaction, so there has to be one
	err := define.Execute(s.defining(a.unit), stmt)
	s.rowCount = 0
	err = s.end(scope, err)
	if e, ok := asFault(err); ok && e.Number != 547 {
		err = terminated(err)
	}
	return err
}

// hasNoVersions reports whether a statement changes a definition that snapshots would have to have versions of: such
// ones are not for transactions under SNAPSHOT isolation.
func hasNoVersions(stmt syntax.Stmt) bool {
	switch st := stmt.(type) {
	case *syntax.AlterTable, *syntax.CreateIndex:
		return true
	case *syntax.Drop:
		return st.Kind == "INDEX"
	case *syntax.Other:
		_, index := st.Detail.(*syntax.AlterIndex)
		return index
	default:
		return false
	}
}

// changing runs a change of the catalog as a statement of its own.
func (s *Session) changing(f func(c define.Context) error) error {
	scope := s.begin()
	s.Statement()
	return s.end(scope, f(s.defining(s.top().unit)))
}

// MakeTable makes the table of SELECT … INTO.
func (s *Session) MakeTable(name *syntax.ObjectName, columns []binder.Column) (*schema.Table, error) {
	s.Statement()
	return define.IntoTable(s.defining(s.top().unit), name, columns)
}

var _ planner.Writer = (*Session)(nil)

// use executes USE.
func (s *Session) use(name string) error {
	db := s.server.catalog.Database(name)
	if db == nil {
		return fault.New(911, name)
	}
	if s.UserIn(db) == nil {
		return fault.New(916, s.Login().Name, name)
	}
	if db.SingleUser && s.server.inUse(db, s) {
		return fault.New(924, db.Name)
	}
	from := s.db.Name
	s.enterDatabase(db)
	s.changedDatabase(from, db.Name)
	return nil
}

// tableNamed finds a table by a name as it stands in a text.
func (s *Session) tableNamed(u *unit, text string) (*schema.Table, error) {
	parts := splitName(text)
	name := parts[len(parts)-1]
	if strings.HasPrefix(name, "#") {
		if t := s.findTemporary(name); t != nil {
			return t, nil
		}
		return nil, fault.New(1088, text)
	}
	schemaName := ""
	if len(parts) > 1 {
		schemaName = parts[len(parts)-2]
	}
	t, ok := s.databaseOf(u).FindTable(schemaName, name, s.schemaOf(u))
	if t == nil || !ok {
		return nil, fault.New(1088, text)
	}
	return t, nil
}

// checkModule compiles the statements of a module that is being created, so that what is wrong with it or unknown to
// this server is found now. Objects that are missing may yet come: what reads them is compiled when it is executed.
func (s *Session) checkModule(m *schema.Module) error {
	u, err := s.moduleUnit(m)
	if err != nil {
		return err
	}
	return s.checkAll(u)
}

// checkAll compiles the statements of a unit. Those behind USE are compiled when they are executed: they are about
// another database.
func (s *Session) checkAll(u *unit) error {
	if err := s.checkShape(u); err != nil {
		return err
	}
	for _, stmt := range u.stmts {
		for range syntax.All[*syntax.Use](stmt) {
			return nil
		}
		if isModule(stmt) {
			continue
		}
		if err := s.check(u, stmt); err != nil {
			return err
		}
	}
	return nil
}

// check compiles a statement and those below it.
func (s *Session) check(u *unit, stmt syntax.Stmt) (err error) {
	syntax.Walk(stmt, func(node syntax.Node) bool {
		if err != nil {
			return false
		}
		_, compileErr := s.compile(u, node)
		if e, ok := asFault(compileErr); ok && !deferred[e.Number] && !e.Missing {
			err = compileErr
		}
		return true
	})
	return err
}

// deferred are the errors that say that an object is missing, which is found only when it is needed.
var deferred = map[int32]bool{208: true, 2812: true, 4121: true, 195: false, 1088: true, 2715: true}

// compile makes the plan of a node that has one.
func (s *Session) compile(u *unit, node syntax.Node) (any, error) {
	switch n := node.(type) {
	case *syntax.Insert:
		if n.Exec != nil {
			return nil, nil //nolint:nilnil // it is planned when the rows are there
		}
		return s.plan(u, n)
	case *syntax.SelectStmt:
		return s.plan(u, n)
	case *syntax.Update:
		return s.plan(u, n)
	case *syntax.Delete:
		return s.plan(u, n)
	case *syntax.Merge:
		return s.plan(u, n)
	case *syntax.CursorStmt:
		if n.Definition == nil {
			return nil, nil //nolint:nilnil // it has none
		}
		kind, err := kindOfCursor(n.Definition)
		if err != nil {
			return nil, u.at(err, n.Span)
		}
		return s.cursorPlan(u, n, kind)
	case *syntax.If:
		return planned(s, u, n.Cond, func(env *binder.Env) (planner.Condition, error) { return planner.Test(env, n.Cond) })
	case *syntax.While:
		return planned(s, u, n.Cond, func(env *binder.Env) (planner.Condition, error) { return planner.Test(env, n.Cond) })
	default:
		return nil, nil //nolint:nilnil // it has none
	}
}
