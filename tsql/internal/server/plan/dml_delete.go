package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// deleteStatement compiles DELETE.
func (b *binder) deleteStatement(s *syntax.Delete) (*Statement, error) {
	m, err := b.modifies(s.With, s.Target, s.From, s.Where, s.Top, s.Options, "DELETE")
	if err != nil {
		return nil, err
	}
	if err := b.positioned(m, s.Cursor, s.From, nil, s.Span); err != nil {
		return nil, err
	}
	if err := m.target.noHistory(13560); err != nil {
		return nil, err
	}
	u, err := b.rulesOf(m.target.from, map[*schema.Table]*rules{})
	if err != nil {
		return nil, err
	}
	if m.target.instead {
		u.insteadOf = "DELETE"
	}
	outputs, err := b.changeOutputs(m, u, s.Output, "DELETE")
	if err != nil {
		return nil, err
	}
	find, err := b.findRows(m, nil, outputs)
	if err != nil {
		return nil, err
	}
	return b.runner("DELETE", outputs, func(e *execution) error { return u.deleteRows(e, m, find) }), nil
}

// deleteRows executes a DELETE.
func (u *rules) deleteRows(e *execution, m *modified, find *execute.Subquery) error {
	t := u.in(e)
	e.expect(u, t, "DELETE")
	if !m.target.instead {
		if err := e.checkOptions(t); err != nil {
			return err
		}
	}
	rows, err := find.Rows(e.r)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		more, err := rows.Next()
		if err != nil || !more {
			return err
		}
		c, err := m.target.found(e.r)
		if err != nil {
			return err
		}
		if c.old == nil || m.once && c.row != nil && !e.once(c.row) {
			continue
		}
		if err := u.remove(e, t, c, m.target.instead); err != nil {
			return err
		}
	}
}

// remove deletes one row.
func (u *rules) remove(e *execution, t *schema.Table, c change, instead bool) error {
	e.count++
	load(e.r, u.before, c.old)
	if err := e.emit(); err != nil {
		return err
	}
	if instead {
		e.note(u, t, "DELETE", c)
		return nil
	}
	return u.delete(e, t, c)
}

// truncateStatement compiles TRUNCATE TABLE.
func (b *binder) truncateStatement(s *syntax.Truncate) (*Statement, error) {
	name := textOf(s.Table.Parts)
	var t *schema.Table
	if isTemp(s.Table) {
		t = b.env.Temp(lastOf(s.Table))
	} else {
		o := b.object(s.Table)
		t, _ = o.(*schema.Table)
		if o != nil && t == nil {
			return nil, fault.New(4708, name)
		}
	}
	if t == nil || t.Data == nil {
		return nil, fault.New(4701, name)
	}
	if t.History != nil || t.HistoryOf != nil {
		return nil, fault.New(13545, t.FullName())
	}
	for _, fk := range t.Referrers {
		if fk.Parent != t.ID {
			return nil, fault.New(4712, name)
		}
	}
	return &Statement{Run: func(x *execute.Frame, _ func([]execute.Value) error) (int64, error) {
		if !t.Temporary && x.Session.May("ALTER", t, nil) != nil {
			return 0, fault.New(1088, name)
		}
		if err := x.Session.Statement().Truncate(t.Data); err != nil {
			return 0, err
		}
		if id := t.Identity; id != nil {
			old := *id
			id.Restart()
			x.Session.Store().Undo(func() { *id = old })
		}
		return 0, nil
	}}, nil
}
