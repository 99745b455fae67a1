package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// openMSSQL opens an empty store on the T-SQL server.
func openMSSQL(t testing.TB) *mssql.Store {
	t.Helper()
	db, schema := mssqltest.Pooled(t)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
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

// onBothStores runs a test on SQLite and on the T-SQL server.
func onBothStores(t *testing.T, test func(t *testing.T, store provider.Provider)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, openStore(t))
	})
	t.Run("mssql", func(t *testing.T) {
		t.Parallel()
		test(t, openMSSQL(t))
	})
}

// logged is a logger at Info, and what it wrote.
func logged() (*slog.Logger, *lockedBuffer) {
	var log lockedBuffer
	return slog.New(slog.NewTextHandler(&log, nil)), &log
}

// lines are those of a log that contain all the texts.
func lines(log *lockedBuffer, texts ...string) []string {
	var found []string
line:
	for line := range strings.Lines(log.String()) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue line
			}
		}
		found = append(found, line)
	}
	return found
}

// blocking makes an orchestration that waits for release instead of its context. Once
// that is closed, left waits for the goroutines that were left behind.
func blocking(release <-chan struct{}) (def orchestration.Definition[string, string], left func()) {
	var begun atomic.Int32
	ended := make(chan struct{}, 10_000)
	return orchestration.New("Blocking", func(*orchestration.Context, string) (string, error) {
			begun.Add(1)
			<-release
			ended <- struct{}{}
			return "", nil
		}), func() {
			for range begun.Load() {
				<-ended
			}
		}
}

// place is a line of this file, as failures and logs tell it.
var place = regexp.MustCompile(`worker/nohang_test\.go:\d+`)

// A function that blocks is told with instance, orchestration and line, tried again, and
// fails with that line.
func TestBlockedFunctionFailsWithItsLine(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	release := make(chan struct{})
	def, left := blocking(release)
	logger, log := logged()
	stop := runWorker(t, store, worker.Options{
		Limits: worker.Limits{BlockedTime: 50 * time.Millisecond, Attempts: 3}, Code: worker.Code{Backoff: time.Millisecond}, Logger: logger,
	}, def)
	run := start(t, store, def, "")
	details, ok := failure(t, run).(provider.ApplicationFailure)
	if !ok || !place.MatchString(details.Message) || !strings.Contains(details.Message, `"chan receive"`) {
		t.Errorf("failed with %+v", details)
	}
	stop()
	for about, want := range map[string]int{"its turn is tried again": 2, "the orchestration fails": 1} {
		found := lines(log, "an orchestration function blocks", about, "instance_id="+run.Instance(), "orchestration_name=Blocking", "at=worker/nohang_test.go:")
		if len(found) != want {
			t.Errorf("%q was told %d times, want %d:\n%s", about, len(found), want, log)
		}
		for _, line := range found {
			if strings.Count(line, "orchestration_name=") != 1 {
				t.Errorf("the orchestration is named twice: %s", line)
			}
		}
	}
	close(release)
	left()
}

// A cancelled function that blocks, and is not to clean up, ends as cancelled and not as one that blocks. The log
// says what it has left behind.
func TestBlockedFunctionCanBeCancelled(t *testing.T) {
	t.Parallel()
	for name, cleanup := range map[string]bool{"at once": false, "with a clean-up": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			release := make(chan struct{})
			def, left := blocking(release)
			if cleanup {
				def = def.WithCleanup(time.Minute)
			}
			run := start(t, store, def, "")
			if err := client.New(store, client.Options{}).Cancel(t.Context(), run.Instance(), "no longer wanted", client.MustExist()); err != nil {
				t.Fatal(err)
			}
			logger, log := logged()
			stop := runWorker(t, store, worker.Options{
				Limits: worker.Limits{BlockedTime: 50 * time.Millisecond, Attempts: 2}, Code: worker.Code{Backoff: time.Millisecond}, Logger: logger,
			}, def)
			details, ok := failure(t, run).(provider.ApplicationFailure)
			if !ok || cleanup != (details.Kind != provider.AppCancelled) {
				t.Errorf("failed with %+v", details)
			}
			stop()
			found := lines(log, "level=ERROR", "a cancelled orchestration function blocks", "at=worker/nohang_test.go:")
			if want := map[bool]int{false: 1, true: 0}[cleanup]; len(found) != want {
				t.Errorf("told %d times, want %d:\n%s", len(found), want, log)
			}
			close(release)
			left()
		})
	}
}

