package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// inserting is a compiled INSERT, apart from where its rows come from.
type inserting struct {
	b        *binder
	target   *target
	rules    *rules
	ordinals []int // of the columns that are given
	given    map[int]bool
	outputs  []*output
	listed   bool // there is a list of columns
	grain    store.Grain
}

// insertStatement compiles INSERT … VALUES, SELECT or DEFAULT VALUES.
func (b *binder) insertStatement(s *syntax.Insert) (*Statement, error) {
	ins, sc, err := b.inserting(s)
	if err != nil {
		return nil, err
	}
	r, nodes, err := ins.source(sc, s)
	if err != nil {
		return nil, err
	}
	if s.Top != nil {
		top, err := b.topOf(sc, s.Top)
		if err != nil {
			return nil, err
		}
		r = &block{from: r, top: top}
	}
	if err := ins.complete(s); err != nil {
		return nil, err
	}
	p := &planner{b: b}
	x, err := p.plan(r, request{need: slotsOf(nodes...), goal: all})
	if err != nil {
		return nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, err
	}
	codes, err := p.codes(nodes)
	if err != nil {
		return nil, err
	}
	b.main = op
	root, exprs := p.numbered(op), operands(codes)
	return b.runner("INSERT", ins.outputs, func(e *execution) error {
		t, err := ins.begin(e)
		if err != nil {
			return err
		}
		return root.Each(e.r, exprs, func(row []execute.Value) error { return ins.add(e, t, row) })
	}), nil
}

// inserting binds the target of an INSERT and its columns.
func (b *binder) inserting(s *syntax.Insert) (*inserting, *scope, error) {
	sc := &scope{}
	if err := b.with(sc, s.With); err != nil {
		return nil, nil, err
	}
	if err := b.option(s.Options); err != nil {
		return nil, nil, err
	}
	t, err := b.namedTarget(sc, s.Target, "INSERT")
	if err != nil {
		return nil, nil, err
	}
	if err := t.noHistory(13559); err != nil {
		return nil, nil, err
	}
	ins := &inserting{b: b, target: t, given: map[int]bool{}, listed: len(s.Columns) > 0}
	if !s.Default {
		if ins.ordinals, err = b.insertOrdinals(t, s.Columns); err != nil {
			return nil, nil, err
		}
	}
	if ins.rules, err = b.rulesOf(t.from, map[*schema.Table]*rules{}); err != nil {
		return nil, nil, err
	}
	if t.instead {
		ins.rules.insteadOf = "INSERT"
	} else if ins.grain, err = b.grainOf(t); err != nil {
		return nil, nil, err
	}
	if len(t.check) > 0 {
		err = ins.rules.viewOption(t)
	}
	return ins, sc, err
}

// complete compiles what the source leaves to defaults, and OUTPUT.
func (ins *inserting) complete(s *syntax.Insert) error {
	for _, ordinal := range ins.ordinals {
		ins.given[ordinal] = true
	}
	if err := ins.rules.compileDefaults(ins.given); err != nil {
		return err
	}
	err := ins.target.readingRows(ins.rules, func() (err error) {
		ins.outputs, err = ins.b.outputs(&scope{sources: []*source{ins.rules.after}}, s.Output)
		return err
	})
	if err != nil {
		return err
	}
	if err := noTriggers(ins.target, ins.outputs, "INSERT"); err != nil {
		return err
	}
	return compileOutputs(&planner{b: ins.b}, ins.outputs)
}

// noTriggers refuses OUTPUT to the client of a table, or of a view with INSTEAD OF triggers, on which a trigger is
// enabled for the event.
func noTriggers(t *target, outputs []*output, event string) error {
	for _, o := range outputs {
		if o.into != nil || t.view != nil && !t.instead {
			continue
		}
		for _, m := range t.table().Triggers {
			if def, ok := m.Stmt.(*syntax.CreateTrigger); ok && !m.Disabled {
				if slices.Contains(def.Events, event) {
					return fault.New(334, t.table().Name)
				}
			}
		}
	}
	return nil
}

