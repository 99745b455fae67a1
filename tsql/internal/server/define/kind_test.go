package define_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// TestDefinitions executes scripts and looks at the first error; there is none if it is empty.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`CREATE TYPE email FROM nvarchar(320) NOT NULL; CREATE TYPE dbo.ids AS TABLE (id bigint NOT NULL PRIMARY KEY)`, ``},
		{`CREATE TYPE ids AS TABLE (id int); CREATE TYPE IDS FROM int`, `219: The type 'dbo.IDS' already exists, or you do not have permission to create it.`},
		{`CREATE TYPE a FROM int; CREATE TYPE b FROM a`, `222: The base type "a" is not a valid base type for the alias data type.`},
		{`CREATE TYPE a FROM int; CREATE TABLE t (x a); DROP TYPE a`, `3732: Cannot drop type 'a' because it is being referenced by object 't'. There may be other objects that reference this type.`},
		{"CREATE TYPE a AS TABLE (x int)\nGO\nCREATE PROCEDURE p @a dbo.a READONLY AS RETURN\nGO\nDROP TYPE a", `3732: Cannot drop type 'a' because it is being referenced by object 'p'. There may be other objects that reference this type.`},
		{`DROP TYPE a`, `218: Could not find the type 'a'. Either it does not exist or you do not have the necessary permission.`},
		{`DROP TYPE IF EXISTS a`, ``},
		{"CREATE SCHEMA s\nGO\nCREATE SCHEMA S", "2714: There is already an object named 'S' in the database.\n2759: CREATE SCHEMA failed due to previous errors."},
		{"CREATE SCHEMA s\nGO\nCREATE TABLE s.t (a int)\nGO\nDROP SCHEMA s", `3729: Cannot drop schema 's' because it is being referenced by object 't'.`},
		{"CREATE SCHEMA s\nGO\nDROP SCHEMA s; DROP SCHEMA IF EXISTS s; DROP SCHEMA s", `15151: Cannot drop the schema 's', because it does not exist or you do not have permission.`},
		{`DROP SCHEMA dbo`, `15150: Cannot drop the schema 'dbo'.`},
		{"CREATE PROCEDURE p AS SELECT 1 AS x\nGO\nCREATE PROCEDURE P AS SELECT 2 AS x", `2714: There is already an object named 'p' in the database.`},
		{"ALTER PROCEDURE dbo.p AS SELECT 1 AS x", `208: Invalid object name 'dbo.p'.`},
		{"CREATE TABLE p (a int)\nGO\nCREATE OR ALTER PROCEDURE p AS SELECT 1 AS x", `2010: Cannot perform alter on 'p' because it is an incompatible object type.`},
		{"CREATE VIEW v AS SELECT 1 + 1", `4511: Create View or Function failed because no column name was specified for column 1.`},
		{"CREATE VIEW v AS SELECT 1 AS a, 2 AS A", `4506: Column names in each view or function must be unique. Column name 'A' in view or function 'v' is specified more than once.`},
		{"CREATE VIEW v (a, b) AS SELECT 1 AS a", `8159: 'v' has fewer columns than were specified in the column list.`},
		{"CREATE VIEW v AS SELECT a FROM nowhere", `208: Invalid object name 'nowhere'.`},
		{"CREATE FUNCTION f (@a int) RETURNS TABLE AS RETURN (SELECT @a AS a, @a + 1 AS b)\nGO\nDROP FUNCTION f", ``},
		{"CREATE FUNCTION f () RETURNS int AS BEGIN RETURN 1 END\nGO\nCREATE TABLE t (a int DEFAULT dbo.f())\nGO\nDROP FUNCTION f", `3729: Cannot DROP FUNCTION 'f' because it is being referenced by object 'DF__t__a__*'.`},
		{"CREATE TRIGGER tr ON t AFTER INSERT AS RETURN", `8197: The object 't' does not exist or is invalid for this operation.`},
		{"CREATE TABLE t (a int)\nGO\nCREATE TRIGGER tr ON t AFTER INSERT AS RETURN\nGO\nDISABLE TRIGGER tr ON t; ENABLE TRIGGER ALL ON t; DROP TRIGGER tr; DROP TRIGGER tr", `3701: Cannot drop the trigger 'tr', because it does not exist or you do not have permission.`},
		{"CREATE SEQUENCE s AS tinyint START WITH 300", `11708: An invalid value was specified for argument 'START WITH' for the given data type.`},
		{"CREATE SEQUENCE s INCREMENT BY 0", `11700: The increment for sequence object 's' cannot be zero.`},
		{"CREATE SYNONYM y FOR dbo.t; CREATE SYNONYM y FOR dbo.t", `2714: There is already an object named 'y' in the database.`},
		{"CREATE SCHEMA s\nGO\nCREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY); ALTER SCHEMA s TRANSFER dbo.t; DROP TABLE s.t; CREATE TABLE u (a int CONSTRAINT pk PRIMARY KEY)", ``},
		{`CREATE ROLE r; CREATE ROLE R`, `15023: User, group, or role 'R' already exists in the current database.`},
		{`ALTER ROLE r ADD MEMBER u`, `15151: Cannot alter the role 'r', because it does not exist or you do not have permission.`},
		{`CREATE ROLE r; ALTER ROLE r ADD MEMBER u`, `15151: Cannot add the principal 'u', because it does not exist or you do not have permission.`},
		{`CREATE ROLE r; CREATE USER u WITHOUT LOGIN; ALTER ROLE r ADD MEMBER u; DROP ROLE r`, `15144: The role has members. It must be empty before it can be dropped.`},
		{`CREATE ROLE r; CREATE USER u WITHOUT LOGIN; ALTER ROLE r ADD MEMBER u; ALTER ROLE r DROP MEMBER u; DROP ROLE r; DROP USER u`, ``},
		{`CREATE USER u FOR LOGIN nobody`, `15007: 'nobody' is not a valid login or you do not have permission.`},
		{`CREATE LOGIN l WITH PASSWORD = 'x'; CREATE LOGIN L WITH PASSWORD = 'x'`, `15025: The server principal 'L' already exists.`},
		{`GRANT EXECUTE ON dbo.p TO public`, `15151: Cannot find the object 'dbo.p', because it does not exist or you do not have permission.`},
		{`CREATE TABLE t (a int); GRANT SELECT ON t TO nobody`, `15151: Cannot find the user 'nobody', because it does not exist or you do not have permission.`},
		{`CREATE TABLE t (a int); GRANT EXECUTE ON t TO public`, `4606: Granted or revoked privilege EXECUTE is not compatible with object.`},
		{`GRANT SELECT ON SCHEMA::dbo TO dbo`, `4624: Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or yourself.`},
		{
			`CREATE DATABASE other; ALTER DATABASE other SET READ_COMMITTED_SNAPSHOT ON; CREATE TABLE other.dbo.t (a int); DROP DATABASE other; DROP DATABASE other`,
			`3701: Cannot drop the database 'other', because it does not exist or you do not have permission.`,
		},
		{`ALTER DATABASE work SET COMPATIBILITY_LEVEL = 77`, `15048: Valid values of the database compatibility level are 100, 110, 120, 130, 140, 150, or 160.`},
		{`DROP DATABASE work`, `3702: Cannot drop database "work" because it is currently in use.`},
		{`CREATE TABLE t (a int, INDEX x (a)); UPDATE STATISTICS t; UPDATE STATISTICS t x WITH FULLSCAN; UPDATE STATISTICS dbo.t (x); DBCC FREEPROCCACHE; CHECKPOINT`, ``},
		{`UPDATE STATISTICS dbo.t`, `2706: Table 't' does not exist.`},
		{`CREATE TABLE t (a int); UPDATE STATISTICS t (y)`, `2767: Could not locate statistics 'y' in the system catalogs.`},
		{`DROP STATISTICS dbo.t.x`, `3701: Cannot drop the statistics 'dbo.t.x', because it does not exist or you do not have permission.`},
		{`CREATE TABLE t (a int, INDEX x (a)); DROP STATISTICS t.x`, `3739: Cannot DROP the index 't.x' because it is not a statistics collection.`},
		{`CREATE TABLE t (a int) ON [PRIMARY] TEXTIMAGE_ON "default"; CREATE INDEX x ON t (a) ON [PRIMARY]`, ``},
		{`CREATE TABLE t (a int) ON ps (a)`, `1921: Invalid partition scheme 'ps' specified.`},
		{`CREATE TABLE t (a int) ON [fast]`, `1921: Invalid filegroup 'fast' specified.`},
		{`CREATE TABLE t (a int); CREATE INDEX x ON t (a) ON ps (a)`, `1921: Invalid partition scheme 'ps' specified.`},
		{`CREATE TABLE t (a xml(c))`, `49900: xml with a schema collection is not supported by tsqltest`},
		{`CREATE TABLE t (a int MASKED WITH (FUNCTION = 'default()'))`, `49900: a column that is masked is not supported by tsqltest (batch:1:17)`},
		{`CREATE NONCLUSTERED COLUMNSTORE INDEX x ON t (a)`, `49900: a columnstore index is not supported by tsqltest (batch:1:1)`},
		{`CREATE TABLE t (a int) WITH (MEMORY_OPTIMIZED = ON)`, `49900: the option MEMORY_OPTIMIZED of a table is not supported by tsqltest (batch:1:30)`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			s := l.session()
			if got := generatedName.ReplaceAllString(failure(s.try(c.text)), "__*"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestModuleText checks what the server keeps of a definition.
func TestModuleText(t *testing.T) {
	t.Parallel()
	const head = "-- what it does: OR ALTER\n"
	for _, c := range []struct{ text, want string }{
		{head + "CREATE PROC dbo.p AS SELECT 1 AS x;\n", head + "CREATE PROC dbo.p AS SELECT 1 AS x;\n"},
		{head + "CREATE OR ALTER PROCEDURE dbo.p AS SELECT 1 AS x", head + "CREATE   PROCEDURE dbo.p AS SELECT 1 AS x"},
		{"CREATE /* or */ OR\nALTER PROCEDURE dbo.p AS SELECT 2 AS x", "CREATE /* or */ \n PROCEDURE dbo.p AS SELECT 2 AS x"},
	} {
		s := newLab(t).session()
		s.run(c.text)
		m, ok := s.db.Find("dbo", "p", "").(*schema.Module)
		if !ok || m.Text != c.want {
			t.Fatalf("got %q, want %q", m.Text, c.want)
		}
		if got := m.File.Text; got != m.Text {
			t.Errorf("the tree's file is %q", got)
		}
		s.options["QUOTED_IDENTIFIER"] = "OFF"
		s.run("  alter procedure dbo.p AS SELECT 3 AS x")
		if m.Text != "  CREATE procedure dbo.p AS SELECT 3 AS x" || m.QuotedIdentifier || !m.AnsiNulls {
			t.Errorf("after ALTER: %q, QUOTED_IDENTIFIER %t, ANSI_NULLS %t", m.Text, m.QuotedIdentifier, m.AnsiNulls)
		}
	}
}

// TestUndo checks that a rollback takes back whatever was defined.
func TestUndo(t *testing.T) {
	t.Parallel()
	s := newLab(t).session()
	s.run("CREATE SCHEMA a\nGO\nCREATE TABLE a.t (x int PRIMARY KEY)\nGO\nCREATE PROCEDURE a.p AS SELECT 1 AS x\nGO\n" +
		"CREATE ROLE r; CREATE USER u WITHOUT LOGIN; GRANT SELECT ON a.t TO r; CREATE TYPE a.l AS TABLE (x int)")
	before := count(s.db)
	s.begin()
	s.run("DROP TABLE a.t; DROP PROCEDURE a.p; DROP TYPE a.l; DROP SCHEMA a; DROP ROLE r; DROP USER u")
	s.run("CREATE SCHEMA b\nGO\nCREATE TABLE b.t (x int UNIQUE REFERENCES b.t (x), y int)\nGO\nCREATE OR ALTER VIEW b.v AS SELECT x FROM b.t")
	s.rollback()
	if after := count(s.db); after != before {
		t.Errorf("after the rollback %v, before %v", after, before)
	}
	s.begin()
	s.run("CREATE TABLE #t (x int); CREATE TABLE b (x int)")
	s.run("ALTER PROCEDURE a.p AS SELECT 2 AS x")
	s.rollback()
	if m, ok := s.db.Find("a", "p", "").(*schema.Module); !ok || m.Text != "CREATE PROCEDURE a.p AS SELECT 1 AS x" {
		t.Errorf("the procedure is %v", m)
	}
	if after := count(s.db); after != before || len(s.temporary) != 0 {
		t.Errorf("after the rollback %v, before %v, %d temporary tables", after, before, len(s.temporary))
	}
}

// count counts what a database has.
func count(db *schema.Database) [5]int {
	return [5]int{len(db.Objects), len(db.Schemas), len(db.Types), len(db.Principals), len(db.Permissions)}
}

func TestTableVariable(t *testing.T) {
	t.Parallel()
	s := newLab(t).session()
	s.run(`CREATE TYPE l AS TABLE (id int NOT NULL PRIMARY KEY, note varchar(3) NULL DEFAULT 'new', twice AS (id * 2), CHECK (id > 0))`)
	template := s.db.FindType("dbo", "l", "").Table
	one, other := define.Instantiate(template), define.Instantiate(template)
	f, err := define.NewFiller(s, one, 2)
	if err != nil {
		t.Fatal(err)
	}
	add := func(id value.Value, note value.Value, isDefault bool) string {
		row, err := f.Row(&execute.Frame{Context: t.Context(), Session: s}, []value.Value{id, note},
			func(i int) (value.Type, bool) { return template.Columns[i].Type, i == 1 && isDefault })
		if err != nil {
			return failure(err)
		}
		return failure(s.transaction(func() error {
			_, err := s.statement.Insert(one.Data, row)
			return err
		}))
	}
	for _, c := range []struct {
		id, note  value.Value
		isDefault bool
		want      string
	}{
		{value.OfInt(1), value.OfString("x"), false, ``},
		{value.OfInt(2), value.Value{}, true, ``},
		{value.OfInt(0), value.Value{}, false, `547: The INSERT statement conflicted with the CHECK constraint "CK__TT_l__*". The conflict occurred in database "tempdb", table "TT_l".`},
		{value.Value{}, value.Value{}, false, `515: Cannot insert the value NULL into column 'id', table 'TT_l'; column does not allow nulls. INSERT fails.`},
	} {
		got := generatedName.ReplaceAllString(add(c.id, c.note, c.isDefault), "__*")
		if c.want != "" && got == "" || c.want == "" && got != "" {
			t.Errorf("%v: got %q, want %q", c.id, got, c.want)
		}
	}
	if one.Data.Rows() != 2 || other.Data.Rows() != 0 {
		t.Errorf("%d rows, and %d in another variable", one.Data.Rows(), other.Data.Rows())
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	s := newLab(t).session()
	s.run(`CREATE TABLE t (a int CONSTRAINT k PRIMARY KEY, b int, INDEX x (b))`)
	for _, c := range []struct {
		from     []string
		to, kind string
		want     string
	}{
		{[]string{"dbo", "t"}, "u", "", ``},
		{[]string{"u", "b"}, "c", "COLUMN", ``},
		{[]string{"u", "x"}, "y", "INDEX", ``},
		{[]string{"k"}, "pk", "OBJECT", ``},
		{[]string{"t"}, "v", "", `15225: No item by the name of 't' could be found in the current database 'work', given that @itemtype was input as '(null)'.`},
		{[]string{"u", "nope"}, "v", "COLUMN", `15248: Either the parameter @objname is ambiguous or the claimed @objtype (COLUMN) is wrong.`},
		{[]string{"u", "a"}, "c", "COLUMN", `15335: Error: The new name 'c' is already in use as a COLUMN name and would cause a duplicate that is not permitted.`},
	} {
		err := s.transaction(func() error { return define.Rename(s, c.from, c.to, c.kind) })
		if got := failure(err); got != c.want {
			t.Errorf("%v: got %s\nwant %s", c.from, got, c.want)
		}
	}
	if got, want := describe(s.table("u")), "a int; c int null; 1 unique clustered PK pk(a); 2 y(c)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
