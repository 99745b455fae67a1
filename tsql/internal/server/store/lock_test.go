package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// A reader under READ COMMITTED holds one row's lock at a time, and waits for an uncommitted change.
func TestReadCommittedWaits(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(2), set(v, 21))
		a.pause()
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.pk, all(), dirty)
		a.read(l.pk, all())
		a.pause()
		a.commit()
	})
	l.steps(1, 2)
	l.parked(2, true)
	var got []string
	for _, i := range l.e.Locks().List() {
		if i.Session == 2 && i.Resource.Kind == lock.Key {
			got = append(got, fmt.Sprintf("%v %v", i.Mode, i.Status))
		}
	}
	if want := []string{"S WAIT"}; !slices.Equal(got, want) {
		t.Errorf("the reader has %v, want %v", got, want)
	}
	l.steps(1, 2)
	l.want(2, "1:10 2:21 3:30", "1:10 2:21 3:30")
	l.c.Finish()
	l.clean()
}

func TestRowVersionsDoNotWait(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(2), set(v, 21))
		a.update(l.pk, one(1), gone)
		a.insert(row(3, 3, 30))
		a.pause()
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.o.RowVersions = true
		a.begin(store.ReadCommitted)
		a.read(l.ix, all())
		a.pause()
		a.read(l.ix, all())
		a.update(l.pk, one(2), set(v, 22)) // a writer searches what is there now
		a.read(l.ix, all())
		a.read(l.ix, all(), locked)
		a.commit()
	})
	l.steps(1, 2, 1, 1, 2)
	l.want(2, "1:10 2:20", "2:21 3:30", "2:22 3:30", "2:22 3:30")
	l.c.Finish()
	l.clean()
}

// A row that changes while its lock is waited for is judged as it is then.
func TestRowIsJudgedAfterTheWait(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func([]store.Value) []store.Value
		index  bool // read through the index on k
		want   string
	}{
		{"deleted", gone, false, "1:10 3:30"},
		{"changed so that the filter refuses it", set(v, 99), false, "1:10 3:30"},
		{"moved out of the index's range", set(k, 9), true, "1:10 3:30"},
		{"moved further down the index", set(k, 5), true, "1:10 3:30 2:20"},
		{"deleted, through the index", gone, true, "1:10 3:30"},
		{"changed beside the index", set(v, 21), true, "1:10 2:21 3:30"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
			l.session(1, func(a *actor) {
				a.begin(store.ReadCommitted)
				a.update(l.pk, one(2), tt.change)
				a.pause()
				a.commit()
			})
			l.session(2, func(a *actor) {
				a.begin(store.ReadCommitted)
				ix := l.pk
				if tt.index {
					ix = l.ix
				}
				a.read(ix, between(1, 5), func(x *store.Access) {
					x.Filter = func(values []store.Value) (bool, error) { return values[v].Int() != 99, nil }
				})
			})
			l.steps(1, 2)
			l.parked(2, true)
			l.c.Finish()
			l.want(2, tt.want)
			l.clean()
		})
	}
}

// A writer's scan gives U back where the row does not qualify, and so passes rows that others only read.
func TestUpdateLocksOfAScan(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	scan := func(a *actor, keepers ...int64) {
		a.statement("scan", func(st *store.Statement) error {
			c := st.Scan(l.pk, all(), false, store.Access{Mode: lock.U, Keep: store.KeepTransaction})
			defer c.Close()
			for {
				ok, err := c.Next()
				if err != nil || !ok {
					return err
				}
				if slices.Contains(keepers, c.Values()[id].Int()) {
					c.Keep()
				}
			}
		})
	}
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		scan(a, 2)
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.pk, all()) // S beside U
		a.read(l.pk, one(1), mode(lock.U))
		a.read(l.pk, all(), mode(lock.U), readPast)
		a.read(l.pk, one(2), mode(lock.U), noWait)
		a.read(l.pk, one(2), mode(lock.U))
	})
	l.steps(1, 2)
	l.parked(2, true)
	l.want(2, "1:10 2:20 3:30", "1:10", "1:10 3:30", "read: 1222")
	l.c.Finish()
	l.clean()
}

