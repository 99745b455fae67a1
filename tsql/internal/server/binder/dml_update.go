package binder

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// SetItem is one element of SET.
type SetItem struct {
	Ordinal  int // of the column; -1 if there is none
	Variable int // the slot of the variable; -1 if there is none
	Node     *Node
	Type     value.Type // of the variable
	From     value.Type // of what it is assigned
}

// Update is an UPDATE, or that of a MERGE.
type Update struct {
	*Modified // nil in a MERGE

	Rules   *Rules
	Outputs []*Output
	Set     []SetItem
	// Together says that rows have to be changed all at once, as each may take a key that another one gives up.
	Together bool
}

// Modified is what UPDATE and DELETE have in common: the rows that they find.
type Modified struct {
	Target *target
	scope  *scope // with the tables of FROM
	Block  *Block
	// Once says that a row may be found several times, because it is joined to others.
	Once bool
}

// modifies binds the target, FROM, WHERE and TOP of UPDATE and DELETE.
func (b *Binder) modifies(with []*syntax.CTE, to syntax.TableSource, from []syntax.TableSource, where syntax.Expr, top *syntax.Top,
	options []syntax.Option, permission string,
) (*Modified, error) {
	outer := &scope{}
	if err := b.with(outer, with); err != nil {
		return nil, err
	}
	if err := b.option(options); err != nil {
		return nil, err
	}
	m := &Modified{scope: &scope{outer: outer.outer, ctes: outer.ctes, level: level{Clause: lookup.InFrom}}, Block: &Block{}}
	if err := b.findTarget(m, outer, to, from, permission); err != nil {
		return nil, err
	}
	var err error
	if m.Block.Where, err = b.conditions(m.scope.in(lookup.InWhere), where); err != nil {
		return nil, err
	}
	if top != nil {
		if m.Block.Top, err = b.topOf(outer, top); err != nil {
			return nil, err
		}
	}
	if m.Target.Rel != nil {
		b.writes(m.Target)
	}
	_, alone := m.Block.From.(*TableRel)
	m.Once = !alone
	return m, nil
}

// findTarget binds FROM and finds the target there, or joins it to the tables of FROM.
func (b *Binder) findTarget(m *Modified, outer *scope, to syntax.TableSource, from []syntax.TableSource, permission string) error {
	var err error
	if len(from) > 0 {
		if m.Block.From, err = b.from(m.scope, from); err != nil {
			return err
		}
		if m.Target, err = b.joined(m.scope, to, permission); err != nil {
			return err
		}
	}
	if m.Target != nil {
		// A hint behind the target's name counts as one behind the table in FROM.
		return b.targetHints(m.Target, to)
	}
	if m.Target, err = b.namedTarget(outer, to, permission); err != nil {
		return err
	}
	m.scope.Sources = append([]*Source{m.Target.source}, m.scope.Sources...)
	if m.Block.From == nil {
		m.Block.From = m.Target.source.Rel
	} else {
		m.Block.From = &JoinRel{Kind: "INNER", X: m.Target.source.Rel, Y: m.Block.From}
	}
	return nil
}

// targetHints adds the hints behind the name of a target that is in FROM.
func (b *Binder) targetHints(t *target, to syntax.TableSource) error {
	ref, ok := to.(*syntax.TableRef)
	if !ok || len(ref.Hints) == 0 || t.Rel == nil {
		return nil
	}
	hints, err := b.writingHints(ref)
	if err == nil {
		t.Rel.Hints = hints
	}
	return err
}

// Update binds UPDATE.
func (b *Binder) Update(s *syntax.Update) (*Update, error) {
	m, err := b.modifies(s.With, s.Target, s.From, s.Where, s.Top, s.Options, "UPDATE")
	if err != nil {
		return nil, err
	}
	if err := b.positioned(m, s.Cursor, s.From, s.Set, s.Span); err != nil {
		return nil, err
	}
	if err := m.Target.noHistory(13561); err != nil {
		return nil, err
	}
	u, err := b.rulesOf(m.Target.from, map[*schema.Table]*Rules{})
	if err != nil {
		return nil, err
	}
	if m.Target.Instead {
		u.InsteadOf = "UPDATE"
	}
	up := &Update{Modified: m, Rules: u}
	if up.Set, err = b.sets(m.scope.in(lookup.InSet), m.Target, s.Set); err != nil {
		return nil, err
	}
	if len(m.Target.check) > 0 {
		if err := u.viewOption(m.Target); err != nil {
			return nil, err
		}
	}
	up.note()
	up.Outputs, err = b.changeOutputs(m, u, s.Output, "UPDATE")
	return up, err
}

