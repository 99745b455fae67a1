package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Tables with a period: FOR SYSTEM_TIME reads a table together with its history, and changes of rows keep the versions
// that they replace.

// systemTime is FOR SYSTEM_TIME. In a view it is about all tables with a history that the view reads.
type systemTime struct {
	form   string
	bounds []*node
}

// systemTime binds FOR SYSTEM_TIME, whose times are constants or variables.
func (b *binder) systemTime(s *scope, ref *syntax.TableRef) (*systemTime, error) {
	if b.temporal != nil {
		return nil, fault.New(13590, textOf(ref.Name.Parts))
	}
	out := &systemTime{form: ref.Form}
	for _, x := range ref.Bounds {
		switch x.(type) {
		case *syntax.Literal, *syntax.Variable:
		default:
			return nil, fault.New(102, b.env.File.Slice(x.Range()))
		}
		n, err := b.expr(s, x)
		if err != nil {
			return nil, err
		}
		out.bounds = append(out.bounds, n)
	}
	return out, nil
}

// versions makes the source of a table with its history: the versions that FOR SYSTEM_TIME asks for. Those that were
// valid for no time at all, since one transaction has made and replaced them, are none.
func (b *binder) versions(t *schema.Table, hints execute.Hints, maybe bool) (*source, error) {
	now := b.tableSource(execute.Source{Table: t}, hints, false)
	past := b.tableSource(execute.Source{Table: t.History}, hints, false)
	b.needs("SELECT", t.History)
	u := &unionRel{op: "UNION", all: true}
	for _, side := range []*source{now, past} {
		conds, err := b.validity(t.Period, side)
		if err != nil {
			return nil, err
		}
		u.branches = append(u.branches, unionBranch{rel: &block{from: side.rel, where: conds}})
	}
	src := &source{name: t.Name, rel: u}
	for i, c := range t.Columns {
		n := columnNode(b.newSlot(), b.columnType(c), c.Nullable || maybe)
		u.columns = append(u.columns, n)
		for k, side := range []*source{now, past} {
			v, err := side.node(i)
			if err != nil {
				return nil, err
			}
			u.branches[k].values = append(u.branches[k].values, v)
		}
		src.columns = append(src.columns, sourceColumn{name: c.Name, hidden: c.Hidden, make: func() (*node, error) { return n, nil }})
	}
	right := b.needs("SELECT", t)
	src.reads = func(i int) { right.add(t.Columns[i].ID, t.Columns[i].Name) }
	return src, nil
}

// validity are the conditions on the versions in one of the two tables.
func (b *binder) validity(p *schema.Period, side *source) ([]*node, error) {
	start, err := side.node(p.Start.Ordinal)
	if err != nil {
		return nil, err
	}
	end, err := side.node(p.End.Ordinal)
	if err != nil {
		return nil, err
	}
	conds := []*node{compareNode("<", start, end, start.typ)}
	add := func(op string, column *node, bound int) {
		if err == nil {
			var n *node
			n, err = b.compare(op, column, b.temporal.bounds[bound])
			conds = append(conds, n)
		}
	}
	switch b.temporal.form {
	case "AS OF":
		add("<=", start, 0)
		add(">", end, 0)
	case "FROM":
		add("<", start, 1)
		add(">", end, 0)
	case "BETWEEN":
		add("<=", start, 1)
		add(">", end, 0)
	case "CONTAINED IN":
		add(">=", start, 0)
		add("<=", end, 1)
	}
	return conds, err
}

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
	load(e.r, u.before, old)
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

// noHistory returns an error if a target is a history, which only the server changes.
func (t *target) noHistory(number int32) error {
	if table := t.table(); table.HistoryOf != nil {
		return fault.New(number, table.FullName())
	}
	return nil
}