// The deadlock of a reader through an index and a writer: the reader has the index's key and wants the row, the writer
// the reverse.
func TestKeyLookupDeadlock(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(1), set(v, 11)) // v is not in the index
		a.pause()
		a.update(l.pk, one(1), set(k, 5))
		a.pause()
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.ix, one(1))
	})
	l.steps(1, 2)
	l.parked(2, true)
	l.steps(1) // closes the circle; the reader has written nothing
	l.parked(1, true)
	l.c.Finish()
	l.want(1)
	l.want(2, "read: 1205")
	d := l.e.Locks().Deadlocks()
	if len(d) != 1 || d[0].Victim != 2 {
		t.Fatal(d)
	}
	for _, part := range []string{"session 1 waits for X on KEY 5:100:2", "session 2 waits for S on KEY 5:100:1"} {
		if !strings.Contains(d[0].String(), part) {
			t.Errorf("%v has no %q", d[0], part)
		}
	}
	l.clean()
}

// A reader that finds all it needs in the index does not meet a writer that changes other columns.
func TestCoveringIndexAvoidsTheRow(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10, 100))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(1), set(v, 11))
		a.pause()
		a.update(l.pk, one(1), set(u, 101)) // the index includes u
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.ix, one(1), covered)
		a.pause()
		a.read(l.ix, one(1), covered)
	})
	l.steps(1, 2, 1, 2)
	l.parked(2, true)
	l.c.Finish()
	if n := len(l.actors[2].log); n != 2 {
		t.Error(l.actors[2].log)
	}
	l.clean()
}

func TestConversionDeadlock(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10))
	for n := range int64(2) {
		l.session(1+lockID(n), func(a *actor) {
			a.begin(store.RepeatableRead)
			a.read(l.pk, one(1))
			a.pause()
			a.update(l.pk, one(1), set(v, 100+n))
			a.commit()
		})
	}
	l.steps(1, 2, 1, 2)
	l.c.Finish()
	l.want(1, "1:10")
	l.want(2, "1:10", "update: 1205")
	l.clean()
}

func TestReadPastSkipsRowsOnly(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(2), set(v, 21))
		a.pause()
		a.statement("table", func(st *store.Statement) error { return st.LockTable(l.table, lock.X) })
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.pk, all(), readPast)
		a.read(l.ix, all(), readPast) // skips at the row, behind the index
		a.pause()
		a.read(l.pk, all(), readPast) // waits for the table
	})
	l.steps(1, 2, 1, 2)
	l.parked(2, true)
	l.want(2, "1:10 3:30", "1:10 3:30")
	l.c.Finish()
	l.clean()
}

func TestLockTimeout(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(1), set(v, 11))
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.s.LockTimeout = 150 * time.Millisecond
		a.begin(store.ReadCommitted)
		a.insert(row(2, 2, 20))
		a.read(l.pk, one(1))
		a.s.LockTimeout = 0
		a.read(l.pk, one(1))
		a.read(l.pk, one(2)) // the transaction goes on
		a.commit()
	})
	l.steps(1, 2)
	l.c.Expire(2)
	l.steps(2)
	l.want(2, "read: 1222", "read: 1222", "2:20")
	l.c.Finish()
	l.clean()
}

func TestTableLocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10))
	table := func(a *store.Access) { a.Grain, a.Read = store.GrainTable, store.Locked }
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.pk, all(), table, keep(store.KeepTransaction))
		a.pause()
		a.rollback()
		a.begin(store.ReadCommitted)
		a.read(l.pk, all(), table, mode(lock.X), keep(store.KeepTransaction))
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.read(l.pk, all())
		a.update(l.pk, all(), set(v, 11)) // IX waits for S
		a.commit()
		a.begin(store.ReadCommitted)
		a.pause()
		a.read(l.pk, all())
	})
	l.steps(1, 2)
	l.parked(2, true)
	l.want(2, "1:10")
	l.steps(1)
	l.parked(1, true) // X on the table waits for 2's change
	l.steps(2, 1, 2)
	l.parked(2, true)
	l.c.Finish()
	l.want(1, "1:10", "1:11")
	l.clean()
}

// Sch-M waits for everybody, dirty readers too.
func TestSchemaLocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.statement("read", func(st *store.Statement) error {
			c := st.Scan(l.pk, all(), false, store.Access{Read: store.Dirty})
			defer c.Close()
			_, err := c.Next()
			a.pause()
			return err
		})
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.statement("alter", func(st *store.Statement) error { return st.LockSchema(5, 100, lock.SchM) })
		a.note("altered")
		a.pause()
	})
	l.session(3, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.statement("compile", func(st *store.Statement) error { return st.LockSchema(5, 100, lock.SchS) })
		a.note("compiled")
	})
	l.steps(1, 2)
	l.parked(2, true)
	l.steps(1, 2)
	l.want(2, "altered")
	l.steps(3)
	l.parked(3, true)
	l.c.Finish()
	l.want(3, "compiled")
	l.clean()
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	a := l.actor(1)
	truncate := func(st *store.Statement) error { return st.Truncate(l.table) }
	a.begin(store.ReadCommitted)
	a.update(l.pk, one(1), set(k, 5))
	a.statement("truncate", truncate)
	a.insert(row(1, 7, 70))
	a.read(l.ix, all())
	a.rollback()
	a.begin(store.ReadCommitted)
	a.read(l.ix, all())
	a.statement("truncate", truncate)
	a.commit()
	a.begin(store.ReadCommitted)
	a.read(l.ix, all())
	a.commit()
	l.want(1, "1:70", "1:10 2:20", "")
	if n := l.table.Rows(); n != 0 {
		t.Errorf("%d rows", n)
	}
	l.clean()
}

