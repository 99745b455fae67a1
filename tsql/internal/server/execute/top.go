package execute

import (
	"math"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// Top yields the first rows of its input. The expressions are computed when it is opened; they have type bigint, and
// Count is a float if Percent is set. A nil expression is none.
type Top struct {
	Input   Operator
	Skip    Expr // of OFFSET
	Count   Expr // of TOP, or FETCH if Fetch is set
	Fetch   bool
	Percent bool
	Ties    []KeyPart // rows with the key of the last one come too
	Tuple   Tuple     // of Percent: the rows are counted before the first is sent
	Text    string
}

// Explain implements Operator.
func (t *Top) Explain() (string, []Operator) { return t.Text, []Operator{t.Input} }

// Start implements Operator.
func (t *Top) Start(r *Run) Iterator { return &limiting{top: t, run: r, input: t.Input.Start(r)} }

type limiting struct {
	top   *Top
	run   *Run
	input Iterator
	left  int64 // rows still to come
	rows  []saved
	at    int
	last  string // the key of the last row, for ties
	some  bool
	done  bool
}

func (it *limiting) Open() error {
	it.left, it.rows, it.at, it.some, it.done = math.MaxInt64, nil, 0, false, false
	skip, err := it.count(it.top.Skip, 10743, 10742, 0)
	if err != nil {
		return err
	}
	switch {
	case it.top.Count == nil || it.top.Percent:
	case it.top.Fetch:
		it.left, err = it.count(it.top.Count, 10745, 10744, 1)
	default:
		it.left, err = it.count(it.top.Count, 1060, 1014, 0)
	}
	if err != nil {
		return err
	}
	if it.left == 0 {
		it.done = true
		return nil
	}
	if it.top.Percent {
		return it.percent()
	}
	if err := it.input.Open(); err != nil {
		return err
	}
	for ; skip > 0; skip-- {
		ok, err := it.input.Next()
		if err != nil {
			return err
		}
		if !ok {
			it.done = true
			return nil
		}
	}
	return nil
}

// count computes the number of rows to skip or to take. Nil is none.
func (it *limiting) count(x Expr, null, tooSmall int32, least int64) (int64, error) {
	if x == nil {
		return 0, nil
	}
	v, err := x(it.run)
	switch {
	case err != nil:
		return 0, err
	case v.IsNull():
		return 0, invalid(null)
	case v.Int() < least:
		return 0, invalid(tooSmall)
	default:
		return v.Int(), nil
	}
}

// invalid is the error for a number of rows that only the execution shows to be wrong: it ends the statement alone.
func invalid(number int32) error {
	e := fault.New(number)
	e.Scope = fault.Statement
	return e
}

// percent reads all rows to know how many a share of them is, which is rounded up.
func (it *limiting) percent() error {
	v, err := it.top.Count(it.run)
	if err != nil {
		return err
	}
	if v.IsNull() || v.Float() < 0 || v.Float() > 100 {
		return invalid(1031)
	}
	if it.rows, err = readAll(it.run, it.input, &it.top.Tuple, nil); err != nil {
		return err
	}
	it.left = int64(math.Ceil(float64(len(it.rows)) * v.Float() / 100))
	it.done = it.left == 0
	return nil
}

func (it *limiting) Next() (bool, error) {
	if it.done {
		return false, nil
	}
	if it.left == 0 && len(it.top.Ties) == 0 {
		it.done = true
		return false, nil
	}
	ok, err := it.read()
	if err != nil || !ok {
		it.done = true
		return false, err
	}
	if it.left > 0 {
		it.left--
		if it.left > 0 || len(it.top.Ties) == 0 {
			return true, nil
		}
		key, _, err := appendKey(it.run, nil, it.top.Ties)
		it.last = string(key)
		return err == nil, err
	}
	key, _, err := appendKey(it.run, nil, it.top.Ties)
	if err != nil || string(key) != it.last {
		it.done = true
		return false, err
	}
	return true, nil
}

func (it *limiting) read() (bool, error) {
	if !it.top.Percent {
		return it.input.Next()
	}
	if it.at == len(it.rows) {
		return false, nil
	}
	it.top.Tuple.restore(it.run, it.rows[it.at])
	it.at++
	return true, nil
}

func (it *limiting) Close() {
	it.input.Close()
	it.rows, it.done = nil, true
}
