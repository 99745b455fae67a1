package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// updating is a compiled UPDATE, or that of a MERGE.
type updating struct {
	*binder.Update

	rules *rules
	exprs []execute.Expr // of SET
}

// finder finds the rows of an UPDATE, a DELETE or a MERGE.
type finder struct {
	*binder.Modified

	rows *execute.Subquery
	view []execute.Expr // the columns of a view that has no table to be changed
}

// update compiles UPDATE.
func (p *planner) update(bound *binder.Update) (*Statement, error) {
	up := &updating{Update: bound}
	var err error
	if up.rules, err = p.rules(bound.Rules); err != nil {
		return nil, err
	}
	find, outputs, err := p.findRows(bound.Modified, up, bound.Outputs)
	if err != nil {
		return nil, err
	}
	return p.runner("UPDATE", outputs, func(e *execution) error { return up.run(e, find) }), nil
}

// findRows plans the rows of an UPDATE or DELETE, and compiles what is computed of each.
func (p *planner) findRows(m *binder.Modified, up *updating, outputs []*binder.Output) (*finder, []*output, error) {
	need := binder.SlotsOfOutputs(outputs)
	var set *binder.Update
	if up != nil {
		set = up.Update
		for _, a := range set.Set {
			need = need.With(binder.SlotsOf(a.Node))
		}
	}
	columns, err := m.Target.ViewColumns()
	if err != nil {
		return nil, nil, err
	}
	x, err := p.plan(m.Block, request{need: need.With(binder.SlotsOf(columns...)), goal: all})
	if err != nil {
		return nil, nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, nil, err
	}
	if up != nil {
		if err := up.compile(p); err != nil {
			return nil, nil, err
		}
	}
	find := &finder{Modified: m}
	codes, err := p.codes(columns)
	if err != nil {
		return nil, nil, err
	}
	find.view = binder.Operands(codes)
	find.qualify(op, set, outputs)
	find.rows = p.main(op)
	out, err := p.outputs(outputs)
	return find, out, err
}

// qualify lets the rows be locked after they have been found, where optimized locking allows it: one scan decides which
// rows are changed, each is changed before the next one is found, and nothing of the statement is seen outside before
// its end.
func (f *finder) qualify(op execute.Operator, up *binder.Update, outputs []*binder.Output) {
	if len(outputs) > 0 || f.Target.Rel == nil || f.Target.Instead {
		return
	}
	if up != nil && (up.Together || slices.ContainsFunc(up.Set, func(a binder.SetItem) bool { return a.Variable >= 0 })) {
		return
	}
	for {
		switch x := op.(type) {
		case *execute.Compute:
			op = x.Input
		case *execute.Top:
			op = x.Input
		case *execute.Filter:
			if len(x.Conditions) > 0 {
				return
			}
			op = x.Input
		case *execute.Scan:
			x.Qualify = x.Write && x.Exact == nil && x.Source.Place == execute.InCatalog
			return
		default:
			return
		}
	}
}

// compile compiles SET.
func (up *updating) compile(p *planner) error {
	for _, a := range up.Set {
		c, err := p.code(a.Node)
		if err != nil {
			return err
		}
		up.exprs = append(up.exprs, c.Expr)
	}
	return nil
}

// row returns the row that the plan has come to.
func (f *finder) row(r *execute.Run) (change, error) {
	if rel := f.Target.Rel; rel != nil {
		row := r.Rows[rel.Row]
		if row == nil {
			return change{}, nil
		}
		return change{row: row, old: row.Values()}, nil
	}
	c := change{old: make([]execute.Value, len(f.view))}
	for i, x := range f.view {
		var err error
		if c.old[i], err = x(r); err != nil {
			return c, err
		}
	}
	return c, nil
}

// run executes an UPDATE.
func (up *updating) run(e *execution, find *finder) error {
	t := up.rules.in(e)
	e.expect(up.rules, t, "UPDATE")
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
	var pending []change
	for {
		more, err := rows.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		c, err := find.row(e.r)
		if err != nil {
			return err
		}
		if c.old == nil || find.Once && c.row != nil && !e.once(c.row) {
			continue
		}
		if c.new, err = up.next(e, t, c.old); err != nil {
			return err
		}
		if pending, err = up.apply(e, t, c, find.Target.Instead, pending); err != nil {
			return err
		}
	}
	return up.rules.updateAll(e, t, pending)
}

// next computes what a row becomes.
func (up *updating) next(e *execution, t *schema.Table, old []execute.Value) ([]execute.Value, error) {
	row := slices.Clone(old)
	for i, a := range up.Set {
		v, err := up.exprs[i](e.r)
		if err != nil {
			return nil, err
		}
		if a.Ordinal >= 0 {
			row[a.Ordinal] = v
		}
		if a.Variable >= 0 {
			if e.frame().Variables[a.Variable], err = value.Assign(v, a.From, a.Type); err != nil {
				return nil, err
			}
		}
	}
	if up.rules.InsteadOf != "" {
		return row, nil
	}
	if rv := t.RowVersionColumn(); rv != nil {
		row[rv.Ordinal] = nextRowVersion(e, up.rules.Database(t))
	}
	e.periodOf(t, row)
	return row, up.rules.settle(e, t, row)
}

// apply changes a row, or keeps it among those that are changed together.
func (up *updating) apply(e *execution, t *schema.Table, c change, instead bool, pending []change) ([]change, error) {
	u := up.rules
	e.count++
	load(e.r, u.After, c.new)
	load(e.r, u.Before, c.old)
	if err := e.emit(); err != nil {
		return pending, err
	}
	switch {
	case instead:
		e.note(u, t, "UPDATE", c)
		return pending, nil
	case up.Together:
		return append(pending, c), nil
	default:
		return pending, u.update(e, t, c)
	}
}
