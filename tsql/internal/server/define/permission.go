package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// permission executes GRANT, DENY and REVOKE.
func (d *definer) permission(s *syntax.Permission) error {
	if s.Class == "LOGIN" || s.On == nil && slices.ContainsFunc(s.Permissions, isOfServer) {
		return d.serverPermission(s)
	}
	on, t, err := d.securable(s)
	if err != nil {
		return err
	}
	grantor := d.user()
	if s.As != nil {
		if grantor = d.db.Principal(s.As.Value); grantor == nil || !d.mayBe(grantor) {
			return fault.New(15151, "find", "principal", s.As.Value)
		}
	}
	for _, to := range s.To {
		grantee := d.db.Principal(to.Value)
		switch {
		case grantee == nil:
			return fault.New(15151, "find", "user", to.Value)
		case grantee == d.db.Dbo(), grantee.Name == "sys", grantee.Name == "INFORMATION_SCHEMA", grantee == d.user():
			return fault.New(4624)
		case grantee.Fixed && grantee.Role && grantee != d.db.Public():
			return fault.New(4617)
		}
		for i := range s.Permissions {
			if err := d.change(s, i, on, t, grantee, grantor); err != nil {
				return err
			}
		}
	}
	return nil
}

// securable finds what a permission is on. Without ON it is the database.
func (d *definer) securable(s *syntax.Permission) (schema.Securable, schema.Object, error) {
	name := ""
	if s.On != nil {
		name = s.On.Last().Value
	}
	switch {
	case s.On == nil:
		return schema.Securable{Class: "DATABASE"}, nil, nil
	case s.Class == "" || s.Class == "OBJECT":
		o, err := d.find(s.On)
		if err == nil && o == nil && systems(s.On) {
			err = d.unsupported(s.Span, s.Verb+" … ON "+text(s.On))
		}
		if err == nil && (o == nil || !d.db.Visible(d.user(), o)) {
			err = fault.New(15151, "find", "object", text(s.On))
		}
		if err != nil {
			return schema.Securable{}, nil, err
		}
		return d.db.SecurableOf(o), o, nil
	case s.Class == "SCHEMA":
		found := d.db.Schema(name)
		if found == nil {
			return schema.Securable{}, nil, fault.New(15151, "find", "schema", name)
		}
		return schema.Securable{Class: "SCHEMA", ID: found.ID}, nil, nil
	case s.Class == "TYPE":
		u := d.db.FindType(s.On.Schema(), name, d.first())
		if u == nil {
			return schema.Securable{}, nil, fault.New(15151, "find", "type", text(s.On))
		}
		return schema.Securable{Class: "TYPE", ID: u.ID}, nil, nil
	case s.Class == "DATABASE":
		if d.Server().Database(name) != d.db {
			return schema.Securable{}, nil, fault.New(15151, "find", "database", name)
		}
		return schema.Securable{Class: "DATABASE"}, nil, nil
	case s.Class == "ROLE", s.Class == "USER":
		p := d.db.Principal(name)
		if p == nil || p.Role != (s.Class == "ROLE") {
			return schema.Securable{}, nil, fault.New(15151, "find", strings.ToLower(s.Class), name)
		}
		return schema.Securable{Class: s.Class, ID: p.ID}, nil, nil
	default:
		return schema.Securable{}, nil, d.unsupported(s.Span, s.Verb+" … ON "+s.Class)
	}
}

// shortened are words for permissions that may be written shorter.
var shortened = map[string]string{"EXEC": "EXECUTE", "REFERENCE": "REFERENCES"}

// all is what GRANT ALL means, by the kind of the object.
func all(o schema.Object) []string {
	if o == nil {
		return []string{
			"BACKUP DATABASE", "BACKUP LOG", "CREATE DEFAULT", "CREATE FUNCTION", "CREATE PROCEDURE", "CREATE RULE",
			"CREATE TABLE", "CREATE VIEW",
		}
	}
	switch o.Head().Kind {
	case "P":
		return []string{"EXECUTE"}
	case "FN":
		return []string{"EXECUTE", "REFERENCES"}
	default:
		return []string{"DELETE", "INSERT", "REFERENCES", "SELECT", "UPDATE"}
	}
}

// change grants, denies or revokes one permission of the statement, to one principal.
func (d *definer) change(s *syntax.Permission, i int, on schema.Securable, o schema.Object, to, by *schema.Principal) error {
	name, _, _ := strings.Cut(s.Permissions[i], " (")
	if long := shortened[name]; long != "" {
		name = long
	}
	if name == "ALL" || name == "ALL PRIVILEGES" {
		for _, one := range all(o) {
			if err := d.changeOne(s, schema.Permission{Class: on.Class, Major: on.ID, Permission: one, Grantee: to, Grantor: by}); err != nil {
				return err
			}
		}
		return nil
	}
	if !slices.Contains(schema.PermissionsOf(on.Class), name) || o != nil && !fits(name, o) {
		if known(name) {
			return fault.New(4606, name)
		}
		return fault.New(102, name)
	}
	p := schema.Permission{Class: on.Class, Major: on.ID, Permission: name, Grantee: to, Grantor: by}
	if i >= len(s.Columns) || len(s.Columns[i]) == 0 {
		return d.changeOne(s, p)
	}
	if !slices.Contains([]string{"SELECT", "UPDATE", "REFERENCES"}, name) {
		return fault.New(1020)
	}
	for _, column := range s.Columns[i] {
		id, err := d.columnOf(s, o, column.Value)
		if err != nil {
			return err
		}
		p.Column = id
		if err := d.changeOne(s, p); err != nil {
			return err
		}
	}
	return nil
}

