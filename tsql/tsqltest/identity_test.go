package tsqltest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// told is all that a batch returns: the values of its result sets, and the numbers of its errors, each behind a !.
func told(t *testing.T, conn *tsqltest.Conn, batch string) string {
	t.Helper()
	result, err := conn.Exec(t.Context(), batch)
	var words []string
	for _, set := range result.Sets {
		for _, row := range set.Rows {
			for _, v := range row {
				words = append(words, fmt.Sprint(v))
			}
		}
	}
	return strings.Join(append(words, numbers(t, err)...), ",")
}

// numbers are those of the errors of T-SQL.
func numbers(t *testing.T, err error) []string {
	t.Helper()
	var list []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			list = append(list, numbers(t, one)...)
		}
		return list
	}
	if e, ok := errors.AsType[*tsqltest.Error](err); ok {
		return []string{fmt.Sprint("!", e.Number)}
	} else if err != nil {
		t.Errorf("%v is no error of T-SQL", err)
	}
	return list
}

// firm is a server with users: joe and ann have logins, guy has none, and boss is a member of db_owner. The table
// dbo.open is everybody's, dbo.closed is dbo's alone.
func firm(t *testing.T) *tsqltest.Server {
	t.Helper()
	server := tsqltest.New(t, tsqltest.Options{})
	if err := server.ApplyText(t.Context(), "firm.sql", `
		CREATE LOGIN joe WITH PASSWORD = 'joe-1'; CREATE LOGIN ann WITH PASSWORD = 'ann-1'; CREATE LOGIN lou WITH PASSWORD = 'lou-1';
		CREATE USER joe FOR LOGIN joe; CREATE USER annie FOR LOGIN ann; CREATE USER guy WITHOUT LOGIN;
		CREATE LOGIN boss WITH PASSWORD = 'boss-1'; CREATE USER boss FOR LOGIN boss;
		CREATE ROLE clerks; ALTER ROLE clerks ADD MEMBER joe; ALTER ROLE db_owner ADD MEMBER boss;
		CREATE TABLE dbo.[open] (a int); CREATE TABLE dbo.closed (a int);
		INSERT dbo.[open] VALUES (1); INSERT dbo.closed VALUES (2);
		GRANT SELECT ON dbo.[open] TO public;
		GRANT CREATE PROCEDURE TO public; GRANT ALTER ON SCHEMA::dbo TO boss;
		GO
		CREATE PROCEDURE dbo.me AS SELECT USER_NAME(), SUSER_SNAME();
		GO
		GRANT EXECUTE ON dbo.me TO public;`); err != nil {
		t.Fatal(err)
	}
	return server
}

