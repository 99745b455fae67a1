package schema

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// The ids of the databases that every server has; those of users begin behind them.
const (
	MasterID int32 = 1
	TempID   int32 = 2
	ModelID  int32 = 3
	MsdbID   int32 = 4
)

// NewServer makes a server with the system databases and one for the user. Its only login is sa, without a password.
func NewServer(collation *value.Collation, user string, now value.Value) *Server {
	s := &Server{
		Collation: collation, Databases: map[string]*Database{}, Logins: map[string]*Login{},
		nextObject: firstObject, nextLogin: 1,
	}
	sa := s.AddLogin("sa", "")
	sa.Sysadmin = true
	for _, name := range []string{"master", "tempdb", "model", "msdb", user} {
		s.AddDatabase(s.NewDatabase(name, collation, sa, now))
	}
	return s
}

// Fold returns the form of a name of the server's own things, databases and logins, under which it is found.
func (s *Server) Fold(name string) string { return fold(s.Collation, name) }

// Database finds a database by its name.
func (s *Server) Database(name string) *Database { return s.Databases[s.Fold(name)] }

// DatabaseByID finds a database by its id.
func (s *Server) DatabaseByID(id int32) *Database {
	for _, db := range s.Databases {
		if db.ID == id {
			return db
		}
	}
	return nil
}

// Login finds a login by its name.
func (s *Server) Login(name string) *Login { return s.Logins[s.Fold(name)] }

// AddLogin enters a login.
func (s *Server) AddLogin(name, password string) *Login {
	l := &Login{Name: name, Password: password, SID: s.nextLogin, Roles: map[string]bool{}, DefaultDatabase: "master"}
	s.nextLogin++
	s.Logins[s.Fold(name)] = l
	return l
}

// RemoveLogin takes a login out.
func (s *Server) RemoveLogin(l *Login) { delete(s.Logins, s.Fold(l.Name)) }

// RestoreLogin puts a login back that was taken out.
func (s *Server) RestoreLogin(l *Login) { s.Logins[s.Fold(l.Name)] = l }

// AddDatabase enters a database that NewDatabase made.
func (s *Server) AddDatabase(db *Database) { s.Databases[s.Fold(db.Name)] = db }

// RemoveDatabase takes a database out.
func (s *Server) RemoveDatabase(db *Database) { delete(s.Databases, s.Fold(db.Name)) }

// Object ids grow in the steps in which those of SQL Server do. They are never used twice in one server, not even in
// two databases, so that one id names one thing to the lock manager.
const (
	firstObject int32 = 581577110
	objectStep  int32 = 16000057
	lastObject  int32 = 2147483647
)

// NextObjectID returns an id for a new object.
func (s *Server) NextObjectID() int32 {
	id := s.nextObject
	if id > lastObject-objectStep {
		s.nextObject = id - (lastObject - objectStep) + 100 // around, to ids that lie between those given out
	} else {
		s.nextObject = id + objectStep
	}
	return id
}

// NewDatabase makes a database with what every database has. It belongs to no server until AddDatabase.
func (s *Server) NewDatabase(name string, collation *value.Collation, owner *Login, now value.Value) *Database {
	s.nextDatabase++
	db := &Database{
		ID: s.nextDatabase, Name: name, Collation: collation, CompatibilityLevel: 160, Version: 1,
		Schemas: map[string]*Schema{}, Objects: map[int32]Object{}, Types: map[string]*UserType{},
		Principals: map[string]*Principal{}, Owner: owner, Created: now, Options: map[string]string{},
		server: s, nextPrincipal: 5, nextSchema: 5, nextType: firstUserType,
	}
	db.addFixed()
	return db
}

// fixedPrincipals are those of every database, with the ids that they have in SQL Server. All but public own a schema
// of their name.
var fixedPrincipals = []struct {
	id   int32
	name string
	role bool
}{
	{0, "public", true},
	{1, "dbo", false},
	{2, "guest", false},
	{3, "INFORMATION_SCHEMA", false},
	{4, "sys", false},
	{16384, "db_owner", true},
	{16385, "db_accessadmin", true},
	{16386, "db_securityadmin", true},
	{16387, "db_ddladmin", true},
	{16389, "db_backupoperator", true},
	{16390, "db_datareader", true},
	{16391, "db_datawriter", true},
	{16392, "db_denydatareader", true},
	{16393, "db_denydatawriter", true},
}

// addFixed enters the principals and schemas of every database.
func (db *Database) addFixed() {
	for _, f := range fixedPrincipals {
		p := &Principal{
			ID: f.id, Name: f.name, Role: f.role, Fixed: true, DefaultSchema: "dbo", MemberOf: map[*Principal]bool{},
		}
		if f.name == "guest" {
			p.DefaultSchema = "guest"
		}
		db.Principals[db.Fold(f.name)] = p
		if f.id != 0 {
			db.Schemas[db.Fold(f.name)] = &Schema{
				ID: f.id, Name: f.name, Database: db, Owner: p, Objects: map[string]Object{},
			}
		}
	}
	dbo := db.Dbo()
	dbo.Login = db.Owner
	dbo.MemberOf[db.Principal("db_owner")] = true
	for _, p := range db.Principals {
		if p.Role {
			p.Owner = dbo
		}
	}
}

// Server returns the server that the database belongs to.
func (db *Database) Server() *Server { return db.server }

// Dbo returns the principal dbo.
func (db *Database) Dbo() *Principal { return db.Principal("dbo") }

// Public returns the role that everybody is a member of.
func (db *Database) Public() *Principal { return db.Principal("public") }

// IsSystem reports whether a database is one of the server's own, which cannot be dropped.
func (db *Database) IsSystem() bool { return db.ID <= MsdbID }

// Bump makes all plans stale that were compiled against the database. A plan for another database may read this one's
// tables too.
func (db *Database) Bump() {
	if db.server.Bumped != nil {
		db.server.Bumped()
	}
	db.Version++
	for _, other := range db.server.Databases {
		if other != db {
			other.Version++
		}
	}
}

// CaseSensitive reports whether names that differ in case are different names.
func (db *Database) CaseSensitive() bool { return caseSensitive(db.Collation) }

// Fold returns the form of a name under which the maps of the database have it.
func (db *Database) Fold(name string) string { return fold(db.Collation, name) }

// Recollate gives the database another collation: names are found as it compares them.
func (db *Database) Recollate(c *value.Collation) {
	db.Collation = c
	schemas, principals := db.Schemas, db.Principals
	db.Schemas, db.Principals = map[string]*Schema{}, map[string]*Principal{}
	for _, s := range schemas {
		db.Schemas[db.Fold(s.Name)] = s
	}
	for _, p := range principals {
		db.Principals[db.Fold(p.Name)] = p
	}
	db.Bump()
}

// fold is lower case unless the collation tells cases apart. Blanks at the end of a name never count.
func fold(c *value.Collation, name string) string {
	name = strings.TrimRight(name, " ")
	if caseSensitive(c) {
		return name
	}
	return strings.ToLower(name)
}

// caseSensitive reports whether a collation tells cases apart.
func caseSensitive(c *value.Collation) bool { return c != nil && !c.IgnoresCase() }
