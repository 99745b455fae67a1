package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// Rel is a relation as a query describes it, before there is a plan.
type Rel interface {
	// visit adds the slots that are written and read in it, whatever is below included.
	visit(made, read *Set)
}

// Made returns the slots that a relation writes.
func Made(r Rel) Set {
	var m, read Set
	r.visit(&m, &read)
	return m
}

// Free returns the slots that a relation reads and does not write: those of the query around it.
func Free(r Rel) Set {
	var m, read Set
	r.visit(&m, &read)
	return read.Without(m)
}

// OneRel is one row without columns.
type OneRel struct{}

func (OneRel) visit(*Set, *Set) {}

// TableRel is a reference to a table.
type TableRel struct {
	Source execute.Source
	Slots  []int // of the columns by ordinal; -1 for one that nothing refers to
	Hints  execute.Hints
	Write  bool       // its rows are to be changed
	Row    int        // the register for the row itself, -1 if nobody needs it
	Exact  *ExactRead // one row is read by its key; nil for what the conditions say
	// Of and binder bind the conditions of filtered indexes when a plan is made.
	Of      *Source
	binder  *Binder
	filters map[*schema.Index][]*Node
}

func (t *TableRel) visit(made, _ *Set) {
	for _, slot := range t.Slots {
		if slot >= 0 {
			made.Add(slot)
		}
	}
}

// How many rows SQL Server takes a function to make, whose rows nobody can count beforehand.
const (
	functionRows = 50  // OPENJSON, STRING_SPLIT and the other built-in ones: its fixed guess
	moduleRows   = 100 // a function of several statements: its fixed guess since SQL Server 2014
)

// RowsRel makes its rows by itself: VALUES, a table function, a catalog view.
type RowsRel struct {
	slots []int // that it writes
	Args  []*Node
	// Make returns how rows are made, from the code of the arguments. Need are the slots that somebody reads.
	Make func(args []Code, need Set) execute.Operator
	Rows float64
	text string
}

func (o *RowsRel) visit(made, read *Set) {
	for _, slot := range o.slots {
		if slot >= 0 {
			made.Add(slot)
		}
	}
	for _, a := range o.Args {
		a.addSlots(read)
	}
}

// JoinRel is a join. The right side of an APPLY reads slots of the left one.
type JoinRel struct {
	Kind string // "INNER", "LEFT", "FULL"
	X, Y Rel
	On   []*Node
	Hint string // "LOOP", "HASH", "MERGE" or ""
}

func (j *JoinRel) visit(made, read *Set) {
	j.X.visit(made, read)
	j.Y.visit(made, read)
	for _, n := range j.On {
		n.addSlots(read)
	}
}

// SortKey is a key of ORDER BY.
type SortKey struct {
	Node *Node
	Desc bool
}

// OutColumn is a column that a query yields.
type OutColumn struct {
	name string
	Node *Node
	// identity and the like are what is told to the client about a column of a table.
	identity bool
	computed bool
	// numbered is the column of IDENTITY in SELECT … INTO.
	numbered *schema.Identity
	// json and table are what FOR JSON wants to know: the column is JSON, and the alias of the table that it is of.
	json  bool
	table string
}

// Computed is a column that a query computes into a slot.
type Computed struct {
	Slot int
	Node *Node
}

// aggregateCall is an aggregate with the slot for its result.
type aggregateCall struct {
	key   string
	Name  string // upper case
	Args  []*Node
	Slot  int
	Make  func(r *execute.Run) execute.Accumulator
	Order []SortKey
}

// Grouped is GROUP BY with what is computed for each group.
type Grouped struct {
	Keys     []Computed // the key's expression and the slot that has its value in the group
	Sets     [][]int    // nil: all keys
	Calls    []*aggregateCall
	Grouping []execute.Grouping
}

// WindowSpec is an OVER clause with the functions that are computed over it.
type WindowSpec struct {
	key       string
	Partition []*Node
	Order     []SortKey
	Calls     []*WindowCall
}

// WindowCall is a window function with the slot for its result.
type WindowCall struct {
	slot int
	Args []*Node
	Make func(args []Code) execute.WindowCall
	// Number says that the function is ROW_NUMBER.
	Number bool
}

