package tsqltest_test

import (
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// A view that joins a view that joins a view is planned in a moment. The order of each chain of joins is searched for,
// so that without a memory each view would be planned about twenty times for each time that the view around it is.
func TestNestedViewsArePlanned(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	must(t, conn, "CREATE TABLE dbo.t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL); INSERT INTO dbo.t VALUES (1, 1), (2, 1), (3, 2);")
	must(t, conn, "CREATE VIEW dbo.v0 AS SELECT b AS a, COUNT(*) AS n FROM dbo.t GROUP BY b")
	const depth = 5
	for i := range depth {
		must(t, conn, fmt.Sprintf(`CREATE VIEW dbo.v%d AS SELECT v.a, SUM(v.n) AS n
			FROM dbo.t AS x JOIN dbo.v%d AS v ON v.a = x.a JOIN dbo.t AS y ON y.a = v.a JOIN dbo.t AS z ON z.a = x.a AND z.b = y.b
			GROUP BY v.a`, i+1, i))
	}
	result := must(t, conn, fmt.Sprintf("SELECT a, n FROM dbo.v%d ORDER BY a", depth))
	if got := exchanged(result, nil); got != "1|2, 2|1" {
		t.Errorf("got %s", got)
	}
}
