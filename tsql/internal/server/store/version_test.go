package store_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// A snapshot transaction sees what was committed when it first read, and its own changes.
func TestSnapshotTransaction(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	l.session(1, func(a *actor) {
		a.begin(store.SnapshotIsolation)
		a.pause() // the snapshot is not taken yet
		a.read(l.pk, all())
		a.pause()
		a.read(l.pk, all())
		a.insert(row(3, 3, 30))
		a.read(l.ix, all())
		a.update(l.pk, one(3), set(v, 31))
		a.read(l.ix, all())
		a.commit()
		a.begin(store.SnapshotIsolation)
		a.read(l.pk, all())
		a.commit()
	})
	l.session(2, func(a *actor) {
		for n := range int64(2) {
			a.begin(store.ReadCommitted)
			a.update(l.pk, one(1), set(v, 11+n))
			a.commit()
			a.pause()
		}
	})
	l.steps(1, 2, 1, 2, 1)
	l.c.Finish()
	l.want(1, "1:11 2:20", "1:11 2:20", "1:11 2:20 3:30", "1:11 2:20 3:31", "1:12 2:20 3:31")
	l.clean()
}

func TestUpdateConflicts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		other  func(l *lab, a *actor)
		mine   func(l *lab, a *actor)
		commit bool
		want   string
	}{
		{
			"updated", func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 11)) },
			func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 12)) }, true, "update: 3960",
		},
		{
			"deleted", func(l *lab, a *actor) { a.update(l.pk, one(1), gone) },
			func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 12)) }, true, "update: 3960",
		},
		{
			"mine is a delete", func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 11)) },
			func(l *lab, a *actor) { a.update(l.pk, one(1), gone) }, true, "update: 3960",
		},
		{
			"updlock", func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 11)) },
			func(l *lab, a *actor) {
				a.read(l.pk, one(1), func(x *store.Access) { x.Mode = lock.U })
			}, true, "read: 3960",
		},
		{
			"rolled back", func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 11)) },
			func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 12)) }, false, "",
		},
		{
			"another row", func(l *lab, a *actor) { a.update(l.pk, one(2), set(v, 11)) },
			func(l *lab, a *actor) { a.update(l.pk, one(1), set(v, 12)) }, true, "",
		},
	}
	for _, tt := range tests {
		for _, wait := range []bool{false, true} {
			name := tt.name
			if wait {
				name += ", while mine waits"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, row(1, 1, 10), row(2, 2, 20))
				l.session(1, func(a *actor) {
					a.begin(store.SnapshotIsolation)
					a.read(l.pk, one(2))
					a.pause()
					tt.mine(l, a)
					a.commit()
				})
				l.session(2, func(a *actor) {
					a.begin(store.ReadCommitted)
					tt.other(l, a)
					a.pause()
					if tt.commit {
						a.commit()
					}
				})
				l.steps(1, 2)
				if wait {
					l.steps(1)
					l.parked(1, tt.name != "another row")
				} else {
					l.steps(2)
				}
				l.c.Finish()
				if tt.want == "" {
					l.want(1, "2:20")
				} else {
					l.want(1, "2:20", tt.want)
				}
				l.clean()
			})
		}
	}
}

// Versions and ghosts stay as long as a snapshot needs them, and no longer.
func TestVersionsAreCollected(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	keys := func(pk, ix int) {
		t.Helper()
		if l.pk.Keys() != pk || l.ix.Keys() != ix {
			t.Errorf("%d and %d keys, want %d and %d", l.pk.Keys(), l.ix.Keys(), pk, ix)
		}
	}
	writer := l.actor(9)
	do := func(f func()) {
		writer.begin(store.ReadCommitted)
		f()
		writer.commit()
	}
	do(func() { writer.update(l.pk, one(3), gone) })
	keys(2, 2)
	l.session(1, func(a *actor) {
		a.begin(store.SnapshotIsolation)
		a.read(l.pk, all())
		a.pause()
		a.read(l.pk, all())
		a.read(l.ix, all())
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.begin(store.SnapshotIsolation)
		a.read(l.pk, all())
		a.pause()
		a.read(l.ix, all())
		a.commit()
	})
	l.steps(1)
	do(func() {
		writer.update(l.pk, one(1), set(k, 5))
		writer.update(l.pk, one(1), set(k, 6)) // 5 was never committed
		writer.update(l.pk, one(2), set(id, 7))
		writer.insert(row(2, 8, 80)) // another row under an old key
	})
	keys(3, 5+1) // k: 1 2 5 6 8, and 2 twice: its locator is the clustered key
	l.steps(2)
	do(func() { writer.update(l.pk, all(), gone) })
	l.steps(1)
	keys(3, 3) // what the second one needs
	l.c.Finish()
	l.want(1, "1:10 2:20", "1:10 2:20", "1:10 2:20")
	l.want(2, "1:10 2:80 7:20", "7:20 1:10 2:80")
	keys(0, 0)
	l.clean()
}

