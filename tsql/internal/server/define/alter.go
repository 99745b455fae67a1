package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// alterTable executes ALTER TABLE.
func (d *definer) alterTable(s *syntax.AlterTable) error {
	t, err := d.claimTable(s.Name, 4902)
	if err != nil {
		return err
	}
	b := d.newBuilder(t)
	if err := b.mayVersion(s); err != nil {
		return err
	}
	from := len(t.Columns)
	switch {
	case s.Opaque:
		return d.unsupported(s.Span, "ALTER TABLE … "+s.Other)
	case s.Add != nil:
		err = b.addTo(s)
	case s.Other == "ALTER COLUMN":
		err = b.alterColumn(s.Column)
	case strings.HasPrefix(s.Other, "ALTER COLUMN "):
		err = b.alterProperty(s)
	case s.Other == "DROP COLUMN":
		err = b.dropColumns(s)
	case s.Other == "DROP CONSTRAINT":
		err = b.dropConstraints(s)
	case s.Other == "CHECK CONSTRAINT", s.Other == "NOCHECK CONSTRAINT":
		err = b.switchConstraints(s)
	case s.Other == "ENABLE TRIGGER", s.Other == "DISABLE TRIGGER":
		err = b.switchTriggers(s)
	case s.Other == "SET":
		err = b.setOptions(s)
	case s.Other == "DROP PERIOD FOR SYSTEM_TIME":
		err = b.dropPeriod()
	case s.Other == "REBUILD":
		err = b.rebuildTable(s)
	default:
		return d.unsupported(s.Span, "ALTER TABLE … "+s.Other)
	}
	if err == nil {
		err = b.historied(s, from)
	}
	if err != nil {
		return err
	}
	d.modified(t)
	return nil
}

// setOptions executes ALTER TABLE … SET (…).
func (b *builder) setOptions(s *syntax.AlterTable) error {
	options := clone(b.t.Options)
	for _, o := range s.Options {
		if o.Name == "SYSTEM_VERSIONING" {
			v, err := b.versioningOf(o, s.History)
			if err == nil {
				err = b.setVersioning(v)
			}
			if err != nil {
				return err
			}
			continue
		}
		wanted := strings.ToUpper(strings.TrimSpace(o.Value))
		if o.Name != "LOCK_ESCALATION" || !slices.Contains([]string{"AUTO", "TABLE", "DISABLE"}, wanted) {
			return b.unsupported(o.Span, "ALTER TABLE … SET ("+o.Name+" = "+o.Value+")")
		}
		options[o.Name] = wanted
		set(b.definer, &b.t.Data.NoEscalation, wanted == "DISABLE")
	}
	set(b.definer, &b.t.Options, options)
	return nil
}

// rebuildTable executes ALTER TABLE … REBUILD. How rows lie in pages is nothing that this server has.
func (b *builder) rebuildTable(s *syntax.AlterTable) error {
	options := clone(b.t.Options)
	for _, o := range s.Options {
		if !recorded[o.Name] {
			return b.unsupported(o.Span, "the option "+o.Name+" of REBUILD")
		}
		options[o.Name] = o.Value
	}
	set(b.definer, &b.t.Options, options)
	return nil
}

// addTo executes ALTER TABLE … ADD.
func (b *builder) addTo(s *syntax.AlterTable) error {
	b.undo(remember(b.t))
	from := len(b.t.Columns)
	had := struct{ checks, foreign int }{len(b.t.Checks), len(b.t.ForeignKeys)}
	for i := range s.Add.Columns {
		def := &s.Add.Columns[i]
		c, err := b.column(def)
		if err != nil {
			return err
		}
		if !c.Nullable && def.Default == nil && !c.Identity && !c.RowVersion && c.Computed == nil && b.t.Data.Rows() > 0 {
			return fault.New(4901, c.Name, b.t.Name)
		}
	}
	keys := keysOf(s.Add)
	if err := b.choose(keys); err != nil {
		return err
	}
	if err := b.primaryColumns(keys); err != nil {
		return err
	}
	if err := b.period(s.Add); err != nil {
		return err
	}
	if err := b.computed(from); err != nil {
		return err
	}
	if err := b.constraints(s.Add, s.Check); err != nil {
		return err
	}
	if err := b.addKeys(keys, from, s.Add); err != nil {
		return err
	}
	if s.Add.Period != nil {
		if err := b.checkPeriod(); err != nil {
			return err
		}
	}
	for _, o := range b.enlist {
		b.add(o)
	}
	b.db.Bump()
	return b.verify(b.t.Checks[had.checks:], b.t.ForeignKeys[had.foreign:])
}

// addKeys makes the new keys, gives the new columns their values, and builds the indexes.
func (b *builder) addKeys(keys []key, from int, def *syntax.TableDef) error {
	var made []*schema.Index
	for _, k := range keys {
		ix, err := b.addKey(k)
		if err != nil {
			return err
		}
		made = append(made, ix)
	}
	if err := b.fillColumns(from, def); err != nil {
		return err
	}
	for _, ix := range made {
		if err := b.attach(ix); err != nil {
			return err
		}
	}
	return nil
}

