package execute

// JoinKind says what becomes of rows without a match.
type JoinKind uint8

// The kinds. Of LeftJoin, the left input's rows stay.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	FullJoin
)

func (k JoinKind) String() string { return [...]string{"inner", "left", "full"}[k] }

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

// FullLoop is FULL JOIN by nested loops: the right input is read once and kept, and what has met no row of the left one
// comes last.
type FullLoop struct {
	Left, Right         Operator
	On                  []Cond
	LeftSide, RightSide Tuple
	Text                string
}

// Explain implements Operator.
func (j *FullLoop) Explain() (string, []Operator) { return j.Text, []Operator{j.Left, j.Right} }

// Start implements Operator.
func (j *FullLoop) Start(r *Run) Iterator {
	return &fullLooping{join: j, run: r, left: j.Left.Start(r), right: j.Right.Start(r)}
}

type fullLooping struct {
	join        *FullLoop
	run         *Run
	left, right Iterator
	rows        []saved
	met         []bool
	at          int
	inner       bool
	matched     bool
	last        bool // the left input has ended
}

func (it *fullLooping) Open() error {
	it.rows, it.at, it.inner, it.last = it.rows[:0], 0, false, false
	var err error
	if it.rows, err = readAll(it.run, it.right, &it.join.RightSide, it.rows); err != nil {
		return err
	}
	it.met = make([]bool, len(it.rows))
	return it.left.Open()
}

func (it *fullLooping) Next() (bool, error) {
	for !it.last {
		if !it.inner {
			ok, err := it.left.Next()
			if err != nil {
				return false, err
			}
			if !ok {
				it.last, it.at = true, 0
				break
			}
			it.inner, it.matched, it.at = true, false, 0
		}
		for it.at < len(it.rows) {
			it.join.RightSide.restore(it.run, it.rows[it.at])
			it.at++
			ok, err := holds(it.run, it.join.On)
			if err != nil {
				return false, err
			}
			if ok {
				it.matched, it.met[it.at-1] = true, true
				return true, nil
			}
		}
		it.inner = false
		if !it.matched {
			it.join.RightSide.clear(it.run)
			return true, nil
		}
	}
	return it.rest(), nil
}

// rest yields the rows of the right input that have met none of the left one.
func (it *fullLooping) rest() bool {
	for it.at < len(it.rows) {
		i := it.at
		it.at++
		if !it.met[i] {
			it.join.LeftSide.clear(it.run)
			it.join.RightSide.restore(it.run, it.rows[i])
			return true
		}
	}
	return false
}

func (it *fullLooping) Close() {
	it.left.Close()
	it.right.Close()
	it.rows = nil
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
