package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// The model: a table is a map from id to (k, v). Every write gives v a number that is never used again, so a value
// tells which write it comes from.

type cell struct{ id, k, v int64 }

type state map[int64]cell

// in returns the rows of a range, in the index's order.
func (s state) in(o op) []cell {
	var rows []cell
	for _, c := range s {
		key := c.id
		if o.index {
			key = c.k
		}
		if o.low <= key && key <= o.high {
			rows = append(rows, c)
		}
	}
	slices.SortFunc(rows, func(a, b cell) int {
		n := cmp.Compare(a.id, b.id)
		if o.index {
			n = cmp.Or(cmp.Compare(a.k, b.k), n)
		}
		if o.reverse {
			n = -n
		}
		return n
	})
	return rows
}

// op is a statement of a random program.
type op struct {
	kind      string // "read", "insert", "update", "move", "delete", "save", "back", "commit", "rollback"
	low, high int64
	index     bool // through the index on k
	reverse   bool
	versions  bool // RCSI
	fail      bool // the statement fails after its last row
	keep      bool // hold U to the end
	qualify   bool // lock rows after they have been found
	iso       store.Isolation
}

func drawOp(t *rapid.T) op {
	kinds := []string{
		"read", "read", "read", "insert", "insert", "update", "move", "delete", "save", "back", "commit", "rollback",
	}
	o := op{
		kind: rapid.SampledFrom(kinds).Draw(t, "kind"), low: rapid.Int64Range(0, 6).Draw(t, "low"),
		index: rapid.Bool().Draw(t, "index"), reverse: rapid.Bool().Draw(t, "reverse"),
		fail: rapid.IntRange(0, 5).Draw(t, "fail") == 0, keep: rapid.Bool().Draw(t, "keep"),
		qualify: rapid.Bool().Draw(t, "qualify"),
	}
	o.high = o.low + rapid.Int64Range(0, 3).Draw(t, "width")
	return o
}

// effect is a row that a statement has changed.
type effect struct {
	from, to *cell // nil: there was, or is, no row
}

// done is a statement as it was executed.
type done struct {
	op      op
	found   []cell
	effects []effect
}

// checker is the model and the sessions.
type checker struct {
	*lab

	rt        *rapid.T
	optimized bool // locking
	covering  bool // the index on k has all columns, and reads through it do not look at the row
	committed state
	everSeen  map[cell]bool // cells that were committed at some time
	nextValue int64
}

// runner is one session of a random program.
type runner struct {
	*checker

	a        *actor
	iso      store.Isolation
	versions bool
	log      []done
	saves    []save
	base     state // what its snapshot has, once it has one
}

type save struct {
	point store.Savepoint
	at    int
}

var errWanted = errors.New("a statement that fails")

// own is a state with the transaction's changes so far.
func (r *runner) own(s state) state {
	s = maps.Clone(s)
	for _, d := range r.log {
		d.apply(s)
	}
	return s
}

func (d *done) apply(s state) {
	for _, e := range d.effects {
		if e.from != nil {
			delete(s, e.from.id)
		}
	}
	for _, e := range d.effects {
		if e.to != nil {
			s[e.to.id] = *e.to
		}
	}
}

func (r *runner) run(program []op) {
	for _, o := range program {
		if !r.a.s.InTransaction() {
			r.a.begin(r.iso)
			r.a.o.RowVersions, r.a.o.Optimized = r.versions, r.optimized
			r.log, r.saves, r.base = nil, nil, nil
		}
		switch o.kind {
		case "commit":
			r.commit()
		case "rollback":
			r.a.s.Rollback()
		case "save":
			r.saves = append(r.saves, save{r.a.s.Save(), len(r.log)})
		case "back":
			if n := len(r.saves); n > 0 {
				r.a.s.RollbackTo(r.saves[n-1].point)
				r.forget(r.saves[n-1].at)
				r.saves = r.saves[:n-1]
			}
		default:
			r.statement(o)
		}
		r.a.pause()
	}
	if r.a.s.InTransaction() {
		r.commit()
	}
}

// forget drops the effects, not the reads, of what a rollback to a savepoint has undone. What a read has found then may
// include changes that are gone: it is no longer checked.
func (r *runner) forget(at int) { r.log = r.log[:at] }

