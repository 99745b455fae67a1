package planner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// lab is a server with one session that knows no procedures: enough to define tables, fill them and query them.
type lab struct {
	tb        testing.TB
	server    *schema.Server
	db        *schema.Database
	session   *store.Session
	statement *store.Statement
	isolation store.Isolation
	temp      map[string]*schema.Table
	variables map[string]*binder.Variable
	values    []value.Value
	tables    map[string]*binder.TableVariable
	data      []*schema.Table
	chooser   binder.Chooser
	file      *diag.File
	counts    []store.Count
	denied    map[string]bool
}

func newLab(tb testing.TB) *lab {
	tb.Helper()
	l := &lab{
		tb: tb, temp: map[string]*schema.Table{}, variables: map[string]*binder.Variable{}, tables: map[string]*binder.TableVariable{},
		denied: map[string]bool{},
	}
	l.server = schema.NewServer(value.DefaultCollation, "lab", value.OfDateTime(0))
	l.db = l.server.Databases["lab"]
	s := schedule.NewReal()
	l.session = store.NewEngine(s, func() uint64 { return 4 }).Session(1)
	s.Enter(1)
	tb.Cleanup(func() { s.Leave(1) })
	return l
}

// parse reads a script of one batch or several.
func (l *lab) parse(text string) []syntax.Stmt {
	l.tb.Helper()
	l.file = diag.NewFile("lab.sql", text)
	script, found := syntax.Parse(l.file)
	if len(found) > 0 {
		l.tb.Fatalf("%v", found)
	}
	var list []syntax.Stmt
	for _, b := range script.Batches {
		list = append(list, b.Stmts...)
	}
	return list
}

// run executes definitions, DECLARE and INSERT … VALUES.
func (l *lab) run(text string) {
	l.tb.Helper()
	for _, stmt := range l.parse(text) {
		if err := l.execute(stmt); err != nil {
			l.tb.Fatalf("%s: %v", l.file.Slice(stmt.Range()), err)
		}
	}
}

func (l *lab) execute(stmt syntax.Stmt) error {
	switch st := stmt.(type) {
	case *syntax.Insert:
		return l.insert(st)
	case *syntax.Declare:
		return l.within(func() error { return l.declare(st) }) // a value may be that of a query
	default:
		// Text of a module begins where CREATE stands.
		return l.within(func() error { return define.Execute(&definer{l}, stmt) })
	}
}

// within executes f as a statement.
func (l *lab) within(f func() error) error {
	auto := !l.session.InTransaction()
	if auto {
		l.session.Begin(l.isolation)
	}
	outer := l.statement
	l.statement = l.session.Statement(context.Background(), store.StatementOptions{Isolation: l.isolation, RowVersions: l.db.ReadCommittedSnapshot})
	err := f()
	l.counts = l.statement.Counts()
	l.statement.End(err)
	l.statement = outer
	if auto {
		if err != nil {
			l.session.Rollback()
		} else {
			l.session.Commit()
		}
	}
	return err
}

func (l *lab) declare(st *syntax.Declare) error {
	for _, v := range st.Vars {
		if v.Table != nil {
			t, err := define.TableVariable(&definer{l}, v.Name, v.Table)
			if err != nil {
				return err
			}
			l.tables[strings.ToLower(v.Name)] = &binder.TableVariable{Slot: len(l.data), Table: t}
			l.data = append(l.data, define.Instantiate(t))
			continue
		}
		t, user, err := define.ResolveType(l.db, v.Type, "dbo")
		if err != nil {
			return err
		}
		if user != nil && user.Table != nil {
			l.tables[strings.ToLower(v.Name)] = &binder.TableVariable{Slot: len(l.data), Table: user.Table}
			l.data = append(l.data, define.Instantiate(user.Table))
			continue
		}
		slot := len(l.values)
		l.variables[strings.ToLower(v.Name)] = &binder.Variable{Slot: slot, Type: t}
		l.values = append(l.values, value.Value{})
		if v.Init == nil {
			continue
		}
		x, err := planner.Expression(l.env(), v.Init)
		if err != nil {
			return err
		}
		got, err := x.Eval(l.frame())
		if err != nil {
			return err
		}
		if l.values[slot], err = value.Assign(got, x.Type, t); err != nil {
			return err
		}
	}
	return nil
}