// A worker whose store is closed ends with an error that says so, also one that has nothing to do.
func TestClosedStoreIsTold(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			err = w.Register(callEcho, echo)
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- w.Run(context.WithoutCancel(t.Context())) }()
		result(t, start(t, store, callEcho, "")) // and there is nothing more to do
		closer, ok := store.(io.Closer)
		if !ok {
			t.Fatalf("%T cannot be closed", store)
		}
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "the end of Run", ended); !errors.Is(err, provider.ErrClosed) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// A function that blocks in its first turn only goes on in its second.
func TestBlockedFunctionIsTriedAgain(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	release, ended := make(chan struct{}), make(chan struct{})
	turns := atomic.Int32{}
	def := orchestration.New("Hesitant", func(*orchestration.Context, string) (string, error) {
		if turns.Add(1) == 1 {
			defer close(ended)
			<-release
			return "first", nil
		}
		return "second", nil
	})
	runWorker(t, store, worker.Options{Limits: worker.Limits{BlockedTime: 50 * time.Millisecond}, Code: worker.Code{Backoff: time.Millisecond}}, def)
	if got := result(t, start(t, store, def, "")); got != "second" {
		t.Errorf("output = %q", got)
	}
	close(release)
	<-ended
}

// Any number of functions that block leave the others to run, on the two slots that a
// worker has by default.
func TestBlockedBesideHealthy(t *testing.T) {
	t.Parallel()
	each := 100
	if racing.Part() {
		each = 30
	}
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		t.Helper()
		release := make(chan struct{})
		def, left := blocking(release)
		stop := runWorker(t, store, worker.Options{Limits: worker.Limits{BlockedTime: 250 * time.Millisecond}}, def, callEcho, echo)
		c := client.New(store, client.Options{})
		var healthy []*client.Run[string]
		for i := range each {
			if _, err := client.Start(t.Context(), c, def, fmt.Sprintf("blocked-%d", i), ""); err != nil {
				t.Fatal(err)
			}
			run, err := client.Start(t.Context(), c, callEcho, fmt.Sprintf("healthy-%d", i), "x")
			if err != nil {
				t.Fatal(err)
			}
			healthy = append(healthy, run)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		began := time.Now()
		for _, run := range healthy {
			if output, err := run.Wait(ctx); err != nil || output != "x" {
				t.Fatalf("%s: %q, %v", run.Instance(), output, err)
			}
		}
		t.Logf("%d healthy instances beside %d blocked ones took %v", each, each, time.Since(began))
		stop()
		close(release)
		left()
	})
}

