package ask

import (
	"bytes"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// userFunctions answer who somebody is, and what they may do.
var userFunctions = map[string]Function{
	"CURRENT_USER":          {"", currentUser},
	"SESSION_USER":          {"", currentUser},
	"USER":                  {"", currentUser},
	"USER_NAME":             {"i", userName},
	"USER_ID":               {"s", userID},
	"DATABASE_PRINCIPAL_ID": {"s", userID},
	"SYSTEM_USER":           {"", systemUser},
	"SUSER_NAME":            {"i", loginName},
	"SUSER_SNAME":           {"a", loginOfSID},
	"SUSER_ID":              {"s", loginID},
	"SUSER_SID":             {"si", loginSID},
	"ORIGINAL_LOGIN":        {"", fact("ORIGINAL_LOGIN")},
	"IS_MEMBER":             {"s", isMember},
	"IS_ROLEMEMBER":         {"ss", isRoleMember},
	"IS_SRVROLEMEMBER":      {"ss", isServerRoleMember},
	"HAS_DBACCESS":          {"s", hasDatabaseAccess},
	"HAS_PERMS_BY_NAME":     {"sssss", hasPermission},
}

// fact is a function whose value the session knows under a name.
func fact(name string) answer {
	return func(q *question) (execute.Value, error) { return q.session().Info(name), nil }
}

func currentUser(q *question) (execute.Value, error) { return value.OfString(q.user().Name), nil }

func userName(q *question) (execute.Value, error) {
	if q.missing(0) {
		return currentUser(q)
	}
	id, ok := q.number(0)
	if p := q.db().PrincipalByID(id); ok && p != nil {
		return value.OfString(p.Name), nil
	}
	return null, nil
}

func userID(q *question) (execute.Value, error) {
	if q.missing(0) {
		return intValue(q.user().ID)
	}
	name, ok := q.text(0)
	if p := q.db().Principal(name); ok && p != nil {
		return intValue(p.ID)
	}
	return null, nil
}

func systemUser(q *question) (execute.Value, error) { return q.session().Info("LOGIN"), nil }

func loginName(q *question) (execute.Value, error) {
	if q.missing(0) {
		return systemUser(q)
	}
	id, ok := q.number(0)
	for _, l := range q.server().Logins {
		if ok && l.SID == id {
			return value.OfString(l.Name), nil
		}
	}
	return null, nil
}

func loginOfSID(q *question) (execute.Value, error) {
	if q.missing(0) {
		return systemUser(q)
	}
	if q.args[0].IsNull() || q.args[0].Kind() != value.Bytes {
		return null, nil
	}
	for _, l := range q.server().Logins {
		if bytes.Equal(l.Identifier(), q.args[0].Bytes()) {
			return value.OfString(l.Name), nil
		}
	}
	return null, nil
}

// login finds the login that an argument names; that of the session without one.
func (q *question) login(i int) *schema.Login {
	if q.missing(i) {
		return q.facts().Login()
	}
	name, ok := q.text(i)
	if !ok {
		return nil
	}
	return q.server().Login(name)
}

func loginID(q *question) (execute.Value, error) {
	if l := q.login(0); l != nil && l.SID != 0 {
		return intValue(l.SID)
	}
	return null, nil
}

func loginSID(q *question) (execute.Value, error) {
	switch l := q.login(0); {
	case l == nil:
		return null, nil
	case l.SID == 0: // a user without a login, who acts
		return value.OfBytes(q.user().Identifier(q.db())), nil
	default:
		return value.OfBytes(l.Identifier()), nil
	}
}

func isMember(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	role := q.db().Principal(name)
	if !ok || role == nil || !role.Role {
		return null, nil
	}
	return boolValue(q.db().IsMember(q.user(), role))
}

func isRoleMember(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	role := q.db().Principal(name)
	user := q.user()
	if !q.missing(1) {
		who, given := q.text(1)
		user = q.db().Principal(who)
		if !given {
			user = nil
		}
	}
	if !ok || role == nil || !role.Role || user == nil {
		return null, nil
	}
	return boolValue(q.db().IsMember(user, role))
}

// serverRoles are the fixed roles of the server.
var serverRoles = strings.Fields("sysadmin serveradmin securityadmin processadmin setupadmin bulkadmin diskadmin dbcreator public")

func isServerRoleMember(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	role := strings.ToLower(strings.TrimSpace(name))
	l := q.login(1)
	if !ok || !slices.Contains(serverRoles, role) || l == nil {
		return null, nil
	}
	return boolValue(l.Sysadmin || role == "public" || l.Roles[role])
}

func hasDatabaseAccess(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	db := q.server().Database(name)
	if !ok || db == nil {
		return null, nil
	}
	return boolValue(q.facts().UserIn(db) != nil)
}

// hasPermission answers HAS_PERMS_BY_NAME(securable, class, permission, sub-securable, sub-class). Without a securable
// it is about the server, and DATABASE without one about the current database.
func hasPermission(q *question) (execute.Value, error) {
	permission := q.word(2)
	class := q.word(1)
	switch class {
	case "", "SERVER":
		return q.serverPermission(permission)
	case "LOGIN":
		return q.loginPermission(permission)
	}
	on, o, ok := q.securable(class)
	if !ok || permission != "ANY" && !slices.Contains(schema.PermissionsOf(on.Class), permission) {
		return null, nil
	}
	db, user := q.db(), q.user()
	if permission == "ANY" {
		return boolValue(slices.ContainsFunc(schema.PermissionsOf(on.Class), func(p string) bool { return db.May(user, p, on) }))
	}
	if column, given := q.text(3); given && q.word(4) == "COLUMN" {
		c, found := q.columnOf(o, column)
		if !found {
			return null, nil
		}
		_, may := db.MayColumns(user, permission, o, []schema.ColumnName{c})
		return boolValue(may)
	}
	return boolValue(db.May(user, permission, on))
}

// columnOf finds a column of a table or of a view.
func (q *question) columnOf(o schema.Object, name string) (schema.ColumnName, bool) {
	fold := q.db().Fold
	switch o := o.(type) {
	case *schema.Table:
		if c := o.Column(name, fold); c != nil {
			return schema.ColumnName{ID: c.ID, Name: c.Name}, true
		}
	case *schema.Module:
		catalog, ok := q.session().(Catalog)
		if !ok {
			break
		}
		columns, err := catalog.Catalog().Describer.Columns(o)
		if err != nil {
			break
		}
		for i, c := range columns {
			if fold(c.Name) == fold(name) {
				return schema.ColumnName{ID: int32(i + 1), Name: c.Name}, true
			}
		}
	}
	return schema.ColumnName{}, false
}

// serverPermission answers for permissions on the server. Two of them everybody has.
func (q *question) serverPermission(permission string) (execute.Value, error) {
	return boolValue(permission == "CONNECT SQL" || permission == "VIEW ANY DATABASE" ||
		q.server().MayLogin(q.facts().Login(), permission, nil))
}

// loginPermission answers for permissions on a login.
func (q *question) loginPermission(permission string) (execute.Value, error) {
	name, _ := q.text(0)
	parts, isName := splitName(name)
	on := q.server().Login(last(parts))
	if !isName || on == nil || !slices.Contains(schema.LoginPermissions, permission) {
		return null, nil
	}
	return boolValue(q.server().MayLogin(q.facts().Login(), permission, on))
}

// securable finds what the first two arguments name.
func (q *question) securable(class string) (on schema.Securable, o schema.Object, ok bool) {
	name, given := q.text(0)
	parts, isName := splitName(name)
	db := q.db()
	if given && !isName {
		return on, nil, false
	}
	switch class {
	case "DATABASE":
		if given && q.server().Database(parts[0]) != db {
			return on, nil, false
		}
		return schema.Securable{Class: "DATABASE"}, nil, true
	case "OBJECT":
		_, o = q.object(name)
		if !given || o == nil {
			return on, nil, false
		}
		return db.SecurableOf(o), o, true
	case "SCHEMA":
		if s := db.Schema(name); given && s == nil && len(parts) == 1 {
			s = db.Schema(parts[0])
			if s != nil {
				return schema.Securable{Class: "SCHEMA", ID: s.ID}, nil, true
			}
		} else if given && s != nil {
			return schema.Securable{Class: "SCHEMA", ID: s.ID}, nil, true
		}
	case "TYPE":
		if u := db.FindType(partBefore(parts), last(parts), q.defaultSchema()); given && u != nil {
			return schema.Securable{Class: "TYPE", ID: u.ID}, nil, true
		}
	case "ROLE", "USER":
		if p := db.Principal(last(parts)); given && p != nil && p.Role == (class == "ROLE") {
			return schema.Securable{Class: class, ID: p.ID}, nil, true
		}
	}
	return on, nil, false
}

// last is the last part of a name; empty if there is none.
func last(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}
