package planner_test

import (
	"slices"
	"strings"
	"testing"
)

// shop is the schema that the tests of queries use.
const shop = `
CREATE TABLE dbo.customers (
    id int NOT NULL PRIMARY KEY, name nvarchar(50) NOT NULL, city nvarchar(50) NULL, INDEX ix_city (city)
);
CREATE TABLE dbo.orders (
    id int NOT NULL IDENTITY PRIMARY KEY, customer_id int NOT NULL, total decimal(10, 2) NOT NULL, at date NOT NULL, note nvarchar(50) NULL,
    INDEX ix_customer (customer_id, at) INCLUDE (total)
);
INSERT INTO dbo.customers VALUES (1, N'Ann', N'Rome'), (2, N'Bob', NULL), (3, N'Cid', N'Oslo'), (4, N'Dan', N'Rome');
INSERT INTO dbo.orders (customer_id, total, at, note) VALUES
    (1, 10, '2024-01-01', NULL), (1, 20.5, '2024-01-02', N'x'), (2, 5, '2024-01-01', NULL), (3, 7, '2024-02-01', N'y'), (1, 1, '2024-03-01', NULL);
`

// queryCase is a query with its rows and, perhaps, parts of its plan.
type queryCase struct {
	query string
	want  string // rows, parted by blanks; "" for none
	plan  string // parts that the plan has, parted by ;
}