// Another goroutine that uses the context fails the orchestration with the line, however
// its function waits for it, and costs nothing else.
func TestContextUsedByAnotherGoroutine(t *testing.T) {
	t.Parallel()
	await := func(ctx *orchestration.Context) (string, error) {
		return orchestration.Activity(ctx, echo, "x").Await()
	}
	for name, fn := range map[string]func(ctx *orchestration.Context, input string) (string, error){
		"waits": func(ctx *orchestration.Context, _ string) (string, error) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = await(ctx)
			}()
			<-done
			return "out", nil
		},
		"waits in vain": func(ctx *orchestration.Context, _ string) (string, error) {
			result := make(chan string)
			go func() {
				text, _ := await(ctx)
				result <- text
			}()
			select {
			case text := <-result:
				return text, nil
			case <-t.Context().Done():
				return "", nil
			}
		},
		"works": func(ctx *orchestration.Context, _ string) (string, error) {
			begun := make(chan struct{})
			go func() {
				defer close(begun)
				orchestration.NewKey[string]("key").Set(ctx, "value")
			}()
			<-begun
			for i := range 100 {
				orchestration.NewKey[int](fmt.Sprint(i%10)).Set(ctx, i)
			}
			return await(ctx)
		},
		"closes a channel": func(ctx *orchestration.Context, _ string) (string, error) {
			values := orchestration.NewChannel[string](ctx, 0)
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				values.Close()
			}()
			<-closed
			return "", nil
		},
		"asks for what panics": func(ctx *orchestration.Context, _ string) (string, error) {
			withoutJSON := make(chan int)
			var status orchestration.CustomStatus[chan int]
			var asked sync.WaitGroup
			for _, ask := range []func(){
				func() { orchestration.NewKey[chan int]("key").Set(ctx, withoutJSON) },
				func() { status.Set(ctx, withoutJSON) },
				func() {
					orchestration.SubOrchestration(ctx, orchestration.Declare[chan int, string]("Child"), withoutJSON)
				},
				func() {
					orchestration.Detach(ctx, orchestration.Declare[chan int, string]("Other"), "other", withoutJSON)
				},
				func() { orchestration.Activity(ctx, activity.Declare[chan int, string]("Act"), withoutJSON) },
				func() {
					_, _ = orchestration.Declare[chan int, string]("Other").ContinueAsNew(ctx, withoutJSON)
				},
				func() { orchestration.NewChannel[int](ctx, -1) },
			} {
				asked.Go(ask)
			}
			asked.Wait()
			return "", nil
		},
		"makes a channel": func(ctx *orchestration.Context, _ string) (string, error) {
			made := make(chan struct{})
			go func() {
				defer close(made)
				orchestration.NewChannel[string](ctx, 0)
			}()
			<-made
			return "", nil
		},
		"sends on a closed channel": func(ctx *orchestration.Context, _ string) (string, error) {
			values := orchestration.NewChannel[string](ctx, 0)
			values.Close()
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				_ = values.Send("value") // whose panic would end the process
			}()
			<-sent
			return "", nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := orchestration.New("Parallel", fn)
			store := openStore(t)
			runWorker(t, store, worker.Options{}, def, echo)
			text := failure(t, start(t, store, def, "")).DisplayMessage()
			if !strings.Contains(text, "used from another goroutine at worker/nohang_test.go:") {
				t.Errorf("failed with %q", text)
			}
		})
	}
}

// A goroutine that outlives its turn is told.
func TestContextUsedAfterItsTurn(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	over, ended := make(chan struct{}), make(chan struct{})
	def := orchestration.New("Careless", func(ctx *orchestration.Context, _ string) (string, error) {
		go func() {
			defer close(ended)
			<-over
			ctx.SetCustomStatus("late")
		}()
		return "out", nil
	})
	logger, log := logged()
	runWorker(t, store, worker.Options{Logger: logger}, def)
	result(t, start(t, store, def, ""))
	close(over)
	<-ended
	if len(lines(log, "used from another goroutine after its turn", "at=worker/nohang_test.go:", "instance_id="+t.Name())) != 1 {
		t.Errorf("the log does not tell it:\n%s", log)
	}
}

// A loop that asks for ever, and a history that grows for ever, end with an error that
// says what to do. Half of the way is told before.
func TestLimitsOfTurnsAndHistories(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		fn      func(ctx *orchestration.Context, input string) (string, error)
		options worker.Options
		want    string
		warned  bool
	}{
		{"actions", func(ctx *orchestration.Context, _ string) (string, error) {
			for {
				orchestration.Activity(ctx, echo, "x")
			}
		}, worker.Options{}, "10001 actions in one turn, the limit is 10000", false},
		{"events", func(ctx *orchestration.Context, _ string) (string, error) {
			for {
				if _, err := orchestration.Activity(ctx, echo, "x").Await(); err != nil {
					return "", err
				}
			}
		}, worker.Options{Limits: worker.Limits{HistoryEvents: 10}}, "events in the history, the limit is 10", true},
		{"bytes", func(ctx *orchestration.Context, _ string) (string, error) {
			for {
				if _, err := orchestration.Activity(ctx, echo, strings.Repeat("x", 100)).Await(); err != nil {
					return "", err
				}
			}
		}, worker.Options{Limits: worker.Limits{HistoryBytes: 1000}}, "bytes of payload in the history, the limit is 1000", true},
		{"nesting", func(ctx *orchestration.Context, _ string) (string, error) {
			return orchestration.SubOrchestration(ctx, orchestration.Declare[string, string]("Endless"), "").Await()
		}, worker.Options{}, "sub-orchestrations are nested 101 deep, the limit is 100", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			def := orchestration.New("Endless", test.fn)
			logger, log := logged()
			test.options.Logger = logger
			runWorker(t, store, test.options, def, echo)
			if text := failure(t, start(t, store, def, "")).DisplayMessage(); !strings.Contains(text, test.want) {
				t.Errorf("failed with %q", text)
			}
			if told := len(lines(log, "level=WARN", "half of a limit", test.name)); (told == 1) != test.warned {
				t.Errorf("warned %d times:\n%s", told, log)
			}
		})
	}
}

