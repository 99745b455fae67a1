package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// path is a way to read a table: an index, what part of it, and what is tested where.
type path struct {
	table   *tableRel
	index   *schema.Index
	keys    []sarg // equalities with the first columns of the index
	low     *sarg
	high    *sarg
	notNull bool // the column after the keys is not NULL, and nothing else is known of it
	ranged  int  // place of that column in the index; -1 if there is no range
	early   []*node
	late    []*node
	startup []*node
	need    set
	lookup  bool
	reverse bool
}

// paths are the ways to read a table that its hints allow.
func (p *planner) paths(t *tableRel, q request) ([]*physical, error) {
	if t.exact != nil {
		return []*physical{p.exactly(t, q)}, nil
	}
	columns := map[int]int{}
	for ordinal, slot := range t.slots {
		if slot >= 0 {
			columns[slot] = ordinal
		}
	}
	conds, startup := splitStartup(q.conds, made(t))
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
		filter, err := t.filter(ix)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(filter, func(n *node) bool { return !implied(n, conds) }) {
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
func (p *planner) exactly(t *tableRel, q request) *physical {
	conds, startup := splitStartup(q.conds, made(t))
	x := &path{table: t, index: t.exact.index, ranged: -1}
	x.split(conds, nil, q.need)
	out := &physical{rows: 1, cost: 1, build: func() (execute.Operator, error) {
		op, err := p.scan(x)
		if err != nil {
			return nil, err
		}
		op.Exact, op.Place = t.exact.read, t.exact.place
		return op, nil
	}}
	return p.filtered(out, nil, startup)
}

// filter binds the condition of a filtered index.
func (t *tableRel) filter(ix *schema.Index) ([]*node, error) {
	if ix.Where == nil {
		return nil, nil
	}
	if f, ok := t.filters[ix]; ok {
		return f, nil
	}
	inside := *t.binder
	env := *inside.env
	env.Variables, env.Tables, env.File = nil, nil, ix.File
	inside.env, inside.params = &env, nil
	src := *t.of
	list, err := inside.conditions(&scope{sources: []*source{&src}, clause: inWhere}, ix.Where)
	if err != nil {
		return nil, err
	}
	if t.filters == nil {
		t.filters = map[*schema.Index][]*node{}
	}
	t.filters[ix] = list
	return list, nil
}

// indexes are those that may be used: all, or the one of the hint.
func (p *planner) indexes(t *tableRel) ([]*schema.Index, error) {
	table := t.source.Table
	name := t.hints.Index
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
	ix := table.Index(name, p.b.fold)
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
func (p *planner) seeks(t *tableRel, ix *schema.Index, found []sarg) []*path {
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
			t.source.Table.Columns[c.Ordinal].Nullable
		if seek.low != nil || seek.high != nil || seek.notNull {
			seek.ranged = i
		}
		break
	}
	sought := len(seek.keys) > 0 || seek.ranged >= 0
	switch {
	case t.hints.ForceSeek && (!sought || !t.seeksColumns(p.b, &seek)):
		return nil
	case t.hints.ForceSeek:
		return []*path{&seek}
	case t.hints.ForceScan || !sought:
		return []*path{scan}
	case p.b.env.Chooser != nil:
		return []*path{[]*path{&seek, scan}[p.b.env.Chooser.Choose("access", []float64{0, 1})]}
	default: // a scan of the same index is never cheaper
		return []*path{&seek}
	}
}

// seeksColumns reports whether a seek uses all columns that FORCESEEK names.
func (t *tableRel) seeksColumns(b *binder, seek *path) bool {
	if t.hints.SeekColumns == "" {
		return true
	}
	used := len(seek.keys)
	if seek.ranged >= 0 {
		used++
	}
	columns := keyColumns(seek.index)
	for i, name := range strings.Split(t.hints.SeekColumns, ",") {
		if i >= used || !b.same(t.source.Table.Columns[columns[i].Ordinal].Name, name) {
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
func (x *path) slots() (own, has set) {
	for ordinal, slot := range x.table.slots {
		if slot < 0 {
			continue
		}
		own.add(slot)
		if indexHas(x.index, ordinal) {
			has.add(slot)
		}
	}
	return own, has
}

// split decides which conditions are left to be tested, and where: before the row is looked up, or after it.
func (x *path) split(conds, filter []*node, need set) {
	covered, nullable := x.covered(), x.keyNotNull()
	own, has := x.slots()
	x.need.addAll(inGroup(need, own))
	for i, n := range conds {
		if covered[i] || (len(filter) > 0 && implied(n, filter)) || n.kind == isNotNull && nullable[slotOf(n.args[0])] {
			continue
		}
		mine := inGroup(n.slots(), own)
		x.need.addAll(mine)
		if mine.in(has) && !n.hasSubquery() {
			x.early = append(x.early, n)
		} else {
			x.late = append(x.late, n)
		}
	}
	x.lookup = !x.need.in(has) || x.table.write && !x.index.Clustered && x.index.ID != 0
}

// keyNotNull are the slots of which the seek says that they are not NULL.
func (x *path) keyNotNull() map[int]bool {
	out := map[int]bool{}
	for _, k := range x.keys {
		if k.op == "=" || k.op == "in" && !k.null {
			out[x.table.slots[k.ordinal]] = true
		}
	}
	if x.ranged >= 0 {
		out[x.table.slots[keyColumns(x.index)[x.ranged].Ordinal]] = true
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

// smallest is how many rows a table is taken to have at least: a plan that was made for an empty table is used for a
// full one too.
const smallest = 1000

// size is how many rows a table is taken to have.
func (t *tableRel) size() float64 {
	if t.source.Place != execute.InCatalog {
		return 2 // SQL Server takes 1 for what nobody knows yet
	}
	data := t.source.Table.Data
	if data == nil {
		return 2
	}
	rows := float64(data.Planned())
	if t.source.Table.Temporary {
		return max(rows, 50)
	}
	return max(rows, smallest)
}

// costed guesses what a path costs, forward and backward.
func (p *planner) costed(x *path, q request) []*physical {
	rows := x.table.size()
	if x.index.Where != nil {
		rows *= 0.5
	}
	seeks := 1.0
	for _, k := range x.keys {
		seeks *= float64(max(1, len(k.values)))
	}
	for i, k := range x.keys {
		part := 0.05
		if i == 0 {
			part = 0.02
		}
		rows *= min(1, part*float64(max(1, len(k.values))))
	}
	if x.index.Unique && len(x.keys) >= len(x.index.Columns) {
		rows = seeks
	}
	switch {
	case x.low != nil && x.high != nil:
		rows *= 0.1
	case x.low != nil || x.high != nil:
		rows *= 0.3
	case x.notNull:
		rows *= 0.8
	}
	rows = max(rows, 1)
	cost := 2*seeks + rows*0.1
	if !x.index.Clustered && x.index.ID != 0 {
		cost = 2*seeks + rows*0.08
	}
	for _, n := range x.early {
		rows *= selectivity(n)
		cost += rows * 0.01
	}
	if x.lookup {
		cost += max(rows, 1) * 1.5
	}
	for _, n := range x.late {
		rows *= selectivity(n)
	}
	out := physical{rows: max(rows, 0.5), cost: cost, fixed: map[string]bool{}}
	for _, k := range x.keys {
		if len(k.values) == 1 && !k.null || k.op == "null" {
			out.fixed[columnKey(x.table.slots[k.ordinal])] = true
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
		slot := x.table.slots[c.Ordinal]
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
		Source: t.source, Index: x.index.ID, Reverse: x.reverse, Hints: t.hints, Lookup: x.lookup, Write: t.write, Row: t.row,
		Text: x.text(p.b),
	}
	var err error
	if op.Grain, err = p.b.grain(t.source, x.index, &t.hints); err != nil {
		return nil, err
	}
	if op.Grain > store.GrainRow && p.b.env.Chooser != nil {
		op.Text += " locking " + grains[op.Grain]
	}
	if op.Seek, err = p.seek(x); err != nil {
		return nil, err
	}
	for ordinal, slot := range t.slots {
		switch {
		case slot < 0 || !x.need.has(slot):
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
		*end.to = &execute.SeekBound{Value: v.expr, Open: len(end.s.op) == 1}
	}
	return out, nil
}

func (p *planner) keyColumn(x *path, c schema.IndexColumn) execute.KeyColumn {
	column := x.table.source.Table.Columns[c.Ordinal]
	return execute.KeyColumn{Type: p.b.columnType(column), Desc: c.Desc, Nullable: column.Nullable}
}

// text describes the path: "seek ix_orders of orders o (customer =, at >) backward lookup".
func (x *path) text(b *binder) string {
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
	s.WriteString(" of " + x.table.source.Table.Name)
	if alias := x.table.of.name; alias != "" && !b.same(alias, x.table.source.Table.Name) {
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
	name := func(ordinal int) string { return x.table.source.Table.Columns[ordinal].Name }
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
