package define

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// createIndex executes CREATE INDEX.
func (d *definer) createIndex(s *syntax.CreateIndex) error {
	if s.Columnstore {
		return d.unsupported(s.Span, "a columnstore index")
	}
	o, err := d.claim(s.Table)
	if err != nil {
		return err
	}
	t, ok := o.(*schema.Table)
	if _, isView := o.(*schema.Module); isView && o.Head().Kind == "V" {
		return d.unsupported(s.Span, "an index of a view")
	}
	if !ok || !d.mayObject("ALTER", t) {
		return fault.New(1088, text(s.Table))
	}
	b := d.newBuilder(t)
	k := key{
		kind: "INDEX", name: &s.Name, unique: s.Unique, clustered: s.Clustered, columns: s.Columns, include: s.Include,
		where: s.Where, options: s.Options,
	}
	old := t.Index(s.Name.Value, d.fold)
	drop := onOff(option(s.Options, "DROP_EXISTING"))
	if old == nil && drop {
		return fault.New(7999, s.Name.Value, t.Name)
	}
	restore := remember(t)
	if old != nil && drop {
		if err := b.dropExisting(old, k); err != nil {
			return err
		}
	}
	if s.Clustered && t.Clustered() != nil {
		name := t.Clustered().Name
		restore()
		return fault.New(1902, "table", t.Name, name)
	}
	if s.Where != nil || b.overComputed(k) {
		if wrong := b.wrongOptions(); wrong != "" {
			restore()
			return fault.New(1934, "CREATE INDEX", wrong)
		}
	}
	ix, err := b.index(k)
	if err != nil {
		restore()
		return err
	}
	if old != nil {
		b.inherit(ix, old)
	}
	return b.build(ix, old, restore)
}

// inherit gives an index what belonged to the one that it replaces: its id, its constraint, and the foreign keys that
// refer to it.
func (b *builder) inherit(ix, old *schema.Index) {
	if ix.Clustered == old.Clustered {
		ix.ID = old.ID
	}
	slices.SortStableFunc(b.t.Indexes, func(a, c *schema.Index) int { return cmp.Compare(a.ID, c.ID) })
	if old.Key != nil {
		ix.Key = old.Key
		ix.Key.Index = ix
	}
	for _, fk := range b.t.Referrers {
		if fk.Key == old {
			set(b.definer, &fk.Key, ix)
		}
	}
}

// dropExisting takes the index out of the table that CREATE INDEX … WITH (DROP_EXISTING = ON) replaces.
func (b *builder) dropExisting(old *schema.Index, k key) error {
	if old.Key != nil && (!k.unique || len(k.columns) != len(old.Columns) || k.where != nil) {
		return fault.New(1907, old.Name)
	}
	if old.Clustered && !k.clustered {
		return fault.New(1925) // a clustered index can't become a nonclustered one
	}
	b.t.Indexes = without(b.t.Indexes, old)
	return nil
}

func without(list []*schema.Index, ix *schema.Index) []*schema.Index {
	return slices.DeleteFunc(slices.Clone(list), func(one *schema.Index) bool { return one == ix })
}

// option finds an option by its name.
func option(options []syntax.Option, name string) syntax.Option {
	for _, o := range options {
		if o.Name == name {
			return o
		}
	}
	return syntax.Option{}
}

// requiredOn are the SET options without which indexes with a filter or on computed columns can't be made or changed,
// and requiredOff the one that must be off.
var requiredOn = []string{"ANSI_NULLS", "QUOTED_IDENTIFIER", "ANSI_PADDING", "ANSI_WARNINGS", "CONCAT_NULL_YIELDS_NULL"}

// wrongOptions lists the SET options that are not as such indexes need them; empty if all are right.
func (d *definer) wrongOptions() string {
	var wrong []string
	for _, name := range requiredOn {
		if d.Option(name) == "OFF" {
			wrong = append(wrong, name)
		}
	}
	if d.Option("NUMERIC_ROUNDABORT") == "ON" {
		wrong = append(wrong, "NUMERIC_ROUNDABORT")
	}
	return strings.Join(wrong, ", ")
}

