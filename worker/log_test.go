package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// lockedBuffer is written by a worker and read by a test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Whatever goes wrong, the log says what and where, and nothing of what people put
// into their orchestrations.
func TestLogHoldsNoPayloads(t *testing.T) {
	t.Parallel()
	const secret = "secret-4711"
	reveal := activity.New("Reveal", func(_ context.Context, how string) (string, error) {
		switch how {
		case "error " + secret:
			return "", errors.New(secret)
		case "panic " + secret:
			panic(secret)
		}
		return secret, nil
	})
	numbers := orchestration.NewQueue[int]("numbers")
	def := orchestration.New("Whispers", func(ctx *orchestration.Context, how string) (string, error) {
		orchestration.NewKey[string]("key").Set(ctx, secret)
		ctx.SetCustomStatus(secret)
		switch {
		case strings.HasPrefix(how, "panic here"):
			panic(secret)
		case strings.HasPrefix(how, "fail here"):
			return "", errors.New(secret)
		case strings.HasPrefix(how, "big"):
			orchestration.NewKey[string]("key").Set(ctx, strings.Repeat(secret, 10_000))
		case strings.HasPrefix(how, "unknown"):
			return orchestration.Activity(ctx, activity.Declare[string, string]("Nobody"), secret).Await()
		case strings.HasPrefix(how, "no number"):
			_, err := orchestration.Activity(ctx, activity.Declare[string, int]("Reveal"), secret).Await()
			return "", err
		case strings.HasPrefix(how, "misfit"):
			_, err := numbers.Dequeue(ctx).Await()
			return "", err
		case strings.HasPrefix(how, "forget"):
			for range 25 {
				orchestration.Activity(ctx, reveal, secret)
			}
			_, _ = orchestration.NewEvent[string]("enough").Wait(ctx).Await()
			return orchestration.Declare[string, string]("Whispers").ContinueAsNew(ctx, "fail here "+secret)
		}
		return orchestration.Activity(ctx, reveal, how).Await()
	})
	changes := 0
	unsteady := orchestration.New("Unsteady", func(ctx *orchestration.Context, _ string) (string, error) {
		changes++
		return orchestration.Activity(ctx, reveal, fmt.Sprint(secret, changes)).Await()
	})
	var log lockedBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	store := providerfault.New(openStore(t),
		providerfault.Rule{Operation: providerfault.AckOrchestrationItem, Skip: 3, Times: 1, Fault: providerfault.Fault{Fail: providerfault.Refused()}},
		providerfault.Rule{Operation: providerfault.AckWorkItem, Skip: 2, Times: 1, Fault: providerfault.Fault{Lose: providerfault.Unreachable()}})
	c := client.New(store, client.Options{})
	for _, how := range []string{"ok ", "error ", "panic ", "panic here ", "fail here ", "big ", "unknown ", "no number ", "misfit ", "forget "} {
		if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any]("Whispers"), how, how+secret); err != nil {
			t.Fatal(err)
		}
	}
	for _, message := range []string{secret, "1"} {
		if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string](numbers.Name()), "misfit ", message); err != nil {
			t.Fatal(err)
		}
	}
	// Only now, so that it is known which turn is refused.
	runWorker(t, unselecting{store}, worker.Options{
		Logger: logger, Code: worker.Code{Backoff: time.Millisecond, UnknownTimeout: time.Second, FailMisfits: true},
		Limits: worker.Limits{Attempts: 2}, OrchestrationConcurrency: 1, Cache: worker.Cache{Instances: worker.None},
	}, def, unsteady, reveal)
	waitForStatus(t, store, "forget ")
	for range 110 {
		if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("unread"), "forget ", secret); err != nil {
			t.Fatal(err)
		}
	}
	raise(t, store, "forget ", "enough")
	run := start(t, store, unsteady, secret)
	if _, ok := failure(t, run).(provider.ConfigurationFailure); !ok {
		t.Error("the unsteady orchestration did not break determinism")
	}
	for _, how := range []string{"ok ", "error ", "panic ", "panic here ", "fail here ", "big ", "unknown ", "no number ", "misfit ", "forget "} {
		if _, err := c.Wait(deadline(t), how); err != nil {
			t.Fatal(err)
		}
		if err := client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("late"), how, secret); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, secret) {
			t.Errorf("the log reveals: %s", line)
		}
	}
	for _, want := range []string{
		"an orchestration function panicked", "an activity panicked", "activity failed", "orchestration failed",
		"no handler is registered for the activity", "an activity fails because no worker has its code", "nondeterministic: history has event 2",
		"a message that does not fit its declared type is skipped",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// A line that somebody filters by an attribute has it once.
func TestLogNamesTheOrchestrationOnce(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	store := unselecting{openStore(t)}
	stop := runWorker(t, store, worker.Options{
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Code: worker.Code{Backoff: time.Second, UnknownTimeout: 500 * time.Millisecond},
	})
	c := client.New(store, client.Options{})
	if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any]("Misspelt"), "misspelt-1", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(deadline(t), "misspelt-1"); err != nil { // as Configuration
		t.Fatal(err)
	}
	stop()
	seen := 0
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "no handler is registered for the orchestration") {
			continue
		}
		seen++
		if strings.Count(line, "orchestration_name=") != 1 || !strings.Contains(line, "orchestration_name=Misspelt") {
			t.Errorf("got %s", line)
		}
	}
	if seen != 1 {
		t.Errorf("%d lines say that nobody knows the orchestration, want 1:\n%s", seen, log.String())
	}
}

// The texts of application errors are in the log with LogApplicationErrors, and only then.
func TestLogApplicationErrors(t *testing.T) {
	t.Parallel()
	const secret = "secret-4711"
	reveal := activity.New("Reveal", func(context.Context, string) (string, error) { return "", errors.New(secret) })
	def := calling(reveal)
	for _, wanted := range []bool{false, true} {
		var log lockedBuffer
		store := openStore(t)
		stop := runWorker(t, store, worker.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), LogApplicationErrors: wanted}, def, reveal)
		failure(t, start(t, store, def, ""))
		stop()
		for _, text := range []string{`msg="activity failed"`, `msg="orchestration failed"`} {
			told := 0
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, text) && strings.Contains(line, "error="+secret) == wanted {
					told++
				}
			}
			if told != 1 {
				t.Errorf("LogApplicationErrors %v: %d lines with %s are as they should be, want 1:\n%s", wanted, told, text, log.String())
			}
		}
	}
}
