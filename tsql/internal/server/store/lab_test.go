package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule/scheduletest"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// lab is a table t (id primary key, k, v, u) with an index on k that includes u, and sessions that a test steps.
type lab struct {
	t      testing.TB
	c      *scheduletest.Controlled
	e      *store.Engine
	table  *store.Table
	pk, ix *store.Index
	actors map[schedule.ID]*actor
}

// Columns of the table.
const (
	id = iota
	k
	v
	u
)

func row(values ...int64) []store.Value {
	r := make([]store.Value, 4)
	for i, n := range values {
		r[i] = value.OfInt(n)
	}
	for i := len(values); i < len(r); i++ {
		r[i] = value.OfInt(0)
	}
	return r
}

func with(values []store.Value, column int, n int64) []store.Value {
	r := slices.Clone(values)
	r[column] = value.OfInt(n)
	return r
}

func keyOf(ns ...int64) string {
	var b []byte
	for _, n := range ns {
		b = binary.BigEndian.AppendUint64(append(b, 1), uint64(n))
	}
	return string(b)
}

func on(columns ...int) func([]store.Value) string {
	return func(values []store.Value) string {
		b := make([]byte, 0, 32)
		for _, c := range columns {
			b = binary.BigEndian.AppendUint64(append(b, 1), uint64(values[c].Int()))
		}
		return string(b)
	}
}

func newLab(t testing.TB, rows ...[]store.Value) *lab {
	t.Helper()
	c := scheduletest.New()
	t.Cleanup(c.Close)
	return newLabOn(t, c, c, rows...)
}

// newLabOn has another scheduler than the controlled one.
func newLabOn(t testing.TB, s schedule.Scheduler, c *scheduletest.Controlled, rows ...[]store.Value) *lab {
	t.Helper()
	l := &lab{t: t, c: c, e: store.NewEngine(s, nil), actors: map[schedule.ID]*actor{}}
	l.table = store.NewTable(100, "dbo.t")
	l.table.Database, l.table.DatabaseName = 5, "db"
	l.pk = l.addIndex(store.IndexSpec{ID: 1, Name: "pk", Unique: true, Clustered: true, Key: on(id)})
	l.ix = l.addIndex(store.IndexSpec{ID: 2, Name: "ix", Key: on(k), Columns: []int{k, u, id}})
	l.fill(rows...)
	return l
}

func (l *lab) addIndex(spec store.IndexSpec) *store.Index {
	l.t.Helper()
	ix, err := l.table.AddIndex(spec)
	if err != nil {
		l.t.Fatal(err)
	}
	return ix
}

// fill inserts rows outside the schedule.
func (l *lab) fill(rows ...[]store.Value) {
	l.t.Helper()
	a := l.actor(99)
	a.begin(store.ReadCommitted)
	for _, r := range rows {
		a.insert(r)
	}
	a.commit()
	if len(a.log) > 0 {
		l.t.Fatal(a.log)
	}
}

// actor is a session that notes what it sees.
type actor struct {
	lab *lab
	id  schedule.ID
	s   *store.Session
	o   store.StatementOptions
	log []string
}

func (l *lab) actor(id schedule.ID) *actor {
	a := l.actors[id]
	if a == nil {
		a = &actor{lab: l, id: id, s: l.e.Session(id)}
		l.actors[id] = a
	}
	return a
}

// session adds a session that runs when it is stepped. It is rolled back at the end if it is still in a transaction.
func (l *lab) session(id schedule.ID, f func(a *actor)) {
	a := l.actor(id)
	l.c.Go(id, func() {
		defer a.s.Close()
		f(a)
	})
}

// steps moves sessions on.
func (l *lab) steps(ids ...schedule.ID) {
	for _, id := range ids {
		l.c.Step(id)
	}
}

// parked checks whether a session waits.
func (l *lab) parked(id schedule.ID, want bool) {
	l.t.Helper()
	if state, at := l.c.State(id); (state == scheduletest.Parked) != want {
		l.t.Errorf("session %d is %v at %v %s", id, state, at, l.c)
	}
}

// want checks what a session has noted.
func (l *lab) want(id schedule.ID, want ...string) {
	l.t.Helper()
	if got := l.actors[id].log; !slices.Equal(got, want) {
		l.t.Errorf("session %d noted\n  %q, want\n  %q", id, got, want)
	}
}

// clean checks that no locks and no ghosts are left.
func (l *lab) clean() {
	l.t.Helper()
	for _, i := range l.e.Locks().List() {
		l.t.Errorf("a lock is left: %v", i)
	}
	for _, ix := range l.table.Indexes() {
		if ix.Rows() != ix.Keys() {
			l.t.Errorf("index %s has %d rows under %d keys", ix.Name, ix.Rows(), ix.Keys())
		}
	}
}

