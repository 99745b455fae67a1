package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// CursorModel says what a cursor sees of changes.
type CursorModel uint8

// The models.
const (
	StaticCursor  CursorModel = iota // rows as they were when it was opened
	KeysetCursor                     // which rows there are was decided when it was opened; their values are the present ones
	DynamicCursor                    // what is there when a row is fetched
)

// CursorOptions are what a cursor is declared to be.
type CursorOptions struct {
	Model CursorModel
	// Fast says that a query which cannot be dynamic becomes static, and not a keyset.
	Fast bool
	// Locks is SCROLL_LOCKS: rows are read under U locks.
	Locks bool
}

// Cursor is the compiled query of a cursor.
type Cursor struct {
	Columns []Column
	// Model is the wanted one, or what the query allows of it.
	Model CursorModel
	// Tables are the slots of the table variables that the query uses.
	Tables []int
	// Sources are the tables whose rows can be changed through the cursor. A static cursor has none.
	Sources []CursorSource

	all    *Statement // of a static cursor
	basis  basis
	rights []*right
	pool   *execute.Pool
	root   *execute.Subquery // its rows
	list   []execute.Expr    // the columns
	again  *execute.Subquery // one row, by the keys of its tables
	keys   []cursorKey       // of a keyset, by source
	rows   []int             // of a keyset: the registers of the sources' rows
}

// CursorSource is a table that a cursor reads.
type CursorSource struct {
	Source execute.Source
	// Hold is the lock that stays on the present row; lock.NL for none.
	Hold lock.Mode
	// Unlocked says that the hint NOLOCK reads the table, which cannot be changed then.
	Unlocked bool

	columns []*schema.Column // as they were when the cursor was compiled
	indexes []*schema.Index
}

// cursorKey makes the key by which a row is found again.
type cursorKey struct {
	values  []execute.Expr
	columns []execute.KeyColumn
}

// CompileCursor compiles the query of a cursor, as dynamic as it may be. What SQL Server documents decides about that:
// a work table (DISTINCT, GROUP BY, UNION, no table at all) makes a cursor static, an order that no index has makes a
// dynamic one a keyset, and a keyset needs a unique index on each table.
func CompileCursor(env *Env, q *syntax.Query, o CursorOptions) (*Cursor, error) {
	if q.For != nil {
		switch q.For.Kind {
		case "XML":
			return nil, fault.New(6819, "CURSOR")
		case "JSON":
			return nil, fault.New(13602, "CURSOR")
		default:
			return nil, fault.New(16907, "FOR BROWSE")
		}
	}
	if o.Model == DynamicCursor {
		c, err := compileCursor(env, q, o)
		if c != nil || err != nil {
			return c, err
		}
		if o.Model = KeysetCursor; o.Fast {
			o.Model = StaticCursor
		}
	}
	if o.Model == KeysetCursor {
		c, err := compileCursor(env, q, o)
		if c != nil || err != nil {
			return c, err
		}
	}
	return staticCursor(env, q)
}

// staticCursor compiles a cursor that keeps its rows.
func staticCursor(env *Env, q *syntax.Query) (*Cursor, error) {
	if _, _, err := bindCursor(env, q); err != nil {
		return nil, err
	}
	st, err := Query(env, q)
	if err != nil {
		return nil, err
	}
	return &Cursor{Columns: st.Columns, Tables: st.Tables, all: st, basis: st.basis}, nil
}

// bindCursor binds a cursor's query, which must be one that yields rows.
func bindCursor(env *Env, q *syntax.Query) (*binder, *selected, error) {
	b := newBinder(env)
	out, err := b.queryIn(&scope{}, q)
	if err != nil {
		return nil, nil, err
	}
	return b, out, fetchable(out)
}

// fetchable refuses queries that yield no rows.
func fetchable(out *selected) error {
	switch {
	case out.into != nil:
		return fault.New(16907, "INTO")
	case len(out.assigns) > 0:
		return fault.New(154, "variable assignment", "a cursor declaration")
	default:
		return nil
	}
}

// compileCursor compiles a dynamic cursor or a keyset; nil without an error if the query can't be one.
func compileCursor(env *Env, q *syntax.Query, o CursorOptions) (*Cursor, error) {
	b, out, err := bindCursor(env, q)
	if err != nil {
		return nil, err
	}
	x := &cursorBinder{b: b, out: out, dynamic: o.Model == DynamicCursor}
	if !x.collect(out.rel) || len(x.tables) == 0 {
		return nil, nil
	}
	for _, t := range x.tables {
		t.row = b.newRow()
		t.write = o.Locks
	}
	c := &Cursor{Model: o.Model}
	ok, err := x.plan(c)
	if !ok || err != nil {
		return nil, err
	}
	for _, t := range x.tables {
		c.Sources = append(c.Sources, cursorSource(t, o.Locks))
	}
	c.Columns, c.Tables, c.rights, c.basis = b.resultColumns(out.columns), b.tables, b.rights, b.basisOf()
	c.pool = &execute.Pool{Shape: b.shape}
	return c, nil
}

// cursorSource says how rows of a table are locked while the cursor is on them.
func cursorSource(t *tableRel, locks bool) CursorSource {
	s := CursorSource{
		Source: t.source, Unlocked: t.hints.Level == execute.AsReadUncommitted,
		columns: slices.Clone(t.source.Table.Columns), indexes: slices.Clone(t.source.Table.Indexes),
	}
	switch {
	case t.hints.Exclusive:
		s.Hold = lock.X
	case t.hints.Update || locks:
		s.Hold = lock.U
	case t.hints.Level == execute.AsSerializable:
		s.Hold = lock.S
	}
	if s.Unlocked {
		s.Hold = lock.NL
	}
	return s
}

