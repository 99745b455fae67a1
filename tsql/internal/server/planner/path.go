package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// path is a way to read a table: an index, what part of it, and what is tested where.
type path struct {
	table   *binder.TableRel
	index   *schema.Index
	keys    []sarg // equalities with the first columns of the index
	low     *sarg
	high    *sarg
	notNull bool // the column after the keys is not NULL, and nothing else is known of it
	ranged  int  // place of that column in the index; -1 if there is no range
	early   []*binder.Node
	late    []*binder.Node
	startup []*binder.Node
	need    binder.Set
	lookup  bool
	reverse bool
}

// paths are the ways to read a table that its hints allow.
func (p *planner) paths(t *binder.TableRel, q request) ([]*physical, error) {
	if t.Exact != nil {
		return []*physical{p.exactly(t, q)}, nil
	}
	columns := placesOf(t.Slots)
	conds, startup := splitStartup(q.conds, binder.Made(t))
	var found []sarg
	for i, n := range conds {
		found = append(found, sargs(n, i, columns)...)
	}
	indexes, err := p.indexes(t)
	if err != nil {
		return nil, err
	}
	var out []*physical
	for _, ix := range indexes {
		filter, err := t.Filter(ix)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(filter, func(n *binder.Node) bool { return !implied(n, conds) }) {
			for _, x := range p.seeks(t, ix, found) {
				x.startup = startup
				x.split(conds, filter, q.need)
				out = append(out, p.costed(x, q)...)
			}
		}
	}
	if len(out) == 0 {
		return nil, fault.New(8622)
	}
	return out, nil
}

// exactly is the way to read one row by its key.
func (p *planner) exactly(t *binder.TableRel, q request) *physical {
	conds, startup := splitStartup(q.conds, binder.Made(t))
	x := &path{table: t, index: t.Exact.Index, ranged: -1}
	x.split(conds, nil, q.need)
	out := &physical{rows: 1, cost: exactCost, build: func() (execute.Operator, error) {
		op, err := p.scan(x)
		if err != nil {
			return nil, err
		}
		op.Exact, op.Place = t.Exact.Read, t.Exact.Place
		return op, nil
	}}
	return p.filtered(out, nil, startup)
}

// indexes are those that may be used: all, or the one of the hint.
func (p *planner) indexes(t *binder.TableRel) ([]*schema.Index, error) {
	table := t.Source.Table
	name := t.Hints.Index
	if name == "" {
		var list []*schema.Index
		for _, ix := range table.Indexes {
			if !ix.Disabled {
				list = append(list, ix)
			}
		}
		if len(list) == 0 || list[0].ID > 1 {
			list = append([]*schema.Index{{Table: table, RowLocks: true, PageLocks: true}}, list...)
		}
		return list, nil
	}
	ix := table.Index(name, p.b.Fold)
	if id, err := strconv.Atoi(name); ix == nil && err == nil {
		switch {
		case id <= 1:
			ix = table.Indexes[0]
			if id == 1 && ix.ID != 1 {
				ix = nil
			}
		default:
			ix = table.IndexByID(int32(id)) //nolint:gosec // too large an id finds nothing
		}
		if ix == nil {
			return nil, fault.New(307, id, schema.QualifiedName(table))
		}
	}
	switch {
	case ix == nil:
		return nil, fault.New(308, name, schema.QualifiedName(table))
	case ix.Disabled:
		return nil, fault.New(315, name, schema.QualifiedName(table))
	}
	return []*schema.Index{ix}, nil
}

// keyColumns are the columns by which an index is sorted: those of the clustered key too, which break ties.
func keyColumns(ix *schema.Index) []schema.IndexColumn {
	list := ix.Columns
	if ix.Unique || ix.Clustered || ix.ID == 0 {
		return list
	}
	if clustered := ix.Table.Clustered(); clustered != nil {
		list = slices.Clone(list)
		for _, c := range clustered.Columns {
			if !slices.ContainsFunc(ix.Columns, func(o schema.IndexColumn) bool { return o.Ordinal == c.Ordinal }) {
				list = append(list, c)
			}
		}
	}
	return list
}