func runQueries(t *testing.T, script string, cases []queryCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.run(script)
			st, err := l.compile(c.query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.query(c.query)
			if err != nil {
				t.Fatalf("%v\n%s", err, st.Explain)
			}
			if want := strings.Fields(c.want); !slices.Equal(got, want) {
				t.Errorf("got  %v\nwant %v\n%s", got, want, st.Explain)
			}
			for part := range strings.SplitSeq(c.plan, ";") {
				if !strings.Contains(st.Explain, strings.TrimSpace(part)) {
					t.Errorf("no %q in the plan:\n%s", part, st.Explain)
				}
			}
		})
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	runQueries(t, shop, []queryCase{
		// The narrowest index that has the column is read.
		{"SELECT id FROM dbo.customers", "2 3 1 4", "scan ix_city"},
		{"SELECT * FROM customers WHERE id = 2", "2|Bob|NULL", "seek PK__"},
		{"SELECT name FROM dbo.customers WHERE id IN (3, 1)", "Ann Cid", "(id in)"},
		{"SELECT name FROM dbo.customers WHERE id > 2 ORDER BY id DESC", "Dan Cid", "(id >) backward"},
		{"SELECT name FROM dbo.customers WHERE id BETWEEN 2 AND 3", "Bob Cid", "(id >=, id <=)"},
		{"SELECT id FROM dbo.customers WHERE city IS NULL", "2", "seek ix_city of customers (city is null)"},
		{"SELECT id FROM dbo.customers WHERE city = N'rome'", "1 4", "seek ix_city"},
		{"SELECT name FROM dbo.customers WHERE city = N'rome'", "Ann Dan", "lookup"},
		{"SELECT DISTINCT city FROM dbo.customers ORDER BY city", "NULL Oslo Rome", ""},
		{"SELECT TOP (2) id FROM dbo.customers ORDER BY name DESC", "4 3", "sort"},
		{"SELECT TOP (1) WITH TIES city FROM dbo.customers WHERE city IS NOT NULL ORDER BY city DESC", "Rome Rome", "backward"}, //nolint:dupword // two rows
		{"SELECT TOP (50) PERCENT id FROM dbo.customers ORDER BY id", "1 2", ""},
		{"SELECT id FROM dbo.customers ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "2 3", ""},
		{"SELECT id AS x FROM dbo.customers ORDER BY x DESC", "4 3 2 1", "backward"},
		{"SELECT id FROM dbo.customers ORDER BY 1 DESC", "4 3 2 1", ""},
		{"SELECT c.id FROM dbo.customers AS c WHERE 1 = 0", "", "filter"},
		{"SELECT COUNT(*) AS n FROM dbo.orders", "5", ""},
		{"SELECT COUNT(note) AS n, COUNT(DISTINCT customer_id) AS m, SUM(total) AS s, MIN(at) AS a FROM dbo.orders", "2|3|43.50|2024-01-01", ""},
		{"SELECT MIN(id) AS n FROM dbo.customers", "1", "first row"},
		{"SELECT MAX(at) AS n FROM dbo.orders WHERE customer_id = 1", "2024-03-01", "first row;seek ix_customer;backward"},
		{"SELECT MAX(id) AS n FROM dbo.customers WHERE id > 10", "NULL", ""},
		{"SELECT customer_id, COUNT(*) AS n FROM dbo.orders GROUP BY customer_id HAVING COUNT(*) > 1", "1|3", ""},
		{"SELECT YEAR(at) AS y, MONTH(at) AS m, COUNT(*) AS n FROM dbo.orders GROUP BY YEAR(at), MONTH(at) ORDER BY 2", "2024|1|3 2024|2|1 2024|3|1", ""},
		{
			"SELECT customer_id, MONTH(at) AS m, SUM(total) AS s FROM dbo.orders WHERE customer_id < 3 GROUP BY ROLLUP (customer_id, MONTH(at)) ORDER BY GROUPING(customer_id), customer_id, GROUPING(MONTH(at)), m",
			"1|1|30.50 1|3|1.00 1|NULL|31.50 2|1|5.00 2|NULL|5.00 NULL|NULL|36.50", "",
		},
		{"SELECT COUNT(*) AS n FROM dbo.orders GROUP BY GROUPING SETS ((customer_id), ()) ORDER BY n DESC", "5 3 1 1", ""},
		{"SELECT COUNT(*) AS n FROM dbo.orders WHERE id > 100 GROUP BY customer_id", "", ""},
		{"SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY name DESC) AS s FROM dbo.customers", "Dan,Cid,Bob,Ann", ""},
		{"SELECT id, ROW_NUMBER() OVER (ORDER BY name DESC) AS n FROM dbo.customers ORDER BY id", "1|4 2|3 3|2 4|1", "window"},
		{"SELECT id, SUM(total) OVER (PARTITION BY customer_id ORDER BY at) AS s FROM dbo.orders ORDER BY id", "1|10.00 2|30.50 3|5.00 4|7.00 5|31.50", ""},
		{"SELECT TOP (2) id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM dbo.customers ORDER BY id", "1|1 2|2", ""},
		{"SELECT SUM(COUNT(*)) OVER () AS n, customer_id FROM dbo.orders GROUP BY customer_id ORDER BY customer_id", "5|1 5|2 5|3", ""},
		{"SELECT id, LAG(id) OVER (ORDER BY id) AS p FROM dbo.customers", "1|NULL 2|1 3|2 4|3", ""},
		// Constants are computed before there is a session.
		{"SELECT DATENAME(month, '20000101') AS m, DATEPART(year, DATETRUNC(year, CAST('20000301' AS date))) AS y", "January|2000", ""},
	})
}