func TestCounts(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20), row(3, 3, 30))
	l.session(1, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(2), set(v, 21))
		a.pause()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		for _, past := range []bool{true, false} {
			a.statement("read", func(st *store.Statement) error {
				_, err := a.scan(st, l.ix, all(), func(x *store.Access) { x.ReadPast = past })
				for _, n := range st.Counts() {
					a.note("%s %v %d %d %d", n.Index.Name, n.Mode, n.Granted, n.Waited, n.Skipped)
				}
				return err
			})
		}
	})
	l.steps(1, 2, 1)
	l.c.Finish()
	l.want(2, "ix S 3 0 0", "pk S 2 0 1", "ix S 3 0 0", "pk S 2 1 0")
}

// Which locks of a scan with UPDLOCK stay: the index's key once the filter has let it pass, the row if it is kept.
func TestWhatUpdateLocksStay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keep store.Keep
		pass bool // the filter
		hold bool // Cursor.Keep
		want string
	}{
		{"qualifies", store.KeepTransaction, true, true, "pk U, ix U"},
		{"refused after the lookup", store.KeepTransaction, true, false, "ix U"},
		{"refused before the lookup", store.KeepTransaction, false, false, ""},
		{"nothing is kept", store.KeepRow, true, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, row(1, 1, 10))
			a := l.actor(1)
			a.begin(store.ReadCommitted)
			a.statement("scan", func(st *store.Statement) error {
				filter := func([]store.Value) (bool, error) { return tt.pass, nil }
				c := st.Scan(l.ix, all(), false, store.Access{Mode: lock.U, Keep: tt.keep, Lookup: true, Filter: filter})
				defer c.Close()
				for {
					ok, err := c.Next()
					if err != nil || !ok {
						return err
					}
					if tt.hold {
						c.Keep()
					}
				}
			})
			var got []string
			for _, i := range l.e.Locks().List() {
				if i.Resource.Kind == lock.Key {
					got = append(got, l.table.Indexes()[i.Resource.Index-1].Name+" "+i.Mode.String())
				}
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("held: %q, want %q", s, tt.want)
			}
			a.rollback()
			l.clean()
		})
	}
}

// Locks that last as long as the statement go with it, and not before.
func TestStatementLocks(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	a := l.actor(1)
	a.begin(store.ReadCommitted)
	a.statement("scan", func(st *store.Statement) error {
		_, err := a.scan(st, l.ix, all(), mode(lock.U), keep(store.KeepStatement))
		a.note("%d locks", len(l.e.Locks().List()))
		return err
	})
	a.note("%d locks", len(l.e.Locks().List()))
	l.want(1, "5 locks", "0 locks")
	a.commit()
}

// A statement whose transaction has been rolled back, as a trigger may do, can only be ended.
func TestRollbackInsideAStatement(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1, 10), row(2, 2, 20))
	a := l.actor(1)
	a.begin(store.ReadCommitted)
	st := a.s.Statement(t.Context(), a.o)
	c := st.Scan(l.ix, all(), false, store.Access{Mode: lock.U, Keep: store.KeepStatement, Lookup: true})
	if ok, err := c.Next(); err != nil || !ok {
		t.Fatal(err)
	}
	c.Keep()
	if err := st.Update(l.table, c.Row(), row(1, 1, 11)); err != nil {
		t.Fatal(err)
	}
	a.rollback()
	a.begin(store.ReadCommitted)
	a.insert(row(3, 3, 30))
	if _, err := c.Next(); err == nil {
		t.Error("Next works without a transaction")
	}
	if _, err := st.Insert(l.table, row(4)); err == nil {
		t.Error("Insert works without a transaction")
	}
	st.End(errWanted)
	a.read(l.pk, all())
	a.commit()
	l.want(1, "1:10 2:20 3:30")
	l.clean()
}
