package define

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// createTable executes CREATE TABLE.
func (d *definer) createTable(s *syntax.CreateTable) error {
	versioned, err := d.tableOptions(s)
	if err != nil {
		return err
	}
	t, err := d.newTable(s.Name)
	if err != nil {
		return err
	}
	if err := d.lock(t); err != nil {
		return err
	}
	b := d.newBuilder(t)
	if err := b.define(s.Def); err != nil {
		return err
	}
	if err := giveData(d.db, t, d.envOf); err != nil {
		return err
	}
	if err := d.enlist(b); err != nil || !versioned.on {
		return err
	}
	return b.setVersioning(versioned)
}

// enlist enters a new table with its constraints.
func (d *definer) enlist(b *builder) error {
	t := b.t
	if t.Temporary {
		d.AddTemporary(t)
		d.undo(func() { d.RemoveTemporary(t) })
		return nil
	}
	d.add(t)
	for _, o := range b.enlist {
		d.add(o)
	}
	return nil
}

// newTable makes an empty table of a name that is free.
func (d *definer) newTable(n *syntax.ObjectName) (*schema.Table, error) {
	name := n.Last().Value
	if !isTemporary(name) {
		s, err := d.place(n, "CREATE TABLE", "ALTER")
		if err != nil {
			return nil, err
		}
		return &schema.Table{Header: d.header("U", name, s), Options: map[string]string{}}, nil
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if d.Temporary(name, true) != nil {
		return nil, fault.New(2714, name)
	}
	d.db = d.Server().DatabaseByID(schema.TempID)
	in := &schema.Schema{ID: 1, Name: "dbo", Database: d.db, Owner: d.db.Dbo()}
	return &schema.Table{
		Header: d.header("U", name, in), Temporary: true, Global: d.globalOf(name), Options: map[string]string{},
	}, nil
}

// globalOf is the session to which a temporary object belongs that all sessions see; 0 for one of a local name.
func (d *definer) globalOf(name string) int32 {
	if !strings.HasPrefix(name, "##") {
		return 0
	}
	d.global = true
	return int32(d.Store().Client().ID)
}

// tableOptions checks what follows the columns of a table.
func (d *definer) tableOptions(s *syntax.CreateTable) (versioned versioning, err error) {
	for _, o := range s.Options {
		switch o.Name {
		case "ON", "TEXTIMAGE_ON":
			err = filegroup(o)
		case "SYSTEM_VERSIONING":
			if s.Name.IsTemp() {
				return versioned, d.unsupported(o.Span, "a temporary table with a history")
			}
			versioned, err = d.versioningOf(o, s.History)
		case "DATA_COMPRESSION", "XML_COMPRESSION":
		default:
			err = d.unsupported(o.Span, "the option "+o.Name+" of a table")
		}
		if err != nil {
			return versioned, err
		}
	}
	return versioned, nil
}

// filegroup checks the name of the place where rows are stored: each database has one filegroup and no scheme of
// partitions.
func filegroup(o syntax.Option) error {
	name, columns, partitioned := strings.Cut(o.Value, "(")
	name = unquote(name)
	switch {
	case partitioned && columns != "":
		return fault.New(1921, "partition scheme", name)
	case !strings.EqualFold(name, "PRIMARY") && !strings.EqualFold(name, "default"):
		return fault.New(1921, "filegroup", name)
	default:
		return nil
	}
}

// define adds everything that a definition says to a new table.
func (b *builder) define(def *syntax.TableDef) error {
	for i := range def.Columns {
		if _, err := b.column(&def.Columns[i]); err != nil {
			return err
		}
	}
	keys := keysOf(def)
	if err := b.choose(keys); err != nil {
		return err
	}
	if err := b.primaryColumns(keys); err != nil {
		return err
	}
	if err := b.period(def); err != nil {
		return err
	}
	if err := b.computed(0); err != nil {
		return err
	}
	for _, k := range keys {
		if _, err := b.addKey(k); err != nil {
			return err
		}
	}
	return b.constraints(def, "CHECK")
}

// IntoTable makes the table of SELECT … INTO. Columns have no constraints but NOT NULL, and at most one is an identity
// column, if it comes from one.
func IntoTable(c Context, name *syntax.ObjectName, columns []binder.Column) (*schema.Table, error) {
	d := &definer{Context: c, db: c.Database()}
	t, err := d.newTable(name)
	if err != nil {
		return nil, err
	}
	if err := d.lock(t); err != nil {
		return nil, err
	}
	b := d.newBuilder(t)
	for i, column := range columns {
		if column.Name == "" {
			return nil, fault.New(1038)
		}
		if t.Column(column.Name, d.fold) != nil {
			return nil, fault.New(2705, column.Name, t.Name)
		}
		made := &schema.Column{
			ID: t.NextColumnID(), Ordinal: i, Name: column.Name, Type: intoType(column.Type, b.collation), Nullable: column.Nullable,
		}
		if column.Identity {
			if t.Identity != nil {
				return nil, fault.New(8108, t.Name, t.Columns[t.Identity.Column].Name)
			}
			made.Identity, made.Nullable = true, false
			t.Identity = &schema.Identity{Column: i, Seed: 1, Increment: 1, Next: 1}
		}
		made.RowVersion = made.Type.Kind == sqltype.RowVersion
		t.Columns = append(t.Columns, made)
	}
	if err := giveData(d.db, t, d.envOf); err != nil {
		return nil, err
	}
	return t, d.enlist(b)
}

// intoType is the type of a column that SELECT … INTO makes.
func intoType(t Type, otherwise *value.Collation) Type {
	switch {
	case t.Kind == sqltype.Null:
		return Type{Type: sqltype.Type{Kind: sqltype.Int}}
	case t.IsCharacter() && t.Collation == nil:
		t.Collation = otherwise
	}
	return t
}
