package execute

// JoinKind says what becomes of rows without a match.
type JoinKind uint8

// The kinds. Of LeftJoin, the left input's rows stay.
const (
	InnerJoin JoinKind = iota
	LeftJoin
)

func (k JoinKind) String() string { return [...]string{"inner", "left"}[k] }

// Loop is the join by nested loops: for each row of the left input the right one is opened anew, which reads the left
// row's slots where it depends on them.
type Loop struct {
	Left, Right Operator
	Kind        JoinKind
	On          []Cond
	Missing     Tuple // the right side's registers, which are NULL in a row without a match
	Text        string
}

// Explain implements Operator.
func (j *Loop) Explain() (string, []Operator) { return j.Text, []Operator{j.Left, j.Right} }

// Start implements Operator.
func (j *Loop) Start(r *Run) Iterator {
	return &looping{join: j, run: r, left: j.Left.Start(r), right: j.Right.Start(r)}
}

type looping struct {
	join        *Loop
	run         *Run
	left, right Iterator
	inner       bool // the right side is open
	matched     bool
}

func (it *looping) Open() error {
	it.inner = false
	return it.left.Open()
}

func (it *looping) Next() (bool, error) {
	for {
		if !it.inner {
			if ok, err := it.left.Next(); !ok {
				return false, err
			}
			if err := it.right.Open(); err != nil {
				return false, err
			}
			it.inner, it.matched = true, false
		}
		ok, err := it.right.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			it.right.Close()
			it.inner = false
			if it.join.Kind == LeftJoin && !it.matched {
				it.join.Missing.clear(it.run)
				return true, nil
			}
			continue
		}
		if ok, err = holds(it.run, it.join.On); err != nil {
			return false, err
		}
		if ok {
			it.matched = true
			return true, nil
		}
	}
}

func (it *looping) Close() {
	it.right.Close()
	it.left.Close()
	it.inner = false
}

// readAll opens an input, saves all its rows and closes it.
func readAll(r *Run, input Iterator, t *Tuple, into []saved) ([]saved, error) {
	if err := input.Open(); err != nil {
		return into, err
	}
	for {
		ok, err := input.Next()
		if err != nil {
			return into, err
		}
		if !ok {
			input.Close()
			return into, nil
		}
		into = append(into, t.save(r))
	}
}
