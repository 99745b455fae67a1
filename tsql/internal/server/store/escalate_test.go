package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// filled is a lab with n rows.
func filled(t *testing.T, n int) *lab {
	t.Helper()
	l := newLab(t)
	a := l.actor(99)
	a.begin(store.ReadCommitted)
	for i := range n {
		a.insert(row(int64(i), int64(i), 0))
	}
	a.commit()
	return l
}

// held is what a session has locked: how many of which kind and mode.
func (l *lab) held(id int64) string {
	counts := map[string]int{}
	for _, i := range l.e.Locks().List() {
		if i.Session == lockID(id) && i.Status == lock.StatusGrant {
			counts[i.Resource.Type()+" "+i.Mode.String()]++
		}
	}
	var list []string
	for what, n := range counts {
		list = append(list, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

// A statement that has locked 5,000 keys of an index takes a lock on the table in their place.
func TestEscalation(t *testing.T) {
	t.Parallel()
	const fewer, enough = 4999, 5000
	tests := []struct {
		name  string
		rows  int
		setup func(l *lab)
		do    func(a *actor)
		want  string
	}{
		{
			name: "a writer of too few rows", rows: fewer,
			do:   func(a *actor) { a.update(a.lab.pk, all(), set(v, 1)) },
			want: "[1 OBJECT IX 4999 KEY X]",
		},
		{
			name: "a writer", rows: enough,
			do:   func(a *actor) { a.update(a.lab.pk, all(), set(v, 1)) },
			want: "[1 OBJECT X]",
		},
		{
			name: "a writer of more rows", rows: enough + 700,
			do:   func(a *actor) { a.update(a.lab.pk, all(), set(v, 1)) },
			want: "[1 OBJECT X]",
		},
		{
			name: "an insert", rows: 10,
			do: func(a *actor) {
				a.statement("insert", func(st *store.Statement) error {
					for i := range enough {
						if _, err := st.Insert(a.lab.table, row(int64(100+i))); err != nil {
							return err
						}
					}
					return nil
				})
			},
			want: "[1 OBJECT X]",
		},
		{
			name: "two statements", rows: enough,
			do: func(a *actor) {
				a.update(a.lab.pk, between(0, 2999), set(v, 1))
				a.update(a.lab.pk, between(3000, enough), set(v, 1))
			},
			want: "[1 OBJECT IX 5000 KEY X]",
		},
		{
			name: "a reader that keeps its locks", rows: enough,
			do:   func(a *actor) { a.read(a.lab.pk, all(), keep(store.KeepTransaction)) },
			want: "[1 OBJECT S]",
		},
		{
			name: "a reader of ranges", rows: enough,
			do: func(a *actor) {
				a.read(a.lab.pk, all(), func(x *store.Access) { x.Range, x.Keep = true, store.KeepTransaction })
			},
			want: "[1 OBJECT S]",
		},
		{
			name: "a reader for update", rows: enough,
			do: func(a *actor) {
				a.read(a.lab.pk, all(), mode(lock.U), keep(store.KeepTransaction))
			},
			want: "[1 OBJECT X]",
		},
		{
			name: "a reader that gives its locks back", rows: enough + 5000,
			do:   func(a *actor) { a.read(a.lab.pk, all()) },
			want: "[]",
		},
		{
			name: "a table that does not want it", rows: enough,
			setup: func(l *lab) { l.table.NoEscalation = true },
			do:    func(a *actor) { a.update(a.lab.pk, all(), set(v, 1)) },
			want:  "[1 OBJECT IX 5000 KEY X]",
		},
		{
			name: "somebody reads", rows: enough,
			setup: func(l *lab) {
				l.actor(2).begin(store.RepeatableRead)
				l.actor(2).read(l.pk, one(70000))
			},
			do:   func(a *actor) { a.update(a.lab.pk, all(), set(v, 1)) },
			want: "[1 OBJECT IX 5000 KEY X]",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := filled(t, tt.rows)
			if tt.setup != nil {
				tt.setup(l)
			}
			a := l.actor(1)
			a.begin(store.ReadCommitted)
			tt.do(a)
			if got := l.held(1); got != tt.want {
				t.Errorf("it has %s, want %s", got, tt.want)
			}
			a.commit()
			l.actor(2).commit()
			l.clean()
		})
	}
}

// Who could not escalate tries again 1,250 locks later.
func TestEscalationIsTriedAgain(t *testing.T) {
	t.Parallel()
	l := filled(t, 7000)
	other, a := l.actor(2), l.actor(1)
	other.begin(store.RepeatableRead)
	other.read(l.pk, one(6999))
	a.begin(store.ReadCommitted)
	a.statement("update", func(st *store.Statement) error {
		for i := range 6250 {
			c := st.Scan(l.pk, one(int64(i)), false, store.Access{Mode: lock.U})
			if ok, err := c.Next(); err != nil || !ok {
				return fmt.Errorf("row %d: %t, %w", i, ok, err)
			}
			if err := st.Update(l.table, c.Row(), with(c.Values(), v, 1)); err != nil {
				return err
			}
			c.Close()
			switch i {
			case 5001:
				other.commit()
			case 6248:
				if got := l.held(1); got != "[1 OBJECT IX 6249 KEY X]" {
					t.Errorf("before the second try it has %s", got)
				}
			}
		}
		return nil
	})
	if got := l.held(1); got != "[1 OBJECT X]" {
		t.Errorf("in the end it has %s", got)
	}
	a.commit()
	l.clean()
}

// An escalated lock outlives the savepoint, and what was written under it can be undone.
func TestEscalationAndSavepoint(t *testing.T) {
	t.Parallel()
	l := filled(t, 5001)
	a := l.actor(1)
	a.begin(store.ReadCommitted)
	a.read(l.pk, one(1), keep(store.KeepTransaction))
	p := a.s.Save()
	a.update(l.pk, all(), set(v, 1))
	a.s.RollbackTo(p)
	if got := l.held(1); got != "[1 OBJECT X]" {
		t.Errorf("it has %s", got)
	}
	a.read(l.pk, one(4999))
	a.commit()
	l.want(1, "1:0", "4999:0")
	l.clean()
}

// The locks that were acquired behind a savepoint go when it is rolled back to.
func TestSavepointGivesLocksBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, row(1, 1), row(2, 2), row(3, 3))
	a := l.actor(1)
	a.begin(store.ReadCommitted)
	a.read(l.pk, one(1), keep(store.KeepTransaction))
	p := a.s.Save()
	a.update(l.pk, one(1), set(v, 1))
	a.update(l.pk, one(2), set(v, 1))
	a.insert(row(4, 4))
	a.s.RollbackTo(p)
	if got := l.held(1); got != "[1 KEY X 1 OBJECT IX]" {
		t.Errorf("it has %s", got)
	}
	a.update(l.pk, one(2), set(v, 2))
	if got := l.held(1); got != "[1 OBJECT IX 2 KEY X]" {
		t.Errorf("after another update it has %s", got)
	}
	a.commit()
	l.clean()
}
