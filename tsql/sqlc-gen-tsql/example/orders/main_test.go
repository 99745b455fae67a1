package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// serverVariable holds the URL of a SQL Server that the example runs on as well.
const serverVariable = "DUROXIDE_TEST_MSSQL"

// TestGeneratedIsUpToDate fails when somebody has changed the SQL or the generator and not the package ordersdb.
func TestGeneratedIsUpToDate(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "run", "../..", "generate", "-verify")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRunNeedsAServer shows what a newcomer reads who forgot to name a server.
func TestRunNeedsAServer(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), "", &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "ORDERS_DSN") {
		t.Errorf("error = %v; want one that names the variable", err)
	}
}

// TestOrders runs the example on a server in this process and, if the environment names one, on that as well.
func TestOrders(t *testing.T) {
	t.Parallel()
	t.Run("tsqltest", func(t *testing.T) {
		t.Parallel()
		testOrders(t, tsqltest.New(t, tsqltest.Options{}).DSN())
	})
	if dsn := os.Getenv(serverVariable); dsn != "" {
		t.Run("server", func(t *testing.T) {
			t.Parallel()
			testOrders(t, dsn)
		})
	}
}

func testOrders(t *testing.T, dsn string) {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), dsn, &out); err != nil {
		t.Fatal(err)
	}
	const want = "placed: 2 lines\n" +
		"refused: out of stock\n" +
		"to be paid, with the parcel: 61.7\n" +
		"shipped to Ada 🦉:\n" +
		"  2 × Owl, brass = 39.8\n" +
		"  4 × Thé à la menthe = 17\n" +
		"sold in 1 order:\n" +
		"  2 × Owl, brass at 19.9, now 19.9\n" +
		"  4 × Thé à la menthe at 4.25, now 4.25\n"
	if out.String() != want {
		t.Errorf("printed:\n%swant:\n%s", out.String(), want)
	}
}
