// Command duroxide looks at the orchestrations of a store, acts on them, and shows
// and measures durable execution. See docs/cli.md, or run it without arguments.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/duroxide/duroxide-go/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.System())
	stop()
	os.Exit(code)
}
