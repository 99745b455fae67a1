package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// TableVariable makes what a table variable is like, from its definition. It has no data: Instantiate gives each
// execution its own.
func TableVariable(c Context, name string, def *syntax.TableDef) (*schema.Table, error) {
	d := &definer{Context: c, db: c.Database()}
	t := &schema.Table{
		Header:   d.header("U", name, nil),
		Variable: true, Options: map[string]string{},
	}
	b := d.newBuilder(t)
	if err := b.define(def); err != nil {
		return nil, err
	}
	return t, finishTemplate(b)
}

// finishTemplate gives a table without data its heap, and lets its filters be compiled to find their mistakes.
func finishTemplate(b *builder) error {
	if len(b.t.Indexes) == 0 || b.t.Indexes[0].ID > 1 {
		b.t.Indexes = slices.Insert(slices.Clone(b.t.Indexes), 0, heap(b.t))
	}
	for _, ix := range b.t.Indexes {
		if _, err := spec(b.envOf(ix), ix); err != nil {
			return err
		}
	}
	return nil
}

// Instantiate makes an empty table variable of what TableVariable made, or of a table type. Indexes are in the order of
// the template's.
func Instantiate(template *schema.Table) *schema.Table {
	t := *template
	t.Kind, t.Variable = "U", true
	if template.Identity != nil {
		id := *template.Identity
		id.Next, id.Last = id.Seed, nil
		t.Identity = &id
	}
	t.Data = store.NewTable(t.ID, t.Name)
	t.Data.Private, t.Data.SurvivesRollback = true, true
	if t.Schema != nil && t.Schema.Database != nil {
		t.Data.Database, t.Data.DatabaseName = t.Schema.Database.ID, t.Schema.Database.Name
	}
	t.Indexes = make([]*schema.Index, len(template.Indexes))
	for i, from := range template.Indexes {
		ix := *from
		ix.Table = &t
		t.Indexes[i] = &ix
	}
	for _, ix := range t.Indexes {
		data, err := t.Data.AddIndex(specOf(ix))
		if err != nil {
			panic("define: an index of an empty table: " + err.Error())
		}
		ix.Data = data
	}
	return &t
}

// Filler turns rows that a client sends for a table-valued parameter into rows of the table.
type Filler struct {
	t        *schema.Table
	columns  []*schema.Column // that values are sent for
	defaults map[*schema.Column]*planner.Scalar
	checks   []planner.RowCondition
	compute  func(values []value.Value) ([]value.Value, error)
}

// NewFiller prepares to fill a table variable with rows of so many columns.
func NewFiller(c Context, t *schema.Table, columns int) (*Filler, error) {
	d := &definer{Context: c, db: c.Database()}
	b := d.newBuilder(t)
	f := &Filler{t: t, defaults: map[*schema.Column]*planner.Scalar{}}
	for _, column := range t.Columns {
		if column.Computed != nil {
			continue
		}
		f.columns = append(f.columns, column)
		if column.Default != nil {
			x, err := planner.Expression(d.env(column.Default.File, b.schemaName()), column.Default.Expr)
			if err != nil {
				return nil, err
			}
			f.defaults[column] = x
		}
	}
	if columns != len(f.columns) {
		return nil, fault.New(500, columns, len(f.columns))
	}
	for _, ck := range t.Checks {
		test, err := planner.RowTest(d.env(ck.File, b.schemaName()), t, ck.Expr)
		if err != nil {
			return nil, err
		}
		f.checks = append(f.checks, test)
	}
	var err error
	f.compute, err = b.recompute()
	return f, err
}

