package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// know is a set with one name.
func know(name, version string) *provider.KnownCode {
	return provider.Know(provider.CodeName{Name: name, Version: version})
}

// startOf starts an orchestration, in version 1.
func startOf(instance, orchestration string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{
		Instance: instance, Orchestration: orchestration, Version: new("1"), ExecutionID: 1,
	}
}

// fetchKnown fetches what the set admits, under a lease of an hour.
func fetchKnown(t testing.TB, s *Store, known *provider.KnownCode) *provider.FetchedOrchestration {
	t.Helper()
	turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour, Known: known})
	must(t, err)
	return turn
}

// rowsWritten counts the rows that the connection has written so far.
func (s *Store) rowsWritten(t *testing.T) (n int64) {
	t.Helper()
	must(t, s.write(t.Context(), "test", func(ctx context.Context, _ *tx) error {
		return each(ctx, s, "SELECT total_changes()", func(scan func(...any)) { scan(&n) })
	}))
	return n
}

// clockAt opens a store whose clock the test moves, in milliseconds.
func clockAt(t *testing.T, now int64) (*Store, *atomic.Int64) {
	t.Helper()
	clock := &atomic.Int64{}
	clock.Store(now)
	return openMemory(t, Options{now: clock.Load}), clock
}

// A fetch makes its set seen by a write only when the last is 20 s old, so that an idle
// worker costs no flush.
func TestSetsAreSeenWithoutAWritePerFetch(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	known := know("A", "1")
	fetches := func() {
		fetchKnown(t, s, known)
		_, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour, Known: known})
		must(t, err)
	}
	seen := func() (times []int64) {
		must(t, s.write(t.Context(), "test", func(ctx context.Context, _ *tx) error {
			return each(ctx, s, "SELECT seen_at FROM known_code ORDER BY kind", func(scan func(...any)) {
				var at int64
				scan(&at)
				times = append(times, at)
			})
		}))
		return times
	}
	fetches()
	before := s.rowsWritten(t)
	clock.Add(seenEvery - 1)
	fetches()
	if after := s.rowsWritten(t); after != before {
		t.Errorf("fetches wrote %d rows within %d ms", after-before, seenEvery)
	}
	if diff := cmp.Diff([]int64{1_000_000, 1_000_000}, seen()); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	clock.Add(1)
	fetches()
	if diff := cmp.Diff([]int64{1_000_000 + seenEvery, 1_000_000 + seenEvery}, seen()); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	// A clock that is set back must not leave the set unseen until it catches up.
	clock.Add(-500_000)
	fetches()
	if diff := cmp.Diff([]int64{500_000 + seenEvery, 500_000 + seenEvery}, seen()); diff != "" {
		t.Errorf("seen after the clock was set back (-want +got):\n%s", diff)
	}
}

// A set that nobody has asked for in a week is forgotten with the next new one, also by a
// process that remembers its id.
func TestOldSetsAreForgotten(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	old, kept := know("Old", "1"), know("Kept", "1")
	fetchKnown(t, s, old)
	clock.Add(forgetAfter / 2)
	fetchKnown(t, s, kept)
	clock.Add(forgetAfter / 2)
	fetchKnown(t, s, know("New", "1"))
	count := func(query string) (n int) {
		must(t, s.write(t.Context(), "test", func(ctx context.Context, _ *tx) error {
			return each(ctx, s, query, func(scan func(...any)) { scan(&n) })
		}))
		return n
	}
	if sets := count("SELECT count(*) FROM known_code"); sets != 2 {
		t.Errorf("%d sets are left, want 2", sets)
	}
	// Of each set any code, the name in its version, and the name without one.
	if names := count("SELECT count(*) FROM known_code_names"); names != 6 {
		t.Errorf("sets have %d names, want 6", names)
	}
	must(t, s.EnqueueForOrchestrator(t.Context(), startOf("i", "Old"), 0))
	if turn := fetchKnown(t, s, kept); turn != nil {
		t.Fatalf("fetched %v for another set", turn)
	}
	if turn := fetchKnown(t, s, old); turn == nil {
		t.Error("a forgotten set that is asked for again admits nothing")
	}
}

// GetQueueDepths counts what waits for code that nobody has had for [provider.LiveFor]; what
// another worker knows and what anybody may take is not.
func TestQueueDepthsCountUnknownCode(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	ctx := t.Context()
	for i, name := range []string{"X", "X", "Y", "A"} {
		must(t, s.EnqueueForOrchestrator(ctx, startOf(fmt.Sprint(name, i), name), 0))
	}
	for id, name := range []string{"X", "A", "A"} {
		must(t, s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: uint64(id + 2), Name: name}))
	}
	want := func(orchestrations, activities uint64) {
		t.Helper()
		depths, err := s.GetQueueDepths(ctx)
		must(t, err)
		if depths.UnknownOrchestrations != orchestrations || depths.UnknownActivities != activities {
			t.Errorf("unknown: %d orchestrations and %d activities, want %d and %d",
				depths.UnknownOrchestrations, depths.UnknownActivities, orchestrations, activities)
		}
	}
	want(4, 3)
	_, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour, Known: know("A", "")})
	must(t, err)
	fetchKnown(t, s, know("Y", "1"))
	want(3, 1)
	clock.Add(provider.LiveFor.Milliseconds() - 1)
	want(3, 1)
	clock.Add(1)
	want(3, 2)
	_, err = s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour, Known: know("A", "")})
	must(t, err)
	list, err := s.UnknownCode(ctx, provider.LiveFor)
	must(t, err)
	since := time.UnixMilli(1_000_000).UTC()
	if diff := cmp.Diff([]provider.UnknownCode{
		{CodeName: provider.CodeName{Name: "A", Version: "1"}, Waiting: 1, Since: since},
		{CodeName: provider.CodeName{Name: "X", Version: "1"}, Waiting: 2, Since: since},
		{CodeName: provider.CodeName{Name: "X"}, Activity: true, Waiting: 1, Since: since},
	}, list); diff != "" {
		t.Errorf("unknown code (-want +got):\n%s", diff)
	}
}

