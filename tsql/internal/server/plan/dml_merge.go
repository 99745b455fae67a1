package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The three ways in which a row of a MERGE may match.
const (
	whenMatched     = "MATCHED"
	whenNotByTarget = "NOT MATCHED BY TARGET"
	whenNotBySource = "NOT MATCHED BY SOURCE"
)

// merging is a compiled MERGE.
type merging struct {
	target  *target
	rules   *rules
	present execute.Expr // not NULL if there is a row of the source
	actions []mergeAction
	outputs []*output
	word    int // the slot of $action
}

// mergeAction is a WHEN clause.
type mergeAction struct {
	when     string
	and      execute.Cond
	update   *updating
	insert   *inserting
	values   []execute.Expr
	isDelete bool
	nodes    []*node // that it computes
	cond     *node
}

// merged is what a MERGE does to the rows, found before anything is changed.
type merged struct {
	deletes, updates []change
	inserts          [][]execute.Value
}

// mergeStatement compiles MERGE.
func (b *binder) mergeStatement(s *syntax.Merge) (*Statement, error) {
	outer := &scope{}
	if err := b.with(outer, s.With); err != nil {
		return nil, err
	}
	if err := b.option(s.Options); err != nil {
		return nil, err
	}
	m := &merging{word: b.newSlot()}
	var err error
	if m.target, err = b.mergeTarget(outer, s); err != nil {
		return nil, err
	}
	if m.rules, err = b.rulesOf(m.target.from, map[*schema.Table]*rules{}); err != nil {
		return nil, err
	}
	around := &scope{outer: outer.outer, ctes: outer.ctes, clause: inFrom}
	from, sources, err := b.source(around, s.Source, has(s.Actions, whenNotBySource))
	if err != nil {
		return nil, err
	}
	block, present, err := b.mergeJoin(m, s, outer, from, sources)
	if err != nil {
		return nil, err
	}
	both := &scope{outer: outer.outer, ctes: outer.ctes, sources: append([]*source{m.target.source}, sources...)}
	for i := range s.Actions {
		if err := b.mergeAction(m, &s.Actions[i], both, sources); err != nil {
			return nil, err
		}
	}
	if err := m.unreachable(s); err != nil {
		return nil, err
	}
	if err := b.mergeOutputs(m, s, both, sources); err != nil {
		return nil, err
	}
	find, err := b.mergePlan(m, block, present)
	if err != nil {
		return nil, err
	}
	return b.runner("MERGE", m.outputs, func(e *execution) error { return m.run(e, find) }), nil
}

// has reports whether a MERGE has a clause of a kind.
func has(actions []syntax.MergeAction, when string) bool {
	for _, a := range actions {
		if a.When == when {
			return true
		}
	}
	return false
}

// mergeTarget binds the target with its alias.
func (b *binder) mergeTarget(outer *scope, s *syntax.Merge) (*target, error) {
	permission := "UPDATE"
	if len(s.Actions) > 0 {
		permission = s.Actions[0].Action
	}
	b.inMerge = true
	t, err := b.namedTarget(outer, s.Target, permission)
	b.inMerge = false
	if err != nil {
		return nil, err
	}
	if t.rel == nil || t.instead || t.view != nil {
		return nil, b.unsupported(s.Target.Range(), "MERGE into a view or a table with INSTEAD OF triggers")
	}
	if err := t.noHistory(13562); err != nil {
		return nil, err
	}
	switch ref := s.Target.(type) {
	case *syntax.TableRef:
		if ref.Alias != nil {
			t.source.name, t.source.schema = ref.Alias.Value, ""
		}
	case *syntax.VariableTable:
		if ref.Alias != nil {
			t.source.name = ref.Alias.Value
		}
	}
	if t.from.Place == execute.InCatalog && !t.table().Temporary {
		for _, a := range s.Actions {
			if r := b.needs(a.Action, t.table()); a.Action == "UPDATE" {
				t.right = r
			}
		}
	}
	b.writes(t)
	return t, nil
}

