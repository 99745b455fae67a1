package rig

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func openStore(t *testing.T) (store *sqlite.Store, commits *CommitCounter, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "a b#%c.db")
	store, err := openFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	commits, err = OpenCommitCounter(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(store.Close(), commits.Close()); err != nil {
			t.Error(err)
		}
	})
	return store, commits, file
}

func openFile(ctx context.Context, file string) (*sqlite.Store, error) {
	return sqlite.Open(ctx, file, sqlite.Options{})
}

// TestChildren has a family of which every member ends, and counts its calls: a child is
// committed once, at least.
func TestChildren(t *testing.T) {
	t.Parallel()
	store, commits, _ := openStore(t)
	const children = 20
	c, err := RunChildren(t.Context(), ChildrenConfig{
		Store: store, Commits: commits, Slots: 2, Children: children, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := store.GetSystemMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if metrics.CompletedInstances != children+1 || metrics.TotalInstances != children+1 {
		t.Errorf("one parent and %d children ran, the store holds %+v", children, metrics)
	}
	if c.Children != children || c.Rate <= 0 || c.Writes < 1 {
		t.Errorf("children %d, rate %g, writes %g", c.Children, c.Rate, c.Writes)
	}
}

// TestHistory has a sequence of activities, and windows up to its last step.
func TestHistory(t *testing.T) {
	t.Parallel()
	for _, cached := range []bool{true, false} {
		store, _, _ := openStore(t)
		h, err := RunHistory(t.Context(), HistoryConfig{Store: store, Steps: 150, Cached: cached, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if h.Steps != 150 || h.Cached != cached || len(h.Windows) != 2 || h.Windows[1].Step != 150 || h.Windows[1].Milliseconds <= 0 {
			t.Errorf("%+v", h)
		}
	}
}

func TestParity(t *testing.T) {
	t.Parallel()
	store, commits, _ := openStore(t)
	const window = 200 * time.Millisecond
	p, err := RunParity(t.Context(), ParityConfig{
		Store: store, Commits: commits, Shape: FanOut, Slots: 2, InFlight: 3, Window: window, Activity: time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := store.GetSystemMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if metrics.CompletedInstances != uint64(p.Completed) || metrics.TotalInstances != uint64(p.Completed) {
		t.Errorf("%d counted, the store holds %+v", p.Completed, metrics)
	}
	if p.Cap != 400 {
		t.Errorf("cap is %g, want 2 slots / (5 · 1 ms) = 400", p.Cap)
	}
	if want := 400 / p.ActivityTook; math.Abs(p.CapTaken-want) > 1e-6 {
		t.Errorf("the cap is %g for activities that took %g ms, want %g", p.CapTaken, p.ActivityTook, want)
	}
	if inWindow := p.WindowRate * window.Seconds(); inWindow > float64(p.Completed)+0.5 {
		t.Errorf("%g within the window, %d altogether", inWindow, p.Completed)
	}
	// 5 activities are acknowledged, the first turn too, and one start is enqueued: 7, and
	// at least one more turn.
	if p.Writes < 8 {
		t.Errorf("%g writes an orchestration, at least 8 are needed", p.Writes)
	}
	if p.Commits == nil || *p.Commits <= 0 || *p.Commits > p.Writes+1 {
		t.Errorf("transactions: %v, of %g writes", p.Commits, p.Writes)
	}
	if l := p.Latency; l.P50 <= 0 || l.P50 > l.P95 || l.P95 > l.P99 || l.P99 > l.Max {
		t.Errorf("latency is not in order: %+v", l)
	}
}

// TestShapes runs each shape of rig A, once however short the window is: what it costs to write and to compute is
// measured where the system tells.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, shape := range []Shape{FanOut, Sequence, Single} {
		store, commits, _ := openStore(t)
		p, err := RunParity(t.Context(), ParityConfig{
			Store: store, Commits: commits, Shape: shape, Slots: 1, InFlight: 1, Window: time.Nanosecond,
			Activity: time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		history, err := store.ReadHistory(t.Context(), instances(t, store)[0])
		if err != nil {
			t.Fatal(err)
		}
		activities := 0
		for _, event := range history {
			if _, ok := event.Kind.(provider.ActivityCompleted); ok {
				activities++
			}
		}
		if limit := 1000 / float64(shape.Activities); activities != shape.Activities || p.Cap != limit {
			t.Errorf("%s: %d activities, cap %g; want %d and %g", shape.Name, activities, p.Cap, shape.Activities, limit)
		}
		if p.CPUMilliseconds != nil && *p.CPUMilliseconds <= 0 {
			t.Errorf("%s: %g ms of processor time", shape.Name, *p.CPUMilliseconds)
		}
		if p.BytesWritten != nil && *p.BytesWritten < 1000 {
			t.Errorf("%s: %g bytes written", shape.Name, *p.BytesWritten)
		}
	}
}

func instances(t *testing.T, store *sqlite.Store) []string {
	t.Helper()
	list, err := store.ListInstances(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("instances: %v, %v", list, err)
	}
	return list
}

// TestTimersTogether has timers that all fire, none before its time. Timers that are due before
// all of them are set are refused, and then there is more time.
func TestTimersTogether(t *testing.T) {
	t.Parallel()
	for ahead := time.Millisecond; ; ahead = min(max(10*ahead, time.Second), time.Minute) {
		store, commits, _ := openStore(t)
		timers, err := RunTimers(t.Context(), TimersConfig{
			Store: store, Commits: commits, Slots: 2, Timers: 20, Ahead: ahead, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil && strings.Contains(err.Error(), "--ahead") && ahead < time.Minute {
			continue
		}
		if err != nil || ahead == time.Millisecond {
			t.Fatalf("%v ahead: %v", ahead, err)
		}
		if timers.Timers != 20 || timers.Late.P50 < 0 || timers.Late.Max < timers.Late.P50 || timers.Within < 0 || timers.Within > 1.001 {
			t.Errorf("%+v", timers)
		}
		return
	}
}

// TestStartup starts on an empty store and on one that holds something.
func TestStartup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, err := RunStartup(t.Context(), StartupConfig{
		Open: func(ctx context.Context, n int) (Store, error) {
			return openFile(ctx, filepath.Join(dir, strconv.Itoa(n)))
		},
		Instances: []int{0, 10}, Rounds: 2, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Ratio != 1 || list[1].Instances != 10 {
		t.Fatalf("%+v", list)
	}
	for _, s := range list {
		if s.OpenMilliseconds <= 0 || s.FirstMilliseconds <= s.OpenMilliseconds {
			t.Errorf("%+v", s)
		}
	}
	store, err := openFile(t.Context(), filepath.Join(dir, "10"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if n := len(instances(t, store)); n != 12 {
		t.Errorf("the second store has %d instances, want 10 and one of each round", n)
	}
}

// TestSleepers has idle workers beside orchestrations that wait.
func TestSleepers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sleepers")
	store, err := openFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	if err := errors.Join(FillSleepers(t.Context(), store, 10, logger), store.Close()); err != nil {
		t.Fatal(err)
	}
	idle, err := RunIdle(t.Context(), IdleConfig{
		Open:    func(ctx context.Context) (Store, error) { return openFile(ctx, file) },
		Workers: 1, Sleepers: true, Settle: time.Millisecond, Duration: time.Millisecond, Logger: logger,
	})
	if err != nil || idle.Workers != 1 {
		t.Fatalf("%+v, %v", idle, err)
	}
	store, err = openFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if metrics, err := store.GetSystemMetrics(t.Context()); err != nil || metrics.RunningInstances != 10 {
		t.Errorf("%+v, %v; want 10 that run", metrics, err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	store, _, _ := openStore(t)
	observed := 0
	m, err := RunMemory(t.Context(), MemoryConfig{
		Store: store, Orchestrations: 80, InFlight: 4, Slots: 2, Logger: slog.New(slog.DiscardHandler),
		Observe: func(MemorySample) { observed++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Orchestrations != 80 || len(m.Samples) != memorySamples || observed != memorySamples || m.PeakRSS == 0 {
		t.Errorf("got %d orchestrations, %d samples, %d observed, peak %d", m.Orchestrations, len(m.Samples), observed, m.PeakRSS)
	}
}

func TestInterruptedRunsEnd(t *testing.T) {
	t.Parallel()
	store, commits, _ := openStore(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	_, err := RunParity(ctx, ParityConfig{
		Store: store, Commits: commits, Slots: 1, InFlight: 1, Window: time.Hour, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		t.Error("no error")
	}
}

// TestCommitsAreCounted compares SQLite's own count with what was committed.
func TestCommitsAreCounted(t *testing.T) {
	t.Parallel()
	store, commits, _ := openStore(t)
	before := count(t, commits)
	const calls = 7
	for range calls {
		err := store.EnqueueForOrchestrator(t.Context(), provider.CancelInstanceItem{Instance: "nobody"}, 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	if after := count(t, commits); after-before != calls {
		t.Errorf("%d commits counted, want %d", after-before, calls)
	}
	if _, err := OpenCommitCounter(filepath.Join(t.TempDir(), "none.db")); err == nil {
		t.Error("a missing file has a count")
	}
}

func count(t *testing.T, commits *CommitCounter) uint32 {
	t.Helper()
	n, err := commits.Commits()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRawCommitRateLeavesTheStoreAsItWas(t *testing.T) {
	t.Parallel()
	store, counter, file := openStore(t)
	before := count(t, counter)
	rate, err := RawCommitRate(t.Context(), file, "full", 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	after := count(t, counter)
	if commits := float64(after - before); rate <= 0 || commits < rate*0.05*0.5 {
		t.Errorf("%g commits/s claimed over 50 ms, %g counted", rate, commits)
	}
	if _, err := store.GetSystemMetrics(t.Context()); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatalf("the store does not open any more: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// told tells the counter of a call.
func (c *Counter) told(operation string, end hook.StoreEnd) {
	c.Store(context.Background(), operation)(end)
}

// A fetch is a write when it has locked something, and any other call that is no read when it has
// not failed.
func TestCounterTellsWritesFromReads(t *testing.T) {
	t.Parallel()
	for _, call := range []struct {
		operation     string
		end           hook.StoreEnd
		writes, empty int64
	}{
		{"fetch_orchestration_item", hook.StoreEnd{}, 0, 1},
		{"fetch_orchestration_item", hook.StoreEnd{Turns: 1}, 1, 0},
		{"fetch_work_item", hook.StoreEnd{}, 0, 1},
		{"fetch_work_item", hook.StoreEnd{Activities: 1}, 1, 0},
		{"take", hook.StoreEnd{}, 0, 1},
		{"take", hook.StoreEnd{Turns: 1, Activities: 2}, 1, 0},
		{"ack_turn_and_take", hook.StoreEnd{}, 1, 0},
		{"ack_work_and_take", hook.StoreEnd{Err: provider.ErrInvalidLockToken}, 0, 0},
		{"read", hook.StoreEnd{}, 0, 0},
	} {
		counter := NewCounter()
		counter.told(call.operation, call.end)
		if counter.Calls() != 1 || counter.Writes() != call.writes || counter.EmptyFetches() != call.empty {
			t.Errorf("%s, %+v: %d calls, %d writes, %d empty", call.operation, call.end, counter.Calls(), counter.Writes(), counter.EmptyFetches())
		}
	}
}

// The counter knows each method of a store as a read, a fetch or a write:
// what a hook is told of that stands in none of the lists changes the store.
func TestCounterKnowsTheMethods(t *testing.T) {
	t.Parallel()
	writes := regexp.MustCompile("^(ack|abandon|renew|append|enqueue|start|keep|cleanup)_")
	for _, name := range []string{"observed.go", "steps.go"} {
		text, err := os.ReadFile("../../../../internal/observed/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`s\.begin\(ctx, "([a-z_]+)"\)`).FindAllSubmatch(text, -1) {
			operation := string(m[1])
			known := slices.Contains(reads, operation) || slices.Contains(fetches, operation)
			if known == writes.MatchString(operation) {
				t.Errorf("%s: is it a read, a fetch or a write?", operation)
			}
		}
	}
}

func TestPercentiles(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, test := range []struct {
		sorted []time.Duration
		p      int
		want   time.Duration
	}{
		{nil, 50, 0},
		{[]time.Duration{7}, 50, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{1, 2}, 50, 1},
		{[]time.Duration{1, 2, 3}, 50, 2},
		{hundred, 50, 50},
		{hundred, 95, 95},
		{hundred, 99, 99},
		{hundred, 100, 100},
	} {
		if got := percentile(test.sorted, test.p); got != test.want {
			t.Errorf("percentile %d of %d samples is %d, want %d", test.p, len(test.sorted), got, test.want)
		}
	}
}

func TestLatencyJSONIsMilliseconds(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Latency{P50: 1500 * time.Microsecond, P95: time.Second, P99: time.Second, Max: 2 * time.Second, OverSecond: 1})
	if want := `{"p50":1.5,"p95":1000,"p99":1000,"max":2000,"over_one_second":1}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	samples := func(values ...uint64) []MemorySample {
		list := make([]MemorySample, 0, len(values))
		for _, v := range values {
			list = append(list, MemorySample{RSS: v})
		}
		return list
	}
	for name, test := range map[string]struct {
		samples []MemorySample
		flat    bool
	}{
		"too few":              {samples(1, 100), true},
		"level after the rise": {samples(1, 5, 100, 100, 105, 95, 102, 101), true},
		"a leak":               {samples(10, 20, 30, 40, 50, 60, 70, 80), false},
		"one peak":             {samples(10, 10, 100, 100, 500, 100, 100, 100, 99, 100, 100, 100), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m := (Memory{Growth: growth(test.samples)}); m.Flat() != test.flat {
				t.Errorf("growth %+.2f counts as flat: %v", m.Growth, m.Flat())
			}
		})
	}
}

func TestKilobytes(t *testing.T) {
	t.Parallel()
	status := []byte("Name:\tcat\nVmPeak:\t  9 kB\nVmRSS:\t   1234 kB\nThreads:\t1\n")
	if n, ok := kilobytes(status, "VmRSS:"); !ok || n != 1234 {
		t.Errorf("got %d, %v", n, ok)
	}
	if _, ok := kilobytes(status, "VmSwap:"); ok {
		t.Error("a missing line is found")
	}
	if RSS() < 1<<20 {
		t.Errorf("this process cannot live in %d bytes", RSS())
	}
}
