package tsqltest_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// A filtered index has its own number of rows in sys.partitions, whenever it was made.
func TestPartitionsCountRowsOfEachIndex(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	conn := session(t, server)
	must(t, conn, "CREATE TABLE dbo.jobs (id INT NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, state NVARCHAR(9) NOT NULL)")
	must(t, conn, "CREATE INDEX ix_failed ON dbo.jobs (id) WHERE state = N'Failed'")
	must(t, conn, "INSERT INTO dbo.jobs (id, state) VALUES (1, N'Done'), (2, N'Failed'), (3, N'Running'), (4, N'Running')")
	must(t, conn, "CREATE INDEX ix_running ON dbo.jobs (id) WHERE state = N'Running'")
	must(t, conn, "UPDATE dbo.jobs SET state = N'Failed' WHERE id = 3; DELETE FROM dbo.jobs WHERE id = 2")
	rows := table(t, conn, `SELECT i.name, p.rows FROM sys.partitions AS p
		INNER JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
		WHERE p.object_id = OBJECT_ID(N'dbo.jobs') ORDER BY i.name`)
	if want := "ix_failed 1\nix_running 1\npk_jobs 3"; rows != want {
		t.Errorf("the indexes have\n%s, want\n%s", rows, want)
	}
}