// mergeJoin joins the source to the target: rows of either side that match none are read as far as a clause asks for
// them.
func (b *binder) mergeJoin(m *merging, s *syntax.Merge, outer *scope, from rel, sources []*source) (*block, *node, error) {
	flag := b.newSlot()
	one := constantNode(value.OfInt(1), value.OfKind(sqltype.Int))
	side := &block{from: from, computes: []computed{{flag, one}}}
	present := columnNode(flag, value.OfKind(sqltype.Int), true)
	kind := "INNER"
	byTarget, bySource := has(s.Actions, whenNotByTarget), has(s.Actions, whenNotBySource)
	join := &joinRel{x: side, y: m.target.source.rel}
	switch {
	case byTarget && bySource:
		kind = "FULL"
	case byTarget:
		kind = "LEFT"
	case bySource:
		kind, join.x, join.y = "LEFT", m.target.source.rel, side
	}
	join.kind = kind
	both := append([]*source{m.target.source}, sources...)
	if err := b.expose(both); err != nil {
		return nil, nil, err
	}
	var err error
	join.on, err = b.conditions(&scope{outer: outer.outer, ctes: outer.ctes, sources: both, clause: inOn}, s.On)
	if err != nil {
		return nil, nil, err
	}
	out := &block{from: join}
	if s.Top != nil {
		out.top, err = b.topOf(outer, s.Top)
	}
	return out, present, err
}

// mergeAction binds a WHEN clause. What it sees depends on which side has a row.
func (b *binder) mergeAction(m *merging, a *syntax.MergeAction, both *scope, sources []*source) error {
	s := *both
	switch a.When {
	case whenNotByTarget:
		s.sources = sources
	case whenNotBySource:
		s.sources = []*source{m.target.source}
	}
	out := mergeAction{when: a.When}
	var err error
	if a.And != nil {
		if out.cond, err = b.cond(s.in(inWhere), a.And); err != nil {
			return err
		}
	}
	switch a.Action {
	case "DELETE":
		out.isDelete = true
	case "UPDATE":
		out.update = &updating{rules: m.rules}
		if out.update.set, err = b.sets(s.in(inSet), m.target, a.Set); err != nil {
			return err
		}
		if m.rules.sets == nil {
			m.rules.sets = map[int]bool{}
		}
		for _, x := range out.update.set {
			out.nodes = append(out.nodes, x.node)
			if x.ordinal >= 0 {
				m.rules.sets[x.ordinal] = true
			}
		}
	default:
		err = b.mergeInsert(m, a, &s, &out)
	}
	m.actions = append(m.actions, out)
	return err
}

// mergeInsert binds THEN INSERT.
func (b *binder) mergeInsert(m *merging, a *syntax.MergeAction, s *scope, out *mergeAction) error {
	ins := &inserting{b: b, target: m.target, rules: m.rules, given: map[int]bool{}, listed: len(a.Columns) > 0}
	out.insert = ins
	if a.Values != nil {
		var err error
		if ins.ordinals, err = b.insertOrdinals(m.target, a.Columns); err != nil {
			return err
		}
		if _, out.nodes, err = ins.oneRow(s, a.Values); err != nil {
			return err
		}
	}
	for _, ordinal := range ins.ordinals {
		ins.given[ordinal] = true
	}
	return m.rules.compileDefaults(ins.given)
}

// unreachable refuses a clause that comes after one of its kind without a condition.
func (m *merging) unreachable(s *syntax.Merge) error {
	open := map[string]bool{}
	for _, a := range s.Actions {
		if open[a.When] {
			return fault.New(5324, "WHEN "+a.When, "WHEN "+a.When)
		}
		open[a.When] = a.And == nil
	}
	return nil
}

