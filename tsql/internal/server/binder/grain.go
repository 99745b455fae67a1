package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// Grains are what the locks of a reference to a table may be on at first: what its hints say, or else what the index
// allows.
func Grains(from execute.Source, ix *schema.Index, h *execute.Hints) ([]store.Grain, error) {
	t := from.Table
	switch {
	case from.Place != execute.InCatalog || t.Temporary:
		return []store.Grain{store.GrainRow}, nil
	case h.RowLock && !ix.RowLocks:
		return nil, fault.New(651, "ROW", t.Name)
	case h.PageLock && !ix.PageLocks:
		return nil, fault.New(651, "PAGE", t.Name)
	case h.TableLock || h.TableExclusive:
		return []store.Grain{store.GrainTable}, nil
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
	return allowed, nil
}
