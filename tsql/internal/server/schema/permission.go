package schema

import (
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// Securable is something that permissions are granted on.
type Securable struct {
	Class string // "DATABASE", "SCHEMA", "OBJECT", "TYPE", "ROLE", "USER"
	ID    int32
}

// stronger lists, by class, which other permission on the same thing contains one. What is missing is contained in
// CONTROL.
var stronger = map[string]map[string]string{
	"SCHEMA": {"CREATE SEQUENCE": "ALTER"},
	"DATABASE": {
		"ALTER ANY SCHEMA": "ALTER", "ALTER ANY ROLE": "ALTER", "ALTER ANY USER": "ALTER", "CREATE TABLE": "ALTER",
		"CREATE VIEW": "ALTER", "CREATE PROCEDURE": "ALTER", "CREATE FUNCTION": "ALTER", "CREATE TYPE": "ALTER",
		"CREATE SYNONYM": "ALTER", "CREATE SCHEMA": "ALTER ANY SCHEMA", "CREATE ROLE": "ALTER ANY ROLE",
		"ALTER ANY DATABASE DDL TRIGGER": "ALTER", "CHECKPOINT": "ALTER", "ALTER ANY SECURITY POLICY": "CONTROL",
		"VIEW ANY COLUMN ENCRYPTION KEY DEFINITION": "VIEW DEFINITION",
	},
}

// above lists, by class, which permission on what contains a thing (the schema of an object, the database of a schema)
// contains one on the thing. What is missing has the same name there.
var above = map[string]map[string]string{
	"OBJECT": {"TAKE OWNERSHIP": "CONTROL"},
	"TYPE":   {"TAKE OWNERSHIP": "CONTROL"},
	"SCHEMA": {"ALTER": "ALTER ANY SCHEMA", "CREATE SEQUENCE": "ALTER ANY SCHEMA", "TAKE OWNERSHIP": "CONTROL"},
	"ROLE":   {"ALTER": "ALTER ANY ROLE", "TAKE OWNERSHIP": "CONTROL"},
	"USER":   {"ALTER": "ALTER ANY USER", "IMPERSONATE": "CONTROL"},
}

// fixedGrants are what the fixed roles may do in the database, and fixedDenials what they may not.
var (
	fixedGrants = map[string][]string{
		"db_owner":         {"CONTROL"},
		"db_accessadmin":   {"ALTER ANY USER", "CREATE SCHEMA", "CONNECT"},
		"db_securityadmin": {"ALTER ANY ROLE", "CREATE SCHEMA", "VIEW DEFINITION"},
		"db_ddladmin": {
			"ALTER ANY SCHEMA", "ALTER ANY DATABASE DDL TRIGGER", "CHECKPOINT", "CREATE FUNCTION", "CREATE PROCEDURE",
			"CREATE SYNONYM", "CREATE TABLE", "CREATE TYPE", "CREATE VIEW", "REFERENCES",
		},
		"db_datareader": {"SELECT"},
		"db_datawriter": {"INSERT", "UPDATE", "DELETE"},
	}
	fixedDenials = map[string][]string{
		"db_denydatareader": {"SELECT"},
		"db_denydatawriter": {"INSERT", "UPDATE", "DELETE"},
	}
)

// Roles returns the roles that a principal is a member of, itself and public among them, also by way of other roles.
func (db *Database) Roles(p *Principal) []*Principal {
	list := []*Principal{p}
	for i := 0; i < len(list); i++ {
		for role := range list[i].MemberOf {
			if !slices.Contains(list, role) {
				list = append(list, role)
			}
		}
	}
	if public := db.Public(); !slices.Contains(list, public) {
		list = append(list, public)
	}
	return list
}

// IsMember reports whether a principal is a member of a role, also by way of other roles. dbo is one of every fixed
// role.
func (db *Database) IsMember(p, role *Principal) bool {
	return p == role || p == db.Dbo() && role.Fixed || slices.Contains(db.Roles(p), role)
}

// right is one permission on one thing.
type right struct {
	on         Securable
	permission string
}

// containing returns the right itself and all that contain it.
func (db *Database) containing(on Securable, permission string) []right {
	list := []right{{on, permission}}
	for i := 0; i < len(list); i++ {
		r := list[i]
		if r.permission != "CONTROL" {
			s := stronger[r.on.Class][r.permission]
			if s == "" {
				s = "CONTROL"
			}
			list = appendOnce(list, right{r.on, s})
		}
		if parent, ok := db.parent(r.on); ok {
			p := above[r.on.Class][r.permission]
			if p == "" {
				p = r.permission
			}
			list = appendOnce(list, right{parent, p})
		}
	}
	return list
}

func appendOnce(list []right, r right) []right {
	if slices.Contains(list, r) {
		return list
	}
	return append(list, r)
}

// parent returns what contains a thing.
func (db *Database) parent(s Securable) (Securable, bool) {
	schema := (*Schema)(nil)
	switch s.Class {
	case "DATABASE":
		return Securable{}, false
	case "OBJECT":
		if o := db.Objects[s.ID]; o != nil {
			schema = o.Head().Schema
		}
	case "TYPE":
		if t := db.TypeByID(s.ID); t != nil {
			schema = t.Schema
		}
	}
	if schema != nil {
		return Securable{"SCHEMA", schema.ID}, true
	}
	return Securable{Class: "DATABASE"}, true
}

// May reports whether a principal has a permission on a thing. dbo and who owns the thing may do everything.
func (db *Database) May(p *Principal, permission string, on Securable) bool {
	allowed, denied := db.judge(p, permission, on)
	return allowed && !denied
}

// judge returns whether something grants the permission and whether something denies it.
func (db *Database) judge(p *Principal, permission string, on Securable) (allowed, denied bool) {
	if p == db.Dbo() {
		return true, false
	}
	roles := db.Roles(p)
	return db.weigh(p, roles, db.grants(roles, on), permission, on)
}

// grants returns what is granted and denied to roles on a thing as a whole and on what contains it.
func (db *Database) grants(roles []*Principal, on Securable) (list []*Permission) {
	for inside := true; inside; on, inside = db.parent(on) {
		for _, g := range db.Permissions { // there may be thousands
			if g.Major == on.ID && g.Column == 0 && g.Class == on.Class && slices.Contains(roles, g.Grantee) {
				list = append(list, g)
			}
		}
	}
	return list
}

// weigh is judge for a principal with these roles, to whom grants are made.
func (db *Database) weigh(p *Principal, roles []*Principal, grants []*Permission, permission string, on Securable) (allowed, denied bool) {
	for _, r := range db.containing(on, permission) {
		owner := db.ownerOf(r.on)
		if owner == p {
			return true, false
		}
		allowed = allowed || owner != nil && slices.Contains(roles, owner)
		for _, role := range roles {
			if r.on.Class == "DATABASE" {
				allowed = allowed || slices.Contains(fixedGrants[role.Name], r.permission)
				denied = denied || slices.Contains(fixedDenials[role.Name], r.permission)
			}
		}
		for _, g := range grants {
			if g.Class == r.on.Class && g.Major == r.on.ID && g.Permission == r.permission {
				allowed, denied = allowed || !g.Deny, denied || g.Deny
			}
		}
	}
	return allowed, denied
}

// ownerOf returns who owns a thing; nil for the database, whose owner is dbo.
func (db *Database) ownerOf(s Securable) *Principal {
	switch s.Class {
	case "OBJECT":
		if o := db.Objects[s.ID]; o != nil {
			return OwnerOf(o)
		}
	case "TYPE":
		if t := db.TypeByID(s.ID); t != nil {
			return OwnerOfType(t)
		}
	case "SCHEMA":
		if schema := db.SchemaByID(s.ID); schema != nil {
			return schema.Owner
		}
	case "ROLE":
		if role := db.PrincipalByID(s.ID); role != nil {
			return role.Owner
		}
	}
	return nil
}

// OwnerOfType returns who owns a type: somebody of its own, or the owner of its schema.
func OwnerOfType(t *UserType) *Principal {
	if t.Owner != nil {
		return t.Owner
	}
	return t.Schema.Owner
}

// SecurableOf returns what permissions on an object are granted on. Those on constraints are those on their table.
func (db *Database) SecurableOf(o Object) Securable {
	h := o.Head()
	if h.Parent != 0 {
		return Securable{"OBJECT", h.Parent}
	}
	return Securable{"OBJECT", h.ID}
}

// chained are the permissions that an ownership chain covers: what a module does with objects of its own owner is not
// checked.
var chained = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "EXECUTE", "REFERENCES"}

