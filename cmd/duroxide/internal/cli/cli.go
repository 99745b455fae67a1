// Package cli is the command line: each command is a function of its arguments,
// the environment and the writers it is given. docs/cli.md is its manual.
//
// Files: cli.go (the tree of commands), exit.go (exit codes and errors), stores.go
// (from a URL to a store), output.go (tables and JSON); then a file for each command or
// group of commands.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/server"
)

// Env is everything a command takes from outside.
type Env struct {
	// Args are the arguments without the program's name.
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(name string) string
	// Executable returns the path of this program, for a bench to start it again.
	Executable func() (string, error)
	// Stores maps the scheme of a store's URL to what opens it.
	Stores Stores
	// Login is how the commands for SQL Server log in, nil for the driver's own ways.
	Login server.Login
	// Code is what `replay` replays against.
	Code Code
}

// System is the environment of this process. login is as in [KnownStores].
func System(login server.Login) Env {
	return Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Executable: os.Executable, Stores: KnownStores(login), Login: login,
	}
}

// Run runs the command that the arguments name and returns the exit code.
func Run(ctx context.Context, env Env) int {
	a := &app{env: env, screen: screen.New(env.Stdout, env.Getenv)}
	root := a.root() //nolint:contextcheck // a command takes the context from cobra, which gets it below
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(a.screen)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if unwritten := a.screen.Err(); unwritten != nil && (err == nil || errors.Is(err, unwritten)) {
		err = fmt.Errorf("the command has run, but its output could not be written: %w", unwritten)
	}
	return a.exit(ctx, err)
}

// app is one run of the program.
type app struct {
	env    Env
	screen *screen.Screen
	// The flags that every command has.
	store string
	json  bool
}

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "duroxide",
		Short: "Inspect and control durable orchestrations, and measure stores",
		Long: `Inspect and control durable orchestrations, and measure stores.

Commands on a store take its URL from --store or from the environment variable
DUROXIDE_STORE. sqlite:orders.db is the SQLite file orders.db in the current directory,
and sqlserver://user:password@host:1433?database=db is a SQL Server database. A URL
with fedauth=... logs in by Microsoft Entra ID. That needs another build of this
program, which you install from a clone of its repository:

  ` + server.EntraInstall + `

Exit codes: 0 done, 1 failure, 2 wrong usage, 3 not found, 4 the orchestration
failed, 5 timed out, 130 interrupted.`,
		Version: version(), SilenceUsage: true, SilenceErrors: true,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{cmd, err} })
	root.AddGroup(
		&cobra.Group{ID: storeGroup, Title: "On a store:"},
		&cobra.Group{ID: operateGroup, Title: "To maintain a store:"},
		&cobra.Group{ID: measureGroup, Title: "To measure:"},
	)
	root.AddCommand(
		a.startCommand(), a.statusCommand(), a.historyCommand(), a.replayCommand(), a.raiseCommand(), a.cancelCommand(),
		a.retryCommand(), a.listCommand(), a.metricsCommand(), a.migrateCommand(), a.doctorCommand(),
		a.deadLettersCommand(), a.purgeCommand(),
		a.benchLoadCommand(), a.benchCommand(),
	)
	return root
}

// The groups of commands in the help text.
const (
	storeGroup   = "store"
	operateGroup = "operate"
	measureGroup = "measure"
)

// onStore gives a command the flags that all commands on a store share.
func (a *app) onStore(cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = storeGroup
	return a.storeFlags(cmd)
}

// storeFlags are those flags, for a command that is in another group or below another.
func (a *app) storeFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&a.store, "store", "", "`URL` of the store, such as sqlite:orders.db (default $DUROXIDE_STORE)")
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON for programs")
	return cmd
}

// usage makes the errors of an argument check errors of usage, which say what to write.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		switch {
		case err == nil:
			return nil
		case !cmd.HasAvailableSubCommands():
			err = fmt.Errorf("wrong number of arguments (%d): write '%s'", len(args), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		default:
			cmd.SuggestionsMinimumDistance = 2
			if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
				err = fmt.Errorf("%w; did you mean %q?", err, similar[0])
			}
		}
		return usageError{cmd, err}
	}
}

// version is the module's version as the go command recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
