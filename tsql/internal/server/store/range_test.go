package store_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// What SERIALIZABLE has read, others cannot add to. A row is (id, k); the reader reads through one of the indexes.
func TestPhantoms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		index   bool // through the index on k
		r       store.Range
		reverse bool
		insert  []store.Value
		waits   bool
	}{
		{"within the range", false, between(20, 40), false, row(25), true},
		{"in the gap behind the range", false, between(20, 35), false, row(39), true},
		{"in the gap before the range", false, between(20, 35), false, row(15), true},
		{"behind the gap", false, between(20, 35), false, row(45), false},
		{"before the gap", false, between(20, 35), false, row(5), false},
		{"a key that was not there", false, one(25), false, row(25), true},
		{"beside a key that was not there", false, one(25), false, row(26), true},
		{"beside a unique key that was there", false, one(30), false, row(31), false},
		{"behind the last key", false, store.Range{Low: keyOf(35), HasLow: true}, false, row(99), true},
		{"behind the last key, which is not in the range", false, between(20, 30), false, row(99), false},
		{"a key above all", false, one(70), false, row(60), true},
		{"into an open range", false, store.Range{
			Low: keyOf(20), High: keyOf(40), HasLow: true, HasHigh: true, LowOpen: true, HighOpen: true,
		}, false, row(39), true},
		{"below an open range", false, store.Range{
			Low: keyOf(20), High: keyOf(40), HasLow: true, HasHigh: true, LowOpen: true, HighOpen: true,
		}, false, row(15), false},
		{"downwards, within", false, between(20, 40), true, row(25), true},
		{"downwards, behind", false, between(20, 40), true, row(45), true},
		{"downwards, below", false, between(20, 40), true, row(15), true},
		{"downwards, above all", false, between(30, 90), true, row(80), true},
		{"downwards, a unique key that was there", false, one(30), true, row(31), false},
		{"the same key of an index", true, one(300), false, row(31, 300), true},
		{"the same key of an index, before it", true, one(300), false, row(29, 300), true},
		{"the next key of an index", true, one(300), false, row(41, 400), false},
		{"the same key of an index, downwards", true, one(300), true, row(31, 300), true},
		{"a key that the index has not", true, one(250), false, row(25, 250), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, row(10, 100), row(20, 200), row(30, 300), row(40, 400), row(50, 500))
			ix := l.pk
			if tt.index {
				ix = l.ix
			}
			count := func(a *actor) int {
				n := 0
				a.statement("read", func(st *store.Statement) error {
					c := st.Scan(ix, tt.r, tt.reverse, st.Access())
					defer c.Close()
					for {
						ok, err := c.Next()
						if err != nil || !ok {
							return err
						}
						n++
					}
				})
				return n
			}
			l.session(1, func(a *actor) {
				a.begin(store.Serializable)
				before := count(a)
				a.pause()
				if after := count(a); after != before {
					a.note("%d rows, then %d", before, after)
				}
				a.pause()
				a.commit()
			})
			l.session(2, func(a *actor) {
				a.begin(store.ReadCommitted)
				a.insert(tt.insert)
				a.commit()
			})
			l.steps(1, 2)
			l.parked(2, tt.waits)
			l.steps(1)
			l.parked(2, tt.waits)
			l.c.Finish()
			l.want(1)
			l.want(2)
			l.clean()
			if n := l.table.Rows(); n != 6 {
				t.Errorf("%d rows", n)
			}
		})
	}
}

