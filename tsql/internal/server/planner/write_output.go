package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
)

// output is a compiled OUTPUT clause.
type output struct {
	*binder.Output

	exprs []execute.Expr
	rules *rules // of the table of OUTPUT … INTO; nil if the rows go to the client
}

// outputRows are the rows of an OUTPUT clause in an execution.
type outputRows struct {
	of   *output
	rows [][]execute.Value
}

// outputs compiles OUTPUT clauses.
func (p *planner) outputs(list []*binder.Output) ([]*output, error) {
	var out []*output
	for _, bound := range list {
		codes, err := p.codes(bound.Nodes)
		if err != nil {
			return nil, err
		}
		o := &output{Output: bound, exprs: binder.Operands(codes)}
		if bound.Into != nil {
			if o.rules, err = p.rules(bound.Into.Rules); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
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
	if o.of.Into == nil {
		for _, row := range o.rows {
			if err := send(row); err != nil {
				return err
			}
		}
		return nil
	}
	u := o.of.rules
	t := u.in(e)
	for _, row := range o.rows {
		values, err := u.newRow(e, t, o.of.Into.Ordinals, row)
		if err != nil {
			return err
		}
		if err := u.settle(e, t, values); err != nil {
			return err
		}
		if _, err := u.insert(e, t, values); err != nil {
			return err
		}
	}
	return nil
}