// fillColumns gives the new columns values in the rows that are there: what the default says if the column can't be
// NULL or the definition says WITH VALUES.
func (b *builder) fillColumns(from int, def *syntax.TableDef) error {
	if from == len(b.t.Columns) {
		return b.fillStored()
	}
	defaults := map[*schema.Column]*planner.Scalar{}
	for i, c := range b.t.Columns[from:] {
		if c.Default == nil || c.Nullable && !def.Columns[i].WithValues {
			continue
		}
		x, err := planner.Expression(b.env(c.Default.File, b.schemaName()), c.Default.Expr)
		if err != nil {
			return err
		}
		defaults[c] = x
	}
	recompute, err := b.recompute()
	if err != nil {
		return err
	}
	return b.rewrite(len(b.t.Columns), func(values []value.Value) ([]value.Value, error) {
		values = append(slices.Clip(values), make([]value.Value, len(b.t.Columns)-from)...)
		for _, c := range b.t.Columns[from:] {
			v, err := b.initial(c, defaults[c])
			if err != nil {
				return nil, err
			}
			values[c.Ordinal] = v
		}
		return recompute(values)
	})
}

// initial is the value of a new column in a row that is there already.
func (b *builder) initial(c *schema.Column, x *planner.Scalar) (value.Value, error) {
	switch {
	case c.Identity:
		return b.t.Identity.Give(c)
	case c.RowVersion:
		return b.db.NextRowVersion(), nil
	case x == nil:
		return value.Value{}, nil
	}
	v, err := x.Eval(b.Frame())
	if err != nil {
		return v, err
	}
	stored, err := value.Store(v, x.Type, c.Type)
	if err != nil {
		return v, b.t.Truncated(err, c, v, x.Type)
	}
	if stored.IsNull() && !c.Nullable {
		return stored, fault.New(515, c.Name, b.t.FullName(), "UPDATE")
	}
	return stored, nil
}

// switchConstraints executes ALTER TABLE … CHECK CONSTRAINT and NOCHECK CONSTRAINT.
func (b *builder) switchConstraints(s *syntax.AlterTable) error {
	b.undo(remember(b.t))
	off := s.Other == "NOCHECK CONSTRAINT"
	var checks []*schema.Check
	var foreign []*schema.ForeignKey
	for _, name := range s.Names {
		ck, fk := b.checkNamed(name.Value), b.foreignNamed(name.Value)
		switch {
		case ck != nil:
			checks = append(checks, ck)
		case fk != nil:
			foreign = append(foreign, fk)
		default:
			return followed(fault.New(4917, name.Value), 4916)
		}
	}
	if len(s.Names) == 0 {
		checks, foreign = b.t.Checks, b.t.ForeignKeys
	}
	for _, ck := range checks {
		ck.Disabled = off
		ck.Untrusted = off || s.Check != "CHECK" && ck.Untrusted
	}
	for _, fk := range foreign {
		fk.Disabled = off
		fk.Untrusted = off || s.Check != "CHECK" && fk.Untrusted
	}
	b.db.Bump()
	if off || s.Check != "CHECK" {
		return nil
	}
	return b.verify(checks, foreign)
}

func (b *builder) checkNamed(name string) *schema.Check {
	for _, ck := range b.t.Checks {
		if b.fold(ck.Name) == b.fold(name) {
			return ck
		}
	}
	return nil
}

func (b *builder) foreignNamed(name string) *schema.ForeignKey {
	for _, fk := range b.t.ForeignKeys {
		if b.fold(fk.Name) == b.fold(name) {
			return fk
		}
	}
	return nil
}

// switchTriggers executes ALTER TABLE … ENABLE TRIGGER and DISABLE TRIGGER.
func (b *builder) switchTriggers(s *syntax.AlterTable) error {
	for _, name := range s.Names {
		if b.triggerNamed(name.Value) == nil {
			return fault.New(4920, name.Value, b.t.Name)
		}
	}
	for _, tr := range b.t.Triggers {
		if len(s.Names) == 0 || slices.ContainsFunc(s.Names, func(n syntax.Ident) bool { return b.fold(n.Value) == b.fold(tr.Name) }) {
			set(b.definer, &tr.Disabled, s.Other == "DISABLE TRIGGER")
		}
	}
	return nil
}

func (b *builder) triggerNamed(name string) *schema.Module {
	for _, tr := range b.t.Triggers {
		if b.fold(tr.Name) == b.fold(name) {
			return tr
		}
	}
	return nil
}

// switchTrigger executes ENABLE TRIGGER and DISABLE TRIGGER.
func (d *definer) switchTrigger(s *syntax.SwitchTrigger) error {
	if s.On == nil {
		return d.unsupported(s.Span, "a trigger of the database or the server")
	}
	t, err := d.claimTable(s.On, 1088)
	if err != nil {
		return err
	}
	other := "DISABLE TRIGGER"
	if s.Enable {
		other = "ENABLE TRIGGER"
	}
	a := &syntax.AlterTable{Span: s.Span, Name: s.On, Other: other}
	for _, n := range s.Names {
		a.Names = append(a.Names, n.Last())
	}
	return d.newBuilder(t).switchTriggers(a)
}