// MayObject reports whether a principal has a permission on an object. chain is the owner of the module that uses the
// object; nil outside of modules and in dynamic SQL.
func (db *Database) MayObject(p *Principal, permission string, o Object, chain *Principal) bool {
	if db.isPrivate(o) || chain != nil && OwnerOf(o) == chain && slices.Contains(chained, permission) {
		return true
	}
	return db.May(p, permission, db.SecurableOf(o))
}

// isPrivate reports whether an object needs no permissions: a variable or something temporary, of which nobody else
// knows, or everybody if it is global.
func (db *Database) isPrivate(o Object) bool {
	switch o := o.(type) {
	case *Table:
		return o.Temporary || o.Variable
	case *Module:
		return o.Temporary
	default:
		return false
	}
}

// ColumnName is a column of a table or of a view, for permissions.
type ColumnName struct {
	ID   int32
	Name string
}

// MayColumns is MayObject for some columns of a table or view. Permissions on columns count more than those on the
// table, denials of it included. It returns the columns that the principal may not use; none if it is the table as a
// whole that nothing is granted on, or if it may.
func (db *Database) MayColumns(p *Principal, permission string, o Object, columns []ColumnName) (refused []ColumnName, ok bool) {
	if db.isPrivate(o) || p == db.Dbo() {
		return nil, true
	}
	on := db.SecurableOf(o)
	whole := db.May(p, permission, on)
	roles := db.Roles(p)
	for _, c := range columns {
		granted, denied := db.columnRight(roles, permission, on, c.ID)
		if denied || !granted && !whole {
			refused = append(refused, c)
		}
	}
	switch {
	case len(refused) == 0:
		return nil, whole || len(columns) > 0 || db.hasColumnRights(roles, permission, on)
	case !whole && !db.hasColumnRights(roles, permission, on):
		return nil, false
	default:
		return refused, false
	}
}

