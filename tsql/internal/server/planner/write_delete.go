package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// delete compiles DELETE.
func (p *planner) delete(bound *binder.Delete) (*Statement, error) {
	u, err := p.rules(bound.Rules)
	if err != nil {
		return nil, err
	}
	find, outputs, err := p.findRows(bound.Modified, nil, bound.Outputs)
	if err != nil {
		return nil, err
	}
	return p.runner("DELETE", outputs, func(e *execution) error { return u.deleteRows(e, find) }), nil
}

// deleteRows executes a DELETE.
func (u *rules) deleteRows(e *execution, find *finder) error {
	t := u.in(e)
	e.expect(u, t, "DELETE")
	if !find.Target.Instead {
		if err := e.checkOptions(t); err != nil {
			return err
		}
	}
	rows, err := find.rows.Rows(e.r)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		more, err := rows.Next()
		if err != nil || !more {
			return err
		}
		c, err := find.row(e.r)
		if err != nil {
			return err
		}
		if c.old == nil || find.Once && c.row != nil && !e.once(c.row) {
			continue
		}
		if err := u.remove(e, t, c, find.Target.Instead); err != nil {
			return err
		}
	}
}

// remove deletes one row.
func (u *rules) remove(e *execution, t *schema.Table, c change, instead bool) error {
	e.count++
	load(e.r, u.Before, c.old)
	if err := e.emit(); err != nil {
		return err
	}
	if instead {
		e.note(u, t, "DELETE", c)
		return nil
	}
	return u.delete(e, t, c)
}

// truncate compiles TRUNCATE TABLE.
func truncate(t *schema.Table, name string) *Statement {
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
	}}
}
