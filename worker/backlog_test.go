package worker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// sum counts what came out of a queue of numbers from 0 on, and how often the order was broken. Total is when to stop.
type sum struct{ Total, Next, Broken int }

// tellProgress, if not nil, is told of each hundredth number.
var tellProgress *json.Encoder

// take reads one number.
func (s *sum) take(ctx *orchestration.Context) error {
	n, err := orchestration.NewQueue[int]("numbers").Dequeue(ctx).Await()
	if err != nil {
		return err
	}
	if n != s.Next {
		s.Broken++
	}
	if s.Next++; tellProgress != nil && s.Next%100 == 0 {
		return tellProgress.Encode(s.Next)
	}
	return nil
}

// reader reads a queue of numbers in a loop. It continues as new after every each of them if each
// is not 0.
func reader(each int) orchestration.Definition[sum, sum] {
	named := orchestration.Declare[sum, sum]("Reader")
	return orchestration.New("Reader", func(ctx *orchestration.Context, s sum) (sum, error) {
		for s.Next < s.Total {
			if err := s.take(ctx); err != nil {
				return s, err
			}
			if each > 0 && s.Next%each == 0 && s.Next < s.Total {
				return named.ContinueAsNew(ctx, s)
			}
		}
		return s, nil
	})
}

// A loop reads what has come while no worker ran, however much that is, with and without
// continue-as-new: each message once and in order.
func TestBacklogsAreReadInOrder(t *testing.T) {
	t.Parallel()
	many := 550
	if racing.Part() {
		many = 120 // still more than a turn is shown
	}
	for name, each := range map[string]int{"in one execution": 0, "continuing as new": 50, "continuing as new after each": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, store provider.Provider) {
				def := reader(each)
				run := start(t, store, def, sum{Total: many})
				c := client.New(store, client.Options{})
				for n := range many {
					if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[int]("numbers"), run.Instance(), n); err != nil {
						t.Fatal(err)
					}
				}
				runWorker(t, store, worker.Options{}, def)
				if got := result(t, run); got != (sum{Total: many, Next: many}) {
					t.Errorf("read %+v", got)
				}
			})
		})
	}
}

// A turn that is taken beside the acknowledgement of the one before brings only what that one does not know of the
// history. Otherwise the time for a backlog would grow with its square.
func TestBacklogIsNotReadAgain(t *testing.T) {
	t.Parallel()
	const many = 550
	whole, beside := 0, 0
	store := &takenStore{Store: openStore(t), turn: func(taken provider.Claimed, err error) (provider.Claimed, error) {
		if taken.Turn != nil {
			beside++
			if taken.Turn.Item.HistoryFrom == 0 {
				whole++
			}
		}
		return taken, err
	}}
	def := reader(0)
	run := start(t, store, def, sum{Total: many})
	c := client.New(store, client.Options{})
	for n := range many {
		if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[int]("numbers"), run.Instance(), n); err != nil {
			t.Fatal(err)
		}
	}
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 1}, def)
	if got := result(t, run); got != (sum{Total: many, Next: many}) {
		t.Errorf("read %+v", got)
	}
	if beside == 0 || whole > 0 {
		t.Errorf("of %d turns %d brought the whole history", beside, whole)
	}
}

// backlogVariable is how many messages TestBacklogSurvivesKills has a queue of. Anybody may set it to 100000, for
// minutes.
const backlogVariable = "DUROXIDE_TEST_BACKLOG"

// backlog is that number.
func backlog() (int, error) { return strconv.Atoi(cmp.Or(os.Getenv(backlogVariable), "1500")) }

// A worker process that is killed again and again while it reads a long queue, with and without
// continue-as-new, reads each message once and in order.
func TestBacklogSurvivesKills(t *testing.T) {
	t.Parallel()
	total, err := backlog()
	if err != nil {
		t.Fatal(err)
	}
	for name, each := range map[string]int{"in one execution": 0, "continuing as new": 500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("sqlite", func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "backlog.db")
				store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				survive(t, store, total, path, "", strconv.Itoa(each))
			})
			t.Run("mssql", func(t *testing.T) {
				t.Parallel()
				schema := mssqltest.NewSchema(t)
				store, err := mssql.New(mssqltest.DB(t), mssql.Options{Schema: schema})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				survive(t, store, total, mssqltest.DSN(t), schema, strconv.Itoa(each))
			})
		})
	}
}

// survive fills a queue, lets processes read it that are killed, and one that is not.
func survive(t *testing.T, store provider.Provider, total int, address ...string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute+time.Duration(total)*10*time.Millisecond)
	defer stop()
	c := client.New(store, client.Options{})
	run, err := client.Start(ctx, c, reader(0), "reader", sum{Total: total})
	if err != nil {
		t.Fatal(err)
	}
	for n := range total {
		if err := client.Enqueue(ctx, c, orchestration.NewQueue[int]("numbers"), "reader", n); err != nil {
			t.Fatal(err)
		}
	}
	for part := 1; part <= 3; part++ {
		process := exec.CommandContext(ctx, os.Args[0], address...)
		process.Env = append(os.Environ(), mortalVariable+"="+mortalReader)
		process.Stderr = t.Output()
		progress, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		read := 0
		for line := json.NewDecoder(progress); read < part*total/4; {
			if err := line.Decode(&read); err != nil {
				t.Fatalf("after %d messages: %v", read, err)
			}
		}
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, progress)
		_ = process.Wait() // killed
	}
	each, err := strconv.Atoi(address[2])
	if err != nil {
		t.Fatal(err)
	}
	runWorker(t, store, readerOptions(total), reader(each))
	got, err := run.Wait(ctx)
	if want := (sum{Total: total, Next: total}); got != want || err != nil {
		t.Errorf("read %+v, %v", got, err)
	}
}

// mortalReader, as the value of mortalVariable, makes this test binary a worker that reads a queue until it is killed
// and says how far it is.
const mortalReader = "reader"

// readerOptions are those of its workers. The lease of a turn is short, so that the next worker need not wait long for
// it, and outlasts the reading of the whole history.
func readerOptions(total int) worker.Options {
	return worker.Options{
		Limits: worker.Limits{HistoryEvents: worker.Unlimited}, Leases: worker.Leases{Orchestration: 500*time.Millisecond + time.Duration(total)*300*time.Microsecond},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
}

// readOn is the process of that worker.
func readOn(address, schema, each string) error {
	ctx := context.Background()
	n, err := strconv.Atoi(each)
	if err != nil {
		return err
	}
	var store provider.Provider
	if schema == "" {
		store, err = sqlite.Open(ctx, address, sqlite.Options{})
	} else {
		store, err = mssql.Open(ctx, address, mssql.Options{Schema: schema})
	}
	if err != nil {
		return err
	}
	total, err := backlog()
	if err != nil {
		return err
	}
	w, err := worker.New(store, readerOptions(total))
	if err != nil {
		return err
	}
	tellProgress = json.NewEncoder(os.Stdout)
	if err := w.Register(reader(n)); err != nil {
		return err
	}
	return w.Run(ctx)
}
