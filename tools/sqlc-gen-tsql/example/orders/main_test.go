package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// serverVariable holds the URL of a SQL Server for tests.
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

// TestOrders runs the example on a server.
func TestOrders(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv(serverVariable)
	if dsn == "" {
		t.Skip("set " + serverVariable + " to the URL of a SQL Server to run the example on it")
	}
	var out strings.Builder
	if err := run(t.Context(), dsn, &out); err != nil {
		t.Fatal(err)
	}
	const want = "placed: 2 lines\n" +
		"refused: out of stock\n" +
		"shipped to Ada 🦉:\n" +
		"  2 × Owl, brass = 39.8\n" +
		"  4 × Thé à la menthe = 17\n"
	if out.String() != want {
		t.Errorf("printed:\n%swant:\n%s", out.String(), want)
	}
}
