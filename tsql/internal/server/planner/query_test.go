package planner_test

import (
	"slices"
	"testing"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ x, want string }{
		{"1 + 2 * 3", "7"},
		{"7 / 2", "3"},
		{"7 / 2.0", "3.500000"},
		{"'a' + N'b'", "ab"},
		{"-5 % 3", "-2"},
		{"~1", "-2"},
		{"CASE WHEN 1 = 0 THEN 'x' ELSE 'yy' END", "yy"},
		{"CASE 2 WHEN 1 THEN 10 WHEN 2 THEN 20 END", "20"},
		{"COALESCE(NULL, 3, 1 / 0)", "3"},
		{"NULLIF(3, 3)", "NULL"},
		{"IIF(1 < 2, 'a', 'b')", "a"},
		{"CHOOSE(2, 'a', 'b')", "b"},
		{"GREATEST(1, 3, 2)", "3"},
		{"CAST('12' AS int) + 1", "13"},
		{"CONVERT(varchar(10), 255)", "255"},
		{"TRY_CAST('x' AS int)", "NULL"},
		{"LEN(N'abc ')", "3"},
		{"UPPER('abc')", "ABC"},
		{"DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())", "1714979289000"},
		{"(SELECT 5)", "5"},
		{"(SELECT MAX(x) FROM (VALUES (1), (3), (2)) AS v (x))", "3"},
		{"CASE WHEN EXISTS (SELECT 1 WHERE 1 = 0) THEN 1 ELSE 0 END", "0"},
		{"CASE WHEN 2 IN (1, 2) THEN 1 ELSE 0 END", "1"},
		{"CASE WHEN 2 NOT IN (1, NULL) THEN 1 ELSE 0 END", "0"},
		{"CASE WHEN 'abc' LIKE 'a%' THEN 1 ELSE 0 END", "1"},
		{"CASE WHEN NULL IS NULL THEN 1 ELSE 0 END", "1"},
		{"CASE WHEN NULL IS NOT DISTINCT FROM NULL THEN 1 ELSE 0 END", "1"},
		{"CASE WHEN 5 > ALL (SELECT x FROM (VALUES (1), (3)) AS v (x)) THEN 1 ELSE 0 END", "1"},
		{"CASE WHEN 2 BETWEEN 1 AND 3 THEN 1 ELSE 0 END", "1"},
		{"@@ROWCOUNT", "7"},
	} {
		t.Run(c.x, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			got, err := l.query("SELECT " + c.x + " AS x")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, []string{c.want}) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