func (r *runner) statement(o op) {
	o.iso, o.versions = r.iso, r.versions
	st := r.a.s.Statement(r.a.lab.t.Context(), r.a.o)
	before := r.committed
	if r.iso == store.SnapshotIsolation && r.base == nil {
		r.base = maps.Clone(r.committed)
	}
	expected := r.own(before)
	if r.base != nil {
		expected = r.own(r.base)
	}
	d := done{op: o}
	err := r.execute(st, &d)
	if err == nil && o.fail {
		err = errWanted
	}
	st.End(err)
	var duplicate *store.DuplicateError
	switch {
	case err == nil:
		r.check(&d, expected)
		r.log = append(r.log, d)
	case errors.Is(err, errWanted), errors.As(err, &duplicate):
	default:
		r.a.failed("statement", err)
		if r.a.s.InTransaction() {
			r.rt.Fatalf("session %d: %v", r.a.id, err)
		}
	}
}

func toCell(values []store.Value) cell {
	return cell{values[id].Int(), values[k].Int(), values[v].Int()}
}

func (r *runner) execute(st *store.Statement, d *done) error {
	o := d.op
	if o.kind == "insert" {
		r.nextValue++
		c := cell{o.low, o.high, r.nextValue}
		d.effects = append(d.effects, effect{nil, &c})
		_, err := st.Insert(r.table, row(c.id, c.k, c.v))
		return err
	}
	access := st.Access()
	if o.kind != "read" && access.Read != store.Snapshot || o.kind != "read" && r.versions {
		access.Read, access.Mode = store.Locked, lock.U
		if o.keep {
			access.Keep = store.KeepTransaction
		}
	}
	if o.qualify && st.Qualifies() && (o.kind == "update" || o.kind == "delete" || o.kind == "move" && o.index) {
		access.Read, access.Mode, access.Keep, access.Qualify = store.Snapshot, lock.X, store.KeepRow, true
	}
	ix := r.pk
	if o.index {
		ix, access.Lookup = r.ix, !r.covering || o.kind != "read"
	}
	c := st.Scan(ix, between(o.low, o.high), o.reverse, access)
	defer c.Close()
	for {
		ok, err := c.Next()
		if err != nil || !ok {
			return err
		}
		if access.Qualify {
			if _, ok, err = c.Qualify(); err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		c.Keep()
		from := toCell(c.Values())
		d.found = append(d.found, from)
		if o.kind == "read" {
			r.a.pause() // between two rows, as while they are sent
			continue
		}
		to := from
		r.nextValue++
		switch to.v = r.nextValue; o.kind {
		case "delete":
			d.effects = append(d.effects, effect{&from, nil})
			if err := st.Delete(r.table, c.Row()); err != nil {
				return err
			}
			continue
		case "move":
			if o.index {
				to.k += 2
			} else {
				to.id += 2
			}
		}
		d.effects = append(d.effects, effect{&from, &to})
		if err := st.Update(r.table, c.Row(), row(to.id, to.k, to.v)); err != nil {
			return err
		}
	}
}

// check compares what a statement has found with what it should see at once.
func (r *runner) check(d *done, expected state) {
	if d.op.kind == "insert" {
		return
	}
	reads := d.op.kind == "read"
	switch {
	case r.iso == store.SnapshotIsolation, r.iso == store.ReadCommitted && r.versions && reads:
		if want := expected.in(d.op); !slices.Equal(d.found, want) {
			r.rt.Fatalf("session %d, %+v: found %v, want %v", r.a.id, d.op, d.found, want)
		}
	default:
		mine := map[cell]bool{}
		for _, before := range r.log {
			for _, e := range before.effects {
				if e.to != nil {
					mine[*e.to] = true
				}
			}
		}
		for _, c := range d.found {
			if !r.everSeen[c] && !mine[c] {
				r.rt.Fatalf("session %d, %+v: %v was never committed", r.a.id, d.op, c)
			}
		}
	}
}

// commit repeats the transaction on the model. A serializable one must find there what it has found; a repeatable
// reader the rows that it has found.
func (r *runner) commit() {
	s := maps.Clone(r.committed)
	for _, d := range r.log {
		switch want := s.in(d.op); {
		case d.op.kind == "insert":
			if _, ok := s[d.effects[0].to.id]; ok {
				r.rt.Fatalf("session %d inserted %v twice", r.a.id, *d.effects[0].to)
			}
		case r.iso == store.Serializable:
			if !slices.Equal(d.found, want) {
				r.rt.Fatalf("session %d, %+v: found %v, but %v at its commit", r.a.id, d.op, d.found, want)
			}
		case r.iso == store.RepeatableRead, d.op.kind != "read":
			for _, c := range d.found {
				if s[c.id] != c {
					r.rt.Fatalf("session %d, %+v: found %v, but %v at its commit", r.a.id, d.op, c, s[c.id])
				}
			}
		}
		d.apply(s)
	}
	r.a.s.Commit()
	r.committed = s
	for _, c := range s {
		r.everSeen[c] = true
	}
}

// Random programs under random schedules see what the model says that they must.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	for part := range 10 { // each with rapid's usual number of checks
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			checkRandomPrograms(t)
		})
	}
}