// An activity that outlives many renewals is told once.
func TestLongActivityIsToldOnce(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	renewals := make(chan struct{}, 1000)
	store := providerfault.New(openStore(t), providerfault.Rule{Operation: providerfault.RenewWorkItemLock, If: func(providerfault.Call) bool {
		renewals <- struct{}{}
		return false
	}})
	long := activity.New("Long", func(context.Context, string) (string, error) {
		<-release
		return "done", nil
	})
	def := calling(long)
	logger, log := logged()
	runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: shortLease}, QuietTime: time.Millisecond, Logger: logger}, def, long)
	run := start(t, store, def, "")
	for range 4 {
		receive(t, "renewal", renewals)
	}
	close(release)
	result(t, run)
	if found := lines(log, "level=WARN", "an activity has not returned yet", "activity_name=Long", "running_for="); len(found) != 1 {
		t.Errorf("told %d times:\n%s", len(found), log)
	}
}

// An event that is raised before anybody waits for it is told, as it is lost.
func TestLostEventIsTold(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	logger, log := logged()
	runWorker(t, store, worker.Options{Logger: logger}, waiting)
	run := start(t, store, waiting, "")
	waitForStatus(t, store, run.Instance())
	raise(t, store, run.Instance(), "misspelt")
	raise(t, store, run.Instance(), "go")
	result(t, run)
	if found := lines(log, "level=WARN", "an event that nobody waited for is lost", "event_name=misspelt"); len(found) != 1 {
		t.Errorf("told %d times:\n%s", len(found), log)
	}
}

// An orchestration that waits for nothing that can come is told once, with its line. As long as it waits
// for an event it is not.
func TestWaitForNothingIsTold(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Stuck", func(ctx *orchestration.Context, _ string) (int, error) {
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		ctx.SetCustomStatus("waiting")
		if _, err := event.Await(); err != nil {
			return 0, err
		}
		return orchestration.NewChannel[int](ctx, 0).Receive().Await()
	})
	for _, cached := range []int{worker.None, 10} {
		store := openStore(t)
		logger, log := logged()
		stop := runWorker(t, store, worker.Options{Cache: worker.Cache{Instances: cached}, Logger: logger}, def)
		run := start(t, store, def, "")
		waitForStatus(t, store, run.Instance())
		raise(t, store, run.Instance(), "misspelt")
		stop()
		if found := lines(log, "can never come"); len(found) != 0 {
			t.Errorf("told while it waits for an event:\n%s", log)
		}
		raise(t, store, run.Instance(), "go")
		stop = runWorker(t, store, worker.Options{Cache: worker.Cache{Instances: cached}, Logger: logger}, def)
		for patience := deadline(t); len(lines(log, "can never come")) == 0 && patience.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		for _, letter := range []string{"a", "b"} { // which are turns
			raise(t, store, run.Instance(), letter)
			waitForKind(t, store, run.Instance(), provider.ExternalEvent{Name: letter})
		}
		stop()
		if found := lines(log, "level=WARN", "can never come", "at=worker/nohang_test.go:"); len(found) != 1 {
			t.Errorf("told %d times:\n%s", len(found), log)
		}
	}
}

