package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// openSome opens a store in memory for a random test, or now and then two of the same
// file, as two processes would.
func openSome(t *rapid.T, dir string, now func() int64) (stores []*Store, closeAll func()) {
	options := Options{now: now, Synchronous: Normal, PollInterval: Never}
	open := func() (*Store, error) { return OpenMemory(t.Context(), options) }
	n := rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "processes")
	if n == 2 {
		path := filepath.Join(dir, fmt.Sprint(time.Now().UnixNano(), ".db"))
		open = func() (*Store, error) { return Open(t.Context(), path, options) }
	}
	for range n {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	return stores, func() {
		for _, s := range stores {
			_ = s.Close()
		}
	}
}

// checkBounds demands a bound for each ready row, and for each time at which one becomes
// ready, which it does not lie below. Without it a fetch would miss the row.
func checkBounds(t *rapid.T, s *Store) {
	err := s.write(t.Context(), "test", func(ctx context.Context, tx *tx) error {
		ready := tx.ready
		check := func(read bool, bound int64, row string, id int64) {
			if read && (bound == 0 || bound > id) {
				t.Errorf("%s %d is ready, its bound is %d", row, id, bound)
			}
		}
		return errorsOf(
			each(ctx, s, "SELECT version_id, code_id, head_id FROM inboxes WHERE head_id IS NOT NULL", func(scan func(...any)) {
				var version, code, id int64
				scan(&version, &code, &id)
				check(ready.instances.read, ready.instances.bounds[version][code], "message", id)
			}),
			each(ctx, s, "SELECT tag, session_id, code_id, id FROM worker_queue WHERE ready = 1", func(scan func(...any)) {
				var tag, session *string
				var code, id int64
				scan(&tag, &session, &code, &id)
				check(ready.activities.read, ready.activities.bounds[newWorkKey(tag, session != nil)][code], "activity", id)
			}),
			each(ctx, s, "SELECT id, instance_id, work_item, session_id, attempt_count + 1, heartbeat, created_at FROM worker_queue", func(scan func(...any)) {
				var id int64
				var row sqlitedb.LockWorkRow
				scan(&id, &row.InstanceID, &row.WorkItem, &row.SessionID, &row.AttemptCount, &row.Heartbeat, &row.CreatedAt)
				if kept, ok := ready.keptWork[id]; ok && kept != row {
					t.Errorf("activity %d is kept as %+v, stored is %+v", id, kept, row)
				}
			}),
			each(ctx, s, "SELECT instance_id, wake_at FROM inboxes WHERE wake_at IS NOT NULL", func(scan func(...any)) {
				var instance string
				var at int64
				scan(&instance, &at)
				if _, listed := listedDue(tx)[instance]; listed {
					return
				}
				check(ready.nextInstance.known, ready.nextInstance.at, "the time of an instance,", at)
			}),
			each(ctx, s, "SELECT coalesce(locked_until, visible_at) FROM worker_queue WHERE ready = 0", func(scan func(...any)) {
				var at int64
				scan(&at)
				check(ready.nextActivity.known, ready.nextActivity.at, "the time of an activity,", at)
			}),
			each(ctx, s, fmt.Sprint("SELECT locked_until FROM sessions WHERE locked_until > ", tx.now), func(scan func(...any)) {
				var at int64
				scan(&at)
				check(ready.nextSession.known, ready.nextSession.at, "the time of a session,", at)
			}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fetchInstances fetches what there is, one after the other, whatever its code.
func fetchInstances(t *testing.T, s *Store) (instances []string) {
	t.Helper()
	for {
		turn := fetchKnown(t, s, nil)
		if turn == nil {
			return instances
		}
		instances = append(instances, turn.Item.Instance)
	}
}

// What a fetch has learnt from rows that it locked is forgotten with the lock, when its
// call is taken back alone, and when the whole transaction is.
func TestBoundsOfACallTakenBack(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("broken")
	// claimTwo takes the two oldest instances, which takes a seek behind the first.
	claimTwo := func(ctx context.Context, s *Store, t *tx) error {
		for range 2 {
			f := turnFetch{lockFor: 1000, versions: anyVersion}
			if found, err := t.dueOrNextTurn(ctx, s.log, f); err != nil || found == nil {
				return fmt.Errorf("fetched %v: %w", found, err)
			}
		}
		return errBroken
	}
	for name, fail := range map[string]func(t *testing.T, s *Store){
		"alone": func(t *testing.T, s *Store) {
			t.Helper()
			err := s.write(t.Context(), "test", func(ctx context.Context, tx *tx) error { return claimTwo(ctx, s, tx) })
			if !errors.Is(err, errBroken) {
				t.Errorf("error %v", err)
			}
		},
		"in a group": func(t *testing.T, s *Store) {
			t.Helper()
			errs := together(t, s, 2, func(ctx context.Context, t *tx, i int) error {
				if i == 1 {
					return nil
				}
				return claimTwo(ctx, s, t)
			})
			if !errors.Is(errs[0], errBroken) || errs[1] != nil {
				t.Errorf("errors %v", errs)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMemory(t, Options{})
			var want []string
			for i, code := range []string{"A", "B", "A", "C"} {
				instance := fmt.Sprint("i", i)
				must(t, s.EnqueueForOrchestrator(t.Context(), startOf(instance, code), 0))
				want = append(want, instance)
			}
			fail(t, s)
			if diff := cmp.Diff(want, fetchInstances(t, s)); diff != "" {
				t.Errorf("fetched (-want +got):\n%s", diff)
			}
		})
	}
}

// What another process makes ready is found in its place, also when it is older than
// all that this one knows of.
func TestBoundsFollowOtherProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	one, two := openFile(t, path, Options{}), openFile(t, path, Options{})
	for i, code := range []string{"A", "B", "A", "B"} {
		must(t, one.EnqueueForOrchestrator(t.Context(), startOf(fmt.Sprint("i", i), code), 0))
	}
	taken := fetchKnown(t, one, nil)
	if next := fetchKnown(t, one, nil); next.Item.Instance != "i1" {
		t.Fatalf("fetched %s, want i1", next.Item.Instance)
	}
	must(t, two.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: taken.LockToken}))
	must(t, two.EnqueueForOrchestrator(t.Context(), startOf("i4", "C"), 0))
	if diff := cmp.Diff([]string{"i0", "i2", "i3", "i4"}, fetchInstances(t, one)); diff != "" {
		t.Errorf("fetched (-want +got):\n%s", diff)
	}
}

// A claim among a hundred names takes one seek, however many rows are ready.
func TestClaimsAmongManyNamesSeekOnce(t *testing.T) {
	t.Parallel()
	const names, rows = 100, 5000
	var queue [names][]int64
	h := heads[int64]{read: true, bounds: map[int64]map[int64]int64{}}
	for id := int64(1); id <= rows; id++ {
		code := id * 37 % names
		queue[code] = append(queue[code], id)
		h.lower(0, code, id)
	}
	seeks := 0
	for want := int64(1); want <= rows; want++ {
		id, err := h.take(0, func(int64) bool { return true }, seenSet{}, func(_, code int64) (found seen, err error) {
			seeks++
			if len(queue[code]) > 0 {
				found.oldest, found.fits = queue[code][0], queue[code][0]
			}
			if len(queue[code]) > 1 {
				found.next = queue[code][1]
			}
			return found, nil
		})
		must(t, err)
		if id != want {
			t.Fatalf("claimed %d, want %d", id, want)
		}
		code := id * 37 % names
		queue[code] = queue[code][1:]
	}
	if seeks > rows {
		t.Errorf("%d claims took %d seeks", rows, seeks)
	}
}

// Names that nothing waits for any more take no memory.
func TestBoundsOfEmptyNamesAreDropped(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	params := provider.FetchWorkParams{LockTimeout: time.Hour, Tags: provider.AnyTag()}
	for round := range uint64(2) {
		for id := range uint64(10) {
			must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{
				Instance: "i", ExecutionID: 1, ID: 10*round + id, Name: "A", Tag: new(fmt.Sprint("tag", id)),
			}))
		}
		var got []uint64
		for {
			work, err := s.FetchWorkItem(t.Context(), params)
			must(t, err)
			if work == nil {
				break
			}
			activity, _ := work.Item.(provider.ActivityExecuteItem)
			got = append(got, activity.ID)
		}
		if len(got) != 10 || !slices.IsSorted(got) {
			t.Errorf("fetched activities %v", got)
		}
	}
	must(t, s.write(t.Context(), "test", func(_ context.Context, tx *tx) error {
		if h := tx.ready.activities; !h.read || len(h.bounds) != 0 {
			t.Errorf("bounds are read: %t; of an empty queue: %v", h.read, h.bounds)
		}
		return nil
	}))
}
