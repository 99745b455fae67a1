package sysview

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

var integer = value.Type{Type: sqltype.Type{Kind: sqltype.Int}}

// sid is the security identifier of a login.
func sid(l *schema.Login) Value {
	if l == nil {
		return Value{}
	}
	return value.OfBytes(l.Identifier())
}

// principal is a row of sys.database_principals.
type principal struct {
	*schema.Principal
	db *schema.Database
}

// listPrincipals lists the roles that every database has, who asks with the roles that he is in, and all others for who
// may view definitions.
func listPrincipals(c *Context) ([]principal, error) {
	var list []principal
	for _, p := range c.Database.Principals {
		if c.seesPrincipal(p) {
			list = append(list, principal{p, c.Database})
		}
	}
	slices.SortFunc(list, func(a, b principal) int { return int(a.ID) - int(b.ID) })
	return list, nil
}

func (c *Context) seesPrincipal(p *schema.Principal) bool {
	if c.User == nil || p.Fixed || slices.Contains(c.Database.Roles(c.User), p) {
		return true
	}
	on := schema.Securable{Class: "USER", ID: p.ID}
	if p.Role {
		on.Class = "ROLE"
	}
	return slices.ContainsFunc(schema.PermissionsOf(on.Class), func(permission string) bool {
		return c.Database.May(c.User, permission, on)
	})
}

const principalColumns = `
	name sysname, principal_id int, type char(1), type_desc nvarchar(60)?, default_schema_name sysname?
	create_date datetime, modify_date datetime, owning_principal_id int?, sid varbinary(85)?, is_fixed_role bit
	authentication_type int, authentication_type_desc nvarchar(60)?, default_language_name sysname? = NULL
	default_language_lcid int? = NULL, allow_encrypted_value_modifications bit = 0`

var principalRow = getters[principal]{
	"name":         func(p principal) Value { return str(p.Name) },
	"principal_id": func(p principal) Value { return number(p.ID) },
	"type": func(p principal) Value {
		if p.Role {
			return str("R")
		}
		return str("S")
	},
	"type_desc": func(p principal) Value {
		if p.Role {
			return str("DATABASE_ROLE")
		}
		return str("SQL_USER")
	},
	"default_schema_name": func(p principal) Value {
		if p.Role {
			return Value{}
		}
		return orNull(p.DefaultSchema)
	},
	"create_date": func(p principal) Value { return p.db.Created },
	"modify_date": func(p principal) Value { return p.db.Created },
	"owning_principal_id": func(p principal) Value {
		if p.Owner == nil {
			return Value{}
		}
		return number(p.Owner.ID)
	},
	"sid": func(p principal) Value {
		if p.Role || p.Fixed && p.Login == nil {
			return Value{}
		}
		return value.OfBytes(p.Identifier(p.db))
	},
	"is_fixed_role": func(p principal) Value {
		return flag(p.Role && p.Fixed && p.ID != 0) // public is none
	},
	"authentication_type": func(p principal) Value { return flag(p.Login != nil) },
	"authentication_type_desc": func(p principal) Value {
		if p.Login != nil {
			return str("INSTANCE")
		}
		return str("NONE")
	},
}

// membership is a row of sys.database_role_members.
type membership struct{ role, member *schema.Principal }

// listMemberships lists who is a member of which role. Everybody sees his own.
func listMemberships(c *Context) ([]membership, error) {
	var list []membership
	all := c.may("VIEW DEFINITION")
	principals, err := listPrincipals(c)
	for _, p := range principals {
		for role := range p.MemberOf {
			if all || slices.Contains(c.Database.Roles(c.User), p.Principal) {
				list = append(list, membership{role, p.Principal})
			}
		}
	}
	slices.SortFunc(list, func(a, b membership) int {
		if a.role != b.role {
			return int(a.role.ID) - int(b.role.ID)
		}
		return int(a.member.ID) - int(b.member.ID)
	})
	return list, err
}

// permission is a row of sys.database_permissions.
type permission struct {
	class        int
	word         string
	major, minor int32
	grantee      *schema.Principal
	grantor      *schema.Principal
	name         string
	state        string
}

// classes are the numbers and words of what permissions are on.
var classes = map[string]struct {
	number int
	word   string
}{
	"DATABASE": {0, "DATABASE"}, "OBJECT": {1, "OBJECT_OR_COLUMN"}, "SCHEMA": {3, "SCHEMA"},
	"USER": {4, "DATABASE_PRINCIPAL"}, "ROLE": {4, "DATABASE_PRINCIPAL"}, "TYPE": {6, "TYPE"},
}

// states are what a permission was given by.
var states = map[string]string{"G": "GRANT", "W": "GRANT_WITH_GRANT_OPTION", "D": "DENY"}