func TestExecuteAs(t *testing.T) {
	t.Parallel()
	const who = "SELECT USER_NAME(), CURRENT_USER, SESSION_USER, SYSTEM_USER, SUSER_SNAME(), ORIGINAL_LOGIN()"
	for _, c := range []struct{ name, batch, want string }{
		{"user", `EXECUTE AS USER = 'annie'; ` + who, `annie,annie,annie,ann,ann,sa`},
		{"login", `EXECUTE AS LOGIN = 'ann'; ` + who, `annie,annie,annie,ann,ann,sa`},
		{"user without a login", `EXECUTE AS USER = 'guy'; SELECT USER_NAME(), LEFT(SUSER_SNAME(), 8), SUSER_ID()`, `guy,S-1-9-3-,<nil>`},
		{"name in a variable", `DECLARE @u sysname = 'joe'; EXECUTE AS USER = @u; SELECT USER_NAME()`, `joe`},
		{"revert", `EXECUTE AS USER = 'joe'; REVERT; ` + who, `dbo,dbo,dbo,sa,sa,sa`},
		{"nested", `EXECUTE AS USER = 'boss'; EXECUTE AS USER = 'joe'; SELECT USER_NAME(); REVERT; SELECT USER_NAME(); REVERT; SELECT USER_NAME()`, `joe,boss,dbo`},
		{"revert of nothing", `REVERT; SELECT USER_NAME()`, `dbo`},
		{"caller outside of a module", `EXECUTE AS USER = 'joe'; EXECUTE AS CALLER; SELECT USER_NAME(); REVERT; SELECT USER_NAME()`, `joe,dbo`},
		{"unknown user", `EXECUTE AS USER = 'nobody'`, `!15517`},
		{"role", `EXECUTE AS USER = 'clerks'`, `!15517`},
		{"system's user", `EXECUTE AS USER = 'sys'`, `!15517`},
		{"guest", `EXECUTE AS USER = 'guest'; SELECT USER_NAME()`, `guest`},
		{"user whose login has gone", `DROP LOGIN joe; EXECUTE AS USER = 'joe'`, `!15517`},
		{"unknown login", `EXECUTE AS LOGIN = 'nobody'`, `!15406`},
		{"login that is no user here", `EXECUTE AS LOGIN = 'lou'`, `!916`},
		{"user without the permission", `EXECUTE AS USER = 'joe'; EXECUTE AS USER = 'annie'; SELECT USER_NAME()`, `joe,!15517`},
		{"login without the permission", `EXECUTE AS LOGIN = 'joe'; EXECUTE AS LOGIN = 'ann'; SELECT USER_NAME()`, `joe,!15406`},
		{"oneself", `EXECUTE AS USER = 'joe'; EXECUTE AS USER = 'joe'; SELECT USER_NAME(); REVERT; SELECT USER_NAME()`, `joe,joe`},
		{"db_owner", `EXECUTE AS USER = 'boss'; EXECUTE AS USER = 'dbo'; SELECT USER_NAME()`, `dbo`},
		{"granted", `GRANT IMPERSONATE ON USER::annie TO joe; EXECUTE AS USER = 'joe'; EXECUTE AS USER = 'annie'; SELECT USER_NAME()`, `annie`},
		{"granted to a role", `GRANT IMPERSONATE ON USER::annie TO clerks; EXECUTE AS USER = 'joe'; EXECUTE AS USER = 'annie'; SELECT USER_NAME()`, `annie`},
		{"denied", `GRANT IMPERSONATE ON USER::annie TO clerks; DENY IMPERSONATE ON USER::annie TO joe; EXECUTE AS USER = 'joe'; EXECUTE AS USER = 'annie'`, `!15517`},
		{"granted on a login", `USE master; GRANT IMPERSONATE ON LOGIN::ann TO joe; USE test; EXECUTE AS LOGIN = 'joe'; EXECUTE AS LOGIN = 'ann'; SELECT USER_NAME()`, `annie`},
		{"granted on a login, as a user", `USE master; GRANT IMPERSONATE ON LOGIN::ann TO joe; USE test; EXECUTE AS USER = 'joe'; EXECUTE AS LOGIN = 'ann'`, `!15406`},
		{"denied on a login", `USE master; GRANT IMPERSONATE ANY LOGIN TO joe; DENY IMPERSONATE ON LOGIN::ann TO joe; USE test; EXECUTE AS LOGIN = 'joe'; EXECUTE AS LOGIN = 'ann'`, `!15406`},
		{"any login", `USE master; GRANT IMPERSONATE ANY LOGIN TO joe; USE test; EXECUTE AS LOGIN = 'joe'; EXECUTE AS LOGIN = 'ann'; SELECT USER_NAME()`, `annie`},
		{"grant on a login outside of master", `GRANT IMPERSONATE ON LOGIN::ann TO joe`, `!4621`},
		{"no revert", `EXECUTE AS USER = 'joe' WITH NO REVERT; PRINT 1; REVERT; SELECT USER_NAME()`, `joe,!15196`},
		{"no revert in dynamic SQL", `EXEC ('EXECUTE AS USER = ''joe'' WITH NO REVERT')`, `!15590`},
		{"right cookie", `DECLARE @c varbinary(100); EXECUTE AS USER = 'joe' WITH COOKIE INTO @c; SELECT USER_NAME(); REVERT WITH COOKIE = @c; SELECT USER_NAME()`, `joe,dbo`},
		{"no cookie", `DECLARE @c varbinary(100); EXECUTE AS USER = 'joe' WITH COOKIE INTO @c; REVERT; SELECT USER_NAME()`, `joe,!15591`},
		{"wrong cookie", `DECLARE @c varbinary(100), @d varbinary(100) = 0x01; EXECUTE AS USER = 'joe' WITH COOKIE INTO @c; REVERT WITH COOKIE = @d; SELECT USER_NAME()`, `joe,!15591`},
		{"needless cookie", `DECLARE @d varbinary(100) = 0x01; EXECUTE AS USER = 'joe'; REVERT WITH COOKIE = @d; SELECT USER_NAME()`, `joe,!15591`},
		{"another database as a user", `EXECUTE AS USER = 'dbo'; CREATE DATABASE other`, `!262`},
		{"USE as a user", `CREATE DATABASE other; EXECUTE AS USER = 'joe'; USE other; SELECT DB_NAME()`, `!916`},
		{"USE of a guest", `EXECUTE AS USER = 'joe'; USE tempdb; SELECT USER_NAME(); REVERT; USE test; REVERT; SELECT USER_NAME()`, `guest,dbo,!15199`},
		{"a table in another database", `CREATE DATABASE other; EXECUTE AS USER = 'joe'; SELECT * FROM other.dbo.t`, `!208`},
		{"end of dynamic SQL", `EXEC ('EXECUTE AS USER = ''joe''; SELECT USER_NAME()'); SELECT USER_NAME()`, `joe,dbo`},
		{"end of sp_executesql", `EXEC sp_executesql N'EXECUTE AS USER = ''joe''; SELECT USER_NAME()'; SELECT USER_NAME()`, `joe,dbo`},
		{"revert in dynamic SQL", `EXECUTE AS USER = 'joe'; EXEC ('REVERT; SELECT USER_NAME()')`, `joe`},
		{"text as a user", `EXEC ('SELECT USER_NAME()') AS USER = 'joe'; SELECT USER_NAME()`, `joe,dbo`},
		{"text as a login", `EXEC ('SELECT SUSER_SNAME()') AS LOGIN = N'ann'; SELECT SUSER_SNAME()`, `ann,sa`},
		{"text as nobody", `EXEC ('SELECT USER_NAME()') AS USER = 'nobody'`, `!15517`},
		{"rights", `EXECUTE AS USER = 'guy'; SELECT a FROM dbo.[open]; SELECT a FROM dbo.closed`, `1,!229`},
		{"roles", `EXECUTE AS USER = 'joe'; SELECT IS_MEMBER('clerks'), IS_MEMBER('db_owner'), IS_ROLEMEMBER('clerks'), IS_SRVROLEMEMBER('sysadmin')`, `1,0,1,0`},
		{"roles of dbo as a user", `EXECUTE AS USER = 'dbo'; SELECT IS_MEMBER('db_owner'), IS_SRVROLEMEMBER('sysadmin'), HAS_DBACCESS('test'), HAS_DBACCESS('model')`, `1,0,1,0`},
		{"HAS_PERMS_BY_NAME", `EXECUTE AS USER = 'joe'; SELECT HAS_PERMS_BY_NAME('dbo.closed', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('dbo.open', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('annie', 'USER', 'IMPERSONATE'), HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')`, `<nil>,1,0,0`},
		{"HAS_PERMS_BY_NAME of a login", `EXECUTE AS LOGIN = 'joe'; SELECT HAS_PERMS_BY_NAME('joe', 'LOGIN', 'IMPERSONATE'), HAS_PERMS_BY_NAME('ann', 'LOGIN', 'IMPERSONATE'), HAS_PERMS_BY_NAME('nobody', 'LOGIN', 'IMPERSONATE')`, `1,0,<nil>`},
		{"sessions", `EXECUTE AS LOGIN = 'joe'; SELECT login_name, original_login_name FROM sys.dm_exec_sessions WHERE session_id = @@SPID`, `joe,sa`},
		{"SIDs agree", `SELECT COUNT(*) FROM sys.server_principals WHERE sid = SUSER_SID(name) AND name IN ('sa', 'joe')`, `2`},
		{"server permission", `USE master; GRANT VIEW SERVER STATE TO joe; EXECUTE AS LOGIN = 'joe'; SELECT COUNT(*) FROM sys.dm_tran_locks WHERE 1 = 0`, `0`},
		{"server permission that is not there", `USE master; GRANT CONTROL SERVER TO joe`, `!49900`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := told(t, session(t, firm(t)), c.batch); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.batch, got, c.want)
			}
		})
	}
}