// seeks are the ways to use an index: the longest seek, and a scan.
func (p *planner) seeks(t *binder.TableRel, ix *schema.Index, found []sarg) []*path {
	scan := &path{table: t, index: ix, ranged: -1}
	seek := *scan
	for i, c := range keyColumns(ix) {
		if s := pick(found, c.Ordinal, "=", "null", "in"); s != nil {
			seek.keys = append(seek.keys, *s)
			continue
		}
		seek.low = pick(found, c.Ordinal, ">", ">=")
		seek.high = pick(found, c.Ordinal, "<", "<=")
		seek.notNull = seek.low == nil && seek.high == nil && pick(found, c.Ordinal, "not null") != nil &&
			t.Source.Table.Columns[c.Ordinal].Nullable
		if seek.low != nil || seek.high != nil || seek.notNull {
			seek.ranged = i
		}
		break
	}
	sought := len(seek.keys) > 0 || seek.ranged >= 0
	switch {
	case t.Hints.ForceSeek && (!sought || !p.seeksColumns(t, &seek)):
		return nil
	case t.Hints.ForceSeek:
		return []*path{&seek}
	case t.Hints.ForceScan || !sought:
		return []*path{scan}
	case p.b.Env.Chooser != nil:
		return []*path{[]*path{&seek, scan}[p.b.Env.Chooser.Choose("access", []float64{0, 1})]}
	default: // a scan of the same index is never cheaper
		return []*path{&seek}
	}
}

// seeksColumns reports whether a seek uses all columns that FORCESEEK names.
func (p *planner) seeksColumns(t *binder.TableRel, seek *path) bool {
	if t.Hints.SeekColumns == "" {
		return true
	}
	used := len(seek.keys)
	if seek.ranged >= 0 {
		used++
	}
	columns := keyColumns(seek.index)
	for i, name := range strings.Split(t.Hints.SeekColumns, ",") {
		if i >= used || !p.b.Same(t.Source.Table.Columns[columns[i].Ordinal].Name, name) {
			return false
		}
	}
	return true
}

// pick returns the first sarg on a column with one of some operators; equality goes before the others.
func pick(found []sarg, ordinal int, ops ...string) *sarg {
	for _, op := range ops {
		for i := range found {
			if found[i].ordinal == ordinal && found[i].op == op {
				return &found[i]
			}
		}
	}
	return nil
}

// covered are the places of the conditions that the seek answers.
func (x *path) covered() map[int]bool {
	covered := map[int]bool{}
	for _, k := range x.keys {
		covered[k.cond] = true
	}
	if x.low != nil {
		covered[x.low.cond] = true
	}
	if x.high != nil {
		covered[x.high.cond] = true
	}
	return covered
}

// slots are those of the table, and of them those that the index has.
func (x *path) slots() (own, has binder.Set) {
	for ordinal, slot := range x.table.Slots {
		if slot < 0 {
			continue
		}
		own.Add(slot)
		if indexHas(x.index, ordinal) {
			has.Add(slot)
		}
	}
	return own, has
}

// split decides which conditions are left to be tested, and where: before the row is looked up, or after it.
func (x *path) split(conds, filter []*binder.Node, need binder.Set) {
	covered, nullable := x.covered(), x.keyNotNull()
	own, has := x.slots()
	x.need.AddAll(inGroup(need, own))
	for i, n := range conds {
		if covered[i] || (len(filter) > 0 && implied(n, filter)) || n.Kind == binder.IsNotNull && nullable[slotOf(n.Args[0])] {
			continue
		}
		mine := inGroup(n.Slots(), own)
		x.need.AddAll(mine)
		if mine.In(has) && !n.HasSubquery() {
			x.early = append(x.early, n)
		} else {
			x.late = append(x.late, n)
		}
	}
	x.lookup = !x.need.In(has) || x.table.Write && !x.index.Clustered && x.index.ID != 0
}

// keyNotNull are the slots of which the seek says that they are not NULL.
func (x *path) keyNotNull() map[int]bool {
	out := map[int]bool{}
	for _, k := range x.keys {
		if k.op == "=" || k.op == "in" && !k.null {
			out[x.table.Slots[k.ordinal]] = true
		}
	}
	if x.ranged >= 0 {
		out[x.table.Slots[keyColumns(x.index)[x.ranged].Ordinal]] = true
	}
	return out
}

// indexHas reports whether an index has a column: the clustered one and the heap have all.
func indexHas(ix *schema.Index, ordinal int) bool {
	if ix.Clustered || ix.ID == 0 || slices.Contains(ix.Include, ordinal) {
		return true
	}
	is := func(c schema.IndexColumn) bool { return c.Ordinal == ordinal }
	if slices.ContainsFunc(ix.Columns, is) {
		return true
	}
	clustered := ix.Table.Clustered()
	return clustered != nil && slices.ContainsFunc(clustered.Columns, is)
}