// mergeOutputs binds OUTPUT, which sees the source's columns and $action too.
func (b *binder) mergeOutputs(m *merging, s *syntax.Merge, both *scope, sources []*source) error {
	sc := *both
	after, before := m.rules.after, m.rules.before
	for _, a := range s.Actions {
		switch a.Action {
		case "DELETE":
			after = perhaps(m.rules.after)
		case "INSERT":
			before = perhaps(m.rules.before)
		}
	}
	sc.sources = append([]*source{after, before}, sources...)
	sc.action = columnNode(m.word, value.NVarChar(10), false)
	err := m.target.readingRows(m.rules, func() (err error) {
		m.outputs, err = b.outputs(&sc, s.Output)
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range s.Actions {
		if err := noTriggers(m.target, m.outputs, a.Action); err != nil {
			return err
		}
	}
	return nil
}

// perhaps is a source whose row may be missing, as deleted is for a row that a MERGE inserts.
func perhaps(s *source) *source {
	out := *s
	out.columns = slices.Clone(s.columns)
	for i := range out.columns {
		out.columns[i].node = nil
		out.columns[i].make = func() (*node, error) {
			n, err := s.column(i)
			if err != nil {
				return nil, err
			}
			null := *n
			null.nullable = true
			return &null, nil
		}
	}
	return &out
}

// mergePlan plans the join and compiles the clauses.
func (b *binder) mergePlan(m *merging, from *block, present *node) (*execute.Subquery, error) {
	p := &planner{b: b}
	need := slotsOfOutputs(m.outputs).with(slotsOf(present))
	for i := range m.actions {
		need = need.with(slotsOf(m.actions[i].nodes...)).with(slotsOf(m.actions[i].cond))
	}
	x, err := p.plan(from, request{need: need, goal: all})
	if err != nil {
		return nil, err
	}
	op, err := x.build()
	if err != nil {
		return nil, err
	}
	for i := range m.actions {
		if err := m.actions[i].compile(p); err != nil {
			return nil, err
		}
	}
	code, err := p.code(present)
	if err != nil {
		return nil, err
	}
	m.present = code.expr
	b.main = op
	return p.numbered(op), compileOutputs(p, m.outputs)
}

func (a *mergeAction) compile(p *planner) error {
	if a.cond != nil {
		code, err := p.code(a.cond)
		if err != nil {
			return err
		}
		a.and = code.cond
	}
	if a.update != nil {
		return a.update.compile(p)
	}
	codes, err := p.codes(a.nodes)
	a.values = operands(codes)
	return err
}

// run executes a MERGE: the clauses are chosen for all rows before any row changes.
func (m *merging) run(e *execution, find *execute.Subquery) error {
	t := m.rules.in(e)
	if err := m.begin(e, t); err != nil {
		return err
	}
	rows, err := find.Rows(e.r)
	if err != nil {
		return err
	}
	defer rows.Close()
	var all merged
	for {
		more, err := rows.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := m.row(e, t, &all); err != nil {
			return err
		}
	}
	return m.apply(e, t, &all)
}

// begin does what each of the actions does before its rows.
func (m *merging) begin(e *execution, t *schema.Table) error {
	if err := e.checkOptions(t); err != nil {
		return err
	}
	for _, a := range m.actions {
		switch {
		case a.insert != nil:
			if _, err := a.insert.begin(e); err != nil {
				return err
			}
		case a.isDelete:
			e.expect(m.rules, t, "DELETE")
		default:
			e.expect(m.rules, t, "UPDATE")
		}
	}
	return nil
}

// row chooses the clause for one row of the join.
func (m *merging) row(e *execution, t *schema.Table, all *merged) error {
	c, err := m.target.found(e.r)
	if err != nil {
		return err
	}
	present, err := m.present(e.r)
	if err != nil {
		return err
	}
	when := whenMatched
	switch {
	case c.old == nil:
		when = whenNotByTarget
	case present.IsNull():
		when = whenNotBySource
	}
	for i := range m.actions {
		a := &m.actions[i]
		if a.when != when {
			continue
		}
		if a.and != nil {
			truth, err := a.and(e.r)
			if err != nil {
				return err
			}
			if truth != execute.True {
				continue
			}
		}
		return m.act(e, t, a, c, all)
	}
	return nil
}

// act does what a clause says to one row, as far as that can be done before the others are known.
func (m *merging) act(e *execution, t *schema.Table, a *mergeAction, c change, all *merged) error {
	u := m.rules
	if c.row != nil && !e.once(c.row) {
		return fault.New(8672)
	}
	var err error
	word := "INSERT"
	switch {
	case a.isDelete:
		word = "DELETE"
		all.deletes = append(all.deletes, c)
	case a.update != nil:
		word = "UPDATE"
		if c.new, err = a.update.next(e, t, c.old); err != nil {
			return err
		}
		all.updates = append(all.updates, c)
	default:
		if c.new, err = m.newRow(e, t, a); err != nil {
			return err
		}
		all.inserts = append(all.inserts, c.new)
	}
	e.count++
	load(e.r, u.after, c.new)
	load(e.r, u.before, c.old)
	e.r.Slots[m.word] = value.OfString(word)
	return e.emit()
}

// newRow makes the row of THEN INSERT.
func (m *merging) newRow(e *execution, t *schema.Table, a *mergeAction) ([]execute.Value, error) {
	given := make([]execute.Value, len(a.values))
	for i, x := range a.values {
		var err error
		if given[i], err = x(e.r); err != nil {
			return nil, err
		}
	}
	row, err := m.rules.newRow(e, t, a.insert.ordinals, given)
	if err != nil {
		return nil, err
	}
	if err := m.rules.settle(e, t, row); err != nil {
		return nil, err
	}
	if t.Identity != nil {
		err = a.insert.identity(e, t, row)
	}
	return row, err
}

// apply changes the rows: a key that a deleted row gives up is free for the others.
func (m *merging) apply(e *execution, t *schema.Table, all *merged) error {
	for _, c := range all.deletes {
		if err := m.rules.delete(e, t, c); err != nil {
			return err
		}
	}
	if err := m.rules.updateAll(e, t, all.updates); err != nil {
		return err
	}
	for _, row := range all.inserts {
		if _, err := m.rules.insert(e, t, row); err != nil {
			return err
		}
	}
	return nil
}
