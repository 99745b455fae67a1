package execute

import (
	"slices"
	"strings"
)

// Sort yields the rows of its input in another order; rows with the same key stay in the order in which they came.
type Sort struct {
	Input Operator
	Keys  []KeyPart
	Tuple Tuple
	// Distinct leaves out rows whose key has been there.
	Distinct bool
	Text     string
}

// Explain implements Operator.
func (s *Sort) Explain() (string, []Operator) { return s.Text, []Operator{s.Input} }

// Start implements Operator.
func (s *Sort) Start(r *Run) Iterator { return &sorting{sort: s, run: r, input: s.Input.Start(r)} }

type sorting struct {
	sort  *Sort
	run   *Run
	input Iterator
	rows  []keyed
	read  bool
	at    int
}

// keyed is a row with its key.
type keyed struct {
	key string
	row saved
}

func (it *sorting) Open() error {
	it.rows, it.at, it.read = it.rows[:0], 0, false
	return nil
}

// fill reads the input. It is not done by Open, so that a plan that doesn't get here touches nothing.
func (it *sorting) fill() error {
	it.read = true
	if err := it.input.Open(); err != nil {
		return err
	}
	var buf []byte
	for {
		ok, err := it.input.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if buf, _, err = appendKey(it.run, buf[:0], it.sort.Keys); err != nil {
			return err
		}
		it.rows = append(it.rows, keyed{string(buf), it.sort.Tuple.save(it.run)})
	}
	it.input.Close()
	slices.SortStableFunc(it.rows, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	if it.sort.Distinct {
		it.rows = slices.CompactFunc(it.rows, func(a, b keyed) bool { return a.key == b.key })
	}
	return nil
}

func (it *sorting) Next() (bool, error) {
	if !it.read {
		if err := it.fill(); err != nil {
			return false, err
		}
	}
	if it.at == len(it.rows) {
		return false, nil
	}
	it.sort.Tuple.restore(it.run, it.rows[it.at].row)
	it.at++
	return true, nil
}

func (it *sorting) Close() {
	it.input.Close()
	it.rows, it.at, it.read = nil, 0, true
}

// Distinct leaves out rows whose key has been there before.
type Distinct struct {
	Input Operator
	Keys  []KeyPart
	Text  string
}

// Explain implements Operator.
func (d *Distinct) Explain() (string, []Operator) { return d.Text, []Operator{d.Input} }

// Start implements Operator.
func (d *Distinct) Start(r *Run) Iterator {
	return &distinguishing{distinct: d, run: r, input: d.Input.Start(r)}
}

type distinguishing struct {
	distinct *Distinct
	run      *Run
	input    Iterator
	seen     map[string]struct{}
	key      []byte
}

func (it *distinguishing) Open() error {
	it.seen = map[string]struct{}{}
	return it.input.Open()
}

func (it *distinguishing) Next() (bool, error) {
	for {
		if ok, err := it.input.Next(); !ok {
			return false, err
		}
		key, _, err := appendKey(it.run, it.key[:0], it.distinct.Keys)
		if err != nil {
			return false, err
		}
		it.key = key
		if _, ok := it.seen[string(key)]; !ok {
			it.seen[string(key)] = struct{}{}
			return true, nil
		}
	}
}

func (it *distinguishing) Close() {
	it.input.Close()
	it.seen = nil
}
