package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// CallScalar executes a scalar function.
func (s *Session) CallScalar(f *execute.Frame, m *schema.Module, args []value.Value) (value.Value, error) {
	a, err := s.callFunction(f, m, args, nil)
	if err != nil {
		return value.Value{}, err
	}
	return a.result, nil
}

// CallTable executes a multi-statement table function and returns the table that it has filled.
func (s *Session) CallTable(f *execute.Frame, m *schema.Module, args []value.Value, tables []*schema.Table) (*schema.Table, error) {
	a, err := s.callFunction(f, m, args, tables)
	if err != nil {
		return nil, err
	}
	return a.variableTable(a.unit.result), nil
}

// callFunction executes a function's body. Args are of the parameters' types already; tables are the table-valued ones.
func (s *Session) callFunction(_ *execute.Frame, m *schema.Module, args []value.Value, tables []*schema.Table) (*activation, error) {
	u, err := s.moduleUnit(m)
	if err != nil {
		return nil, err
	}
	if s.level() >= maxLevel {
		return nil, fault.New(217, maxLevel)
	}
	a := s.enter(u, nil)
	a.function = true
	rowCount, lastError := s.rowCount, s.lastError
	defer func() {
		s.leave(a)
		s.rowCount, s.lastError = rowCount, lastError
	}()
	if err := s.runAs(a); err != nil {
		return nil, err
	}
	scalars, rows := 0, 0
	for _, p := range u.params {
		switch {
		case p.table != nil:
			if rows < len(tables) && tables[rows] != nil {
				a.frame.Tables[p.slot] = tables[rows]
			}
			rows++
		case scalars < len(args):
			a.frame.Variables[p.slot] = args[scalars]
			scalars++
		}
	}
	_, err = s.statements(a, u.stmts)
	return a, err
}

// resultType is the type that a scalar function returns.
func (s *Session) resultType(u *unit, def *syntax.CreateFunction) (value.Type, error) {
	if def.Returns == nil {
		return intType, nil
	}
	t, _, err := define.ResolveType(u.db, def.Returns, u.schema)
	return t, err
}

// FireTriggers executes the triggers of a table for an event, "INSERT", "UPDATE" or "DELETE": those behind it, or those
// that stand for it if [plan.InsteadOf] is before the event. A trigger is not fired again by what it does itself, as is
// the default; by what another trigger does it is.
func (s *Session) FireTriggers(f *execute.Frame, t *schema.Table, event string, inserted, deleted *schema.Table) error {
	event, insteadOf := strings.CutPrefix(event, planner.InsteadOf)
	triggers := t.Triggers
	if view, ok := s.db.Objects[t.ID].(*schema.Module); ok {
		triggers = view.Triggers
	}
	for _, m := range triggers {
		def, ok := m.Stmt.(*syntax.CreateTrigger)
		if !ok || m.Disabled || def.InsteadOf != insteadOf || !concerns(def, event) {
			continue
		}
		if s.firing() == m {
			if insteadOf {
				// The trigger's own statements are planned without it; a procedure's are not.
				return fault.New(fault.Unsupported, "a change of the table of an INSTEAD OF trigger by a module that the trigger calls is not supported by tsqltest")
			}
			continue
		}
		if err := s.fire(m, execute.Frame{Inserted: inserted, Deleted: deleted, Updated: f.Updated, Affected: f.Affected}); err != nil {
			return err
		}
	}
	return nil
}

// concerns reports whether a trigger is for an event.
func concerns(def *syntax.CreateTrigger, event string) bool {
	return slices.ContainsFunc(def.Events, func(e string) bool { return strings.EqualFold(e, event) })
}

// firing is the innermost trigger that is being executed; nil if there is none.
func (s *Session) firing() *schema.Module {
	for _, a := range slices.Backward(s.stack) {
		if a.trigger {
			return a.unit.module
		}
	}
	return nil
}

// TriggerLevel is how many triggers are being executed, or how often the one with an id is; 0 stands for all.
func (s *Session) TriggerLevel(id int32) int64 {
	var n int64
	for _, a := range s.stack {
		if a.trigger && (id == 0 || a.unit.module.ID == id) {
			n++
		}
	}
	return n
}

// fire executes one trigger. Whatever goes wrong in it undoes the transaction, and so does one that ends it.
func (s *Session) fire(m *schema.Module, frame execute.Frame) error {
	u, err := s.moduleUnit(m)
	if err != nil {
		return err
	}
	if s.level() >= maxLevel {
		return fault.New(217, maxLevel)
	}
	a := s.enter(u, &frame)
	a.trigger = true
	s.options.xactAbort = true
	auto, doomed := s.transaction.count == 0, s.transaction.doomed
	if auto {
		// A trigger is in a transaction: that of the statement which fired it.
		s.transaction.count = 1
	}
	// The trigger begins with the @@ROWCOUNT of what fired it.
	s.rowCount = frame.Affected
	if err = s.runAs(a); err == nil {
		_, err = s.statements(a, u.stmts)
	}
	s.leave(a)
	ended := s.transaction.count == 0
	doomed = s.transaction.doomed && !doomed
	if auto && !ended {
		s.transaction.count, s.transaction.doomed = 0, false
	}
	switch {
	case err != nil && !errors.Is(err, errScope):
		return err
	case doomed && !ended:
		return fault.New(3616) // the trigger has caught an error, which has ended the transaction all the same
	}
	if ended {
		return fault.New(3609)
	}
	return nil
}
