package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// run runs the command line in this process.
func run(ctx context.Context, stores cli.Stores, args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	code = cli.Run(ctx, cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints,
		Getenv:     func(string) string { return "" },
		Executable: func() (string, error) { return "", errors.New("there is no program") },
		Stores:     stores,
	})
	return code, out.String(), complaints.String()
}

// TestStoresAreFoundByScheme adds a store to those the program knows, as
// sqlserver:// will be.
func TestStoresAreFoundByScheme(t *testing.T) {
	t.Parallel()
	var gotPlace string
	var gotCreate bool
	stores := cli.Stores{"test": func(ctx context.Context, place string, create bool) (cli.Store, error) {
		gotPlace, gotCreate = place, create
		return sqlite.OpenMemory(ctx, sqlite.Options{})
	}}
	code, stdout, stderr := run(t.Context(), stores, "list", "--store", "test://user:secret@host/db?x=1")
	if code != cli.ExitOK || stdout != "No instances.\n" || stderr != "" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if want := "//user:secret@host/db?x=1"; gotPlace != want || gotCreate {
		t.Errorf("opened %q, create %v; want %q to be only looked at", gotPlace, gotCreate, want)
	}
	if code, _, stderr = run(t.Context(), stores, "start", "A", "a", "--store", "test:x"); code != cli.ExitOK || !gotCreate {
		t.Errorf("exit code %d, create %v: %s", code, gotCreate, stderr)
	}
	code, _, stderr = run(t.Context(), stores, "list", "--store", "other://user:secret@host/db")
	if code != cli.ExitUsage || strings.Contains(stderr, "secret") || !strings.Contains(stderr, `scheme "other"; this program knows test`) {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// full is the standard output on a full disk.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A script that keeps the output in a file has to learn that the file is not complete.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "orders.db")
	for _, args := range [][]string{
		{"start", "A", "a", "--store", url},
		{"start", "A", "b", "--json", "--store", url},
		{"list", "--store", url},
		{"list", "--json", "--store", url},
		{"metrics", "--store", url},
		{"migrate", "export"},
		{"help"},
		{"--version"},
	} {
		var complaints bytes.Buffer
		code := cli.Run(t.Context(), cli.Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: full{}, Stderr: &complaints,
			Getenv: func(string) string { return "" }, Stores: cli.KnownStores(nil),
		})
		want := "duroxide: the command has run, but its output could not be written: no space left on device\n"
		if code != cli.ExitFailure || complaints.String() != want {
			t.Errorf("%v: exit code %d, %q; want %q", args, code, complaints.String(), want)
		}
	}
}

// An id that is reserved for sub-orchestrations is wrong usage, and starts nothing.
func TestStartOfAReservedID(t *testing.T) {
	t.Parallel()
	stores := cli.Stores{"test": func(ctx context.Context, _ string, _ bool) (cli.Store, error) {
		return sqlite.OpenMemory(ctx, sqlite.Options{})
	}}
	code, stdout, stderr := run(t.Context(), stores, "start", "A", "order-7::sub::2", "--store", "test:x")
	if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "instance id 'order-7::sub::2' uses the reserved sub-orchestration marker 'sub::'") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// broken is a store that cannot be closed.
type broken struct{ cli.Store }

func (b broken) Close() error {
	return errors.Join(b.Store.Close(), errors.New("close: the disk is gone"))
}

func TestStoresThatAreOfNoUse(t *testing.T) {
	t.Parallel()
	stores := cli.Stores{
		"broken": func(ctx context.Context, _ string, _ bool) (cli.Store, error) {
			store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
			return broken{store}, err
		},
	}
	for url, want := range map[string]string{
		"broken:": "duroxide: closing the store: close: the disk is gone\n",
	} {
		if code, _, stderr := run(t.Context(), stores, "metrics", "--store", url); code != cli.ExitFailure || stderr != want {
			t.Errorf("%s: exit code %d, %q; want %q", url, code, stderr, want)
		}
	}
}

// unreachable is a store whose instances cannot be looked at for the moment.
type unreachable struct{ cli.Store }

func (unreachable) ReadProgress(context.Context, []string) ([]provider.Progress, error) {
	return nil, provider.Retryable("read_progress", "connection refused", nil)
}

func (unreachable) ListInstancePage(context.Context, provider.PageQuery) (provider.InstancePage, error) {
	return provider.InstancePage{}, provider.Retryable("list_instance_page", "connection refused", nil)
}

// TestATimeoutSaysWhatWasTheTrouble has a store that is not there when the time is up:
// nobody should take that for an orchestration that is slow.
func TestATimeoutSaysWhatWasTheTrouble(t *testing.T) {
	t.Parallel()
	stores := cli.Stores{"test": func(ctx context.Context, _ string, _ bool) (cli.Store, error) {
		store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
		return unreachable{store}, err
	}}
	code, _, stderr := run(t.Context(), stores, "status", "a", "--wait", "--timeout", "20ms", "--store", "test:")
	want := "duroxide: waiting for \"a\": timed out after 20ms; it has not begun; the last look at the store failed: read_progress: connection refused\n"
	if code != cli.ExitTimeout || stderr != want {
		t.Errorf("exit code %d, %q; want %q", code, stderr, want)
	}
}

