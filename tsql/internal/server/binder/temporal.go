package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Tables with a period: FOR SYSTEM_TIME reads a table together with its history, and changes of rows keep the versions
// that they replace.

// systemTime is FOR SYSTEM_TIME. In a view it is about all tables with a history that the view reads.
type systemTime struct {
	form   string
	bounds []*Node
}

// systemTime binds FOR SYSTEM_TIME, whose times are constants or variables.
func (b *Binder) systemTime(s *scope, ref *syntax.TableRef) (*systemTime, error) {
	if b.temporal != nil {
		return nil, fault.New(13590, syntax.Dotted(ref.Name.Parts))
	}
	out := &systemTime{form: ref.Form}
	for _, x := range ref.Bounds {
		switch x.(type) {
		case *syntax.Literal, *syntax.Variable:
		default:
			return nil, fault.New(102, b.Env.File.Slice(x.Range()))
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
func (b *Binder) versions(t *schema.Table, hints execute.Hints, maybe bool) (*Source, error) {
	now := b.tableSource(execute.Source{Table: t}, hints, false)
	past := b.tableSource(execute.Source{Table: t.History}, hints, false)
	b.needs("SELECT", t.History)
	u := &UnionRel{Op: "UNION", All: true}
	for _, side := range []*Source{now, past} {
		conds, err := b.validity(t.Period, side)
		if err != nil {
			return nil, err
		}
		u.Branches = append(u.Branches, UnionBranch{Rel: &Block{From: side.Rel, Where: conds}})
	}
	src := &Source{Name: t.Name, Rel: u}
	for i, c := range t.Columns {
		n := ColumnNode(b.NewSlot(), b.ColumnType(c), c.Nullable || maybe)
		u.Columns = append(u.Columns, n)
		for k, side := range []*Source{now, past} {
			v, err := side.node(i)
			if err != nil {
				return nil, err
			}
			u.Branches[k].Values = append(u.Branches[k].Values, v)
		}
		src.columns = append(src.columns, sourceColumn{name: c.Name, hidden: c.Hidden, make: func() (*Node, error) { return n, nil }})
	}
	right := b.needs("SELECT", t)
	src.reads = func(i int) { right.add(t.Columns[i].ID, t.Columns[i].Name) }
	return src, nil
}

// validity are the conditions on the versions in one of the two tables.
func (b *Binder) validity(p *schema.Period, side *Source) ([]*Node, error) {
	start, err := side.node(p.Start.Ordinal)
	if err != nil {
		return nil, err
	}
	end, err := side.node(p.End.Ordinal)
	if err != nil {
		return nil, err
	}
	conds := []*Node{CompareNode("<", start, end, start.Type)}
	add := func(op string, column *Node, bound int) {
		if err == nil {
			var n *Node
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

// noHistory returns an error if a target is a history, which only the server changes.
func (t *target) noHistory(number int32) error {
	if table := t.Table(); table.HistoryOf != nil {
		return fault.New(number, table.FullName())
	}
	return nil
}
