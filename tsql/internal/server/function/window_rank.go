package function

import (
	"cmp"
	"math"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// ranking makes a window function of one that says the value of a row by its place.
func ranking(of func(p *Partition, row int) value.Value) windowBinder {
	return func(*bindCall, Over, frame) (*Window, error) {
		return &Window{Eval: func(_ Environment, p *Partition) ([]value.Value, error) {
			out := make([]value.Value, p.Rows)
			for row := range out {
				out[row] = of(p, row)
			}
			return out, nil
		}}, nil
	}
}

func percentRank(p *Partition, row int) value.Value {
	if p.Rows == 1 {
		return value.OfFloat(0)
	}
	return value.OfFloat(float64(p.peersFrom(row)) / float64(p.Rows-1))
}

func bindDenseRank(*bindCall, Over, frame) (*Window, error) {
	return &Window{Eval: func(_ Environment, p *Partition) ([]value.Value, error) {
		out, rank := make([]value.Value, p.Rows), int64(0)
		for row := range out {
			if row == 0 || p.peersFrom(row) == row {
				rank++
			}
			out[row] = value.OfInt(rank)
		}
		return out, nil
	}}, nil
}

// bindNTile deals the rows out to groups of the same size, of which the first ones may have one more.
func bindNTile(c *bindCall, _ Over, _ frame) (*Window, error) {
	if n, ok := c.args[0].literalInt(); ok && n < 1 {
		return nil, fault.New(4116)
	}
	return &Window{Args: []value.Type{typeBigInt}, Eval: func(_ Environment, p *Partition) ([]value.Value, error) {
		out := make([]value.Value, p.Rows)
		for row := range out {
			v := p.args(row)[0]
			if v.IsNull() || v.Int() < 1 {
				return nil, fault.New(4116)
			}
			groups, total := v.Int(), int64(p.Rows)
			size, larger := total/groups, total%groups
			i := int64(row)
			if i < larger*(size+1) {
				out[row] = value.OfInt(i/(size+1) + 1)
			} else {
				out[row] = value.OfInt(larger + (i-larger*(size+1))/size + 1)
			}
		}
		return out, nil
	}}, nil
}

// bindShift is LAG and LEAD: the value of a row some rows away, or the default where there is none. IGNORE NULLS counts
// only rows with a value.
func bindShift(c *bindCall, _ Over, _ frame) (*Window, error) {
	direction, ignore := 1, c.syntax.Nulls == "IGNORE NULLS"
	if c.name == "LAG" {
		direction = -1
	}
	types := []value.Type{asIs, typeBigInt, c.args[0].Type}[:len(c.args)]
	if c.args[0].Type.Kind == sqltype.Null && len(types) == 3 {
		types[2] = c.result
	}
	return &Window{Args: types, Eval: func(_ Environment, p *Partition) ([]value.Value, error) {
		out := make([]value.Value, p.Rows)
		for row := range out {
			args, n := p.args(row), int64(1)
			if len(args) > 1 {
				if args[1].IsNull() || args[1].Int() < 0 {
					return nil, fault.New(8730)
				}
				n = args[1].Int()
			}
			at, found := p.shifted(row, n, direction, ignore)
			switch {
			case found:
				out[row] = p.args(at)[0]
			case len(args) > 2:
				out[row] = args[2]
			}
		}
		return out, nil
	}}, nil
}

// shifted returns the row that is n rows away.
func (p *Partition) shifted(row int, n int64, direction int, ignore bool) (int, bool) {
	if n == 0 {
		return row, true
	}
	if !ignore {
		if n > int64(p.Rows) {
			return 0, false
		}
		at := row + int(n)*direction
		return at, at >= 0 && at < p.Rows
	}
	for at := row + direction; at >= 0 && at < p.Rows; at += direction {
		if p.args(at)[0].IsNull() {
			continue
		}
		if n--; n == 0 {
			return at, true
		}
	}
	return 0, false
}

// bindEnd is FIRST_VALUE and LAST_VALUE: one end of the frame.
func bindEnd(c *bindCall, _ Over, f frame) (*Window, error) {
	first, ignore := c.name == "FIRST_VALUE", c.syntax.Nulls == "IGNORE NULLS"
	return &Window{Eval: func(_ Environment, p *Partition) ([]value.Value, error) {
		out := make([]value.Value, p.Rows)
		for row := range out {
			from, to := f.rowsOf(p, row)
			step, at := 1, from
			if !first {
				step, at = -1, to-1
			}
			for ; at >= from && at < to; at += step {
				if v := p.args(at)[0]; !ignore || !v.IsNull() {
					out[row] = v
					break
				}
			}
		}
		return out, nil
	}}, nil
}

// bindPercentile is PERCENTILE_CONT, which lies between two values, and PERCENTILE_DISC, which is one of them. NULLs
// don't count.
func bindPercentile(c *bindCall, over Over, _ frame) (*Window, error) {
	continuous, t := c.name == "PERCENTILE_CONT", over.Within.Type
	w := &Window{Type: typeFloat, Args: []value.Type{typeFloat, typeFloat}}
	if !continuous {
		w.Type, w.Args[1] = t, asIs
	}
	w.Eval = func(_ Environment, p *Partition) ([]value.Value, error) {
		out := make([]value.Value, p.Rows)
		if p.Rows == 0 {
			return out, nil
		}
		v := p.args(0)[0]
		if v.IsNull() || v.Float() < 0 || v.Float() > 1 {
			return nil, fault.New(1023, 1, "percentile")
		}
		var values []value.Value
		for row := range out {
			if v := p.args(row)[1]; !v.IsNull() {
				values = append(values, v)
			}
		}
		slices.SortStableFunc(values, func(a, b value.Value) int {
			order := cmp.Compare(a.Float(), b.Float())
			if !continuous {
				order = value.Compare(a, b, t)
			}
			if over.Desc {
				order = -order
			}
			return order
		})
		result := percentile(values, v.Float(), continuous)
		for row := range out {
			out[row] = result
		}
		return out, nil
	}
	return w, nil
}

// percentile returns the value at a part of a sorted list.
func percentile(values []value.Value, part float64, continuous bool) value.Value {
	n := len(values)
	if n == 0 {
		return value.Value{}
	}
	if !continuous {
		return values[max(0, int(math.Ceil(part*float64(n)))-1)]
	}
	at := part * float64(n-1)
	low, high := values[int(math.Floor(at))].Float(), values[int(math.Ceil(at))].Float()
	return value.OfFloat(low + (high-low)*(at-math.Floor(at)))
}
