package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// resting waits until a store leaves its file alone.
func resting(t *testing.T, s *Store) {
	t.Helper()
	for deadline := time.Now().Add(10 * second); time.Now().Before(deadline); time.Sleep(millisecond) {
		if s.watch.others.resting.Load() {
			return
		}
	}
	t.Fatal("the store never left its file alone")
}

// A store at rest is told of what another process writes: to a new log, to one that was
// truncated, and to one that was removed and made anew; also beside a symbolic link.
func TestRestingStoreIsToldOfAnotherProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "store.db"), filepath.Join(folder, "link.db")
	must(t, os.Symlink(path, link))
	options := Options{PollInterval: 20 * millisecond, rest: time.Hour}
	wakes := func(s *Store, instance string, before func()) {
		t.Helper()
		turns := fetched(t, s)
		waiting(t, s.instances, 1)
		before()
		resting(t, s)
		if out, err := child(t, t.Context(), "enqueue", path, instance).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if turn := soon(t, turns); turn == nil || turn.Item.Instance != instance {
			t.Errorf("fetched %v", turn)
		}
	}
	s := openFile(t, path, options)
	wakes(s, "new", func() {})
	wakes(s, "truncated", func() {
		must(t, s.EnqueueForOrchestrator(t.Context(), start("later"), time.Hour))
		db, err := sql.Open(driverName, path+"?_pragma=busy_timeout(10000)")
		must(t, err)
		defer func() { must(t, db.Close()) }()
		var busy, frames, moved int
		must(t, db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved))
		if info, err := os.Stat(path + "-wal"); err != nil || busy != 0 || info.Size() != 0 {
			t.Fatalf("the log was not truncated: %v, %v", info, err)
		}
	})
	must(t, s.Close())
	if _, err := os.Stat(path + "-wal"); !os.IsNotExist(err) {
		t.Fatalf("the log is still there: %v", err)
	}
	s = openFile(t, link, options)
	wakes(s, "made anew", func() {})
}

// A file counts as quiet after some looks, and after a notice of a write when a commit was
// seen, this process's own or another's. Where the system tells of nothing, it is looked at
// again and again.
func TestWhenAFileIsQuiet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, other := openFile(t, path, Options{PollInterval: Never}), openFile(t, path, Options{PollInterval: Never})
	o := newOthers(s, Options{PollInterval: 1, rest: time.Hour, log: logPath(path)})
	t.Cleanup(o.close)
	looks := func(n int, want bool, what string) {
		t.Helper()
		for range n {
			o.lookIfDue(t.Context())
		}
		if o.resting.Load() != want {
			t.Errorf("%s: the file is left alone: %v, want %v", what, !want, want)
		}
	}
	looks(quietLooks-1, false, "soon")
	looks(1, true, "after some looks")
	if nap := o.lookIfDue(t.Context()); nap < time.Minute {
		t.Errorf("a nap of %v at rest", nap)
	}
	o.notice()
	looks(3*quietLooks, false, "before a commit")
	must(t, s.EnqueueForOrchestrator(t.Context(), start("own"), 0))
	looks(1, true, "after an own commit")
	o.notice()
	must(t, other.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	looks(quietLooks, false, "just after another's commit")
	looks(1, true, "after another's commit")
	o.notice()
	o.told = o.told.Add(-2 * latestCommit)
	looks(quietLooks, true, "long after a write without a commit")

	deaf := newOthers(s, Options{PollInterval: 1, rest: time.Hour, log: path + "-nothing"})
	for range 2 * quietLooks {
		if nap := deaf.lookIfDue(t.Context()); nap != 1 {
			t.Fatalf("a nap of %v where the system tells of nothing", nap)
		}
	}
}
