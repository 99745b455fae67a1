package execute

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Place says where the data of a table reference is.
type Place uint8

// The places.
const (
	InCatalog  Place = iota // a table of a database, or a temporary one: Source.Table
	InVariable              // a table variable or parameter: Frame.Tables[Source.Slot]
	InInserted              // a trigger's pseudo-tables
	InDeleted
)

// Source is a table that a plan reads. Table is what it was planned for: of a table variable the data are another's.
type Source struct {
	Place Place
	Table *schema.Table
	Slot  int
}

// In returns the table with its data; nil if a variable has never been written to.
func (s *Source) In(x *Frame) *schema.Table {
	switch s.Place {
	case InVariable:
		return x.Tables[s.Slot]
	case InInserted:
		return x.Inserted
	case InDeleted:
		return x.Deleted
	default:
		return s.Table
	}
}

// Load copies a column into a slot.
type Load struct{ Ordinal, Slot int }

// Scan reads rows of a table through an index: all of them, or those of a [Seek].
type Scan struct {
	Source  Source
	Index   int32 // its id in the table, which that of a variable shares with what the plan was made for
	Seek    *Seek // nil reads all
	Reverse bool
	Hints   Hints
	Grain   store.Grain // what the locks are on at first
	Lookup  bool        // columns are read that the index does not have
	Write   bool        // the rows are going to be changed
	Qualify bool        // nothing but this scan decides which rows are changed, so that they can be locked after they have been found
	Row     int         // the register for the row itself; -1 if nobody needs it
	// First are the columns that the index has, and Early the conditions on them, which are tested before the row is
	// looked up. Rest and Late are the others.
	First []Load
	Early []Cond
	Rest  []Load
	Late  []Cond
	// Place is the number, from 1, of a scan whose rows are those of a cursor; 0 for others. See [Step].
	Place int
	// Exact reads one row by its key; nil reads what Seek says.
	Exact *Exact
	Text  string
}

// Explain implements Operator.
func (s *Scan) Explain() (string, []Operator) { return s.Text, nil }

// Start implements Operator.
func (s *Scan) Start(r *Run) Iterator {
	it := &scanning{scan: s, run: r}
	if s.Lookup && len(s.Early) > 0 {
		it.filter = it.early
	}
	return it
}

// scanning is the state of a Scan.
type scanning struct {
	scan    *Scan
	run     *Run
	filter  func(values []Value) (bool, error)
	table   *schema.Table
	store   *store.Statement
	access  store.Access
	ranges  []store.Range
	next    int // of ranges
	reverse bool
	missed  bool          // no row has been found
	current *store.Cursor // nil, or the cursor
	cursor  store.Cursor
	keys    keyMaker
}

// Open implements Iterator.
func (it *scanning) Open() error {
	it.Close()
	it.ranges, it.next = it.ranges[:0], 0
	it.table = it.scan.Source.In(it.run.Frame)
	if it.table == nil || it.table.Data == nil {
		return nil
	}
	if err := it.find(); err != nil || len(it.ranges) == 0 {
		return err
	}
	if it.reverse {
		slices.Reverse(it.ranges)
	}
	var err error
	it.store = it.run.Frame.Session.Statement()
	if it.table.Data.Private {
		it.access = store.Access{Keep: store.KeepStatement}
	} else if it.access, err = it.scan.Hints.access(it.run, it.store, it.scan.Write, it.scan.Qualify); err != nil {
		return err
	}
	if it.access.Read == store.Locked {
		it.access.Grain = max(it.access.Grain, it.scan.Grain)
	}
	it.access.Lookup, it.access.Filter = it.scan.Lookup, it.filter
	return nil
}

// find decides which parts of the index are read, and in which direction.
func (it *scanning) find() (err error) {
	it.reverse = it.scan.Reverse
	if it.scan.Exact != nil {
		it.ranges, err = it.scan.Exact.ranges(it.run, it.ranges)
		it.missed = len(it.ranges) > 0
		return err
	}
	if it.ranges, err = it.scan.Seek.ranges(it.run, &it.keys, it.ranges); err != nil {
		return err
	}
	if step := it.run.Step; step != nil && it.scan.Place > 0 {
		it.reverse = it.reverse != step.Backward
		it.ranges = step.narrow(it.scan.Place-1, it.reverse, it.ranges)
	}
	return nil
}