// listPermissions lists what was granted and denied: to who asks, or to anybody for who may view definitions. CONNECT,
// which each user has from the start, is listed whether or not somebody has granted it.
func listPermissions(c *Context) ([]permission, error) {
	var list []permission
	add := func(p permission, grantee *schema.Principal) {
		if c.may("VIEW DEFINITION") || slices.Contains(c.Database.Roles(c.User), grantee) {
			list = append(list, p)
		}
	}
	principals, err := listPrincipals(c)
	connected := connects(c.Database)
	for _, p := range principals {
		if p.Login != nil && !p.Role && !connected[p.Principal] {
			add(permission{word: "DATABASE", grantee: p.Principal, grantor: c.Database.Dbo(), name: "CONNECT", state: "G"}, p.Principal)
		}
	}
	for _, p := range c.Database.Permissions {
		class := classes[p.Class]
		row := permission{class.number, class.word, p.Major, p.Column, p.Grantee, p.Grantor, p.Permission, "G"}
		switch {
		case p.Deny:
			row.state = "D"
		case p.GrantOption:
			row.state = "W"
		}
		add(row, p.Grantee)
	}
	return list, err
}

// connects finds whom CONNECT was granted or denied to.
func connects(db *schema.Database) map[*schema.Principal]bool {
	found := map[*schema.Principal]bool{}
	for _, p := range db.Permissions {
		if p.Class == "DATABASE" && p.Permission == "CONNECT" {
			found[p.Grantee] = true
		}
	}
	return found
}

// abbreviations are the codes of the permissions in the type column.
var abbreviations = map[string]string{
	"ALTER": "AL", "ALTER ANY ROLE": "ALRL", "ALTER ANY SCHEMA": "ALSM", "ALTER ANY USER": "ALUS", "CONNECT": "CO",
	"CONTROL": "CL", "CREATE FUNCTION": "CRFN", "CREATE PROCEDURE": "CRPR", "CREATE ROLE": "CRRL", "CREATE SCHEMA": "CRSM",
	"CREATE SEQUENCE": "CRSO", "CREATE SYNONYM": "CRSN", "CREATE TABLE": "CRTB", "CREATE TYPE": "CRTY", "CREATE VIEW": "CRVW",
	"DELETE": "DL", "EXECUTE": "EX", "IMPERSONATE": "IM", "INSERT": "IN", "RECEIVE": "RC", "REFERENCES": "RF",
	"SELECT": "SL", "SHOWPLAN": "SPLN", "TAKE OWNERSHIP": "TO", "UPDATE": "UP", "VIEW CHANGE TRACKING": "VWCT",
	"VIEW DATABASE STATE": "VWDS", "VIEW DEFINITION": "VW",
}

var permissionRow = getters[permission]{
	"class":                func(p permission) Value { return number(p.class) },
	"class_desc":           func(p permission) Value { return str(p.word) },
	"major_id":             func(p permission) Value { return number(p.major) },
	"minor_id":             func(p permission) Value { return number(p.minor) },
	"grantee_principal_id": func(p permission) Value { return number(p.grantee.ID) },
	"grantor_principal_id": func(p permission) Value {
		if p.grantor == nil {
			return number(1)
		}
		return number(p.grantor.ID)
	},
	"type":            func(p permission) Value { return str((abbreviations[p.name] + "    ")[:4]) },
	"permission_name": func(p permission) Value { return str(p.name) },
	"state":           func(p permission) Value { return str(p.state) },
	"state_desc":      func(p permission) Value { return str(states[p.state]) },
}

// serverPrincipal is a row of sys.server_principals: a login, or a fixed role.
type serverPrincipal struct {
	id    int32
	name  string
	login *schema.Login
	c     *Context
}

// serverRoles are the fixed roles of a server with their ids.
var serverRoles = []serverPrincipal{
	{id: 2, name: "public"},
	{id: 3, name: "sysadmin"},
	{id: 4, name: "securityadmin"},
	{id: 5, name: "serveradmin"},
	{id: 6, name: "setupadmin"},
	{id: 7, name: "processadmin"},
	{id: 8, name: "diskadmin"},
	{id: 9, name: "dbcreator"},
	{id: 10, name: "bulkadmin"},
}

// firstLogin is the principal_id of the first login that a script creates. That of sa is 1.
const firstLogin = 256

func loginID(l *schema.Login) int32 {
	if l.SID == 1 {
		return 1
	}
	return firstLogin + l.SID
}

// listServerPrincipals lists the roles and the logins. Who is no administrator sees himself and sa.
func listServerPrincipals(c *Context) ([]serverPrincipal, error) {
	list := slices.Clone(serverRoles)
	logins, err := listLogins(c)
	list = append(list, logins...)
	slices.SortFunc(list, func(a, b serverPrincipal) int { return int(a.id) - int(b.id) })
	return list, err
}

