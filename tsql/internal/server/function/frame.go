package function

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// frame is the part of a partition that a window function sees from a row.
type frame struct {
	rows     bool // ROWS: bounds count rows; else RANGE: they go by peers
	from, to bound
}

// bound is one end of a frame: a number of rows from the present one, negative before it.
type bound struct {
	unbounded bool
	n         int
}

// parseFrame reads what stands in OVER behind ORDER BY, as the parser has written it; empty is what holds without.
func parseFrame(text string, ordered bool) (frame, error) {
	if text == "" {
		return frame{from: bound{unbounded: true}, to: bound{unbounded: !ordered}}, nil
	}
	words := strings.Fields(text)
	f := frame{rows: words[0] == "ROWS"}
	rest := words[1:]
	var err error
	if len(rest) > 0 && rest[0] == "BETWEEN" {
		and := 0
		for and < len(rest) && rest[and] != "AND" {
			and++
		}
		if and == len(rest) {
			return f, unsupported("the frame %s", text)
		}
		if f.from, err = parseBound(rest[1:and], "PRECEDING"); err != nil {
			return f, err
		}
		f.to, err = parseBound(rest[and+1:], "FOLLOWING")
	} else {
		f.from, err = parseBound(rest, "PRECEDING")
	}
	if err != nil {
		return f, err
	}
	if !f.rows && (f.from.n != 0 || f.to.n != 0) {
		return f, fault.New(4194)
	}
	if !f.from.unbounded && !f.to.unbounded && f.from.n > f.to.n {
		return f, fault.New(4193, text)
	}
	return f, nil
}

// parseBound reads CURRENT ROW, UNBOUNDED PRECEDING, n FOLLOWING and so on. Side is where UNBOUNDED may point.
func parseBound(words []string, side string) (bound, error) {
	if len(words) != 2 {
		return bound{}, unsupported("the frame bound %s", strings.Join(words, " "))
	}
	switch {
	case words[0] == "CURRENT":
		return bound{}, nil
	case words[0] == "UNBOUNDED" && words[1] == side:
		return bound{unbounded: true}, nil
	case words[0] == "UNBOUNDED":
		return bound{}, fault.New(4193, strings.Join(words, " "))
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return bound{}, unsupported("the frame bound %s", strings.Join(words, " "))
	}
	if words[1] == "PRECEDING" {
		n = -n
	}
	return bound{n: n}, nil
}

// rowsOf returns the rows of a partition that the frame of a row has, from the first up to but not including the last.
// They may be none.
func (f frame) rowsOf(p *Partition, row int) (from, to int) {
	from, to = 0, p.Rows
	if !f.from.unbounded {
		from = row + f.from.n
		if !f.rows {
			from = p.peersFrom(row)
		}
	}
	if !f.to.unbounded {
		to = row + f.to.n + 1
		if !f.rows {
			to = p.peersTo(row)
		}
	}
	from, to = min(max(from, 0), p.Rows), min(max(to, 0), p.Rows)
	return from, max(from, to)
}