func checkRandomPrograms(t *testing.T) {
	t.Helper()
	isolations := []store.Isolation{
		store.ReadCommitted, store.RepeatableRead, store.Serializable, store.Serializable, store.SnapshotIsolation,
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := checker{lab: newLab(t), rt: rt, committed: state{}, everSeen: map[cell]bool{}}
		defer c.c.Close()
		if c.covering = rapid.Bool().Draw(rt, "covering"); c.covering {
			c.table.DropIndex(c.ix)
			c.ix = c.addIndex(store.IndexSpec{ID: 2, Name: "ix", Key: on(k)})
		}
		if rapid.Bool().Draw(rt, "unique") {
			c.addIndex(store.IndexSpec{ID: 3, Name: "uq", Unique: true, Key: on(v), Columns: []int{v, id}})
		}
		c.optimized = rapid.Bool().Draw(rt, "optimized")
		c.e.Locks().Preempt = rapid.Bool().Draw(rt, "preempt")
		c.e.EscalateAt(rapid.SampledFrom([]int{1, 2, 3, 5000}).Draw(rt, "escalation"))
		for n := range rapid.Int64Range(2, 4).Draw(rt, "sessions") {
			r := &runner{checker: &c, a: c.actor(lockID(n + 1))}
			r.iso = rapid.SampledFrom(isolations).Draw(rt, "isolation")
			r.versions = r.iso == store.ReadCommitted && rapid.Bool().Draw(rt, "versions")
			var program []op
			for range rapid.IntRange(1, 12).Draw(rt, "statements") {
				program = append(program, drawOp(rt))
			}
			c.session(r.a.id, func(*actor) { r.run(program) })
		}
		c.c.FinishBy(func(runnable []schedule.ID) schedule.ID {
			return rapid.SampledFrom(runnable).Draw(rt, "next")
		})
		c.finish()
	})
}

// finish compares what is left in the table with the model.
func (c *checker) finish() {
	c.e.Locks().Preempt = false
	a := c.actor(98)
	for _, index := range []bool{false, true} {
		ix := c.pk
		if index {
			ix = c.ix
		}
		a.begin(store.ReadCommitted)
		a.log = nil
		a.read(ix, all())
		a.commit()
		var want strings.Builder
		for i, x := range c.committed.in(op{high: 1 << 40, index: index}) {
			if i > 0 {
				want.WriteString(" ")
			}
			fmt.Fprintf(&want, "%d:%d", x.id, x.v)
		}
		if a.log[0] != want.String() {
			c.rt.Fatalf("left is %q, want %q", a.log[0], want.String())
		}
	}
	if n := len(c.e.Locks().List()); n > 0 {
		c.rt.Fatalf("%d locks are left", n)
	}
	for _, ix := range c.table.Indexes() {
		if ix.Rows() != len(c.committed) || ix.Keys() != len(c.committed) || c.table.Rows() != len(c.committed) {
			c.rt.Fatalf("index %s has %d rows under %d keys, want %d", ix.Name, ix.Rows(), ix.Keys(), len(c.committed))
		}
	}
}
