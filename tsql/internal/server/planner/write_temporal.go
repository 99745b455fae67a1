package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// periodOf fills the columns of the period of a row that becomes valid now.
func (e *execution) periodOf(t *schema.Table, row []execute.Value) {
	if p := t.Period; p != nil && row != nil {
		row[p.Start.Ordinal] = e.transactionTime(p)
		row[p.End.Ordinal] = schema.EndOfTime(p.End.Type)
	}
}

// transactionTime is when the transaction began, as a period has it.
func (e *execution) transactionTime(p *schema.Period) execute.Value {
	return value.FromTime(e.frame().Session.TransactionTime(), p.Start.Type)
}

// keep puts the version of a row that a change replaces into the history, where computed columns are ordinary ones. The
// row becomes valid now.
func (u *rules) keep(e *execution, t *schema.Table, c change) error {
	p := t.Period
	if p == nil {
		return nil
	}
	e.periodOf(t, c.new)
	if t.History == nil {
		return nil
	}
	now := e.transactionTime(p)
	if value.Compare(c.old[p.Start.Ordinal], now, p.Start.Type) > 0 {
		return fault.New(13535, t.FullName())
	}
	old := slices.Clone(c.old)
	load(e.r, u.Before, old)
	for _, past := range u.past {
		v, err := past.value(e.r)
		if err != nil {
			return err
		}
		old[past.column.Ordinal] = v
	}
	old[p.End.Ordinal] = now
	_, err := e.statement().Insert(t.History.Data, old)
	return err
}
