package server_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

const secret = "Xyzzy4711"

// Orchestrations that put the secret wherever a payload can be.
var (
	whispered = failure.NewKind[map[string]string]("Whispered")
	queue     = orchestration.NewQueue[string]("queue")
	event     = orchestration.NewEvent[string]("event")

	whisper = activity.New("Whisper", func(_ context.Context, how string) (string, error) {
		switch how {
		case secret + " fails":
			return "", whispered.New(map[string]string{"what": secret}, secret)
		case secret + " panics":
			panic(secret)
		}
		return secret, nil
	})
	child = orchestration.New("Child", func(ctx *orchestration.Context, how string) (string, error) {
		if how == secret+" fails" {
			return "", errors.New(secret)
		}
		return orchestration.Activity(ctx, whisper, how).Await()
	})
	whispers = orchestration.New("Whispers", func(ctx *orchestration.Context, round string) (string, error) {
		raised := event.Wait(ctx)
		ctx.SetCustomStatus(secret)
		orchestration.NewKey[string]("key").Set(ctx, secret)
		for _, how := range []string{"", " fails", " panics"} {
			_, _ = orchestration.Activity(ctx, whisper, secret+how).Await()
			_, _ = orchestration.SubOrchestration(ctx, child, secret+how).Await()
		}
		if round == secret { // two messages of three are carried along
			if _, err := queue.Dequeue(ctx).Await(); err != nil {
				return "", err
			}
			if _, err := raised.Await(); err != nil {
				return "", err
			}
			return orchestration.Declare[string, string]("Whispers").ContinueAsNew(ctx, secret+" again")
		}
		_, err := queue.Dequeue(ctx).Await()
		return secret, err
	})
)

