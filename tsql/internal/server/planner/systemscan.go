package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// system plans a view of the system: some can be asked for the rows of one object.
func (p *planner) system(r *binder.SystemRel, q request) *physical {
	conds, startup := splitStartup(q.conds, binder.Made(r))
	need := q.need.With(binder.SlotsOf(conds...))
	column, key := systemKey(r, conds)
	x := &physical{rows: systemRows, cost: systemCost}
	if key != nil {
		x.rows, x.cost = systemKeyRows, systemKeyCost
	}
	x.build = func() (execute.Operator, error) { return p.systemRows(r, column, key, need) }
	return p.filtered(x, conds, startup)
}

// systemKey finds a column by which the view can be asked, and what it must equal; nil if there is none.
func systemKey(o *binder.SystemRel, conds []*binder.Node) (column int, equals *binder.Node) {
	for _, column := range o.View.Keys() {
		if o.Slots[column] < 0 {
			continue
		}
		for i, n := range conds {
			found := sargs(n, i, map[int]int{o.Slots[column]: column})
			if len(found) == 1 && found[0].op == "=" && independent(found[0].values[0], placesOf(o.Slots)) {
				return column, found[0].values[0]
			}
		}
	}
	return 0, nil
}

// placesOf are the places of the columns by slot.
func placesOf(slots []int) map[int]int {
	out := map[int]int{}
	for i, slot := range slots {
		if slot >= 0 {
			out[slot] = i
		}
	}
	return out
}

func (p *planner) systemRows(r *binder.SystemRel, column int, key *binder.Node, need binder.Set) (execute.Operator, error) {
	columns := binder.Loads(r.Slots, need)
	wanted := make([]bool, len(r.Slots))
	for _, c := range columns {
		wanted[c.Ordinal] = true
	}
	name := r.View.Schema + "." + r.View.Name
	if key == nil {
		return &execute.Rows{Text: "scan " + name, Open: func(run *execute.Run) (func() (bool, error), error) {
			rows, err := r.View.Rows(ask.Context(run.Frame), wanted)
			return execute.FromSlice(run, rows, columns), err
		}}, nil
	}
	k, err := p.code(key)
	return &execute.Rows{Text: "seek " + name, Open: func(run *execute.Run) (func() (bool, error), error) {
		v, err := k.Expr(run)
		if err != nil {
			return nil, err
		}
		rows, err := r.View.Find(ask.Context(run.Frame), column, v, wanted)
		return execute.FromSlice(run, rows, columns), err
	}}, err
}
