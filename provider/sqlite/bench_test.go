package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// payload is a typical input or result.
var payload = strings.Repeat("x", 200)

// stores are what the benchmarks run on.
var stores = []struct {
	name string
	open func(b *testing.B) *Store
}{
	{"full", func(b *testing.B) *Store {
		b.Helper()
		return openFile(b, filepath.Join(b.TempDir(), "bench.db"), Options{PollInterval: Never})
	}},
	{"normal", func(b *testing.B) *Store {
		b.Helper()
		return openFile(b, filepath.Join(b.TempDir(), "bench.db"), Options{PollInterval: Never, Synchronous: Normal})
	}},
	{"memory", func(b *testing.B) *Store {
		b.Helper()
		return openMemory(b, Options{})
	}},
}

// concurrently runs f b.N times in all on n goroutines, on each kind of store.
func concurrently(b *testing.B, setUp func(b *testing.B, s *Store), f func(b *testing.B, s *Store, i int)) {
	b.Helper()
	for _, kind := range stores {
		for _, n := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", kind.name, n), func(b *testing.B) {
				s := kind.open(b)
				if setUp != nil {
					setUp(b, s)
				}
				b.ReportAllocs()
				b.ResetTimer()
				var next atomic.Int64
				var group sync.WaitGroup
				for range n {
					group.Go(func() {
						for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
							f(b, s, i)
						}
					})
				}
				group.Wait()
			})
		}
	}
}

// BenchmarkEnqueue adds messages, each for another instance.
func BenchmarkEnqueue(b *testing.B) {
	concurrently(b, nil, func(b *testing.B, s *Store, i int) {
		must(b, s.EnqueueForOrchestrator(b.Context(), start(fmt.Sprint("i", i)), 0))
	})
}

// BenchmarkTurn wakes an instance that has ten events and runs a turn on it that
// schedules an activity and thinks better of it, so that nothing grows: an
// enqueue, a fetch, an acknowledgement.
func BenchmarkTurn(b *testing.B) {
	concurrently(b, func(b *testing.B, s *Store) {
		for i := range 16 {
			create(b, s, fmt.Sprint("i", i), 9)
		}
	}, func(b *testing.B, s *Store, i int) {
		ctx := b.Context()
		must(b, s.EnqueueForOrchestrator(ctx, provider.ExternalRaisedItem{
			Instance: fmt.Sprint("i", i%16), Name: "go", Data: payload,
		}, 0))
		turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		must(b, err)
		if turn == nil {
			return // another goroutine's turn took both messages
		}
		activity := provider.ActivityRef{Instance: turn.Item.Instance, ExecutionID: 1, ActivityID: uint64(i)}
		must(b, s.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
			LockToken: turn.LockToken, ExecutionID: 1,
			WorkerItems: []provider.WorkItem{provider.ActivityExecuteItem{
				Instance: activity.Instance, ExecutionID: 1, ID: activity.ActivityID, Name: "Charge", Input: payload,
			}},
			CancelledActivities: []provider.ActivityRef{activity},
		}))
	})
}

// BenchmarkActivity queues an activity, fetches and acknowledges it.
func BenchmarkActivity(b *testing.B) {
	concurrently(b, nil, func(b *testing.B, s *Store, i int) {
		ctx := b.Context()
		must(b, s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{
			Instance: fmt.Sprint("i", i%16), ExecutionID: 1, ID: uint64(i), Name: "Charge", Input: payload,
		}))
		work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{
			LockTimeout: time.Minute, Session: &provider.SessionFetchConfig{OwnerID: "bench", LockTimeout: time.Minute},
		})
		must(b, err)
		if work != nil {
			must(b, s.AckWorkItem(ctx, work.LockToken, nil))
		}
	})
}

// BenchmarkOrchestration runs an instance from start to end: a turn that schedules
// five activities, the activities, and a turn each for their results.
func BenchmarkOrchestration(b *testing.B) {
	concurrently(b, nil, func(b *testing.B, s *Store, i int) { orchestrate(b, s, fmt.Sprint("i", i)) })
}