// A purge that fails tells what it has deleted, and blames nothing on a budget that nobody gave.
func TestPurgeThatFails(t *testing.T) {
	t.Parallel()
	stores := cli.Stores{"test": func(ctx context.Context, _ string, _ bool) (cli.Store, error) {
		store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
		return unreachable{store}, err
	}}
	code, stdout, stderr := run(t.Context(), stores, "purge", "--yes", "--older-than", "1d", "--store", "test:")
	if code != cli.ExitFailure || !strings.Contains(stdout, "instances deleted          0\n") || strings.Contains(stdout, "budget") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

func TestInterruptedCommands(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "orders.db")
	if code, _, stderr := run(t.Context(), cli.KnownStores(nil), "start", "A", "a", "--store", url); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"status", "a", "--wait", "--store", url},
		{"start", "A", "b", "--wait", "--timeout", "1h", "--store", url},
		{"bench", "parity", "--store", "sqlite::memory:", "--duration", "1h"},
		{"bench", "memory", "--store", "sqlite::memory:", "--orchestrations", "100000000"},
		{"bench", "cities", "--store", "sqlite::memory:", "--orchestrations", "100000000"},
		{"bench", "children", "--store", "sqlite::memory:", "--children", "1000,2000,3000"},
		{"bench", "history", "--store", "sqlite::memory:", "--steps", "20000"},
		{"bench", "claim", "--store", "sqlite::memory:", "--rounds", "1000000", "--json"},
		{"bench", "idle", "--store", "sqlite::memory:", "--workers", "2", "--duration", "1h"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		code, _, stderr := run(ctx, cli.KnownStores(nil), args...)
		cancel()
		if code != cli.ExitInterrupted || stderr != "duroxide: interrupted\n" {
			t.Errorf("%s: exit code %d, %q", strings.Join(args, " "), code, stderr)
		}
	}
}

// TestBenchWithoutAPathLeavesNothing measures stores without a path, with and without options.
func TestBenchWithoutAPathLeavesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, url := range []string{"sqlite:", "sqlite:?synchronous=normal"} {
		code, _, stderr := run(t.Context(), cli.KnownStores(nil),
			"bench", "claim", "--store", url, "--rows", "10", "--claims", "2", "--claimers", "1", "--rounds", "1", "--timers", "0")
		if code != cli.ExitOK {
			t.Errorf("%s: exit code %d: %s", url, code, stderr)
		}
	}
	left, err := filepath.Glob("*")
	if err != nil || len(left) > 0 {
		t.Errorf("%q were left, %v", left, err)
	}
}

// shared is a store that several commands use, so that none of them closes it.
type shared struct{ cli.Store }

func (shared) Close() error { return nil }

// TestTextOfAStoreCannotSteerTheTerminal has an orchestration whose name and failure
// would clear the screen, set the window's title, and go on in a line of their own.
func TestTextOfAStoreCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const evil = "\x1b[2J\x1b]0;title\a"
	name := "Boom" + evil
	ctx, cancel := context.WithCancel(t.Context())
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(orchestration.New(name, func(*orchestration.Context, any) (string, error) {
		return "", errors.New("first" + evil + "\nsecond" + evil)
	})); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	stores := cli.Stores{"test": func(context.Context, string, bool) (cli.Store, error) { return shared{store}, nil }}
	const shown = "\uFFFD[2J\uFFFD]0;title\uFFFD"
	for _, test := range []struct {
		code   int
		stderr string
		args   []string
	}{
		{cli.ExitFailed, "duroxide: first" + shown + "\nsecond" + shown + "\n", []string{"start", name, "a", "--wait"}},
		{cli.ExitOK, `Instance "a" already exists (Boom` + shown + ", Failed); nothing was started.\n", []string{"start", name, "a", "--if-exists", "use"}},
		{cli.ExitFailure, `duroxide: starting Boom` + shown + ` "a": instance "a" already exists (Boom` + shown + ", Failed); choose another id, or see --if-exists in 'duroxide start --help'\n", []string{"start", name, "a"}},
		{cli.ExitFailed, "duroxide: first" + shown + "\nsecond" + shown + "\n", []string{"status", "a", "--wait"}},
		{cli.ExitOK, "", []string{"list"}},
		{cli.ExitOK, "", []string{"history", "a", "--data"}},
	} {
		code, stdout, stderr := run(t.Context(), stores, append(test.args, "--store", "test:")...)
		if code != test.code || stderr != test.stderr {
			t.Errorf("%q: exit code %d, %q; want %d, %q", test.args, code, stderr, test.code, test.stderr)
		}
		if strings.ContainsAny(stdout, "\x1b\a") {
			t.Errorf("%q prints %q", test.args, stdout)
		}
	}
}

// TestAgesThatAreNone has what a conversion from floating point would turn into
// anything, 0 among it: then everything is old enough to be deleted.
func TestAgesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"NaNd", "nand", "infd", "-Infd", "-1d", "-0.1d", "1e300d", "106752d", "1e999d", "d", "0x1p200d"} {
		code, _, stderr := run(t.Context(), cli.KnownStores(nil), "purge", "--older-than="+text, "--store", "sqlite::memory:")
		if code != cli.ExitUsage || !strings.Contains(stderr, "give an age such as 30d, 12h or 90m, of at most 106751 days") {
			t.Errorf("%s: exit code %d, %q", text, code, stderr)
		}
	}
	for _, text := range []string{"0d", "1.5d", "106751d", "12h"} {
		if code, _, stderr := run(t.Context(), cli.KnownStores(nil), "purge", "--yes", "--older-than="+text, "--store", "sqlite::memory:"); code != cli.ExitOK {
			t.Errorf("%s: exit code %d, %q", text, code, stderr)
		}
	}
}

// closedPipe is a standard output whose reader has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestJSONThatNobodyReadsIsAFailure(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	env := cli.System(nil)
	env.Args = []string{"metrics", "--json", "--store", "sqlite::memory:"}
	env.Stdout, env.Stderr = closedPipe{}, &stderr
	if code := cli.Run(t.Context(), env); code != cli.ExitFailure {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
