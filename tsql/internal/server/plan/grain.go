package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// grains name what is locked, in descriptions of plans.
var grains = map[store.Grain]string{store.GrainPage: "the page", store.GrainTable: "the table"}

// grainOf is what an INSERT locks at first.
func (b *binder) grainOf(t *target) (store.Grain, error) {
	return b.grain(t.from, t.table().Indexes[0], &t.hints)
}

// grain is what the locks of a reference to a table are on at first: what its hints say, or what a chooser takes of
// those that the index allows.
func (b *binder) grain(from execute.Source, ix *schema.Index, h *execute.Hints) (store.Grain, error) {
	t := from.Table
	switch {
	case from.Place != execute.InCatalog || t.Temporary:
		return store.GrainRow, nil
	case h.RowLock && !ix.RowLocks:
		return 0, fault.New(651, "ROW", t.Name)
	case h.PageLock && !ix.PageLocks:
		return 0, fault.New(651, "PAGE", t.Name)
	case h.TableLock || h.TableExclusive:
		return store.GrainTable, nil
	}
	var allowed []store.Grain
	if ix.RowLocks && !h.PageLock {
		allowed = append(allowed, store.GrainRow)
	}
	if ix.PageLocks && !h.RowLock {
		allowed = append(allowed, store.GrainPage)
	}
	if !h.RowLock && !h.PageLock {
		allowed = append(allowed, store.GrainTable)
	}
	if c := b.env.Chooser; c != nil && len(allowed) > 1 {
		return allowed[c.Choose("grain", []float64{0, 1, 2}[:len(allowed)])], nil
	}
	return allowed[0], nil
}
