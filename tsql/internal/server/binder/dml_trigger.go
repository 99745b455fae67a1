package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// TriggerTable returns what a trigger of a table or a view sees as inserted and deleted, for Env.Inserted.
func TriggerTable(env *Env, o schema.Object) (*schema.Table, error) {
	switch o := o.(type) {
	case *schema.Table:
		return o, nil
	case *schema.Module:
		def, ok := o.Stmt.(*syntax.CreateView)
		if !ok {
			return nil, nil
		}
		b := New(env)
		src, err := b.view(o, def, false)
		if err != nil {
			return nil, err
		}
		return b.viewTable(o, src)
	default:
		return nil, nil
	}
}

// viewTable describes a view as a table, for the pseudo-tables of its triggers.
func (b *Binder) viewTable(m *schema.Module, src *Source) (*schema.Table, error) {
	t := &schema.Table{Header: m.Header, Triggers: m.Triggers}
	for i, c := range src.columns {
		n, err := src.node(i)
		if err != nil {
			return nil, err
		}
		typ := b.Collated(untyped(n.Type))
		t.Columns = append(t.Columns, &schema.Column{ID: int32(i + 1), Ordinal: i, Name: c.name, Type: typ, Nullable: true})
	}
	return ShapeOf(t), nil
}

// insteadView makes a target of a view whose INSTEAD OF triggers take the place of the change.
func (b *Binder) insteadView(m *schema.Module, src *Source) (*target, error) {
	table, err := b.viewTable(m, src)
	if err != nil {
		return nil, err
	}
	t := &target{source: src, from: execute.Source{Table: table}, view: m, Instead: true}
	for i := range table.Columns {
		t.ordinals = append(t.ordinals, i)
	}
	return t, nil
}

// ShapeOf returns a table with the columns of another one and nothing else: a heap without data.
func ShapeOf(t *schema.Table) *schema.Table {
	s := *t
	s.Indexes = []*schema.Index{{Table: &s}}
	s.Keys, s.Checks, s.ForeignKeys, s.Referrers, s.Data = nil, nil, nil, nil, nil
	return &s
}
