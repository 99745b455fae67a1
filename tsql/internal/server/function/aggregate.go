package function

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Aggregate is a call of an aggregate that is ready to be evaluated.
type Aggregate struct {
	Type value.Type
	// Nullable is for a query without GROUP BY, which may have no row at all.
	Nullable bool
	// Args has for each argument the type to which the planner converts it implicitly; Invalid leaves it as it is.
	Args []value.Type
	// New begins a group.
	New func() Accumulator
}

// Accumulator aggregates the rows of a group. DISTINCT is within: an accumulator sees to it itself.
type Accumulator interface {
	// Add takes the arguments of a row, none for COUNT(*). STRING_AGG and the JSON aggregates depend on the order of
	// the rows, which WITHIN GROUP says and the planner makes.
	Add(args []value.Value) error
	// Result is that of the rows so far; more may be added afterwards.
	Result() (value.Value, error)
	// SkippedNull reports whether a NULL was left out, of which the server warns (8153).
	SkippedNull() bool
}

// aggregates are by name.
var aggregates = map[string]func(c *bindCall) (*Aggregate, error){
	"COUNT":                 bindCount,
	"COUNT_BIG":             bindCount,
	"APPROX_COUNT_DISTINCT": bindCount,
	"SUM":                   bindSum,
	"AVG":                   bindSum,
	"MIN":                   bindMinMax,
	"MAX":                   bindMinMax,
	"STDEV":                 bindStatistic,
	"STDEVP":                bindStatistic,
	"VAR":                   bindStatistic,
	"VARP":                  bindStatistic,
	"STRING_AGG":            bindStringAgg,
	"CHECKSUM_AGG":          bindChecksumAgg,
	"JSON_ARRAYAGG":         bindJSONAggregate,
	"JSON_OBJECTAGG":        bindJSONAggregate,
}

// BindAggregate prepares a call of an aggregate. GROUPING and GROUPING_ID are the planner's.
func BindAggregate(call *syntax.Call, args []Argument) (*Aggregate, error) {
	c, err := check(call, args)
	if err != nil {
		return nil, err
	}
	bind, ok := aggregates[c.name]
	if !ok {
		return nil, unsupported("%s as an aggregate", c.name)
	}
	a, err := bind(c)
	if err != nil {
		return nil, err
	}
	a.Type = c.result
	a.Nullable = c.function.Nullable(c.known, builtin.Rows{Empty: true})
	for len(a.Args) < len(args) {
		a.Args = append(a.Args, value.Type{})
	}
	if call.Distinct && len(args) > 1 {
		return nil, fault.New(102, ",") // STRING_AGG (DISTINCT x, y) is not in the grammar
	}
	if call.Distinct && c.name != "MIN" && c.name != "MAX" {
		begin, t := a.New, c.converted(0, a.Args[0])
		a.New = func() Accumulator { return &distinct{inner: begin(), t: t, seen: map[string]bool{}} }
	}
	return a, nil
}

// distinct passes each value once.
type distinct struct {
	inner Accumulator
	t     value.Type
	seen  map[string]bool
	key   []byte
}

func (d *distinct) Add(args []value.Value) error {
	if !args[0].IsNull() {
		d.key = value.AppendKey(d.key[:0], args[0], d.t, false)
		if d.seen[string(d.key)] {
			return nil
		}
		d.seen[string(d.key)] = true
	}
	return d.inner.Add(args)
}

func (d *distinct) Result() (value.Value, error) { return d.inner.Result() }
func (d *distinct) SkippedNull() bool            { return d.inner.SkippedNull() }

// nulls counts NULLs out, for the accumulators to be made of.
type nulls struct{ skipped bool }

func (n *nulls) skip(v value.Value) bool {
	n.skipped = n.skipped || v.IsNull()
	return v.IsNull()
}

func (n *nulls) SkippedNull() bool { return n.skipped }

// bindCount is COUNT and COUNT_BIG, and APPROX_COUNT_DISTINCT, which is exact here.
func bindCount(c *bindCall) (*Aggregate, error) {
	if len(c.args) == 1 && c.args[0].Type.IsLOB() && !c.args[0].Type.IsMax() {
		return nil, fault.New(8117, c.args[0].Type.Type.Kind, "count")
	}
	small := c.name == "COUNT"
	begin := func() Accumulator { return &counter{small: small} }
	if c.name == "APPROX_COUNT_DISTINCT" {
		t := c.args[0].Type
		return &Aggregate{New: func() Accumulator { return &distinct{inner: begin(), t: t, seen: map[string]bool{}} }}, nil
	}
	return &Aggregate{New: begin}, nil
}