// Next implements Iterator.
func (it *scanning) Next() (bool, error) {
	for {
		if it.current == nil {
			if it.next == len(it.ranges) {
				return false, it.ended()
			}
			it.current = &it.cursor
			it.store.ScanWith(it.current, it.table.IndexByID(it.scan.Index).Data, it.ranges[it.next], it.reverse, it.access)
			it.next++
		}
		ok, err := it.current.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			it.current.Close()
			it.current = nil
			continue
		}
		if ok, err = it.take(it.current.Values()); err != nil {
			return false, err
		}
		if ok && it.access.Qualify {
			ok, err = it.qualify()
			if err != nil {
				return false, err
			}
		}
		if ok {
			it.current.Keep()
			if it.scan.Row >= 0 {
				it.run.Rows[it.scan.Row] = it.current.Row()
			}
			return row(it.noted())
		}
	}
}

// qualify locks the row, and tests it once more if it has changed since it was found.
func (it *scanning) qualify() (bool, error) {
	same, ok, err := it.current.Qualify()
	if same || !ok || err != nil {
		return ok, err
	}
	values := it.current.Values()
	if it.filter != nil {
		if ok, err := it.filter(values); !ok {
			return false, err
		}
	}
	return it.take(values)
}

// noted tells those who want to know that there is a row.
func (it *scanning) noted() error {
	if it.run.Step != nil && it.scan.Place > 0 {
		it.run.Step.note(it.scan.Place-1, it.current, it.table.Data)
	}
	it.missed = false
	if x := it.scan.Exact; x != nil {
		return x.Found(it.run, it.current.Row(), it.current.Values())
	}
	return nil
}

// ended says that there are no more rows.
func (it *scanning) ended() error {
	if it.missed {
		it.missed = false
		return it.scan.Exact.Missed(it.run)
	}
	return nil
}

// early is the filter that the store asks before it looks a row up.
func (it *scanning) early(values []Value) (bool, error) {
	it.load(it.scan.First, values)
	return holds(it.run, it.scan.Early)
}

// take loads the row's columns and tests the conditions.
func (it *scanning) take(values []Value) (bool, error) {
	it.load(it.scan.First, values)
	if it.filter == nil {
		if ok, err := holds(it.run, it.scan.Early); !ok {
			return false, err
		}
	}
	it.load(it.scan.Rest, values)
	return holds(it.run, it.scan.Late)
}

func (it *scanning) load(list []Load, values []Value) {
	for _, l := range list {
		it.run.Slots[l.Slot] = values[l.Ordinal]
	}
}

// Close implements Iterator.
func (it *scanning) Close() {
	if it.current != nil {
		it.current.Close()
		it.current = nil
	}
	it.next = len(it.ranges)
}

// Seek says which part of an index is read: keys that begin with given values, and perhaps a range of the column after
// those.
type Seek struct {
	Keys []SeekKey
	// Low and High bound the column that follows; nil leaves that end open. Column is nil if neither is set.
	Column    *KeyColumn
	Low, High *SeekBound
}

// KeyColumn says how a column is encoded in an index.
type KeyColumn struct {
	Type     value.Type
	Desc     bool
	Nullable bool
}

// SeekKey is a column that equals one of some values.
type SeekKey struct {
	KeyColumn
	Values []SeekValue
}

// SeekValue is what a column equals: a value already converted to the column's type. NULL equals nothing unless
// IsNull is set: then the column is to be NULL itself.
type SeekValue struct {
	Value  Expr
	IsNull bool
}

// SeekBound is an end of a range.
type SeekBound struct {
	Value Expr
	Open  bool
}

// keyMaker keeps the memory in which keys are made.
type keyMaker struct {
	prefixes []string
	buffer   []byte
}

