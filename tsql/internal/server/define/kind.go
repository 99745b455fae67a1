package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// createSynonym executes CREATE SYNONYM. What it stands for need not be there.
func (d *definer) createSynonym(s *syntax.CreateSynonym) error {
	in, err := d.place(s.Name, "CREATE SYNONYM", "ALTER")
	if err != nil {
		return err
	}
	y := &schema.Synonym{Header: d.header("SN", s.Name.Last().Value, in)}
	for _, p := range s.For.Parts {
		y.For = append(y.For, p.Value)
	}
	if len(y.For) == 1 { // the schema is that of who creates it
		y.For = []string{d.first(), y.For[0]}
	}
	if err := d.lock(y); err != nil {
		return err
	}
	d.add(y)
	return nil
}

// createSchema executes CREATE SCHEMA.
func (d *definer) createSchema(s *syntax.CreateSchema) error {
	name := s.Name.Value
	if err := d.needs("CREATE SCHEMA"); err != nil {
		return followed(err, 2759)
	}
	owner := d.user()
	if s.Owner != nil {
		owner = d.db.Principal(s.Owner.Value)
		if owner == nil || owner != d.user() && !d.mayBe(owner) {
			return followed(fault.New(15151, "find", "principal", s.Owner.Value), 2759)
		}
	} else if strings.Contains(strings.ToUpper(d.File().Slice(diag.Span{From: s.From, To: s.Name.From})), "AUTHORIZATION") {
		// CREATE SCHEMA AUTHORIZATION joe: the schema has the name of its owner.
		if owner = d.db.Principal(name); owner == nil || !d.mayBe(owner) {
			return followed(fault.New(15151, "find", "principal", name), 2759)
		}
	}
	if err := checkName(name); err != nil {
		return err
	}
	if d.db.Schema(name) != nil {
		return followed(fault.New(2714, name), 2759)
	}
	made := &schema.Schema{Name: name, Owner: owner}
	db := d.db
	db.AddSchema(made)
	d.undo(func() { db.RemoveSchema(made) })
	return nil
}

// mayBe reports whether the user may act in a principal's name, or is a member of it.
func (d *definer) mayBe(p *schema.Principal) bool {
	if d.user() == d.db.Dbo() || slices.Contains(d.db.Roles(d.user()), p) {
		return true
	}
	if p.Role {
		return d.db.May(d.user(), "ALTER", schema.Securable{Class: "ROLE", ID: p.ID})
	}
	return d.db.May(d.user(), "IMPERSONATE", schema.Securable{Class: "USER", ID: p.ID})
}

// dropSchema drops a schema that nothing is in.
func (d *definer) dropSchema(name *syntax.ObjectName, ifExists bool) error {
	s := d.db.Schema(name.Last().Value)
	switch {
	case s == nil && ifExists:
		return nil
	case s == nil || !d.maySchema("CONTROL", s):
		return fault.New(15151, "drop", "schema", text(name))
	case s.ID <= 4 || s.ID >= 16384:
		return fault.New(15150, "drop", "schema", s.Name)
	}
	if user := inSchema(d.db, s); user != "" {
		return fault.New(3729, "drop schema", s.Name, user)
	}
	db := d.db
	db.RemoveSchema(s)
	d.undo(func() { db.AddSchema(s) })
	d.forget("SCHEMA", s.ID)
	return nil
}

