package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// plainStore is a store with the plain contract.
type plainStore struct{ provider.Provider }

// A worker whose store was closed ran on for ever without doing anything.
func TestRunEndsWhenTheStoreIsClosed(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*sqlite.Store) provider.Provider{
		"store":       func(s *sqlite.Store) provider.Provider { return s },
		"plain store": func(s *sqlite.Store) provider.Provider { return plainStore{s} },
	} {
		for _, busy := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", busy"}[busy], func(t *testing.T) {
				t.Parallel()
				store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				started, log := make(chan struct{}), &bytes.Buffer{}
				slow := activity.New("Slow", func(ctx context.Context, _ string) (string, error) {
					close(started)
					<-ctx.Done()
					return "", ctx.Err()
				})
				w, err := worker.New(of(store), worker.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				call := calling(slow)
				if err := w.Register(slow, call, waiting); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- w.Run(context.WithoutCancel(t.Context())) }()
				if busy {
					start(t, store, call, "")
					receive(t, "the activity", started)
				} else {
					start(t, store, waiting, "")
					waitForStatus(t, store, t.Name())
				}
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
				if err := receive(t, "the end of Run", ended); !errors.Is(err, provider.ErrClosed) || !strings.Contains(err.Error(), "end the context of Run first") {
					t.Errorf("Run returned %v, want %v with what to do", err, provider.ErrClosed)
				}
				if strings.Contains(log.String(), "the store fails") {
					t.Errorf("an outage was logged:\n%s", log)
				}
			})
		}
	}
}

// A store that is closed after the context of Run has ended is an orderly end, also if Run has not returned yet.
func TestStoreIsClosedDuringTheShutdown(t *testing.T) {
	t.Parallel()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(store, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(orchestration.New("O", func(*orchestration.Context, string) (string, error) { return "", nil })); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, "the end of Run", ended); err != nil {
		t.Errorf("Run returned %v after an orderly end", err)
	}
}
