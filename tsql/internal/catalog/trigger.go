package catalog

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// createTrigger enters a trigger, in place of one of its name. Triggers have no map of their own: what asks for them
// asks for those of a table.
func (b *builder) createTrigger(s *syntax.CreateTrigger) {
	t := &Trigger{Place: b.place(s.Name), Def: s}
	if s.Table != nil {
		t.Table, _ = b.c.Resolve(s.Table) // of another database: package analyze reports it
	}
	// A trigger is in the schema of its table, written or not.
	t.Name = Name{Schema: t.Table.Schema, Name: s.Name.Last().Value}
	b.dropTriggers(func(old *Trigger) bool { return old.Name.Key() == t.Name.Key() })
	b.c.Triggers = append(b.c.Triggers, t)
}

// dropTriggers removes triggers.
func (b *builder) dropTriggers(which func(*Trigger) bool) {
	b.c.Triggers = slices.DeleteFunc(b.c.Triggers, which)
}

// dropTriggersNamed is DROP TRIGGER dbo.a, dbo.b. One that isn't known is none of this package's business.
func (b *builder) dropTriggersNamed(names []*syntax.ObjectName) {
	for _, n := range names {
		if name, err := b.c.Resolve(n); err == nil {
			b.dropTriggers(func(t *Trigger) bool { return t.Name.Key() == name.Key() })
		}
	}
}

// switchTriggers is ENABLE TRIGGER and DISABLE TRIGGER of a table, as a statement or as an action of ALTER TABLE. Names
// are compared without their schema, which is that of the table. No names are all of them.
func (b *builder) switchTriggers(on *syntax.ObjectName, names []syntax.Ident, enable bool) {
	if on == nil {
		return // of the database or of the server
	}
	table, err := b.c.Resolve(on)
	if err != nil {
		return
	}
	for _, t := range b.c.Triggers {
		named := slices.ContainsFunc(names, func(id syntax.Ident) bool { return Fold(id.Value) == Fold(t.Name.Name) })
		if t.Table.Key() == table.Key() && (named || len(names) == 0) {
			t.Disabled = !enable
		}
	}
}

// switchTrigger applies the statement.
func (b *builder) switchTrigger(s *syntax.SwitchTrigger) {
	names := make([]syntax.Ident, len(s.Names))
	for i, n := range s.Names {
		names[i] = n.Last()
	}
	b.switchTriggers(s.On, names, s.Enable)
}

// Triggered returns the enabled trigger of a table or a view that an action (INSERT, UPDATE or DELETE) fires, or nil.
func (c *Catalog) Triggered(table Name, action string) *Trigger {
	for _, t := range c.Triggers {
		if !t.Disabled && t.Table.Key() == table.Key() && slices.Contains(t.Def.Events, action) {
			return t
		}
	}
	return nil
}
