package session

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// temporary is a temporary table with the nesting level that it belongs to.
type temporary struct {
	table *schema.Table
	level int
}

// globals are the temporary objects whose names begin with ##, by folded name: every session knows them, and they go
// with the one that has made them. Statements that use them by then go on with what they have.
type globals struct {
	tables     map[string]*schema.Table
	procedures map[string]*schema.Module
}

func newGlobals() globals {
	return globals{tables: map[string]*schema.Table{}, procedures: map[string]*schema.Module{}}
}

func isGlobal(name string) bool { return strings.HasPrefix(name, "##") }

// findTemporary returns the temporary table of that name, or nil. The innermost procedure's comes first.
func (s *Session) findTemporary(name string) *schema.Table {
	if isGlobal(name) {
		return s.server.globals.tables[fold(name)]
	}
	for _, v := range slices.Backward(s.temporary) {
		if fold(v.table.Name) == fold(name) {
			return v.table
		}
	}
	return nil
}

// findTemporaryProcedure returns the temporary procedure of that name, or nil.
func (s *Session) findTemporaryProcedure(name string) *schema.Module {
	return s.proceduresFor(name)[fold(name)]
}

// proceduresFor is where a temporary procedure of that name belongs.
func (s *Session) proceduresFor(name string) map[string]*schema.Module {
	if isGlobal(name) {
		return s.server.globals.procedures
	}
	return s.procedures
}

// dropTemporary drops the temporary tables of procedures at a nesting level and deeper.
func (s *Session) dropTemporary(level int) {
	for len(s.temporary) > 0 && s.temporary[len(s.temporary)-1].level >= level {
		s.temporary = s.temporary[:len(s.temporary)-1]
	}
}

// dropAllTemporary drops all that is temporary in the session.
func (s *Session) dropAllTemporary() {
	s.dropTemporary(0)
	clear(s.procedures)
	for name, t := range s.server.globals.tables {
		if t.Global == int32(s.id) {
			delete(s.server.globals.tables, name)
		}
	}
	for name, m := range s.server.globals.procedures {
		if m.Global == int32(s.id) {
			delete(s.server.globals.procedures, name)
		}
	}
}

// Temporary finds a temporary table, or only one of the present level.
func (d definer) Temporary(name string, own bool) *schema.Table {
	t := d.s.findTemporary(name)
	if t == nil || !own || t.Global != 0 {
		return t
	}
	for _, e := range d.s.temporary {
		if e.table == t && e.level == d.s.level() {
			return t
		}
	}
	return nil
}

// AddTemporary makes a temporary table known until the present procedure ends, or the session. A global one comes back
// after a rollback only if the session that made it is still there.
func (d definer) AddTemporary(t *schema.Table) {
	switch {
	case t.Global == 0:
		d.s.temporary = append(d.s.temporary, temporary{t, d.s.level()})
	case d.s.server.sessions[schedule.ID(t.Global)] != nil:
		d.s.server.globals.tables[fold(t.Name)] = t
	}
}

// RemoveTemporary forgets a temporary table.
func (d definer) RemoveTemporary(t *schema.Table) {
	if t.Global != 0 {
		delete(d.s.server.globals.tables, fold(t.Name))
		return
	}
	for i, e := range d.s.temporary {
		if e.table == t {
			d.s.temporary = append(d.s.temporary[:i:i], d.s.temporary[i+1:]...)
			return
		}
	}
}

// TemporaryProcedure finds a temporary procedure; nil if there is none.
func (d definer) TemporaryProcedure(name string) *schema.Module {
	return d.s.findTemporaryProcedure(name)
}

// AddTemporaryProcedure makes a temporary procedure known until the session ends.
func (d definer) AddTemporaryProcedure(m *schema.Module) {
	if m.Global == 0 || d.s.server.sessions[schedule.ID(m.Global)] != nil {
		d.s.proceduresFor(m.Name)[fold(m.Name)] = m
	}
}

// RemoveTemporaryProcedure forgets a temporary procedure.
func (d definer) RemoveTemporaryProcedure(m *schema.Module) {
	delete(d.s.proceduresFor(m.Name), fold(m.Name))
}
