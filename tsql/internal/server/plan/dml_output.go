package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// output is an OUTPUT clause.
type output struct {
	columns []Column
	nodes   []*node
	exprs   []execute.Expr
	into    *outputInto // nil if the rows go to the client
}

// outputInto is the table of OUTPUT … INTO.
type outputInto struct {
	rules    *rules
	ordinals []int
}

// outputRows are the rows of an OUTPUT clause in an execution.
type outputRows struct {
	of   *output
	rows [][]execute.Value
}

// outputs binds the OUTPUT clauses of a statement in a scope with inserted and deleted.
func (b *binder) outputs(s *scope, o *syntax.Output) ([]*output, error) {
	var list []*output
	for ; o != nil; o = o.Then {
		one, err := b.output(s, o)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (b *binder) output(s *scope, o *syntax.Output) (*output, error) {
	sel := &selected{}
	if err := b.selectList(s.in(inOutput), &syntax.Select{Items: o.Items}, sel, false); err != nil {
		return nil, err
	}
	if len(sel.assigns) > 0 {
		return nil, fault.New(102, "=")
	}
	out := &output{columns: b.resultColumns(sel.columns)}
	for _, c := range sel.columns {
		out.nodes = append(out.nodes, c.node)
	}
	if o.Into == nil {
		return out, nil
	}
	return out, b.outputInto(out, o)
}

// outputInto binds the table of INTO, which stores the rows.
func (b *binder) outputInto(out *output, o *syntax.Output) error {
	t, err := b.namedTarget(&scope{}, o.Into, "INSERT")
	if err != nil {
		return err
	}
	if err := t.noHistory(13559); err != nil {
		return err
	}
	table := t.table()
	for _, m := range table.Triggers {
		if !m.Disabled {
			return fault.New(331, table.Name, m.Name)
		}
	}
	if len(table.ForeignKeys) > 0 || len(table.Referrers) > 0 {
		return fault.New(332, table.Name, foreignName(table))
	}
	if len(table.Checks) > 0 {
		return fault.New(333, table.Name, table.Checks[0].Name)
	}
	u, err := b.rulesOf(t.from, map[*schema.Table]*rules{})
	if err != nil {
		return err
	}
	into := &outputInto{rules: u}
	if into.ordinals, err = b.insertOrdinals(t, o.IntoColumns); err != nil {
		return err
	}
	if len(into.ordinals) != len(out.nodes) {
		if len(o.IntoColumns) == 0 {
			return fault.New(213)
		}
		if len(into.ordinals) > len(out.nodes) {
			return fault.New(120)
		}
		return fault.New(121)
	}
	given := map[int]bool{}
	for i, ordinal := range into.ordinals {
		given[ordinal] = true
		if table.Columns[ordinal].Generated != "" {
			return fault.New(13536, table.FullName())
		}
		if out.nodes[i], err = b.stored(out.nodes[i], table, table.Columns[ordinal]); err != nil {
			return err
		}
	}
	out.into = into
	return u.compileDefaults(given)
}

// foreignName names a foreign key of a table.
func foreignName(t *schema.Table) string {
	if len(t.ForeignKeys) > 0 {
		return t.ForeignKeys[0].Name
	}
	return t.Referrers[0].Name
}

// compile compiles what the clauses compute.
func compileOutputs(p *planner, list []*output) error {
	for _, o := range list {
		codes, err := p.codes(o.nodes)
		if err != nil {
			return err
		}
		o.exprs = operands(codes)
	}
	return nil
}

// slotsOfOutputs are the slots that OUTPUT clauses read.
func slotsOfOutputs(list []*output) set {
	var s set
	for _, o := range list {
		s = s.with(slotsOf(o.nodes...))
	}
	return s
}

// emit computes the rows of the OUTPUT clauses for one change, whose images are in their slots.
func (e *execution) emit() error {
	for _, o := range e.outputs {
		row := make([]execute.Value, len(o.of.exprs))
		for i, x := range o.of.exprs {
			var err error
			if row[i], err = x(e.r); err != nil {
				return err
			}
		}
		o.rows = append(o.rows, row)
	}
	return nil
}

// deliver sends the rows to the client, or stores them.
func (o *outputRows) deliver(e *execution, send func(row []execute.Value) error) error {
	if o.of.into == nil {
		for _, row := range o.rows {
			if err := send(row); err != nil {
				return err
			}
		}
		return nil
	}
	into := o.of.into
	t := into.rules.in(e)
	for _, row := range o.rows {
		values, err := into.rules.newRow(e, t, into.ordinals, row)
		if err != nil {
			return err
		}
		if err := into.rules.settle(e, t, values); err != nil {
			return err
		}
		if _, err := into.rules.insert(e, t, values); err != nil {
			return err
		}
	}
	return nil
}
