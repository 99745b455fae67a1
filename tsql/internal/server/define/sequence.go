package define

import (
	"math"
	"math/big"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// createSequence executes CREATE SEQUENCE.
func (d *definer) createSequence(s *syntax.CreateSequence) error {
	in, err := d.place(s.Name, "", "CREATE SEQUENCE")
	if err != nil {
		return err
	}
	q := &schema.Sequence{
		Header: d.header("SO", s.Name.Last().Value, in), Type: Type{Type: sqltype.Type{Kind: sqltype.BigInt}}, Increment: 1,
	}
	if s.Type != nil {
		if q.Type, _, err = ResolveType(d.db, s.Type, d.first()); err != nil {
			return err
		}
	}
	if !q.Type.IsExactInteger() && (q.Type.Kind != sqltype.Decimal || q.Type.Scale != 0) {
		return fault.New(11702, text(s.Name))
	}
	q.Min, q.Max = schema.Bounds(q.Type)
	if err := d.sequence(q, s.Properties); err != nil {
		return err
	}
	start := s.Properties.Start
	if start == "" {
		q.Start = q.Min
		if q.Increment < 0 {
			q.Start = q.Max
		}
	} else if q.Start, err = number(q, "START WITH", start); err != nil {
		return err
	}
	if q.Start < q.Min || q.Start > q.Max {
		return fault.New(11703, text(s.Name))
	}
	q.Next = q.Start
	if err := d.lock(q); err != nil {
		return err
	}
	d.add(q)
	return nil
}

// alterSequence executes ALTER SEQUENCE.
func (d *definer) alterSequence(s *syntax.AlterSequence) error {
	o, err := d.claim(s.Name)
	if err != nil {
		return err
	}
	q, ok := o.(*schema.Sequence)
	if !ok || !d.mayObject("ALTER", q) {
		return fault.New(15151, "alter", "sequence object", text(s.Name))
	}
	next := *q
	if err := d.sequence(&next, s.Properties); err != nil {
		return err
	}
	if s.Restart {
		next.Next, next.Exhausted = next.Start, false
		if s.Properties.Start != "" {
			if next.Next, err = number(&next, "RESTART WITH", s.Properties.Start); err != nil {
				return err
			}
			next.Start = next.Next
		}
	}
	if next.Next < next.Min || next.Next > next.Max {
		return fault.New(11704, big.NewInt(next.Next).String(), text(s.Name))
	}
	set(d, q, next)
	d.modified(q)
	return nil
}

// sequence enters the properties that CREATE and ALTER share.
func (d *definer) sequence(q *schema.Sequence, p syntax.SequenceProperties) error {
	low, high := schema.Bounds(q.Type)
	var err error
	if p.Increment != "" {
		if q.Increment, err = number(q, "INCREMENT BY", p.Increment); err != nil {
			return err
		}
	}
	if p.NoMin {
		q.Min = low
	}
	if p.Min != "" {
		if q.Min, err = number(q, "MINVALUE", p.Min); err != nil {
			return err
		}
	}
	if p.NoMax {
		q.Max = high
	}
	if p.Max != "" {
		if q.Max, err = number(q, "MAXVALUE", p.Max); err != nil {
			return err
		}
	}
	if p.Cycle != "" {
		q.Cycle = p.Cycle == "CYCLE"
	}
	switch {
	case q.Increment == 0:
		return fault.New(11700, q.Name)
	case q.Min >= q.Max:
		return fault.New(11705, q.Name)
	case p.Cache == "0":
		return fault.New(11706, q.Name)
	case new(big.Int).Abs(big.NewInt(q.Increment)).Cmp(new(big.Int).Sub(big.NewInt(q.Max), big.NewInt(q.Min))) > 0:
		return fault.New(11701, q.Name)
	}
	return nil
}

// number reads a property. Bounds beyond bigint, which a decimal may have, are those of bigint here.
func number(q *schema.Sequence, property, text string) (int64, error) {
	n, ok := new(big.Int).SetString(strings.TrimSuffix(text, "."), 10)
	if ok && q.Type.Kind == sqltype.Decimal && !n.IsInt64() {
		if n.Sign() < 0 {
			return math.MinInt64, nil
		}
		return math.MaxInt64, nil
	}
	if !ok || !n.IsInt64() {
		return 0, fault.New(11708, property)
	}
	low, high := schema.Bounds(q.Type)
	if property != "INCREMENT BY" && (n.Int64() < low || n.Int64() > high) {
		return 0, fault.New(11708, property)
	}
	return n.Int64(), nil
}