// columnRight returns what is granted and denied on one column.
func (db *Database) columnRight(roles []*Principal, permission string, on Securable, column int32) (granted, denied bool) {
	for _, g := range db.Permissions {
		if g.Column == column && g.Class == "OBJECT" && g.Major == on.ID && g.Permission == permission &&
			slices.Contains(roles, g.Grantee) {
			granted, denied = granted || !g.Deny, denied || g.Deny
		}
	}
	return granted, denied
}

// hasColumnRights reports whether anything is granted on any column.
func (db *Database) hasColumnRights(roles []*Principal, permission string, on Securable) bool {
	return slices.ContainsFunc(db.Permissions, func(g *Permission) bool {
		return g.Column != 0 && !g.Deny && g.Class == "OBJECT" && g.Major == on.ID && g.Permission == permission &&
			slices.Contains(roles, g.Grantee)
	})
}

// Check returns error 229 unless the principal has the permission on the object.
func (db *Database) Check(p *Principal, permission string, o Object, chain *Principal) error {
	if db.MayObject(p, permission, o, chain) {
		return nil
	}
	h := o.Head()
	return fault.New(229, permission, h.Name, db.Name, h.Schema.Name)
}

// CheckColumns returns error 229, or error 230 for each column, unless the principal has the permission on all of the
// columns.
func (db *Database) CheckColumns(p *Principal, permission string, o Object, columns []ColumnName) error {
	refused, ok := db.MayColumns(p, permission, o, columns)
	if ok {
		return nil
	}
	h := o.Head()
	if len(refused) == 0 {
		return fault.New(229, permission, h.Name, db.Name, h.Schema.Name)
	}
	list := make([]error, len(refused))
	for i, c := range refused {
		list[i] = fault.New(230, permission, c.Name, h.Name, db.Name, h.Schema.Name)
	}
	if len(list) == 1 {
		return list[0]
	}
	return errors.Join(list...)
}