// sizeOf is how many rows a table is taken to have.
func sizeOf(t *binder.TableRel) float64 {
	if t.Source.Place != execute.InCatalog {
		return unknownRows
	}
	data := t.Source.Table.Data
	if data == nil {
		return unknownRows
	}
	rows := float64(data.Planned())
	if t.Source.Table.Temporary {
		return max(rows, temporaryRows)
	}
	return max(rows, tableRows)
}

// costed guesses what a path costs, forward and backward.
func (p *planner) costed(x *path, q request) []*physical {
	rows := sizeOf(x.table)
	if x.index.Where != nil {
		rows *= filteredIndexPart
	}
	seeks := 1.0
	for _, k := range x.keys {
		seeks *= float64(max(1, len(k.values)))
	}
	for i, k := range x.keys {
		part := nextKeyPart
		if i == 0 {
			part = firstKeyPart
		}
		rows *= min(1, part*float64(max(1, len(k.values))))
	}
	if x.index.Unique && len(x.keys) >= len(x.index.Columns) {
		rows = seeks
	}
	switch {
	case x.low != nil && x.high != nil:
		rows *= rangePart
	case x.low != nil || x.high != nil:
		rows *= boundPart
	case x.notNull:
		rows *= notNullPart
	}
	rows = max(rows, 1)
	each := rowCost
	if !x.index.Clustered && x.index.ID != 0 {
		each = narrowRowCost
	}
	cost := seekCost*seeks + rows*each
	for _, n := range x.early {
		rows *= selectivity(n)
		cost += rows * conditionCost
	}
	if x.lookup {
		cost += max(rows, 1) * lookupCost
	}
	for _, n := range x.late {
		rows *= selectivity(n)
	}
	out := physical{rows: max(rows, fewestRows), cost: cost, fixed: map[string]bool{}}
	for _, k := range x.keys {
		if len(k.values) == 1 && !k.null || k.op == "null" {
			out.fixed[columnKey(x.table.Slots[k.ordinal])] = true
		}
	}
	forward, backward := *x, *x
	backward.reverse = true
	a, c := out, out
	a.order, c.order = x.order(false), x.order(true)
	a.build = func() (execute.Operator, error) { return p.scan(&forward) }
	c.build = func() (execute.Operator, error) { return p.scan(&backward) }
	list := []*physical{&a}
	if len(q.order) > 0 && !satisfies(&a, q.order) && satisfies(&c, q.order) {
		list = append(list, &c)
	}
	for i, y := range list {
		list[i] = p.filtered(y, nil, x.startup)
	}
	return list
}

// columnKey is the key of the node of a slot.
func columnKey(slot int) string { return "#" + strconv.Itoa(slot) }

// order is how rows come sorted out of the index.
func (x *path) order(reverse bool) []ordering {
	var out []ordering
	for _, c := range keyColumns(x.index) {
		slot := x.table.Slots[c.Ordinal]
		if slot < 0 {
			// Nobody can ask for an order by what has no slot, but what follows is sorted only within it.
			if !x.single(c.Ordinal) {
				out = append(out, ordering{key: "?"})
			}
			continue
		}
		out = append(out, ordering{columnKey(slot), c.Desc != reverse})
	}
	return out
}

// single reports whether a seek fixes a column to one value.
func (x *path) single(ordinal int) bool {
	for _, k := range x.keys {
		if k.ordinal == ordinal {
			return k.op == "null" || len(k.values) == 1 && !k.null
		}
	}
	return false
}

// scan makes the operator of a path.
func (p *planner) scan(x *path) (*execute.Scan, error) {
	t := x.table
	op := &execute.Scan{
		Source: t.Source, Index: x.index.ID, Reverse: x.reverse, Hints: t.Hints, Lookup: x.lookup, Write: t.Write, Row: t.Row,
		Text: x.text(p.b),
	}
	allowed, err := binder.Grains(t.Source, x.index, &t.Hints)
	if err != nil {
		return nil, err
	}
	op.Grain = p.grain(allowed)
	if op.Grain > store.GrainRow && p.b.Env.Chooser != nil {
		op.Text += " locking " + grains[op.Grain]
	}
	if op.Seek, err = p.seek(x); err != nil {
		return nil, err
	}
	for ordinal, slot := range t.Slots {
		switch {
		case slot < 0 || !x.need.Has(slot):
		case indexHas(x.index, ordinal):
			op.First = append(op.First, execute.Load{Ordinal: ordinal, Slot: slot})
		default:
			op.Rest = append(op.Rest, execute.Load{Ordinal: ordinal, Slot: slot})
		}
	}
	if op.Early, err = p.conds(x.early); err != nil {
		return nil, err
	}
	op.Late, err = p.conds(x.late)
	return op, err
}

