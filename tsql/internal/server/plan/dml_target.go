package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// target is the table that a statement changes, as the statement sees it: itself, or through a view, a common table
// expression or a derived table of one table.
type target struct {
	source *source
	rel    *tableRel // of the table; nil for INSERT, which reads none
	from   execute.Source
	hints  execute.Hints
	// ordinals says for each column of the source which column of the table it is; -1 for one that can't be changed.
	ordinals []int
	// right is the permission to change what is named, and under that to change the table below it; nil if none is
	// needed.
	right, under *right
	// view is set if rows are changed through it, and check are the conditions of its WITH CHECK OPTION.
	view  *schema.Module
	check []*node
	// instead is set if INSTEAD OF triggers take the place of the change.
	instead bool
	// row computes the columns of a view that has no table to be changed.
	row []execute.Expr
	// hinted says that there are hints in FROM.
	hinted bool
}

// table is the table that is changed.
func (t *target) table() *schema.Table { return t.from.Table }

// ordinal finds the column that a name in SET or in the list of an INSERT stands for.
func (b *binder) ordinal(t *target, name string) (int, error) {
	for i, c := range t.source.columns {
		if b.same(c.name, name) {
			if t.ordinals[i] < 0 {
				return 0, fault.New(4406, t.source.name)
			}
			t.changes(i, t.ordinals[i])
			return t.ordinals[i], nil
		}
	}
	return 0, fault.New(207, name)
}

// namedTarget finds what the name of a target stands for when it isn't in FROM.
func (b *binder) namedTarget(s *scope, src syntax.TableSource, permission string) (*target, error) {
	switch ref := src.(type) {
	case *syntax.VariableTable:
		return b.variableTarget(ref)
	case *syntax.TableRef:
		if len(ref.Name.Parts) == 1 {
			if c := s.ctes.find(b, lastOf(ref.Name)); c != nil {
				one, err := b.cteSource(c, false)
				if err != nil {
					return nil, err
				}
				one.name = c.def.Name.Value
				t, err := b.through(one)
				if err == nil {
					b.mayChange(t, permission)
				}
				return t, err
			}
		}
		return b.objectTarget(ref, permission)
	default:
		return nil, b.unsupported(src.Range(), "this kind of target")
	}
}

// variableTarget is a table variable. Parameters can't be changed.
func (b *binder) variableTarget(ref *syntax.VariableTable) (*target, error) {
	v := b.env.Tables[b.fold(ref.Name)]
	switch {
	case v == nil:
		return nil, fault.New(1087, ref.Name)
	case v.ReadOnly:
		return nil, fault.New(10700, ref.Name)
	}
	b.uses(v.Slot)
	t := b.direct(execute.Source{Place: execute.InVariable, Table: v.Table, Slot: v.Slot}, execute.Hints{})
	t.source.name = ref.Name // for [@t].id
	return t, nil
}

// objectTarget is a table, a temporary one or a view.
func (b *binder) objectTarget(ref *syntax.TableRef, permission string) (*target, error) {
	hints, err := b.writingHints(ref)
	if err != nil {
		return nil, err
	}
	name := lastOf(ref.Name)
	if err := linked(ref.Name); err != nil {
		return nil, err
	}
	if isTemp(ref.Name) {
		t := b.env.Temp(name)
		if t == nil {
			return nil, fault.New(208, name)
		}
		return b.direct(execute.Source{Table: t}, hints), nil
	}
	if b.env.Inserted != nil && len(ref.Name.Parts) == 1 && (b.same(name, "inserted") || b.same(name, "deleted")) {
		return nil, fault.New(286)
	}
	switch o := b.object(ref.Name).(type) {
	case *schema.Table:
		if o.Data == nil {
			return nil, fault.New(208, textOf(ref.Name.Parts))
		}
		t := b.direct(execute.Source{Table: o}, hints)
		t.right = b.needs(permission, o)
		b.mayRead(t.source, o)
		if o.Schema != nil {
			t.source.schema = o.Schema.Name
		}
		t.instead = b.hasInstead(o.Triggers, permission)
		return t, nil
	case *schema.Module:
		if def, ok := o.Stmt.(*syntax.CreateView); ok {
			return b.viewTarget(o, def, permission)
		}
	}
	schemaName := schemaOf(ref.Name)
	switch {
	case sysview.Lookup(schemaName, name) != nil, sysview.ViewElsewhere("", schemaName, name):
		return nil, fault.New(259)
	case sysview.ViewElsewhere(b.databaseNamed(ref.Name), schemaName, name):
		return nil, b.absent(ref.Span, textOf(ref.Name.Parts))
	}
	return nil, fault.New(208, textOf(ref.Name.Parts))
}

// direct makes a target of a table itself.
func (b *binder) direct(from execute.Source, hints execute.Hints) *target {
	src, table := b.tableAndSource(from, hints, false)
	t := &target{source: src, rel: table, from: from, hints: hints}
	for i := range from.Table.Columns {
		t.ordinals = append(t.ordinals, i)
	}
	return t
}

// viewTarget is a view of one table, or any with INSTEAD OF triggers.
func (b *binder) viewTarget(m *schema.Module, def *syntax.CreateView, permission string) (*target, error) {
	right := b.needs(permission, m)
	src, err := b.view(m, def, false)
	if err != nil {
		return nil, err
	}
	src.schema = m.Schema.Name
	b.mayRead(src, m)
	if b.hasInstead(m.Triggers, permission) {
		return b.insteadView(m, src)
	}
	t, err := b.through(src)
	if err != nil {
		return nil, err
	}
	t.view, t.right = m, right
	if q, ok := src.rel.(*block); ok && def.CheckOption {
		t.check = q.where
	}
	t.under = b.inside(m).needs(permission, t.table())
	return t, nil
}

