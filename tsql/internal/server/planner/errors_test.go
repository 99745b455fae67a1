package planner_test

import (
	"strings"
	"testing"
)

// TestErrors checks the numbers of what queries are refused for.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		want  int32
	}{
		{"SELECT x FROM dbo.nothing", 208},
		{"SELECT x FROM dbo.customers", 207},
		{"SELECT c.x FROM dbo.customers AS c", 207},
		{"SELECT d.id FROM dbo.customers AS c", 4104},
		{"SELECT id FROM dbo.customers AS a CROSS JOIN dbo.customers AS b", 209},
		{"SELECT x", 207},
		{"SELECT @nothing", 137},
		{"SELECT * FROM @nothing", 1087},
		{"SELECT nothing(1)", 195},
		{"SELECT dbo.nothing(1)", 4121},
		{"SELECT * FROM (SELECT 1) AS t", 8155},
		{"SELECT * FROM (SELECT 1 AS a, 2 AS a) AS t", 8156},
		{"SELECT * FROM (SELECT 1, 2) AS t (a)", 8158},
		{"SELECT * FROM (SELECT 1) AS t (a, b)", 8159},
		{"SELECT 1 FROM dbo.customers AS a, dbo.orders AS a", 1013},
		{"SELECT name, COUNT(*) FROM dbo.customers GROUP BY city", 8120},
		{"SELECT city FROM dbo.customers GROUP BY city HAVING name = N'a'", 8121},
		{"SELECT city FROM dbo.customers GROUP BY city ORDER BY name", 8127},
		{"SELECT id FROM dbo.customers WHERE COUNT(*) > 1", 147},
		{"SELECT SUM(COUNT(*)) FROM dbo.customers", 130},
		{"SELECT 1 FROM dbo.customers WHERE ROW_NUMBER() OVER (ORDER BY id) = 1", 4108},
		{"SELECT ROW_NUMBER() FROM dbo.customers", 10753},
		{"SELECT ROW_NUMBER() OVER (PARTITION BY id) FROM dbo.customers", 4112},
		{"SELECT (SELECT 1, 2)", 116},
		{"SELECT (SELECT id FROM dbo.customers)", 512},
		{"SELECT 1 UNION SELECT 1, 2", 205},
		{"SELECT id FROM dbo.customers UNION SELECT 1 ORDER BY name", 104},
		{"SELECT DISTINCT city FROM dbo.customers ORDER BY id", 145},
		{"SELECT id FROM dbo.customers ORDER BY 2", 108},
		{"SELECT TOP (1) WITH TIES id FROM dbo.customers", 1062},
		{"SELECT TOP (-1) id FROM dbo.customers", 1014},
		{"SELECT id FROM dbo.customers ORDER BY id OFFSET -1 ROWS", 10742},
		{"SELECT id FROM dbo.customers ORDER BY id OFFSET 1 ROWS FETCH NEXT 0 ROWS ONLY", 10744},
		{"SELECT 1 / 0", 8134},
		{"SELECT CAST('x' AS int)", 245},
		{"SELECT CAST(NULL AS date) + 1", 206},
		{"SELECT CAST(1 AS bit) + CAST(1 AS bit)", 8117},
		{"SELECT 'a' - 'b'", 8117},
		{"SELECT CASE WHEN 1 = 1 THEN NULL END", 8133},
		{"SELECT COALESCE(NULL, NULL)", 4127},
		{"SELECT N'a' COLLATE Latin1_General_100_BIN2 + N'b' COLLATE Latin1_General_CI_AS", 468},
		{"SELECT 1 WHERE N'a' COLLATE Latin1_General_100_BIN2 = N'b' COLLATE Latin1_General_CI_AS", 468},
		{"SELECT id FROM dbo.customers WITH (INDEX (nothing))", 308},
		{"SELECT id FROM dbo.customers WITH (INDEX (9))", 307},
		{"SELECT id FROM dbo.customers WITH (NOLOCK, UPDLOCK)", 1047},
		{"SELECT id FROM dbo.customers WITH (READPAST, HOLDLOCK)", 650},
		{"SELECT id FROM dbo.customers WITH (FORCESEEK) WHERE name = N'x'", 8622},
		{"SELECT id FROM dbo.partly WITH (INDEX (ix_partly)) WHERE id = 1", 8622},
		{"WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT x FROM a", 239},
		{"WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", 530},
		{"WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1.5 FROM n WHERE i < 3) SELECT i FROM n", 240},
		{"SELECT t.* FROM dbo.customers AS c", 107},
		{"SELECT * ", 263},
		{"SELECT SUM(name) FROM dbo.customers", 8117},
		{"SELECT CAST(SYSDATETIME() AS uniqueidentifier)", 529},
		{"SELECT id FROM dbo.customers FOR XML AUTO", 49900},
		{"SELECT a FROM OPENQUERY(linked, 'SELECT 1 AS a') AS t", 49900},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.run(shop + "CREATE TABLE dbo.partly (id int NOT NULL PRIMARY KEY, x int NULL, INDEX ix_partly (x) WHERE x IS NOT NULL);")
			rows, err := l.query(c.query)
			if err == nil {
				t.Fatalf("no error, but %v", rows)
			}
			if strings.Contains(err.Error(), "%!") {
				t.Errorf("badly made: %v", err)
			}
			if number(err) != c.want {
				t.Errorf("got %v, want %d", err, c.want)
			}
		})
	}
}
