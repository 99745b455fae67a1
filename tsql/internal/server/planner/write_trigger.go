package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// InsteadOf stands before the event when a session is asked to execute INSTEAD OF triggers: "INSTEAD OF INSERT".
// Without it, the AFTER triggers of an event are meant.
const InsteadOf = "INSTEAD OF "

// pseudo makes inserted or deleted.
func (e *execution) pseudo(t *schema.Table, rows [][]execute.Value) (*schema.Table, error) {
	p := binder.ShapeOf(t)
	p.Data = store.NewTable(t.ID, t.Name)
	p.Data.Private = true
	data, err := p.Data.AddIndex(store.IndexSpec{Heap: true})
	if err != nil {
		return nil, err
	}
	p.Indexes[0].Data = data
	for _, row := range rows {
		if _, err := e.statement().Insert(p.Data, row); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// expect says that the triggers of an event are to be executed, also if no row changes.
func (e *execution) expect(u *rules, t *schema.Table, event string) {
	if u.InsteadOf == "" && !u.has(event) {
		return
	}
	im := e.imagesOf(u, t)
	if _, ok := im.changes[event]; !ok {
		im.changes[event] = nil
	}
}

// fire executes the triggers of all tables that have changed: those of tables to which a change has cascaded before
// that of the statement itself.
func (e *execution) fire() error {
	for _, u := range slices.Backward(e.order) {
		im := e.images[u]
		for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
			list, ok := im.changes[event]
			if !ok {
				continue
			}
			if err := e.fireEvent(u, im.table, event, list); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *execution) fireEvent(u *rules, t *schema.Table, event string, list []change) error {
	var before, after [][]execute.Value
	for _, c := range list {
		if c.old != nil {
			before = append(before, c.old)
		}
		if c.new != nil {
			after = append(after, c.new)
		}
	}
	inserted, err := e.pseudo(t, after)
	if err != nil {
		return err
	}
	deleted, err := e.pseudo(t, before)
	if err != nil {
		return err
	}
	x := *e.frame()
	x.Updated = u.updated(event)
	x.Affected = int64(len(list))
	if e.verb == "MERGE" {
		x.Affected = e.count // of all its clauses
	}
	if u.InsteadOf != "" {
		event = InsteadOf + event
	}
	return x.Session.FireTriggers(&x, t, event, inserted, deleted)
}

// updated says for each column what UPDATE(column) is in a trigger: true of all after an INSERT, and of those that an
// UPDATE sets.
func (u *rules) updated(event string) []bool {
	list := make([]bool, len(u.From.Table.Columns))
	for i := range list {
		list[i] = event == "INSERT" || event == "UPDATE" && u.Sets[i]
	}
	return list
}
