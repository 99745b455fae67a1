package duroxide

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/tools/acceptance/program"
	"github.com/duroxide/duroxide-go/worker"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m, "./cmd/duroxide", "./cmd/duroxide/demo")) }

// TestScripts runs the scripts in testdata/script: what a user types, and what
// comes back. Beside testscript's own commands they have:
//
//	worker DB        run the orchestrations below on a database until the script ends
//	held DB ID       leave an Approval behind that has what it waits for, and is held
//	sql DB STATEMENT run a statement on a SQLite file
//	lock DB          keep a SQLite file locked for writing until the script ends
//	begun DB         wait until a program in the background has begun an instance in a SQLite file
//	picture          find the timeline that the README shows in what the last program has printed
//	exits CODE CMD   run a program and expect this exit code, named as in codes
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"worker": workerCommand, "held": heldCommand, "sql": sqlCommand, "lock": lockCommand, "begun": begunCommand,
			"picture": pictureCommand, "exits": exitsCommand,
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition " + name)
		},
	})
}

// What the scripts start.
var scripted = []worker.Registrable{
	orchestration.New("Greet", func(_ *orchestration.Context, name string) (string, error) {
		return "Hello, " + name + "!", nil
	}),
	orchestration.New("Add", func(_ *orchestration.Context, numbers []int) (int, error) {
		sum := 0
		for _, n := range numbers {
			sum += n
		}
		return sum, nil
	}),
	orchestration.New("Boom", func(*orchestration.Context, any) (string, error) {
		return "", errors.New("card declined")
	}),
	orchestration.New("Sleep", func(ctx *orchestration.Context, _ any) (string, error) {
		ctx.Sleep(time.Hour)
		return "awake", nil
	}),
	approval,
	countdown,
	orchestration.New("Parent", func(ctx *orchestration.Context, _ any) (int, error) {
		return orchestration.SubOrchestration(ctx, countdown, 0, orchestration.WithInstanceID("child")).Await()
	}),
}

var approval = orchestration.New("Approval", func(ctx *orchestration.Context, _ any) (string, error) {
	ctx.SetCustomStatus("waiting")
	return orchestration.NewEvent[string]("approval").Wait(ctx).Await()
})

var countdown = orchestration.New("Countdown", func(ctx *orchestration.Context, n int) (int, error) {
	if n == 0 {
		return 0, nil
	}
	return orchestration.Declare[int, int]("Countdown").ContinueAsNew(ctx, n-1)
})

func workerCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: worker DB")
	}
	store := openStore(ts, args[0])
	stop := run(ts, store, worker.Options{}, scripted...)
	ts.Defer(func() {
		stop()
		ts.Check(store.Close())
	})
}

func openStore(ts *testscript.TestScript, file string) *sqlite.Store {
	store, err := sqlite.Open(context.Background(), ts.MkAbs(file), sqlite.Options{PollInterval: 10 * time.Millisecond})
	ts.Check(err)
	return store
}

// run runs a worker until it is told to stop.
func run(ts *testscript.TestScript, store provider.Provider, options worker.Options, definitions ...worker.Registrable) (stop func()) {
	options.Logger = slog.New(slog.DiscardHandler)
	w, err := worker.New(store, options)
	ts.Check(err)
	ts.Check(w.Register(definitions...))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

func heldCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: held DB ID")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, instance := openStore(ts, args[0]), args[1]
	defer func() { ts.Check(store.Close()) }()
	c := client.New(store, client.Options{})
	stop := run(ts, store, worker.Options{}, approval)
	_, err := client.Start(ctx, c, approval, instance, nil)
	ts.Check(err)
	for status := (client.Status{}); status.CustomStatus == nil; {
		status, err = c.Status(ctx, instance)
		ts.Check(err)
	}
	stop()
	ts.Check(client.RaiseEvent(ctx, c, orchestration.NewEvent[string]("approval"), instance, "yes"))
	changed := orchestration.New("Approval", func(ctx *orchestration.Context, _ any) (string, error) {
		ctx.Sleep(time.Hour)
		return "", nil
	})
	stop = run(ts, store, worker.Options{Code: worker.Code{Backoff: time.Hour}}, changed)
	defer stop()
	for held := (*provider.HeldInstance)(nil); held == nil; {
		held, err = c.Held(ctx, instance)
		ts.Check(err)
	}
}

func sqlCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql DB STATEMENT")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?_pragma=busy_timeout(10000)")
	ts.Check(err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(err)
}

func lockCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lock DB")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	ts.Check(err)
	tx, err := db.BeginTx(context.Background(), nil)
	ts.Check(err)
	ts.Defer(func() {
		ts.Check(tx.Rollback())
		ts.Check(db.Close())
	})
}

func begunCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: begun DB")
	}
	const patience = time.Minute
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?mode=ro&_pragma=busy_timeout(10000)")
	ts.Check(err)
	defer db.Close()
	var instances int
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		// Until then the file, or the table, may not even be there.
		err := db.QueryRowContext(context.Background(), "SELECT count(*) FROM instances").Scan(&instances)
		if err == nil && instances > 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no instance after %v: %v", patience, err)
		}
	}
}

// pictureCommand compares everything but the times, and where the worker was killed: those
// differ from run to run.
func pictureCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: picture")
	}
	readme, err := os.ReadFile("../../../README.md")
	ts.Check(err)
	_, picture, found := strings.Cut(string(readme), "\n```text\n")
	picture, _, closed := strings.Cut(picture, "```\n")
	if !found || !closed {
		ts.Fatalf("README.md has no picture")
	}
	varies := regexp.MustCompile(`(?m)^ {2}── .*\n| *\d+\.\d{3} s| \d+ ms`)
	drawn := varies.ReplaceAllString(ts.ReadFile("stdout"), "")
	if !strings.Contains(drawn, varies.ReplaceAllString(picture, "")) {
		ts.Fatalf("README.md shows\n%s\nand the program draws\n%s", picture, drawn)
	}
}

// codes are the exit codes of docs/cli.md by the names that scripts use.
var codes = map[string]int{
	"ok": 0, "failure": 1, "usage": 2, "notfound": 3, "failed": 4, "timeout": 5, "interrupted": 130,
}

func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE CMD...")
	}
	want, ok := codes[args[0]]
	if !ok {
		ts.Fatalf("unknown exit code %s", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failure, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = failure.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