// whisperEverything runs instances whose payloads all have the secret: one that ends with a
// result, one that fails, one that is cancelled, and one that goes on, and a start that waits.
func whisperEverything(t *testing.T, store provider.Provider, c *codec.Codec, logger *slog.Logger) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := worker.New(store, worker.Options{Codec: c, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(whispers, child, whisper); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	ending, stop := context.WithCancel(ctx)
	running.Go(func() { _ = w.Run(ending) })
	defer running.Wait()
	defer stop()

	clients := client.New(store, client.Options{Codec: c})
	start := func(def orchestration.Definition[string, string], id, input string) *client.Run[string] {
		run, err := client.Start(ctx, clients, def, id, input, client.WithMessage(queue, secret))
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	completes, fails := start(whispers, "completes", secret), start(child, "fails", secret+" fails")
	cancelled, waits := start(whispers, "cancelled", secret), start(whispers, "waits", secret)
	for _, send := range []error{
		client.Enqueue(ctx, clients, queue, "completes", secret),
		client.Enqueue(ctx, clients, queue, "completes", secret), awaitStatus(ctx, clients, "completes"),
	} {
		if send != nil {
			t.Fatal(send)
		}
	}
	if err := client.RaiseEvent(ctx, clients, event, "completes", secret); err != nil {
		t.Fatal(err)
	}
	result, err := completes.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if result != secret {
		t.Errorf("the result is %q", result)
	}
	if _, err := fails.Wait(ctx); err == nil || err.Error() != secret {
		t.Errorf("the failure is %v", err)
	}
	if err := clients.Cancel(ctx, "cancelled", secret); err != nil {
		t.Fatal(err)
	}
	if _, err := cancelled.Wait(ctx); err == nil || !strings.Contains(err.Error(), secret) {
		t.Errorf("the cancellation is %v", err)
	}
	if err := awaitStatus(ctx, clients, waits.Instance()); err != nil {
		t.Fatal(err)
	}
	stop()
	running.Wait()
	start(whispers, "queued", secret)
	if err := errors.Join(client.RaiseEvent(ctx, clients, event, "waits", secret), clients.Cancel(ctx, "waits", secret)); err != nil {
		t.Fatal(err)
	}
}

func awaitStatus(ctx context.Context, c *client.Client, instance string) error {
	s, err := c.WaitForCustomStatus(ctx, instance, 0)
	if err == nil && (s.CustomStatus == nil || *s.CustomStatus != secret) {
		return fmt.Errorf("the custom status of %s is %v", instance, s.CustomStatus)
	}
	return err
}

// With a codec a secret is found nowhere: not in the bytes of the database, its write-ahead
// log included, not in what the worker logs, and not in what the command line prints. Without
// one it is found in the database and on the command line, so the search would find it.
func TestSecretIsFoundNowhere(t *testing.T) {
	t.Parallel()
	keys, err := codec.NewKeyring(codec.Key{ID: "k", Secret: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	encrypting, err := codec.New(codec.Compress(256), codec.Encrypt(keys))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*codec.Codec{"encrypted": encrypting, "plain": nil} {
		t.Run("sqlite, "+name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "store.db")
			store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			lookForSecret(t, c, store, shell{t, "sqlite:" + path}, func() string { return fileBytes(t, dir) })
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			if found := strings.Contains(fileBytes(t, dir), secret); found != (c == nil) {
				t.Errorf("found in the closed database: %v", found)
			}
		})
		if c == nil {
			continue // the search is the same
		}
		t.Run("mssql, "+name, func(t *testing.T) {
			t.Parallel()
			schema := mssqltest.NewSchema(t)
			store, err := mssql.New(mssqltest.DB(t), mssql.Options{Schema: schema})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			lookForSecret(t, c, store, on(t, schema), func() string { return tableTexts(t, mssqltest.DB(t), schema) })
		})
	}
}

// lookForSecret looks for it in the log, on the command line, and in the store's data.
func lookForSecret(t *testing.T, c *codec.Codec, store provider.Provider, s shell, data func() string) {
	t.Helper()
	var log bytes.Buffer
	whisperEverything(t, store, c, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if text := log.String(); text == "" || strings.Contains(text, secret) {
		t.Errorf("the log is\n%s", text)
	}
	all := data()
	if found := strings.Contains(all, secret); found != (c == nil) {
		t.Errorf("found in the database: %v", found)
	}
	if name := "Whispers"; !strings.Contains(all, name) {
		t.Errorf("the search in the database does not find %q either", name)
	}
	var printed strings.Builder
	for _, command := range [][]string{
		{"list"},
		{"status", "completes"},
		{"status", "--json", "fails"},
		{"history", "--data", "completes"},
		{"history", "--json", "cancelled"},
	} {
		var out bytes.Buffer
		code := cli.Run(t.Context(), cli.Env{
			Args: command, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Getenv: func(name string) string { return map[string]string{"DUROXIDE_STORE": s.store}[name] },
			Stores: cli.KnownStores(nil),
		})
		if code == cli.ExitUsage || out.Len() == 0 {
			t.Errorf("%v: exit code %d\n%s", command, code, out.String())
		}
		if c != nil && strings.Contains(out.String(), secret) {
			t.Errorf("%v shows it:\n%s", command, out.String())
		}
		printed.WriteString(out.String())
	}
	if c == nil && !strings.Contains(printed.String(), secret) {
		t.Error("without a codec the command line shows nothing, so the search finds nothing")
	}
}

// fileBytes are the bytes of all files of a directory.
func fileBytes(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// tableTexts are the values of all columns of all tables of a schema.
func tableTexts(t *testing.T, db *sql.DB, schema string) string {
	t.Helper()
	var tables []string
	query(t, db, "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = '"+schema+"'",
		func(row []any) { tables = append(tables, fmt.Sprint(row[0])) })
	if len(tables) < 5 {
		t.Fatalf("the tables are %v", tables)
	}
	var all strings.Builder
	for _, table := range tables {
		query(t, db, "SELECT * FROM ["+schema+"].["+table+"]", func(row []any) { //nolint:unqueryvet // whatever columns there are
			for _, value := range row {
				fmt.Fprintf(&all, "%s\n", value)
			}
		})
	}
	return all.String()
}

func query(t *testing.T, db *sql.DB, text string, each func(row []any)) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		each(row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
