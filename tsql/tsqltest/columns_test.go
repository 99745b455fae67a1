package tsqltest_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestColumnPermissions: what the user u may do with the columns of dbo.t, and with those of views on it. The view
// dbo.v belongs to dbo, as the table does; the view x.v and the procedures of the schema x belong to somebody else.
func TestColumnPermissions(t *testing.T) {
	t.Parallel()
	const setup = `
		CREATE USER u WITHOUT LOGIN; CREATE USER x WITHOUT LOGIN; CREATE ROLE r; ALTER ROLE r ADD MEMBER u;
		CREATE TABLE dbo.t (id int PRIMARY KEY, a int, b int, ab AS a + b);
		INSERT dbo.t (id, a, b) VALUES (1, 2, 3);
		GO
		CREATE SCHEMA x AUTHORIZATION x;
		GO
		CREATE VIEW dbo.v AS SELECT id, a AS p, b AS q FROM dbo.t;
		GO
		CREATE VIEW x.v AS SELECT id, a AS p FROM dbo.t;
		GO
		CREATE PROCEDURE dbo.p AS SELECT b FROM dbo.t;`
	for _, c := range []struct{ name, grant, batch, want string }{
		{"none", ``, `SELECT a FROM dbo.t`, `!229`},
		{"granted", `GRANT SELECT (id, a) ON dbo.t TO u`, `SELECT a FROM dbo.t WHERE id = 1`, `2`},
		{"list behind the table", `GRANT SELECT ON dbo.t (id, a) TO u`, `SELECT a FROM dbo.t WHERE id = 1`, `2`},
		{"granted to a role", `GRANT SELECT (a) ON dbo.t TO r`, `SELECT a FROM dbo.t`, `2`},
		{"not granted", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT a, b FROM dbo.t`, `!230`},
		{"in WHERE", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT a FROM dbo.t WHERE b = 3`, `!230`},
		{"in ORDER BY", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT a FROM dbo.t ORDER BY b`, `!230`},
		{"in GROUP BY", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT COUNT(*) FROM dbo.t GROUP BY b`, `!230`},
		{"in ON", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT y.a FROM dbo.t AS y JOIN dbo.t AS z ON y.b = z.a`, `!230`},
		{"in a subquery", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT a FROM dbo.t AS o WHERE EXISTS (SELECT * FROM dbo.t AS i WHERE i.b = o.a)`, `!230`},
		{"in an expression outside of a query", `GRANT SELECT (a) ON dbo.t TO u`, `IF EXISTS (SELECT 1 FROM dbo.t WHERE b = 3) SELECT 1`, `!230`},
		{"star, an error for each column", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT * FROM dbo.t`, `!230,!230,!230`},
		{"star below EXISTS", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT 1 WHERE EXISTS (SELECT * FROM dbo.t)`, `1`},
		{"rows alone", `GRANT SELECT (a) ON dbo.t TO u`, `SELECT COUNT(*) FROM dbo.t`, `1`},
		{"computed column", `GRANT SELECT (ab) ON dbo.t TO u`, `SELECT ab FROM dbo.t`, `5`},
		{"denied", `GRANT SELECT ON dbo.t TO u; DENY SELECT (b) ON dbo.t TO r`, `SELECT a FROM dbo.t; SELECT b FROM dbo.t`, `2,!230`},
		{"revoked", `GRANT SELECT (a, b) ON dbo.t TO u; REVOKE SELECT (b) ON dbo.t FROM u`, `SELECT a FROM dbo.t; SELECT b FROM dbo.t`, `2,!230`},
		{"the table denied afterwards", `GRANT SELECT (a) ON dbo.t TO u; DENY SELECT ON dbo.t TO u`, `SELECT a FROM dbo.t`, `!229`},
		{"by a procedure of the owner", `GRANT EXECUTE ON dbo.p TO u; DENY SELECT (b) ON dbo.t TO u`, `EXEC dbo.p`, `3`},
		{"by a view of the owner", `GRANT SELECT ON dbo.v TO u; DENY SELECT (b) ON dbo.t TO u`, `SELECT q FROM dbo.v`, `3`},
		{"of a view", `GRANT SELECT (id, p) ON dbo.v TO u`, `SELECT p FROM dbo.v; SELECT q FROM dbo.v`, `2,!230`},
		{"below a view of somebody else", `GRANT SELECT ON x.v TO u; GRANT SELECT (id) ON dbo.t TO u`, `SELECT id FROM x.v`, `!230`},
		{"below a view of somebody else, granted", `GRANT SELECT ON x.v TO u; GRANT SELECT (id, a) ON dbo.t TO u`, `SELECT p FROM x.v`, `2`},

		{"UPDATE", `GRANT UPDATE (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4; SELECT @@ROWCOUNT`, `1`},
		{"UPDATE of another column", `GRANT UPDATE (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4, b = 5`, `!230`},
		{"UPDATE reads in WHERE", `GRANT UPDATE (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4 WHERE id = 1`, `!229`},
		{"UPDATE reads another column in WHERE", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4 WHERE id = 1`, `!230`},
		{"UPDATE may read in WHERE", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (id) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4 WHERE id = 1; SELECT @@ROWCOUNT`, `1`},
		{"UPDATE with a condition about nothing", `GRANT UPDATE (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4 WHERE 1 = 1; SELECT @@ROWCOUNT`, `1`},
		{"UPDATE reads in SET", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = b`, `!230`},
		{"UPDATE reads by +=", `GRANT UPDATE (a) ON dbo.t TO u`, `UPDATE dbo.t SET a += 1`, `!229`},
		{"UPDATE reads in OUTPUT", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (a) ON dbo.t TO u`, `UPDATE dbo.t SET a = 4 OUTPUT deleted.a; UPDATE dbo.t SET a = 4 OUTPUT inserted.b`, `2,!230`},
		{"UPDATE of a view", `GRANT UPDATE (p) ON dbo.v TO u`, `UPDATE dbo.v SET p = 4; UPDATE dbo.v SET q = 4`, `!230`},
		{"UPDATE below a view of somebody else", `GRANT UPDATE ON x.v TO u; GRANT SELECT ON dbo.t TO u; GRANT UPDATE (b) ON dbo.t TO u`, `UPDATE x.v SET p = 4`, `!230`},
		{"UPDATE of a common table expression", `GRANT SELECT ON dbo.t TO u`, `WITH c AS (SELECT a FROM dbo.t) UPDATE c SET a = 4`, `!229`},
		{"UPDATE of a common table expression, granted", `GRANT SELECT ON dbo.t TO u; GRANT UPDATE (a) ON dbo.t TO u`, `WITH c AS (SELECT a FROM dbo.t) UPDATE c SET a = 4; SELECT @@ROWCOUNT`, `1`},
		{"UPDATE of an alias", `GRANT SELECT ON dbo.t TO u; GRANT UPDATE (a) ON dbo.t TO u`, `UPDATE y SET b = 4 FROM dbo.t AS y`, `!230`},

		{"INSERT", `GRANT INSERT ON dbo.t TO u`, `INSERT dbo.t (id, a) VALUES (2, 2); SELECT @@ROWCOUNT`, `1`},
		{"INSERT reads in OUTPUT", `GRANT INSERT ON dbo.t TO u; GRANT SELECT (id) ON dbo.t TO u`, `INSERT dbo.t (id) OUTPUT inserted.id VALUES (2); INSERT dbo.t (id) OUTPUT inserted.a VALUES (3)`, `2,!230`},
		{"INSERT checks its own rows by itself", `ALTER TABLE dbo.t ADD CONSTRAINT c CHECK (a > 0); GRANT INSERT ON dbo.t TO u`, `INSERT dbo.t (id, a) VALUES (2, 2); SELECT @@ROWCOUNT`, `1`},
		{"DELETE", `GRANT DELETE ON dbo.t TO u`, `DELETE dbo.t; SELECT @@ROWCOUNT`, `1`},
		{"DELETE reads in WHERE", `GRANT DELETE ON dbo.t TO u; GRANT SELECT (id) ON dbo.t TO u`, `DELETE dbo.t WHERE id = 5; DELETE dbo.t WHERE a = 5`, `!230`},
		{"MERGE", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (id) ON dbo.t TO u`, `MERGE dbo.t AS t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 4; SELECT @@ROWCOUNT`, `1`},
		{"MERGE of another column", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (id) ON dbo.t TO u`, `MERGE dbo.t AS t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET b = 4;`, `!230`},
		{"MERGE reads another column", `GRANT UPDATE (a) ON dbo.t TO u; GRANT SELECT (id) ON dbo.t TO u`, `MERGE dbo.t AS t USING (VALUES (1)) AS s (id) ON t.b = s.id WHEN MATCHED THEN UPDATE SET a = 4;`, `!230`},

		{"REFERENCES", `GRANT CREATE TABLE TO u; GRANT ALTER ON SCHEMA::x TO u; GRANT REFERENCES (id) ON dbo.t TO u`, `CREATE TABLE x.n (id int REFERENCES dbo.t (id)); SELECT COUNT(*) FROM sys.foreign_keys`, `1`},
		{"REFERENCES of another column", `GRANT CREATE TABLE TO u; GRANT ALTER ON SCHEMA::x TO u; GRANT REFERENCES (a) ON dbo.t TO u`, `CREATE TABLE x.n (id int REFERENCES dbo.t (id))`, `!230`},

		{"HAS_PERMS_BY_NAME", `GRANT SELECT (a) ON dbo.t TO u; GRANT UPDATE (p) ON dbo.v TO u`, `SELECT HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT', 'a', 'COLUMN'), HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT', 'b', 'COLUMN'), HAS_PERMS_BY_NAME('dbo.v', 'OBJECT', 'UPDATE', 'p', 'COLUMN'), HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT', 'z', 'COLUMN')`, `0,1,0,1,<nil>`},
		{"in the catalog", `GRANT SELECT (a) ON dbo.t TO u; GRANT UPDATE (q) ON dbo.v TO u`, `SELECT COL_NAME(major_id, minor_id), permission_name FROM sys.database_permissions WHERE minor_id > 0`, `a,SELECT,q,UPDATE`},
		{"columns of INSERT", `GRANT INSERT (a) ON dbo.t TO u`, ``, `!1020`},
		{"unknown column", `GRANT SELECT (z) ON dbo.v TO u`, ``, `!207`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := tsqltest.New(t, tsqltest.Options{})
			if err := server.ApplyText(t.Context(), "setup.sql", setup); err != nil {
				t.Fatal(err)
			}
			conn := session(t, server)
			got := told(t, conn, c.grant)
			if got == "" {
				got = told(t, conn, "EXECUTE AS USER = 'u'; "+c.batch)
			}
			if got != c.want {
				t.Errorf("%s; %s\ngot  %s\nwant %s", c.grant, c.batch, got, c.want)
			}
		})
	}
}
