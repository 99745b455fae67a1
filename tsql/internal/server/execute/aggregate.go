package execute

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Accumulator takes the rows of a group one by one. Package function has them.
type Accumulator interface {
	Add(args []Value) error
	Result() (Value, error)
	SkippedNull() bool
}

// Call is an aggregate that is computed for each group.
type Call struct {
	New   func(r *Run) Accumulator
	Args  []Expr
	Slot  int       // where the result goes
	Order []KeyPart // WITHIN GROUP (ORDER BY …)
}

// GroupKey is an expression by which rows are grouped. The group has its value in Slot.
type GroupKey struct {
	KeyPart

	Slot int
}

// Grouping is GROUPING or GROUPING_ID: a bit for each of some keys, 1 if the row is not grouped by it.
type Grouping struct {
	Keys []int
	Slot int
}

// Aggregate yields a row per group. Without keys all rows are one group, which is there also when it is empty.
type Aggregate struct {
	Input Operator
	Keys  []GroupKey
	// Sets are the grouping sets, as indexes into Keys. Nil is one of all keys.
	Sets     [][]int
	Calls    []Call
	Grouping []Grouping
	// First says that one row that has no NULL in the first call's argument decides: MIN and MAX of sorted rows.
	First bool
	Text  string
}

// Explain implements Operator.
func (a *Aggregate) Explain() (string, []Operator) { return a.Text, []Operator{a.Input} }

// Start implements Operator.
func (a *Aggregate) Start(r *Run) Iterator {
	it := &aggregating{aggregate: a, run: r, input: a.Input.Start(r), sets: a.Sets}
	if it.sets == nil {
		all := make([]int, len(a.Keys))
		for i := range all {
			all[i] = i
		}
		it.sets = [][]int{all}
	}
	return it
}

type aggregating struct {
	aggregate *Aggregate
	run       *Run
	input     Iterator
	sets      [][]int
	groups    [][]*group // by grouping set
	read      bool
	set, at   int
	args      []Value
	key       []byte // of a group, while it is looked for
}

// group is a group with its aggregates.
type group struct {
	keys  []Value
	calls []accumulating
}

// accumulating is an aggregate of a group.
type accumulating struct {
	Accumulator

	rows []ordered
}

// ordered is a row of an aggregate that takes its rows in an order.
type ordered struct {
	key  string
	args []Value
}

func (it *aggregating) Open() error {
	it.groups, it.read, it.set, it.at = nil, false, 0, 0
	return nil
}

func (it *aggregating) Next() (bool, error) {
	if !it.read {
		if err := it.fill(); err != nil {
			return false, err
		}
	}
	for it.set < len(it.sets) && it.at == len(it.groups[it.set]) {
		it.set, it.at = it.set+1, 0
	}
	if it.set == len(it.sets) {
		return false, nil
	}
	g := it.groups[it.set][it.at]
	it.at++
	return row(it.yield(g, it.sets[it.set]))
}

// fill reads the input.
func (it *aggregating) fill() error {
	it.read = true
	found := it.begin()
	if err := it.input.Open(); err != nil {
		return err
	}
	keys := make([]Value, len(it.aggregate.Keys))
	for {
		ok, err := it.input.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		for i := range keys {
			if keys[i], err = it.aggregate.Keys[i].Value(it.run); err != nil {
				return err
			}
		}
		for i := range it.sets {
			var g *group
			if len(it.sets[i]) == 0 {
				g = it.groups[i][0]
			} else {
				g = it.groupOf(i, keys, found[i])
			}
			if err := it.add(g); err != nil {
				return err
			}
		}
		if it.aggregate.First && len(it.args) > 0 && !it.args[0].IsNull() {
			break
		}
	}
	it.input.Close()
	return nil
}

// begin makes the groups of the grouping sets without keys, and returns where groups are found by their keys: nil if
// none of the sets has any.
func (it *aggregating) begin() (found []map[string]*group) {
	it.groups = make([][]*group, len(it.sets))
	for i := range it.sets {
		if len(it.sets[i]) == 0 {
			it.groups[i] = []*group{it.newGroup()}
			continue
		}
		if found == nil {
			found = make([]map[string]*group, len(it.sets))
		}
		found[i] = map[string]*group{}
	}
	return found
}

// groupOf returns the group that a row with these keys belongs to in a grouping set, of whose groups found has those
// that are there by their keys.
func (it *aggregating) groupOf(set int, keys []Value, found map[string]*group) *group {
	it.key = it.key[:0]
	for _, k := range it.sets[set] {
		it.key = value.AppendKey(it.key, keys[k], it.aggregate.Keys[k].Type, false)
	}
	g := found[string(it.key)]
	if g == nil {
		g = it.newGroup()
		copy(g.keys, keys)
		found[string(it.key)] = g
		it.groups[set] = append(it.groups[set], g)
	}
	return g
}

func (it *aggregating) newGroup() *group {
	g := &group{keys: make([]Value, len(it.aggregate.Keys)), calls: make([]accumulating, len(it.aggregate.Calls))}
	for i := range it.aggregate.Calls {
		g.calls[i].Accumulator = it.aggregate.Calls[i].New(it.run)
	}
	return g
}

// add gives the present row to the aggregates of a group.
func (it *aggregating) add(g *group) error {
	for i := range it.aggregate.Calls {
		c, a := &it.aggregate.Calls[i], &g.calls[i]
		it.args = it.args[:0]
		for _, x := range c.Args {
			v, err := x(it.run)
			if err != nil {
				return err
			}
			it.args = append(it.args, v)
		}
		if c.Order != nil {
			key, _, err := appendKey(it.run, nil, c.Order)
			if err != nil {
				return err
			}
			a.rows = append(a.rows, ordered{string(key), slices.Clone(it.args)})
			continue
		}
		if err := a.Add(it.args); err != nil {
			return err
		}
	}
	return nil
}

// yield puts a group into the slots. What the grouping set leaves out is NULL.
func (it *aggregating) yield(g *group, set []int) error {
	for i := range it.aggregate.Keys {
		slot := it.aggregate.Keys[i].Slot
		if slices.Contains(set, i) {
			it.run.Slots[slot] = g.keys[i]
		} else {
			it.run.Slots[slot] = Value{}
		}
	}
	for i := range it.aggregate.Calls {
		v, err := g.calls[i].result()
		if err != nil {
			return err
		}
		it.run.Slots[it.aggregate.Calls[i].Slot] = v
		if g.calls[i].SkippedNull() {
			it.run.warnNull()
		}
	}
	for _, gr := range it.aggregate.Grouping {
		bits := int64(0)
		for _, k := range gr.Keys {
			bits <<= 1
			if !slices.Contains(set, k) {
				bits |= 1
			}
		}
		it.run.Slots[gr.Slot] = value.OfInt(bits)
	}
	return nil
}

func (a *accumulating) result() (Value, error) {
	slices.SortStableFunc(a.rows, func(x, y ordered) int { return strings.Compare(x.key, y.key) })
	for _, row := range a.rows {
		if err := a.Add(row.args); err != nil {
			return Value{}, err
		}
	}
	a.rows = nil
	return a.Result()
}

func (it *aggregating) Close() {
	it.input.Close()
	it.groups, it.set = nil, len(it.sets)
	it.read = true
}