// orchestrate is one fan-out of five, made by whoever calls: what it fetches may
// belong to another instance.
func orchestrate(b *testing.B, s *Store, instance string) {
	b.Helper()
	ctx := b.Context()
	must(b, s.EnqueueForOrchestrator(ctx, start(instance), 0))
	first, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	must(b, err)
	if first == nil {
		return
	}
	if len(first.Item.History) > 0 {
		must(b, s.AckOrchestrationItem(ctx, nextTurn(first)))
		return
	}
	must(b, s.AckOrchestrationItem(ctx, firstTurn(first)))
	for range 5 {
		work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{
			LockTimeout: time.Minute, Session: &provider.SessionFetchConfig{OwnerID: "bench", LockTimeout: time.Minute},
		})
		must(b, err)
		if work == nil {
			continue
		}
		activity, _ := work.Item.(provider.ActivityExecuteItem)
		must(b, s.AckWorkItem(ctx, work.LockToken, provider.ActivityCompletedItem{
			Instance: activity.Instance, ExecutionID: 1, ID: activity.ID, Result: payload,
		}))
		turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		must(b, err)
		if turn == nil {
			continue
		}
		must(b, s.AckOrchestrationItem(ctx, nextTurn(turn)))
	}
}

// firstTurn begins an instance that schedules five activities.
func firstTurn(first *provider.FetchedOrchestration) provider.AckOrchestrationParams {
	instance := first.Item.Instance
	ack := provider.AckOrchestrationParams{
		LockToken: first.LockToken, ExecutionID: 1,
		HistoryDelta: []provider.Event{event(instance, 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: payload})},
		Metadata: provider.ExecutionMetadata{
			OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0"),
			PinnedDuroxideVersion: &provider.Version{Minor: 1, Patch: 26},
		},
	}
	for id := uint64(2); id <= 6; id++ {
		ack.HistoryDelta = append(ack.HistoryDelta, event(instance, id, provider.ActivityScheduled{Name: "Charge", Input: payload}))
		ack.WorkerItems = append(ack.WorkerItems, provider.ActivityExecuteItem{
			Instance: instance, ExecutionID: 1, ID: id, Name: "Charge", Input: payload,
		})
	}
	return ack
}

// nextTurn records what arrived, and ends the instance after its fifth result.
func nextTurn(turn *provider.FetchedOrchestration) provider.AckOrchestrationParams {
	ack := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: turn.Item.ExecutionID}
	id := max(turn.Item.HistoryFrom, 1) - 1 + uint64(len(turn.Item.History))
	for range turn.Item.Messages {
		id++
		ack.HistoryDelta = append(ack.HistoryDelta, event(turn.Item.Instance, id, provider.ActivityCompleted{Result: payload}))
	}
	if id == 11 {
		ack.HistoryDelta = append(ack.HistoryDelta, event(turn.Item.Instance, 12, provider.OrchestrationCompleted{Output: payload}))
		ack.Metadata.Status = new(provider.StatusCompleted)
		ack.Metadata.Output = &payload
	}
	return ack
}

// BenchmarkAmongMany runs a turn and an activity in a store that holds 100,000 rows
// which may not be fetched, for one reason each. It should not matter.
func BenchmarkAmongMany(b *testing.B) {
	const many = 100_000
	ctx := b.Context()
	other := &provider.SessionFetchConfig{OwnerID: "other", LockTimeout: time.Hour}
	activity := func(change func(*provider.ActivityExecuteItem)) provider.ActivityExecuteItem {
		item := provider.ActivityExecuteItem{Instance: "crowd", ExecutionID: 1, ID: 1, Name: "Charge", Input: payload}
		change(&item)
		return item
	}
	for _, crowd := range []struct {
		name string
		add  func(s *Store, i int) error
	}{
		{"nothing", nil},
		{"future timers", func(s *Store, i int) error {
			return s.EnqueueForOrchestrator(ctx, start(fmt.Sprint("timer", i)), time.Hour)
		}},
		{"messages of a locked instance", func(s *Store, i int) error {
			err := s.EnqueueForOrchestrator(ctx, start("locked"), 0)
			if i == 0 {
				fetch(b, s)
			}
			return err
		}},
		{"messages for unknown instances", func(s *Store, i int) error {
			return s.EnqueueForOrchestrator(ctx, provider.CancelInstanceItem{Instance: fmt.Sprint("unknown", i)}, 0)
		}},
		{"activities with another tag", func(s *Store, _ int) error {
			return s.EnqueueForWorker(ctx, activity(func(a *provider.ActivityExecuteItem) { a.Tag = new("other") }))
		}},
		{"activities of another's session", func(s *Store, i int) error {
			err := s.EnqueueForWorker(ctx, activity(func(a *provider.ActivityExecuteItem) { a.SessionID = new("other") }))
			if i == 0 {
				_, err = s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour, Session: other})
			}
			return err
		}},
	} {
		b.Run(crowd.name, func(b *testing.B) {
			s := openMemory(b, Options{})
			create(b, s, "me", 9)
			if crowd.add != nil {
				for i := range many {
					must(b, crowd.add(s, i))
				}
			}
			b.ResetTimer()
			for i := range b.N {
				turnAndActivity(b, s, uint64(i)+2)
			}
		})
	}
}

