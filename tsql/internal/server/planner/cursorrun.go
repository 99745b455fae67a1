package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// May checks the rights of who opens the cursor.
func (c *Cursor) May(x *execute.Frame) error { return binder.CheckRights(x, c.rights) }

// Lock locks the definitions of the cursor's tables for the statement. Stale means that the catalog has changed since
// the cursor was compiled.
func (c *Cursor) Lock(x *execute.Frame) (stale bool, err error) { return c.basis.lock(x) }

// All returns the rows of a static cursor. The slice that send gets is used again.
func (c *Cursor) All(x *execute.Frame, send func(row []value.Value) error) error {
	_, err := c.all.Run(x, send)
	return err
}

// Keys returns the keys of the rows of a keyset.
func (c *Cursor) Keys(x *execute.Frame, send func(row []execute.Spot) error) error {
	r := c.pool.Get(x)
	defer c.pool.Put(r)
	it, err := c.root.Rows(r)
	if err != nil {
		return err
	}
	defer it.Close()
	for {
		ok, err := it.Next()
		if err != nil || !ok {
			return err
		}
		row := make([]execute.Spot, len(c.keys))
		for i, k := range c.keys {
			if r.Rows[c.rows[i]] == nil {
				continue // an outer join has none
			}
			if row[i].Key, err = k.of(r); err != nil {
				return err
			}
		}
		if err := send(row); err != nil {
			return err
		}
	}
}

// of makes the key of the present row.
func (k *cursorKey) of(r *execute.Run) (string, error) {
	var key []byte
	for i, x := range k.values {
		v, err := x(r)
		if err != nil {
			return "", err
		}
		key = value.AppendKey(key, v, k.columns[i].Type, k.columns[i].Desc)
	}
	return string(key), nil
}

// Fetch reads a row again: of a keyset by its keys, of a dynamic cursor in the place where it was. The row is nil if it
// is gone.
func (c *Cursor) Fetch(x *execute.Frame, from []execute.Spot) ([]value.Value, []execute.Spot, error) {
	return c.one(x, c.again, execute.NewStep(from, false, len(from)))
}

// Step reads the row behind another one, or before it. From is nil for the first or the last one. The row is nil at the
// end.
func (c *Cursor) Step(x *execute.Frame, from []execute.Spot, backward bool) ([]value.Value, []execute.Spot, error) {
	return c.one(x, c.root, execute.NewStep(from, backward, len(c.Sources)))
}

// one reads the first row that a plan yields.
func (c *Cursor) one(x *execute.Frame, plan *execute.Subquery, step *execute.Step) ([]value.Value, []execute.Spot, error) {
	r := c.pool.Get(x)
	defer c.pool.Put(r)
	r.Step = step
	it, err := plan.Rows(r)
	if err != nil {
		return nil, nil, err
	}
	defer it.Close()
	ok, err := it.Next()
	if err != nil || !ok || step.Missed {
		return nil, nil, err
	}
	row := make([]value.Value, len(c.list))
	for i, column := range c.list {
		if row[i], err = column(r); err != nil {
			return nil, nil, err
		}
	}
	return row, step.Now, nil
}

// Refresh notes what a change through the cursor has made of the row that it is on. The row of a keyset is found by its
// new key from then on; a dynamic cursor goes on from where it was.
func (c *Cursor) Refresh(x *execute.Frame, spots []execute.Spot) {
	for i := range spots {
		s := &spots[i]
		if s.Row == nil {
			continue
		}
		if s.Values = s.Row.Values(); s.Values == nil {
			s.Row = nil
			continue
		}
		t := c.Sources[i].Source.In(x)
		s.Base = t.Data.BaseKey(s.Row, s.Values)
		if c.Model == KeysetCursor {
			s.Key = c.keys[i].ofRow(uniqueIndex(t), s.Values)
		}
	}
}

// ofRow makes the key of a row.
func (k *cursorKey) ofRow(ix *schema.Index, row []value.Value) string {
	var key []byte
	for i, c := range ix.Columns {
		key = value.AppendKey(key, row[c.Ordinal], k.columns[i].Type, k.columns[i].Desc)
	}
	return string(key)
}

// Like reports whether two plans of a cursor are about the same tables, with the same definitions, and yield the same
// columns.
func (c *Cursor) Like(other *Cursor) bool {
	if c.Model != other.Model || !slices.Equal(c.Columns, other.Columns) {
		return false
	}
	return slices.EqualFunc(c.Sources, other.Sources, func(a, b CursorSource) bool {
		return a.Source == b.Source && slices.Equal(a.columns, b.columns) && slices.Equal(a.indexes, b.indexes)
	})
}