// insertOrdinals finds the columns of an INSERT: those of its list, or all that the server doesn't fill by itself.
func (b *binder) insertOrdinals(t *target, names []syntax.Ident) ([]int, error) {
	table := t.table()
	var list []int
	if len(names) == 0 {
		for i, ordinal := range t.ordinals {
			if t.source.columns[i].hidden {
				continue
			}
			if ordinal < 0 {
				return nil, fault.New(4406, t.source.name)
			}
			if c := table.Columns[ordinal]; !c.Identity && c.Computed == nil {
				list = append(list, ordinal)
			}
		}
		return list, nil
	}
	seen := map[int]bool{}
	for _, name := range names {
		ordinal, err := b.ordinal(t, name.Value)
		if err != nil {
			return nil, err
		}
		if c := table.Columns[ordinal]; c.Computed != nil {
			return nil, fault.New(271, c.Name)
		}
		if seen[ordinal] {
			return nil, fault.New(264, name.Value)
		}
		seen[ordinal] = true
		list = append(list, ordinal)
	}
	return list, nil
}

// source binds where the rows come from, and what each column stores of them.
func (ins *inserting) source(sc *scope, s *syntax.Insert) (rel, []*node, error) {
	switch {
	case s.Default:
		return oneRel{}, nil, nil
	case s.Query != nil:
		return ins.query(sc, s.Query)
	case len(s.Rows) == 1:
		return ins.oneRow(sc, s.Rows[0])
	default:
		return ins.rows(sc, s.Rows)
	}
}

// query binds INSERT … SELECT.
func (ins *inserting) query(sc *scope, q *syntax.Query) (rel, []*node, error) {
	out, err := ins.b.queryIn(sc, q)
	if err != nil {
		return nil, nil, err
	}
	if out.into != nil || len(out.assigns) > 0 {
		return nil, nil, fault.New(156, "INTO")
	}
	if err := ins.count(len(out.columns), 120, 121); err != nil {
		return nil, nil, err
	}
	nodes := make([]*node, len(out.columns))
	for i, c := range out.columns {
		if nodes[i], err = ins.give(i, c.node); err != nil {
			return nil, nil, err
		}
	}
	return out.rel, nodes, nil
}

// count checks that there are as many values as columns. The numbers are those of the errors for too few and too many.
func (ins *inserting) count(n int, few, many int32) error {
	table := ins.target.table()
	switch {
	case n == len(ins.ordinals):
		return nil
	case !ins.listed && table.Identity != nil && n == len(ins.ordinals)+1:
		return fault.New(8101, table.Name)
	case !ins.listed:
		return fault.New(213)
	case n < len(ins.ordinals):
		return fault.New(few)
	default:
		return fault.New(many)
	}
}

// refuse returns an error for a column whose values the server makes in every case.
func (ins *inserting) refuse(c *schema.Column) error {
	switch {
	case ins.target.instead:
		return nil
	case c.RowVersion:
		return fault.New(273)
	case c.Generated != "":
		return fault.New(13536, ins.target.table().FullName())
	default:
		return nil
	}
}

// give converts the value of a column.
func (ins *inserting) give(i int, n *node) (*node, error) {
	table := ins.target.table()
	c := table.Columns[ins.ordinals[i]]
	if err := ins.refuse(c); err != nil {
		return nil, err
	}
	return ins.b.stored(n, table, c)
}

// isDefault reports the keyword DEFAULT.
func isDefault(x syntax.Expr) bool {
	lit, ok := x.(*syntax.Literal)
	return ok && lit.Kind == syntax.DefaultLiteral
}