// columnOf is the id of a column of a table or a view.
func (d *definer) columnOf(s *syntax.Permission, o schema.Object, name string) (int32, error) {
	switch o := o.(type) {
	case *schema.Table:
		if c := o.Column(name, d.fold); c != nil {
			return c.ID, nil
		}
	case *schema.Module:
		if o.Kind != "V" {
			return 0, d.unsupported(s.Span, s.Verb+" on columns of a function")
		}
		columns, err := d.Columns(o)
		if err != nil {
			return 0, err
		}
		for i, c := range columns {
			if d.fold(c) == d.fold(name) {
				return int32(i + 1), nil
			}
		}
	default:
		return 0, fault.New(1020)
	}
	return 0, fault.New(207, name)
}

// known reports whether a permission is one of any class.
func known(name string) bool {
	return slices.ContainsFunc([]string{"DATABASE", "SCHEMA", "OBJECT", "TYPE", "ROLE", "USER"}, func(class string) bool {
		return slices.Contains(schema.PermissionsOf(class), name)
	})
}

// fits reports whether a permission may be granted on an object of its kind.
func fits(name string, o schema.Object) bool {
	switch o.Head().Kind {
	case "P", "FN":
		return !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "RECEIVE"}, name)
	case "U", "V", "IF", "TF":
		return name != "EXECUTE" && name != "RECEIVE"
	case "SO":
		return !slices.Contains([]string{"SELECT", "INSERT", "DELETE", "EXECUTE", "RECEIVE"}, name)
	default:
		return true
	}
}

// changeOne enters or removes one permission. It takes CONTROL on the thing, the permission with its grant option, or
// membership of db_securityadmin.
func (d *definer) changeOne(s *syntax.Permission, p schema.Permission) error {
	if !d.mayGrant(p) {
		return d.notGrantable(s)
	}
	same := func(g *schema.Permission) bool {
		return g.Class == p.Class && g.Major == p.Major && g.Column == p.Column && g.Permission == p.Permission && g.Grantee == p.Grantee
	}
	list := slices.Clone(d.db.Permissions)
	if s.Verb == "REVOKE" && s.GrantOption {
		for i, g := range list {
			if same(g) && g.GrantOption {
				without := *g
				without.GrantOption = false
				list[i] = &without
			}
		}
		setList(d, &d.db.Permissions, list)
		return nil
	}
	if p.Column == 0 { // what is said of the whole replaces what was said of columns
		list = slices.DeleteFunc(list, func(g *schema.Permission) bool {
			whole := *g
			whole.Column = 0
			return same(&whole) || same(g)
		})
	} else {
		list = slices.DeleteFunc(list, same)
	}
	if s.Verb != "REVOKE" {
		p.Deny, p.GrantOption = s.Verb == "DENY", s.Verb == "GRANT" && s.GrantOption
		list = append(list, &p)
	}
	setList(d, &d.db.Permissions, list)
	return nil
}

// mayGrant reports whether the user may grant a permission.
func (d *definer) mayGrant(p schema.Permission) bool {
	user := d.user()
	on := schema.Securable{Class: p.Class, ID: p.Major}
	if d.db.May(user, "CONTROL", on) || d.db.IsMember(user, d.db.Principal("db_securityadmin")) {
		return true
	}
	roles := d.db.Roles(user)
	return slices.ContainsFunc(d.db.Permissions, func(g *schema.Permission) bool {
		return g.GrantOption && !g.Deny && g.Class == p.Class && g.Major == p.Major && g.Permission == p.Permission &&
			(g.Column == 0 || g.Column == p.Column) && slices.Contains(roles, g.Grantee)
	})
}

// systems reports whether a name is that of an object of the system, on which this server grants nothing.
func systems(name *syntax.ObjectName) bool {
	database, schemaName, last := part(name, 2), name.Schema(), name.Last().Value
	return sysview.Lookup(schemaName, last) != nil || sysview.LookupFunction(schemaName, last) != nil ||
		sysview.ViewElsewhere(database, schemaName, last) ||
		sysview.FunctionElsewhere(database, schemaName, last) || sysview.ProcedureElsewhere(last)
}

// notGrantable is the error for a user that may not grant.
func (d *definer) notGrantable(s *syntax.Permission) error {
	switch {
	case s.On == nil:
		return fault.New(4613)
	case s.Class == "":
		return fault.New(15151, "find", "object", text(s.On))
	default:
		return fault.New(15151, "find", strings.ToLower(s.Class), text(s.On))
	}
}

// grant enters a permission that a statement brings with it.
func (d *definer) grant(class string, major int32, permission string, to *schema.Principal) {
	p := &schema.Permission{Class: class, Major: major, Permission: permission, Grantee: to, Grantor: d.db.Dbo()}
	setList(d, &d.db.Permissions, append(slices.Clip(d.db.Permissions), p))
}

// forget takes out the permissions on something that has gone.
func (d *definer) forget(class string, major int32) {
	setList(d, &d.db.Permissions, slices.DeleteFunc(slices.Clone(d.db.Permissions), func(g *schema.Permission) bool {
		return g.Class == class && g.Major == major
	}))
}