// Row makes a row of the values that are sent. of says of which type a value is, and whether the column's default takes
// its place.
func (f *Filler) Row(x *execute.Frame, sent []value.Value, of func(i int) (t value.Type, isDefault bool)) ([]value.Value, error) {
	values := make([]value.Value, len(f.t.Columns))
	for i, c := range f.columns {
		v, err := f.value(x, c, sent[i], of, i)
		if err != nil {
			return nil, err
		}
		if v.IsNull() && !c.Nullable {
			return nil, fault.New(515, c.Name, f.t.FullName(), "INSERT")
		}
		values[c.Ordinal] = v
	}
	for i, check := range f.checks {
		truth, err := check(x, values)
		if err != nil {
			return nil, err
		}
		if truth == execute.False {
			return nil, fault.New(547, "INSERT", "CHECK", f.t.Checks[i].Name, "tempdb", f.t.Name, "")
		}
	}
	values, err := f.compute(values)
	if err != nil {
		return nil, err
	}
	for _, ix := range f.t.Indexes {
		if err := ix.TooLong(values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// value makes the value of one column.
func (f *Filler) value(x *execute.Frame, c *schema.Column, sent value.Value, of func(i int) (value.Type, bool), i int) (value.Value, error) {
	from, isDefault := of(i)
	switch {
	case c.Identity:
		return f.t.Identity.Give(c)
	case c.RowVersion:
		return x.Session.Database().NextRowVersion(), nil
	case isDefault && f.defaults[c] == nil:
		return value.Value{}, nil
	case isDefault:
		v, err := f.defaults[c].Eval(x)
		if err != nil {
			return value.Value{}, err
		}
		sent, from = v, f.defaults[c].Type
	}
	v, err := value.Store(sent, from, c.Type)
	if err != nil {
		return v, f.t.Truncated(err, c, sent, from)
	}
	return v, nil
}

// createType executes CREATE TYPE.
func (d *definer) createType(s *syntax.CreateType) error {
	if err := d.enter(s.Name); err != nil {
		return err
	}
	if err := d.needs("CREATE TYPE"); err != nil {
		return err
	}
	in, err := d.schemaOf(s.Name.Schema(), "ALTER")
	if err != nil {
		return err
	}
	name := s.Name.Last().Value
	if err := checkName(name); err != nil {
		return err
	}
	if d.db.FindType(in.Name, name, "") != nil || sqltype.Known(name) && strings.EqualFold(in.Name, "sys") {
		return fault.New(219, in.Name+"."+name)
	}
	u := &schema.UserType{ID: d.db.NextTypeID(), Name: name, Schema: in, Nullable: !s.NotNull}
	if s.From != nil {
		err = d.aliasType(u, s)
	} else {
		err = d.tableType(u, s)
	}
	if err != nil {
		return err
	}
	db := d.db
	db.AddType(u)
	d.undo(func() { db.RemoveType(u) })
	if u.Table != nil {
		d.add(u.Table)
	}
	return nil
}

// aliasType fills in CREATE TYPE … FROM.
func (d *definer) aliasType(u *schema.UserType, s *syntax.CreateType) error {
	t, user, err := resolveType(d.db, s.From, d.first(), typeOf{1, "type", u.Name})
	switch {
	case err != nil:
		return err
	case user != nil, t.Kind == sqltype.XML, t.Kind == sqltype.RowVersion, t.Kind == sqltype.Cursor, t.Kind == sqltype.Table:
		return fault.New(222, text(s.From.Name))
	}
	u.Type, err = collate(t, "", d.db.Collation)
	return err
}

// tableType fills in CREATE TYPE … AS TABLE. Its table has an id and a name of its own, which sys.table_types shows.
func (d *definer) tableType(u *schema.UserType, s *syntax.CreateType) error {
	for _, o := range s.Options {
		return d.unsupported(o.Span, "the option "+o.Name+" of a table type")
	}
	h := d.header("TT", "", d.db.Schema("sys"))
	h.Name = "TT_" + u.Name + "_" + strings.ToUpper(hex(uint32(h.ID)))
	t := &schema.Table{Header: h, Type: u, Options: map[string]string{}}
	b := d.newBuilder(t)
	if err := b.define(s.Table); err != nil {
		return err
	}
	u.Table = t
	return finishTemplate(b)
}
