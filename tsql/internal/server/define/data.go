package define

import (
	"context"
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// spec describes an index to the store, with its filter compiled.
func spec(env *binder.Env, ix *schema.Index) (store.IndexSpec, error) {
	if ix.Where == nil {
		return specOf(ix), nil
	}
	test, err := planner.RowTest(env, ix.Table, ix.Where)
	if err != nil {
		return store.IndexSpec{}, err
	}
	// A filter compares columns with constants, which no session is needed for, and which cannot fail.
	frame := &execute.Frame{Context: context.Background()}
	ix.Contains = func(values []value.Value) bool {
		truth, err := test(frame, values)
		return err == nil && truth == execute.True
	}
	return specOf(ix), nil
}

// specOf describes an index to the store. The columns are looked up when a key is made, since ALTER TABLE may move
// them.
func specOf(ix *schema.Index) store.IndexSpec {
	s := store.IndexSpec{
		ID: ix.ID, Name: ix.Name, Unique: ix.Unique, Clustered: ix.Clustered, Heap: ix.ID == 0,
		PageLocks: func() bool { return ix.PageLocks },
	}
	if s.Heap {
		return s
	}
	s.Key, s.Contains = func(values []value.Value) string { return encode(ix, values) }, ix.Contains
	if !ix.Clustered {
		s.Columns = columnsOf(ix)
	}
	return s
}

// encode makes the key of a row. The store appends what tells rows with the same key apart.
func encode(ix *schema.Index, values []value.Value) string {
	key := make([]byte, 0, 64) // most keys fit
	for _, c := range ix.Columns {
		key = value.AppendKey(key, values[c.Ordinal], ix.Table.Columns[c.Ordinal].Type, c.Desc)
	}
	return string(key)
}

// columnsOf lists all columns of a nonclustered index, those of its filter among them: changing one of these moves the
// row into the index or out of it.
func columnsOf(ix *schema.Index) []int {
	list := slices.Clone(ix.Include)
	add := func(ordinal int) {
		if !slices.Contains(list, ordinal) {
			list = append(list, ordinal)
		}
	}
	for _, c := range ix.Columns {
		add(c.Ordinal)
	}
	if clustered := ix.Table.Clustered(); clustered != nil {
		for _, c := range clustered.Columns {
			add(c.Ordinal)
		}
	}
	if ix.Where != nil {
		for ref := range syntax.All[*syntax.ColumnRef](ix.Where) {
			name := ref.Last().Value
			for _, c := range ix.Table.Columns {
				if foldLike(ix.Table, name) == foldLike(ix.Table, c.Name) {
					add(c.Ordinal)
				}
			}
		}
	}
	return list
}

// foldLike folds a name as the database of a table does.
func foldLike(t *schema.Table, name string) string {
	if t.Schema != nil && t.Schema.Database != nil {
		return t.Schema.Database.Fold(name)
	}
	return (&schema.Database{}).Fold(name)
}

// giveData makes the data of a new table with all of its indexes.
func giveData(db *schema.Database, t *schema.Table, envOf func(ix *schema.Index) *binder.Env) error {
	t.Data = store.NewTable(t.ID, nameOfData(t))
	t.Data.Database, t.Data.DatabaseName = db.ID, db.Name
	t.Data.Private, t.Data.SurvivesRollback = t.Temporary && t.Global == 0 || t.Variable, t.Variable
	if len(t.Indexes) == 0 || t.Indexes[0].ID > 1 {
		t.Indexes = slices.Insert(slices.Clone(t.Indexes), 0, heap(t))
	}
	for _, ix := range t.Indexes {
		if ix.Disabled {
			continue
		}
		s, err := spec(envOf(ix), ix)
		if err != nil {
			return err
		}
		if ix.Data, err = t.Data.AddIndex(s); err != nil {
			return err
		}
	}
	return nil
}

func nameOfData(t *schema.Table) string {
	if t.Schema == nil {
		return t.Name
	}
	return schema.QualifiedName(t)
}

// heap is the index that a table without a clustered one has.
func heap(t *schema.Table) *schema.Index {
	return &schema.Index{Table: t, PageLocks: true, RowLocks: true, Options: map[string]string{}}
}

// envOf is what an index's filter sees when it is compiled.
func (d *definer) envOf(ix *schema.Index) *binder.Env {
	name := d.first()
	if ix.Table.Schema != nil {
		name = ix.Table.Schema.Name
	}
	return d.env(ix.File, name)
}

// attach builds the data of an index that is in the table's list. A clustered one takes the place of the heap, or of
// the clustered one that it replaces.
func (b *builder) attach(ix *schema.Index) error {
	s, err := spec(b.envOf(ix), ix)
	if err != nil {
		return err
	}
	table := b.t.Data
	base := table.Indexes()[0]
	data, err := table.AddIndex(s)
	if err != nil {
		return b.duplicate(ix, err)
	}
	ix.Data = data
	b.undo(func() {
		if ix.Clustered {
			table.RestoreIndex(base)
		} else {
			table.DropIndex(data)
		}
	})
	return nil
}

// detach removes the data of an index.
func (b *builder) detach(ix *schema.Index) error {
	data, table := ix.Data, b.t.Data
	if data == nil {
		return nil
	}
	table.DropIndex(data)
	ix.Data = nil
	b.undo(func() {
		table.RestoreIndex(data)
		ix.Data = data
	})
	return nil
}

// duplicate returns error 1505 for rows that a unique index would not have.
func (b *builder) duplicate(ix *schema.Index, err error) error {
	var dup *store.DuplicateError
	if !errors.As(err, &dup) {
		return err
	}
	found := fault.New(1505, b.qualified(), ix.Name, ix.KeyText(dup.Values))
	if ix.Key != nil {
		return followed(found, 1750)
	}
	return found
}

// build gives a new index its data. It may take the place of an old one. restore puts the definition of the table back.
func (b *builder) build(ix, old *schema.Index, restore func()) error {
	b.undo(restore)
	b.db.Bump()
	if err := b.fillStored(); err != nil {
		return err
	}
	if old != nil && (!old.Clustered || !ix.Clustered) {
		if err := b.detach(old); err != nil {
			return err
		}
	}
	return b.attach(ix)
}

// rows are the rows of the table as this transaction sees them. Nobody else can change them: the table is locked.
func (b *builder) rows() ([][]value.Value, error) {
	var rows [][]value.Value
	if b.t.Data == nil {
		return nil, nil
	}
	cursor := b.Statement().Scan(b.t.Data.Indexes()[0], store.Range{}, false, store.Access{Read: store.Dirty, Own: true})
	defer cursor.Close()
	for {
		more, err := cursor.Next()
		if err != nil || !more {
			return rows, err
		}
		rows = append(rows, cursor.Values())
	}
}

// fillStored computes the values of columns that an index has just made stored ones.
func (b *builder) fillStored() error {
	if !b.newlyStored {
		return nil
	}
	recompute, err := b.recompute()
	if err != nil {
		return err
	}
	return b.rewrite(len(b.t.Columns), recompute)
}

// recompute returns a function that computes the stored columns of a row.
func (b *builder) recompute() (func(values []value.Value) ([]value.Value, error), error) {
	type stored struct {
		column *schema.Column
		*planner.RowScalar
	}
	var list []stored
	for _, c := range b.t.Columns {
		if c.Computed == nil || !c.Stored {
			continue
		}
		x, err := planner.RowExpression(b.env(c.File, b.schemaName()), b.t, c.Computed)
		if err != nil {
			return nil, err
		}
		list = append(list, stored{c, x})
	}
	return func(values []value.Value) ([]value.Value, error) {
		values = slices.Clone(values)
		for _, one := range list {
			v, err := one.Eval(b.Frame(), values)
			if err != nil {
				return nil, err
			}
			if values[one.column.Ordinal], err = value.Convert(v, one.Type, one.column.Type, 0); err != nil {
				return nil, err
			}
			if values[one.column.Ordinal].IsNull() && !one.column.Nullable {
				return nil, fault.New(515, one.column.Name, b.t.FullName(), "ALTER TABLE")
			}
		}
		return values, nil
	}, nil
}

// rewrite changes the values of every row. It fails if a row fails that the transaction sees; versions that only
// others may still see get NULL instead.
func (b *builder) rewrite(width int, f func(values []value.Value) ([]value.Value, error)) error {
	undo, err := b.rewriteAll(width, f)
	if err != nil {
		return err
	}
	b.undo(undo)
	return nil
}

func (b *builder) rewriteAll(width int, f func(values []value.Value) ([]value.Value, error)) (undo func(), err error) {
	rows, err := b.rows()
	if err != nil {
		return nil, err
	}
	made := make(map[*value.Value][]value.Value, len(rows))
	for _, values := range rows {
		if made[&values[0]], err = f(values); err != nil {
			return nil, err
		}
	}
	return b.t.Data.Rewrite(func(values []value.Value) ([]value.Value, error) {
		if next := made[&values[0]]; next != nil {
			return next, nil
		}
		next, err := f(values)
		if err != nil {
			next = make([]value.Value, width)
			copy(next, values)
		}
		return next, nil
	})
}

// remember returns a function that makes the definition of a table what it is now. Values of the identity column that
// were given out stay given out.
func remember(t *schema.Table) func() {
	old := *t
	columns, indexes := values(t.Columns), values(t.Indexes)
	keys, checks, defaults, foreign := values(t.Keys), values(t.Checks), values(t.Defaults), values(t.ForeignKeys)
	return func() {
		*t = old
		write(t.Columns, columns)
		write(t.Indexes, indexes)
		write(t.Keys, keys)
		write(t.Checks, checks)
		write(t.Defaults, defaults)
		write(t.ForeignKeys, foreign)
	}
}

func values[T any](list []*T) []T {
	copies := make([]T, len(list))
	for i, p := range list {
		copies[i] = *p
	}
	return copies
}

func write[T any](list []*T, copies []T) {
	for i := range copies {
		*list[i] = copies[i]
	}
}