// TestExecuteAsOfModules: WITH EXECUTE AS, and what EXECUTE AS and REVERT do in a module. The batch creates dbo.p,
// which joe calls in the next one.
func TestExecuteAsOfModules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, create, call, want string }{
		{"caller", `CREATE PROCEDURE dbo.p WITH EXECUTE AS CALLER AS EXEC dbo.me`, `EXEC dbo.p`, `joe,joe`},
		{"owner", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS EXEC dbo.me`, `EXEC dbo.p; EXEC dbo.me`, `dbo,sa,joe,joe`},
		{"self", `CREATE PROCEDURE dbo.p WITH EXECUTE AS SELF AS EXEC dbo.me`, `EXEC dbo.p`, `dbo,sa`},
		{"user", `CREATE PROCEDURE dbo.p WITH EXECUTE AS 'annie' AS EXEC dbo.me`, `EXEC dbo.p`, `annie,ann`},
		{"dynamic SQL has the rights of the owner", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS EXEC ('SELECT a FROM dbo.closed')`, `EXEC dbo.p`, `2`},
		{"dynamic SQL breaks the chain of owners", `CREATE PROCEDURE dbo.p AS EXEC ('SELECT a FROM dbo.closed')`, `EXEC dbo.p`, `!229`},
		{"the chain of owners holds for a user", `CREATE PROCEDURE dbo.p WITH EXECUTE AS 'guy' AS SELECT a FROM dbo.closed; EXEC ('SELECT a FROM dbo.closed')`, `EXEC dbo.p`, `2,!229`},
		{"the owner has no rights on the server", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS SELECT IS_SRVROLEMEMBER('sysadmin'); EXECUTE AS LOGIN = 'ann'`, `EXEC dbo.p`, `0,!15406`},
		{"EXECUTE AS ends with the module", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS EXECUTE AS USER = 'annie'; SELECT USER_NAME()`, `EXEC dbo.p; SELECT USER_NAME()`, `annie,joe`},
		{"REVERT stays in the module", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS REVERT; SELECT USER_NAME(); EXECUTE AS USER = 'annie'; REVERT; SELECT USER_NAME()`, `EXEC dbo.p`, `dbo,dbo`},
		{"CALLER in a module", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS EXECUTE AS CALLER; SELECT USER_NAME(); REVERT; SELECT USER_NAME()`, `EXEC dbo.p`, `joe,dbo`},
		{"an error ends it", `CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS BEGIN TRY EXEC ('EXECUTE AS USER = ''annie''; THROW 50001, ''x'', 1') END TRY BEGIN CATCH SELECT USER_NAME() END CATCH`, `EXEC dbo.p; SELECT USER_NAME()`, `dbo,joe`},
		{"function", `CREATE FUNCTION dbo.p () RETURNS sysname WITH EXECUTE AS OWNER AS BEGIN RETURN USER_NAME() END`, `SELECT dbo.p(), USER_NAME()`, `dbo,joe`},
		{"trigger", `CREATE TRIGGER dbo.p ON dbo.[open] WITH EXECUTE AS 'annie' AFTER INSERT AS EXEC dbo.me`, `INSERT dbo.[open] VALUES (3); EXEC dbo.me`, `annie,ann,joe,joe`},
		{"in the catalog", `CREATE PROCEDURE dbo.p WITH EXECUTE AS 'annie' AS SELECT 1 AS one`, `REVERT; SELECT USER_NAME(execute_as_principal_id) FROM sys.sql_modules WHERE object_id = OBJECT_ID('dbo.p')`, `annie`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := session(t, firm(t))
			must(t, conn, c.create)
			must(t, conn, "GRANT INSERT ON dbo.[open] TO joe; EXECUTE AS USER = 'annie'; REVERT")
			if strings.HasPrefix(c.create, "CREATE TRIGGER") {
				must(t, conn, "GRANT EXECUTE ON dbo.me TO joe")
			} else {
				must(t, conn, "GRANT EXECUTE ON dbo.p TO joe")
			}
			must(t, conn, "EXECUTE AS USER = 'joe'")
			if got := told(t, conn, c.call); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.create, got, c.want)
			}
		})
	}
}

