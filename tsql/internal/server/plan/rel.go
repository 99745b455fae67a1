package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// rel is a relation as a query describes it, before there is a plan.
type rel interface {
	// visit adds the slots that are written and read in it, whatever is below included.
	visit(made, read *set)
}

// made are the slots that a relation writes.
func made(r rel) set {
	var m, read set
	r.visit(&m, &read)
	return m
}

// free are the slots that a relation reads and does not write: those of the query around it.
func free(r rel) set {
	var m, read set
	r.visit(&m, &read)
	return read.without(m)
}

// oneRel is one row without columns.
type oneRel struct{}

func (oneRel) visit(*set, *set) {}

// tableRel is a reference to a table.
type tableRel struct {
	source execute.Source
	slots  []int // of the columns by ordinal; -1 for one that nothing refers to
	hints  execute.Hints
	write  bool       // its rows are to be changed
	row    int        // the register for the row itself, -1 if nobody needs it
	exact  *exactRead // one row is read by its key; nil for what the conditions say
	// of and binder bind the conditions of filtered indexes when a plan is made.
	of      *source
	binder  *binder
	filters map[*schema.Index][]*node
}

func (t *tableRel) visit(made, _ *set) {
	for _, slot := range t.slots {
		if slot >= 0 {
			made.add(slot)
		}
	}
}

// rowsRel makes its rows by itself: VALUES, a table function, a catalog view.
type rowsRel struct {
	slots []int // that it writes
	args  []*node
	// make returns how rows are made, from the code of the arguments. Need are the slots that somebody reads.
	make func(args []code, need set) execute.Operator
	rows float64
	text string
}

func (o *rowsRel) visit(made, read *set) {
	for _, slot := range o.slots {
		if slot >= 0 {
			made.add(slot)
		}
	}
	for _, a := range o.args {
		a.addSlots(read)
	}
}

// joinRel is a join. The right side of an APPLY reads slots of the left one.
type joinRel struct {
	kind string // "INNER", "LEFT", "FULL"
	x, y rel
	on   []*node
	hint string // "LOOP", "HASH", "MERGE" or ""
	// swapped says that y stands before x in the text: a RIGHT JOIN.
	swapped bool
}

func (j *joinRel) visit(made, read *set) {
	j.x.visit(made, read)
	j.y.visit(made, read)
	for _, n := range j.on {
		n.addSlots(read)
	}
}

// sortKey is a key of ORDER BY.
type sortKey struct {
	node *node
	desc bool
}

// outColumn is a column that a query yields.
type outColumn struct {
	name string
	node *node
	// identity and the like are what is told to the client about a column of a table.
	identity bool
	computed bool
	// numbered is the column of IDENTITY in SELECT … INTO.
	numbered *schema.Identity
	// json and table are what FOR JSON wants to know: the column is JSON, and the alias of the table that it is of.
	json  bool
	table string
}

// computed is a column that a query computes into a slot.
type computed struct {
	slot int
	node *node
}

// aggregateCall is an aggregate with the slot for its result.
type aggregateCall struct {
	key   string
	name  string // upper case
	args  []*node
	slot  int
	make  func(r *execute.Run) execute.Accumulator
	order []sortKey
}

// grouped is GROUP BY with what is computed for each group.
type grouped struct {
	keys     []computed // the key's expression and the slot that has its value in the group
	sets     [][]int    // nil: all keys
	calls    []*aggregateCall
	grouping []execute.Grouping
}

// windowSpec is an OVER clause with the functions that are computed over it.
type windowSpec struct {
	key       string
	partition []*node
	order     []sortKey
	calls     []*windowCall
}

// windowCall is a window function with the slot for its result.
type windowCall struct {
	slot int
	args []*node
	make func(args []code) execute.WindowCall
	// number says that the function is ROW_NUMBER.
	number bool
}

