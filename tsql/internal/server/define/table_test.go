package define_test

import (
	"regexp"
	"testing"
)

// generatedName matches the digits that make a name that the server has made up different from others.
var generatedName = regexp.MustCompile(`__[0-9A-F]{8,16}\b`)

func TestCreateTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`CREATE TABLE t (a int, b int NOT NULL)`, `a int null; b int; 0`},
		{
			`CREATE TABLE t (a int IDENTITY, b varchar(5) COLLATE Latin1_General_100_BIN2, c nvarchar(max))`,
			`a int identity(1,1); b varchar(5) Latin1_General_100_BIN2 null; c nvarchar(max) null; 0`,
		},
		{
			`CREATE TABLE t (a bigint IDENTITY(-5, 2) PRIMARY KEY, b decimal(10, 2) DEFAULT 1)`,
			`a bigint identity(-5,2); b decimal(10,2) null default (1); 1 unique clustered PK PK__t__*(a)`,
		},
		{
			`CREATE TABLE t (a int, b int, PRIMARY KEY NONCLUSTERED (a, b DESC), UNIQUE CLUSTERED (b))`,
			`a int; b int; 1 unique clustered UQ UQ__t__*(b); 2 unique PK PK__t__*(a,b desc)`,
		},
		{
			`CREATE TABLE t (a int, b int, CONSTRAINT pk PRIMARY KEY (a), INDEX c CLUSTERED (b))`,
			`a int; b int null; 1 clustered c(b); 2 unique PK pk(a)`,
		},
		{
			`CREATE TABLE t (a int CONSTRAINT ck CHECK (a > 0), b AS (a + 1), c AS a * 2 PERSISTED NOT NULL)`,
			`a int null; b int null as (a + 1); c int as (a * 2) stored; 0; ck (a > 0)`,
		},
		{
			`CREATE TABLE t (a int, b int, INDEX x (a) INCLUDE (b) WHERE b > 0 WITH (ALLOW_PAGE_LOCKS = OFF), UNIQUE (b))`,
			`a int null; b int null; 0; 2 nopagelocks x(a) include(b) where (b > 0); 3 unique UQ UQ__t__*(b)`,
		},
		{
			`CREATE TABLE t (a int, b rowversion, c sysname, d sysname NULL)`,
			`a int null; b rowversion; c nvarchar(128); d nvarchar(128) null; 0`,
		},
		{`CREATE TYPE word FROM varchar(7) NOT NULL; CREATE TABLE t (a word, b dbo.word NULL)`, `a varchar(7); b varchar(7) null; 0`},
		{
			`CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (a int REFERENCES p ON DELETE CASCADE, b int CONSTRAINT f REFERENCES p (id) ON UPDATE SET NULL)`,
			`a int null; b int null; 0; FK__t__a__*(a)->p(id) CASCADE/NO ACTION; f(b)->p(id) NO ACTION/SET NULL`,
		},
		{
			`CREATE TABLE t (id int PRIMARY KEY, parent int REFERENCES t (id))`,
			`id int; parent int null; 1 unique clustered PK PK__t__*(id); FK__t__paren__*(parent)->t(id) NO ACTION/NO ACTION`,
		},
		{
			`CREATE TABLE t (a int, b int); ALTER TABLE t ADD c int NOT NULL DEFAULT 5, CONSTRAINT k UNIQUE (c), CHECK (a < b)`,
			`a int null; b int null; c int default (5); 0; 2 unique UQ k(c); CK__t__* (a < b)`,
		},
		{`CREATE TABLE t (a int, b int, c int, INDEX x (c, a)); ALTER TABLE t DROP COLUMN b`, `a int null; c int null; 0; 2 x(c,a)`},
		{
			`CREATE TABLE t (a int, b varchar(5), INDEX x (b)); ALTER TABLE t ALTER COLUMN b varchar(10)`,
			`a int null; b varchar(10) null; 0; 2 x(b)`,
		},
		{`CREATE TABLE t (a int, CONSTRAINT d CHECK (a = 1)); ALTER TABLE t DROP CONSTRAINT d; ALTER TABLE t DROP CONSTRAINT IF EXISTS d`, `a int null; 0`},
		{`CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY, b int, INDEX x (b)); ALTER TABLE t DROP CONSTRAINT pk`, `a int; b int null; 0; 2 x(b)`},
		{
			`CREATE TABLE t (a int, b int); CREATE UNIQUE CLUSTERED INDEX x ON t (a DESC); CREATE INDEX y ON t (b) INCLUDE (a)`,
			`a int null; b int null; 1 unique clustered x(a desc); 2 y(b) include(a)`,
		},
		{`CREATE TABLE t (a int, b int, INDEX x (a)); CREATE INDEX x ON t (b) WITH (DROP_EXISTING = ON)`, `a int null; b int null; 0; 2 x(b)`},
		{
			`CREATE TABLE t (a int, INDEX x (a)); ALTER INDEX x ON t SET (ALLOW_PAGE_LOCKS = OFF); ALTER INDEX ALL ON t REBUILD`,
			`a int null; 0; 2 nopagelocks x(a)`,
		},
		{`CREATE TABLE t (a int, INDEX x (a)); ALTER INDEX x ON t DISABLE`, `a int null; 0; 2 disabled x(a)`},
		{`CREATE TABLE t (a int, b AS (a + 1)); CREATE INDEX x ON t (b)`, `a int null; b int null as (a + 1) stored; 0; 2 x(b)`},
		{`CREATE TABLE t (a int, INDEX x (a)); DROP INDEX x ON t; DROP INDEX IF EXISTS x ON t`, `a int null; 0`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			s := newLab(t).session()
			s.run(c.text)
			if got := generatedName.ReplaceAllString(describe(s.table("t")), "__*"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTableErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`CREATE TABLE t (a int, A int)`, `2705: Column names in each table must be unique. Column name 'A' in table 't' is specified more than once.`},
		{`CREATE TABLE t (a nope)`, `2715: Column, parameter, or variable #1: Cannot find data type nope.`},
		{`CREATE TABLE t (a varchar(9000))`, `131: The size (9000) given to the column 'a' exceeds the maximum allowed for any data type (8000).`},
		{`CREATE TABLE t (a int); CREATE TABLE dbo.T (a int)`, `2714: There is already an object named 't' in the database.`},
		{`CREATE TABLE nope.t (a int)`, `2760: The specified schema name "nope" either does not exist or you do not have permission to use it.`},
		{`CREATE TABLE t (a int NULL PRIMARY KEY)`, "8111: Cannot define PRIMARY KEY constraint on nullable column in table 't'.\n1750: Could not create constraint or index. See previous errors."},
		{`CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)`, `8110: Cannot add multiple PRIMARY KEY constraints to table 't'.`},
		{`CREATE TABLE t (a int IDENTITY, b int IDENTITY)`, `2744: Multiple identity columns specified for table 't'. Only one identity column per table is allowed.`},
		{`CREATE TABLE t (a varchar(5) IDENTITY)`, `2749: Identity column 'a' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, unencrypted, and constrained to be nonnullable.`},
		{`CREATE TABLE t (a nvarchar(max) PRIMARY KEY)`, "1919: Column 'a' in table 't' is of a type that is invalid for use as a key column in an index.\n1750: Could not create constraint or index. See previous errors."},
		{`CREATE TABLE t (a char(1000), INDEX x CLUSTERED (a))`, `1944: Index 'x' was not created. This index has a key length of at least 1000 bytes. The maximum key length is 900 bytes.`},
		{`CREATE TABLE t (a int REFERENCES u)`, "1767: Foreign key 'FK__t__a__*' references invalid table 'u'.\n1750: Could not create constraint or index. See previous errors."},
		{`CREATE TABLE u (id int); CREATE TABLE t (a int REFERENCES u (id))`, "1776: There are no primary or candidate keys in the referenced table 'u' that match the referencing column list in the foreign key 'FK__t__a__*'.\n1750: Could not create constraint or index. See previous errors."},
		{`CREATE TABLE u (id bigint PRIMARY KEY); CREATE TABLE t (a int REFERENCES u (id))`, "1778: Column 'u.id' is not the same data type as referencing column 't.a' in foreign key 'FK__t__a__*'.\n1750: Could not create constraint or index. See previous errors."},
		{`CREATE TABLE t (id int PRIMARY KEY, p int REFERENCES t ON DELETE CASCADE)`, "1785: Introducing FOREIGN KEY constraint 'FK__t__p__*' on table 't' may cause cycles or multiple cascade paths. Specify ON DELETE NO ACTION or ON UPDATE NO ACTION, or modify other FOREIGN KEY constraints.\n1750: Could not create constraint or index. See previous errors."},
		{`CREATE TABLE t (a int DEFAULT b, b int)`, `128: The name "b" is not permitted in this context. Valid expressions are constants, constant expressions, and (in some contexts) variables. Column names are not permitted.`},
		{`CREATE TABLE t (a int, b AS a + 1, c AS b + 1)`, `1759: Computed column 'b' in table 't' is not allowed to be used in another computed-column definition.`},
		{`CREATE TABLE t (a AS PARSE('1' AS int) PERSISTED)`, `4936: Computed column 'a' in table 't' cannot be persisted because the column is non-deterministic.`},
		{`CREATE TABLE t (a AS GETDATE() PERSISTED)`, `4936: Computed column 'a' in table 't' cannot be persisted because the column is non-deterministic.`},
		{`CREATE TABLE t (a int, INDEX x (a)); CREATE INDEX X ON t (a)`, `1913: The operation failed because an index or statistics with name 'X' already exists on table 'dbo.t'.`},
		{`CREATE TABLE t (a int PRIMARY KEY); CREATE CLUSTERED INDEX x ON t (a)`, `1902: Cannot create more than one clustered index on table 't'. Drop the existing clustered index 'PK__t__*' before creating another.`},
		{`CREATE INDEX x ON t (a)`, `1088: Cannot find the object "t" because it does not exist or you do not have permissions.`},
		{`CREATE TABLE t (a int); CREATE INDEX x ON t (b)`, `1911: Column name 'b' does not exist in the target table or view.`},
		{`ALTER TABLE t ADD a int`, `4902: Cannot find the object "t" because it does not exist or you do not have permissions.`},
		{`CREATE TABLE t (a int); ALTER TABLE t DROP COLUMN b`, `4924: ALTER TABLE DROP COLUMN failed because column 'b' does not exist in table 't'.`},
		{`CREATE TABLE t (a int, b int, INDEX x (b)); ALTER TABLE t DROP COLUMN b`, "5074: The index 'x' is dependent on column 'b'.\n4922: ALTER TABLE DROP COLUMN b failed because one or more objects access this column."},
		{`CREATE TABLE t (a int, b int, INDEX x (b)); ALTER TABLE t ALTER COLUMN b bigint`, "5074: The index 'x' is dependent on column 'b'.\n4922: ALTER TABLE ALTER COLUMN b failed because one or more objects access this column."},
		{`CREATE TABLE t (a int CONSTRAINT d DEFAULT 1); ALTER TABLE t DROP CONSTRAINT e`, "3728: 'e' is not a constraint.\n3727: Could not drop constraint. See previous errors."},
		{`DROP TABLE t`, `3701: Cannot drop the table 't', because it does not exist or you do not have permission.`},
		{`CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (a int REFERENCES t); DROP TABLE t`, `3726: Could not drop object 't' because it is referenced by a FOREIGN KEY constraint.`},
		{`CREATE TABLE t (a int CONSTRAINT k UNIQUE); DROP INDEX k ON t`, `3723: An explicit DROP INDEX is not allowed on index 't.k'. It is being used for UNIQUE KEY constraint enforcement.`},
		{`CREATE SYNONYM t FOR x; DROP TABLE t`, `3705: Cannot use DROP TABLE with 't' because 't' is a synonym. Use DROP SYNONYM.`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got := generatedName.ReplaceAllString(failure(newLab(t).session().try(c.text)), "__*")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
