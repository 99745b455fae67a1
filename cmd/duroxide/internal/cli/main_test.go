package cli_test

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/program"
)

func TestMain(m *testing.M) {
	program.Main(m, func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Run(ctx, cli.System(nil))
		stop()
		os.Exit(code)
	})
}