// overComputed reports whether a key column is computed.
func (b *builder) overComputed(k key) bool {
	return slices.ContainsFunc(k.columns, func(c syntax.IndexColumn) bool {
		found := b.t.Column(c.Name.Value, b.fold)
		return found != nil && found.Computed != nil
	})
}

// maxKeyColumns is how many columns a key may have.
const maxKeyColumns = 32

// index makes an index and puts it into the table's list, without its data.
func (b *builder) index(k key) (*schema.Index, error) {
	ix := &schema.Index{
		Table: b.t, Unique: k.unique, Clustered: k.clustered, PageLocks: true, RowLocks: true, Options: map[string]string{},
	}
	if k.name != nil {
		ix.Name = k.name.Value
	}
	if k.kind == "INDEX" && b.t.Index(ix.Name, b.fold) != nil {
		return nil, fault.New(1913, ix.Name, "table", b.qualified())
	}
	if len(k.columns) > maxKeyColumns {
		return nil, fault.New(1904, "index", ix.Name, b.t.Name, len(k.columns), "index", maxKeyColumns)
	}
	for _, column := range k.columns {
		if err := b.keyColumn(ix, k, column); err != nil {
			return nil, err
		}
	}
	for _, name := range k.include {
		if err := b.included(ix, name.Value); err != nil {
			return nil, err
		}
	}
	if k.where != nil {
		if ix.Clustered {
			return nil, fault.New(156, "WHERE")
		}
		if _, err := planner.RowTest(b.env(b.File(), b.schemaName()), b.t, k.where); err != nil {
			return nil, err
		}
		ix.Where, ix.Text, ix.File = k.where, b.source(k.where), b.File()
	}
	if err := b.indexOptions(ix, k.options); err != nil {
		return nil, err
	}
	if err := b.checkLength(ix, k); err != nil {
		return nil, err
	}
	b.place(ix)
	return ix, nil
}

// keyColumn adds a key column.
func (b *builder) keyColumn(ix *schema.Index, k key, column syntax.IndexColumn) error {
	c := b.t.Column(column.Name.Value, b.fold)
	what := "index"
	if k.kind != "INDEX" {
		what = "constraint"
	}
	switch {
	case c == nil && k.kind != "INDEX":
		return followed(fault.New(1911, column.Name.Value), 1750)
	case c == nil:
		return fault.New(1911, column.Name.Value)
	case slices.ContainsFunc(ix.Columns, func(o schema.IndexColumn) bool { return o.Ordinal == c.Ordinal }):
		return fault.New(1909, what, c.Name)
	case !isKeyType(c.Type):
		err := fault.New(1919, c.Name, b.t.Name)
		if k.kind != "INDEX" {
			return followed(err, 1750)
		}
		return err
	}
	if err := b.stored(c); err != nil {
		return err
	}
	ix.Columns = append(ix.Columns, schema.IndexColumn{Ordinal: c.Ordinal, Desc: column.Desc})
	return nil
}

// included adds an INCLUDE column.
func (b *builder) included(ix *schema.Index, name string) error {
	c := b.t.Column(name, b.fold)
	switch {
	case c == nil:
		return fault.New(1911, name)
	case slices.Contains(ix.Include, c.Ordinal),
		slices.ContainsFunc(ix.Columns, func(o schema.IndexColumn) bool { return o.Ordinal == c.Ordinal }):
		return fault.New(1909, "index", c.Name)
	}
	if err := b.stored(c); err != nil {
		return err
	}
	ix.Include = append(ix.Include, c.Ordinal)
	return nil
}

// stored makes a computed column one whose values are in the rows, as an index needs.
func (b *builder) stored(c *schema.Column) error {
	if c.Computed == nil || c.Stored {
		return nil
	}
	if !deterministic(c.Computed) {
		return fault.New(2729, c.Name, "table", b.t.Name)
	}
	c.Stored, b.newlyStored = true, true
	return nil
}

// place gives the index its id and its place in the list: the clustered one in that of the heap.
func (b *builder) place(ix *schema.Index) {
	list := slices.Clone(b.t.Indexes)
	if ix.Clustered {
		ix.ID = 1
		if len(list) > 0 && list[0].ID == 0 {
			list = list[1:]
		}
		list = slices.Insert(list, 0, ix)
	} else {
		ix.ID = 2
		for _, other := range list {
			ix.ID = max(ix.ID, other.ID+1)
		}
		list = append(list, ix)
	}
	b.t.Indexes = list
}

