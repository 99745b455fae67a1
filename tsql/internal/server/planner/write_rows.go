package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// in returns the table with the data that an execution changes.
func (u *rules) in(e *execution) *schema.Table { return u.From.In(e.frame()) }

// insert stores a row that settle has completed. It reports false for a duplicate that an index ignores.
func (u *rules) insert(e *execution, t *schema.Table, row []execute.Value) (bool, error) {
	stored, err := e.statement().Insert(t.Data, row)
	if err != nil {
		if ignores(t, err) {
			e.warnIgnored()
			return false, nil
		}
		return false, t.Refused(err)
	}
	return true, u.changed(e, t, "INSERT", change{row: stored, new: row})
}

// warnIgnored tells the client once that a duplicate was left out.
func (e *execution) warnIgnored() {
	if e.ignored {
		return
	}
	e.ignored = true
	message := fault.New(3604)
	e.frame().Session.Message(message.Number, message.Class, message.Message)
}

// update changes a row into what settle has completed.
func (u *rules) update(e *execution, t *schema.Table, c change) error {
	if err := u.keep(e, t, c); err != nil {
		return err
	}
	if err := e.statement().Update(t.Data, c.row, c.new); err != nil {
		return t.Refused(err)
	}
	return u.changed(e, t, "UPDATE", c)
}

// updateAll changes several rows at once, since each may take a key that another one gives up.
func (u *rules) updateAll(e *execution, t *schema.Table, list []change) error {
	changes := make([]store.Change, len(list))
	for i, c := range list {
		if err := u.keep(e, t, c); err != nil {
			return err
		}
		changes[i] = store.Change{Row: c.row, Values: c.new}
	}
	if err := e.statement().UpdateAll(t.Data, changes); err != nil {
		return t.Refused(err)
	}
	for _, c := range list {
		if err := u.changed(e, t, "UPDATE", c); err != nil {
			return err
		}
	}
	return nil
}

// delete removes a row.
func (u *rules) delete(e *execution, t *schema.Table, c change) error {
	if err := u.keep(e, t, c); err != nil {
		return err
	}
	if err := e.statement().Delete(t.Data, c.row); err != nil {
		return err
	}
	return u.changed(e, t, "DELETE", c)
}

// changed follows a change up: foreign keys are checked, and triggers are going to be told.
func (u *rules) changed(e *execution, t *schema.Table, event string, c change) error {
	if u.has(event) {
		e.note(u, t, event, c)
	}
	for _, k := range u.parents {
		if err := k.check(e, t, c); err != nil {
			return err
		}
	}
	for _, k := range u.children {
		if err := k.follow(e, c); err != nil {
			return err
		}
	}
	return nil
}

// imagesOf are the changes that triggers of a table are told of.
func (e *execution) imagesOf(u *rules, t *schema.Table) *images {
	im := e.images[u]
	if im == nil {
		if e.images == nil {
			e.images = map[*rules]*images{}
		}
		im = &images{table: t, changes: map[string][]change{}}
		e.images[u] = im
		e.order = append(e.order, u)
	}
	return im
}

// note keeps a change for the triggers of its table.
func (e *execution) note(u *rules, t *schema.Table, event string, c change) {
	im := e.imagesOf(u, t)
	im.changes[event] = append(im.changes[event], c)
}