// turnAndActivity runs a turn of instance "me" that schedules an activity, and the
// activity.
func turnAndActivity(b *testing.B, s *Store, id uint64) {
	b.Helper()
	ctx := b.Context()
	must(b, s.EnqueueForOrchestrator(ctx, provider.ExternalRaisedItem{Instance: "me", Name: "go", Data: payload}, 0))
	must(b, s.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
		LockToken: fetch(b, s).LockToken, ExecutionID: 1,
		WorkerItems: []provider.WorkItem{
			provider.ActivityExecuteItem{Instance: "me", ExecutionID: 1, ID: id, Name: "Charge", Input: payload},
		},
	}))
	work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{
		LockTimeout: time.Minute, Session: &provider.SessionFetchConfig{OwnerID: "bench", LockTimeout: time.Minute},
	})
	if err != nil || work == nil {
		b.Fatalf("fetched %v, %v", work, err)
	}
	must(b, s.AckWorkItem(ctx, work.LockToken, nil))
}

// BenchmarkRead reads a history of ten events, and a status that has not changed.
func BenchmarkRead(b *testing.B) {
	concurrently(b, func(b *testing.B, s *Store) {
		create(b, s, "i", 9)
	}, func(b *testing.B, s *Store, _ int) {
		_, err := s.Read(b.Context(), "i")
		must(b, err)
		_, err = s.GetCustomStatus(b.Context(), "i", 0)
		must(b, err)
	})
}

// BenchmarkEmptyFetch looks for work where there is none.
func BenchmarkEmptyFetch(b *testing.B) {
	concurrently(b, nil, func(b *testing.B, s *Store, _ int) {
		_, err := s.FetchOrchestrationItem(b.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		must(b, err)
	})
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Error(err)
	}
}

func start(instance string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{Instance: instance, Orchestration: "Order", Input: payload, ExecutionID: 1}
}

func event(instance string, id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{
		EventID: id, InstanceID: instance, ExecutionID: 1, TimestampMs: 1_760_000_000_000, DuroxideVersion: "0.1.26", Kind: kind,
	}
}

// fetch fetches a turn that must be there.
func fetch(tb testing.TB, s *Store) *provider.FetchedOrchestration {
	tb.Helper()
	turn, err := s.FetchOrchestrationItem(tb.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour, PollTimeout: time.Minute})
	if err != nil || turn == nil {
		tb.Fatalf("fetched %v, %v; want a turn", turn, err)
	}
	return turn
}

// create runs an instance's first turn, which leaves 1 + more events.
func create(tb testing.TB, s *Store, instance string, more int) {
	tb.Helper()
	must(tb, s.EnqueueForOrchestrator(tb.Context(), start(instance), 0))
	turn := fetch(tb, s)
	events := []provider.Event{event(instance, 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: payload})}
	for i := range more {
		events = append(events, event(instance, uint64(i)+2, provider.ActivityScheduled{Name: "Charge", Input: payload}))
	}
	must(tb, s.AckOrchestrationItem(tb.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, HistoryDelta: events,
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")},
	}))
}