// "Update, and insert if there was nothing": with HOLDLOCK alone both may look into the gap and then wait for each
// other; with UPDLOCK too the second one waits at once.
func TestUpsert(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		mode lock.Mode
		want []string
	}{
		{"holdlock", lock.S, []string{"", "insert: 1205"}},
		{"updlock, holdlock", lock.U, []string{"25:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, row(20), row(30))
			upsert := func(a *actor, n int64) {
				a.begin(store.Serializable)
				found := a.log
				a.read(l.pk, one(25), mode(tt.mode))
				nothing := len(a.log) > len(found) && a.log[len(a.log)-1] == ""
				a.pause()
				if nothing {
					a.insert(row(25, 0, n))
				}
				a.commit()
			}
			l.session(1, func(a *actor) { upsert(a, 1) })
			l.session(2, func(a *actor) { upsert(a, 2) })
			l.steps(1, 2, 1, 2)
			l.c.Finish()
			l.want(1, "")
			l.want(2, tt.want...)
			l.clean()
		})
	}
}

// A transaction that inserts into a gap which it has locked keeps both halves.
func TestInsertDividesItsOwnRange(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(10), row(50))
	l.session(1, func(a *actor) {
		a.begin(store.Serializable)
		a.read(l.pk, between(20, 40))
		a.insert(row(30))
		a.pause()
		a.read(l.pk, between(20, 40))
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.insert(row(25))
	})
	l.session(3, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.insert(row(35))
	})
	l.steps(1, 2, 3)
	l.parked(2, true)
	l.parked(3, true)
	l.c.Finish()
	l.want(1, "", "30:0")
	l.clean()
}

// The key that ends a locked gap stays there though its insert is undone.
func TestGapOutlivesItsEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(10), row(50))
	l.session(1, func(a *actor) {
		a.begin(store.Serializable)
		a.statement("insert", func(st *store.Statement) error {
			if _, err := st.Insert(l.table, row(30)); err != nil {
				return err
			}
			a.read(l.pk, between(15, 20)) // up to 30
			return errWanted
		})
		a.pause()
		a.read(l.pk, between(15, 20))
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.insert(row(18))
		a.commit()
	})
	l.steps(1, 2)
	l.parked(2, true)
	l.c.Finish()
	l.want(1, "", "insert: "+errWanted.Error(), "")
	l.clean()
}

// A ghost that a reader has locked is not collected, for the gap before it is locked too.
func TestLockedGhostStays(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(10), row(30), row(50))
	l.session(1, func(a *actor) { // keeps the ghost alive
		a.begin(store.SnapshotIsolation)
		a.read(l.pk, all())
		a.pause()
		a.commit()
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.update(l.pk, one(30), gone)
		a.commit()
	})
	l.session(3, func(a *actor) {
		a.begin(store.Serializable)
		a.read(l.pk, between(15, 20)) // up to the ghost
		a.pause()
		a.read(l.pk, between(15, 20))
		a.commit()
	})
	l.session(4, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.insert(row(18))
		a.commit()
	})
	l.steps(1, 2, 3, 1)
	if n := l.pk.Keys(); n != 3 {
		t.Errorf("%d keys: the ghost has gone", n)
	}
	l.steps(4)
	l.parked(4, true)
	l.c.Finish()
	l.want(3, "", "")
	l.clean()
}

// An insert that waits for a gap looks again where it belongs: another key may end the gap now.
func TestInsertLooksForItsGapAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(10), row(50))
	l.session(1, func(a *actor) {
		a.begin(store.Serializable)
		a.read(l.pk, between(20, 40))
		a.pause()
		a.insert(row(30))
		a.commit()
		a.begin(store.Serializable)
		a.read(l.pk, between(26, 28)) // up to 30
		a.pause()
		a.read(l.pk, between(26, 28))
	})
	l.session(2, func(a *actor) {
		a.begin(store.ReadCommitted)
		a.insert(row(27))
		a.commit()
	})
	l.steps(1, 2, 1)
	l.c.Step(2)
	l.parked(2, true)
	l.c.Finish()
	l.want(1, "", "", "")
	l.clean()
}