func TestJoins(t *testing.T) {
	t.Parallel()
	runQueries(t, shop, []queryCase{
		{"SELECT c.name, o.id FROM dbo.customers AS c JOIN dbo.orders AS o ON o.customer_id = c.id WHERE c.id = 1 ORDER BY o.id", "Ann|1 Ann|2 Ann|5", "inner loop join;seek ix_customer"},
		{"SELECT c.name, o.id FROM dbo.customers AS c LEFT JOIN dbo.orders AS o ON o.customer_id = c.id AND o.total > 6 ORDER BY c.id, o.id", "Ann|1 Ann|2 Bob|NULL Cid|4 Dan|NULL", "left"},
		{"SELECT c.name FROM dbo.orders AS o RIGHT JOIN dbo.customers AS c ON o.customer_id = c.id WHERE o.id IS NULL", "Dan", "left"},
		{"SELECT c.name FROM dbo.customers AS c LEFT JOIN dbo.orders AS o ON o.customer_id = c.id WHERE o.total = 7", "Cid", "inner"},
		{"SELECT a.id, b.id FROM (VALUES (1), (2)) AS a (id) FULL JOIN (VALUES (2), (3)) AS b (id) ON b.id = a.id ORDER BY a.id, b.id", "NULL|3 1|NULL 2|2", "full hash join"},
		{"SELECT a.id, b.id FROM (VALUES (1), (2)) AS a (id) FULL JOIN (VALUES (2), (3)) AS b (id) ON b.id > a.id ORDER BY a.id, b.id", "1|2 1|3 2|3", "full loop join"},
		{"SELECT a.id, b.id FROM (VALUES (1), (2)) AS a (id) CROSS JOIN (VALUES (2), (3)) AS b (id) ORDER BY a.id, b.id", "1|2 1|3 2|2 2|3", ""},
		{"SELECT c.name, x.id FROM dbo.customers AS c CROSS APPLY (SELECT TOP (1) o.id FROM dbo.orders AS o WHERE o.customer_id = c.id ORDER BY o.at DESC) AS x ORDER BY c.id", "Ann|5 Bob|3 Cid|4", "top;seek ix_customer;backward"},
		{"SELECT c.name, x.id FROM dbo.customers AS c OUTER APPLY (SELECT TOP (1) o.id FROM dbo.orders AS o WHERE o.customer_id = c.id ORDER BY o.at DESC) AS x ORDER BY c.id", "Ann|5 Bob|3 Cid|4 Dan|NULL", ""},
		{"SELECT c.name, o.id FROM dbo.customers AS c INNER HASH JOIN dbo.orders AS o ON o.customer_id = c.id ORDER BY o.id", "Ann|1 Ann|2 Bob|3 Cid|4 Ann|5", "inner hash join building left"},
		{"SELECT c.name, o.id FROM dbo.customers AS c INNER MERGE JOIN dbo.orders AS o ON o.customer_id = c.id ORDER BY o.id", "Ann|1 Ann|2 Bob|3 Cid|4 Ann|5", "inner merge join"},
		{"SELECT c.name, o.id FROM dbo.customers AS c LEFT MERGE JOIN dbo.orders AS o ON o.customer_id = c.id ORDER BY c.id, o.id", "Ann|1 Ann|2 Ann|5 Bob|3 Cid|4 Dan|NULL", "left merge join"},
		{"SELECT c.name, o.id FROM dbo.customers AS c LEFT HASH JOIN dbo.orders AS o ON o.customer_id = c.id ORDER BY c.id, o.id", "Ann|1 Ann|2 Ann|5 Bob|3 Cid|4 Dan|NULL", "left hash join"},
		{"SELECT c.name FROM dbo.customers AS c WHERE c.id IN (SELECT o.customer_id FROM dbo.orders AS o WHERE o.total > 9)", "Ann", ""},
		{"SELECT c.name FROM dbo.customers AS c WHERE NOT EXISTS (SELECT * FROM dbo.orders AS o WHERE o.customer_id = c.id)", "Dan", "subquery"},
		{"SELECT c.name FROM dbo.customers AS c WHERE c.id NOT IN (SELECT o.customer_id FROM dbo.orders AS o)", "Dan", ""},
		{"SELECT c.name, (SELECT SUM(o.total) FROM dbo.orders AS o WHERE o.customer_id = c.id) AS s FROM dbo.customers AS c", "Ann|31.50 Bob|5.00 Cid|7.00 Dan|NULL", ""},
		{"SELECT a.name, b.name FROM dbo.customers AS a JOIN dbo.customers AS b ON b.city = a.city AND b.id > a.id", "Ann|Dan", ""},
		{
			"SELECT c.name, o.id, p.id FROM dbo.customers AS c LEFT JOIN (dbo.orders AS o JOIN dbo.orders AS p ON p.customer_id = o.customer_id AND p.id > o.id) ON o.customer_id = c.id WHERE c.id <> 2 ORDER BY c.id, o.id, p.id",
			"Ann|1|2 Ann|1|5 Ann|2|5 Cid|NULL|NULL Dan|NULL|NULL", "",
		},
	})
}

