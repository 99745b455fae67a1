package execute

import (
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// Expr computes a value.
type Expr func(r *Run) (Value, error)

// Cond computes a condition.
type Cond func(r *Run) (Truth, error)

// Operator is a node of a plan. Plans are made once and executed by any number of sessions, at the same time if one of
// them waits in the middle, so that an operator holds nothing but what the planner has decided.
type Operator interface {
	// Start makes the operator's state for an execution.
	Start(r *Run) Iterator
	// Explain describes the operator in a line, and returns those that it reads.
	Explain() (text string, inputs []Operator)
}

// Iterator is the state of an operator in an execution. It puts the columns of its present row into the execution's
// slots. It can be opened again when it has been closed, and then sees the outer rows' slots as they are by then.
type Iterator interface {
	Open() error
	// Next moves to the next row. After false it is not called again before the next Open. With an error it is false.
	Next() (bool, error)
	// Close gives back locks and memory. It may be called at any time, also twice.
	Close()
}

// row is what Next returns when it has a row, unless an error has kept it from making the row.
func row(err error) (bool, error) { return err == nil, err }

// Run is one execution of a plan. Plans keep those that have ended for the next execution: a call of a small procedure
// should not spend its time in making them.
type Run struct {
	Frame *Frame
	// Slots are the registers: a column of a table that is read, a computed column or the result of an aggregate each
	// has one, whatever the plan, so that an expression is the same everywhere.
	Slots []Value
	// Rows are the registers for the rows themselves that the statement changes.
	Rows []*store.Row
	// Step is set if the execution fetches a row for a cursor.
	Step *Step

	subs []Iterator // of subqueries, by number
	once []any      // what is computed once in an execution, by number; nil until then
	now  time.Time
	// warned says that the client knows of NULLs that an aggregate has left out.
	warned bool
}

// Shape is what a plan needs of a [Run].
type Shape struct{ Slots, Rows, Subqueries, Once int }

// Pool makes and keeps executions of one plan.
type Pool struct {
	Shape Shape
	free  []*Run
}

// maxFree bounds how many idle executions a plan keeps: as many as are likely to wait at the same time.
const maxFree = 4

// Get returns an execution for a frame.
func (p *Pool) Get(x *Frame) *Run {
	if n := len(p.free); n > 0 {
		r := p.free[n-1]
		p.free = p.free[:n-1]
		r.Frame = x
		return r
	}
	return &Run{
		Frame: x, Slots: make([]Value, p.Shape.Slots), Rows: make([]*store.Row, p.Shape.Rows),
		subs: make([]Iterator, p.Shape.Subqueries), once: make([]any, p.Shape.Once),
	}
}

// Put gives an execution back that has ended.
func (p *Pool) Put(r *Run) {
	for _, it := range r.subs {
		if it != nil {
			it.Close()
		}
	}
	if len(p.free) >= maxFree {
		return
	}
	r.Frame, r.Step, r.now, r.warned = nil, nil, time.Time{}, false
	clear(r.Slots)
	clear(r.Rows)
	clear(r.once)
	p.free = append(p.free, r)
}

// Now is the time of the statement: however often it asks, the clock is read once.
func (r *Run) Now() time.Time {
	if r.now.IsZero() {
		r.now = r.Frame.Session.Now()
	}
	return r.now
}

// Info is a fact about the session.
func (r *Run) Info(name string) Value { return r.Frame.Session.Info(name) }

// Random returns 64 random bits.
func (r *Run) Random() uint64 { return r.Frame.Session.Random() }

// Option is the value of a SET option.
func (r *Run) Option(name string) string { return r.Frame.Session.Option(name) }

// warnNull tells the client once that an aggregate has left NULLs out.
func (r *Run) warnNull() {
	if r.warned || r.Option("ANSI_WARNINGS") == "OFF" {
		return
	}
	r.warned = true
	e := fault.New(8153)
	r.Frame.Session.Message(e.Number, e.Class, e.Message)
}

// sub returns the iterator of a subquery.
func (r *Run) sub(number int, op Operator) Iterator {
	if r.subs[number] == nil {
		r.subs[number] = op.Start(r)
	}
	return r.subs[number]
}

// Tuple is where rows are kept that cannot be left in the slots: it knows which slots and row registers to keep.
type Tuple struct {
	Slots []int
	Rows  []int
}

// saved is a row that a Tuple has kept.
type saved struct {
	values []Value
	rows   []*store.Row
}

// save copies the registers.
func (t *Tuple) save(r *Run) saved {
	s := saved{values: make([]Value, len(t.Slots))}
	for i, slot := range t.Slots {
		s.values[i] = r.Slots[slot]
	}
	if len(t.Rows) > 0 {
		s.rows = make([]*store.Row, len(t.Rows))
		for i, slot := range t.Rows {
			s.rows[i] = r.Rows[slot]
		}
	}
	return s
}

// restore copies back what save has copied.
func (t *Tuple) restore(r *Run, s saved) {
	for i, slot := range t.Slots {
		r.Slots[slot] = s.values[i]
	}
	for i, slot := range t.Rows {
		r.Rows[slot] = s.rows[i]
	}
}

// clear makes the registers NULL, as those of the side of an outer join that has no row.
func (t *Tuple) clear(r *Run) {
	for _, slot := range t.Slots {
		r.Slots[slot] = Value{}
	}
	for _, slot := range t.Rows {
		r.Rows[slot] = nil
	}
}
