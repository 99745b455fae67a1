package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// assigning is one element of SET.
type assigning struct {
	ordinal  int // of the column; -1 if there is none
	variable int // the slot of the variable; -1 if there is none
	node     *node
	typ      value.Type // of the variable
	from     value.Type // of what it is assigned
	expr     execute.Expr
}

// updating is a compiled UPDATE, or that of a MERGE.
type updating struct {
	rules *rules
	set   []assigning
	// together says that rows have to be changed all at once, as each may take a key that another one gives up.
	together bool
}

// modified is what UPDATE and DELETE have in common: the rows that they find.
type modified struct {
	target *target
	scope  *scope // with the tables of FROM
	block  *block
	// once says that a row may be found several times, because it is joined to others.
	once bool
}

// modifies binds the target, FROM, WHERE and TOP of UPDATE and DELETE.
func (b *binder) modifies(with []*syntax.CTE, to syntax.TableSource, from []syntax.TableSource, where syntax.Expr, top *syntax.Top,
	options []syntax.Option, permission string,
) (*modified, error) {
	outer := &scope{}
	if err := b.with(outer, with); err != nil {
		return nil, err
	}
	if err := b.option(options); err != nil {
		return nil, err
	}
	m := &modified{scope: &scope{outer: outer.outer, ctes: outer.ctes, clause: inFrom}, block: &block{}}
	if err := b.findTarget(m, outer, to, from, permission); err != nil {
		return nil, err
	}
	var err error
	if m.block.where, err = b.conditions(m.scope.in(inWhere), where); err != nil {
		return nil, err
	}
	if top != nil {
		if m.block.top, err = b.topOf(outer, top); err != nil {
			return nil, err
		}
	}
	if m.target.rel != nil {
		b.writes(m.target)
	}
	_, alone := m.block.from.(*tableRel)
	m.once = !alone
	return m, nil
}

// findTarget binds FROM and finds the target there, or joins it to the tables of FROM.
func (b *binder) findTarget(m *modified, outer *scope, to syntax.TableSource, from []syntax.TableSource, permission string) error {
	var err error
	if len(from) > 0 {
		if m.block.from, err = b.from(m.scope, from); err != nil {
			return err
		}
		if m.target, err = b.joined(m.scope, to, permission); err != nil {
			return err
		}
	}
	if m.target != nil {
		// A hint behind the target's name counts as one behind the table in FROM.
		return b.targetHints(m.target, to)
	}
	if m.target, err = b.namedTarget(outer, to, permission); err != nil {
		return err
	}
	m.scope.sources = append([]*source{m.target.source}, m.scope.sources...)
	if m.block.from == nil {
		m.block.from = m.target.source.rel
	} else {
		m.block.from = &joinRel{kind: "INNER", x: m.target.source.rel, y: m.block.from}
	}
	return nil
}

// targetHints adds the hints behind the name of a target that is in FROM.
func (b *binder) targetHints(t *target, to syntax.TableSource) error {
	ref, ok := to.(*syntax.TableRef)
	if !ok || len(ref.Hints) == 0 || t.rel == nil {
		return nil
	}
	hints, err := b.writingHints(ref)
	if err == nil && !t.hinted {
		t.rel.hints = hints
	}
	return err
}

// updateStatement compiles UPDATE.
func (b *binder) updateStatement(s *syntax.Update) (*Statement, error) {
	m, err := b.modifies(s.With, s.Target, s.From, s.Where, s.Top, s.Options, "UPDATE")
	if err != nil {
		return nil, err
	}
	if err := b.positioned(m, s.Cursor, s.From, s.Set, s.Span); err != nil {
		return nil, err
	}
	if err := m.target.noHistory(13561); err != nil {
		return nil, err
	}
	u, err := b.rulesOf(m.target.from, map[*schema.Table]*rules{})
	if err != nil {
		return nil, err
	}
	if m.target.instead {
		u.insteadOf = "UPDATE"
	}
	up := &updating{rules: u}
	if up.set, err = b.sets(m.scope.in(inSet), m.target, s.Set); err != nil {
		return nil, err
	}
	if len(m.target.check) > 0 {
		if err := u.viewOption(m.target); err != nil {
			return nil, err
		}
	}
	up.note()
	outputs, err := b.changeOutputs(m, u, s.Output, "UPDATE")
	if err != nil {
		return nil, err
	}
	find, err := b.findRows(m, up, outputs)
	if err != nil {
		return nil, err
	}
	return b.runner("UPDATE", outputs, func(e *execution) error { return up.run(e, m, find) }), nil
}

