package execute

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Subquery is a plan that an expression executes, under a number that no other of the statement has.
type Subquery struct {
	Number int
	Plan   Operator
}

// open starts the subquery for the present outer row.
func (s *Subquery) open(r *Run) (Iterator, error) {
	it := r.sub(s.Number, s.Plan)
	if err := it.Open(); err != nil {
		it.Close()
		return nil, err
	}
	return it, nil
}

// Scalar is the value of the subquery's only row; NULL without one.
func (s *Subquery) Scalar(column Expr) Expr {
	return func(r *Run) (Value, error) {
		it, err := s.open(r)
		if err != nil {
			return Value{}, err
		}
		defer it.Close()
		ok, err := it.Next()
		if err != nil || !ok {
			return Value{}, err
		}
		v, err := column(r)
		if err != nil {
			return Value{}, err
		}
		if ok, err = it.Next(); ok {
			return Value{}, fault.New(512)
		}
		return v, err
	}
}

// Once makes an expression one that is computed once in an execution: number is that of the result.
func Once(number int, x Expr) Expr {
	return func(r *Run) (Value, error) {
		if v, ok := r.once[number].(Value); ok {
			return v, nil
		}
		v, err := x(r)
		if err == nil {
			r.once[number] = v
		}
		return v, err
	}
}

// OnceTrue is Once for a condition.
func OnceTrue(number int, x Cond) Cond {
	return func(r *Run) (Truth, error) {
		if t, ok := r.once[number].(Truth); ok {
			return t, nil
		}
		t, err := x(r)
		if err == nil {
			r.once[number] = t
		}
		return t, err
	}
}

// members are the values of a subquery's column.
type members struct {
	keys map[string]struct{}
	null bool // NULL is one of them
}

// Member says whether a value is in the subquery's column. The subquery is read once in an execution; number is that of
// what it has yielded.
func (s *Subquery) Member(number int, x KeyPart, column Expr) Cond {
	return func(r *Run) (Truth, error) {
		m, ok := r.once[number].(*members)
		if !ok {
			m = &members{keys: map[string]struct{}{}}
			err := s.Each(r, []Expr{column}, func(row []Value) error {
				if row[0].IsNull() {
					m.null = true
				} else {
					m.keys[string(value.AppendKey(nil, row[0], x.Type, false))] = struct{}{}
				}
				return nil
			})
			if err != nil {
				return False, err
			}
			r.once[number] = m
		}
		v, err := x.Value(r)
		switch {
		case err != nil:
			return False, err
		case len(m.keys) == 0 && !m.null:
			return False, nil
		case v.IsNull():
			return Unknown, nil
		}
		if _, ok := m.keys[string(value.AppendKey(nil, v, x.Type, false))]; ok {
			return True, nil
		}
		if m.null {
			return Unknown, nil
		}
		return False, nil
	}
}

// Exists says whether there is a row.
func (s *Subquery) Exists() Cond {
	return func(r *Run) (Truth, error) {
		it, err := s.open(r)
		if err != nil {
			return False, err
		}
		defer it.Close()
		ok, err := it.Next()
		return TruthOf(ok), err
	}
}

// Any says whether the comparison holds for one of the rows: it is unknown if it is for one and holds for none.
func (s *Subquery) Any(compare Cond) Cond { return s.quantified(compare, True) }

// All says whether the comparison holds for all rows.
func (s *Subquery) All(compare Cond) Cond { return s.quantified(compare, False) }

// quantified looks for a row for which the comparison has the deciding outcome.
func (s *Subquery) quantified(compare Cond, decides Truth) Cond {
	return func(r *Run) (Truth, error) {
		it, err := s.open(r)
		if err != nil {
			return False, err
		}
		defer it.Close()
		out := decides.Not()
		for {
			ok, err := it.Next()
			if err != nil || !ok {
				return out, err
			}
			t, err := compare(r)
			if err != nil || t == decides {
				return t, err
			}
			if t == Unknown {
				out = Unknown
			}
		}
	}
}

// Each calls f with the columns of each row. The slice is used again for the next row.
func (s *Subquery) Each(r *Run, columns []Expr, f func(row []Value) error) error {
	it, err := s.open(r)
	if err != nil {
		return err
	}
	defer it.Close()
	row := make([]Value, len(columns))
	for {
		ok, err := it.Next()
		if err != nil || !ok {
			return err
		}
		for i, x := range columns {
			if row[i], err = x(r); err != nil {
				return err
			}
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// Rows opens the plan and returns its iterator, which the caller closes.
func (s *Subquery) Rows(r *Run) (Iterator, error) { return s.open(r) }
