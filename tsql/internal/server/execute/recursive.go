package execute

import "github.com/duroxide/duroxide-go/tsql/internal/server/fault"

// Recursive is a common table expression that reads itself: the anchor's rows, and then what the steps make of each row
// that has come out. A step finds the one row that it goes on from in slots of its own, which a [Work] stands for. The
// row that came last is taken up first, as from SQL Server's stack.
type Recursive struct {
	Anchor  Branch
	Steps   []Branch
	Columns []int // slots of the columns
	Work    []int // slots in which the steps find them
	Limit   int   // MAXRECURSION; 0 for none
	Text    string
}

// Explain implements Operator.
func (o *Recursive) Explain() (string, []Operator) {
	inputs := []Operator{o.Anchor.Input}
	for _, s := range o.Steps {
		inputs = append(inputs, s.Input)
	}
	return o.Text, inputs
}

// Start implements Operator.
func (o *Recursive) Start(r *Run) Iterator {
	it := &recurring{recursive: o, run: r, anchor: o.Anchor.Input.Start(r)}
	for _, s := range o.Steps {
		it.steps = append(it.steps, s.Input.Start(r))
	}
	return it
}

type recurring struct {
	recursive *Recursive
	run       *Run
	anchor    Iterator
	steps     []Iterator
	stack     []level
	anchored  bool // the anchor has ended
	step      int  // that is being read; -1 if none is
	depth     int  // of the rows that it makes
}

// level is a row that the steps have still to take up.
type level struct {
	row   []Value
	depth int
}

func (it *recurring) Open() error {
	it.stack, it.anchored, it.step, it.depth = it.stack[:0], false, -1, 0
	return it.anchor.Open()
}

func (it *recurring) Next() (bool, error) {
	if !it.anchored {
		if ok, err := it.nextOfAnchor(); ok || err != nil {
			return ok, err
		}
	}
	for it.step >= 0 || len(it.stack) > 0 {
		if it.step < 0 {
			if err := it.pop(); err != nil {
				return false, err
			}
		}
		if ok, err := it.nextOfStep(); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// nextOfAnchor takes the anchor's next row, if there is one.
func (it *recurring) nextOfAnchor() (bool, error) {
	ok, err := it.anchor.Next()
	if err != nil {
		return false, err
	}
	if !ok {
		it.anchor.Close()
		it.anchored = true
		return false, nil
	}
	if err := assign(it.run, it.recursive.Anchor.Assign); err != nil {
		return false, err
	}
	it.push(0)
	return true, nil
}

// nextOfStep takes the next row of the present step. If there is none, it goes on to the next step.
func (it *recurring) nextOfStep() (bool, error) {
	ok, err := it.steps[it.step].Next()
	if err != nil {
		return false, err
	}
	if !ok {
		it.steps[it.step].Close()
		if it.step++; it.step == len(it.steps) {
			it.step = -1
			return false, nil
		}
		return false, it.steps[it.step].Open()
	}
	if err := assign(it.run, it.recursive.Steps[it.step].Assign); err != nil {
		return false, err
	}
	if limit := it.recursive.Limit; limit > 0 && it.depth > limit {
		return false, fault.New(530, limit)
	}
	it.push(it.depth)
	return true, nil
}

// push remembers the present row for the steps.
func (it *recurring) push(depth int) {
	row := make([]Value, len(it.recursive.Columns))
	for i, slot := range it.recursive.Columns {
		row[i] = it.run.Slots[slot]
	}
	it.stack = append(it.stack, level{row, depth})
}

// pop begins with the steps of the row that came last.
func (it *recurring) pop() error {
	top := it.stack[len(it.stack)-1]
	it.stack = it.stack[:len(it.stack)-1]
	for i, slot := range it.recursive.Work {
		it.run.Slots[slot] = top.row[i]
	}
	it.step, it.depth = 0, top.depth+1
	return it.steps[0].Open()
}

func (it *recurring) Close() {
	it.anchor.Close()
	for _, s := range it.steps {
		s.Close()
	}
	it.stack, it.anchored, it.step = nil, true, -1
}
