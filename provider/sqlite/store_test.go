package sqlite

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

func TestClose(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *Store{
		"file": func(t *testing.T) *Store {
			t.Helper()
			return openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{})
		},
		"memory": func(t *testing.T) *Store { t.Helper(); return openMemory(t, Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			// Calls in progress finish, calls that come too late are told so.
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if err := s.EnqueueForOrchestrator(t.Context(), start("i"), 0); err != nil && !errors.Is(err, provider.ErrClosed) {
						t.Error(err)
					}
				})
			}
			group.Go(func() { must(t, s.Close()) })
			must(t, s.Close())
			group.Wait()
			for _, call := range everyCall(t.Context(), s) {
				if err := call(); !errors.Is(err, provider.ErrClosed) || provider.IsRetryable(err) {
					t.Errorf("error %v; want a permanent %v", err, provider.ErrClosed)
				}
			}
		})
	}
}

// everyCall lists one call of each kind of transaction.
func everyCall(ctx context.Context, s *Store) []func() error {
	return []func() error{
		func() error { return s.EnqueueForOrchestrator(ctx, start("i"), 0) },
		func() error { _, err := s.Read(ctx, "i"); return err },
		func() error { _, err := s.ListInstances(ctx); return err },
		func() error {
			_, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: second})
			return err
		},
		func() error {
			_, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: second})
			return err
		},
	}
}

// Closing moves the log into the database: one file is left to copy.
func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openFile(t, filepath.Join(dir, "store.db"), Options{})
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	if _, err := s.ListInstances(t.Context()); err != nil {
		t.Error(err)
	}
	must(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Errorf("left %v, %v; want the database alone", files, err)
	}
}

func TestNameAndVersion(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	if s.Name() != "sqlite" || s.Version() != Version || s.Admin() == nil {
		t.Errorf("the store calls itself %q %q, admin %v", s.Name(), s.Version(), s.Admin())
	}
	if _, err := provider.ParseVersion(Version); err != nil {
		t.Error(err)
	}
}

func TestMemoryIsPrivate(t *testing.T) {
	t.Parallel()
	a, b := openMemory(t, Options{}), openMemory(t, Options{})
	must(t, a.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	if n := depth(t, b); n != 0 {
		t.Errorf("one store in memory sees %d messages of another", n)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := Options{}.withDefaults()
	if got.BusyTimeout != 5*second || got.MaxReaders != 4 || got.PollInterval != 100*millisecond ||
		got.Synchronous != Full || got.DisableGroupCommit || got.Logger == nil || got.now == nil {
		t.Errorf("defaults are %+v", got)
	}
	kept := Options{BusyTimeout: second, MaxReaders: 1, PollInterval: Never, Synchronous: Normal}.withDefaults()
	if kept.BusyTimeout != second || kept.MaxReaders != 1 || kept.PollInterval != Never || kept.Synchronous != Normal {
		t.Errorf("settings became %+v", kept)
	}
}

// Negative values are refused, except Never for PollInterval.
func TestNegativeOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Options{
		"Options.BusyTimeout is negative (-1ns)":                                                        {BusyTimeout: -1},
		"Options.MaxReaders is negative (-1)":                                                           {MaxReaders: -1},
		"Options.PollInterval is negative (-1s); the only negative value that it takes is sqlite.Never": {PollInterval: -time.Second},
	} {
		_, inMemory := OpenMemory(t.Context(), o)
		_, inFile := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), o)
		for _, err := range []error{inMemory, inFile} {
			if !errors.Is(err, provider.ErrInvalidArgument) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("error %v; want %s", err, want)
			}
		}
	}
}

// The file is opened with the durability asked for.
func TestSynchronous(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]Options{"2": {}, "1": {Synchronous: Normal}} {
		s := openFile(t, filepath.Join(t.TempDir(), "store.db"), options)
		if got, err := s.queryTexts(t.Context(), "SELECT CAST(synchronous AS TEXT) FROM pragma_synchronous"); err != nil || got[0] != want {
			t.Errorf("synchronous is %v, %v; want %s", got, err, want)
		}
	}
}

