package cli_test

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/internal/testsupport/leaktest"
)

// programVariable makes this test binary the program duroxide. Whatever process a test starts inherits it.
const programVariable = "DUROXIDE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Run(ctx, cli.System(nil))
		stop()
		os.Exit(code)
	}
	if err := os.Setenv(programVariable, "1"); err != nil {
		panic(err)
	}
	leaktest.Main(m)
}

// program is the path of the program duroxide.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}
