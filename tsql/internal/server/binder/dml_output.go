package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Output is an OUTPUT clause.
type Output struct {
	Columns []Column
	Nodes   []*Node
	Into    *OutputInto // nil if the rows go to the client
}

// OutputInto is the table of OUTPUT … INTO.
type OutputInto struct {
	Rules    *Rules
	Ordinals []int
}

// outputs binds the OUTPUT clauses of a statement in a scope with inserted and deleted.
func (b *Binder) outputs(s *scope, o *syntax.Output) ([]*Output, error) {
	var list []*Output
	for ; o != nil; o = o.Then {
		one, err := b.output(s, o)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (b *Binder) output(s *scope, o *syntax.Output) (*Output, error) {
	sel := &Selected{}
	if err := b.selectList(s.in(lookup.InOutput), &syntax.Select{Items: o.Items}, sel, false); err != nil {
		return nil, err
	}
	if len(sel.Assigns) > 0 {
		return nil, fault.New(102, "=")
	}
	out := &Output{Columns: b.ResultColumns(sel.Columns)}
	for _, c := range sel.Columns {
		out.Nodes = append(out.Nodes, c.Node)
	}
	if o.Into == nil {
		return out, nil
	}
	return out, b.outputInto(out, o)
}

// outputInto binds the table of INTO, which stores the rows.
func (b *Binder) outputInto(out *Output, o *syntax.Output) error {
	t, err := b.namedTarget(&scope{}, o.Into, "INSERT")
	if err != nil {
		return err
	}
	if err := t.noHistory(13559); err != nil {
		return err
	}
	table := t.Table()
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
	u, err := b.rulesOf(t.from, map[*schema.Table]*Rules{})
	if err != nil {
		return err
	}
	into := &OutputInto{Rules: u}
	if into.Ordinals, err = b.insertOrdinals(t, o.IntoColumns); err != nil {
		return err
	}
	if len(into.Ordinals) != len(out.Nodes) {
		if len(o.IntoColumns) == 0 {
			return fault.New(213)
		}
		if len(into.Ordinals) > len(out.Nodes) {
			return fault.New(120)
		}
		return fault.New(121)
	}
	for i, ordinal := range into.Ordinals {
		if table.Columns[ordinal].Generated != "" {
			return fault.New(13536, table.FullName())
		}
		if out.Nodes[i], err = b.stored(out.Nodes[i], table, table.Columns[ordinal]); err != nil {
			return err
		}
	}
	out.Into = into
	return u.BindDefaults(into.Ordinals)
}

// foreignName names a foreign key of a table.
func foreignName(t *schema.Table) string {
	if len(t.ForeignKeys) > 0 {
		return t.ForeignKeys[0].Name
	}
	return t.Referrers[0].Name
}

// SlotsOfOutputs returns the slots that OUTPUT clauses read.
func SlotsOfOutputs(list []*Output) Set {
	var s Set
	for _, o := range list {
		s = s.With(SlotsOf(o.Nodes...))
	}
	return s
}