// changeOutputs binds OUTPUT of UPDATE and DELETE. It sees the tables of FROM too, except the target itself.
func (b *binder) changeOutputs(m *modified, u *rules, o *syntax.Output, event string) ([]*output, error) {
	sources := []*source{u.after, u.before}
	if event == "DELETE" {
		sources = sources[1:]
	}
	for _, src := range m.scope.sources {
		if src != m.target.source {
			sources = append(sources, src)
		}
	}
	var list []*output
	err := m.target.readingRows(u, func() (err error) {
		list, err = b.outputs(&scope{outer: m.scope.outer, ctes: m.scope.ctes, sources: sources}, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, noTriggers(m.target, list, event)
}

// note keeps which columns are set.
func (up *updating) note() {
	up.rules.sets = map[int]bool{}
	for _, a := range up.set {
		if a.ordinal >= 0 {
			up.rules.sets[a.ordinal] = true
		}
	}
	up.together = movesUnique(up.rules.from.Table, up.rules.sets)
}

// sets binds SET. Variables are assigned before columns, whatever the order of the text.
func (b *binder) sets(s *scope, t *target, list []syntax.Assignment) ([]assigning, error) {
	var out []assigning
	seen := map[int]bool{}
	for i := range list {
		a, err := b.set(s, t, &list[i])
		if err != nil {
			return nil, err
		}
		if a.ordinal >= 0 {
			if seen[a.ordinal] {
				return nil, fault.New(264, t.table().Columns[a.ordinal].Name)
			}
			seen[a.ordinal] = true
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(x, y assigning) int { return rank(x) - rank(y) })
	return out, nil
}

// rank puts assignments to variables alone before the others.
func rank(a assigning) int {
	if a.ordinal < 0 {
		return 0
	}
	return 1
}

// set binds one element of SET.
func (b *binder) set(s *scope, t *target, x *syntax.Assignment) (assigning, error) {
	a := assigning{ordinal: -1, variable: -1}
	var err error
	if x.Column != nil {
		if a.ordinal, err = b.setColumn(t, x.Column); err != nil {
			return a, err
		}
	}
	if a.node, err = b.setValue(s, t, x, a.ordinal); err != nil {
		return a, err
	}
	if x.Variable != nil {
		v := b.env.Variables[b.fold(x.Variable.Name)]
		if v == nil {
			return a, fault.New(137, x.Variable.Name)
		}
		a.variable, a.typ = v.Slot, v.Type
		if _, err = b.implicitly(a.node, v.Type); err != nil {
			return a, err
		}
	}
	a.from = a.node.typ
	return a, nil
}

// setColumn finds the column that is set. It may be qualified by the target's name or alias.
func (b *binder) setColumn(t *target, ref *syntax.ColumnRef) (int, error) {
	ordinal, err := b.ordinal(t, ref.Parts[len(ref.Parts)-1].Value)
	if err != nil {
		return 0, err
	}
	switch c := t.table().Columns[ordinal]; {
	case c.Identity && t.view == nil:
		return 0, fault.New(8102, c.Name)
	case c.Computed != nil:
		return 0, fault.New(271, c.Name)
	case c.RowVersion:
		return 0, fault.New(272)
	case c.Generated != "":
		return 0, fault.New(13537, t.table().FullName())
	}
	return ordinal, nil
}

// setValue binds what is assigned, converted to the column's type if there is one.
func (b *binder) setValue(s *scope, t *target, x *syntax.Assignment, ordinal int) (*node, error) {
	table := t.table()
	if isDefault(x.X) {
		if ordinal < 0 {
			return nil, fault.New(156, "DEFAULT")
		}
		return b.defaultNode(table, table.Columns[ordinal])
	}
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	if x.Op != "" && x.Op != "=" {
		var old *node
		if x.Column != nil {
			old, err = b.targetColumn(t, x.Column)
		} else {
			old, err = b.variable(x.Variable)
		}
		if err != nil {
			return nil, err
		}
		if n, err = b.arithmetic(x.Op[:len(x.Op)-1], old, n, x); err != nil {
			return nil, err
		}
	}
	if ordinal < 0 {
		return n, nil
	}
	return b.stored(n, table, table.Columns[ordinal])
}

// targetColumn is the column of the target that a compound operator changes.
func (b *binder) targetColumn(t *target, ref *syntax.ColumnRef) (*node, error) {
	name := ref.Parts[len(ref.Parts)-1].Value
	for i, c := range t.source.columns {
		if b.same(c.name, name) {
			return t.source.column(i)
		}
	}
	return nil, fault.New(207, name)
}

// findRows plans the rows of an UPDATE or DELETE, and compiles what is computed of each.
func (b *binder) findRows(m *modified, up *updating, outputs []*output) (*execute.Subquery, error) {
	p := &planner{b: b}
	need := slotsOfOutputs(outputs)
	if up != nil {
		for _, a := range up.set {
			need = need.with(slotsOf(a.node))
		}
	}
	if m.target.rel == nil { // a view with INSTEAD OF triggers: all of its columns
		for i := range m.target.source.columns {
			n, err := m.target.source.node(i)
			if err != nil {
				return nil, err
			}
			need = need.with(slotsOf(n))
		}
	}
	x, err := p.plan(m.block, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, err
	}
	if up != nil {
		if err := up.compile(p); err != nil {
			return nil, err
		}
	}
	if err := m.target.compile(p); err != nil {
		return nil, err
	}
	m.qualify(op, up, outputs)
	b.main = op
	return p.numbered(op), compileOutputs(p, outputs)
}

// qualify lets the rows be locked after they have been found, where optimized locking allows it: one scan decides which
// rows are changed, each is changed before the next one is found, and nothing of the statement is seen outside before
// its end.
func (m *modified) qualify(op execute.Operator, up *updating, outputs []*output) {
	if len(outputs) > 0 || m.target.rel == nil || m.target.instead {
		return
	}
	if up != nil && (up.together || slices.ContainsFunc(up.set, func(a assigning) bool { return a.variable >= 0 })) {
		return
	}
	for {
		switch x := op.(type) {
		case *execute.Compute:
			op = x.Input
		case *execute.Top:
			op = x.Input
		case *execute.Filter:
			if len(x.Conditions) > 0 {
				return
			}
			op = x.Input
		case *execute.Scan:
			x.Qualify = x.Write && x.Exact == nil && x.Source.Place == execute.InCatalog
			return
		default:
			return
		}
	}
}

// compile compiles SET.
func (up *updating) compile(p *planner) error {
	for i := range up.set {
		code, err := p.code(up.set[i].node)
		if err != nil {
			return err
		}
		up.set[i].expr = code.expr
	}
	return nil
}

// compile compiles the columns of a view that has no table to be changed.
func (t *target) compile(p *planner) error {
	if t.rel != nil {
		return nil
	}
	t.row = make([]execute.Expr, len(t.source.columns))
	for i := range t.source.columns {
		n, err := t.source.node(i)
		if err != nil {
			return err
		}
		code, err := p.code(n)
		if err != nil {
			return err
		}
		t.row[i] = code.expr
	}
	return nil
}

// found returns the row that the plan has come to.
func (t *target) found(r *execute.Run) (change, error) {
	if t.rel != nil {
		row := r.Rows[t.rel.row]
		if row == nil {
			return change{}, nil
		}
		return change{row: row, old: row.Values()}, nil
	}
	c := change{old: make([]execute.Value, len(t.row))}
	for i, x := range t.row {
		var err error
		if c.old[i], err = x(r); err != nil {
			return c, err
		}
	}
	return c, nil
}

// run executes an UPDATE.
func (up *updating) run(e *execution, m *modified, find *execute.Subquery) error {
	t := up.rules.in(e)
	e.expect(up.rules, t, "UPDATE")
	if !m.target.instead {
		if err := e.checkOptions(t); err != nil {
			return err
		}
	}
	rows, err := find.Rows(e.r)
	if err != nil {
		return err
	}
	defer rows.Close()
	var pending []change
	for {
		more, err := rows.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		c, err := m.target.found(e.r)
		if err != nil {
			return err
		}
		if c.old == nil || m.once && c.row != nil && !e.once(c.row) {
			continue
		}
		if c.new, err = up.next(e, t, c.old); err != nil {
			return err
		}
		if pending, err = up.apply(e, t, c, m.target.instead, pending); err != nil {
			return err
		}
	}
	return up.rules.updateAll(e, t, pending)
}

// next computes what a row becomes.
func (up *updating) next(e *execution, t *schema.Table, old []execute.Value) ([]execute.Value, error) {
	row := slices.Clone(old)
	for _, a := range up.set {
		v, err := a.expr(e.r)
		if err != nil {
			return nil, err
		}
		if a.ordinal >= 0 {
			row[a.ordinal] = v
		}
		if a.variable >= 0 {
			if e.frame().Variables[a.variable], err = value.Assign(v, a.from, a.typ); err != nil {
				return nil, err
			}
		}
	}
	if up.rules.insteadOf != "" {
		return row, nil
	}
	if rv := t.RowVersionColumn(); rv != nil {
		row[rv.Ordinal] = nextRowVersion(e, up.rules.b.databaseOf(t))
	}
	e.periodOf(t, row)
	return row, up.rules.settle(e, t, row)
}

// apply changes a row, or keeps it among those that are changed together.
func (up *updating) apply(e *execution, t *schema.Table, c change, instead bool, pending []change) ([]change, error) {
	u := up.rules
	e.count++
	load(e.r, u.after, c.new)
	load(e.r, u.before, c.old)
	if err := e.emit(); err != nil {
		return pending, err
	}
	switch {
	case instead:
		e.note(u, t, "UPDATE", c)
		return pending, nil
	case up.together:
		return append(pending, c), nil
	default:
		return pending, u.update(e, t, c)
	}
}
