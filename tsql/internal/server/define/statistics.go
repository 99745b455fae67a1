package define

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// updateStatistics executes UPDATE STATISTICS, which changes nothing: the rows are counted anew for each plan. What it
// names has to be there.
func (d *definer) updateStatistics(s *syntax.UpdateStatistics) error {
	o, err := d.find(s.Table)
	if err != nil {
		return err
	}
	t, ok := o.(*schema.Table)
	if !ok || !d.mayObject("ALTER", t) {
		return fault.New(2706, s.Table.Last().Value)
	}
	for _, name := range s.Names {
		if ix := t.Index(name.Value, d.fold); ix == nil || ix.ID == 0 {
			return fault.New(2767, name.Value)
		}
	}
	return nil
}

// dropStatistics executes DROP STATISTICS. There are none but those that belong to indexes, and go with them.
func (d *definer) dropStatistics(name *syntax.ObjectName) error {
	missing := fault.New(3701, "drop", "statistics", text(name))
	if len(name.Parts) < 2 {
		return missing
	}
	table := &syntax.ObjectName{Span: name.Span, Parts: name.Parts[:len(name.Parts)-1]}
	o, err := d.find(table)
	if err != nil {
		return err
	}
	t, ok := o.(*schema.Table)
	if !ok || !d.mayObject("ALTER", t) {
		return missing
	}
	if ix := t.Index(name.Last().Value, d.fold); ix == nil || ix.ID == 0 {
		return missing
	}
	return fault.New(3739, "DROP", text(name))
}