// Reading statement after statement of a long transaction keeps no versions; a snapshot of a statement ends with it.
func TestStatementSnapshotsEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10))
	a, b := l.actor(1), l.actor(2)
	a.o.RowVersions = true
	a.begin(store.ReadCommitted)
	for n := range int64(100) {
		a.read(l.pk, all())
		b.begin(store.ReadCommitted)
		b.update(l.pk, one(1), set(k, n))
		b.commit()
	}
	if n := l.ix.Keys(); n != 1 {
		t.Errorf("%d keys", n)
	}
	a.commit()
	l.clean()
}

func TestUndo(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	a := l.actor(1)
	a.begin(store.ReadCommitted)
	var undone []string
	a.insert(row(4, 4, 40))
	a.s.Undo(func() { undone = append(undone, "first") })
	p := a.s.Save()
	a.update(l.pk, one(4), set(v, 41))
	a.s.Undo(func() { undone = append(undone, "second") })
	a.statement("fails", func(st *store.Statement) error {
		for n := range int64(3) {
			if _, err := st.Insert(l.table, row(5-n, 5, 50)); err != nil { // 5 goes, 4 is taken
				return err
			}
		}
		return nil
	})
	a.read(l.ix, all())
	a.update(l.pk, one(1), gone)
	a.update(l.pk, one(2), set(id, 9))
	a.read(l.ix, all())
	a.s.RollbackTo(p)
	a.read(l.ix, all())
	a.update(l.pk, one(3), set(k, 0))
	a.read(l.ix, all())
	a.rollback()
	a.begin(store.ReadCommitted)
	a.read(l.ix, all())
	a.commit()
	l.want(1, "fails: duplicate in pk", "1:10 2:20 3:30 4:41", "9:20 3:30 4:41", "1:10 2:20 3:30 4:40",
		"3:30 1:10 2:20 4:40", "1:10 2:20 3:30")
	if len(undone) != 2 || undone[0] != "second" {
		t.Errorf("undone: %q", undone)
	}
	if n := l.table.Rows(); n != 3 {
		t.Errorf("%d rows", n)
	}
	l.clean()
}

// A statement sees the table as it was before its own changes: it neither reads what it inserts nor meets a row again
// that it has moved ahead.
func TestStatementDoesNotSeeItsOwnChanges(t *testing.T) {
	t.Parallel()
	for _, iso := range []store.Isolation{store.ReadCommitted, store.SnapshotIsolation, store.Serializable} {
		l := newLab(t, row(1, 1, 10), row(2, 2, 20))
		a := l.actor(1)
		a.begin(iso)
		a.update(l.ix, all(), func(values []store.Value) []store.Value {
			return with(with(values, k, values[k].Int()+10), v, values[v].Int()+1)
		})
		a.statement("copy", func(st *store.Statement) error {
			c := st.Scan(l.pk, all(), false, st.Access())
			defer c.Close()
			for {
				ok, err := c.Next()
				if err != nil || !ok {
					return err
				}
				if _, err := st.Insert(l.table, with(c.Values(), id, c.Values()[id].Int()+100)); err != nil {
					return err
				}
				if c.Values()[id].Int() == 1 {
					own := func(x *store.Access) { x.Own = true }
					found, err := a.scan(st, l.pk, one(101), own)
					if err != nil || len(found) != 1 {
						a.note("a check finds %v, %v", found, err)
					}
				}
			}
		})
		a.read(l.pk, all())
		a.commit()
		l.want(1, "1:11 2:21 101:11 102:21")
		l.clean()
	}
}

