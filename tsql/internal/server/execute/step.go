package execute

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// Spot is a row of a table that a cursor of T-SQL is on.
type Spot struct {
	Row    *store.Row
	Values []Value // as they were read
	Key    string  // in the index through which the row is found again; "" if an outer join has no row
	Base   string  // in the clustered index or the heap
}

// Step is how an execution goes on from the row that a cursor is on: the scans of the plan, one in the other, begin
// where each of them was.
type Step struct {
	From     []Spot // by Scan.Place - 1; nil for the beginning, or for the end if Backward
	Backward bool
	Now      []Spot // of the present row
	Missed   bool   // a row that was to be read by its key is gone
	Strict   bool   // the row may not have changed since From

	at int // how many of the outer scans are on their row of From
}

// NewStep prepares an execution for a number of scans.
func NewStep(from []Spot, backward bool, scans int) *Step {
	return &Step{From: from, Backward: backward, Now: make([]Spot, scans)}
}

// narrow leaves out what comes before the place of a scan. The innermost scan goes on behind it; the others begin with
// it.
func (s *Step) narrow(place int, down bool, ranges []store.Range) []store.Range {
	if s.From == nil || s.at != place {
		return ranges
	}
	key, last := s.From[place].Key, place == len(s.From)-1
	out := ranges[:0]
	for _, r := range ranges {
		if down {
			if r.HasLow && r.Low > key {
				continue
			}
			if !r.HasHigh || key < r.High || strings.HasPrefix(key, r.High) {
				r.High, r.HasHigh, r.HighOpen = key, true, last
			}
		} else {
			if r.HasHigh && r.High < key && !strings.HasPrefix(key, r.High) {
				continue
			}
			if !r.HasLow || key >= r.Low {
				r.Low, r.HasLow, r.LowOpen = key, true, last
			}
		}
		out = append(out, r)
	}
	return out
}

// note keeps the row that a scan has come to.
func (s *Step) note(place int, c *store.Cursor, t *store.Table) {
	row, values := c.Row(), c.Values()
	s.Now[place] = Spot{Row: row, Values: values, Key: c.Key(), Base: t.BaseKey(row, values)}
	s.at = min(s.at, place)
	if s.From != nil && s.at == place && s.From[place].Key == c.Key() {
		s.at = place + 1
	}
}

// Exact makes a scan read one row, whatever its conditions.
type Exact struct {
	// Key returns the row's key in the scan's index; "" if there is none to be read.
	Key func(r *Run) (string, error)
	// Found is asked about the row, which is locked; Missed is called if there is none.
	Found  func(r *Run, row *store.Row, values []Value) error
	Missed func(r *Run) error
}

// ranges returns the range of the row.
func (x *Exact) ranges(r *Run, out []store.Range) ([]store.Range, error) {
	key, err := x.Key(r)
	if err != nil || key == "" {
		return out, err
	}
	return append(out, store.Range{Low: key, High: key, HasLow: true, HasHigh: true}), nil
}