func TestUniqueWaits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		first  func(l *lab, a *actor)
		commit bool
		want   string // of an insert of (7, 1): 7 is new, 1 is unique
	}{
		{"insert, commit", func(_ *lab, a *actor) { a.insert(row(7, 70)) }, true, "insert: duplicate in pk"},
		{"insert, rollback", func(_ *lab, a *actor) { a.insert(row(7, 70)) }, false, ""},
		{"delete, commit", func(l *lab, a *actor) { a.update(l.pk, one(1), gone) }, true, ""},
		{"delete, rollback", func(l *lab, a *actor) { a.update(l.pk, one(1), gone) }, false, "insert: duplicate in uq"},
		{"move away, commit", func(l *lab, a *actor) { a.update(l.pk, one(1), set(k, 5)) }, true, ""},
		{"move here, commit", func(l *lab, a *actor) { a.update(l.pk, one(2), set(id, 7)) }, true, "insert: duplicate in pk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, row(1, 1), row(2, 2))
			l.addIndex(store.IndexSpec{ID: 3, Name: "uq", Unique: true, Key: on(k), Columns: []int{k, id}})
			l.session(1, func(a *actor) {
				a.begin(store.ReadCommitted)
				tt.first(l, a)
				a.pause()
				if tt.commit {
					a.commit()
				}
			})
			l.session(2, func(a *actor) {
				a.begin(store.ReadCommitted)
				if strings.HasPrefix(tt.name, "insert") || strings.HasPrefix(tt.name, "move here") {
					a.insert(row(7, 3))
				} else {
					a.insert(row(7, 1))
				}
				a.commit()
			})
			l.steps(1, 2)
			l.parked(2, true)
			l.c.Finish()
			l.want(1)
			if tt.want == "" {
				l.want(2)
			} else {
				l.want(2, tt.want)
			}
			l.clean()
		})
	}
}

// A walk downwards locks the gap above its range before its first key, not when it has come to the end.
func TestRangeDownwardsIsLockedFromTheBeginning(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(10), row(20), row(50))
	l.session(1, func(a *actor) {
		a.begin(store.Serializable)
		a.statement("read", func(st *store.Statement) error {
			c := st.Scan(l.pk, between(5, 40), true, st.Access())
			defer c.Close()
			if ok, err := c.Next(); err != nil || !ok || c.Values()[id].Int() != 20 {
				a.note("found %v, %v, %v", ok, err, c.Values())
			}
			a.pause()
			return nil
		})
		a.commit()
	})
	for n, key := range []int64{30, 15} {
		l.session(lockID(int64(n)+2), func(a *actor) {
			a.begin(store.ReadCommitted)
			a.insert(row(key))
			a.commit()
		})
	}
	l.steps(1, 2, 3)
	l.parked(2, true)
	l.parked(3, true) // the lock on 20 covers the gap below it
	l.c.Finish()
	l.want(1)
	l.clean()
}

// The key that ends a gap may go while its lock is waited for: then the next one ends it.
func TestGapEndsElsewhereAfterTheWait(t *testing.T) {
	t.Parallel()
	for _, reverse := range []bool{false, true} {
		l := newLab(t, row(10), row(50))
		l.session(1, func(a *actor) {
			a.begin(store.ReadCommitted)
			a.insert(row(30))
			a.pause()
			a.rollback()
		})
		read := func(a *actor) {
			a.statement("read", func(st *store.Statement) error {
				c := st.Scan(l.pk, between(15, 20), reverse, st.Access())
				defer c.Close()
				ok, err := c.Next()
				a.note("%v", ok)
				return err
			})
		}
		l.session(2, func(a *actor) {
			a.begin(store.Serializable)
			read(a)
			a.pause()
			read(a)
			a.commit()
		})
		l.session(3, func(a *actor) {
			a.begin(store.ReadCommitted)
			a.insert(row(18))
			a.commit()
		})
		l.steps(1, 2)
		l.parked(2, true)
		l.steps(1, 2, 3)
		l.parked(3, true)
		l.c.Finish()
		l.want(2, "false", "false")
		l.clean()
	}
}
