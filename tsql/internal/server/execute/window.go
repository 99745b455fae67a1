package execute

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// WindowCall is a function with OVER.
type WindowCall struct {
	Args []Expr
	Slot int // where the result goes
	// Eval returns the values for all rows of a partition. Peers says for each row where the rows begin that ORDER BY
	// takes for equal to it. Skipped says that an aggregate has left a NULL out.
	Eval func(r *Run, args [][]Value, peers []int) (values []Value, skipped bool, err error)
	// Number is set for ROW_NUMBER, which needs to see no other row.
	Number bool
}

// Window computes functions over partitions of its input. Its rows come out partition by partition, and in the order of
// OVER within each.
type Window struct {
	Input     Operator
	Partition []KeyPart
	Order     []KeyPart
	Sorted    bool // the input comes in that order
	Tuple     Tuple
	Calls     []WindowCall
	Text      string
}

// Explain implements Operator.
func (w *Window) Explain() (string, []Operator) { return w.Text, []Operator{w.Input} }

// Start implements Operator.
func (w *Window) Start(r *Run) Iterator {
	numbers := !slices.ContainsFunc(w.Calls, func(c WindowCall) bool { return !c.Number })
	if w.Sorted && numbers {
		return &numbering{window: w, run: r, input: w.Input.Start(r)}
	}
	return &windowing{window: w, run: r, input: w.Input.Start(r)}
}

// windowing reads all rows, sorts them and computes partition by partition.
type windowing struct {
	window *Window
	run    *Run
	input  Iterator
	rows   []windowed
	read   bool
	at     int
	done   int // rows of partitions that have been computed
}

// windowed is a row with its partition, its place in it, and what has been computed.
type windowed struct {
	partition, order string
	row              saved
	results          []Value
}

func (it *windowing) Open() error {
	it.rows, it.read, it.at, it.done = nil, false, 0, 0
	return nil
}

func (it *windowing) fill() error {
	it.read = true
	if err := it.input.Open(); err != nil {
		return err
	}
	for {
		ok, err := it.input.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		partition, _, err := appendKey(it.run, nil, it.window.Partition)
		if err != nil {
			return err
		}
		order, _, err := appendKey(it.run, nil, it.window.Order)
		if err != nil {
			return err
		}
		it.rows = append(it.rows, windowed{partition: string(partition), order: string(order), row: it.window.Tuple.save(it.run)})
	}
	it.input.Close()
	if !it.window.Sorted {
		slices.SortStableFunc(it.rows, func(a, b windowed) int {
			if c := strings.Compare(a.partition, b.partition); c != 0 {
				return c
			}
			return strings.Compare(a.order, b.order)
		})
	}
	return nil
}

func (it *windowing) Next() (bool, error) {
	if !it.read {
		if err := it.fill(); err != nil {
			return false, err
		}
	}
	if it.at == len(it.rows) {
		return false, nil
	}
	if it.at == it.done {
		if err := it.compute(); err != nil {
			return false, err
		}
	}
	row := &it.rows[it.at]
	it.at++
	it.window.Tuple.restore(it.run, row.row)
	for i := range it.window.Calls {
		it.run.Slots[it.window.Calls[i].Slot] = row.results[i]
	}
	return true, nil
}

// compute computes the functions for the partition that begins at the present row.
func (it *windowing) compute() error {
	from, to := it.at, it.at
	for to < len(it.rows) && it.rows[to].partition == it.rows[from].partition {
		to++
	}
	part := it.rows[from:to]
	peers := make([]int, len(part))
	for i := range part {
		part[i].results = make([]Value, len(it.window.Calls))
		if i > 0 && part[i].order == part[i-1].order {
			peers[i] = peers[i-1]
		} else {
			peers[i] = i
		}
	}
	for c := range it.window.Calls {
		call := &it.window.Calls[c]
		args := make([][]Value, len(part))
		for i := range part {
			it.window.Tuple.restore(it.run, part[i].row)
			args[i] = make([]Value, len(call.Args))
			for k, x := range call.Args {
				var err error
				if args[i][k], err = x(it.run); err != nil {
					return err
				}
			}
		}
		values, skipped, err := call.Eval(it.run, args, peers)
		if err != nil {
			return err
		}
		if skipped {
			it.run.warnNull()
		}
		for i := range part {
			part[i].results[c] = values[i]
		}
	}
	it.done = to
	return nil
}

func (it *windowing) Close() {
	it.input.Close()
	it.rows, it.at, it.read = nil, 0, true
}

// numbering computes ROW_NUMBER of rows that come in order: it keeps none of them.
type numbering struct {
	window    *Window
	run       *Run
	input     Iterator
	partition string
	number    int64
}

func (it *numbering) Open() error {
	it.partition, it.number = "", 0
	return it.input.Open()
}

func (it *numbering) Next() (bool, error) {
	if ok, err := it.input.Next(); !ok {
		return false, err
	}
	key, _, err := appendKey(it.run, nil, it.window.Partition)
	if err != nil {
		return false, err
	}
	if string(key) != it.partition {
		it.partition, it.number = string(key), 0
	}
	it.number++
	for i := range it.window.Calls {
		it.run.Slots[it.window.Calls[i].Slot] = value.OfInt(it.number)
	}
	return true, nil
}

func (it *numbering) Close() { it.input.Close() }
