package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ofServer are the permissions on the server that SQL Server has and a database has not. Those that this server does
// not have are refused.
var ofServer = strings.Split("ADMINISTER BULK OPERATIONS,ALTER ANY AVAILABILITY GROUP,ALTER ANY CREDENTIAL,ALTER ANY DATABASE,"+
	"ALTER ANY ENDPOINT,ALTER ANY EVENT SESSION,ALTER ANY LINKED SERVER,ALTER ANY SERVER AUDIT,ALTER ANY SERVER ROLE,"+
	"ALTER RESOURCES,ALTER SERVER STATE,ALTER SETTINGS,ALTER TRACE,AUTHENTICATE SERVER,CONNECT ANY DATABASE,CONNECT SQL,"+
	"CONTROL SERVER,CREATE ANY DATABASE,CREATE SERVER ROLE,EXTERNAL ACCESS ASSEMBLY,SELECT ALL USER SECURABLES,SHUTDOWN,"+
	"UNSAFE ASSEMBLY,VIEW ANY DATABASE,VIEW ANY DEFINITION,VIEW SERVER PERFORMANCE STATE,VIEW SERVER SECURITY STATE", ",")

// isOfServer reports whether a permission is one on the server.
func isOfServer(name string) bool {
	return slices.Contains(schema.ServerPermissions, name) || slices.Contains(ofServer, name)
}

// serverPermission executes GRANT, DENY and REVOKE of permissions on the server or on a login.
func (d *definer) serverPermission(s *syntax.Permission) error {
	if d.Database().ID != schema.MasterID {
		return fault.New(4621)
	}
	valid := schema.ServerPermissions
	var on *schema.Login
	if s.On != nil {
		valid = schema.LoginPermissions
		if on = d.Server().Login(s.On.Last().Value); on == nil {
			return fault.New(15151, "find", "login", s.On.Last().Value)
		}
	}
	for _, to := range s.To {
		grantee := d.Server().Login(to.Value)
		switch {
		case slices.Contains(serverRoles, strings.ToLower(to.Value)), strings.EqualFold(to.Value, "public"):
			return d.unsupported(s.Span, s.Verb+" to a server role")
		case grantee == nil:
			return fault.New(15151, "find", "login", to.Value)
		case grantee.SID == 1, grantee.SID == d.Login().SID:
			return fault.New(4624)
		}
		for _, name := range s.Permissions {
			switch {
			case !slices.Contains(valid, name) && isOfServer(name):
				return d.unsupported(s.Span, s.Verb+" "+name)
			case !slices.Contains(valid, name):
				return fault.New(102, name)
			}
			if err := d.changeServer(s, schema.LoginPermission{On: on, Permission: name, Grantee: grantee, Grantor: d.Login()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// changeServer enters or removes one permission. It takes CONTROL on the login, or the permission with its grant
// option.
func (d *definer) changeServer(s *syntax.Permission, p schema.LoginPermission) error {
	server, login := d.Server(), d.Login()
	grants := slices.ContainsFunc(server.Permissions, func(g *schema.LoginPermission) bool {
		return g.GrantOption && !g.Deny && g.Grantee == login && g.On == p.On && g.Permission == p.Permission
	})
	if p.On != nil {
		grants = grants || server.MayLogin(login, "CONTROL", p.On) && login != p.On
	}
	switch {
	case login.Sysadmin, grants:
	case p.On == nil:
		return fault.New(4613)
	default:
		return fault.New(15151, "find", "login", p.On.Name)
	}
	list := make([]*schema.LoginPermission, 0, len(server.Permissions)+1)
	for _, g := range server.Permissions {
		switch {
		case g.On != p.On || g.Permission != p.Permission || g.Grantee != p.Grantee:
			list = append(list, g)
		case s.Verb == "REVOKE" && s.GrantOption: // the permission stays
			without := *g
			without.GrantOption = false
			list = append(list, &without)
		}
	}
	if s.Verb != "REVOKE" {
		p.Deny, p.GrantOption = s.Verb == "DENY", s.Verb == "GRANT" && s.GrantOption
		list = append(list, &p)
	}
	setList(d, &server.Permissions, list)
	return nil
}
