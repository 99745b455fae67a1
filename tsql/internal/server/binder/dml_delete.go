package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Delete is a DELETE.
type Delete struct {
	*Modified

	Rules   *Rules
	Outputs []*Output
}

// Delete binds DELETE.
func (b *Binder) Delete(s *syntax.Delete) (*Delete, error) {
	m, err := b.modifies(s.With, s.Target, s.From, s.Where, s.Top, s.Options, "DELETE")
	if err != nil {
		return nil, err
	}
	if err := b.positioned(m, s.Cursor, s.From, nil, s.Span); err != nil {
		return nil, err
	}
	if err := m.Target.noHistory(13560); err != nil {
		return nil, err
	}
	u, err := b.rulesOf(m.Target.from, map[*schema.Table]*Rules{})
	if err != nil {
		return nil, err
	}
	if m.Target.Instead {
		u.InsteadOf = "DELETE"
	}
	outputs, err := b.changeOutputs(m, u, s.Output, "DELETE")
	return &Delete{Modified: m, Rules: u, Outputs: outputs}, err
}

// Truncate binds TRUNCATE TABLE: it returns the table.
func (b *Binder) Truncate(s *syntax.Truncate) (*schema.Table, error) {
	name := syntax.Dotted(s.Table.Parts)
	var t *schema.Table
	if s.Table.IsTemp() {
		t = b.Env.Temp(s.Table.Last().Value)
	} else {
		o := b.object(s.Table)
		t, _ = o.(*schema.Table)
		if o != nil && t == nil {
			return nil, fault.New(4708, name)
		}
	}
	if t == nil || t.Data == nil {
		return nil, fault.New(4701, name)
	}
	if t.History != nil || t.HistoryOf != nil {
		return nil, fault.New(13545, t.FullName())
	}
	for _, fk := range t.Referrers {
		if fk.Parent != t.ID {
			return nil, fault.New(4712, name)
		}
	}
	return t, nil
}
