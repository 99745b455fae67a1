package worker_test

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// damage replaces a text in one event of an instance.
func damage(t *testing.T, db *sql.DB, schema, instance, from, to string) {
	t.Helper()
	statement := "UPDATE " + schema + "history SET event_data = REPLACE(event_data, '" + from + "', '" + to + "') " +
		"WHERE instance_id = '" + instance + "' AND event_data LIKE '%" + from + "%'"
	result, err := db.ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d rows were changed, error %v", n, err)
	}
}

// An instance with a damaged event, or one that a newer release wrote, failed for good after ten attempts. It is held,
// visibly, while other work goes on, and ends right when somebody has mended the event.
func TestUnreadableHistoryIsHeld(t *testing.T) {
	t.Parallel()
	onBothDatabases(t, func(t *testing.T, store provider.Provider, db *sql.DB, schema string) {
		options := worker.Options{Code: worker.Code{Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond}}
		stop := runWorker(t, store, options, waiting)
		run, c := start(t, store, waiting, ""), client.New(store, client.Options{})
		waitForStatus(t, store, run.Instance())
		stop()
		damage(t, db, schema, run.Instance(), "ExternalSubscribed", "ExternalSubscribedV2")

		raise(t, store, run.Instance(), "go")
		log, given := &lockedBuffer{}, make(chan provider.AbandonParams, 1<<16)
		options.Logger = slog.New(slog.NewTextHandler(log, nil))
		runWorker(t, named(handsBack{store, given}, store), options, waiting, callEcho, echo)
		for range 25 { // more than Limits.Attempts
			if params := receive(t, "given back", given); !params.IgnoreAttempt || !strings.Contains(params.Misfit, "ExternalSubscribedV2") {
				t.Fatalf("given back with %+v", params)
			}
		}
		other, err := client.Start(t.Context(), c, callEcho, "other", "x")
		if err != nil {
			t.Fatal(err)
		}
		result(t, other)
		held, err := c.Held(t.Context(), run.Instance())
		if err != nil || held == nil || !strings.Contains(held.Reason, "its history cannot be read: ") || !strings.Contains(held.Reason, "duroxide cancel") {
			t.Fatalf("held: %+v, %v", held, err)
		}
		if lines := log.String(); !strings.Contains(lines, "a history cannot be read, the instance is held") || strings.Contains(lines, "fails") {
			t.Errorf("the log has\n%s", lines)
		}

		damage(t, db, schema, run.Instance(), "ExternalSubscribedV2", "ExternalSubscribed")
		result(t, run)
		if held, err := c.Held(t.Context(), run.Instance()); held != nil || err != nil {
			t.Errorf("it has ended, and is held: %+v, %v", held, err)
		}
	})
}

// Whoever can't mend the history cancels the instance: its parent hears of that, and late messages are dropped. A
// parent's request alone ends nothing.
func TestUnreadableHistoryCanBeCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		family := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
			_, err := orchestration.SubOrchestration(ctx, waiting, "", orchestration.WithInstanceID("child")).Await()
			return "", err
		})
		stop := runWorker(t, store, worker.Options{}, family, waiting)
		run, c := start(t, store, family, ""), client.New(store, client.Options{})
		waitForStatus(t, store, "child")
		stop()
		dropped := make(chan struct{}, 1)
		damaged := named(dropsTold{unreadable{store, "child"}, dropped}, store)
		runWorker(t, damaged, worker.Options{}, family, waiting)
		err := store.EnqueueForOrchestrator(t.Context(), provider.CancelInstanceItem{Instance: "child", Reason: "parent ended"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if held, err := c.Held(t.Context(), "child"); err != nil || held == nil {
			t.Fatalf("held: %+v, %v", held, err)
		}
		if err := c.Cancel(t.Context(), "child", "enough"); err != nil {
			t.Fatal(err)
		}
		for who, run := range map[string]*client.Run[string]{"child": client.Attach[string](c, "child"), "parent": run} {
			if details, ok := failure(t, run).(provider.ApplicationFailure); !ok || !strings.Contains(details.DisplayMessage(), "canceled: enough") {
				t.Errorf("the %s ended with %+v", who, details)
			}
		}
		raise(t, store, "child", "late")
		receive(t, "the late message", dropped)
		time.Sleep(time.Minute)
		if held, err := c.Held(t.Context(), "child"); held != nil || err != nil {
			t.Errorf("it has ended, and is held: %+v, %v", held, err)
		}
	})
}

// dropsTold tells of turns that are acknowledged without an event.
type dropsTold struct {
	provider.Provider
	dropped chan struct{}
}

func (s dropsTold) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	err := s.Provider.AckOrchestrationItem(ctx, params)
	if len(params.HistoryDelta) == 0 {
		s.dropped <- struct{}{}
	}
	return err
}