func TestDerived(t *testing.T) {
	t.Parallel()
	runQueries(t, shop, []queryCase{
		{"SELECT d.n FROM (SELECT c.name AS n, c.id FROM dbo.customers AS c) AS d WHERE d.id = 3", "Cid", "seek PK__"},
		{"SELECT d.x, d.y FROM dbo.customers AS c LEFT JOIN (SELECT 1 AS x, o.customer_id, o.total * 2 AS y FROM dbo.orders AS o) AS d ON d.customer_id = c.id AND d.y > 15 ORDER BY c.id, d.y", "1|20.00 1|41.00 NULL|NULL NULL|NULL NULL|NULL", ""}, //nolint:dupword // rows
		{"SELECT u.id FROM (SELECT id FROM dbo.customers UNION ALL SELECT id FROM dbo.orders) AS u WHERE u.id = 3", "3 3", "union all;(id =)"},
		{"SELECT id FROM dbo.customers UNION SELECT customer_id FROM dbo.orders ORDER BY id DESC", "4 3 2 1", "distinct"},
		{"SELECT id FROM dbo.customers EXCEPT SELECT customer_id FROM dbo.orders", "4", "except"},
		{"SELECT customer_id FROM dbo.orders INTERSECT SELECT id FROM dbo.customers", "1 2 3", "intersect"},
		{"WITH a AS (SELECT id FROM dbo.customers WHERE id < 3), b (y) AS (SELECT id * 10 FROM a) SELECT a.id, b.y FROM a JOIN b ON b.y = a.id * 10 ORDER BY a.id", "1|10 2|20", ""},
		{"WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n", "1 2 3 4 5", "recursive union"},
		{"SELECT value FROM STRING_SPLIT('a,b,c', ',')", "a b c", "string_split"},
		{"SELECT value FROM GENERATE_SERIES(1, 10, 4)", "1 5 9", ""},
		{"SELECT j.[key], j.value, j.type FROM OPENJSON(N'{\"a\":1,\"b\":\"x\"}') AS j", "a|1|2 b|x|1", "openjson"},
		{"SELECT j.a, j.b FROM OPENJSON(N'[{\"a\":1,\"b\":\"x\"},{\"a\":2}]') WITH (a int, b nvarchar(10) '$.b') AS j", "1|x 2|NULL", ""},
		{"SELECT c.id, s.value FROM dbo.customers AS c CROSS APPLY STRING_SPLIT(c.name, 'n') AS s WHERE c.id = 1 AND s.value <> ''", "1|A", ""},
		{"SELECT p.customer_id, p.[x], p.[y] FROM (SELECT customer_id, note, total FROM dbo.orders WHERE note IS NOT NULL) AS s PIVOT (SUM(total) FOR note IN ([x], [y])) AS p ORDER BY 1", "1|20.50|NULL 3|NULL|7.00", ""},
		{"SELECT u.k, u.v FROM (SELECT 1 AS a, 2 AS b) AS s UNPIVOT (v FOR k IN (a, b)) AS u", "a|1 b|2", ""},
		{"SELECT (SELECT id, name FROM dbo.customers WHERE id < 3 FOR JSON PATH) AS j", `[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]`, ""},
		{"SELECT id FROM dbo.customers WHERE id = 1 FOR JSON PATH, WITHOUT_ARRAY_WRAPPER", `{"id":1}`, ""},
		{"SELECT TOP (1) d.c FROM (SELECT COUNT(*) AS c, customer_id FROM dbo.orders GROUP BY customer_id) AS d WHERE d.customer_id = 1", "3", "seek ix_customer"},
	})
}
