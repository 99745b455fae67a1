package cli_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/orchestrationtest"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// TestReplayOfEncodedHistories: histories of a store with a codec are replayed by who has it, and
// no payload is plain in a file or on the command line.
func TestReplayOfEncodedHistories(t *testing.T) {
	t.Parallel()
	const secret = "secret-4711"
	keys, err := codec.NewKeyring(codec.Key{ID: "k", Secret: bytes.Repeat([]byte("k"), 32)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := codec.New(codec.Encrypt(keys))
	if err != nil {
		t.Fatal(err)
	}
	whispers := func(suffix string) orchestration.Definition[string, string] {
		return orchestration.New("Whispers", func(ctx *orchestration.Context, text string) (string, error) {
			orchestration.NewKey[string]("key").Set(ctx, text+suffix)
			return "", errors.New(text)
		})
	}
	store := leaveEncoded(t, c, whispers(""), secret)
	folder := filepath.Join(t.TempDir(), "histories")
	for _, test := range []struct {
		code cli.Code
		exit int
		want string
		args []string
	}{
		// One that has failed is written once.
		{exit: cli.ExitOK, want: "1 history in ", args: []string{"history", "--into", folder}},
		{cli.Code{Definitions: []worker.Registrable{whispers("")}, Codec: c}, cli.ExitOK, "The code fits 1 history.", []string{"replay", "w"}},
		{
			cli.Code{Definitions: []worker.Registrable{whispers("!")}, Codec: c},
			cli.ExitFailure,
			"w, execution 1: event 2 was setting key \"key\"",
			[]string{"replay", "w"},
		},
		{
			cli.Code{Definitions: []worker.Registrable{whispers("")}},
			cli.ExitFailure,
			"w, execution 1: its payloads are encoded, and this program has no codec: set Codec in commandline.Options",
			[]string{"replay", "w"},
		},
	} {
		var output strings.Builder
		env := cli.System(nil)
		env.Stores = cli.Stores{"test": func(context.Context, string, bool) (cli.Store, error) { return shared{store}, nil }}
		env.Stdout, env.Stderr, env.Code, env.Args = &output, &output, test.code, slices.Concat(test.args, []string{"--store", "test:"})
		code := cli.Run(t.Context(), env)
		if code != test.exit || !strings.Contains(output.String(), test.want) || strings.Contains(output.String(), secret) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", test.args, code, output.String(), test.exit, test.want)
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, "Whispers-1.0.0-w.json"))
	if err != nil || bytes.Contains(data, []byte(secret)) {
		t.Errorf("%s, %v", data, err)
	}
	orchestrationtest.ReplayDir(t, folder, whispers(""), orchestrationtest.Codec(c))
}

// leaveEncoded returns a store in which the instance "w" has run with that codec.
func leaveEncoded(t *testing.T, c *codec.Codec, def orchestration.Definition[string, string], input string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	w, err := worker.New(store, worker.Options{Codec: c, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = w.Register(def)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = w.Run(ctx)
	}()
	defer func() {
		cancel()
		<-stopped
	}()
	run, err := client.Start(ctx, client.New(store, client.Options{Codec: c}), def, "w", input)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(ctx); err == nil {
		t.Fatal("it has not failed")
	}
	return store
}