func listLogins(c *Context) ([]serverPrincipal, error) {
	var list []serverPrincipal
	for _, l := range c.Server.Logins {
		if c.Login == nil || c.Login.Sysadmin || l.SID == c.Login.SID || l.SID == 1 || c.Login.Roles["securityadmin"] {
			list = append(list, serverPrincipal{loginID(l), l.Name, l, c})
		}
	}
	slices.SortFunc(list, func(a, b serverPrincipal) int { return int(a.id) - int(b.id) })
	return list, nil
}

var serverPrincipalRow = getters[serverPrincipal]{
	"name":         func(p serverPrincipal) Value { return str(p.name) },
	"principal_id": func(p serverPrincipal) Value { return number(p.id) },
	"sid": func(p serverPrincipal) Value {
		if p.login != nil {
			return sid(p.login)
		}
		return value.OfBytes([]byte{byte(p.id)})
	},
	"type": func(p serverPrincipal) Value {
		if p.login != nil {
			return str("S")
		}
		return str("R")
	},
	"type_desc": func(p serverPrincipal) Value {
		if p.login != nil {
			return str("SQL_LOGIN")
		}
		return str("SERVER_ROLE")
	},
	"is_disabled": func(p serverPrincipal) Value { return flag(p.login != nil && p.login.Disabled) },
	"create_date": func(p serverPrincipal) Value { return masterCreated(p.c) },
	"modify_date": func(p serverPrincipal) Value { return masterCreated(p.c) },
	"default_database_name": func(p serverPrincipal) Value {
		if p.login == nil {
			return Value{}
		}
		return orNull(p.login.DefaultDatabase)
	},
	"default_language_name": func(p serverPrincipal) Value {
		if p.login == nil {
			return Value{}
		}
		return str("us_english")
	},
	"owning_principal_id": func(p serverPrincipal) Value {
		if p.login != nil {
			return Value{}
		}
		return number(1)
	},
	"is_fixed_role": func(p serverPrincipal) Value { return flag(p.login == nil && p.name != "public") },
}

// masterCreated stands for when a login was made, which is not kept.
func masterCreated(c *Context) Value {
	if c == nil {
		return moment(installed)
	}
	if master := c.Server.DatabaseByID(schema.MasterID); master != nil {
		return master.Created
	}
	return moment(installed)
}

// serverMembership is a row of sys.server_role_members.
type serverMembership struct{ role, member int32 }

func listServerMemberships(c *Context) ([]serverMembership, error) {
	var list []serverMembership
	logins, err := listLogins(c)
	for _, l := range logins {
		member := maps.Clone(l.login.Roles)
		if member == nil {
			member = map[string]bool{}
		}
		member["sysadmin"] = l.login.Sysadmin
		for _, role := range serverRoles {
			if member[role.name] {
				list = append(list, serverMembership{role.id, l.id})
			}
		}
	}
	return list, err
}

func principalViews() []*View {
	const server = `
		name sysname, principal_id int, sid varbinary(85)?, type char(1), type_desc nvarchar(60)?, is_disabled bit?
		create_date datetime, modify_date datetime, default_database_name sysname?, default_language_name sysname?
		credential_id int? = NULL`
	return []*View{
		relation("sys.database_principals", principalColumns, listPrincipals, principalRow),
		relation("sys.database_role_members", "role_principal_id int, member_principal_id int", listMemberships,
			getters[membership]{
				"role_principal_id":   func(m membership) Value { return number(m.role.ID) },
				"member_principal_id": func(m membership) Value { return number(m.member.ID) },
			}),
		relation("sys.database_permissions", `
			class tinyint, class_desc nvarchar(60)?, major_id int, minor_id int, grantee_principal_id int
			grantor_principal_id int, type char(4), permission_name nvarchar(128)?, state char(1), state_desc nvarchar(60)?`,
			listPermissions, permissionRow),
		relation("sys.server_principals", server+`
			owning_principal_id int?, is_fixed_role bit`, listServerPrincipals, serverPrincipalRow),
		relation("sys.sql_logins", server+`
			is_policy_checked bit? = 0, is_expiration_checked bit? = 0, password_hash varbinary(256)? = NULL`,
			listLogins, serverPrincipalRow),
		relation("sys.server_role_members", "role_principal_id int, member_principal_id int", listServerMemberships,
			getters[serverMembership]{
				"role_principal_id":   func(m serverMembership) Value { return number(m.role) },
				"member_principal_id": func(m serverMembership) Value { return number(m.member) },
			}),
	}
}
