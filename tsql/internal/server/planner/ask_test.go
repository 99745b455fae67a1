package planner_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// asker is a session that somebody has logged in to.
type asker struct {
	*writer

	login *schema.Login
	error *execute.CaughtError
}

func (a *asker) Login() *schema.Login                         { return a.login }
func (a *asker) Principal() *schema.Principal                 { return a.db.UserOf(a.login) }
func (a *asker) UserIn(db *schema.Database) *schema.Principal { return db.UserOf(a.Login()) }
func (a *asker) CaughtError() *execute.CaughtError            { return a.error }
func (*asker) TemporaryProcedure(string) *schema.Module       { return nil }
func (a *asker) Temporary(name string) *schema.Table          { return a.temp[name] }
func (a *asker) SessionContext(key string) execute.Value {
	if key != "tenant" {
		return execute.Value{}
	}
	return value.OfVariant(value.OfInt(42), value.OfKind("int"))
}

func (a *asker) ApplicationMode(principal, resource, _ string) (string, bool) {
	return "Exclusive", principal == "public" && resource == "r"
}

func (*asker) TriggerLevel(int32) int64 { return 0 }

func (a *asker) ApplicationFree(_, _, mode, _ string) (free, ok bool) { return mode == "Shared", true }

func (a *asker) Info(name string) value.Value {
	switch name {
	case "LOGIN":
		return value.OfString(a.login.Name)
	case "SERVER_NAME":
		return value.OfString("box")
	case "TRANCOUNT":
		return value.OfInt(2)
	default:
		return value.Value{}
	}
}

// ask evaluates an expression; its value is converted to text.
func (a *asker) ask(text string) string {
	a.tb.Helper()
	a.file = diag.NewFile("ask.sql", "SELECT "+text+" AS x")
	script, found := syntax.Parse(a.file)
	if len(found) > 0 {
		a.tb.Fatalf("%v", found)
	}
	st, err := planner.Compile(a.env(), script.Batches[0].Stmts[0])
	if err != nil {
		return failureOf(err)
	}
	out := "no row"
	x := a.lab.frame()
	x.Session = a
	if err := a.within(func() error {
		_, err := st.Run(x, func(row []value.Value) error {
			out = show(row[0], st.Columns[0].Type)
			return nil
		})
		return err
	}); err != nil {
		return failureOf(err)
	}
	return out
}

const askSetup = `CREATE TABLE t (id int IDENTITY (5, 2) CONSTRAINT pk PRIMARY KEY NONCLUSTERED, name nvarchar(20) NULL, price decimal(9, 2) NOT NULL, twice AS (price * 2), INDEX x (name) WITH (ALLOW_PAGE_LOCKS = OFF))
GO
CREATE SCHEMA s
GO
CREATE TABLE s.[odd.name] (a int)
GO
CREATE PROCEDURE s.p AS SELECT 1 AS x
GO
CREATE VIEW dbo.v AS SELECT id FROM t
GO
CREATE TYPE s.list AS TABLE (a int)
GO
CREATE LOGIN l WITH PASSWORD = 'x'; CREATE USER u FOR LOGIN l; CREATE ROLE r; ALTER ROLE r ADD MEMBER u; GRANT SELECT ON t TO r; GRANT UPDATE (name) ON t TO u
GO
CREATE TABLE #temp (a int); CREATE SYNONYM syn FOR dbo.t`

