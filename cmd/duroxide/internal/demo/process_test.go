package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// childVariable makes this test binary a child process: see child.
const childVariable = "DUROXIDE_TEST_CHILD"

// child is what the test binary does as a child process.
func child(what string) {
	switch what {
	case "dies": // at once
		os.Exit(3)
	case "silent": // until its input ends
		waitForEOF()
	case "ready": // says so, in its last words a broken line
		os.Stdout.WriteString(`{"ready":true}` + "\n" + `{"call":{"instance":"a","execution_id":1,"activity_id":2}}` + "\n" + `{"call":{"inst`)
		waitForEOF()
	case "deaf": // does not even look at its input
		os.Stdout.WriteString(`{"ready":true}` + "\n")
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

func waitForEOF() {
	ctx, cancel := UntilEOF(context.Background(), os.Stdin)
	defer cancel()
	<-ctx.Done()
}

// start starts this test binary as a child.
func start(t *testing.T, what string, began func(Call)) *Process {
	t.Helper()
	p, err := StartProcess(t.Context(), childCommand(t, what), os.Stderr, began)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// childCommand is the command line of a child.
func childCommand(t *testing.T, what string) []string {
	t.Helper()
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip("there is no env here to set a variable for a child process")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{env, childVariable + "=" + what, self}
}

func TestProcessReports(t *testing.T) {
	t.Parallel()
	calls := make(chan Call, 10)
	p := start(t, "ready", func(call Call) { calls <- call })
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := <-calls, (Call{"a", 1, 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("it did not stop: %v", err)
	}
	if len(calls) > 0 {
		t.Errorf("a broken line is taken for %+v", <-calls)
	}
	select {
	case <-p.Died():
		t.Error("it counts as dead of itself")
	default:
	}
}

func TestProcessThatDies(t *testing.T) {
	t.Parallel()
	p := start(t, "dies", nil)
	err := p.Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ended before it was ready: exit status 3") {
		t.Errorf("got %v", err)
	}
	<-p.Died()
}

func TestProcessThatIsNotReady(t *testing.T) {
	t.Parallel()
	p := start(t, "silent", nil)
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, cause)
	defer cancel()
	if err := p.Ready(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
	p.Kill()
	p.Kill() // again, which does nothing
}

func TestProcessThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	p := start(t, "deaf", nil)
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("got %v", err)
	}
}

func TestProcessThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	if _, err := StartProcess(t.Context(), []string{"./missing"}, os.Stderr, nil); err == nil {
		t.Error("no error")
	}
}

// TestDemoFailsWithItsWorker ends the demo at once when its worker is no use,
// instead of waiting for what will never come.
func TestDemoFailsWithItsWorker(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"dies":   "ended",
		"silent": "the demo did not end within 200ms",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			var out bytes.Buffer
			timeout := time.Minute
			if what == "silent" {
				timeout = 200 * time.Millisecond
			}
			err = Run(t.Context(), Config{
				Store: store, Worker: childCommand(t, what), Stderr: os.Stderr, Timeout: timeout,
				Screen: screen.New(&out, os.Getenv),
			})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
