package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providertest/linear"
)

// histories is how many the test of linearizability checks.
func histories(t *testing.T) uint64 {
	t.Helper()
	if racing.Part() {
		return uint64(linear.Amount(t, 8))
	}
	return uint64(linear.Amount(t, 30))
}

// linearStores are stores of the same data whose clock a test moves.
type linearStores struct {
	clock  atomic.Int64
	stores []provider.Provider
}

// add opens a store.
func (s *linearStores) add(open func(Options) *Store) *Store {
	if s.clock.Load() == 0 {
		s.clock.Store(time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	}
	store := open(Options{now: s.clock.Load, PollInterval: Never, Synchronous: Normal, BusyTimeout: 30 * time.Second})
	s.stores = append(s.stores, store)
	return store
}

// history has clients work with stores, which are those of s or stand before them, and looks for an order of what they
// did.
func (s *linearStores) history(t *testing.T, w linear.Workload, stores ...provider.Provider) (*linear.Anomaly, error) {
	t.Helper()
	r := &linear.Recorder{Clock: s.clock.Load}
	w.Advance = func(d time.Duration) { s.clock.Add(d.Milliseconds()) }
	unfinished := w.Run(t.Context(), r, stores...)
	anomaly, err := linear.Check(r.Calls())
	if err != nil {
		t.Fatal(err)
	}
	return anomaly, unfinished
}

// Calls that many clients make at the same time are answered as if they had been made one after the other: in memory,
// in a file, and in a file that two have opened, as two processes do.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, *linearStores){
		"memory": func(t *testing.T, s *linearStores) {
			t.Helper()
			s.add(func(o Options) *Store { return openMemory(t, o) })
		},
		"file": func(t *testing.T, s *linearStores) {
			t.Helper()
			path := filepath.Join(t.TempDir(), "store.db")
			s.add(func(o Options) *Store { return openFile(t, path, o) })
		},
		"file opened twice": func(t *testing.T, s *linearStores) {
			t.Helper()
			path := filepath.Join(t.TempDir(), "store.db")
			s.add(func(o Options) *Store { return openFile(t, path, o) })
			s.add(func(o Options) *Store { return openFile(t, path, o) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &linearStores{}
			open(t, s)
			for n := range histories(t) {
				w := linear.Workload{Name: fmt.Sprint("w", n), Seed: n, Clients: 4, Calls: 15, Instances: 2, Sessions: n%3 == 0}
				anomaly, err := s.history(t, w, s.stores...)
				if anomaly != nil || err != nil {
					t.Fatalf("history %d: %v\n%v", n, err, anomaly)
				}
			}
		})
	}
}

// broken is a store that answers some calls wrongly.
type broken struct {
	provider.Provider

	store *Store
	mu    sync.Mutex
	calls int
	// earlier are answers of earlier calls.
	histories map[string][]provider.Event
	values    map[string]map[string]string
	statuses  map[string]*provider.CustomStatus
}

// now reports whether it is this call that is wrong: every third is.
func (b *broken) now() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	return b.calls%3 == 0
}

// stale returns an earlier answer about an instance, if it is time for one and there is one.
func stale[A any](b *broken, earlier map[string]A, instance string, answer A) A {
	wrong := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := earlier[instance]; ok && wrong {
		return old
	}
	earlier[instance] = answer
	return answer
}

type staleHistory struct{ *broken }

func (s staleHistory) Read(ctx context.Context, instance string) ([]provider.Event, error) {
	events, err := s.Provider.Read(ctx, instance)
	return stale(s.broken, s.histories, instance, events), err
}

type staleValues struct{ *broken }

func (s staleValues) GetKVAllValues(ctx context.Context, instance string) (map[string]string, error) {
	values, err := s.Provider.GetKVAllValues(ctx, instance)
	return stale(s.broken, s.values, instance, values), err
}

type staleStatus struct{ *broken }

func (s staleStatus) GetCustomStatus(ctx context.Context, instance string, lastSeenVersion uint64) (*provider.CustomStatus, error) {
	status, err := s.Provider.GetCustomStatus(ctx, instance, lastSeenVersion)
	return stale(s.broken, s.statuses, fmt.Sprint(instance, lastSeenVersion), status), err
}

// worseAck changes what turns commit.
type worseAck struct {
	*broken

	worse func(*provider.AckOrchestrationParams)
}

func (a worseAck) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	a.worse(&params)
	return a.Provider.AckOrchestrationItem(ctx, params)
}

// lostValue loses what a turn has set, although its event is in the history.
type lostValue struct{ *broken }

func (l lostValue) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	err := l.Provider.AckOrchestrationItem(ctx, params)
	for _, e := range params.HistoryDelta {
		if set, ok := e.Kind.(provider.KeyValueSet); ok && err == nil {
			_ = l.store.execOne(ctx, `DELETE FROM kv_delta WHERE instance_id = ? AND key = ?`, e.InstanceID, set.Key)
		}
	}
	return err
}