// block is one SELECT: its clauses in the order of their evaluation.
type block struct {
	from     rel
	where    []*node
	group    *grouped
	having   []*node
	windows  []*windowSpec
	computes []computed // what is put into slots for those who read the block
	distinct []*node    // DISTINCT: the columns; nil without
	order    []sortKey
	top      *topRel
}

// topRel is TOP, OFFSET and FETCH.
type topRel struct {
	count, skip *node
	fetch       bool
	percent     bool
	ties        bool
}

func (b *block) visit(made, read *set) {
	b.from.visit(made, read)
	add := func(list []*node) {
		for _, n := range list {
			n.addSlots(read)
		}
	}
	add(b.where)
	add(b.having)
	add(b.distinct)
	if b.group != nil {
		b.group.visit(made, read)
	}
	for _, w := range b.windows {
		add(w.partition)
		addKeys(w.order, read)
		for _, c := range w.calls {
			made.add(c.slot)
			add(c.args)
		}
	}
	for _, c := range b.computes {
		made.add(c.slot)
		c.node.addSlots(read)
	}
	addKeys(b.order, read)
	if b.top != nil {
		*read = read.with(slotsOf(b.top.count, b.top.skip))
	}
}

func (g *grouped) visit(made, read *set) {
	for _, k := range g.keys {
		made.add(k.slot)
		k.node.addSlots(read)
	}
	for _, c := range g.calls {
		made.add(c.slot)
		for _, a := range c.args {
			a.addSlots(read)
		}
		addKeys(c.order, read)
	}
	for _, gr := range g.grouping {
		made.add(gr.Slot)
	}
}

func addKeys(keys []sortKey, read *set) {
	for _, k := range keys {
		k.node.addSlots(read)
	}
}

// simple reports whether the block does nothing but join, filter and compute, so that conditions on it can be tested
// inside, and an order of its rows is one of the query around it.
func (b *block) simple() bool {
	return b.group == nil && len(b.windows) == 0 && b.distinct == nil && b.top == nil
}

// unionRel is UNION, EXCEPT or INTERSECT. Values of each branch go into the slots of the columns.
type unionRel struct {
	op       string
	all      bool
	branches []unionBranch
	columns  []*node // columnNodes
	order    []sortKey
	top      *topRel
}

type unionBranch struct {
	rel    rel
	values []*node
}

func (u *unionRel) visit(made, read *set) {
	for _, b := range u.branches {
		b.rel.visit(made, read)
		for _, v := range b.values {
			v.addSlots(read)
		}
	}
	for _, c := range u.columns {
		made.add(c.slot)
	}
	addKeys(u.order, read)
	if u.top != nil {
		*read = read.with(slotsOf(u.top.count, u.top.skip))
	}
}

// recursiveRel is a common table expression that reads itself.
type recursiveRel struct {
	anchor  unionBranch
	steps   []unionBranch
	columns []*node
	work    []int // the slots in which the steps find the row that they go on from
	limit   int
}

func (u *recursiveRel) visit(made, read *set) {
	for _, b := range append([]unionBranch{u.anchor}, u.steps...) {
		b.rel.visit(made, read)
		for _, v := range b.values {
			v.addSlots(read)
		}
	}
	for i, c := range u.columns {
		made.add(c.slot)
		made.add(u.work[i])
	}
}

// volatileIn reports whether a relation may yield other rows when it is read again.
func volatileIn(r rel) bool {
	volatile := func(list []*node) bool {
		for _, n := range list {
			if n.isVolatile() {
				return true
			}
		}
		return false
	}
	switch r := r.(type) {
	case *rowsRel:
		return volatile(r.args)
	case *joinRel:
		return volatileIn(r.x) || volatileIn(r.y) || volatile(r.on)
	case *block:
		for _, c := range r.computes {
			if c.node.isVolatile() {
				return true
			}
		}
		return volatileIn(r.from) || volatile(r.where) || volatile(r.having)
	case *unionRel:
		for _, b := range r.branches {
			if volatileIn(b.rel) || volatile(b.values) {
				return true
			}
		}
	}
	return false
}