// The line is the user's also in a loop over an iterator, whose function the compiler makes a part of the loop's.
func TestLineOfALoopThatWaitsForNothing(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(*orchestration.Channel[int]){
		"All": func(c *orchestration.Channel[int]) {
			for range c.All() {
				t.Error("received")
			}
		},
		"AsCompleted": func(c *orchestration.Channel[int]) {
			for range orchestration.AsCompleted(c.Receive()) {
				t.Error("received")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := orchestration.New("Stuck", func(ctx *orchestration.Context, _ string) (string, error) {
				wait(orchestration.NewChannel[int](ctx, 0))
				return "", nil
			})
			store := openStore(t)
			logger, log := logged()
			runWorker(t, store, worker.Options{Logger: logger}, def)
			start(t, store, def, "")
			for patience := deadline(t); len(lines(log, "can never come")) == 0 && patience.Err() == nil; {
				time.Sleep(time.Millisecond)
			}
			if found := lines(log, "can never come", "at=worker/nohang_test.go:"); len(found) != 1 {
				t.Errorf("the log has not the loop's line:\n%s", log)
			}
		})
	}
}

// Lost events of one name that a turn finds are told together.
func TestLostEventsAreToldTogether(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	for range 5 {
		raise(t, store, run.Instance(), "misspelt")
	}
	raise(t, store, run.Instance(), "go")
	logger, log := logged()
	runWorker(t, store, worker.Options{Logger: logger}, waiting)
	result(t, run)
	found := lines(log, "level=WARN", "an event that nobody waited for is lost")
	if len(found) != 1 || !strings.Contains(found[0], "event_name=misspelt") || !strings.Contains(found[0], "lost=5") {
		t.Errorf("told %d times:\n%s", len(found), log)
	}
}

// A store that is away is told when it goes and when it is back, by all slots together.
func TestStoreThatIsAwayIsToldTwice(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t),
		providerfault.Rule{Operation: providerfault.FetchOrchestrationItem, Times: 6, Fault: providerfault.Fault{Fail: providerfault.Unreachable()}},
		providerfault.Rule{Operation: providerfault.FetchWorkItem, Times: 6, Fault: providerfault.Fault{Fail: providerfault.Unreachable()}})
	logger, log := logged()
	stop := runWorker(t, store, worker.Options{OrchestrationConcurrency: 3, ActivityConcurrency: 3, Logger: logger}, callEcho, echo)
	result(t, start(t, store, callEcho, "x"))
	stop()
	if n := len(lines(log, "level=ERROR")); n != 1 || len(lines(log, "the store fails")) != 1 {
		t.Errorf("%d errors, want one that says that the store fails:\n%s", n, log)
	}
	if n := len(lines(log, "level=WARN", "the store is back", "failed_for=")); n != 1 {
		t.Errorf("told %d times that the store is back:\n%s", n, log)
	}
}

// A tag or session from which nothing comes is told once.
func TestUnservedTagIsToldOnce(t *testing.T) {
	t.Parallel()
	looks := make(chan struct{}, 1000)
	store := providerfault.New(openStore(t), providerfault.Rule{Operation: providerfault.ReadWithExecution, If: func(providerfault.Call) bool {
		looks <- struct{}{}
		return false
	}})
	def := orchestration.New("Elsewhere", func(ctx *orchestration.Context, _ string) (string, error) {
		first := orchestration.Activity(ctx, echo, "x", orchestration.WithTag("gpu"), orchestration.InSession("s"))
		second := orchestration.Activity(ctx, echo, "y", orchestration.WithTag("gpu"), orchestration.InSession("s"))
		texts, err := orchestration.Join(first, second)
		return strings.Join(texts, ""), err
	})
	logger, log := logged()
	const quiet = 400 * time.Millisecond
	stop := runWorker(t, store, worker.Options{QuietTime: quiet, Logger: logger}, def, echo)
	run := start(t, store, def, "")
	receive(t, "look at the history", looks)
	time.Sleep(quiet) // it must not be told again
	stop()
	found := lines(log, "level=WARN", "an activity has no result yet", "instance_id="+run.Instance(), "activity_name=Echo", "waiting_for=")
	if len(found) != 1 || !strings.Contains(found[0], "tag=gpu session_id=s") || !strings.Contains(found[0], "waiting_alike=2") {
		t.Errorf("told %d times:\n%s", len(found), log)
	}
}
