package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func TestAddIndex(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 3, 10), row(2, 2, 20), row(3, 2, 30))
	a := l.actor(1)
	_, err := l.table.AddIndex(store.IndexSpec{ID: 3, Name: "uq", Unique: true, Key: on(k)})
	var d *store.DuplicateError
	if !errors.As(err, &d) || d.Values[k].Int() != 2 {
		t.Errorf("AddIndex = %v", err)
	}
	filtered := l.addIndex(store.IndexSpec{
		ID: 3, Name: "filtered", Unique: true, Key: on(k), Columns: []int{k, id, v},
		Contains: func(values []store.Value) bool { return values[v].Int() != 30 },
	})
	a.begin(store.ReadCommitted)
	a.read(filtered, all())
	a.update(l.pk, one(3), set(v, 31)) // now it would be there
	a.update(l.pk, one(1), set(v, 30)) // it goes
	a.read(filtered, all())
	a.insert(row(4, 2, 30)) // is not there
	a.read(filtered, all())
	if n := filtered.Rows(); n != 1 {
		t.Errorf("%d rows", n)
	}
	a.rollback()
	l.want(1, "2:20 1:10", "update: duplicate in filtered", "2:20", "2:20")
	if got := l.table.Indexes(); len(got) != 3 || got[2] != filtered || filtered.Rows() != 2 {
		t.Errorf("%d indexes, %d rows", len(got), filtered.Rows())
	}
}

// Heap and clustered index take each other's place, with versions that a snapshot still needs.
func TestClusteredIndexAndHeap(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	reader, a := l.actor(1), l.actor(2)
	reader.begin(store.SnapshotIsolation)
	reader.read(l.pk, all())
	a.begin(store.ReadCommitted)
	a.update(l.pk, one(2), set(id, 5))
	a.update(l.pk, one(1), gone)
	a.insert(row(9, 9, 90))
	a.insert(row(3, 3, 30))
	a.commit()

	l.table.DropIndex(l.pk)
	heap := l.table.Indexes()[0]
	if !heap.Heap {
		t.Fatal("there is no heap")
	}
	reader.read(heap, all())
	reader.read(l.ix, all())
	a.begin(store.ReadCommitted)
	a.read(heap, all())
	a.insert(row(5, 5, 50)) // nothing is unique any more
	a.read(l.ix, all())
	a.rollback()

	l.table.RestoreIndex(l.pk)
	reader.read(l.pk, all())
	reader.commit()
	a.begin(store.ReadCommitted)
	a.read(l.pk, all())
	a.update(l.pk, all(), gone)
	a.commit()
	l.want(1, "1:10 2:20", "1:10 2:20", "1:10 2:20", "1:10 2:20")
	l.want(2, "5:20 9:90 3:30", "5:20 3:30 5:50 9:90", "3:30 5:20 9:90")
	l.clean()
}

// Locks on a heap are on its rows.
func TestHeapLocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	l.table.DropIndex(l.pk)
	l.pk = l.table.Indexes()[0]
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.ix, one(2), set(v, 21))
		a.pause()
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.ix, all())
	})
	l.steps(1, 2)
	l.parked(2, true)
	rids := 0
	for _, i := range l.e.Locks().List() {
		if i.Resource.Kind == lock.RID {
			rids++
		}
	}
	if rids != 2 {
		t.Errorf("%d locks on rows", rids)
	}
	l.c.Finish()
	l.want(2, "1:10 2:21")
	l.clean()
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	a := l.actor(1)
	add := func(values []store.Value) ([]store.Value, error) {
		return append(with(values, k, -values[k].Int()+100), value.OfInt(7)), nil
	}
	a.begin(store.ReadCommitted)
	undo, err := l.table.Rewrite(add)
	if err != nil {
		t.Fatal(err)
	}
	a.s.Undo(undo)
	a.read(l.ix, all())
	a.insert(append(row(3, 3, 30), value.OfInt(7)))
	a.rollback()
	a.begin(store.ReadCommitted)
	a.read(l.ix, all())
	a.commit()

	if _, err := l.table.Rewrite(func(values []store.Value) ([]store.Value, error) {
		if values[id].Int() == 2 {
			return nil, errWanted
		}
		return values[:1], nil
	}); !errors.Is(err, errWanted) {
		t.Errorf("Rewrite = %v", err)
	}
	var d *store.DuplicateError
	if _, err := l.table.Rewrite(func(values []store.Value) ([]store.Value, error) {
		return with(values, id, 1), nil
	}); !errors.As(err, &d) {
		t.Errorf("Rewrite = %v", err)
	}
	a.begin(store.ReadCommitted)
	a.read(l.pk, all())
	a.commit()
	l.want(1, "2:20 1:10", "1:10 2:20", "1:10 2:20")
	l.clean()
}

func TestApplicationLocks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := lock.Resource{Kind: lock.Application, Database: 5, Object: 0, Key: "name"}
	a, b := l.actor(1), l.actor(2)
	take := func(a *actor, mode lock.Mode, forSession bool) int32 {
		_, err := a.s.LockApplication(t.Context(), name, mode, forSession, 0)
		if e, ok := errors.AsType[*fault.Error](err); ok {
			return e.Number
		}
		return 0
	}
	a.begin(store.ReadCommitted)
	b.begin(store.ReadCommitted)
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("free at first", b.s.ApplicationFree(name, lock.X, false), true)
	check("for the transaction", take(a, lock.X, false), int32(0))
	check("for the session too", take(a, lock.X, true), int32(0))
	check("by another session", take(b, lock.S, false), int32(1222))
	check("tested by another session", b.s.ApplicationFree(name, lock.S, true), false)
	check("mode", a.s.ApplicationMode(name, false), lock.X)
	a.commit()
	check("mode without a transaction", a.s.ApplicationMode(name, false), lock.NL)
	check("after the transaction", take(b, lock.S, false), int32(1222))
	check("given back", a.s.UnlockApplication(name, true), true)
	check("given back again", a.s.UnlockApplication(name, true), false)
	check("given back without a transaction", a.s.UnlockApplication(name, false), false)
	check("then", take(b, lock.S, false), int32(0))
	check("twice", take(b, lock.S, false), int32(0))
	check("given back once", b.s.UnlockApplication(name, false), true)
	check("still there", take(a, lock.X, true), int32(1222))
	b.s.Close()
	check("at last", take(a, lock.X, true), int32(0))
	a.s.Close()
	l.clean()

	l.session(3, func(a *actor) {
		waited, err := a.s.LockApplication(t.Context(), name, lock.X, true, time.Second)
		a.note("%v %v", waited, err)
		a.pause()
	})
	l.session(4, func(a *actor) {
		a.begin(store.ReadCommitted)
		waited, err := a.s.LockApplication(t.Context(), name, lock.X, false, time.Second)
		a.note("%v %v", waited, err)
	})
	l.steps(3, 4)
	l.parked(4, true)
	l.c.Finish()
	l.want(3, "false <nil>")
	l.want(4, "true <nil>")
	l.clean()
}