// changeOutputs binds OUTPUT of UPDATE and DELETE. It sees the tables of FROM too, except the target itself.
func (b *Binder) changeOutputs(m *Modified, u *Rules, o *syntax.Output, event string) ([]*Output, error) {
	sources := []*Source{u.After, u.Before}
	if event == "DELETE" {
		sources = sources[1:]
	}
	for _, src := range m.scope.Sources {
		if src != m.Target.source {
			sources = append(sources, src)
		}
	}
	var list []*Output
	err := m.Target.readingRows(u, func() (err error) {
		list, err = b.outputs(&scope{outer: m.scope.outer, ctes: m.scope.ctes, level: level{Sources: sources}}, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, noTriggers(m.Target, list, event)
}

// note keeps which columns are set.
func (up *Update) note() {
	up.Rules.Sets = map[int]bool{}
	for _, a := range up.Set {
		if a.Ordinal >= 0 {
			up.Rules.Sets[a.Ordinal] = true
		}
	}
	up.Together = movesUnique(up.Rules.From.Table, up.Rules.Sets)
}

// sets binds SET. Variables are assigned before columns, whatever the order of the text.
func (b *Binder) sets(s *scope, t *target, list []syntax.Assignment) ([]SetItem, error) {
	var out []SetItem
	seen := map[int]bool{}
	for i := range list {
		a, err := b.set(s, t, &list[i])
		if err != nil {
			return nil, err
		}
		if a.Ordinal >= 0 {
			if seen[a.Ordinal] {
				return nil, fault.New(264, t.Table().Columns[a.Ordinal].Name)
			}
			seen[a.Ordinal] = true
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(x, y SetItem) int { return rank(x) - rank(y) })
	return out, nil
}

// rank puts assignments to variables alone before the others.
func rank(a SetItem) int {
	if a.Ordinal < 0 {
		return 0
	}
	return 1
}

// set binds one element of SET.
func (b *Binder) set(s *scope, t *target, x *syntax.Assignment) (SetItem, error) {
	a := SetItem{Ordinal: -1, Variable: -1}
	var err error
	if x.Column != nil {
		if a.Ordinal, err = b.setColumn(t, x.Column); err != nil {
			return a, err
		}
	}
	if a.Node, err = b.setValue(s, t, x, a.Ordinal); err != nil {
		return a, err
	}
	if x.Variable != nil {
		v := b.Env.Variables[b.Fold(x.Variable.Name)]
		if v == nil {
			return a, fault.New(137, x.Variable.Name)
		}
		a.Variable, a.Type = v.Slot, v.Type
		if _, err = b.implicitly(a.Node, v.Type); err != nil {
			return a, err
		}
	}
	a.From = a.Node.Type
	return a, nil
}

// setColumn finds the column that is set. It may be qualified by the target's name or alias.
func (b *Binder) setColumn(t *target, ref *syntax.ColumnRef) (int, error) {
	ordinal, err := b.ordinal(t, ref.Last().Value)
	if err != nil {
		return 0, err
	}
	switch c := t.Table().Columns[ordinal]; {
	case c.Identity && t.view == nil:
		return 0, fault.New(8102, c.Name)
	case c.Computed != nil:
		return 0, fault.New(271, c.Name)
	case c.RowVersion:
		return 0, fault.New(272)
	case c.Generated != "":
		return 0, fault.New(13537, t.Table().FullName())
	}
	return ordinal, nil
}

// setValue binds what is assigned, converted to the column's type if there is one.
func (b *Binder) setValue(s *scope, t *target, x *syntax.Assignment, ordinal int) (*Node, error) {
	table := t.Table()
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
		var old *Node
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
func (b *Binder) targetColumn(t *target, ref *syntax.ColumnRef) (*Node, error) {
	name := ref.Last().Value
	for i, c := range t.source.columns {
		if b.Same(c.name, name) {
			return t.source.Column(i)
		}
	}
	return nil, fault.New(207, name)
}

// movesUnique reports whether an update of some columns may change keys of a unique index, so that rows may have to be
// changed at once.
func movesUnique(t *schema.Table, ordinals map[int]bool) bool {
	for _, ix := range t.Indexes {
		if !ix.Unique {
			continue
		}
		for _, c := range ix.Columns {
			if ordinals[c.Ordinal] || t.Columns[c.Ordinal].Computed != nil {
				return true
			}
		}
		for ref := range syntax.All[*syntax.ColumnRef](ix.Where) {
			if changes(t, ordinals, ref.Last().Value) {
				return true
			}
		}
	}
	return false
}

// changes reports whether a column is among those that are set, whatever the case of its name.
func changes(t *schema.Table, ordinals map[int]bool, name string) bool {
	for ordinal := range ordinals {
		if strings.EqualFold(t.Columns[ordinal].Name, name) {
			return true
		}
	}
	return false
}