type counter struct {
	nulls
	small bool
	n     int64
}

func (c *counter) Add(args []value.Value) error {
	if len(args) == 0 || !c.skip(args[0]) {
		c.n++
	}
	return nil
}

func (c *counter) Result() (value.Value, error) {
	if c.small && c.n != int64(int32(c.n)) {
		return value.Value{}, overflow("int")
	}
	return value.OfInt(c.n), nil
}

// bindMinMax keeps the least or the greatest value. Of equal ones it is the first.
func bindMinMax(c *bindCall) (*Aggregate, error) {
	t, want := c.args[0].Type, -1
	if c.name == "MAX" {
		want = 1
	}
	return &Aggregate{New: func() Accumulator { return &extreme{t: t, want: want} }}, nil
}

type extreme struct {
	nulls
	t    value.Type
	want int
	best value.Value
}

func (e *extreme) Add(args []value.Value) error {
	if !e.skip(args[0]) && (e.best.IsNull() || value.Compare(args[0], e.best, e.t) == e.want) {
		e.best = args[0]
	}
	return nil
}

func (e *extreme) Result() (value.Value, error) { return e.best, nil }

// bindChecksumAgg depends on no order.
func bindChecksumAgg(*bindCall) (*Aggregate, error) {
	return &Aggregate{Args: []value.Type{typeInt}, New: func() Accumulator { return &checksum{} }}, nil
}

type checksum struct {
	nulls
	sum   int64
	valid bool
}

func (c *checksum) Add(args []value.Value) error {
	if !c.skip(args[0]) {
		c.sum, c.valid = c.sum^args[0].Int(), true
	}
	return nil
}

func (c *checksum) Result() (value.Value, error) {
	if !c.valid {
		return value.Value{}, nil
	}
	return value.OfInt(c.sum), nil
}

// bindStringAgg puts texts together, with a separator between that is the one of the later row. NULL is left out with
// its separator.
func bindStringAgg(c *bindCall) (*Aggregate, error) {
	text := value.Type{Type: c.result.Type, Collation: c.collation()}
	if c.args[0].Type.IsCharacter() {
		text = c.text(0)
	}
	result := c.result
	return &Aggregate{
		Args: []value.Type{text, c.text(1)},
		New:  func() Accumulator { return &stringAgg{t: result} },
	}, nil
}

type stringAgg struct {
	nulls
	t     value.Type
	dst   []byte
	valid bool
}

func (a *stringAgg) Add(args []value.Value) error {
	if a.skip(args[0]) {
		return nil
	}
	if a.valid && !args[1].IsNull() {
		a.add(args[1].Str())
	}
	a.valid = true
	a.add(args[0].Str())
	return a.check()
}

// add appends a text. Halves of a surrogate pair that meet become one character.
func (a *stringAgg) add(s string) {
	if s != "" && s[0] == 0xED {
		r, size := value.DecodeRune(s)
		a.dst, s = value.AppendRune(a.dst, r), s[size:]
	}
	a.dst = append(a.dst, s...)
}

// check refuses a result that is longer than its type: 8,000 bytes unless it is a (max) type.
func (a *stringAgg) check() error {
	if a.t.IsMax() || len(a.dst) <= a.t.Length {
		return value.CheckSize(int64(len(a.dst)))
	}
	var length int
	if a.t.IsNational() {
		length = value.UTF16Len(string(a.dst))
	} else {
		length = len(value.EncodeVarchar(nil, string(a.dst), a.t.Collation))
	}
	if length > a.t.Length {
		return fault.New(9829)
	}
	return nil
}

func (a *stringAgg) Result() (value.Value, error) {
	if !a.valid {
		return value.Value{}, nil
	}
	return value.OfString(string(a.dst)), nil
}

// Aggregates returns the names of all functions that [BindAggregate] binds, sorted.
func Aggregates() []string { return slices.Sorted(maps.Keys(aggregates)) }
