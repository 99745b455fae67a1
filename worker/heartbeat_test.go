package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// importer is an activity that says how far it is, and then does as the attempt's number says. It
// returns what it knew of the attempts before it.
type importer struct {
	attempts []func(ctx context.Context) error
	// began receives when an attempt has said something.
	began chan context.Context
	ran   int
}

func (i *importer) definition() activity.Definition[string, string] {
	i.began = make(chan context.Context, 10)
	return activity.New("Import", func(ctx context.Context, _ string) (string, error) {
		text, ok := activity.LastHeartbeat[string](ctx)
		if !ok {
			text = "nothing"
		}
		i.ran++
		if len(i.attempts) == 0 {
			return text, nil
		}
		next := i.attempts[0]
		i.attempts = i.attempts[1:]
		return text, next(ctx)
	})
}

// says has that many heartbeats, of which the last is text.
func (i *importer) says(ctx context.Context, n int, text string) {
	for range n - 1 {
		_ = activity.Heartbeat(ctx, "earlier") // the context may have ended
	}
	_ = activity.Heartbeat(ctx, text)
	i.began <- ctx
}

// untilStopped says something and works until it has to stop.
func (i *importer) untilStopped(text string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		i.says(ctx, 1000, text)
		<-ctx.Done()
		return context.Cause(ctx)
	}
}

// The attempt after a worker has stopped has the very last details, on each store.
func TestHeartbeatOfAStoppedWorker(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		var i importer
		i.attempts = append(i.attempts, i.untilStopped("row 7"), i.untilStopped("row 9"))
		rows := i.definition()
		def := calling(rows)
		run := start(t, store, def, "")
		for range 2 {
			stop := runWorker(t, store, worker.Options{ShutdownTimeout: worker.AtOnce}, def, rows)
			receive(t, "the activity runs", i.began)
			stop()
		}
		runWorker(t, store, worker.Options{}, def, rows)
		if got := result(t, run); got != "row 9" {
			t.Errorf("the third attempt has read %q", got)
		}
	})
}

// storeCalls is a hook that tells of each call of an operation.
type storeCalls struct {
	hook.None

	operation string
	calls     chan error
}

func (h storeCalls) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		if operation == h.operation {
			h.calls <- end.Err
		}
	}
}

// The first details are stored while the activity runs, and others at most once a second, however
// many there are.
func TestHeartbeatsAreFew(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	kept := storeCalls{operation: "keep_heartbeat", calls: make(chan error, 1000)}
	var i importer
	i.attempts = append(i.attempts, func(ctx context.Context) error {
		began := time.Now()
		i.says(ctx, 1, "row 1")
		if err := receive(t, "the first details are stored", kept.calls); err != nil {
			t.Error(err)
		}
		i.says(ctx, 10_000, "row 2")
		if most := int(time.Since(began) / time.Second); len(kept.calls) > most {
			t.Errorf("%d times stored in %v", 1+len(kept.calls), time.Since(began))
		}
		return nil
	})
	rows := i.definition()
	def := calling(rows)
	runWorker(t, store, worker.Options{Hook: kept}, def, rows)
	if got := result(t, start(t, store, def, "")); got != "nothing" {
		t.Errorf("the first attempt has read %q", got)
	}
}

// forgetful is a store that keeps no details of heartbeats.
type forgetful struct{ provider.Store }

func (s forgetful) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, _ string) error {
	return s.RenewWorkItemLock(ctx, lockToken, extendFor)
}

// A retry has the last details of the attempt that failed, also by a panic; of one that said
// nothing, those before it. They are recorded with the failure. No store has to help.
func TestHeartbeatsOfFailures(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		for name, store := range map[string]provider.Provider{"as it is": store, "keeps nothing": forgetful{store.(provider.Store)}} {
			t.Run(name, func(t *testing.T) {
				var i importer
				var read []string
				note := func(ctx context.Context) {
					text, _ := activity.LastHeartbeat[string](ctx)
					read = append(read, text)
				}
				i.attempts = []func(ctx context.Context) error{
					func(ctx context.Context) error { note(ctx); i.says(ctx, 3, "row 3"); return errors.New("no") },
					func(ctx context.Context) error { note(ctx); return errors.New("no") },
					func(ctx context.Context) error { note(ctx); i.says(ctx, 1, "row 5"); panic("no") },
				}
				rows := i.definition()
				def := calling(rows, orchestration.WithRetry(retry.Policy{MaxAttempts: 4, Backoff: retry.Constant(0)}))
				runWorker(t, store, worker.Options{}, def, rows)
				run := start(t, store, def, "")
				if got := result(t, run); got != "row 5" || !slices.Equal(read, []string{"", "row 3", "row 3"}) {
					t.Errorf("the fourth attempt has read %q, the others %q", got, read)
				}
				var recorded []string
				for _, event := range history(t, store, run.Instance()) {
					if failed, ok := event.Kind.(provider.ActivityFailed); ok {
						failure, _ := failed.Details.(provider.ApplicationFailure)
						recorded = append(recorded, failure.Heartbeat)
					}
				}
				if want := []string{`"row 3"`, `"row 3"`, `"row 5"`}; !slices.Equal(recorded, want) {
					t.Errorf("recorded %q, want %q", recorded, want)
				}
			})
		}
	})
}