// inSchema returns the name of something in a schema: the first one by its name. It is empty if there is nothing.
func inSchema(db *schema.Database, s *schema.Schema) string {
	var names []string
	for _, o := range s.Objects {
		names = append(names, o.Head().Name)
	}
	for _, t := range db.Types {
		if t.Schema == s {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// alterSchema executes ALTER SCHEMA … TRANSFER. Permissions on what moves are dropped, as SQL Server does.
func (d *definer) alterSchema(s *syntax.AlterSchema) error {
	to := d.db.Schema(s.Name.Value)
	if to == nil || !d.maySchema("ALTER", to) {
		return fault.New(15151, "alter", "schema", s.Name.Value)
	}
	if s.Class == "TYPE" {
		return d.transferType(s, to)
	}
	if s.Class != "" && s.Class != "OBJECT" {
		return d.unsupported(s.Span, "ALTER SCHEMA … TRANSFER "+s.Class)
	}
	o, err := d.claim(s.Object)
	if err != nil {
		return err
	}
	if o == nil || !d.mayObject("CONTROL", o) || o.Head().Parent != 0 {
		return fault.New(15151, "find", "object", text(s.Object))
	}
	if o.Head().Schema == to {
		return nil
	}
	moving := []schema.Object{o}
	if t, ok := o.(*schema.Table); ok {
		if t.History != nil || t.HistoryOf != nil {
			return d.unsupported(s.Span, "ALTER SCHEMA … TRANSFER of a table with a history")
		}
		moving = append(moving, partsOf(t)...)
		for _, fk := range t.ForeignKeys {
			moving = append(moving, fk)
		}
	}
	for _, one := range moving {
		if err := d.free(to, one.Head().Name); err != nil {
			return err
		}
	}
	for _, one := range moving {
		d.remove(one)
		set(d, &one.Head().Schema, to)
		d.add(one)
	}
	if t, ok := o.(*schema.Table); ok {
		set(d, &t.Data.Name, nameOfData(t))
	}
	d.forget("OBJECT", o.Head().ID)
	d.modified(o)
	return nil
}

// transferType moves a type to another schema.
func (d *definer) transferType(s *syntax.AlterSchema, to *schema.Schema) error {
	u := d.db.FindType(s.Object.Schema(), s.Object.Last().Value, d.first())
	if u == nil {
		return fault.New(15151, "find", "type", text(s.Object))
	}
	if d.db.FindType(to.Name, u.Name, "") != nil {
		return fault.New(219, to.Name+"."+u.Name)
	}
	db := d.db
	db.RemoveType(u)
	d.undo(func() { db.AddType(u) })
	set(d, &u.Schema, to)
	db.AddType(u)
	d.undo(func() { db.RemoveType(u) })
	d.forget("TYPE", u.ID)
	return nil
}

// alterAuthorization executes ALTER AUTHORIZATION.
func (d *definer) alterAuthorization(s *syntax.AlterAuthorization) error {
	if s.Class == "DATABASE" {
		return d.databaseOwner(s)
	}
	var to *schema.Principal
	if s.To != nil {
		if to = d.db.Principal(s.To.Value); to == nil || !d.mayBe(to) {
			return fault.New(15151, "find", "principal", s.To.Value)
		}
	}
	name := s.On.Last().Value
	switch s.Class {
	case "SCHEMA":
		found := d.db.Schema(name)
		if found == nil || to == nil || !d.maySchema("TAKE OWNERSHIP", found) {
			return fault.New(15151, "find", "schema", name)
		}
		set(d, &found.Owner, to)
		d.forget("SCHEMA", found.ID)
	case "ROLE":
		role := d.db.Principal(name)
		if role == nil || !role.Role || to == nil || !d.db.May(d.user(), "TAKE OWNERSHIP", schema.Securable{Class: "ROLE", ID: role.ID}) {
			return fault.New(15151, "find", "role", name)
		}
		set(d, &role.Owner, to)
	case "TYPE":
		u := d.db.FindType(s.On.Schema(), name, d.first())
		if u == nil || !d.db.May(d.user(), "TAKE OWNERSHIP", schema.Securable{Class: "TYPE", ID: u.ID}) {
			return fault.New(15151, "find", "type", text(s.On))
		}
		set(d, &u.Owner, to)
		d.forget("TYPE", u.ID)
	case "", "OBJECT":
		o, err := d.claim(s.On)
		if err != nil {
			return err
		}
		if o == nil || o.Head().Parent != 0 || !d.mayObject("TAKE OWNERSHIP", o) {
			return fault.New(15151, "find", "object", text(s.On))
		}
		set(d, &o.Head().Owner, to)
		d.forget("OBJECT", o.Head().ID)
	default:
		return d.unsupported(s.Span, "ALTER AUTHORIZATION ON "+s.Class)
	}
	return nil
}

// databaseOwner gives a database to a login.
func (d *definer) databaseOwner(s *syntax.AlterAuthorization) error {
	db := d.Server().Database(s.On.Last().Value)
	if db == nil || !d.Login().Sysadmin {
		return fault.New(15151, "find", "database", s.On.Last().Value)
	}
	if s.To == nil {
		return fault.New(102, "SCHEMA")
	}
	login := d.Server().Login(s.To.Value)
	if login == nil {
		return fault.New(15151, "find", "principal", s.To.Value)
	}
	set(d, &db.Owner, login)
	set(d, &db.Dbo().Login, login)
	return nil
}