// Visible reports whether catalog views show an object to a principal: one that has any permission on it, or may view
// definitions.
func (db *Database) Visible(p *Principal, o Object) bool {
	if p == nil || p == db.Dbo() || db.isPrivate(o) {
		return true
	}
	return db.anyRight(p, db.SecurableOf(o), objectPermissions)
}

// VisibleType is Visible for types.
func (db *Database) VisibleType(p *Principal, t *UserType) bool {
	return p == nil || p == db.Dbo() || db.anyRight(p, Securable{"TYPE", t.ID}, typePermissions)
}

// objectPermissions, typePermissions and schemaPermissions are all that may be granted on these.
var (
	objectPermissions = []string{
		"ALTER", "CONTROL", "DELETE", "EXECUTE", "INSERT", "RECEIVE", "REFERENCES", "SELECT", "TAKE OWNERSHIP", "UPDATE",
		"VIEW CHANGE TRACKING", "VIEW DEFINITION",
	}
	typePermissions   = []string{"CONTROL", "EXECUTE", "REFERENCES", "TAKE OWNERSHIP", "VIEW DEFINITION"}
	schemaPermissions = []string{
		"ALTER", "CONTROL", "CREATE SEQUENCE", "DELETE", "EXECUTE", "INSERT", "REFERENCES", "SELECT", "TAKE OWNERSHIP",
		"UPDATE", "VIEW CHANGE TRACKING", "VIEW DEFINITION",
	}
	databasePermissions = []string{
		"ALTER", "ALTER ANY APPLICATION ROLE", "ALTER ANY DATABASE DDL TRIGGER", "ALTER ANY ROLE", "ALTER ANY SCHEMA",
		"ALTER ANY SECURITY POLICY", "ALTER ANY USER", "AUTHENTICATE", "BACKUP DATABASE", "BACKUP LOG", "CHECKPOINT",
		"CONNECT", "CONTROL", "CREATE AGGREGATE", "CREATE DEFAULT", "CREATE FUNCTION", "CREATE PROCEDURE", "CREATE QUEUE",
		"CREATE ROLE", "CREATE RULE", "CREATE SCHEMA", "CREATE SYNONYM", "CREATE TABLE", "CREATE TYPE", "CREATE VIEW",
		"DELETE", "EXECUTE", "INSERT", "REFERENCES", "SELECT", "SHOWPLAN", "TAKE OWNERSHIP", "UNMASK", "UPDATE",
		"VIEW DATABASE STATE", "VIEW DEFINITION",
	}
	principalPermissions = map[string][]string{
		"ROLE": {"ALTER", "CONTROL", "TAKE OWNERSHIP", "VIEW DEFINITION"},
		"USER": {"ALTER", "CONTROL", "IMPERSONATE", "VIEW DEFINITION"},
	}
)

// PermissionsOf returns all permissions that may be granted on a class of things.
func PermissionsOf(class string) []string {
	switch class {
	case "OBJECT":
		return objectPermissions
	case "TYPE":
		return typePermissions
	case "SCHEMA":
		return schemaPermissions
	case "DATABASE":
		return databasePermissions
	default:
		return principalPermissions[class]
	}
}

// anyRight reports whether a principal has one of several permissions on a thing or on a part of it.
func (db *Database) anyRight(p *Principal, on Securable, permissions []string) bool {
	roles := db.Roles(p)
	for _, g := range db.Permissions {
		if g.Major == on.ID && g.Column != 0 && !g.Deny && g.Class == on.Class && slices.Contains(roles, g.Grantee) {
			return true
		}
	}
	grants := db.grants(roles, on)
	return p == db.Dbo() || slices.ContainsFunc(permissions, func(permission string) bool {
		allowed, denied := db.weigh(p, roles, grants, permission, on)
		return allowed && !denied
	})
}
