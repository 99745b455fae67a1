package session

import (
	"errors"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// activation is one execution of a unit.
type activation struct {
	unit  *unit
	frame execute.Frame
	at    syntax.Stmt // the statement that it executes
	tries int         // TRY blocks of this activation that are being executed
	// caught are the errors of the CATCH blocks that are being executed, the innermost last.
	caught []*fault.Error
	// function says that errors end the statement that called, and are not for this activation to report.
	function bool
	trigger  bool
	// result is what RETURN has returned: of a procedure its status.
	result value.Value
	// scope is SCOPE_IDENTITY().
	scope value.Value
	// cursors are the local ones, by folded name, and variables those that cursor variables refer to.
	cursors, variables map[string]*cursor
	// outer are the options that a module finds and leaves behind as it found them, and home its database.
	outer options
	home  *schema.Database
	// caller is how many identities there were when it was called, and own that with the one of the module: REVERT
	// takes back no more than those above.
	caller, own int
}

// enter begins an execution of a unit. Frame is nil but for triggers, whose pseudo-tables it has.
func (s *Session) enter(u *unit, frame *execute.Frame) *activation {
	a := &activation{unit: u, outer: s.options, home: s.db, caller: len(s.identities), own: len(s.identities)}
	if !u.nests {
		a.own = 1 // a batch takes back what one before it has said
	}
	if frame != nil {
		a.frame = *frame
	}
	a.frame.Session = s
	a.frame.Context = s.ctx //nolint:fatcontext // the request's, which it does not wrap
	if len(u.types) > 0 {
		a.frame.Variables = make([]value.Value, len(u.types))
	}
	if len(u.templates) > 0 {
		a.frame.Tables = make([]*schema.Table, len(u.templates))
	}
	s.stack = append(s.stack, a)
	a.frame.Depth = s.level()
	return a
}

// leave ends an execution: its temporary tables go, and so do the options, the identities and the database that a
// module has set.
func (s *Session) leave(a *activation) {
	s.tries -= a.tries
	dropCursors(a.variables)
	dropCursors(a.cursors)
	if a.unit.nests {
		s.revertTo(a.caller)
		if s.db != a.home {
			from := s.db.Name
			s.enterDatabase(a.home)
			s.changedDatabase(from, s.db.Name)
		}
		s.dropTemporary(a.frame.Depth)
		if s.options != a.outer {
			s.options = a.outer
			s.applyOptions()
		}
	}
	s.stack = s.stack[:len(s.stack)-1]
}

// variableTable returns a table variable, which begins to exist when it is first used.
func (a *activation) variableTable(slot int) *schema.Table {
	if a.frame.Tables[slot] == nil {
		a.frame.Tables[slot] = define.Instantiate(a.unit.templates[slot])
	}
	return a.frame.Tables[slot]
}

// need makes the table variables exist that a plan uses.
func (a *activation) need(slots []int) {
	for _, slot := range slots {
		a.variableTable(slot)
	}
}

// simple executes a statement that has none below it.
func (s *Session) simple(a *activation, stmt syntax.Stmt) error {
	switch st := stmt.(type) {
	case *syntax.SelectStmt, *syntax.Update, *syntax.Delete, *syntax.Merge, *syntax.Truncate:
		return s.data(a, stmt)
	case *syntax.Insert:
		if st.Exec != nil {
			return s.insertExec(a, st)
		}
		return s.data(a, stmt)
	case *syntax.Declare:
		return s.declared(a, st)
	case *syntax.SetVariable:
		return s.setVariable(a, st)
	case *syntax.SetOption:
		return s.setOption(a, st)
	case *syntax.Throw:
		return s.throw(a, st)
	case *syntax.Raiserror:
		return s.raiserror(a, st)
	case *syntax.Print:
		return s.print(a, st)
	case *syntax.Waitfor:
		return s.waitfor(a, st)
	case *syntax.Transaction:
		return s.transactionStatement(st)
	case *syntax.Exec:
		return s.exec(a, st)
	case *syntax.CursorStmt:
		return s.cursorStatement(a, st)
	case *syntax.Use:
		return s.use(st.Database.Value)
	case *syntax.Other:
		return s.other(a, st)
	default:
		return s.define(a, stmt)
	}
}

// other executes what the parser calls other statements: those about the session itself, or definitions.
func (s *Session) other(a *activation, st *syntax.Other) error {
	switch detail := st.Detail.(type) {
	case *syntax.ExecuteAs:
		return s.executeAs(a, detail)
	case *syntax.Revert:
		return s.revert(a, detail)
	case *syntax.Kill:
		return s.kill(a, detail)
	default:
		return s.define(a, st)
	}
}

// data executes a statement that reads or writes rows.
func (s *Session) data(a *activation, stmt syntax.Stmt) error {
	p, err := s.plan(a.unit, stmt)
	if err != nil {
		return err
	}
	if s.options.noExec {
		return nil
	}
	if s.options.fmtOnly {
		return s.describe(a, stmt, p)
	}
	if s.transaction.doomed && writes(stmt) {
		return fault.New(3930)
	}
	if _, reads := stmt.(*syntax.SelectStmt); s.options.rowCount > 0 && (!reads || p.Columns == nil) {
		return s.unsupported(a.unit, stmt.Range(), "SET ROWCOUNT for a statement that sends no rows")
	}
	a.need(p.Tables)
	if err := s.execute(a, p, kindOf(stmt)); err != nil {
		if writes(stmt) {
			err = terminated(err)
		}
		return err
	}
	if at := cursorOf(stmt); at != nil {
		s.changedCurrent(a, at)
	}
	return nil
}

// cursorOf is the cursor of WHERE CURRENT OF; nil without one.
func cursorOf(stmt syntax.Stmt) *syntax.CursorName {
	switch st := stmt.(type) {
	case *syntax.Update:
		return st.Cursor
	case *syntax.Delete:
		return st.Cursor
	default:
		return nil
	}
}

// describe sends what SET FMTONLY ON asks for: the columns of a query without its rows.
func (s *Session) describe(a *activation, stmt syntax.Stmt, p *planner.Statement) error {
	if _, ok := stmt.(*syntax.SelectStmt); !ok || p.Columns == nil {
		return s.unsupported(a.unit, stmt.Range(), "SET FMTONLY ON for a statement that returns no rows")
	}
	if err := s.sendColumns(p.Columns); err != nil {
		return err
	}
	s.rowCount = 0
	s.done("SELECT", 0, true)
	return nil
}

// plan returns the plan of a statement that reads or writes rows.
func (s *Session) plan(u *unit, stmt syntax.Stmt) (*planner.Statement, error) {
	return planned(s, u, stmt, func(env *binder.Env) (*planner.Statement, error) { return planner.Compile(env, stmt) })
}

// writes reports whether a statement writes to the log, which a transaction that can only be rolled back refuses.
func writes(stmt syntax.Stmt) bool {
	q, ok := stmt.(*syntax.SelectStmt)
	if !ok {
		return true
	}
	body, ok := q.Query.Body.(*syntax.Select)
	return ok && body.Into != nil
}

// execute runs a plan, sends what it returns, and says how many rows there were.
func (s *Session) execute(a *activation, p *planner.Statement, kind string) error {
	scope := s.begin()
	var send func(row []value.Value) error
	var n int64
	var err error
	if p.Columns != nil {
		err = s.sendColumns(p.Columns)
		send = s.sendRow
	}
	if err == nil {
		n, err = p.Run(&a.frame, s.limited(send))
	}
	if errors.Is(err, errEnough) {
		n, err = s.options.rowCount, nil
	}
	if err := s.end(scope, err); err != nil {
		return err
	}
	s.rowCount = n
	s.done(kind, n, p.Columns != nil)
	return nil
}

// errEnough ends a query that has sent as many rows as SET ROWCOUNT allows.
var errEnough = errors.New("SET ROWCOUNT")

// limited hands on as many rows as SET ROWCOUNT allows.
func (s *Session) limited(send func(row []value.Value) error) func(row []value.Value) error {
	limit := s.options.rowCount
	if limit == 0 || send == nil {
		return send
	}
	var sent int64
	return func(row []value.Value) error {
		if sent == limit {
			return errEnough
		}
		sent++
		return send(row)
	}
}

// kindOf names the kind of a statement for the client.
func kindOf(stmt syntax.Stmt) string {
	switch stmt.(type) {
	case *syntax.SelectStmt:
		return "SELECT"
	case *syntax.Insert:
		return "INSERT"
	case *syntax.Update:
		return "UPDATE"
	case *syntax.Delete:
		return "DELETE"
	case *syntax.Merge:
		return "MERGE"
	default:
		return ""
	}
}

// declared sets the variables of a DECLARE that have a value.
func (s *Session) declared(a *activation, st *syntax.Declare) error {
	for i := range st.Vars {
		v := &st.Vars[i]
		if v.Init == nil {
			continue
		}
		if err := s.assign(a, v.Name, v.Init, v.Init); err != nil {
			return err
		}
		s.rowCount = 1
	}
	return nil
}

func (s *Session) setVariable(a *activation, st *syntax.SetVariable) error {
	x := st.X
	if st.Op != "=" {
		x = &syntax.Binary{Span: st.Span, Op: st.Op[:len(st.Op)-1], X: st.Variable, Y: st.X}
	}
	if a.unit.cursorVariables[fold(st.Variable.Name)] {
		return s.setCursor(a, st)
	}
	if err := s.assign(a, st.Variable.Name, x, st); err != nil {
		return err
	}
	s.rowCount = 1
	return nil
}

// assign sets a variable to an expression, whose plan is remembered under a node of the text.
func (s *Session) assign(a *activation, name string, x syntax.Expr, node syntax.Node) error {
	target := a.unit.variables[fold(name)]
	if target == nil {
		return fault.New(137, name)
	}
	v, t, err := s.evaluate(a, x, node)
	if err != nil {
		return err
	}
	if v, err = value.Assign(v, t, target.Type); err != nil {
		return err
	}
	a.frame.Variables[target.Slot] = v
	return nil
}

// evaluate computes an expression outside of a query.
func (s *Session) evaluate(a *activation, x syntax.Expr, node syntax.Node) (value.Value, value.Type, error) {
	p, err := planned(s, a.unit, node, func(env *binder.Env) (*planner.Scalar, error) { return planner.Expression(env, x) })
	if err != nil {
		return value.Value{}, value.Type{}, err
	}
	a.need(p.Tables)
	scope := s.begin()
	v, err := p.Eval(&a.frame)
	return v, p.Type, s.end(scope, err)
}

// convert computes an expression as a value of a type.
func (s *Session) convert(a *activation, x syntax.Expr, to value.Type) (value.Value, error) {
	v, t, err := s.evaluate(a, x, x)
	if err != nil {
		return v, err
	}
	return value.Assign(v, t, to)
}

// test computes a condition; unknown is false.
func (s *Session) test(a *activation, x syntax.Expr) (bool, error) {
	p, err := planned(s, a.unit, x, func(env *binder.Env) (planner.Condition, error) { return planner.Test(env, x) })
	if err != nil {
		return false, err
	}
	scope := s.begin()
	ok, err := p(&a.frame)
	return ok, s.end(scope, err)
}

// point lets others run before a statement, and sees whether the client has given up.
func (s *Session) point() error {
	s.server.scheduler.Yield(s.id, schedule.Point{Kind: "statement"})
	return s.ctx.Err()
}