// qualified is the table's name as messages about its indexes have it.
func (b *builder) qualified() string {
	if b.t.Schema == nil {
		return b.t.Name
	}
	return schema.QualifiedName(b.t)
}

// recorded are options of indexes that change nothing here but what the catalog shows: pages, memory and progress.
var recorded = map[string]bool{
	"PAD_INDEX": true, "FILLFACTOR": true, "SORT_IN_TEMPDB": true, "STATISTICS_NORECOMPUTE": true,
	"STATISTICS_INCREMENTAL": true, "DROP_EXISTING": true, "ONLINE": true, "RESUMABLE": true, "MAX_DURATION": true,
	"MAXDOP": true, "OPTIMIZE_FOR_SEQUENTIAL_KEY": true, "DATA_COMPRESSION": true, "XML_COMPRESSION": true, "ON": true,
	"COMPRESS_ALL_ROW_GROUPS": true, "LOB_COMPACTION": true, "WAIT_AT_LOW_PRIORITY": true,
}

// passed are words that the parser keeps as options and that are seen to elsewhere.
var passed = map[string]bool{"NONCLUSTERED": true, "INCLUDE": true, "WITH NOCHECK": true, "WITH VALUES": true}

// indexOptions enters the options of an index.
func (b *builder) indexOptions(ix *schema.Index, options []syntax.Option) error {
	for _, o := range options {
		switch {
		case o.Name == "ALLOW_PAGE_LOCKS":
			ix.PageLocks = onOff(o)
		case o.Name == "ALLOW_ROW_LOCKS":
			ix.RowLocks = onOff(o)
		case o.Name == "IGNORE_DUP_KEY":
			ix.IgnoreDup = onOff(o)
			if ix.IgnoreDup && (!ix.Unique || ix.Where != nil) {
				return fault.New(1916, "ignore_dup_key", "unique")
			}
		case o.Name == "FILLFACTOR":
			if n, err := strconv.Atoi(strings.TrimSpace(o.Value)); err != nil || n < 0 || n > 100 {
				return fault.New(129, o.Value)
			}
			ix.Options[o.Name] = o.Value
		case o.Name == "ON":
			if err := filegroup(o); err != nil {
				return err
			}
		case recorded[o.Name]:
			ix.Options[o.Name] = o.Value
		case !passed[o.Name]:
			return b.unsupported(o.Span, "the option "+o.Name+" of an index")
		}
	}
	return nil
}

// alterIndex executes ALTER INDEX.
func (d *definer) alterIndex(s *syntax.AlterIndex) error {
	t, err := d.claimTable(s.Table, 1088)
	if err != nil {
		return err
	}
	b := d.newBuilder(t)
	indexes := t.Indexes
	if s.Name != nil {
		ix := t.Index(s.Name.Value, d.fold)
		if ix == nil {
			return fault.New(2727, s.Name.Value)
		}
		indexes = []*schema.Index{ix}
	}
	restore := remember(t)
	d.undo(restore)
	for _, ix := range indexes {
		if ix.ID == 0 && s.Action != "REBUILD" {
			continue
		}
		ix.Options = clone(ix.Options)
		if err := b.indexOptions(ix, s.Options); err != nil {
			return err
		}
		if err := b.act(ix, s); err != nil {
			return err
		}
	}
	d.db.Bump()
	return nil
}

// act does what an ALTER INDEX says to one index.
func (b *builder) act(ix *schema.Index, s *syntax.AlterIndex) error {
	switch s.Action {
	case "DISABLE":
		if ix.Clustered {
			return b.unsupported(s.Span, "a disabled clustered index")
		}
		for _, fk := range b.t.Referrers {
			if fk.Key == ix { // it can't be checked without the index
				set(b.definer, &fk.Disabled, true)
			}
		}
		ix.Disabled = true
		return b.detach(ix)
	case "REBUILD":
		if !ix.Disabled {
			return nil
		}
		ix.Disabled = false
		return b.attach(ix)
	default:
		return nil
	}
}

func clone(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	maps.Copy(c, m)
	return c
}
