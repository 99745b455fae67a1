package function

import (
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Over is what the planner knows of OVER (…), with the named windows that it refers to put in.
type Over struct {
	Ordered bool   // there is an ORDER BY
	Frame   string // the ROWS or RANGE clause as syntax.Window has it; empty if there is none
	// Within is of PERCENTILE_CONT and PERCENTILE_DISC: the value that WITHIN GROUP orders by, and how. The planner
	// passes it as a second argument of the rows, and need not order them.
	Within Argument
	Desc   bool
}

// Window is a call with OVER that is ready to be evaluated.
type Window struct {
	Type     value.Type
	Nullable bool
	// Args has for each argument the type to which the planner converts it implicitly; Invalid leaves it as it is.
	Args []value.Type
	// Eval returns the values of the call for all rows of a partition, in their order.
	Eval func(env Environment, p *Partition) ([]value.Value, error)
}

// Partition is the rows of one partition, in the order of OVER.
type Partition struct {
	Rows int
	Args [][]value.Value // the arguments of the call for each row; nil if it has none
	// Peers says for each row where its group of peers begins: the rows that ORDER BY takes for equal. Without ORDER BY
	// all rows are peers, and Peers may be nil.
	Peers []int
	// SkippedNull is set by Eval when an aggregate has left a NULL out, of which the server warns (8153).
	SkippedNull bool

	ends []int // the row behind each row's peers, once somebody has asked
}

// peersFrom returns the first peer of a row, and peersTo the row behind the last one.
func (p *Partition) peersFrom(row int) int {
	if p.Peers == nil {
		return 0
	}
	return p.Peers[row]
}

func (p *Partition) peersTo(row int) int {
	if p.Peers == nil {
		return p.Rows
	}
	if p.ends == nil {
		p.ends = make([]int, p.Rows)
		end := p.Rows
		for i := p.Rows - 1; i >= 0; i-- {
			p.ends[i] = end
			if p.Peers[i] == i {
				end = i
			}
		}
	}
	return p.ends[row]
}

// windowBinder prepares a window function that is no aggregate.
type windowBinder func(c *bindCall, over Over, f frame) (*Window, error)

var windows = map[string]windowBinder{
	"ROW_NUMBER":   ranking(func(_ *Partition, row int) value.Value { return value.OfInt(int64(row) + 1) }),
	"RANK":         ranking(func(p *Partition, row int) value.Value { return value.OfInt(int64(p.peersFrom(row)) + 1) }),
	"DENSE_RANK":   bindDenseRank,
	"PERCENT_RANK": ranking(percentRank),
	"CUME_DIST": ranking(func(p *Partition, row int) value.Value {
		return value.OfFloat(float64(p.peersTo(row)) / float64(p.Rows))
	}),
	"NTILE":           bindNTile,
	"LAG":             bindShift,
	"LEAD":            bindShift,
	"FIRST_VALUE":     bindEnd,
	"LAST_VALUE":      bindEnd,
	"PERCENTILE_CONT": bindPercentile,
	"PERCENTILE_DISC": bindPercentile,
}

// BindWindow prepares a call with OVER, of a window function or of an aggregate.
func BindWindow(call *syntax.Call, args []Argument, over Over) (*Window, error) {
	c, err := check(call, args)
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(c.name)
	f, err := parseFrame(over.Frame, over.Ordered)
	if err != nil {
		return nil, err
	}
	var w *Window
	if bind, ok := windows[c.name]; ok {
		framed := c.name == "FIRST_VALUE" || c.name == "LAST_VALUE"
		switch {
		case over.Frame != "" && !framed:
			return nil, fault.New(10752, name)
		case !over.Ordered && !strings.HasPrefix(c.name, "PERCENTILE"):
			return nil, fault.New(4112, name)
		}
		w, err = bind(c, over, f)
	} else {
		w, err = bindOver(call, args, f)
	}
	if err != nil {
		return nil, err
	}
	if w.Type.Kind == sqltype.Invalid {
		w.Type = c.result
	}
	w.Nullable = c.function.Nullable(c.known, builtin.Rows{Over: true, Framed: f.mayBeEmpty()})
	for len(w.Args) < len(args) {
		w.Args = append(w.Args, value.Type{})
	}
	return w, nil
}

// mayBeEmpty reports whether a frame may have no rows: it ends before the present row, or begins behind it.
func (f frame) mayBeEmpty() bool {
	return !f.from.unbounded && f.from.n > 0 || !f.to.unbounded && f.to.n < 0
}

// bindOver is an aggregate over a window.
func bindOver(call *syntax.Call, args []Argument, f frame) (*Window, error) {
	if call.Distinct {
		return nil, fault.New(10759)
	}
	a, err := BindAggregate(call, args)
	if err != nil {
		return nil, err
	}
	return &Window{Args: a.Args, Eval: func(_ Environment, p *Partition) ([]value.Value, error) {
		if f.from.unbounded {
			return p.grow(a, f)
		}
		return p.slide(a, f)
	}}, nil
}

// args returns the arguments of a row.
func (p *Partition) args(row int) []value.Value {
	if p.Args == nil {
		return nil
	}
	return p.Args[row]
}

// grow evaluates frames that all begin with the first row: each adds to the one before.
func (p *Partition) grow(a *Aggregate, f frame) ([]value.Value, error) {
	out := make([]value.Value, p.Rows)
	sum, done, last := a.New(), 0, -1
	var result value.Value
	for row := range out {
		_, to := f.rowsOf(p, row)
		for ; done < to; done++ {
			if err := sum.Add(p.args(done)); err != nil {
				return nil, err
			}
		}
		if to != last {
			var err error
			if result, err = sum.Result(); err != nil {
				return nil, err
			}
			last = to
		}
		out[row] = result
	}
	p.SkippedNull = p.SkippedNull || sum.SkippedNull()
	return out, nil
}

// slide evaluates each frame anew.
func (p *Partition) slide(a *Aggregate, f frame) ([]value.Value, error) {
	out := make([]value.Value, p.Rows)
	for row := range out {
		from, to := f.rowsOf(p, row)
		sum := a.New()
		for i := from; i < to; i++ {
			if err := sum.Add(p.args(i)); err != nil {
				return nil, err
			}
		}
		var err error
		if out[row], err = sum.Result(); err != nil {
			return nil, err
		}
		p.SkippedNull = p.SkippedNull || sum.SkippedNull()
	}
	return out, nil
}

// Windows returns the names of the functions that only [BindWindow] binds, sorted. It binds aggregates too.
func Windows() []string { return slices.Sorted(maps.Keys(windows)) }
