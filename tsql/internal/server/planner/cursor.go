package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
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
	Columns []binder.Column
	// Model is the wanted one, or what the query allows of it.
	Model CursorModel
	// Tables are the slots of the table variables that the query uses.
	Tables []int
	// Sources are the tables whose rows can be changed through the cursor. A static cursor has none.
	Sources []CursorSource

	all    *Statement // of a static cursor
	basis  basis
	rights []*binder.Right
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
func CompileCursor(env *binder.Env, q *syntax.Query, o CursorOptions) (*Cursor, error) {
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
func staticCursor(env *binder.Env, q *syntax.Query) (*Cursor, error) {
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
func bindCursor(env *binder.Env, q *syntax.Query) (*planner, *binder.Selected, error) {
	p := newPlanner(env)
	out, err := p.b.Query(q)
	if err != nil {
		return nil, nil, err
	}
	return p, out, fetchable(out)
}

// fetchable refuses queries that yield no rows.
func fetchable(out *binder.Selected) error {
	switch {
	case out.Into != nil:
		return fault.New(16907, "INTO")
	case len(out.Assigns) > 0:
		return fault.New(154, "variable assignment", "a cursor declaration")
	default:
		return nil
	}
}

// compileCursor compiles a dynamic cursor or a keyset; nil without an error if the query can't be one.
func compileCursor(env *binder.Env, q *syntax.Query, o CursorOptions) (*Cursor, error) {
	p, out, err := bindCursor(env, q)
	if err != nil {
		return nil, err
	}
	x := &cursorPlanner{p: p, out: out, dynamic: o.Model == DynamicCursor}
	if !x.collect(out.Rel) || len(x.tables) == 0 {
		return nil, nil
	}
	b := p.b
	for _, t := range x.tables {
		t.Row = b.NewRow()
		t.Write = o.Locks
	}
	c := &Cursor{Model: o.Model}
	ok, err := x.plan(c)
	if !ok || err != nil {
		return nil, err
	}
	for _, t := range x.tables {
		c.Sources = append(c.Sources, cursorSource(t, o.Locks))
	}
	c.Columns, c.Tables, c.rights, c.basis = b.ResultColumns(out.Columns), b.Tables, b.Rights, basisOf(b)
	c.pool = &execute.Pool{Shape: b.Shape}
	return c, nil
}

// cursorSource says how rows of a table are locked while the cursor is on them.
func cursorSource(t *binder.TableRel, locks bool) CursorSource {
	s := CursorSource{
		Source: t.Source, Unlocked: t.Hints.Level == execute.AsReadUncommitted,
		columns: slices.Clone(t.Source.Table.Columns), indexes: slices.Clone(t.Source.Table.Indexes),
	}
	switch {
	case t.Hints.Exclusive:
		s.Hold = lock.X
	case t.Hints.Update || locks:
		s.Hold = lock.U
	case t.Hints.Level == execute.AsSerializable:
		s.Hold = lock.S
	}
	if s.Unlocked {
		s.Hold = lock.NL
	}
	return s
}

// cursorPlanner plans the query of a cursor.
type cursorPlanner struct {
	p       *planner
	out     *binder.Selected
	dynamic bool
	tables  []*binder.TableRel // in the order of the scans
}

// collect finds the tables of a relation, and reports whether each of its rows is one row of each of them.
func (x *cursorPlanner) collect(r binder.Rel) bool {
	switch r := r.(type) {
	case *binder.TableRel:
		x.tables = append(x.tables, r)
		place := r.Source.Place
		return place != execute.InInserted && place != execute.InDeleted && (x.dynamic || uniqueIndex(r.Source.Table) != nil)
	case *binder.JoinRel:
		ok := r.Kind == "INNER" || r.Kind == "LEFT" && !x.dynamic
		return ok && x.collect(r.X) && x.collect(r.Y)
	case *binder.Block:
		ok := r.Group == nil && len(r.Windows) == 0 && r.Distinct == nil && (r.Top == nil || !x.dynamic)
		return ok && x.collect(r.From)
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
func (x *cursorPlanner) plan(c *Cursor) (bool, error) {
	b := x.p.b
	nodes := make([]*binder.Node, len(x.out.Columns))
	for i, col := range x.out.Columns {
		nodes[i] = col.Node
	}
	var keys [][]*binder.Node
	all := slices.Clone(nodes)
	if x.dynamic {
		if b.Options.Joins != nil && !b.Options.Joins["LOOP"] {
			return false, nil
		}
		b.Options.Joins, b.Options.Steady = map[string]bool{"LOOP": true}, true
	} else {
		for _, t := range x.tables {
			list, err := keyNodes(t)
			if err != nil {
				return false, err
			}
			keys = append(keys, list)
			all = append(all, list...)
			c.rows = append(c.rows, t.Row)
		}
	}
	root, codes, err := x.p.planned(x.out.Rel, all)
	if x.dynamic && impossible(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if x.dynamic && !x.number(root.Plan) {
		return false, nil
	}
	b.Options.Joins, b.Options.Steady = nil, false
	c.root, c.list = root, binder.Operands(codes[:len(nodes)])
	at := len(nodes)
	for i, list := range keys {
		k := cursorKey{values: binder.Operands(codes[at : at+len(list)])}
		for _, col := range uniqueIndex(x.tables[i].Source.Table).Columns {
			column := x.tables[i].Source.Table.Columns[col.Ordinal]
			k.columns = append(k.columns, execute.KeyColumn{Type: b.ColumnType(column), Desc: col.Desc})
		}
		c.keys = append(c.keys, k)
		at += len(list)
	}
	c.again, _, err = x.p.planned(x.byKey(x.out.Rel), nodes) // the columns are computed of the same slots
	return true, err
}

// keyNodes are the columns of the unique index.
func keyNodes(t *binder.TableRel) ([]*binder.Node, error) {
	var list []*binder.Node
	for _, c := range uniqueIndex(t.Source.Table).Columns {
		n, err := t.Of.Column(c.Ordinal)
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
func (x *cursorPlanner) number(op execute.Operator) bool {
	var found []*binder.TableRel
	var visit func(op execute.Operator) bool
	visit = func(op execute.Operator) bool {
		switch op := op.(type) {
		case *execute.Scan:
			i := slices.IndexFunc(x.tables, func(t *binder.TableRel) bool { return t.Row == op.Row })
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
func (x *cursorPlanner) byKey(r binder.Rel) binder.Rel {
	switch r := r.(type) {
	case *binder.TableRel:
		one := *r
		place := slices.Index(x.tables, r)
		one.Exact = &binder.ExactRead{Index: r.Source.Table.Indexes[0], Read: x.exact(place)}
		if !x.dynamic {
			one.Exact.Index = uniqueIndex(r.Source.Table)
		}
		one.Exact.Place = place + 1
		return &one
	case *binder.JoinRel:
		return &binder.JoinRel{Kind: r.Kind, X: x.byKey(r.X), Y: x.byKey(r.Y)}
	case *binder.Block:
		return &binder.Block{From: x.byKey(r.From), Computes: r.Computes}
	default:
		return r
	}
}

// exact says which row is read.
func (x *cursorPlanner) exact(place int) *execute.Exact {
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
