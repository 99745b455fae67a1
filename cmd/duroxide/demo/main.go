// Command demo shows orchestrations that survive the death of their worker. See docs/cli.md, or run it with -h. It is
// no verb of duroxide because a newcomer runs it first, from source: without the rest of duroxide it compiles sooner.
//
// Files: main.go (the program), worker.go (the program as the worker that is killed).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/demo"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// help is what -h prints above the list of flags.
const help = `See orchestrations survive the death of their worker. The demo runs six of them on
a SQLite file: activities one after the other, fifty side by side, a timer, an
event from outside, sub-orchestrations, and one that continues as new. The worker
is a process of its own; the demo kills it in the middle, starts another, and
shows from the histories that nothing was lost and nothing counted twice.

The demo checks all of this itself and fails if anything is wrong. At the end it prints
commands that look at the file. An interrupted demo removes its temporary file.

Exit codes: 0 done, 1 failure, 2 wrong usage, 130 interrupted.

Usage:
  demo [flags]

Flags:
`

// The exit codes. Those of duroxide mean the same.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// environment is everything that the program takes from outside.
type environment struct {
	// args are the arguments without the program's name.
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(name string) string
	// executable returns the path of this program, which starts itself as the worker.
	executable func() (string, error)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, environment{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, executable: os.Executable,
	})
	stop()
	os.Exit(code)
}

// run runs the program, reports an error, and returns the exit code.
func run(ctx context.Context, env environment) int {
	a := &app{env: env, screen: screen.New(env.stdout, env.getenv)}
	err := a.run(ctx)
	if unwritten := a.screen.Err(); unwritten != nil && (err == nil || errors.Is(err, unwritten)) {
		err = fmt.Errorf("the demo has run, but its output could not be written: %w", unwritten)
	}
	if err == nil {
		return exitOK
	}
	code := exitFailure
	if _, ok := errors.AsType[usageError](err); ok {
		code = exitUsage
	}
	if ctx.Err() != nil {
		code, err = exitInterrupted, errors.New("interrupted")
	}
	fmt.Fprintf(env.stderr, "demo: %s\n", screen.Lines(err.Error()))
	return code
}

// app is one run of the program.
type app struct {
	env    environment
	screen *screen.Screen
}

func (a *app) run(ctx context.Context) error {
	if len(a.env.args) > 0 && a.env.args[0] == workerArgument {
		return a.work(ctx, a.env.args[1:])
	}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	path := flags.String("db", "", "run on this SQLite `file` (default: a new temporary one)")
	err := parse(flags, a.env.args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		a.screen.Printf("%s", help)
		flags.SetOutput(a.screen)
		flags.PrintDefaults()
		return nil
	case err != nil:
		return err
	case *path != "":
		return a.demo(ctx, *path)
	}
	return a.demoInTemp(ctx)
}

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() + "\nRun 'demo -h' for how to use it." }

func (e usageError) Unwrap() error { return e.err }

// parse takes arguments that are flags, all of them.
func parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard) // who calls it prints the error, and help where it belongs
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("wrong number of arguments (%d): write 'demo'", flags.NArg())
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// demoInTemp runs the demo in a folder of its own, which is removed if the demo is
// interrupted.
func (a *app) demoInTemp(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "duroxide-demo-")
	if err != nil {
		return err
	}
	err = a.demo(ctx, filepath.Join(dir, "demo.db"))
	if ctx.Err() != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

func (a *app) demo(ctx context.Context, path string) (err error) {
	program, err := a.env.executable()
	if err != nil {
		return fmt.Errorf("finding this program, to run it as the worker: %w", err)
	}
	store, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	a.screen.Printf("The demo runs on the SQLite file %s\n\n", path)
	err = demo.Run(ctx, demo.Config{
		Store: store, Worker: []string{program, workerArgument, "-db", path},
		Screen: a.screen, Stderr: a.env.stderr, Timeout: time.Minute,
	})
	if ctx.Err() == nil {
		a.lookAt(program, path)
	}
	return err
}

// open opens the file for one of the demo's processes.
func open(ctx context.Context, path string) (*sqlite.Store, error) {
	// How often a process looks for what the other one has written.
	const poll = 20 * time.Millisecond
	store, err := sqlite.Open(ctx, path, sqlite.Options{PollInterval: poll})
	if errors.Is(err, provider.ErrInvalidArgument) {
		return nil, usageError{err} // a path that is none
	}
	return store, err
}

// lookAt prints commands that look at what the demo leaves.
func (a *app) lookAt(program, path string) {
	a.screen.Printf("\nThe file stays. Look at it:\n\n")
	for _, command := range []string{"list", "status fan-out", "history hello-cities --data"} {
		a.screen.Printf("  %s %s --store %s\n", duroxide(program), command, quoted("sqlite:"+path))
	}
}

// duroxide is what a user types to run the command duroxide: go run, if that has built the demo; its path, if it is
// beside the demo and the shell does not find it; else its name.
func duroxide(program string) string {
	if strings.Contains(filepath.ToSlash(program), "/go-build") {
		return "go run ./cmd/duroxide"
	}
	const name = "duroxide"
	if _, err := exec.LookPath(name); err != nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(program), name)); err == nil {
			return quoted(beside)
		}
	}
	return name
}

// quoted is an argument as shells want it.
func quoted(argument string) string {
	if strings.Contains(argument, " ") {
		return `"` + argument + `"`
	}
	return argument
}