// grains name what is locked, in descriptions of plans.
var grains = map[store.Grain]string{store.GrainPage: "the page", store.GrainTable: "the table"}

// grain chooses what is locked at first; a row of what is not locked.
func (p *planner) grain(allowed []store.Grain) store.Grain {
	if len(allowed) == 0 {
		return store.GrainRow
	}
	if c := p.b.Env.Chooser; c != nil && len(allowed) > 1 {
		return allowed[c.Choose("grain", []float64{0, 1, 2}[:len(allowed)])]
	}
	return allowed[0]
}

// seek compiles the part of the index that is read; nil for all of it.
func (p *planner) seek(x *path) (*execute.Seek, error) {
	if len(x.keys) == 0 && x.ranged < 0 {
		return nil, nil
	}
	columns := keyColumns(x.index)
	out := &execute.Seek{}
	for i, k := range x.keys {
		values, err := p.seekValues(k)
		if err != nil {
			return nil, err
		}
		out.Keys = append(out.Keys, execute.SeekKey{KeyColumn: p.keyColumn(x, columns[i]), Values: values})
	}
	if x.ranged < 0 {
		return out, nil
	}
	c := p.keyColumn(x, columns[x.ranged])
	out.Column = &c
	for _, end := range []struct {
		s  *sarg
		to **execute.SeekBound
	}{{x.low, &out.Low}, {x.high, &out.High}} {
		if end.s == nil {
			continue
		}
		v, err := p.code(end.s.values[0])
		if err != nil {
			return nil, err
		}
		*end.to = &execute.SeekBound{Value: v.Expr, Open: len(end.s.op) == 1}
	}
	return out, nil
}

func (p *planner) keyColumn(x *path, c schema.IndexColumn) execute.KeyColumn {
	column := x.table.Source.Table.Columns[c.Ordinal]
	return execute.KeyColumn{Type: p.b.ColumnType(column), Desc: c.Desc, Nullable: column.Nullable}
}

// text describes the path: "seek ix_orders of orders o (customer =, at >) backward lookup".
func (x *path) text(b *binder.Binder) string {
	var s strings.Builder
	verb := "scan "
	if len(x.keys) > 0 || x.ranged >= 0 {
		verb = "seek "
	}
	s.WriteString(verb)
	if x.index.ID == 0 {
		s.WriteString("heap")
	} else {
		s.WriteString(x.index.Name)
	}
	s.WriteString(" of " + x.table.Source.Table.Name)
	if alias := x.table.Of.Name; alias != "" && !b.Same(alias, x.table.Source.Table.Name) {
		s.WriteString(" " + alias)
	}
	if parts := x.parts(); len(parts) > 0 {
		s.WriteString(" (" + strings.Join(parts, ", ") + ")")
	}
	if x.reverse {
		s.WriteString(" backward")
	}
	if len(x.early) > 0 {
		s.WriteString(" where " + strconv.Itoa(len(x.early)))
	}
	if x.lookup {
		s.WriteString(" lookup")
	}
	if len(x.late) > 0 {
		s.WriteString(" where " + strconv.Itoa(len(x.late)))
	}
	return s.String()
}

// parts describes the columns of a seek.
func (x *path) parts() []string {
	var parts []string
	name := func(ordinal int) string { return x.table.Source.Table.Columns[ordinal].Name }
	for _, k := range x.keys {
		op := k.op
		if op == "null" {
			op = "is null"
		}
		parts = append(parts, name(k.ordinal)+" "+op)
	}
	if x.ranged < 0 {
		return parts
	}
	c := name(keyColumns(x.index)[x.ranged].Ordinal)
	if x.notNull {
		return append(parts, c+" is not null")
	}
	for _, end := range []*sarg{x.low, x.high} {
		if end != nil {
			parts = append(parts, c+" "+end.op)
		}
	}
	return parts
}
