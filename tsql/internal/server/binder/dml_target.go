package binder

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
	source *Source
	Rel    *TableRel // of the table; nil for INSERT, which reads none
	from   execute.Source
	Hints  execute.Hints
	// ordinals says for each column of the source which column of the table it is; -1 for one that can't be changed.
	ordinals []int
	// right is the permission to change what is named, and under that to change the table below it; nil if none is
	// needed.
	right, under *Right
	// view is set if rows are changed through it, and check are the conditions of its WITH CHECK OPTION.
	view  *schema.Module
	check []*Node
	// Instead is set if INSTEAD OF triggers take the place of the change.
	Instead bool
}

// ViewColumns returns all columns of a view with INSTEAD OF triggers; none of a target that is a table.
func (t *target) ViewColumns() ([]*Node, error) {
	if t.Rel != nil {
		return nil, nil
	}
	list := make([]*Node, len(t.source.columns))
	for i := range list {
		var err error
		if list[i], err = t.source.node(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Table returns the table that is changed.
func (t *target) Table() *schema.Table { return t.from.Table }

// ordinal finds the column that a name in SET or in the list of an INSERT stands for.
func (b *Binder) ordinal(t *target, name string) (int, error) {
	for i, c := range t.source.columns {
		if b.Same(c.name, name) {
			if t.ordinals[i] < 0 {
				return 0, fault.New(4406, t.source.Name)
			}
			t.changes(i, t.ordinals[i])
			return t.ordinals[i], nil
		}
	}
	return 0, fault.New(207, name)
}

// namedTarget finds what the name of a target stands for when it isn't in FROM.
func (b *Binder) namedTarget(s *scope, src syntax.TableSource, permission string) (*target, error) {
	switch ref := src.(type) {
	case *syntax.VariableTable:
		return b.variableTarget(ref)
	case *syntax.TableRef:
		if len(ref.Name.Parts) == 1 {
			if c := s.ctes.find(b, ref.Name.Last().Value); c != nil {
				one, err := b.cteSource(c, false)
				if err != nil {
					return nil, err
				}
				one.Name = c.def.Name.Value
				t, err := b.through(one)
				if err == nil {
					b.mayChange(t, permission)
				}
				return t, err
			}
		}
		return b.objectTarget(ref, permission)
	default:
		return nil, b.Unsupported(src.Range(), "this kind of target")
	}
}

// variableTarget is a table variable. Parameters can't be changed.
func (b *Binder) variableTarget(ref *syntax.VariableTable) (*target, error) {
	v := b.Env.Tables[b.Fold(ref.Name)]
	switch {
	case v == nil:
		return nil, fault.New(1087, ref.Name)
	case v.ReadOnly:
		return nil, fault.New(10700, ref.Name)
	}
	b.uses(v.Slot)
	t := b.direct(execute.Source{Place: execute.InVariable, Table: v.Table, Slot: v.Slot}, execute.Hints{})
	t.source.Name = ref.Name // for [@t].id
	return t, nil
}

// objectTarget is a table, a temporary one or a view.
func (b *Binder) objectTarget(ref *syntax.TableRef, permission string) (*target, error) {
	hints, err := b.writingHints(ref)
	if err != nil {
		return nil, err
	}
	name := ref.Name.Last().Value
	if err := linked(ref.Name); err != nil {
		return nil, err
	}
	if ref.Name.IsTemp() {
		t := b.Env.Temp(name)
		if t == nil {
			return nil, fault.New(208, name)
		}
		return b.direct(execute.Source{Table: t}, hints), nil
	}
	if b.Env.Inserted != nil && len(ref.Name.Parts) == 1 && (b.Same(name, "inserted") || b.Same(name, "deleted")) {
		return nil, fault.New(286)
	}
	switch o := b.object(ref.Name).(type) {
	case *schema.Table:
		if o.Data == nil {
			return nil, fault.New(208, syntax.Dotted(ref.Name.Parts))
		}
		t := b.direct(execute.Source{Table: o}, hints)
		t.right = b.needs(permission, o)
		b.mayRead(t.source, o)
		if o.Schema != nil {
			t.source.schema = o.Schema.Name
		}
		t.Instead = b.hasInstead(o.Triggers, permission)
		return t, nil
	case *schema.Module:
		if def, ok := o.Stmt.(*syntax.CreateView); ok {
			return b.viewTarget(o, def, permission)
		}
	}
	schemaName := ref.Name.Schema()
	switch {
	case sysview.Lookup(schemaName, name) != nil, sysview.ViewElsewhere("", schemaName, name):
		return nil, fault.New(259)
	case sysview.ViewElsewhere(b.databaseNamed(ref.Name), schemaName, name):
		return nil, b.absent(ref.Span, syntax.Dotted(ref.Name.Parts))
	}
	return nil, fault.New(208, syntax.Dotted(ref.Name.Parts))
}

// direct makes a target of a table itself.
func (b *Binder) direct(from execute.Source, hints execute.Hints) *target {
	src, table := b.tableAndSource(from, hints, false)
	t := &target{source: src, Rel: table, from: from, Hints: hints}
	for i := range from.Table.Columns {
		t.ordinals = append(t.ordinals, i)
	}
	return t
}

// viewTarget is a view of one table, or any with INSTEAD OF triggers.
func (b *Binder) viewTarget(m *schema.Module, def *syntax.CreateView, permission string) (*target, error) {
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
	if q, ok := src.Rel.(*Block); ok && def.CheckOption {
		t.check = q.Where
	}
	t.under = b.inside(m).needs(permission, t.Table())
	return t, nil
}

// through finds the table that is changed through a query over it.
func (b *Binder) through(src *Source) (*target, error) {
	t := &target{source: src}
	tables := tablesIn(src.Rel)
	for i := range src.columns {
		n, err := src.node(i)
		if err != nil {
			return nil, err
		}
		ordinal := -1
		if n.Kind == IsColumn && n.Base != nil {
			for _, rel := range tables {
				if rel.Of.table != nil && n.Base.Ordinal < len(rel.Slots) && rel.Slots[n.Base.Ordinal] == n.Slot {
					if t.Rel != nil && t.Rel != rel {
						return nil, fault.New(4405, src.Name)
					}
					t.Rel, ordinal = rel, n.Base.Ordinal
				}
			}
		}
		t.ordinals = append(t.ordinals, ordinal)
	}
	if t.Rel == nil && len(tables) == 1 {
		t.Rel = tables[0]
	}
	if t.Rel == nil || !updatable(src.Rel) {
		return nil, fault.New(4406, src.Name)
	}
	t.from, t.Hints = t.Rel.Source, t.Rel.Hints
	return t, nil
}

// tablesIn are the tables that a relation reads, apart from those below set operations and aggregates.
func tablesIn(r Rel) []*TableRel {
	switch r := r.(type) {
	case *TableRel:
		return []*TableRel{r}
	case *JoinRel:
		return append(tablesIn(r.X), tablesIn(r.Y)...)
	case *Block:
		return tablesIn(r.From)
	default:
		return nil
	}
}

// updatable reports whether each row of a relation is one row of its table.
func updatable(r Rel) bool {
	switch r := r.(type) {
	case *TableRel:
		return true
	case *JoinRel:
		return updatable(r.X) || updatable(r.Y)
	case *Block:
		return r.Group == nil && r.Distinct == nil && updatable(r.From)
	default:
		return false
	}
}

// writes makes the target's table one whose rows are going to be changed.
func (b *Binder) writes(t *target) {
	t.Rel.Write = true
	if t.Rel.Row < 0 {
		t.Rel.Row = b.NewRow()
	}
}

// joined finds the target of UPDATE or DELETE among the tables of FROM. It is nil if it isn't there: then it is joined
// to them.
func (b *Binder) joined(s *scope, src syntax.TableSource, permission string) (*target, error) {
	var hit *Source
	switch ref := src.(type) {
	case *syntax.VariableTable:
		for _, one := range s.Sources {
			if rel, ok := one.Rel.(*TableRel); ok && rel.Source.Place == execute.InVariable &&
				b.Env.Tables[b.Fold(ref.Name)] != nil && rel.Source.Slot == b.Env.Tables[b.Fold(ref.Name)].Slot {
				hit = one
			}
		}
		if v := b.Env.Tables[b.Fold(ref.Name)]; v != nil && v.ReadOnly {
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
func (b *Binder) sourceNamed(s *scope, ref *syntax.TableRef) (*Source, error) {
	name := ref.Name.Last().Value
	if len(ref.Name.Parts) == 1 {
		for _, one := range s.Sources {
			if one.Name != "" && b.Same(one.Name, name) {
				return one, nil
			}
		}
	}
	var o schema.Object
	if ref.Name.IsTemp() {
		if t := b.Env.Temp(name); t != nil {
			o = t
		}
	} else {
		o = b.object(ref.Name)
	}
	var hit *Source
	for _, one := range s.Sources {
		if one.table == nil || schema.Object(one.table) != o {
			continue
		}
		if rel, ok := one.Rel.(*TableRel); !ok || rel.Source.Place != execute.InCatalog {
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
func (b *Binder) sourceTarget(src *Source, permission string) (*target, error) {
	rel, ok := src.Rel.(*TableRel)
	if !ok {
		t, err := b.through(src)
		if err == nil {
			b.mayChange(t, permission)
		}
		return t, err
	}
	if rel.Source.Place == execute.InVariable {
		for _, v := range b.Env.Tables {
			if v.Slot == rel.Source.Slot && v.ReadOnly {
				return nil, fault.New(10700, v.Table.Name)
			}
		}
	}
	if rel.Source.Place == execute.InInserted || rel.Source.Place == execute.InDeleted {
		return nil, fault.New(286)
	}
	t := &target{source: src, Rel: rel, from: rel.Source, Hints: rel.Hints}
	for i := range rel.Source.Table.Columns {
		t.ordinals = append(t.ordinals, i)
	}
	if table := t.Table(); rel.Source.Place == execute.InCatalog && !table.Temporary {
		t.right = b.needs(permission, table)
		t.Instead = b.hasInstead(table.Triggers, permission)
	}
	return t, nil
}

// hasInstead reports whether an INSTEAD OF trigger takes the place of an event. What such a trigger does itself to its
// table is done.
func (b *Binder) hasInstead(triggers []*schema.Module, event string) bool {
	for _, m := range triggers {
		def, ok := m.Stmt.(*syntax.CreateTrigger)
		if !ok || !def.InsteadOf || m.Disabled || b.Env.Module == m {
			continue
		}
		if slices.Contains(def.Events, event) {
			return true
		}
	}
	return false
}