// twice lets two have the same turn.
type twice struct{ *broken }

func (w twice) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	got, err := w.Provider.FetchOrchestrationItem(ctx, params)
	if got != nil && w.now() {
		_ = w.store.execOne(ctx, `UPDATE inboxes SET locked_until = 0, wake_at = 0 WHERE instance_id = ?`, got.Item.Instance)
	}
	return got, err
}

// lostMessage forgets a message that it has accepted.
type lostMessage struct{ *broken }

func (l lostMessage) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, delay time.Duration) error {
	if l.now() {
		return nil
	}
	return l.Provider.EnqueueForOrchestrator(ctx, item, delay)
}

// lostCompletion forgets what an activity has come to.
type lostCompletion struct{ *broken }

func (l lostCompletion) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	if l.now() {
		completion = nil
	}
	return l.Provider.AckWorkItem(ctx, lockToken, completion)
}

// noRenewal says that it has renewed a lease.
type noRenewal struct{ *broken }

func (noRenewal) RenewOrchestrationItemLock(context.Context, string, time.Duration) error { return nil }

// nothingToDo says that there is nothing to fetch.
type nothingToDo struct{ *broken }

func (n nothingToDo) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	if n.now() {
		return nil, nil
	}
	return n.Provider.FetchOrchestrationItem(ctx, params)
}

// A store that returns what was true once, or that forgets what it has accepted, is found out, with a short history.
func TestLinearizabilityFindsPlantedFaults(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(*broken) provider.Provider{
		"a stale history":               func(b *broken) provider.Provider { return staleHistory{b} },
		"a stale map of values":         func(b *broken) provider.Provider { return staleValues{b} },
		"a stale custom status":         func(b *broken) provider.Provider { return staleStatus{b} },
		"a turn that two have":          func(b *broken) provider.Provider { return twice{b} },
		"a lost value":                  func(b *broken) provider.Provider { return lostValue{b} },
		"a lost message":                func(b *broken) provider.Provider { return lostMessage{b} },
		"a lost completion":             func(b *broken) provider.Provider { return lostCompletion{b} },
		"a renewal that does nothing":   func(b *broken) provider.Provider { return noRenewal{b} },
		"a fetch that overlooks work":   func(b *broken) provider.Provider { return nothingToDo{b} },
		"an ack that loses an event":    func(b *broken) provider.Provider { return worseAck{b, loseEvent} },
		"an ack that loses a message":   func(b *broken) provider.Provider { return worseAck{b, loseMessage} },
		"an ack that loses an activity": func(b *broken) provider.Provider { return worseAck{b, loseActivity} },
		"an ack that cancels nothing":   func(b *broken) provider.Provider { return worseAck{b, cancelNothing} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shortest := hunt(t, plant)
			if shortest == nil {
				t.Fatal("nothing was found")
			}
			t.Log(shortest)
			for _, want := range []string{"No order of these calls", "The longest beginning of an order"} {
				if text := shortest.String(); !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}

// hunt looks for short histories first, and returns the shortest of the first few that have no order.
func hunt(t *testing.T, plant func(*broken) provider.Provider) *linear.Anomaly {
	t.Helper()
	var s *linearStores
	var store provider.Provider
	var shortest *linear.Anomaly
	wanted := 3
	if racing.Part() {
		wanted = 1
	}
	for n, found := uint64(0), 0; n < 400 && found < wanted; n++ {
		if s == nil {
			s = &linearStores{}
			sound := s.add(func(o Options) *Store { return openMemory(t, o) })
			store = plant(&broken{
				Provider: sound, store: sound, histories: map[string][]provider.Event{},
				values: map[string]map[string]string{}, statuses: map[string]*provider.CustomStatus{},
			})
		}
		w := linear.Workload{Name: fmt.Sprint("w", n), Seed: n, Clients: 2, Calls: 4 + int(n/3), Instances: 1}
		anomaly, err := s.history(t, w, store)
		if anomaly != nil {
			found++
			if shortest == nil || len(anomaly.Calls) < len(shortest.Calls) {
				shortest = anomaly
			}
		}
		if anomaly != nil || err != nil {
			s = nil // it is not empty for the next workload
		}
	}
	return shortest
}

func loseEvent(p *provider.AckOrchestrationParams) {
	if n := len(p.HistoryDelta); n > 1 {
		p.HistoryDelta = p.HistoryDelta[:n-1]
	}
}

func loseMessage(p *provider.AckOrchestrationParams) { p.OrchestratorItems = nil }

func loseActivity(p *provider.AckOrchestrationParams) { p.WorkerItems = nil }

func cancelNothing(p *provider.AckOrchestrationParams) { p.CancelledActivities = nil }