// ranges returns the parts of the index in the order of the keys. A nil Seek is all of it. None are returned if nothing
// can match, because a value is NULL.
func (s *Seek) ranges(r *Run, made *keyMaker, out []store.Range) ([]store.Range, error) {
	if s == nil {
		return append(out, store.Range{}), nil
	}
	prefixes, err := s.prefixes(r, made)
	if err != nil || len(prefixes) == 0 {
		return out, err
	}
	bounds, ok, err := s.bounds(r)
	if err != nil || !ok {
		return out, err
	}
	for _, p := range prefixes {
		out = append(out, rangeAfter(bounds, p))
	}
	return out, nil
}

// prefixes are what the keys begin with, in order and each once; none if a value is NULL where only IS NULL would find
// it.
func (s *Seek) prefixes(r *Run, made *keyMaker) ([]string, error) {
	if s.single() {
		made.buffer = made.buffer[:0]
		for i := range s.Keys {
			v, ok, err := s.Keys[i].Values[0].of(r)
			if err != nil || !ok {
				return nil, err
			}
			made.buffer = value.AppendKey(made.buffer, v, s.Keys[i].Type, s.Keys[i].Desc)
		}
		made.prefixes = append(made.prefixes[:0], string(made.buffer))
		return made.prefixes, nil
	}
	made.prefixes = append(made.prefixes[:0], "")
	prefixes := made.prefixes
	for i := range s.Keys {
		var err error
		if prefixes, err = s.Keys[i].extend(r, prefixes); err != nil || len(prefixes) == 0 {
			return nil, err
		}
	}
	slices.Sort(prefixes)
	made.prefixes = slices.Compact(prefixes)
	return made.prefixes, nil
}

// single reports whether each column equals one value.
func (s *Seek) single() bool {
	for i := range s.Keys {
		if len(s.Keys[i].Values) != 1 {
			return false
		}
	}
	return true
}

// of computes the value; false means that nothing equals it.
func (v *SeekValue) of(r *Run) (Value, bool, error) {
	if v.IsNull {
		return Value{}, true, nil
	}
	val, err := v.Value(r)
	return val, !val.IsNull(), err
}

// extend appends the column's values to each of the prefixes.
func (k *SeekKey) extend(r *Run, prefixes []string) ([]string, error) {
	base := slices.Clone(prefixes)
	out := prefixes[:0]
	for _, v := range k.Values {
		val, ok, err := v.of(r)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		for _, p := range base {
			out = append(out, string(value.AppendKey([]byte(p), val, k.Type, k.Desc)))
		}
	}
	return out, nil
}

// bounds encodes the ends of the range without what stands before the column. The second result is false if nothing can
// be between them.
func (s *Seek) bounds(r *Run) (store.Range, bool, error) {
	var out store.Range
	if s.Column == nil {
		return out, true, nil
	}
	low, ok, err := s.encode(r, s.Low)
	if err != nil || !ok {
		return out, false, err
	}
	high, ok, err := s.encode(r, s.High)
	if err != nil || !ok {
		return out, false, err
	}
	if low == nil && s.Column.Nullable {
		// x < 5 is not true of NULL, which sorts before everything.
		low = &end{key: string(value.AppendKey(nil, Value{}, s.Column.Type, s.Column.Desc)), open: true}
	}
	if s.Column.Desc {
		low, high = high, low
	}
	if low != nil {
		out.Low, out.HasLow, out.LowOpen = low.key, true, low.open
	}
	if high != nil {
		out.High, out.HasHigh, out.HighOpen = high.key, true, high.open
	}
	return out, true, nil
}

// end is an encoded end of a range.
type end struct {
	key  string
	open bool
}

// encode computes a bound. False means that it is NULL, so that nothing matches.
func (s *Seek) encode(r *Run, b *SeekBound) (*end, bool, error) {
	if b == nil {
		return nil, true, nil
	}
	v, err := b.Value(r)
	if err != nil || v.IsNull() {
		return nil, false, err
	}
	return &end{key: string(value.AppendKey(nil, v, s.Column.Type, s.Column.Desc)), open: b.Open}, true, nil
}

// rangeAfter puts a prefix in front of a range. An end that was open to all keys is then open to those with the prefix.
func rangeAfter(b store.Range, prefix string) store.Range {
	if prefix == "" {
		return b
	}
	b.Low, b.High = prefix+b.Low, prefix+b.High
	b.HasLow, b.HasHigh = true, true
	return b
}