// Whoever names a user in WITH EXECUTE AS may impersonate him, and the user stays as long as the module does.
func TestExecuteAsNeedsImpersonate(t *testing.T) {
	t.Parallel()
	conn := session(t, firm(t))
	must(t, conn, "GRANT ALTER ON SCHEMA::dbo TO joe; EXECUTE AS USER = 'joe'")
	if got := told(t, conn, "CREATE PROCEDURE dbo.p WITH EXECUTE AS 'annie' AS SELECT 1"); got != "!15151" {
		t.Errorf("got %s, want error 15151", got)
	}
	must(t, conn, "CREATE PROCEDURE dbo.p WITH EXECUTE AS SELF AS SELECT USER_NAME()")
	must(t, conn, "REVERT")
	if got := told(t, conn, "EXEC dbo.p; DROP USER joe"); got != "joe,!15136" {
		t.Errorf("got %s, want joe and error 15136", got)
	}
}

// A connection that is taken from the pool again acts as its login.
func TestResetReverts(t *testing.T) {
	t.Parallel()
	db := firm(t).DB()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "EXECUTE AS USER = 'joe'"); err != nil {
		t.Fatal(err)
	}
	var user string
	if err := db.QueryRowContext(t.Context(), "SELECT USER_NAME()").Scan(&user); err != nil || user != "dbo" {
		t.Errorf("the user is %s (%v), want dbo", user, err)
	}
}