func TestSessionFunctions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ login, text, want string }{
		{"sa", `CASE WHEN OBJECT_ID('t') = OBJECT_ID(N'[dbo].[t]', 'U') THEN 1 ELSE 0 END`, "1"},
		{"sa", `OBJECT_ID('t', 'V')`, "NULL"},
		{"sa", `OBJECT_ID('nope')`, "NULL"},
		{"sa", `OBJECT_NAME(OBJECT_ID('lab.s.[odd.name]'))`, "odd.name"},
		{"sa", `OBJECT_SCHEMA_NAME(OBJECT_ID('s.p', 'P'))`, "s"},
		{"sa", `OBJECT_NAME(OBJECT_ID('tempdb..#temp'), DB_ID('tempdb'))`, "NULL"},
		{"sa", `CASE WHEN OBJECT_ID('tempdb..#temp') IS NULL THEN 'none' ELSE 'there' END`, "there"},
		{"sa", `OBJECT_ID('#temp')`, "NULL"},
		{"sa", `OBJECT_DEFINITION(OBJECT_ID('s.p'))`, "CREATE PROCEDURE s.p AS SELECT 1 AS x"},
		{"l", `OBJECT_ID('s.p')`, "NULL"},
		{"l", `OBJECT_NAME(OBJECT_ID('t'))`, "t"},
		{"l", `OBJECT_DEFINITION(OBJECT_ID('dbo.v'))`, "NULL"},
		{"sa", `SCHEMA_ID('dbo')`, "1"},
		{"sa", `SCHEMA_NAME(SCHEMA_ID('S'))`, "s"},
		{"sa", `SCHEMA_ID('nope')`, "NULL"},
		{"sa", `SCHEMA_NAME()`, "dbo"},
		{"sa", `TYPE_ID('int')`, "56"},
		{"sa", `TYPE_NAME(231)`, "nvarchar"},
		{"sa", `TYPE_NAME(TYPE_ID('s.list'))`, "list"},
		{"sa", `TYPE_ID('list')`, "NULL"},
		{"sa", `DB_NAME()`, "lab"},
		{"sa", `DB_ID('master')`, "1"},
		{"sa", `DB_NAME(2)`, "tempdb"},
		{"sa", `DB_ID('nope')`, "NULL"},
		{"sa", `COL_LENGTH('t', 'name')`, "40"},
		{"sa", `COL_LENGTH('dbo.t', 'price')`, "5"},
		{"sa", `COL_LENGTH('t', 'nope')`, "NULL"},
		{"sa", `COL_NAME(OBJECT_ID('t'), 2)`, "name"},
		{"sa", `COLUMNPROPERTY(OBJECT_ID('t'), 'id', 'IsIdentity')`, "1"},
		{"sa", `COLUMNPROPERTY(OBJECT_ID('t'), 'name', 'AllowsNull')`, "1"},
		{"sa", `COLUMNPROPERTY(OBJECT_ID('t'), 'twice', 'IsComputed')`, "1"},
		{"sa", `COLUMNPROPERTY(OBJECT_ID('t'), 'price', 'precision')`, "9"},
		{"sa", `COLUMNPROPERTY(OBJECT_ID('t'), 'id', 'Nonsense')`, "NULL"},
		{"sa", `OBJECTPROPERTY(OBJECT_ID('t'), 'IsUserTable')`, "1"},
		{"sa", `OBJECTPROPERTY(OBJECT_ID('s.p'), 'IsUserTable')`, "0"},
		{"sa", `OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasPrimaryKey')`, "1"},
		{"sa", `OBJECTPROPERTY(OBJECT_ID('t'), 'TableHasClustIndex')`, "0"},
		{"sa", `OBJECTPROPERTY(OBJECT_ID('s.p'), 'ExecIsQuotedIdentOn')`, "1"},
		{"sa", `OBJECTPROPERTY(0, 'IsTable')`, "NULL"},
		{"sa", `CAST(OBJECTPROPERTYEX(OBJECT_ID('syn'), 'BaseType') AS varchar(2))`, "U "},
		{"sa", `INDEXPROPERTY(OBJECT_ID('t'), 'x', 'IsPageLockDisallowed')`, "1"},
		{"sa", `INDEXPROPERTY(OBJECT_ID('t'), 'pk', 'IsUnique')`, "1"},
		{"sa", `IDENT_SEED('t')`, "5"},
		{"sa", `IDENT_INCR('t')`, "2"},
		{"sa", `IDENT_CURRENT('t')`, "5"},
		{"sa", `IDENT_CURRENT('v')`, "NULL"},
		{"sa", `USER_NAME()`, "dbo"},
		{"l", `USER_NAME()`, "u"},
		{"l", `CURRENT_USER`, "u"},
		{"l", `SUSER_SNAME()`, "l"},
		{"sa", `SUSER_NAME(1)`, "sa"},
		{"sa", `SUSER_SNAME(0x01)`, "sa"},
		{"l", `SYSTEM_USER`, "l"},
		{"sa", `USER_ID('dbo')`, "1"},
		{"sa", `DATABASE_PRINCIPAL_ID('db_owner')`, "16384"},
		{"sa", `USER_ID('nope')`, "NULL"},
		{"sa", `IS_MEMBER('db_owner')`, "1"},
		{"l", `IS_MEMBER('db_owner')`, "0"},
		{"l", `IS_MEMBER('r')`, "1"},
		{"l", `IS_MEMBER('nope')`, "NULL"},
		{"sa", `IS_ROLEMEMBER('r', 'u')`, "1"},
		{"l", `IS_ROLEMEMBER('db_owner')`, "0"},
		{"sa", `IS_SRVROLEMEMBER('sysadmin')`, "1"},
		{"l", `IS_SRVROLEMEMBER('sysadmin')`, "0"},
		{"l", `IS_SRVROLEMEMBER('nope')`, "NULL"},
		{"l", `HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT')`, "1"},
		{"l", `HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'DELETE')`, "0"},
		{"l", `HAS_PERMS_BY_NAME('s.p', 'OBJECT', 'EXECUTE')`, "NULL"},
		{"l", `HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'UPDATE', 'name', 'COLUMN')`, "1"},
		{"l", `HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'UPDATE', 'price', 'COLUMN')`, "0"},
		{"sa", `HAS_PERMS_BY_NAME('s', 'SCHEMA', 'EXECUTE')`, "1"},
		{"l", `HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'CREATE TABLE')`, "0"},
		{"l", `HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')`, "0"},
		{"sa", `HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')`, "1"},
		{"sa", `CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(20))`, "16.0.1000.6"},
		{"sa", `CAST(SERVERPROPERTY('no such property') AS nvarchar(10))`, "NULL"},
		{"sa", `CAST(SERVERPROPERTY('EngineEdition') AS int)`, "3"},
		{"sa", `CAST(SERVERPROPERTY('ServerName') AS nvarchar(20))`, "box"},
		{"sa", `CAST(DATABASEPROPERTYEX('lab', 'Collation') AS nvarchar(50))`, "SQL_Latin1_General_CP1_CI_AS"},
		{"sa", `DATABASEPROPERTYEX('nope', 'Collation')`, "NULL"},
		{"sa", `CAST(SESSION_CONTEXT(N'tenant') AS int)`, "42"},
		{"sa", `SESSION_CONTEXT(N'nope')`, "NULL"},
		{"sa", `APPLOCK_MODE('public', 'r', 'Session')`, "Exclusive"},
		{"sa", `APPLOCK_TEST('public', 'r', 'Exclusive', 'Session')`, "0"},
		{"sa", `ERROR_NUMBER()`, "50001"},
		{"sa", `ERROR_MESSAGE() + '/' + CAST(ERROR_LINE() AS varchar(5))`, "oh/7"},
		{"sa", `ERROR_PROCEDURE()`, "NULL"},
		{"sa", `ERROR_SEVERITY() + ERROR_STATE()`, "18"},
		{"sa", `@@TRANCOUNT`, "2"},
		{"sa", `@@ROWCOUNT + ROWCOUNT_BIG()`, "14"},
		{"sa", `@@MAX_PRECISION`, "38"},
		{"sa", `@@SERVERNAME`, "box"},
		{"sa", `@@DBTS`, "0x00000000000007D0"},
		{"sa", `LEFT(@@VERSION, 25)`, "Microsoft SQL Server 2022"},
		{"sa", `OBJECT_NAME()`, "189: The object_name function requires 1 to 2 arguments."},
		{"sa", `SCHEMA_NAME('x')`, "245: Conversion failed when converting the varchar value 'x' to data type int."},
	} {
		t.Run(c.login+" "+c.text, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			if got := w.do(askSetup); got != "" {
				t.Fatal(got)
			}
			a := &asker{writer: w, login: w.server.Login(c.login), error: &execute.CaughtError{Number: 50001, Class: 16, State: 2, Line: 7, Message: "oh"}}
			if got := a.ask(c.text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