// through finds the table that is changed through a query over it.
func (b *binder) through(src *source) (*target, error) {
	t := &target{source: src}
	tables := tablesIn(src.rel)
	for i := range src.columns {
		n, err := src.node(i)
		if err != nil {
			return nil, err
		}
		ordinal := -1
		if n.kind == isColumn && n.base != nil {
			for _, rel := range tables {
				if rel.of.table != nil && n.base.Ordinal < len(rel.slots) && rel.slots[n.base.Ordinal] == n.slot {
					if t.rel != nil && t.rel != rel {
						return nil, fault.New(4405, src.name)
					}
					t.rel, ordinal = rel, n.base.Ordinal
				}
			}
		}
		t.ordinals = append(t.ordinals, ordinal)
	}
	if t.rel == nil && len(tables) == 1 {
		t.rel = tables[0]
	}
	if t.rel == nil || !updatable(src.rel) {
		return nil, fault.New(4406, src.name)
	}
	t.from, t.hints = t.rel.source, t.rel.hints
	return t, nil
}

// tablesIn are the tables that a relation reads, apart from those below set operations and aggregates.
func tablesIn(r rel) []*tableRel {
	switch r := r.(type) {
	case *tableRel:
		return []*tableRel{r}
	case *joinRel:
		return append(tablesIn(r.x), tablesIn(r.y)...)
	case *block:
		return tablesIn(r.from)
	default:
		return nil
	}
}

// updatable reports whether each row of a relation is one row of its table.
func updatable(r rel) bool {
	switch r := r.(type) {
	case *tableRel:
		return true
	case *joinRel:
		return updatable(r.x) || updatable(r.y)
	case *block:
		return r.group == nil && r.distinct == nil && updatable(r.from)
	default:
		return false
	}
}

// writes makes the target's table one whose rows are going to be changed.
func (b *binder) writes(t *target) {
	t.rel.write = true
	if t.rel.row < 0 {
		t.rel.row = b.newRow()
	}
}

// joined finds the target of UPDATE or DELETE among the tables of FROM. It is nil if it isn't there: then it is joined
// to them.
func (b *binder) joined(s *scope, src syntax.TableSource, permission string) (*target, error) {
	var hit *source
	switch ref := src.(type) {
	case *syntax.VariableTable:
		for _, one := range s.sources {
			if rel, ok := one.rel.(*tableRel); ok && rel.source.Place == execute.InVariable &&
				b.env.Tables[b.fold(ref.Name)] != nil && rel.source.Slot == b.env.Tables[b.fold(ref.Name)].Slot {
				hit = one
			}
		}
		if v := b.env.Tables[b.fold(ref.Name)]; v != nil && v.ReadOnly {
			return nil, fault.New(10700, ref.Name)
		}
	case *syntax.TableRef:
		var err error
		if hit, err = b.sourceNamed(s, ref); err != nil {
			return nil, err
		}
	}
	if hit == nil {
		return nil, nil
	}
	return b.sourceTarget(hit, permission)
}

// sourceNamed finds the source that the name of a target means: by its alias, or by being the same table.
func (b *binder) sourceNamed(s *scope, ref *syntax.TableRef) (*source, error) {
	name := lastOf(ref.Name)
	if len(ref.Name.Parts) == 1 {
		for _, one := range s.sources {
			if one.name != "" && b.same(one.name, name) {
				return one, nil
			}
		}
	}
	var o schema.Object
	if isTemp(ref.Name) {
		if t := b.env.Temp(name); t != nil {
			o = t
		}
	} else {
		o = b.object(ref.Name)
	}
	var hit *source
	for _, one := range s.sources {
		if one.table == nil || schema.Object(one.table) != o {
			continue
		}
		if rel, ok := one.rel.(*tableRel); !ok || rel.source.Place != execute.InCatalog {
			continue
		}
		if hit != nil {
			return nil, fault.New(8154, name)
		}
		hit = one
	}
	return hit, nil
}

// sourceTarget makes a target of a table of FROM.
func (b *binder) sourceTarget(src *source, permission string) (*target, error) {
	rel, ok := src.rel.(*tableRel)
	if !ok {
		t, err := b.through(src)
		if err == nil {
			b.mayChange(t, permission)
		}
		return t, err
	}
	if rel.source.Place == execute.InVariable {
		for _, v := range b.env.Tables {
			if v.Slot == rel.source.Slot && v.ReadOnly {
				return nil, fault.New(10700, v.Table.Name)
			}
		}
	}
	if rel.source.Place == execute.InInserted || rel.source.Place == execute.InDeleted {
		return nil, fault.New(286)
	}
	t := &target{source: src, rel: rel, from: rel.source, hints: rel.hints}
	for i := range rel.source.Table.Columns {
		t.ordinals = append(t.ordinals, i)
	}
	if table := t.table(); rel.source.Place == execute.InCatalog && !table.Temporary {
		t.right = b.needs(permission, table)
		t.instead = b.hasInstead(table.Triggers, permission)
	}
	return t, nil
}

// hasInstead reports whether an INSTEAD OF trigger takes the place of an event. What such a trigger does itself to its
// table is done.
func (b *binder) hasInstead(triggers []*schema.Module, event string) bool {
	for _, m := range triggers {
		def, ok := m.Stmt.(*syntax.CreateTrigger)
		if !ok || !def.InsteadOf || m.Disabled || b.env.Module == m {
			continue
		}
		if slices.Contains(def.Events, event) {
			return true
		}
	}
	return false
}
