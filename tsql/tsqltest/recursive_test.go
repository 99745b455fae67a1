package tsqltest_test

import "testing"

// What the recursive part of a common table expression may not have.
func TestRecursiveParts(t *testing.T) {
	t.Parallel()
	play(t, "", []step{
		{"WITH r AS (SELECT 1 AS n UNION ALL SELECT DISTINCT n + 1 FROM r WHERE n < 5) SELECT n FROM r", "!460"},
		{"WITH r AS (SELECT 1 AS n UNION ALL SELECT TOP 1 n + 1 FROM r WHERE n < 5) SELECT n FROM r", "!461"},
		{"WITH r AS (SELECT 1 AS n UNION ALL SELECT v.a FROM (VALUES (2)) AS v (a) LEFT JOIN r ON r.n = v.a) SELECT n FROM r", "!462"},
		{"WITH r AS (SELECT 1 AS n UNION ALL SELECT a FROM (VALUES (2)) AS v (a) WHERE EXISTS (SELECT 1 FROM r WHERE n < a)) SELECT n FROM r", "!465"},
		{"WITH r AS (SELECT 1 AS n UNION ALL SELECT MAX(n) + 1 FROM r) SELECT n FROM r", "!467"},
		{"WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3 GROUP BY n) SELECT n FROM r", "!467"},
		{"WITH r AS (SELECT TOP 1 a AS n FROM (VALUES (1)) AS v (a) UNION ALL SELECT r.n + x.a FROM r JOIN (SELECT MAX(a) AS a FROM (VALUES (1)) AS v (a)) AS x ON r.n < 3) SELECT n FROM r", "1 2 3"},
		{"SELECT STRING_AGG(DISTINCT a, ',') FROM (VALUES ('x')) AS v (a)", "!102"},
	})
}