// insert executes INSERT … VALUES with constants.
func (l *lab) insert(st *syntax.Insert) error {
	var t *schema.Table
	switch target := st.Target.(type) {
	case *syntax.TableRef:
		name := target.Name.Last().Value
		if t = l.temp[strings.ToLower(name)]; t == nil {
			schemaName := "dbo"
			if len(target.Name.Parts) > 1 {
				schemaName = target.Name.Parts[0].Value
			}
			t, _ = l.db.FindTable(schemaName, name, "dbo")
		}
	case *syntax.VariableTable:
		t = l.data[l.tables[strings.ToLower(target.Name)].Slot]
	}
	if t == nil {
		return errors.New("no such table")
	}
	return l.within(func() error {
		for _, row := range st.Rows {
			values := make([]value.Value, len(t.Columns))
			if t.Identity != nil {
				values[t.Identity.Column] = value.OfInt(t.Identity.Next)
				t.Identity.Next += t.Identity.Increment
			}
			for _, c := range t.Columns {
				if c.Default != nil {
					values[c.Ordinal] = l.constant(c.Default.Expr, c.Type)
				}
			}
			for i, x := range row {
				c := t.Columns[i]
				if len(st.Columns) > 0 {
					c = t.Column(st.Columns[i].Value, l.db.Fold)
				}
				values[c.Ordinal] = l.constant(x, c.Type)
			}
			if _, err := l.statement.Insert(t.Data, values); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *lab) constant(x syntax.Expr, t value.Type) value.Value {
	l.tb.Helper()
	s, err := planner.Expression(l.env(), x)
	if err != nil {
		l.tb.Fatal(err)
	}
	v, err := s.Eval(l.frame())
	if err != nil {
		l.tb.Fatal(err)
	}
	if v, err = value.Store(v, s.Type, t); err != nil {
		l.tb.Fatal(err)
	}
	return v
}

func (l *lab) env() *binder.Env {
	return &binder.Env{
		Database: l.db, Server: l.server, File: l.file, Schema: "dbo", Variables: l.variables, Tables: l.tables, Chooser: l.chooser,
		Temp: func(name string) *schema.Table { return l.temp[strings.ToLower(name)] },
	}
}

func (l *lab) frame() *execute.Frame {
	return &execute.Frame{Context: context.Background(), Session: l, Variables: l.values, Tables: l.data}
}

// query executes a SELECT and returns its rows as text, "a|b" each.
func (l *lab) query(text string) ([]string, error) {
	l.tb.Helper()
	st, err := l.compile(text)
	if err != nil {
		return nil, err
	}
	var rows []string
	err = l.within(func() error {
		_, err := st.Run(l.frame(), func(row []value.Value) error {
			parts := make([]string, len(row))
			for i, v := range row {
				parts[i] = show(v, st.Columns[i].Type)
			}
			rows = append(rows, strings.Join(parts, "|"))
			return nil
		})
		return err
	})
	return rows, err
}

func (l *lab) compile(text string) (*planner.Statement, error) {
	l.tb.Helper()
	stmts := l.parse(text)
	if len(stmts) != 1 {
		l.tb.Fatalf("%d statements in %q", len(stmts), text)
	}
	return planner.Compile(l.env(), stmts[0])
}

// show prints a value as CAST to text does.
func show(v value.Value, t value.Type) string {
	if v.IsNull() {
		return "NULL"
	}
	if t.IsBinary() {
		return fmt.Sprintf("0x%X", v.Bytes())
	}
	out, err := value.Convert(v, t, value.NVarChar(-1), 121)
	if err != nil {
		return err.Error()
	}
	return out.Str()
}

// number is the number of an error.
func number(err error) int32 {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Number
	}
	return -1
}

func (l *lab) Store() *store.Session             { return l.session }
func (l *lab) Statement() *store.Statement       { return l.statement }
func (l *lab) Isolation() store.Isolation        { return l.isolation }
func (l *lab) Database() *schema.Database        { return l.db }
func (l *lab) Now() time.Time                    { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }
func (l *lab) TransactionTime() time.Time        { return l.Now() }
func (l *lab) RowCount() int64                   { return 7 }
func (l *lab) ScopeIdentity() value.Value        { return value.Value{} }
func (l *lab) LastIdentity() value.Value         { return value.Value{} }
func (l *lab) SetIdentity(value.Value)           {}
func (l *lab) Random() uint64                    { return 4 }
func (l *lab) LastError() int32                  { return 0 }
func (l *lab) CaughtError() *execute.CaughtError { return nil }
func (l *lab) Option(string) string              { return "" }
func (l *lab) Info(string) value.Value           { return value.Value{} }
func (l *lab) Message(int32, uint8, string)      {}
func (l *lab) May(permission string, o schema.Object, _ []schema.ColumnName) error {
	if l.denied[permission+" "+o.Head().Name] {
		return fault.New(229, permission, o.Head().Name, "lab", "dbo")
	}
	return nil
}

func (l *lab) NextValue(*schema.Sequence) (value.Value, error) { return value.OfInt(1), nil }

func (l *lab) CallScalar(_ *execute.Frame, _ *schema.Module, args []value.Value) (value.Value, error) {
	return value.OfInt(int64(len(args))), nil
}

func (l *lab) CallTable(*execute.Frame, *schema.Module, []value.Value, []*schema.Table) (*schema.Table, error) {
	return nil, nil
}

func (l *lab) FireTriggers(*execute.Frame, *schema.Table, string, *schema.Table, *schema.Table) error {
	return nil
}

// definer is the lab as package define sees it.
type definer struct{ l *lab }

func (c *definer) Server() *schema.Server       { return c.l.server }
func (c *definer) Database() *schema.Database   { return c.l.db }
func (c *definer) Login() *schema.Login         { return nil }
func (c *definer) Principal() *schema.Principal { return c.l.db.Dbo() }
func (c *definer) Store() *store.Session        { return c.l.session }
func (c *definer) Statement() *store.Statement  { return c.l.statement }
func (c *definer) Frame() *execute.Frame        { return c.l.frame() }
func (c *definer) File() *diag.File             { return c.l.file }
func (c *definer) Schema() string               { return "dbo" }
func (c *definer) Option(name string) string {
	if name == "NUMERIC_ROUNDABORT" || name == "ANSI_NULL_DFLT_OFF" {
		return "OFF"
	}
	return "ON"
}
func (c *definer) Now() time.Time { return c.l.Now() }
func (c *definer) Temporary(name string, _ bool) *schema.Table {
	return c.l.temp[strings.ToLower(name)]
}
func (*definer) TemporaryProcedure(string) *schema.Module { return nil }
func (*definer) AddTemporaryProcedure(*schema.Module)     {}
func (*definer) RemoveTemporaryProcedure(*schema.Module)  {}
func (c *definer) AddTemporary(t *schema.Table)           { c.l.temp[strings.ToLower(t.Name)] = t }
func (c *definer) RemoveTemporary(t *schema.Table)        { delete(c.l.temp, strings.ToLower(t.Name)) }
func (c *definer) Check(*schema.Module) error             { return nil }

func (c *definer) Columns(*schema.Module) ([]string, error)        { return nil, nil }
func (c *definer) InTransaction() bool                             { return false }
func (c *definer) InUse(*schema.Database) bool                     { return false }
func (c *definer) EndOthers(*schema.Database, time.Duration) error { return nil }
func (c *definer) LoggedIn(*schema.Login) bool                     { return false }
func (c *definer) AwaitOthers(*schema.Database) (bool, error)      { return true, nil }
func (c *definer) Message(int32, uint8, string)                    {}

func compileStatement(l *lab, stmt syntax.Stmt) (*planner.Statement, error) {
	return planner.Compile(l.env(), stmt)
}
