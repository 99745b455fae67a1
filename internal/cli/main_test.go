package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/duroxide/duroxide-go/internal/cli"
)

// TestMain makes this test binary available to the tests as the program duroxide,
// found through the PATH.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"duroxide": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Run(ctx, cli.System(nil))
		stop()
		os.Exit(code)
	}})
}

// leakChecked fails a run of tests that leaves goroutines behind.
type leakChecked struct{ *testing.M }

func (m leakChecked) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