// What a worker that died had stored is read by the next one, from text that only a codec reads.
// Neither the store nor the log has it plainly.
func TestHeartbeatOfADeadWorker(t *testing.T) {
	t.Parallel()
	const secret = "row of Ada Lovelace"
	store := openStore(t)
	options := worker.Options{Codec: newCodec(t, codec.Encrypt(newKeyring(t, key("a")))), ShutdownTimeout: worker.AtOnce}
	logger, leaked := awaitLog(secret)
	options.Logger = logger
	var i importer
	i.attempts = append(i.attempts, i.untilStopped(secret), func(ctx context.Context) error {
		i.says(ctx, 1, secret+" again")
		return errors.New("no")
	})
	rows := i.definition()
	def := calling(rows, orchestration.WithRetry(retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(0)}))
	run, err := client.Start(t.Context(), client.New(store, client.Options{Codec: options.Codec}), def, t.Name(), "")
	if err != nil {
		t.Fatal(err)
	}
	stop := runWorker(t, store, options, def, rows)
	receive(t, "the activity runs", i.began)
	stop()

	// A worker that fetches it, and dies.
	fetched, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{
		LockTimeout: time.Millisecond, Known: provider.Know(provider.CodeName{Name: rows.Name()}),
	})
	if err != nil || fetched == nil {
		t.Fatal(fetched, err)
	}
	if !codec.Encoded(fetched.Heartbeat) || strings.Contains(fetched.Heartbeat, "Ada") {
		t.Errorf("the store has %q", fetched.Heartbeat)
	}
	runWorker(t, store, options, def, rows)
	if got := result(t, run); got != secret+" again" {
		t.Errorf("the retry has read %q", got)
	}
	for _, event := range history(t, store, run.Instance()) {
		if failed, ok := event.Kind.(provider.ActivityFailed); ok {
			failure, _ := failed.Details.(provider.ApplicationFailure)
			if !codec.Encoded(failure.Heartbeat) {
				t.Errorf("the history has %q", failure.Heartbeat)
			}
		}
	}
	if len(leaked) > 0 {
		t.Errorf("the log has %s", <-leaked)
	}
}

// Details that the store did not take are sent once more before the activity is handed back. One
// that it refuses are told.
func TestHeartbeatsThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault error
		want  string
		told  int
	}{
		"trouble": {providerfault.Busy(), "row 7", 0},
		"refused": {providerfault.Refused(), "nothing", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := storeCalls{operation: "keep_heartbeat", calls: make(chan error, 1000)}
			inner := openStore(t)
			store := providerfault.New(inner, providerfault.Rule{
				Operation: providerfault.KeepHeartbeat, Times: 1, Fault: providerfault.Fault{Fail: c.fault},
			})
			logger, told := awaitLog("heartbeat are not stored")
			var i importer
			i.attempts = append(i.attempts, func(ctx context.Context) error {
				i.says(ctx, 1, "row 7")
				receive(t, "the store fails", kept.calls)
				i.began <- ctx
				<-ctx.Done()
				return context.Cause(ctx)
			})
			rows := i.definition()
			def := calling(rows)
			run := start(t, store, def, "")
			stop := runWorker(t, store, worker.Options{ShutdownTimeout: worker.AtOnce, Hook: kept, Logger: logger}, def, rows)
			receive(t, "the activity runs", i.began)
			receive(t, "the store has failed", i.began)
			stop()
			runWorker(t, inner, worker.Options{}, def, rows)
			if got := result(t, run); got != c.want || len(told) != c.told {
				t.Errorf("the second attempt has read %q, and the log %d lines", got, len(told))
			}
		})
	}
}

// A heartbeat that finds the lease gone ends the context, and reports why.
func TestHeartbeatTellsOfACancellation(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t), providerfault.Rule{
		Operation: providerfault.KeepHeartbeat, Times: 1, Fault: providerfault.Fault{Fail: providerfault.LockLost()},
	})
	var i importer
	ended := make(chan error, 1)
	i.attempts = append(i.attempts, func(ctx context.Context) error {
		i.says(ctx, 1, "row 7")
		<-ctx.Done()
		ended <- activity.Heartbeat(ctx, "row 8")
		return nil
	})
	rows := i.definition()
	def := calling(rows)
	runWorker(t, store, worker.Options{Logger: slog.New(slog.DiscardHandler)}, def, rows)
	start(t, store, def, "")
	if err := receive(t, "the context ends", ended); err == nil || !strings.Contains(err.Error(), "cancelled or its lease was lost") {
		t.Errorf("error %v", err)
	}
}
