package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// merging is a compiled MERGE.
type merging struct {
	*binder.Merge

	find    *finder
	rules   *rules
	present execute.Expr
	actions []mergeAction
	outputs []*output
}

// mergeAction is a compiled WHEN clause.
type mergeAction struct {
	binder.MergeAction

	and    execute.Cond
	update *updating
	insert *inserting
	values []execute.Expr
}

// merged is what a MERGE does to the rows, found before anything is changed.
type merged struct {
	deletes, updates []change
	inserts          [][]execute.Value
}

// merge compiles MERGE.
func (p *planner) merge(bound *binder.Merge) (*Statement, error) {
	m := &merging{Merge: bound}
	var err error
	if m.rules, err = p.rules(bound.Rules); err != nil {
		return nil, err
	}
	need := binder.SlotsOfOutputs(bound.Outputs).With(binder.SlotsOf(bound.Present))
	for _, a := range bound.Actions {
		need = need.With(binder.SlotsOf(a.Nodes...)).With(binder.SlotsOf(a.Cond))
	}
	x, err := p.plan(bound.Block, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, err
	}
	for _, a := range bound.Actions {
		compiled, err := p.mergeAction(a, m.rules)
		if err != nil {
			return nil, err
		}
		m.actions = append(m.actions, compiled)
	}
	present, err := p.code(bound.Present)
	if err != nil {
		return nil, err
	}
	m.present = present.Expr
	m.find = &finder{Modified: bound.Modified, rows: p.main(op)}
	if m.outputs, err = p.outputs(bound.Outputs); err != nil {
		return nil, err
	}
	return p.runner("MERGE", m.outputs, m.run), nil
}

// mergeAction compiles a WHEN clause.
func (p *planner) mergeAction(bound binder.MergeAction, u *rules) (mergeAction, error) {
	a := mergeAction{MergeAction: bound}
	if bound.Cond != nil {
		c, err := p.code(bound.Cond)
		if err != nil {
			return a, err
		}
		a.and = c.Cond
	}
	if bound.Update != nil {
		a.update = &updating{Update: bound.Update, rules: u}
		return a, a.update.compile(p)
	}
	if bound.Insert != nil {
		a.insert = &inserting{Insert: bound.Insert, rules: u}
	}
	codes, err := p.codes(bound.Nodes)
	a.values = binder.Operands(codes)
	return a, err
}

// run executes a MERGE: the clauses are chosen for all rows before any row changes.
func (m *merging) run(e *execution) error {
	t := m.rules.in(e)
	if err := m.begin(e, t); err != nil {
		return err
	}
	rows, err := m.find.rows.Rows(e.r)
	if err != nil {
		return err
	}
	defer rows.Close()
	var all merged
	for {
		more, err := rows.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := m.row(e, t, &all); err != nil {
			return err
		}
	}
	return m.apply(e, t, &all)
}

// begin does what each of the actions does before its rows.
func (m *merging) begin(e *execution, t *schema.Table) error {
	if err := e.checkOptions(t); err != nil {
		return err
	}
	for _, a := range m.actions {
		switch {
		case a.insert != nil:
			if _, err := a.insert.begin(e); err != nil {
				return err
			}
		case a.IsDelete:
			e.expect(m.rules, t, "DELETE")
		default:
			e.expect(m.rules, t, "UPDATE")
		}
	}
	return nil
}

// row chooses the clause for one row of the join.
func (m *merging) row(e *execution, t *schema.Table, all *merged) error {
	c, err := m.find.row(e.r)
	if err != nil {
		return err
	}
	present, err := m.present(e.r)
	if err != nil {
		return err
	}
	when := binder.WhenMatched
	switch {
	case c.old == nil:
		when = binder.WhenNotByTarget
	case present.IsNull():
		when = binder.WhenNotBySource
	}
	for i := range m.actions {
		a := &m.actions[i]
		if a.When != when {
			continue
		}
		if a.and != nil {
			truth, err := a.and(e.r)
			if err != nil {
				return err
			}
			if truth != execute.True {
				continue
			}
		}
		return m.act(e, t, a, c, all)
	}
	return nil
}

// act does what a clause says to one row, as far as that can be done before the others are known.
func (m *merging) act(e *execution, t *schema.Table, a *mergeAction, c change, all *merged) error {
	u := m.rules
	if c.row != nil && !e.once(c.row) {
		return fault.New(8672)
	}
	var err error
	word := "INSERT"
	switch {
	case a.IsDelete:
		word = "DELETE"
		all.deletes = append(all.deletes, c)
	case a.update != nil:
		word = "UPDATE"
		if c.new, err = a.update.next(e, t, c.old); err != nil {
			return err
		}
		all.updates = append(all.updates, c)
	default:
		if c.new, err = m.newRow(e, t, a); err != nil {
			return err
		}
		all.inserts = append(all.inserts, c.new)
	}
	e.count++
	load(e.r, u.After, c.new)
	load(e.r, u.Before, c.old)
	e.r.Slots[m.Word] = value.OfString(word)
	return e.emit()
}

// newRow makes the row of THEN INSERT.
func (m *merging) newRow(e *execution, t *schema.Table, a *mergeAction) ([]execute.Value, error) {
	given := make([]execute.Value, len(a.values))
	for i, x := range a.values {
		var err error
		if given[i], err = x(e.r); err != nil {
			return nil, err
		}
	}
	row, err := m.rules.newRow(e, t, a.insert.Ordinals, given)
	if err != nil {
		return nil, err
	}
	if err := m.rules.settle(e, t, row); err != nil {
		return nil, err
	}
	if t.Identity != nil {
		err = a.insert.identity(e, t, row)
	}
	return row, err
}

// apply changes the rows: a key that a deleted row gives up is free for the others.
func (m *merging) apply(e *execution, t *schema.Table, all *merged) error {
	for _, c := range all.deletes {
		if err := m.rules.delete(e, t, c); err != nil {
			return err
		}
	}
	if err := m.rules.updateAll(e, t, all.updates); err != nil {
		return err
	}
	for _, row := range all.inserts {
		if _, err := m.rules.insert(e, t, row); err != nil {
			return err
		}
	}
	return nil
}
