package define

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// dropColumns executes ALTER TABLE … DROP COLUMN.
func (b *builder) dropColumns(s *syntax.AlterTable) error {
	for _, name := range s.Names {
		c := b.t.Column(name.Value, b.fold)
		switch {
		case c == nil && s.IfExists:
			continue
		case c == nil:
			return fault.New(4924, "ALTER TABLE DROP COLUMN", name.Value, b.t.Name)
		case len(b.t.Columns) == 1:
			return fault.New(4923, c.Name, b.t.Name)
		}
		for _, dep := range b.dependents(c) {
			if dep.kind != "column" || dep.name != c.Name {
				return followed(fault.New(5074, dep.kind, dep.name, c.Name), 4922, "ALTER TABLE DROP COLUMN "+c.Name)
			}
		}
		if err := b.dropColumn(c); err != nil {
			return err
		}
	}
	return nil
}

// dropColumn takes a column out of the definition and out of the rows. The columns behind it move up.
func (b *builder) dropColumn(c *schema.Column) error {
	restore := remember(b.t)
	var referrers []func()
	at := c.Ordinal
	b.t.Columns = slices.Delete(slices.Clone(b.t.Columns), at, at+1)
	if b.t.Identity != nil && b.t.Identity.Column == at {
		b.t.Identity = nil
	}
	b.moveUp(at)
	for _, fk := range b.t.Referrers {
		old := fk.Referenced
		fk.Referenced = lowered(fk.Referenced, at)
		referrers = append(referrers, func() { fk.Referenced = old })
	}
	back := func() {
		restore()
		for _, f := range referrers {
			f()
		}
	}
	undo, err := b.t.Data.Rewrite(func(values []value.Value) ([]value.Value, error) {
		return slices.Delete(slices.Clone(values), at, at+1), nil
	})
	if err != nil {
		back()
		return err
	}
	b.undo(func() {
		back() // first, so that keys are made as they were
		undo()
	})
	b.db.Bump()
	return nil
}

// moveUp lowers all ordinals behind one that has gone.
func (b *builder) moveUp(at int) {
	for _, c := range b.t.Columns[at:] {
		c.Ordinal--
	}
	if id := b.t.Identity; id != nil && id.Column > at {
		moved := *id
		moved.Column--
		b.t.Identity = &moved
	}
	for _, ix := range b.t.Indexes {
		ix.Columns = slices.Clone(ix.Columns)
		for i := range ix.Columns {
			if ix.Columns[i].Ordinal > at {
				ix.Columns[i].Ordinal--
			}
		}
		ix.Include = lowered(ix.Include, at)
	}
	for _, ck := range b.t.Checks {
		if ck.Column > at {
			ck.Column--
		}
	}
	for _, df := range b.t.Defaults {
		if df.Column > at {
			df.Column--
		}
	}
	for _, fk := range b.t.ForeignKeys {
		fk.Columns = lowered(fk.Columns, at)
	}
}

// lowered returns ordinals after a column before them has gone.
func lowered(ordinals []int, at int) []int {
	list := slices.Clone(ordinals)
	for i := range list {
		if list[i] > at {
			list[i]--
		}
	}
	return list
}

// dropConstraints executes ALTER TABLE … DROP CONSTRAINT.
func (b *builder) dropConstraints(s *syntax.AlterTable) error {
	for _, name := range s.Names {
		if err := b.dropConstraint(name.Value, s.IfExists); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) dropConstraint(name string, ifExists bool) error {
	is := func(h schema.Header) bool { return b.fold(h.Name) == b.fold(name) }
	t := b.t
	if ck := b.checkNamed(name); ck != nil {
		set(b.definer, &t.Checks, slices.DeleteFunc(slices.Clone(t.Checks), func(c *schema.Check) bool { return c == ck }))
		b.unlist(ck)
		return nil
	}
	for _, df := range t.Defaults {
		if is(df.Header) {
			set(b.definer, &t.Columns[df.Column].Default, nil)
			set(b.definer, &t.Defaults, slices.DeleteFunc(slices.Clone(t.Defaults), func(o *schema.Default) bool { return o == df }))
			b.unlist(df)
			return nil
		}
	}
	if fk := b.foreignNamed(name); fk != nil {
		return b.dropForeign(fk)
	}
	for _, k := range t.Keys {
		if is(k.Header) {
			return b.dropKey(k)
		}
	}
	if ifExists {
		return nil
	}
	return followed(fault.New(3728, name), 3727)
}

// unlist takes a constraint out of the catalog, if it is there.
func (b *builder) unlist(o schema.Object) {
	if b.db.Object(o.Head().ID) == o {
		b.remove(o)
	}
	b.db.Bump()
}

// dropForeign drops a foreign key.
func (b *builder) dropForeign(fk *schema.ForeignKey) error {
	to := fk.References
	if to != b.t {
		if err := b.Statement().LockSchema(b.db.ID, to.ID, lock.SchM); err != nil {
			return err
		}
	}
	not := func(o *schema.ForeignKey) bool { return o == fk }
	set(b.definer, &to.Referrers, slices.DeleteFunc(slices.Clone(to.Referrers), not))
	set(b.definer, &b.t.ForeignKeys, slices.DeleteFunc(slices.Clone(b.t.ForeignKeys), not))
	b.unlist(fk)
	return nil
}

// dropKey drops a primary key or a unique constraint with its index. Without its clustered index the table is a heap.
func (b *builder) dropKey(k *schema.Key) error {
	for _, fk := range b.t.Referrers {
		if fk.Key == k.Index {
			name := ""
			if child := tableOf(b.db, fk); child != nil {
				name = child.Name
			}
			return followed(fault.New(3725, k.Name, name, fk.Name), 3727)
		}
	}
	if k.Primary && b.t.History != nil {
		return fault.New(13557, b.t.FullName())
	}
	set(b.definer, &b.t.Keys, slices.DeleteFunc(slices.Clone(b.t.Keys), func(o *schema.Key) bool { return o == k }))
	b.unlist(k)
	return b.dropIndexOf(k.Index)
}

// dropIndexOf takes an index out of the table. Without its clustered index the table is a heap.
func (b *builder) dropIndexOf(ix *schema.Index) error {
	list := without(b.t.Indexes, ix)
	if !ix.Clustered {
		set(b.definer, &b.t.Indexes, list)
		return b.detach(ix)
	}
	h := heap(b.t)
	set(b.definer, &b.t.Indexes, slices.Insert(list, 0, h))
	if err := b.detach(ix); err != nil {
		return err
	}
	h.Data = b.t.Data.Indexes()[0]
	return nil
}
