package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// noKV is a store that cannot read a key for the first few times.
type noKV struct {
	*sqlite.Store

	failures atomic.Int32
	err      error
}

func (s *noKV) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	if s.failures.Add(-1) >= 0 {
		return nil, s.err
	}
	return s.Store.GetKVValue(ctx, instance, key)
}

var reading = orchestration.New("Reading", func(ctx *orchestration.Context, _ string) (bool, error) {
	_, ok, err := orchestration.NewKey[string]("key").Of(ctx, "nobody")
	return ok, err
})

// Trouble of the store that may pass fails no orchestration that reads another instance's key, as it
// fails no other call of the library to the store.
func TestKeyOfWaitsForTheStore(t *testing.T) {
	t.Parallel()
	store := &noKV{Store: openStore(t), err: provider.Retryable("get_kv_value", "the connection is lost", errors.New("reset"))}
	store.failures.Store(3)
	runWorker(t, store, worker.Options{Code: worker.Code{Backoff: time.Millisecond}}, reading)
	if result(t, start(t, store, reading, "")) {
		t.Error("there is a key of nobody")
	}
}

// handsBackSlowly is such a store whose answer to a hand-back comes only when the activity runs again.
type handsBackSlowly struct {
	*noKV

	reads chan struct{}
}

func (s handsBackSlowly) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	s.reads <- struct{}{}
	return s.noKV.GetKVValue(ctx, instance, key)
}

func (s handsBackSlowly) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	err := s.noKV.AbandonWorkItem(ctx, params)
	select {
	case <-s.reads:
	case <-ctx.Done():
	}
	return err
}

// An activity that was handed back and is fetched again before the store has answered runs again. It
// does not go on with the call that has handed it back, which would leave it until its lease ends.
func TestHandedBackActivityRunsAgain(t *testing.T) {
	t.Parallel()
	inner := &noKV{Store: openStore(t), err: provider.Retryable("get_kv_value", "the connection is lost", errors.New("reset"))}
	inner.failures.Store(1)
	store := handsBackSlowly{noKV: inner, reads: make(chan struct{}, 1)}
	runWorker(t, store, worker.Options{Code: worker.Code{Backoff: time.Millisecond}}, reading)
	run := start(t, store, reading, "")
	<-store.reads // the one that fails; the hand-back waits for the next
	if result(t, run) {
		t.Error("there is a key of nobody")
	}
}