// oneRow binds VALUES with one row. What the server fills in by itself leaves the list.
func (ins *inserting) oneRow(sc *scope, row []syntax.Expr) (rel, []*node, error) {
	if err := ins.count(len(row), 110, 109); err != nil {
		return nil, nil, err
	}
	table := ins.target.table()
	var nodes []*node
	var ordinals []int
	for i, x := range row {
		c := table.Columns[ins.ordinals[i]]
		var n *node
		var err error
		switch {
		case isDefault(x) && c.Identity:
			return nil, nil, fault.New(339)
		case isDefault(x):
			continue // as if the column weren't in the list
		default:
			if n, err = ins.b.expr(sc.in(inList), x); err == nil {
				n, err = ins.give(i, n)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		nodes, ordinals = append(nodes, n), append(ordinals, c.Ordinal)
	}
	ins.ordinals = ordinals
	return oneRel{}, nodes, nil
}

// rows binds VALUES with several rows. As in any VALUES, the values of a column have one type before they are stored.
func (ins *inserting) rows(sc *scope, rows [][]syntax.Expr) (rel, []*node, error) {
	b, table := ins.b, ins.target.table()
	r := &rowsRel{rows: float64(len(rows)), text: "values"}
	bound := make([][]*node, len(rows))
	for k, row := range rows {
		if err := ins.count(len(row), 110, 109); err != nil {
			return nil, nil, err
		}
		bound[k] = make([]*node, len(row))
	}
	var nodes []*node
	var ordinals []int
	for i, ordinal := range ins.ordinals {
		c := table.Columns[ordinal]
		column, defaulted, err := ins.column(sc, rows, i)
		if err != nil {
			return nil, nil, err
		}
		if (c.RowVersion || c.Generated != "") && defaulted == len(rows) {
			continue
		}
		if err := ins.refuse(c); err != nil {
			return nil, nil, err
		}
		for k := range rows {
			bound[k][len(nodes)] = column[k]
		}
		slot := b.newSlot()
		r.slots = append(r.slots, slot)
		nodes, ordinals = append(nodes, columnNode(slot, b.columnType(c), true)), append(ordinals, ordinal)
	}
	width := len(nodes)
	for _, row := range bound {
		r.args = append(r.args, row[:width]...)
	}
	r.make = func(args []code, _ set) execute.Operator {
		var out [][]execute.Assign
		for len(args) > 0 && width > 0 {
			row := make([]execute.Assign, width)
			for i := range width {
				row[i] = execute.Assign{Slot: r.slots[i], Value: args[i].expr}
			}
			out, args = append(out, row), args[width:]
		}
		return execute.Values(out, r.text)
	}
	ins.ordinals = ordinals
	return r, nodes, nil
}

// column binds the values of one column in all rows. It counts those that are DEFAULT.
func (ins *inserting) column(sc *scope, rows [][]syntax.Expr, i int) (nodes []*node, defaulted int, err error) {
	b, table := ins.b, ins.target.table()
	c := table.Columns[ins.ordinals[i]]
	nodes = make([]*node, len(rows))
	var typed []*node
	for k, row := range rows {
		if isDefault(row[i]) {
			defaulted++
			continue
		}
		if nodes[k], err = b.expr(sc.in(inList), row[i]); err != nil {
			return nil, 0, err
		}
		typed = append(typed, nodes[k])
	}
	var t value.Type
	if len(typed) > 0 {
		if t, _, err = b.unite(typed); err != nil {
			return nil, 0, err
		}
	}
	for k := range nodes {
		switch {
		case nodes[k] == nil && c.Identity:
			return nil, 0, fault.New(339)
		case nodes[k] == nil:
			nodes[k], err = b.defaultNode(table, c)
		case c.RowVersion, c.Generated != "":
		default:
			n := nodes[k]
			if t.Kind != sqltype.Null && n.typ.Kind != sqltype.Null {
				n = b.become(n, t)
			}
			nodes[k], err = b.stored(n, table, c)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return nodes, defaulted, nil
}

// begin prepares an execution: options, locks, and who numbers the rows.
func (ins *inserting) begin(e *execution) (*schema.Table, error) {
	t := ins.rules.in(e)
	e.expect(ins.rules, t, "INSERT")
	if ins.target.instead {
		return t, nil
	}
	if err := e.checkOptions(t); err != nil {
		return nil, err
	}
	if id := t.Identity; id != nil {
		on := identityInsert(e.frame(), t)
		switch {
		case ins.given[id.Column] && !on:
			return nil, fault.New(544, t.Name)
		case !ins.given[id.Column] && on:
			return nil, fault.New(545, t.Name)
		}
	}
	switch h := ins.target.hints; {
	case h.TableExclusive || h.TableLock || ins.grain == store.GrainTable:
		return t, e.statement().LockTable(t.Data, lock.X)
	case ins.grain == store.GrainPage:
		return t, e.statement().LockPages(t.Data)
	}
	return t, nil
}

// add inserts one row.
func (ins *inserting) add(e *execution, t *schema.Table, row []execute.Value) error {
	u := ins.rules
	values, err := u.newRow(e, t, ins.ordinals, row)
	if err != nil {
		return err
	}
	if ins.target.instead {
		e.note(u, t, "INSERT", change{new: values})
		e.count++
		load(e.r, u.after, values)
		return e.emit()
	}
	if err := u.settle(e, t, values); err != nil {
		return err
	}
	if id := t.Identity; id != nil {
		if err := ins.identity(e, t, values); err != nil {
			return err
		}
	}
	added, err := u.insert(e, t, values)
	if err != nil || !added {
		return err
	}
	e.count++
	load(e.r, u.after, values)
	return e.emit()
}

// identity tells the session of the row's number.
func (ins *inserting) identity(e *execution, t *schema.Table, values []execute.Value) error {
	c := t.Columns[t.Identity.Column]
	if ins.given[c.Ordinal] {
		n, err := value.Convert(values[c.Ordinal], c.Type, askedBigInt, 0)
		if err != nil {
			return err
		}
		e.frame().Session.Store().Draw(t.ID)
		t.Identity.Note(n.Int())
	}
	v, err := value.Convert(values[c.Ordinal], c.Type, value.DecimalType(38, 0), 0)
	if err != nil {
		return err
	}
	e.frame().Session.SetIdentity(v)
	return nil
}

// nextRowVersion is a value for a rowversion column.
func nextRowVersion(e *execution, db *schema.Database) value.Value {
	e.frame().Session.Store().Draw(0)
	return db.NextRowVersion()
}

// newRow makes a row of the values for some columns; the others get their defaults.
func (u *rules) newRow(e *execution, t *schema.Table, ordinals []int, given []execute.Value) ([]execute.Value, error) {
	row := make([]execute.Value, len(t.Columns))
	filled := make([]bool, len(t.Columns))
	for i, ordinal := range ordinals {
		row[ordinal], filled[ordinal] = given[i], true
	}
	for _, c := range t.Columns {
		if filled[c.Ordinal] {
			continue
		}
		var err error
		switch {
		case c.Identity && u.insteadOf != "":
			row[c.Ordinal] = value.OfInt(0)
		case c.Identity && t.Identity != nil:
			e.frame().Session.Store().Draw(t.ID)
			row[c.Ordinal], err = t.Identity.Give(c)
		case c.RowVersion:
			row[c.Ordinal] = nextRowVersion(e, u.b.databaseOf(t))
		case u.defaults[c.Ordinal] != nil:
			row[c.Ordinal], err = u.defaults[c.Ordinal](e.r)
		}
		if err != nil {
			return nil, err
		}
	}
	if u.insteadOf == "" {
		e.periodOf(t, row)
	}
	return row, nil
}

// Rows is a result set whose rows are stored by INSERT … EXEC.
type Rows struct {
	Types  []schema.Type
	Values [][]execute.Value
}

// RowInsert is INSERT … EXEC, whose rows come from elsewhere.
type RowInsert struct {
	Columns []Column // of OUTPUT; nil if the statement sends none
	// Tables are the slots of the table variables that are used.
	Tables []int
	Run    func(x *execute.Frame, sets []Rows, send func(row []execute.Value) error) (rows int64, err error)
}

// InsertRows compiles INSERT … EXEC.
func InsertRows(env *Env, s *syntax.Insert) (*RowInsert, error) {
	b := newBinder(env)
	ins, _, err := b.inserting(s)
	if err != nil {
		return nil, err
	}
	if err := ins.complete(s); err != nil {
		return nil, err
	}
	return b.rowInsert(ins, ins.addAll), nil
}

// rowInsert compiles an INSERT whose rows come from elsewhere. add stores a result set.
func (b *binder) rowInsert(ins *inserting, add func(e *execution, t *schema.Table, s Rows) error) *RowInsert {
	st, run := b.runnerOf("INSERT", ins.outputs, func(e *execution) error {
		t, err := ins.begin(e)
		if err != nil {
			return err
		}
		for _, s := range e.given {
			if err := add(e, t, s); err != nil {
				return err
			}
		}
		return nil
	})
	return &RowInsert{Columns: st.Columns, Tables: st.Tables, Run: run}
}

// addAll stores a result set.
func (ins *inserting) addAll(e *execution, t *schema.Table, s Rows) error {
	if len(s.Types) != len(ins.ordinals) {
		return fault.New(213)
	}
	for _, values := range s.Values {
		row, err := ins.converted(s, values)
		if err != nil {
			return err
		}
		if err := ins.add(e, t, row); err != nil {
			return err
		}
	}
	return nil
}

// converted makes a row of a result set one that the columns can store.
func (ins *inserting) converted(s Rows, values []execute.Value) (row []execute.Value, err error) {
	table := ins.target.table()
	row = make([]execute.Value, len(values))
	for i, v := range values {
		c := table.Columns[ins.ordinals[i]]
		if err := ins.refuse(c); err != nil {
			return nil, err
		}
		if row[i], err = value.Store(v, s.Types[i], c.Type); err != nil {
			return nil, table.Truncated(err, c, v, s.Types[i])
		}
	}
	return row, nil
}
