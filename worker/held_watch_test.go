package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// asksTheTime needs the clock, which is an activity without a tag.
var asksTheTime = orchestration.New("AsksTheTime", func(ctx *orchestration.Context, _ string) (string, error) {
	now, err := ctx.UTCNow()
	return now.String(), err
})

func onlyTag(t *testing.T, tag string) provider.TagFilter {
	t.Helper()
	tags, err := provider.Tags(tag)
	if err != nil {
		t.Fatal(err)
	}
	return tags
}

// TestWorkThatNobodyTakesIsTold: an orchestration whose name is misspelt, an activity that nobody has, one whose tag
// nobody serves and, as all workers have tags, the clock are told once in the log after QuietTime, and at once to
// whoever asks.
func TestWorkThatNobodyTakesIsTold(t *testing.T) {
	t.Parallel()
	callTPU := orchestration.New("CallTPU", func(ctx *orchestration.Context, in string) (string, error) {
		return orchestration.Activity(ctx, echo, in, orchestration.WithTag("tpu")).Await()
	})
	callNobody := orchestration.New("CallNobody", func(ctx *orchestration.Context, in string) (string, error) {
		return orchestration.Activity(ctx, activity.Declare[string, string]("Nobody"), in, orchestration.WithTag("gpu")).Await()
	})
	reasons := map[string]string{
		"clock":      "activity __duroxide_syscall:utc_now_ms without a tag, which no worker takes, because the workers that have it take other tags",
		"tag":        `activity Echo with the tag "tpu", which no worker takes, because the workers that have it take other tags`,
		"activity":   `activity Nobody with the tag "gpu", which no worker has`,
		"misspelt":   "orchestration AskTheTime, which no worker has",
		"no version": "version 7.0.0 of AsksTheTime, which no worker has; workers have 1.0.0",
	}
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		const quiet = 500 * time.Millisecond
		logger, log := logged()
		stop := runWorker(t, store, worker.Options{QuietTime: quiet, Logger: logger, Tags: onlyTag(t, "gpu")}, asksTheTime, callTPU, callNobody, echo)
		defer stop()
		c := client.New(store, client.Options{})
		began := time.Now()
		for instance, name := range map[string]string{"clock": "AsksTheTime", "tag": "CallTPU", "activity": "CallNobody", "misspelt": "AskTheTime"} {
			if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any](name), instance, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any]("AsksTheTime").AtVersion("7.0.0"), "no version", ""); err != nil {
			t.Fatal(err)
		}
		for instance, want := range reasons {
			held, err := c.Held(t.Context(), instance)
			// Before the worker's first fetch, nobody has any of the names. An instance that has not begun waits for
			// nothing.
			for ctx := deadline(t); err == nil && (held == nil || held.Reason != want); time.Sleep(time.Millisecond) {
				held, err = c.Held(ctx, instance)
			}
			if err != nil || !held.NextTry.IsZero() {
				t.Errorf("%s: %+v, %v\nwant %s", instance, held, err, want)
			}
		}
		list, err := c.ListHeld(t.Context())
		if err != nil || len(list) != len(reasons) {
			t.Errorf("%+v, %v", list, err)
		}
		for len(lines(log, "work is held")) < len(reasons) && time.Since(began) < 20*time.Second {
			time.Sleep(10 * time.Millisecond)
		}
		if told := time.Since(began); told < quiet {
			t.Errorf("told after %v", told)
		}
		time.Sleep(quiet) // it must not be told again
		for instance, want := range reasons {
			want, _, _ = strings.Cut(want, "; workers have")
			if found := lines(log, "level=WARN", "work is held, because no live worker can take it", strings.ReplaceAll(want, `"`, `\"`)); len(found) != 1 {
				t.Errorf("%s is told %d times:\n%s", instance, len(found), log)
			}
		}
	})
}

// TestHeldInstancesCanBeCancelled: a request ends an instance that waits for code that nobody has, whether it has begun
// or not. One with code that cleans up waits for the code, and then cleans up.
func TestHeldInstancesCanBeCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		c := client.New(store, client.Options{})
		cleaned := make(chan string, 1)
		careful := orchestration.New("Careful", func(ctx *orchestration.Context, _ string) (string, error) {
			_, err := orchestration.NewEvent[string]("go").Wait(ctx).Await()
			if errors.Is(err, orchestration.ErrCancelled) {
				cleaned <- ""
			}
			return "", err
		}).WithCleanup(time.Hour)
		begin := map[string]string{"waiting": waiting.Name(), "careful": careful.Name()}
		stop := runWorker(t, store, worker.Options{}, waiting, careful)
		for id, name := range begin {
			if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any](name), id, ""); err != nil {
				t.Fatal(err)
			}
			begun(t, store, id)
		}
		stop()
		if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any]("Misspelt"), "misspelt", ""); err != nil {
			t.Fatal(err)
		}
		stop = runWorker(t, store, worker.Options{}, callEcho)
		time.Sleep(time.Hour)
		for _, id := range []string{"careful", "waiting", "misspelt"} {
			if err := c.Cancel(t.Context(), id, "enough"); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"waiting", "misspelt"} {
			status, err := c.Wait(deadline(t), id)
			if err != nil || status.State != client.Cancelled {
				t.Errorf("%s: %+v, %v", id, status, err)
			}
		}
		synctest.Wait() // until the worker has put back what it looks at, which nobody lists meanwhile
		held, err := c.Held(t.Context(), "careful")
		if err != nil || held == nil || !strings.HasPrefix(held.Reason, "orchestration Careful, which no worker has had since ") &&
			!strings.HasPrefix(held.Reason, "version 1.0.0 of Careful, which no worker has had since ") {
			t.Errorf("%+v, %v", held, err)
		}
		stop()
		runWorker(t, store, worker.Options{}, careful)
		if status, err := c.Wait(deadline(t), "careful"); err != nil || status.State != client.Cancelled || len(cleaned) != 1 {
			t.Errorf("%+v, %v, cleaned up %d times", status, err, len(cleaned))
		}
	})
}

// TestHeldInstanceSaysSinceWhen: a wait that ends says which version is missing, and since when.
func TestHeldInstanceSaysSinceWhen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		c := client.New(store, client.Options{})
		stop := runWorker(t, store, worker.Options{}, waiting)
		run := start(t, store, waiting, "")
		begun(t, store, run.Instance())
		stop()
		left := time.Now().UTC()
		runWorker(t, store, worker.Options{}, waiting.WithVersion("2.0.0"))
		raise(t, store, run.Instance(), "go")
		time.Sleep(25 * time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.Wait(ctx, run.Instance())
		want := "version 1.0.0 of Waiting, which no worker has had since " + left.Format("2006-01-02 15:04") + " UTC; workers have 2.0.0"
		if ended, ok := errors.AsType[*client.WaitError](err); !ok || ended.Held == nil || ended.Held.Reason != want || !strings.Contains(err.Error(), want) {
			t.Errorf("the wait ended with %v\nwant %s", err, want)
		}
	})
}