func (a *actor) note(format string, args ...any) { a.log = append(a.log, fmt.Sprintf(format, args...)) }

// failed notes an error, and rolls the transaction back if the error does.
func (a *actor) failed(what string, err error) {
	var e *fault.Error
	var d *store.DuplicateError
	switch {
	case errors.As(err, &e):
		a.note("%s: %d", what, e.Number)
		if e.Scope == fault.Abort && a.s.InTransaction() {
			a.s.Rollback()
		}
	case errors.As(err, &d):
		a.note("%s: duplicate in %s", what, d.Index.Name)
	default:
		a.note("%s: %v", what, err)
	}
}

func (a *actor) begin(iso store.Isolation) {
	a.o.Isolation = iso
	a.s.Begin(iso)
}

func (a *actor) commit() {
	if a.s.InTransaction() {
		a.s.Commit()
	}
}

func (a *actor) rollback() { a.s.Rollback() }

func (a *actor) pause() { a.lab.c.Yield(a.id, schedule.Point{Kind: "statement"}) }

// statement runs f as a statement. Its error is noted.
func (a *actor) statement(what string, f func(st *store.Statement) error) bool {
	if !a.s.InTransaction() {
		a.note("%s: no transaction", what)
		return false
	}
	st := a.s.Statement(a.lab.t.Context(), a.o)
	err := f(st)
	st.End(err)
	if err != nil {
		a.failed(what, err)
	}
	return err == nil
}

func (a *actor) insert(values []store.Value) bool {
	return a.statement("insert", func(st *store.Statement) error {
		_, err := st.Insert(a.lab.table, values)
		return err
	})
}

// all is the whole index; one and between are parts of it.
func all() store.Range { return store.Range{} }

func one(n int64) store.Range { return between(n, n) }

func between(low, high int64) store.Range {
	return store.Range{Low: keyOf(low), High: keyOf(high), HasLow: true, HasHigh: true}
}

// read notes the ids and values v of what it finds, as "1:10 2:20".
func (a *actor) read(ix *store.Index, r store.Range, change ...func(*store.Access)) {
	a.statement("read", func(st *store.Statement) error {
		got, err := a.scan(st, ix, r, change...)
		if err == nil {
			a.note("%s", strings.Join(got, " "))
		}
		return err
	})
}

func (a *actor) scan(st *store.Statement, ix *store.Index, r store.Range, change ...func(*store.Access)) ([]string, error) {
	access := st.Access()
	access.Lookup = ix != a.lab.pk
	for _, f := range change {
		f(&access)
	}
	c := st.Scan(ix, r, false, access)
	defer c.Close()
	var got []string
	for {
		ok, err := c.Next()
		if err != nil || !ok {
			return got, err
		}
		c.Keep()
		got = append(got, fmt.Sprintf("%d:%d", c.Values()[id].Int(), c.Values()[v].Int()))
	}
}

// update changes the rows that it finds under U locks, row by row.
func (a *actor) update(ix *store.Index, r store.Range, change func([]store.Value) []store.Value) {
	a.statement("update", func(st *store.Statement) error {
		access := store.Access{Mode: lock.U, Lookup: ix != a.lab.pk, Range: a.o.Isolation == store.Serializable}
		if a.o.Isolation == store.SnapshotIsolation {
			access.Read, access.Mode = store.Snapshot, lock.S
		}
		c := st.Scan(ix, r, false, access)
		defer c.Close()
		for {
			ok, err := c.Next()
			if err != nil || !ok {
				return err
			}
			values := change(c.Values())
			if values == nil {
				err = st.Delete(a.lab.table, c.Row())
			} else {
				err = st.Update(a.lab.table, c.Row(), values)
			}
			if err != nil {
				return err
			}
		}
	})
}

// set makes a change that sets a column.
func set(column int, n int64) func([]store.Value) []store.Value {
	return func(values []store.Value) []store.Value { return with(values, column, n) }
}

// gone is the change that deletes.
func gone([]store.Value) []store.Value { return nil }

// Changes of an access.

func mode(m lock.Mode) func(*store.Access) {
	return func(a *store.Access) { a.Mode, a.Read = m, store.Locked }
}

func keep(d store.Keep) func(*store.Access) { return func(a *store.Access) { a.Keep = d } }

func readPast(a *store.Access) { a.ReadPast = true }

func noWait(a *store.Access) { a.NoWait = true }

func locked(a *store.Access) { a.Read = store.Locked }

func dirty(a *store.Access) { a.Read = store.Dirty }

func covered(a *store.Access) { a.Lookup = false }

// lockID makes a session's id of a number.
func lockID(n int64) schedule.ID { return schedule.ID(n) }
