package define_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// TestRights checks what a user may define, and what it may do with objects. The user u is a member of the role r.
func TestRights(t *testing.T) {
	t.Parallel()
	const setup = `CREATE LOGIN l WITH PASSWORD = 'x'; CREATE USER u FOR LOGIN l; CREATE ROLE r; ALTER ROLE r ADD MEMBER u;
CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY, b int);
GO
CREATE SCHEMA s
GO
CREATE PROCEDURE s.p AS SELECT 1 AS x
GO
`
	for _, c := range []struct{ grant, text, want string }{
		{``, `CREATE TABLE x (a int)`, `262: CREATE TABLE permission denied in database 'work'.`},
		{`GRANT CREATE TABLE TO u`, `CREATE TABLE x (a int)`, `2760: The specified schema name "dbo" either does not exist or you do not have permission to use it.`},
		{`GRANT CREATE TABLE TO r; GRANT ALTER ON SCHEMA::dbo TO u`, `CREATE TABLE x (a int)`, ``},
		{`ALTER ROLE db_ddladmin ADD MEMBER u`, `CREATE TABLE x (a int); ALTER TABLE t ADD c int; DROP TABLE t`, ``},
		{`ALTER ROLE db_owner ADD MEMBER u`, "CREATE ROLE x; GRANT SELECT ON t TO x\nGO\nCREATE SCHEMA y", ``},
		{``, `ALTER TABLE t ADD c int`, `4902: Cannot find the object "t" because it does not exist or you do not have permissions.`},
		{`GRANT ALTER ON t TO r`, `ALTER TABLE t ADD c int; CREATE INDEX x ON t (c)`, ``},
		{`GRANT SELECT ON t TO r`, `ALTER TABLE t ADD c int`, `4902: Cannot find the object "t" because it does not exist or you do not have permissions.`},
		{`GRANT SELECT ON t TO r`, `DROP TABLE t`, `3701: Cannot drop the table 't', because it does not exist or you do not have permission.`},
		{`GRANT CONTROL ON t TO r`, `DROP TABLE t`, ``},
		{``, `CREATE ROLE x`, `15247: User does not have permission to perform this action.`},
		{``, `CREATE USER x WITHOUT LOGIN`, `15247: User does not have permission to perform this action.`},
		{``, `CREATE LOGIN x WITH PASSWORD = 'y'`, `15247: User does not have permission to perform this action.`},
		{``, `CREATE SCHEMA x`, "262: CREATE SCHEMA permission denied in database 'work'.\n2759: CREATE SCHEMA failed due to previous errors."},
		{``, `CREATE DATABASE x`, `262: CREATE DATABASE permission denied in database 'master'.`},
		{``, `GRANT SELECT ON t TO public`, `15151: Cannot find the object 't', because it does not exist or you do not have permission.`},
		{`GRANT SELECT ON t TO u WITH GRANT OPTION`, `GRANT SELECT ON t TO public`, ``},
		{`GRANT SELECT ON t TO u WITH GRANT OPTION`, `GRANT DELETE ON t TO public`, `15151: Cannot find the object 't', because it does not exist or you do not have permission.`},
		{`GRANT EXECUTE ON SCHEMA::s TO u`, `GRANT EXECUTE ON SCHEMA::s TO public`, `15151: Cannot find the schema 's', because it does not exist or you do not have permission.`},
		{`GRANT EXECUTE ON s.p TO u`, `ALTER PROCEDURE s.p AS SELECT 2 AS x`, `3704: User does not have permission to perform this operation on procedure 's.p'.`},
		{`ALTER AUTHORIZATION ON SCHEMA::s TO u`, `ALTER PROCEDURE s.p AS SELECT 2 AS x; `, ``},
	} {
		t.Run(c.grant+": "+c.text, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.session().run(setup + c.grant)
			if got := failure(l.as("l").try(c.text)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestMay checks permissions on a table and a procedure.
func TestMay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grant, permission string
		chain             bool // asked for by a module of dbo
		want              string
	}{
		{``, "SELECT", false, `229: The SELECT permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{``, "SELECT", true, ``},
		{``, "ALTER", true, `229: The ALTER permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{`GRANT SELECT ON t TO u`, "SELECT", false, ``},
		{`GRANT SELECT ON t TO u; DENY SELECT ON t TO r`, "SELECT", false, `229: The SELECT permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{`GRANT SELECT ON SCHEMA::dbo TO r`, "SELECT", false, ``},
		{`GRANT SELECT TO r`, "SELECT", false, ``},
		{`GRANT CONTROL ON SCHEMA::dbo TO r`, "INSERT", false, ``},
		{`GRANT SELECT ON SCHEMA::dbo TO public`, "SELECT", false, ``},
		{`ALTER ROLE db_datareader ADD MEMBER u`, "SELECT", false, ``},
		{`ALTER ROLE db_datareader ADD MEMBER u`, "UPDATE", false, `229: The UPDATE permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{`ALTER ROLE db_datawriter ADD MEMBER r`, "UPDATE", false, ``},
		{`ALTER ROLE db_owner ADD MEMBER u; DENY SELECT ON t TO u`, "SELECT", false, `229: The SELECT permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{`ALTER ROLE db_owner ADD MEMBER u; ALTER ROLE db_denydatareader ADD MEMBER u`, "SELECT", false, `229: The SELECT permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{`GRANT SELECT ON t TO u; REVOKE SELECT ON t FROM u`, "SELECT", false, `229: The SELECT permission was denied on the object 't', database 'work', schema 'dbo'.`},
		{`DENY SELECT ON t TO u; GRANT SELECT ON t TO u`, "SELECT", false, ``},
	} {
		t.Run(c.grant+" "+c.permission, func(t *testing.T) {
			t.Parallel()
			s := newLab(t).session()
			s.run(`CREATE USER u WITHOUT LOGIN; CREATE ROLE r; ALTER ROLE r ADD MEMBER u; CREATE TABLE t (a int, b int); ` + c.grant)
			chain := (*schema.Principal)(nil)
			if c.chain {
				chain = s.db.Dbo()
			}
			if got := failure(s.db.Check(s.db.Principal("u"), c.permission, s.table("t"), chain)); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestMayColumns checks permissions on the columns 1 (a) and 2 (b).
func TestMayColumns(t *testing.T) {
	t.Parallel()
	const table = `229: The SELECT permission was denied on the object 't', database 'work', schema 'dbo'.`
	const column = `230: The SELECT permission was denied on the column 'b' of the object 't', database 'work', schema 'dbo'.`
	a, b := schema.ColumnName{ID: 1, Name: "a"}, schema.ColumnName{ID: 2, Name: "b"}
	for _, c := range []struct {
		grant   string
		columns []schema.ColumnName
		want    string
	}{
		{``, []schema.ColumnName{a}, table},
		{`GRANT SELECT ON t TO u`, []schema.ColumnName{a, b}, ``},
		{`GRANT SELECT (a) ON t TO u`, []schema.ColumnName{a}, ``},
		{`GRANT SELECT (a) ON t TO u`, []schema.ColumnName{a, b}, column},
		{`GRANT SELECT ON t TO u; DENY SELECT (b) ON t TO u`, []schema.ColumnName{a}, ``},
		{`GRANT SELECT ON t TO u; DENY SELECT (b) ON t TO u`, []schema.ColumnName{a, b}, column},
		{`DENY SELECT ON t TO r; GRANT SELECT (a) ON t TO u`, []schema.ColumnName{a}, ``},
		{`GRANT SELECT ON t (a, b) TO u`, []schema.ColumnName{a, b}, ``},
		{`GRANT SELECT (a) ON t TO u`, nil, ``},
		{``, nil, table},
	} {
		t.Run(c.grant, func(t *testing.T) {
			t.Parallel()
			s := newLab(t).session()
			s.run(`CREATE USER u WITHOUT LOGIN; CREATE ROLE r; ALTER ROLE r ADD MEMBER u; CREATE TABLE t (a int, b int); ` + c.grant)
			if got := failure(s.db.CheckColumns(s.db.Principal("u"), "SELECT", s.table("t"), c.columns)); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}
