// Package commandline is the program duroxide as a function, for a program that links more
// into it than cmd/duroxide does. Such a program is a main function with one call; that of
// cmd/duroxide-azuread adds logins by Microsoft Entra ID:
//
//	func main() {
//		commandline.Main(commandline.Options{SQLServer: azuread.NewConnector}) // the driver's package azuread
//	}
package commandline

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// Options is what a program adds. The zero value is duroxide as cmd/duroxide builds it.
type Options struct {
	// SQLServer makes the driver's connector for the URL of a store (sqlserver://… without
	// the parameter schema). nil knows the driver's own ways of logging in, and refuses a URL
	// with the parameter fedauth. An error is wrong usage, exit code 2; what it quotes of the
	// URL is not shown.
	SQLServer func(dsn string) (*sqlserver.Connector, error)
	// Definitions are the orchestrations that `duroxide replay` replays running instances
	// against, as worker.Register takes them. Without any the command has nothing to do.
	Definitions []worker.Registrable
	// ActivityRetry is that of the worker's options.
	ActivityRetry *retry.Policy
	// Codec is that of the workers' options, for a store whose payloads are encoded. Only replay
	// decodes; what the commands show stays as the store has it.
	Codec *codec.Codec
}

// Main runs the command that the process's arguments name, and ends the process. docs/cli.md
// lists commands and exit codes. The first interrupt, or SIGTERM, ends a command in order.
func Main(options Options) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	env := cli.System(options.SQLServer)
	env.Code = cli.Code{Definitions: options.Definitions, ActivityRetry: options.ActivityRetry, Codec: options.Codec}
	code := cli.Run(ctx, env)
	stop()
	os.Exit(code)
}