func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	ctx := t.Context()
	work := func(change func(*provider.ActivityExecuteItem)) func() error {
		item := provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}
		change(&item)
		return func() error { return s.EnqueueForWorker(ctx, item) }
	}
	// The lock is real: a lost one would be reported first.
	must(t, s.EnqueueForOrchestrator(ctx, start("held"), 0))
	held, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: 60 * 60 * second})
	must(t, err)
	ack := func(params provider.AckOrchestrationParams) func() error {
		params.LockToken = held.LockToken
		params.ExecutionID = max(params.ExecutionID, 1)
		return func() error { return s.AckOrchestrationItem(ctx, params) }
	}
	for name, call := range map[string]func() error{
		"nil message":           func() error { return s.EnqueueForOrchestrator(ctx, nil, 0) },
		"pointer":               func() error { return s.EnqueueForOrchestrator(ctx, new(start("i")), 0) },
		"nil pointer":           func() error { return s.EnqueueForWorker(ctx, (*provider.ActivityExecuteItem)(nil)) },
		"nil work":              func() error { return s.EnqueueForWorker(ctx, nil) },
		"empty instance":        func() error { return s.EnqueueForOrchestrator(ctx, start(""), 0) },
		"instance not UTF-8":    func() error { return s.EnqueueForOrchestrator(ctx, start("\xff"), 0) },
		"instance with NUL":     func() error { return s.EnqueueForOrchestrator(ctx, start("a\x00b"), 0) },
		"negative delay":        func() error { return s.EnqueueForOrchestrator(ctx, start("i"), -1) },
		"work for orchestrator": func() error { return s.EnqueueForOrchestrator(ctx, provider.ActivityExecuteItem{Instance: "i"}, 0) },
		"message for worker":    func() error { return s.EnqueueForWorker(ctx, start("i")) },
		"timer beyond time": func() error {
			return s.EnqueueForOrchestrator(ctx, provider.TimerFiredItem{Instance: "i", FireAtMs: math.MaxUint64}, 0)
		},
		"empty work instance":     work(func(a *provider.ActivityExecuteItem) { a.Instance = "" }),
		"large execution":         work(func(a *provider.ActivityExecuteItem) { a.ExecutionID = math.MaxUint64 }),
		"large activity":          work(func(a *provider.ActivityExecuteItem) { a.ID = math.MaxUint64 }),
		"tag with NUL":            work(func(a *provider.ActivityExecuteItem) { a.Tag = new("\x00") }),
		"session not UTF-8":       work(func(a *provider.ActivityExecuteItem) { a.SessionID = new("\xff") }),
		"ack: event id 0":         ack(provider.AckOrchestrationParams{HistoryDelta: []provider.Event{event("i", 0, provider.KeyValuesCleared{})}}),
		"ack: event without kind": ack(provider.AckOrchestrationParams{HistoryDelta: []provider.Event{event("i", 1, nil)}}),
		"ack: large execution":    ack(provider.AckOrchestrationParams{ExecutionID: math.MaxUint64}),
		"ack: message for worker": ack(provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{start("i")}}),
		"ack: work as message":    ack(provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{provider.ActivityExecuteItem{Instance: "i"}}}),
		"ack: nil message":        ack(provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{nil}}),
		"ack: large version":      ack(provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{PinnedDuroxideVersion: &provider.Version{Major: math.MaxUint64}}}),
		"ack: empty parent":       ack(provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{ParentInstanceID: new("")}}),
		"ack: cancel beyond":      ack(provider.AckOrchestrationParams{CancelledActivities: []provider.ActivityRef{{Instance: "i", ActivityID: math.MaxUint64}}}),
		"ack work with a start":   func() error { return s.AckWorkItem(ctx, "t", start("i")) },
		"append: execution 0": func() error {
			return s.AppendWithExecution(ctx, "i", 0, []provider.Event{event("i", 1, provider.KeyValuesCleared{})})
		},
		"append: no instance": func() error {
			return s.AppendWithExecution(ctx, "", 1, []provider.Event{event("i", 1, provider.KeyValuesCleared{})})
		},
		"renew: no time":         func() error { return s.RenewOrchestrationItemLock(ctx, "t", 0) },
		"renew work: no time":    func() error { return s.RenewWorkItemLock(ctx, "t", -second) },
		"abandon: negative":      func() error { return s.AbandonOrchestrationItem(ctx, provider.AbandonParams{Delay: -1}) },
		"abandon work: negative": func() error { return s.AbandonWorkItem(ctx, provider.AbandonParams{Delay: -1}) },
		"fetch: no lease":        func() error { _, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{}); return err },
		"fetch work: no lease":   func() error { _, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{}); return err },
		"fetch work: no owner": func() error {
			_, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: 1, Session: &provider.SessionFetchConfig{LockTimeout: 1}})
			return err
		},
		"fetch work: short owner": func() error {
			_, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: 1, Session: &provider.SessionFetchConfig{OwnerID: "o"}})
			return err
		},
		"renew session: no time": func() error {
			_, err := s.RenewSessionLock(ctx, provider.RenewSessionParams{OwnerIDs: []string{"o"}})
			return err
		},
		"renew session: idle < 0": func() error {
			_, err := s.RenewSessionLock(ctx, provider.RenewSessionParams{OwnerIDs: []string{"o"}, ExtendFor: 1, IdleTimeout: -1})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := call()
			if !errors.Is(err, provider.ErrInvalidArgument) || provider.IsRetryable(err) {
				t.Errorf("error %v; want a permanent %v", err, provider.ErrInvalidArgument)
			}
		})
	}
}

// The log tells what nobody else would be told, and no payloads.
func TestLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := openMemory(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx := t.Context()
	must(t, s.EnqueueForOrchestrator(ctx, provider.QueueMessageItem{Instance: "nobody", Name: "inbox", Data: "secret"}, 0))
	must(t, s.EnqueueForOrchestrator(ctx, start("garbled"), 0))
	must(t, withHooks(s).CorruptOrchestratorItem(ctx, "garbled", "secret"))
	must(t, s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}))
	must(t, withHooks(s).CorruptWorkItem(ctx, provider.ActivityRef{Instance: "i", ExecutionID: 1, ActivityID: 2}, "secret"))
	if turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: second}); turn != nil || err != nil {
		t.Errorf("fetched %v, %v", turn, err)
	}
	if work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: second}); work != nil || err != nil {
		t.Errorf("fetched %v, %v", work, err)
	}
	must(t, s.Close())
	for _, want := range []string{"level=WARN", "instance_id=nobody", "level=ERROR", "instance_id=garbled", "activity=true"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Error("the log holds a payload")
	}
	if t.Failed() {
		t.Log(log.String())
	}
}
