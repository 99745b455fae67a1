package schema

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// compatTruncation is the compatibility level from which on an error about a value that is too long says which one.
const compatTruncation = 150

// maxTruncated is how many characters of such a value the error shows.
const maxTruncated = 120

// Truncated returns error 2628 (or 8152) if the value was too long for the column, and any other error as it is.
func (t *Table) Truncated(err error, c *Column, v value.Value, from Type) error {
	if !errors.Is(err, value.ErrTruncated) {
		return err
	}
	if t.Schema != nil && t.Schema.Database != nil && t.Schema.Database.CompatibilityLevel < compatTruncation {
		return fault.New(8152)
	}
	length := maxTruncated
	if c.Type.Length > 0 {
		length = min(length, c.Type.Length)
	}
	shown := ""
	if c.Type.IsCharacter() {
		to := Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: length}, Collation: c.Type.Collation}
		if cut, err := value.Convert(v, from, to, 0); err == nil {
			shown = cut.Str()
		}
	}
	return fault.New(2628, t.FullName(), c.Name, shown)
}

// Give returns the next value of an identity column. It stays given whatever happens to the row.
func (id *Identity) Give(c *Column) (value.Value, error) {
	if id.exhausted(c.Type) {
		return value.Value{}, fault.New(8115, "IDENTITY", c.Type.String())
	}
	n := id.Next
	id.Last = &n
	id.advance(n)
	if c.Type.Kind == sqltype.Decimal {
		return value.Convert(value.OfInt(n), value.OfKind(sqltype.BigInt), c.Type, 0)
	}
	return value.OfInt(n), nil
}

// Note takes a value that was inserted with IDENTITY_INSERT: what comes next is beyond it.
func (id *Identity) Note(n int64) {
	if id.Increment > 0 && n >= id.Next || id.Increment < 0 && n <= id.Next {
		id.Last = &n
		id.advance(n)
	}
}

// advance makes the value after n the next one. Beyond bigint it stays at the end, which exhausted notices.
func (id *Identity) advance(n int64) {
	switch {
	case id.Increment > 0 && n > math.MaxInt64-id.Increment, id.Increment < 0 && n < math.MinInt64-id.Increment:
		id.Next, id.over = n, true
	default:
		id.Next = n + id.Increment
	}
}

// Reseed makes n the current value, as DBCC CHECKIDENT does. The first row of a table that never had one gets n itself.
func (id *Identity) Reseed(n int64) {
	id.over = false
	if id.Last == nil {
		id.Next = n
		return
	}
	id.Last = &n
	id.advance(n)
}

// Restart makes the seed the next value, as TRUNCATE does.
func (id *Identity) Restart() { id.Next, id.Last, id.over = id.Seed, nil, false }

// exhausted reports whether the next value is one that the type can't hold.
func (id *Identity) exhausted(t Type) bool {
	low, high := Bounds(t)
	return id.over || id.Next < low || id.Next > high
}

// EndOfTime is the end of the period of a row that is valid now.
func EndOfTime(t Type) value.Value {
	const ticksPerDay = 864_000_000_000
	unit := int64(1)
	for range 7 - t.Scale {
		unit *= 10
	}
	const lastDay = 3652058 // 9999-12-31
	return value.OfDateTime2(lastDay, ticksPerDay-unit)
}

// Bounds are the smallest and the largest value of an integer type; those of a decimal end with bigint's.
func Bounds(t Type) (low, high int64) {
	switch t.Kind {
	case sqltype.TinyInt:
		return 0, math.MaxUint8
	case sqltype.SmallInt:
		return math.MinInt16, math.MaxInt16
	case sqltype.Int:
		return math.MinInt32, math.MaxInt32
	case sqltype.Decimal:
		if t.Precision < 19 {
			high = 1
			for range t.Precision {
				high *= 10
			}
			return 1 - high, high - 1
		}
	default: // bigint
	}
	return math.MinInt64, math.MaxInt64
}

// NextRowVersion returns a value for a rowversion column, which is greater than all before it in the database.
func (db *Database) NextRowVersion() value.Value {
	db.rowVersion++
	return db.LastRowVersion()
}

// firstRowVersion is what @@DBTS says of a database in which no row has a version.
const firstRowVersion = 2000

// LastRowVersion is @@DBTS.
func (db *Database) LastRowVersion() value.Value {
	return value.OfBytes(binary.BigEndian.AppendUint64(nil, firstRowVersion+db.rowVersion))
}

// Give returns the next value of a sequence. A rollback does not take it back.
func (s *Sequence) Give() (value.Value, error) {
	if s.Exhausted {
		return value.Value{}, fault.New(11728, s.Name)
	}
	n := s.Next
	s.Used = true
	switch {
	case s.Increment > 0 && uint64(s.Max-n) < uint64(s.Increment),
		s.Increment < 0 && uint64(n-s.Min) < uint64(-s.Increment):
		s.wrap()
	default:
		s.Next = n + s.Increment
	}
	if s.Type.Kind == sqltype.Decimal {
		return value.Convert(value.OfInt(n), value.OfKind(sqltype.BigInt), s.Type, 0)
	}
	return value.OfInt(n), nil
}

// wrap goes on from the other end, if the sequence cycles.
func (s *Sequence) wrap() {
	switch {
	case !s.Cycle:
		s.Exhausted = true
	case s.Increment > 0:
		s.Next = s.Min
	default:
		s.Next = s.Max
	}
}