// A login that was disabled may not connect.
func TestDisabledLogin(t *testing.T) {
	t.Parallel()
	server := firm(t)
	must(t, session(t, server), "ALTER LOGIN joe DISABLE")
	if err := open(t, server.DSNOf("joe", "joe-1")).PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("connecting returns %v, want error 18470", err)
	}
}

// TestConnect: who may enter a database.
func TestConnect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, batch, want string }{
		{"denied", "DENY CONNECT TO joe; EXECUTE AS LOGIN = 'joe'", "!916"},
		{"denied to a role", "DENY CONNECT TO clerks; EXECUTE AS LOGIN = 'joe'", "!916"},
		{"revoked", "REVOKE CONNECT FROM joe; EXECUTE AS LOGIN = 'joe'", "!916"},
		{"granted again", "REVOKE CONNECT FROM joe; GRANT CONNECT TO joe; EXECUTE AS LOGIN = 'joe'; SELECT USER_NAME()", "joe"},
		{"guest", "GRANT CONNECT TO guest; EXECUTE AS LOGIN = 'lou'; SELECT USER_NAME(), HAS_DBACCESS('test')", "guest,1"},
		{"guest reads what is everybody's", "GRANT CONNECT TO guest; EXECUTE AS LOGIN = 'lou'; SELECT a FROM dbo.[open]; SELECT a FROM dbo.closed", "1,!229"},
		{"a login in use", "DROP LOGIN joe", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := told(t, session(t, firm(t)), c.batch); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.batch, got, c.want)
			}
		})
	}
	server := firm(t)
	if err := open(t, server.DSNOf("joe", "joe-1")).PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := told(t, session(t, server), "DROP LOGIN joe"); got != "!15434" {
		t.Errorf("a login that is connected is dropped with %s, want error 15434", got)
	}
}

// Functions in computed columns and rules belong to the table: who may use the table needs no right to call them.
func TestFunctionsOfTables(t *testing.T) {
	t.Parallel()
	server := firm(t)
	if err := server.ApplyText(t.Context(), "functions.sql", `
		CREATE FUNCTION dbo.twice (@n int) RETURNS int AS BEGIN RETURN 2 * @n END;
		GO
		CREATE TABLE dbo.u (a int DEFAULT dbo.twice(1), b AS dbo.twice(a), CHECK (dbo.twice(a) > 0));
		GRANT SELECT, INSERT ON dbo.u TO joe;`); err != nil {
		t.Fatal(err)
	}
	const batch = "EXECUTE AS USER = 'joe'; INSERT dbo.u DEFAULT VALUES; SELECT a, b FROM dbo.u; SELECT dbo.twice(1)"
	if got := told(t, session(t, server), batch); got != "2,4,!229" {
		t.Errorf("got %s, want 2,4 and error 229", got)
	}
}

// Whoever changes rows through a cursor needs the permission for the column.
func TestColumnsThroughCursors(t *testing.T) {
	t.Parallel()
	server := firm(t)
	must(t, session(t, server), "CREATE TABLE dbo.u (a int PRIMARY KEY, b int, c int); INSERT dbo.u VALUES (1, 2, 3); GRANT SELECT ON dbo.u TO joe; GRANT UPDATE (b) ON dbo.u TO joe")
	const cursor = "EXECUTE AS USER = 'joe'; DECLARE c CURSOR LOCAL FOR SELECT a, b, c FROM dbo.u FOR UPDATE; OPEN c; DECLARE @a int, @b int, @c int; FETCH c INTO @a, @b, @c; "
	for column, want := range map[string]string{"b": "1", "c": "0,!230"} {
		batch := cursor + "UPDATE dbo.u SET " + column + " = 4 WHERE CURRENT OF c; SELECT @@ROWCOUNT"
		if got := told(t, session(t, server), batch); got != want {
			t.Errorf("%s: %s, want %s", column, got, want)
		}
	}
}
