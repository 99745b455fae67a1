package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The three ways in which a row of a MERGE may match.
const (
	WhenMatched     = "MATCHED"
	WhenNotByTarget = "NOT MATCHED BY TARGET"
	WhenNotBySource = "NOT MATCHED BY SOURCE"
)

// Merge is a MERGE.
type Merge struct {
	*Modified // the target, and the join of the source to it

	Rules   *Rules
	Present *Node // not NULL if there is a row of the source
	Actions []MergeAction
	Outputs []*Output
	Word    int // the slot of $action
}

// MergeAction is a WHEN clause.
type MergeAction struct {
	When     string
	Update   *Update
	Insert   *Insert
	IsDelete bool
	Nodes    []*Node // that it computes
	Cond     *Node
}

// Merge binds MERGE.
func (b *Binder) Merge(s *syntax.Merge) (*Merge, error) {
	outer := &scope{}
	if err := b.with(outer, s.With); err != nil {
		return nil, err
	}
	if err := b.option(s.Options); err != nil {
		return nil, err
	}
	m := &Merge{Modified: &Modified{}, Word: b.NewSlot()}
	var err error
	if m.Target, err = b.mergeTarget(outer, s); err != nil {
		return nil, err
	}
	if m.Rules, err = b.rulesOf(m.Target.from, map[*schema.Table]*Rules{}); err != nil {
		return nil, err
	}
	around := &scope{outer: outer.outer, ctes: outer.ctes, level: level{Clause: lookup.InFrom}}
	from, sources, err := b.source(around, s.Source, has(s.Actions, WhenNotBySource))
	if err != nil {
		return nil, err
	}
	if m.Block, m.Present, err = b.mergeJoin(m, s, outer, from, sources); err != nil {
		return nil, err
	}
	both := &scope{outer: outer.outer, ctes: outer.ctes, level: level{Sources: append([]*Source{m.Target.source}, sources...)}}
	for i := range s.Actions {
		if err := b.mergeAction(m, &s.Actions[i], both, sources); err != nil {
			return nil, err
		}
	}
	if err := m.unreachable(s); err != nil {
		return nil, err
	}
	return m, b.mergeOutputs(m, s, both, sources)
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
func (b *Binder) mergeTarget(outer *scope, s *syntax.Merge) (*target, error) {
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
	if t.Rel == nil || t.Instead || t.view != nil {
		return nil, b.Unsupported(s.Target.Range(), "MERGE into a view or a table with INSTEAD OF triggers")
	}
	if err := t.noHistory(13562); err != nil {
		return nil, err
	}
	switch ref := s.Target.(type) {
	case *syntax.TableRef:
		if ref.Alias != nil {
			t.source.Name, t.source.schema = ref.Alias.Value, ""
		}
	case *syntax.VariableTable:
		if ref.Alias != nil {
			t.source.Name = ref.Alias.Value
		}
	}
	if t.from.Place == execute.InCatalog && !t.Table().Temporary {
		for _, a := range s.Actions {
			if r := b.needs(a.Action, t.Table()); a.Action == "UPDATE" {
				t.right = r
			}
		}
	}
	b.writes(t)
	return t, nil
}

// mergeJoin joins the source to the target: rows of either side that match none are read as far as a clause asks for
// them.
func (b *Binder) mergeJoin(m *Merge, s *syntax.Merge, outer *scope, from Rel, sources []*Source) (*Block, *Node, error) {
	flag := b.NewSlot()
	one := constantNode(value.OfInt(1), value.OfKind(sqltype.Int))
	side := &Block{From: from, Computes: []Computed{{flag, one}}}
	present := ColumnNode(flag, value.OfKind(sqltype.Int), true)
	kind := "INNER"
	byTarget, bySource := has(s.Actions, WhenNotByTarget), has(s.Actions, WhenNotBySource)
	join := &JoinRel{X: side, Y: m.Target.source.Rel}
	switch {
	case byTarget && bySource:
		kind = "FULL"
	case byTarget:
		kind = "LEFT"
	case bySource:
		kind, join.X, join.Y = "LEFT", m.Target.source.Rel, side
	}
	join.Kind = kind
	both := append([]*Source{m.Target.source}, sources...)
	if err := b.expose(both); err != nil {
		return nil, nil, err
	}
	var err error
	join.On, err = b.conditions(&scope{outer: outer.outer, ctes: outer.ctes, level: level{Sources: both, Clause: lookup.InOn}}, s.On)
	if err != nil {
		return nil, nil, err
	}
	out := &Block{From: join}
	if s.Top != nil {
		out.Top, err = b.topOf(outer, s.Top)
	}
	return out, present, err
}

// mergeAction binds a WHEN clause. What it sees depends on which side has a row.
func (b *Binder) mergeAction(m *Merge, a *syntax.MergeAction, both *scope, sources []*Source) error {
	s := *both
	switch a.When {
	case WhenNotByTarget:
		s.Sources = sources
	case WhenNotBySource:
		s.Sources = []*Source{m.Target.source}
	}
	out := MergeAction{When: a.When}
	var err error
	if a.And != nil {
		if out.Cond, err = b.cond(s.in(lookup.InWhere), a.And); err != nil {
			return err
		}
	}
	switch a.Action {
	case "DELETE":
		out.IsDelete = true
	case "UPDATE":
		out.Update = &Update{Rules: m.Rules}
		if out.Update.Set, err = b.sets(s.in(lookup.InSet), m.Target, a.Set); err != nil {
			return err
		}
		if m.Rules.Sets == nil {
			m.Rules.Sets = map[int]bool{}
		}
		for _, x := range out.Update.Set {
			out.Nodes = append(out.Nodes, x.Node)
			if x.Ordinal >= 0 {
				m.Rules.Sets[x.Ordinal] = true
			}
		}
	default:
		err = b.mergeInsert(m, a, &s, &out)
	}
	m.Actions = append(m.Actions, out)
	return err
}

// mergeInsert binds THEN INSERT.
func (b *Binder) mergeInsert(m *Merge, a *syntax.MergeAction, s *scope, out *MergeAction) error {
	ins := &Insert{b: b, Target: m.Target, Rules: m.Rules, listed: len(a.Columns) > 0}
	out.Insert = ins
	if a.Values != nil {
		var err error
		if ins.Ordinals, err = b.insertOrdinals(m.Target, a.Columns); err != nil {
			return err
		}
		if _, out.Nodes, err = ins.oneRow(s, a.Values); err != nil {
			return err
		}
	}
	return m.Rules.BindDefaults(ins.Ordinals)
}

// unreachable refuses a clause that comes after one of its kind without a condition.
func (m *Merge) unreachable(s *syntax.Merge) error {
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
func (b *Binder) mergeOutputs(m *Merge, s *syntax.Merge, both *scope, sources []*Source) error {
	sc := *both
	after, before := m.Rules.After, m.Rules.Before
	for _, a := range s.Actions {
		switch a.Action {
		case "DELETE":
			after = perhaps(m.Rules.After)
		case "INSERT":
			before = perhaps(m.Rules.Before)
		}
	}
	sc.Sources = append([]*Source{after, before}, sources...)
	sc.action = ColumnNode(m.Word, value.NVarChar(10), false)
	err := m.Target.readingRows(m.Rules, func() (err error) {
		m.Outputs, err = b.outputs(&sc, s.Output)
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range s.Actions {
		if err := noTriggers(m.Target, m.Outputs, a.Action); err != nil {
			return err
		}
	}
	return nil
}

// perhaps is a source whose row may be missing, as deleted is for a row that a MERGE inserts.
func perhaps(s *Source) *Source {
	out := *s
	out.columns = slices.Clone(s.columns)
	for i := range out.columns {
		out.columns[i].node = nil
		out.columns[i].make = func() (*Node, error) {
			n, err := s.Column(i)
			if err != nil {
				return nil, err
			}
			null := *n
			null.Nullable = true
			return &null, nil
		}
	}
	return &out
}
