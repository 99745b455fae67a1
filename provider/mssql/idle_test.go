package mssql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/worker"
)

// idleStore is a store without work that counts the calls of its worker.
type idleStore struct {
	*mssql.Store

	calls *atomic.Int64
}

func (s idleStore) Claim(context.Context, provider.ClaimParams) (provider.Claimed, error) {
	s.calls.Add(1)
	return provider.Claimed{}, nil
}

func (s idleStore) RenewSessionLock(context.Context, provider.RenewSessionParams) (int, error) {
	s.calls.Add(1)
	return 0, nil
}

func (s idleStore) CleanupOrphanedSessions(context.Context, time.Duration) (int, error) {
	s.calls.Add(1)
	return 0, nil
}

func (s idleStore) FetchOrchestrationItem(context.Context, provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	s.calls.Add(1)
	return nil, nil
}

func (s idleStore) FetchWorkItem(context.Context, provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	s.calls.Add(1)
	return nil, nil
}

func (s idleStore) UnknownCode(context.Context, time.Duration) ([]provider.UnknownCode, error) {
	s.calls.Add(1)
	return nil, nil
}

// noServer is a server that takes no connection. Whoever asks it has made a call that idleStore does not count.
type noServer struct{ asked *atomic.Int64 }

func (n noServer) Connect(context.Context) (driver.Conn, error) {
	n.asked.Add(1)
	return nil, errors.New("nobody listens")
}

func (noServer) Driver() driver.Driver { return nil }

// Twenty workers with nothing to do, each in a process of its own, make at most ten calls a second together, also in
// the minute in which they start.
func TestIdleWorkersMakeFewCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const workers, most = 20, 600
		var calls, asked atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var running sync.WaitGroup
		for range workers {
			db := sql.OpenDB(noServer{&asked})
			store, err := mssql.New(db, mssql.Options{})
			ok(t, err)
			t.Cleanup(func() {
				ok(t, store.Close())
				ok(t, db.Close())
			})
			w, err := worker.New(idleStore{store, &calls}, worker.Options{Logger: slog.New(slog.DiscardHandler)})
			ok(t, err)
			running.Go(func() {
				if err := w.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		for minute := range 3 {
			ok(t, clock.Sleep(ctx, time.Minute))
			if n := calls.Swap(0); n > most || n < most/4 {
				t.Errorf("minute %d: %d workers made %d calls, want at most %d and a few", minute, workers, n, most)
			} else {
				t.Logf("minute %d: %d calls", minute, n)
			}
		}
		cancel()
		running.Wait()
		if n := asked.Load(); n > 0 {
			t.Errorf("%d calls that the test does not count", n)
		}
	})
}
