package cli_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// TestHistoryInto writes a sample, and single histories, which ReplayDir takes.
func TestHistoryInto(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	sleeper := orchestration.New("Sleeper", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.Sleep(0)
		return "", nil
	})
	if err := w.Register(sleeper, sleeper.WithVersion("1.1.0")); err != nil {
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
	for id, version := range map[string]string{"a/b": "1.0.0", "c": "1.1.0", "d": "1.1.0", "e\x1b[2J": "1.1.0"} {
		run, err := client.Start(ctx, client.New(store, client.Options{}), sleeper.AtVersion(version), id, "")
		if err == nil {
			_, err = run.Wait(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stores := cli.Stores{"test": func(context.Context, string, bool) (cli.Store, error) { return shared{store}, nil }}
	folder := filepath.Join(t.TempDir(), "histories")
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{cli.ExitOK, "3 histories in " + folder, []string{"--into", folder, "--each", "2"}},
		{cli.ExitOK, "3 histories in " + folder, []string{"--into", folder, "--each", "2"}}, // over the same
		{cli.ExitOK, "1 history in " + folder, []string{"a/b", "--into", folder}},
		{cli.ExitNotFound, `there is no instance "z"`, []string{"z", "--into", folder}},
		{cli.ExitUsage, "--each must be at least 1", []string{"--into", folder, "--each", "0"}},
		{cli.ExitUsage, "--each needs --into", []string{"a/b", "--each", "2"}},
		{cli.ExitUsage, "leave --json, --execution and --data out", []string{"--into", folder, "--json"}},
		{cli.ExitUsage, "a sample of all instances needs --into", nil},
	} {
		code, stdout, stderr := run(t.Context(), stores, append([]string{"history", "--store", "test:"}, test.args...)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.want) {
			t.Errorf("%q: exit code %d, %q, %q; want %d, %q", test.args, code, stdout, stderr, test.code, test.want)
		}
	}
	entries, err := os.ReadDir(folder)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if err != nil || len(names) != 3 || !slices.Contains(names, "Sleeper-1.0.0-a_b-b83db5aa.json") {
		t.Errorf("%q, %v", names, err)
	}
	checkReplay(t, store, sleeper)
	orchestrationtest.ReplayDir(t, folder, sleeper, sleeper.WithVersion("1.1.0"))
}

// checkReplay replays an instance by programs with code that fits, with other code, and without.
func checkReplay(t *testing.T, store *sqlite.Store, fits orchestration.Definition[string, string]) {
	t.Helper()
	other := fits.Implement(func(*orchestration.Context, string) (string, error) { return "", nil })
	for _, test := range []struct {
		code       int
		want       string
		definition []worker.Registrable
		args       []string
	}{
		{cli.ExitOK, "The code fits 1 history.", []worker.Registrable{fits}, []string{"a/b"}},
		{cli.ExitOK, "The code fits 0 histories.", []worker.Registrable{fits}, nil}, // none runs
		{cli.ExitFailure, "a/b, execution 1: the function returned, but history goes on with event 2, a timer", []worker.Registrable{other}, []string{"a/b"}},
		{cli.ExitFailure, "e\uFFFD[2J, execution 1: ", []worker.Registrable{other}, []string{"e\x1b[2J"}}, // which cannot steer the terminal
		{cli.ExitFailure, `"reason":"the function returned, but history goes on with event 2, a timer"}]}`, []worker.Registrable{other}, []string{"a/b", "--json"}},
		{cli.ExitFailure, "1 of 2 histories could not be replayed", []worker.Registrable{fits}, []string{"a/b", "c"}},
		{cli.ExitUsage, "--each must be at least 1", []worker.Registrable{fits}, []string{"--each", "0"}},
		{cli.ExitFailure, "this program does not have your orchestrations", nil, []string{"a/b"}},
	} {
		var stdout, stderr strings.Builder
		env := cli.System(nil)
		env.Stores = cli.Stores{"test": func(context.Context, string, bool) (cli.Store, error) { return shared{store}, nil }}
		env.Stdout, env.Stderr, env.Code = &stdout, &stderr, cli.Code{Definitions: test.definition}
		env.Args = append([]string{"replay", "--store", "test:"}, test.args...)
		if code := cli.Run(t.Context(), env); code != test.code || !strings.Contains(stdout.String()+stderr.String(), test.want) {
			t.Errorf("%q: exit code %d, %q, %q; want %d, %q", test.args, code, stdout.String(), stderr.String(), test.code, test.want)
		}
	}
}
