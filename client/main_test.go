package client_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

func TestMain(m *testing.M) { mssqltest.Run(m) }

func openStore(t *testing.T) provider.Provider {
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
	return store
}

// work runs a worker until the test ends.
func work(t *testing.T, store provider.Provider, definitions ...worker.Registrable) {
	t.Helper()
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(definitions...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the worker ended with %v", err)
		}
	})
}

// deadline bounds a wait that a defect would make endless.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// stages goes on with each event "go" and says so as custom status: "1", "2", none.
var stages = orchestration.New("Stages", func(ctx *orchestration.Context, output string) (string, error) {
	next := orchestration.NewEvent[string]("go").Wait(ctx)
	for i := range 3 {
		if i < 2 {
			ctx.SetCustomStatus(string(rune('1' + i)))
		} else {
			ctx.ResetCustomStatus()
		}
		if _, err := next.Await(); err != nil {
			return "", err
		}
		next = orchestration.NewEvent[string]("go").Wait(ctx)
	}
	return output, nil
})