// Block is one SELECT: its clauses in the order of their evaluation.
type Block struct {
	From     Rel
	Where    []*Node
	Group    *Grouped
	Having   []*Node
	Windows  []*WindowSpec
	Computes []Computed // what is put into slots for those who read the block
	Distinct []*Node    // DISTINCT: the columns; nil without
	Order    []SortKey
	Top      *TopRel
}

// TopRel is TOP, OFFSET and FETCH.
type TopRel struct {
	Count, Skip *Node
	Fetch       bool
	Percent     bool
	Ties        bool
}

func (b *Block) visit(made, read *Set) {
	b.From.visit(made, read)
	add := func(list []*Node) {
		for _, n := range list {
			n.addSlots(read)
		}
	}
	add(b.Where)
	add(b.Having)
	add(b.Distinct)
	if b.Group != nil {
		b.Group.visit(made, read)
	}
	for _, w := range b.Windows {
		add(w.Partition)
		addKeys(w.Order, read)
		for _, c := range w.Calls {
			made.Add(c.slot)
			add(c.Args)
		}
	}
	for _, c := range b.Computes {
		made.Add(c.Slot)
		c.Node.addSlots(read)
	}
	addKeys(b.Order, read)
	if b.Top != nil {
		*read = read.With(SlotsOf(b.Top.Count, b.Top.Skip))
	}
}

func (g *Grouped) visit(made, read *Set) {
	for _, k := range g.Keys {
		made.Add(k.Slot)
		k.Node.addSlots(read)
	}
	for _, c := range g.Calls {
		made.Add(c.Slot)
		for _, a := range c.Args {
			a.addSlots(read)
		}
		addKeys(c.Order, read)
	}
	for _, gr := range g.Grouping {
		made.Add(gr.Slot)
	}
}

func addKeys(keys []SortKey, read *Set) {
	for _, k := range keys {
		k.Node.addSlots(read)
	}
}

// Simple reports whether the block does nothing but join, filter and compute, so that conditions on it can be tested
// inside, and an order of its rows is one of the query around it.
func (b *Block) Simple() bool {
	return b.Group == nil && len(b.Windows) == 0 && b.Distinct == nil && b.Top == nil
}

// UnionRel is UNION, EXCEPT or INTERSECT. Values of each branch go into the slots of the columns.
type UnionRel struct {
	Op       string
	All      bool
	Branches []UnionBranch
	Columns  []*Node // columnNodes
	Order    []SortKey
	Top      *TopRel
}

// UnionBranch is an operand of a set operation.
type UnionBranch struct {
	Rel    Rel
	Values []*Node
}

func (u *UnionRel) visit(made, read *Set) {
	for _, b := range u.Branches {
		b.Rel.visit(made, read)
		for _, v := range b.Values {
			v.addSlots(read)
		}
	}
	for _, c := range u.Columns {
		made.Add(c.Slot)
	}
	addKeys(u.Order, read)
	if u.Top != nil {
		*read = read.With(SlotsOf(u.Top.Count, u.Top.Skip))
	}
}

// RecursiveRel is a common table expression that reads itself.
type RecursiveRel struct {
	Anchor  UnionBranch
	Steps   []UnionBranch
	Columns []*Node
	Work    []int // the slots in which the steps find the row that they go on from
	Limit   int
}

func (u *RecursiveRel) visit(made, read *Set) {
	for _, b := range append([]UnionBranch{u.Anchor}, u.Steps...) {
		b.Rel.visit(made, read)
		for _, v := range b.Values {
			v.addSlots(read)
		}
	}
	for i, c := range u.Columns {
		made.Add(c.Slot)
		made.Add(u.Work[i])
	}
}

// volatileIn reports whether a relation may yield other rows when it is read again.
func volatileIn(r Rel) bool {
	volatile := func(list []*Node) bool {
		for _, n := range list {
			if n.IsVolatile() {
				return true
			}
		}
		return false
	}
	switch r := r.(type) {
	case *RowsRel:
		return volatile(r.Args)
	case *JoinRel:
		return volatileIn(r.X) || volatileIn(r.Y) || volatile(r.On)
	case *Block:
		for _, c := range r.Computes {
			if c.Node.IsVolatile() {
				return true
			}
		}
		return volatileIn(r.From) || volatile(r.Where) || volatile(r.Having)
	case *UnionRel:
		for _, b := range r.Branches {
			if volatileIn(b.Rel) || volatile(b.Values) {
				return true
			}
		}
	}
	return false
}
