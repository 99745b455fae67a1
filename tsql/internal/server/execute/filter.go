package execute

// One yields a single row without columns: what a SELECT without FROM reads.
type One struct{}

// Explain implements Operator.
func (One) Explain() (string, []Operator) { return "one row", nil }

// Start implements Operator.
func (One) Start(*Run) Iterator { return &oneRow{} }

type oneRow struct{ done bool }

func (it *oneRow) Open() error { it.done = false; return nil }
func (it *oneRow) Close()      {}
func (it *oneRow) Next() (bool, error) {
	done := it.done
	it.done = true
	return !done, nil
}

// Filter leaves out the rows for which a condition isn't true. Conditions in Startup do not depend on the rows: they
// are tested once, before the input is opened.
type Filter struct {
	Input      Operator
	Startup    []Cond
	Conditions []Cond
	Text       string
}

// Explain implements Operator.
func (f *Filter) Explain() (string, []Operator) { return f.Text, []Operator{f.Input} }

// Start implements Operator.
func (f *Filter) Start(r *Run) Iterator {
	return &filtering{filter: f, run: r, input: f.Input.Start(r)}
}

type filtering struct {
	filter *Filter
	run    *Run
	input  Iterator
	empty  bool
}

func (it *filtering) Open() error {
	ok, err := holds(it.run, it.filter.Startup)
	it.empty = !ok
	if err != nil || it.empty {
		return err
	}
	return it.input.Open()
}

func (it *filtering) Next() (bool, error) {
	if it.empty {
		return false, nil
	}
	for {
		if ok, err := it.input.Next(); !ok {
			return false, err
		}
		if ok, err := holds(it.run, it.filter.Conditions); ok || err != nil {
			return ok, err
		}
	}
}

func (it *filtering) Close() { it.input.Close() }

// Assign puts the value of an expression into a slot.
type Assign struct {
	Slot  int
	Value Expr
}

// Compute adds columns to the rows of its input.
type Compute struct {
	Input  Operator
	Assign []Assign
	Text   string
}

// Explain implements Operator.
func (c *Compute) Explain() (string, []Operator) { return c.Text, []Operator{c.Input} }

// Start implements Operator.
func (c *Compute) Start(r *Run) Iterator {
	return &computing{compute: c, run: r, input: c.Input.Start(r)}
}

type computing struct {
	compute *Compute
	run     *Run
	input   Iterator
}

func (it *computing) Open() error { return it.input.Open() }
func (it *computing) Close()      { it.input.Close() }

func (it *computing) Next() (bool, error) {
	if ok, err := it.input.Next(); !ok {
		return false, err
	}
	return row(assign(it.run, it.compute.Assign))
}

func assign(r *Run, list []Assign) error {
	for _, a := range list {
		v, err := a.Value(r)
		if err != nil {
			return err
		}
		r.Slots[a.Slot] = v
	}
	return nil
}

// Rows yields rows that somebody hands over: a VALUES list, a catalog view, a table function, ….
type Rows struct {
	// Open returns a function that puts the next row into the slots, or reports that there is none.
	Open func(r *Run) (func() (bool, error), error)
	Text string
}

// Explain implements Operator.
func (o *Rows) Explain() (string, []Operator) { return o.Text, nil }

// Start implements Operator.
func (o *Rows) Start(r *Run) Iterator { return &handing{rows: o, run: r} }

type handing struct {
	rows *Rows
	run  *Run
	next func() (bool, error)
}

func (it *handing) Open() (err error) { it.next, err = it.rows.Open(it.run); return err }
func (it *handing) Close()            { it.next = nil }

func (it *handing) Next() (bool, error) {
	if it.next == nil {
		return false, nil
	}
	return it.next()
}

// FromSlice hands over rows that are there at once. Columns says which of their values go into which slots.
func FromSlice(r *Run, rows [][]Value, columns []Load) func() (bool, error) {
	return func() (bool, error) {
		if len(rows) == 0 {
			return false, nil
		}
		for _, c := range columns {
			r.Slots[c.Slot] = rows[0][c.Ordinal]
		}
		rows = rows[1:]
		return true, nil
	}
}

// Values yields the rows of a VALUES list: each has a list of what goes into the slots.
func Values(rows [][]Assign, text string) *Rows {
	return &Rows{Text: text, Open: func(r *Run) (func() (bool, error), error) {
		i := 0
		return func() (bool, error) {
			if i == len(rows) {
				return false, nil
			}
			i++
			return row(assign(r, rows[i-1]))
		}, nil
	}}
}