// Activities of the same name and tag, in a session or not, are one line of UnknownCode.
func TestUnknownCodeSumsUpSessions(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	for i, tag := range []*string{nil, new("gpu"), new("cpu")} {
		for _, session := range []*string{nil, new("s")} {
			must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{
				Instance: "i", ExecutionID: 1, ID: uint64(i + 2), Name: "X", Tag: tag, SessionID: session,
			}))
			clock.Add(10)
		}
	}
	list, err := s.UnknownCode(t.Context(), 0)
	must(t, err)
	var want []provider.UnknownCode
	for i, tag := range []*string{new("cpu"), new("gpu"), nil} { // the last one was queued first
		want = append(want, provider.UnknownCode{
			CodeName: provider.CodeName{Name: "X"}, Activity: true, Tag: tag, Waiting: 2, Since: time.UnixMilli(1_000_040 - int64(20*i)).UTC(),
		})
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("unknown code (-want +got):\n%s", diff)
	}
}

// What a call that failed has added is not remembered: the next call adds it again.
func TestCodeOfAFailedCallIsNotRemembered(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{})
	must(t, s.EnqueueForOrchestrator(t.Context(), startOf("i", "A"), 0))
	turn := fetchKnown(t, s, know("A", "1"))
	if turn == nil {
		t.Fatal("nothing was fetched")
	}
	params := provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1,
		HistoryDelta: []provider.Event{
			event("i", 1, provider.OrchestrationStarted{Name: "A", Version: "1"}), event("i", 1, provider.OrchestrationCompleted{}),
		},
		OrchestratorItems: []provider.WorkItem{startOf("child", "Child")},
	}
	if err := s.AckOrchestrationItem(t.Context(), params); err == nil {
		t.Fatal("an event id was taken twice")
	}
	params.HistoryDelta = params.HistoryDelta[:1]
	must(t, s.AckOrchestrationItem(t.Context(), params))
	if child := fetchKnown(t, s, know("Child", "1")); child == nil {
		t.Error("the child's code is lost")
	}
}

// The ids in memory are bounded, and looked up again when they are dropped.
func TestRememberedCodeIsBounded(t *testing.T) {
	t.Parallel()
	var c codes
	for i := range 3 * maxCodes {
		c.remember(effects{
			codes: map[provider.CodeName]int64{{Name: fmt.Sprint(i)}: int64(i)},
			sets:  map[codeSet]seenSet{{kind: int64(i)}: {}},
		})
		if len(c.ids) > maxCodes || len(c.sets) > maxSets {
			t.Fatalf("%d names and %d sets are remembered", len(c.ids), len(c.sets))
		}
	}
}

// Another process finds the sets and the code of the first.
func TestCodeIsSharedByStores(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	one, two := openFile(t, path, Options{}), openFile(t, path, Options{})
	must(t, one.EnqueueForOrchestrator(t.Context(), startOf("a", "A"), 0))
	must(t, two.EnqueueForOrchestrator(t.Context(), startOf("b", "A"), 0))
	for _, s := range []*Store{one, two} {
		if turn := fetchKnown(t, s, know("B", "1")); turn != nil {
			t.Errorf("fetched %v", turn)
		}
	}
	for _, c := range []struct {
		s        *Store
		instance string
	}{{two, "a"}, {one, "b"}} {
		if turn := fetchKnown(t, c.s, know("A", "1")); turn == nil || turn.Item.Instance != c.instance {
			t.Errorf("fetched %v, want %s", turn, c.instance)
		}
	}
}

// An attempt of a fetch without names, which was put back, is no attempt as long as the store remembers who had the
// code.
func TestUnnamedAttemptIsGivenBack(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	ctx := t.Context()
	fetchKnown(t, s, know("A", "1"))
	_, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour, Known: know("A", "")})
	must(t, err)
	must(t, s.EnqueueForOrchestrator(ctx, startOf("i", "A"), 0))
	must(t, s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "A"}))
	want := func(attempts ...uint32) {
		t.Helper()
		for _, attempt := range attempts {
			turn := fetchKnown(t, s, nil)
			work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour})
			must(t, err)
			if turn == nil || work == nil || turn.AttemptCount != attempt || work.AttemptCount != attempt {
				t.Fatalf("fetched %+v and %+v, want attempt %d", turn, work, attempt)
			}
			must(t, s.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: turn.LockToken}))
			must(t, s.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: work.LockToken}))
		}
	}
	clock.Add(namedFor)
	want(1, 1)
	clock.Add(forgetAfter - namedFor - 1)
	want(1, 1)
	clock.Add(1)
	want(1, 2, 3)
}