// cursorBinder plans the query of a cursor.
type cursorBinder struct {
	b       *binder
	out     *selected
	dynamic bool
	tables  []*tableRel // in the order of the scans
}

// collect finds the tables of a relation, and reports whether each of its rows is one row of each of them.
func (x *cursorBinder) collect(r rel) bool {
	switch r := r.(type) {
	case *tableRel:
		x.tables = append(x.tables, r)
		place := r.source.Place
		return place != execute.InInserted && place != execute.InDeleted && (x.dynamic || uniqueIndex(r.source.Table) != nil)
	case *joinRel:
		ok := r.kind == "INNER" || r.kind == "LEFT" && !x.dynamic
		return ok && x.collect(r.x) && x.collect(r.y)
	case *block:
		ok := r.group == nil && len(r.windows) == 0 && r.distinct == nil && (r.top == nil || !x.dynamic)
		return ok && x.collect(r.from)
	default:
		return false
	}
}

// uniqueIndex is the index by which a keyset finds rows of a table: the clustered one, if it is unique. Nil if there is
// none.
func uniqueIndex(t *schema.Table) *schema.Index {
	for _, ix := range t.Indexes {
		if ix.Unique && ix.Where == nil && !ix.Disabled && ix.ID != 0 {
			return ix
		}
	}
	return nil
}

// plan plans the rows of the cursor, and the way to read one of them again. False means that the query can't be such a
// cursor.
func (x *cursorBinder) plan(c *Cursor) (bool, error) {
	b := x.b
	nodes := make([]*node, len(x.out.columns))
	for i, col := range x.out.columns {
		nodes[i] = col.node
	}
	var keys [][]*node
	all := slices.Clone(nodes)
	if x.dynamic {
		if b.options.joins != nil && !b.options.joins["LOOP"] {
			return false, nil
		}
		b.options.joins, b.options.steady = map[string]bool{"LOOP": true}, true
	} else {
		for _, t := range x.tables {
			list, err := t.keyNodes()
			if err != nil {
				return false, err
			}
			keys = append(keys, list)
			all = append(all, list...)
			c.rows = append(c.rows, t.row)
		}
	}
	root, codes, err := b.planned(x.out.rel, all)
	if e, ok := err.(*fault.Error); ok && e.Number == 8622 && x.dynamic { //nolint:errorlint // it is never wrapped
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if x.dynamic && !x.number(root.Plan) {
		return false, nil
	}
	b.options.joins, b.options.steady = nil, false
	c.root, c.list = root, operands(codes[:len(nodes)])
	at := len(nodes)
	for i, list := range keys {
		k := cursorKey{values: operands(codes[at : at+len(list)])}
		for _, col := range uniqueIndex(x.tables[i].source.Table).Columns {
			column := x.tables[i].source.Table.Columns[col.Ordinal]
			k.columns = append(k.columns, execute.KeyColumn{Type: b.columnType(column), Desc: col.Desc})
		}
		c.keys = append(c.keys, k)
		at += len(list)
	}
	again, codes, err := b.planned(x.byKey(x.out.rel), nodes)
	c.again = again
	_ = codes // the columns are computed of the same slots
	return true, err
}

// keyNodes are the columns of the unique index.
func (t *tableRel) keyNodes() ([]*node, error) {
	var list []*node
	for _, c := range uniqueIndex(t.source.Table).Columns {
		n, err := t.of.column(c.Ordinal)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// number numbers the scans of a dynamic cursor from the outermost to the innermost, and brings the tables into that
// order. It reports whether the plan is made of nothing but scans, one in the other: then each row's successor can be
// found from the row alone.
func (x *cursorBinder) number(op execute.Operator) bool {
	var found []*tableRel
	var visit func(op execute.Operator) bool
	visit = func(op execute.Operator) bool {
		switch op := op.(type) {
		case *execute.Scan:
			i := slices.IndexFunc(x.tables, func(t *tableRel) bool { return t.row == op.Row })
			if i < 0 {
				return false
			}
			found = append(found, x.tables[i])
			op.Place = len(found)
			return true
		case *execute.Filter:
			return visit(op.Input)
		case *execute.Compute:
			return visit(op.Input)
		case *execute.Loop:
			return op.Kind == execute.InnerJoin && visit(op.Left) && visit(op.Right)
		default:
			return false
		}
	}
	if !visit(op) || len(found) != len(x.tables) {
		return false
	}
	x.tables = found
	return true
}

// byKey makes a relation of one row: that of each table is read by its key.
func (x *cursorBinder) byKey(r rel) rel {
	switch r := r.(type) {
	case *tableRel:
		one := *r
		place := slices.Index(x.tables, r)
		one.exact = &exactRead{index: r.source.Table.Indexes[0], read: x.exact(place)}
		if !x.dynamic {
			one.exact.index = uniqueIndex(r.source.Table)
		}
		one.exact.place = place + 1
		return &one
	case *joinRel:
		return &joinRel{kind: r.kind, x: x.byKey(r.x), y: x.byKey(r.y)}
	case *block:
		return &block{from: x.byKey(r.from), computes: r.computes}
	default:
		return r
	}
}

// exact says which row is read.
func (x *cursorBinder) exact(place int) *execute.Exact {
	return &execute.Exact{
		Key: func(r *execute.Run) (string, error) {
			if x.dynamic {
				return r.Step.From[place].Base, nil
			}
			return r.Step.From[place].Key, nil
		},
		Found: func(*execute.Run, *store.Row, []value.Value) error { return nil },
		Missed: func(r *execute.Run) error {
			r.Step.Missed = true
			return nil
		},
	}
}

// exactRead says that one row of a table is read by its key.
type exactRead struct {
	index *schema.Index
	read  *execute.Exact
	place int
}
