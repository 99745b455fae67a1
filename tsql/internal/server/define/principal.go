package define

import (
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// principal executes CREATE and ALTER of roles, users and logins.
func (d *definer) principal(s *syntax.CreatePrincipal) error {
	if s.Detail == nil {
		return d.unsupported(s.Span, "this form of "+s.Words)
	}
	switch s.Words {
	case "CREATE ROLE":
		return d.createRole(s)
	case "ALTER ROLE":
		return d.alterRole(s)
	case "CREATE USER":
		return d.createUser(s)
	case "ALTER USER":
		return d.alterUser(s)
	case "CREATE LOGIN":
		return d.createLogin(s)
	default:
		return d.alterLogin(s)
	}
}

// addPrincipal enters a user or a role.
func (d *definer) addPrincipal(p *schema.Principal) {
	db := d.db
	db.AddPrincipal(p)
	d.undo(func() { db.RemovePrincipal(p) })
}

// createRole executes CREATE ROLE.
func (d *definer) createRole(s *syntax.CreatePrincipal) error {
	name := s.Name.Value
	if !d.may("CREATE ROLE") {
		return fault.New(15247)
	}
	owner := d.user()
	if s.Detail.Action == "AUTHORIZATION" {
		if owner = d.db.Principal(s.Detail.Name.Value); owner == nil || !d.mayBe(owner) {
			return fault.New(15151, "find", "principal", s.Detail.Name.Value)
		}
	}
	if err := checkName(name); err != nil {
		return err
	}
	if d.db.Principal(name) != nil {
		return fault.New(15023, name)
	}
	d.addPrincipal(&schema.Principal{Name: name, Role: true, Owner: owner})
	return nil
}

// alterRole executes ALTER ROLE … ADD MEMBER, DROP MEMBER and WITH NAME.
func (d *definer) alterRole(s *syntax.CreatePrincipal) error {
	role := d.db.Principal(s.Name.Value)
	switch {
	case role == nil || !role.Role || !d.mayAlterRole(role):
		return fault.New(15151, "alter", "role", s.Name.Value)
	case role == d.db.Public():
		return fault.New(15081)
	case s.Detail.Action == "ADD MEMBER", s.Detail.Action == "DROP MEMBER":
		return d.member(role, s.Detail.Name.Value, s.Detail.Action == "ADD MEMBER")
	}
	name := unquote(option(s.Detail.Options, "NAME").Value)
	if name == "" {
		return d.unsupported(s.Span, "this form of ALTER ROLE")
	}
	if role.Fixed {
		return fault.New(15150, "alter", "role", role.Name)
	}
	return d.renamePrincipal(role, name)
}

// mayAlterRole reports whether the user may change the members of a role. Those of fixed roles are for db_owner.
func (d *definer) mayAlterRole(role *schema.Principal) bool {
	if role.Fixed {
		return d.db.IsMember(d.user(), d.db.Principal("db_owner"))
	}
	return d.db.May(d.user(), "ALTER", schema.Securable{Class: "ROLE", ID: role.ID})
}

// member adds a member to a role or takes it out.
func (d *definer) member(role *schema.Principal, name string, add bool) error {
	p := d.db.Principal(name)
	switch {
	case p == nil:
		return fault.New(15151, "add", "principal", name)
	case p == d.db.Dbo(), p == d.db.Public(), p.Name == "sys", p.Name == "INFORMATION_SCHEMA", p.Fixed && p.Role:
		return fault.New(15405, p.Name)
	case p == role, add && slices.Contains(d.db.Roles(role), p):
		return fault.New(15413)
	}
	members := maps.Clone(p.MemberOf)
	if add {
		members[role] = true
	} else {
		delete(members, role)
	}
	set(d, &p.MemberOf, members)
	return nil
}

// renamePrincipal gives a user or a role another name.
func (d *definer) renamePrincipal(p *schema.Principal, name string) error {
	if other := d.db.Principal(name); other != nil && other != p {
		return fault.New(15023, name)
	}
	db, old := d.db, p.Name
	db.RemovePrincipal(p)
	p.Name = name
	db.AddPrincipal(p)
	d.undo(func() {
		db.RemovePrincipal(p)
		p.Name = old
		db.AddPrincipal(p)
	})
	return nil
}

// createUser executes CREATE USER.
func (d *definer) createUser(s *syntax.CreatePrincipal) error {
	name := s.Name.Value
	if !d.may("ALTER ANY USER") {
		return fault.New(15247)
	}
	if d.db.Principal(name) != nil {
		return fault.New(15023, name)
	}
	if err := checkName(name); err != nil {
		return err
	}
	u := &schema.Principal{Name: name, DefaultSchema: "dbo"}
	if s.Detail.Action != "WITHOUT LOGIN" {
		login := name
		if s.Detail.Name != nil {
			login = s.Detail.Name.Value
		}
		if u.Login = d.Server().Login(login); u.Login == nil {
			return fault.New(15007, login)
		}
		for _, other := range d.db.Principals {
			if other.Login == u.Login {
				return fault.New(15063)
			}
		}
	}
	if err := d.userOptions(u, s.Detail.Options, false); err != nil {
		return err
	}
	d.addPrincipal(u)
	d.grant("DATABASE", 0, "CONNECT", u)
	return nil
}

// userOptions enters what WITH says of a user.
func (d *definer) userOptions(u *schema.Principal, options []syntax.Option, altering bool) error {
	for _, o := range options {
		v := unquote(o.Value)
		switch {
		case o.Name == "DEFAULT_SCHEMA":
			if strings.EqualFold(v, "NULL") {
				v = "dbo"
			}
			set(d, &u.DefaultSchema, v)
		case o.Name == "NAME" && altering:
			if err := d.renamePrincipal(u, v); err != nil {
				return err
			}
		case o.Name == "LOGIN" && altering:
			login := d.Server().Login(v)
			if login == nil {
				return fault.New(15007, v)
			}
			set(d, &u.Login, login)
		default:
			return d.unsupported(o.Span, "the option "+o.Name+" of a user")
		}
	}
	return nil
}

// alterUser executes ALTER USER.
func (d *definer) alterUser(s *syntax.CreatePrincipal) error {
	u := d.db.Principal(s.Name.Value)
	if u == nil || u.Role || u.Fixed && u.Name != "dbo" ||
		!d.db.May(d.user(), "ALTER", schema.Securable{Class: "USER", ID: u.ID}) && u != d.user() {
		return fault.New(15151, "alter", "user", s.Name.Value)
	}
	if u.Fixed {
		return fault.New(15150, "alter", "user", u.Name)
	}
	return d.userOptions(u, s.Detail.Options, true)
}

// dropPrincipal drops a user or a role that owns nothing.
func (d *definer) dropPrincipal(word string, name *syntax.ObjectName, ifExists bool) error {
	what := strings.ToLower(word)
	p := d.db.Principal(name.Last().Value)
	switch {
	case p == nil && ifExists:
		return nil
	case p == nil || p.Role != (word == "ROLE") || !d.db.May(d.user(), "ALTER", schema.Securable{Class: word, ID: p.ID}):
		return fault.New(15151, "drop", what, name.Last().Value)
	case p.Fixed:
		return fault.New(15150, "drop", what, p.Name)
	}
	if err := d.ownsNothing(p); err != nil {
		return err
	}
	for _, other := range d.db.Principals {
		if p.Role && other.MemberOf[p] {
			return fault.New(15144)
		}
	}
	db := d.db
	setList(d, &db.Permissions, slices.DeleteFunc(slices.Clone(db.Permissions), func(g *schema.Permission) bool {
		return g.Grantee == p || g.Class == word && g.Major == p.ID
	}))
	db.RemovePrincipal(p)
	d.undo(func() { db.AddPrincipal(p) })
	return nil
}

// ownsNothing returns an error if a principal owns something in the database.
func (d *definer) ownsNothing(p *schema.Principal) error {
	for _, s := range d.db.Schemas {
		if s.Owner == p {
			return fault.New(15138, "schema")
		}
	}
	for _, o := range d.db.Objects {
		if o.Head().Owner == p {
			return fault.New(15183)
		}
	}
	for _, other := range d.db.Principals {
		if other.Owner == p {
			return fault.New(15421)
		}
	}
	for _, o := range d.db.Objects {
		if m, ok := o.(*schema.Module); ok && m.As == p {
			return fault.New(15136)
		}
	}
	return nil
}

// createLogin executes CREATE LOGIN … WITH PASSWORD.
func (d *definer) createLogin(s *syntax.CreatePrincipal) error {
	name := s.Name.Value
	switch {
	case !d.mayAlterLogins():
		return fault.New(15247)
	case d.Server().Login(name) != nil:
		return fault.New(15025, name)
	case !syntax.HasOption(s.Detail.Options, "PASSWORD"):
		return d.unsupported(s.Span, "a login without a password")
	}
	if err := checkName(name); err != nil {
		return err
	}
	server := d.Server()
	login := server.AddLogin(name, "")
	d.undo(func() { server.RemoveLogin(login) })
	return d.loginOptions(login, s.Detail.Options)
}

// mayAlterLogins reports whether the login may make others.
func (d *definer) mayAlterLogins() bool {
	return d.Server().MayLogin(d.Login(), "ALTER ANY LOGIN", nil)
}

// loginOptions enters what WITH says of a login.
func (d *definer) loginOptions(login *schema.Login, options []syntax.Option) error {
	for _, o := range options {
		v := unquote(o.Value)
		switch o.Name {
		case "PASSWORD":
			text, _, _ := strings.Cut(o.Value, " MUST_CHANGE")
			set(d, &login.Password, unquote(text))
		case "DEFAULT_DATABASE":
			set(d, &login.DefaultDatabase, v)
		case "NAME":
			server, old := d.Server(), login.Name
			if server.Login(v) != nil {
				return fault.New(15025, v)
			}
			server.RemoveLogin(login)
			login.Name = v
			server.RestoreLogin(login)
			d.undo(func() {
				server.RemoveLogin(login)
				login.Name = old
				server.RestoreLogin(login)
			})
		case "CHECK_POLICY", "CHECK_EXPIRATION", "DEFAULT_LANGUAGE", "OLD_PASSWORD", "SID":
		default:
			return d.unsupported(o.Span, "the option "+o.Name+" of a login")
		}
	}
	return nil
}

// alterLogin executes ALTER LOGIN.
func (d *definer) alterLogin(s *syntax.CreatePrincipal) error {
	login := d.Server().Login(s.Name.Value)
	if login == nil || !d.mayAlterLogins() && login.SID != d.Login().SID {
		return fault.New(15151, "alter", "login", s.Name.Value)
	}
	switch s.Detail.Action {
	case "ENABLE", "DISABLE":
		if !d.mayAlterLogins() {
			return fault.New(15151, "alter", "login", s.Name.Value)
		}
		set(d, &login.Disabled, s.Detail.Action == "DISABLE")
	}
	return d.loginOptions(login, s.Detail.Options)
}

// dropLogin executes DROP LOGIN. Users of it stay, without a login.
func (d *definer) dropLogin(name *syntax.ObjectName) error {
	login := d.Server().Login(name.Last().Value)
	switch {
	case login == nil || !d.mayAlterLogins():
		return fault.New(15151, "drop", "login", name.Last().Value)
	case login.SID == d.Login().SID, d.LoggedIn(login):
		return fault.New(15434, login.Name)
	}
	for _, db := range d.Server().Databases {
		if db.Owner == login {
			return fault.New(15174, login.Name)
		}
	}
	server := d.Server()
	setList(d, &server.Permissions, slices.DeleteFunc(slices.Clone(server.Permissions), func(g *schema.LoginPermission) bool {
		return g.Grantee == login || g.On == login
	}))
	server.RemoveLogin(login)
	d.undo(func() { server.RestoreLogin(login) })
	return nil
}

// serverRoles are the fixed roles of the server.
var serverRoles = strings.Fields("sysadmin serveradmin securityadmin processadmin setupadmin bulkadmin diskadmin dbcreator")

// alterServerRole executes ALTER SERVER ROLE.
func (d *definer) alterServerRole(s *syntax.AlterServerRole) error {
	role := strings.ToLower(s.Name.Value)
	if !slices.Contains(serverRoles, role) || !d.Login().Sysadmin {
		return fault.New(15151, "alter", "server role", s.Name.Value)
	}
	login := d.Server().Login(s.Member.Value)
	if login == nil {
		return fault.New(15151, "add", "principal", s.Member.Value)
	}
	add := s.Action == "ADD MEMBER"
	if role == "sysadmin" {
		if !add && login.Name == "sa" {
			return fault.New(15405, "sa")
		}
		set(d, &login.Sysadmin, add)
		return nil
	}
	roles := maps.Clone(login.Roles)
	delete(roles, role)
	if add {
		roles[role] = true
	}
	set(d, &login.Roles, roles)
	return nil
}
