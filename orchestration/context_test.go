package orchestration_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
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

// Each line is logged once, however often the function runs over it.
func TestLoggerIsSilentOnReplay(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	base := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	replayed := 0
	def := orchestration.New("Logs", func(ctx *orchestration.Context, _ string) (string, error) {
		log := ctx.Logger(base).WithGroup("g").With("k", "v")
		log.Info("begin")
		for i := range 2 {
			greeting, err := orchestration.Activity(ctx, greet, fmt.Sprint(i)).Await()
			if err != nil {
				return "", err
			}
			if ctx.Replaying() {
				replayed++
			}
			log.Info("greeted", "greeting", greeting)
		}
		ctx.Logger(nil).Debug("to the default logger")
		return "", nil
	})
	e := newEngine(t, def, greet)
	run := start(e, def, "")
	result(t, run)
	identity := fmt.Sprintf("instance_id=%s execution_id=1 orchestration_name=Logs orchestration_version=1.0.0", run.Instance())
	want := []string{
		"level=INFO msg=begin " + identity + " g.k=v",
		"level=INFO msg=greeted " + identity + ` g.k=v g.greeting="Hello, 0!"`,
		"level=INFO msg=greeted " + identity + ` g.k=v g.greeting="Hello, 1!"`,
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if replayed != 1 {
		t.Errorf("%d steps were replays, want 1", replayed)
	}
}

func TestSelectOfNothing(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Nothing", func(*orchestration.Context, string) (string, error) {
		return fmt.Sprint(orchestration.SelectAndDrop()), nil
	})
	e := newEngine(t, def)
	want := "orchestration panicked: orchestration.SelectAndDrop and orchestration.WaitAny need at least one future"
	if got := failureText(t, start(e, def, "")); got != want {
		t.Errorf("failure = %q, want %q", got, want)
	}
}

// A value that has no JSON fails where it is given, under the name of what it was for.
func TestValuesWithoutJSON(t *testing.T) {
	t.Parallel()
	type unfit struct{ C chan int }
	child := orchestration.Declare[unfit, string]("Child")
	def := orchestration.New("Unfit", func(ctx *orchestration.Context, where string) (unfit, error) {
		switch where {
		case "sub":
			orchestration.SubOrchestration(ctx, child, unfit{})
		case "detach":
			orchestration.Detach(ctx, child, "d", unfit{})
		case "continue":
			return orchestration.Declare[unfit, unfit]("Unfit").ContinueAsNew(ctx, unfit{})
		case "key":
			orchestration.NewKey[unfit]("k").Set(ctx, unfit{})
		}
		return unfit{}, nil
	})
	e := newEngine(t, def)
	for where, want := range map[string]string{
		"sub":      `orchestration panicked: input of sub-orchestration "Child": json: unsupported type: chan int`,
		"detach":   `orchestration panicked: input of orchestration "Child": json: unsupported type: chan int`,
		"continue": "orchestration panicked: input of the next execution: json: unsupported type: chan int",
		"key":      `orchestration panicked: value of key "k": json: unsupported type: chan int`,
		"output":   `output of orchestration "Unfit": json: unsupported type: chan int`,
	} {
		run, err := client.Start(t.Context(), e.client, def, where, where)
		if err != nil {
			t.Fatal(err)
		}
		if got := failureText(t, run); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
}

func TestFailureSaysWhatFailed(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("ordering: %w", &orchestration.CallError{Source: `activity "Charge"`, Message: "card declined"})
	failed, ok := errors.AsType[*orchestration.CallError](err)
	if !ok || failed.Source != `activity "Charge"` || err.Error() != "ordering: card declined" {
		t.Errorf("%v", err)
	}
}