func TestUpdateAllSwapsKeys(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	l.addIndex(store.IndexSpec{ID: 3, Name: "uq", Unique: true, Key: on(k), Columns: []int{k, id}})
	a := l.actor(1)
	change := func(f func(values []store.Value) []store.Value) {
		a.statement("update", func(st *store.Statement) error {
			var changes []store.Change
			c := st.Scan(l.pk, all(), false, store.Access{Mode: lock.U})
			for ok, err := c.Next(); ok; ok, err = c.Next() {
				if err != nil {
					return err
				}
				changes = append(changes, store.Change{Row: c.Row(), Values: f(c.Values())})
			}
			return st.UpdateAll(l.table, changes)
		})
	}
	a.begin(store.ReadCommitted)
	change(func(values []store.Value) []store.Value {
		return with(with(values, id, values[id].Int()+1), k, 4-values[k].Int())
	})
	a.read(l.ix, all())
	change(func(values []store.Value) []store.Value { return with(values, k, 7) })
	a.read(l.ix, all())
	a.commit()
	l.want(1, "4:30 3:20 2:10", "update: duplicate in uq", "4:30 3:20 2:10")
	l.clean()
}

// An update that fails at its last index takes back the keys that it has put into the others.
func TestUpdateThatFailsLeavesNoKeys(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	l.addIndex(store.IndexSpec{ID: 3, Name: "uq", Unique: true, Key: on(v), Columns: []int{v, id}})
	a := l.actor(1)
	a.begin(store.ReadCommitted)
	a.update(l.pk, one(1), func([]store.Value) []store.Value { return row(7, 7, 20) })
	a.read(l.ix, all())
	a.commit()
	l.want(1, "update: duplicate in uq", "1:10 2:20")
	l.clean()
}

// Tables of one session take no locks; a table variable keeps what a rollback of the transaction undoes elsewhere, but
// not what a failed statement has done.
func TestPrivateTables(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.actor(1)
	for _, survives := range []bool{false, true} {
		l.table.Private, l.table.SurvivesRollback = true, survives
		a.begin(store.Serializable)
		a.insert(row(1, 1, 10))
		a.commit()
		a.begin(store.Serializable)
		a.insert(row(2, 2, 20))
		a.statement("fails", func(st *store.Statement) error {
			if _, err := st.Insert(l.table, row(3)); err != nil {
				return err
			}
			_, err := st.Insert(l.table, row(2))
			return err
		})
		a.read(l.ix, all())
		if n := len(l.e.Locks().List()); n > 0 {
			t.Errorf("%d locks", n)
		}
		a.rollback()
		a.begin(store.ReadCommitted)
		a.read(l.ix, all())
		a.update(l.pk, all(), gone)
		a.commit()
		l.clean()
	}
	l.want(1, "fails: duplicate in pk", "1:10 2:20", "1:10", "fails: duplicate in pk", "1:10 2:20", "1:10 2:20")
}

// An insert under SNAPSHOT of a key that the snapshot still has, though it is free by now, is a conflict too.
func TestInsertConflict(t *testing.T) {
	t.Parallel()
	for _, change := range []func([]store.Value) []store.Value{gone, set(id, 5)} {
		l := newLab(t, row(1, 1, 10), row(2, 2, 20))
		a, b := l.actor(1), l.actor(2)
		a.begin(store.SnapshotIsolation)
		a.read(l.pk, all())
		b.begin(store.ReadCommitted)
		b.update(l.pk, one(1), change)
		b.commit()
		a.update(l.pk, one(2), gone)
		a.insert(row(2, 2, 21)) // its own ghost is none
		a.insert(row(1, 1, 11))
		l.want(1, "1:10 2:20", "insert: 3960")
		l.clean()
	}
}
