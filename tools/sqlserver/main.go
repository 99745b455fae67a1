// Command sqlserver runs a command with a SQL Server in a container: it starts the container on the Docker engine that
// the environment names (DOCKER_HOST) or on this machine's, waits until a login succeeds, creates an empty database,
// and runs the command with the database's URL in DUROXIDE_TEST_MSSQL. It removes the container when the command has
// ended, also after an interrupt, and exits as the command did.
//
//	go run -C tools/sqlserver . -dir ../.. go test ./provider/mssql/...
//	go run -C tools/sqlserver . -dir ../.. -version 2019 -row-versions=false go test ./provider/mssql/...
//
// With -server it uses a server that is there, or that somebody else starts: it waits for it, and makes the database
// duroxide_test anew.
//
// The image is Microsoft's Developer edition, whose licence that accepts. A container that is left behind because this
// program was killed ends by itself two hours after its start.
//
// The program is a module of its own, because Docker's forty modules must reach nobody who imports the library.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	// urlVariable is where the command finds the URL of the database.
	urlVariable = "DUROXIDE_TEST_MSSQL"
	// pingPatience is how long a Docker engine may take to answer that it is there.
	pingPatience = 2 * time.Second
	// endPatience is how long the command may take to clean up after an interrupt.
	endPatience = time.Minute
	// exitFailed is the exit code if the command could not be run at all, which few commands use themselves.
	exitFailed = 125
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := (&app{stdout: os.Stdout, stderr: os.Stderr, engine: localEngine, wait: newWait()}).run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// An app is the program with what it reaches the world through.
type app struct {
	stdout, stderr io.Writer
	// engine connects to Docker.
	engine func(context.Context) (*engine, error)
	// wait is how a server that is not in a container of the program's is waited for.
	wait wait
}

// run carries out a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("sqlserver", flag.ContinueOnError)
	flags.SetOutput(a.stderr)
	dir := flags.String("dir", ".", "`folder` in which the command runs")
	version := flags.String("version", "2022", "version of SQL Server that the container runs: 2019, 2022 or 2025")
	rowVersions := flags.Bool("row-versions", true, "READ_COMMITTED_SNAPSHOT of the database")
	server := flags.String("server", "", "`URL` of a server to use instead of a container; its database duroxide_test is dropped and made anew")
	flags.Usage = func() {
		fmt.Fprintln(a.stderr, "usage: sqlserver [-dir folder] [-version year | -server URL] [-row-versions=false] command [argument …]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return exitFailed
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return exitFailed
	}
	do := func(dsn string) (int, error) { return a.execute(ctx, *dir, dsn, flags.Args()) }
	var code int
	var err error
	if *server != "" {
		code, err = a.onServer(ctx, *server, *rowVersions, do)
	} else {
		code, err = a.inContainer(ctx, *version, *rowVersions, do)
	}
	if err != nil {
		fmt.Fprintln(a.stderr, "sqlserver:", err)
		if code == 0 {
			code = exitFailed
		}
	}
	return code
}

// onServer calls do with the URL of a database on a server that somebody else runs.
func (a *app) onServer(ctx context.Context, server string, rowVersions bool, do func(dsn string) (int, error)) (code int, err error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "sqlserver" {
		return 0, errors.New("-server wants a URL such as sqlserver://sa:password@localhost:1433")
	}
	dsn, err := a.wait.database(ctx, u, rowVersions)
	if err != nil {
		return 0, err
	}
	return do(dsn)
}

// inContainer calls do with the URL of a database and removes the server afterwards.
func (a *app) inContainer(ctx context.Context, version string, rowVersions bool, do func(dsn string) (int, error)) (code int, err error) {
	pinging, cancel := context.WithTimeout(ctx, pingPatience)
	defer cancel()
	e, err := a.engine(pinging)
	if err != nil {
		return 0, fmt.Errorf("%w; start Docker, or set %s to the URL of a server and run the command without this program", err, urlVariable)
	}
	defer func() { err = errors.Join(err, e.close()) }()
	fmt.Fprintln(a.stderr, "sqlserver: starting SQL Server", version)
	dsn, err := e.start(ctx, version, rowVersions)
	if err != nil {
		return 0, fmt.Errorf("starting SQL Server in a container: %w", err)
	}
	return do(dsn)
}

// execute runs the command and returns its exit code. An interrupt is passed on, so that the command can clean up on
// the server that is still there.
func (a *app) execute(ctx context.Context, dir, dsn string, args []string) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), urlVariable+"="+dsn)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.stdout, a.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endPatience
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode(), nil
	}
	return 0, err
}
