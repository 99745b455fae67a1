package binder

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// grouping is what a grouped query may refer to outside of its aggregates.
type grouping struct {
	rel *Grouped
	// items are the nodes of the grouped expressions by their keys, as the clauses after GROUP BY see them.
	items map[string]*Node
	// only says that all items are columns, so that no other expression needs to be compared with them.
	only  bool
	whole bool // there is no GROUP BY: all rows are one group
}

// groups binds GROUP BY. It returns nil if the query is not grouped.
func (b *Binder) groups(s *scope, q *syntax.Select, order []syntax.OrderItem) (*grouping, error) {
	if q.GroupBy == nil {
		if !builtin.Aggregates(q, order) {
			return nil, nil
		}
		return &grouping{rel: &Grouped{}, items: map[string]*Node{}, only: true, whole: true}, nil
	}
	g := &grouping{rel: &Grouped{}, items: map[string]*Node{}, only: true}
	var index []int // of the syntax's items
	for _, item := range q.GroupBy.Items {
		n, err := b.groupKey(s, item)
		if err != nil {
			return nil, err
		}
		key := n.Key()
		at := slices.IndexFunc(g.rel.Keys, func(k Computed) bool { return k.Node.Key() == key })
		if at < 0 {
			at = len(g.rel.Keys)
			g.add(b, n, key, q.GroupBy.Extended)
		}
		index = append(index, at)
	}
	if q.GroupBy.Extended {
		sets, err := b.groupingSets(q.GroupBy, index)
		if err != nil {
			return nil, err
		}
		g.rel.Sets = sets
	}
	return g, nil
}

// groupKey binds an item of GROUP BY.
func (b *Binder) groupKey(s *scope, item syntax.Expr) (*Node, error) {
	item = syntax.Unparen(item)
	n, err := b.expr(s.in(lookup.InGroupBy), item)
	if err != nil {
		return nil, err
	}
	subquery := false
	n.walk(func(x *Node) { subquery = subquery || x.Sub != nil })
	if subquery {
		return nil, fault.New(144)
	}
	for range syntax.All[*syntax.ColumnRef](item) {
		return n, b.sortable(n)
	}
	return nil, fault.New(164)
}

// add adds a key. A column keeps its slot in the groups.
func (g *grouping) add(b *Binder, n *Node, key string, nullable bool) {
	k := Computed{Node: n}
	out := *n
	if n.Kind == IsColumn {
		k.Slot = n.Slot
	} else {
		k.Slot = b.NewSlot()
		out = *ColumnNode(k.Slot, n.Type, n.Nullable)
		out.Label = n.Label
		g.only = false
	}
	out.Nullable = n.Nullable || nullable
	g.rel.Keys = append(g.rel.Keys, k)
	g.items[key] = &out
}

// column returns a column as the clauses after GROUP BY see it.
func (g *grouping) column(n *Node, f found) (*Node, error) {
	if item := g.items[n.Key()]; item != nil {
		return item, nil
	}
	name := f.source.columns[f.index].name
	table := f.source.Name
	if f.source.table != nil {
		table = f.source.table.Name
		if f.source.table.Schema != nil && !f.source.table.Temporary {
			table = schema.QualifiedName(f.source.table)
		}
	}
	if table != "" {
		name = table + "." + name
	}
	number := map[lookup.Clause]int32{lookup.InHaving: 8121, lookup.InOrderBy: 8127}[f.owner.Clause]
	if number == 0 {
		number = 8120
	}
	return nil, fault.New(number, name)
}

// groupedExpr returns the grouped value that an expression is; nil if it is none.
func (b *Binder) groupedExpr(s *scope, x syntax.Expr) *Node {
	if s.group == nil || s.InAggregate || s.group.only {
		return nil
	}
	switch x.(type) {
	case *syntax.Literal, *syntax.Variable, *syntax.ColumnRef, *syntax.SystemVariable:
		return nil
	}
	before := *s
	before.group, before.windows, before.Clause = nil, nil, lookup.InGroupBy
	n, err := b.plainExpr(&before, syntax.Unparen(x))
	if err != nil || n.isTruth() {
		return nil
	}
	return s.group.items[n.Key()]
}

// aggregate binds an aggregate without OVER.
func (b *Binder) aggregate(s *scope, name string, x *syntax.Call) (*Node, error) {
	switch {
	case s.InAggregate:
		return nil, fault.New(130)
	case s.group == nil:
		return nil, b.misplaced(s)
	}
	inner := *s
	inner.InAggregate, inner.windows = true, nil
	call, t, label, nullable, err := b.aggregateCall(&inner, name, x)
	if err != nil {
		return nil, err
	}
	// Among groups there are rows, so that an aggregate is NULL only of NULLs.
	if !s.group.whole && nullable {
		nullable = strings.HasPrefix(name, "STDEV") || strings.HasPrefix(name, "VAR") || strings.HasPrefix(name, "JSON") ||
			slices.ContainsFunc(call.Args, func(n *Node) bool { return n.Nullable })
	}
	for _, other := range s.group.rel.Calls {
		if other.key == call.key {
			n := ColumnNode(other.Slot, t, nullable)
			n.Label, n.shownNull = label, true
			return n, nil
		}
	}
	call.Slot = b.NewSlot()
	s.group.rel.Calls = append(s.group.rel.Calls, call)
	n := ColumnNode(call.Slot, t, nullable)
	n.Label, n.shownNull = label, true
	return n, nil
}

// misplaced is the error for an aggregate where there can be none.
func (b *Binder) misplaced(s *scope) error {
	switch s.Clause {
	case lookup.InOn:
		return fault.New(1015)
	case lookup.InGroupBy:
		return fault.New(144)
	case lookup.InSet:
		return fault.New(157)
	default:
		return fault.New(147)
	}
}

// aggregateCall binds an aggregate's arguments.
func (b *Binder) aggregateCall(s *scope, name string, x *syntax.Call) (*aggregateCall, value.Type, value.Label, bool, error) {
	fail := func(err error) (*aggregateCall, value.Type, value.Label, bool, error) {
		return nil, value.Type{}, 0, false, err
	}
	args, known, err := b.arguments(s, x)
	if err != nil {
		return fail(err)
	}
	for _, n := range args {
		n.walk(func(x *Node) {
			if x.Sub != nil {
				err = fault.New(130)
			}
		})
		if err != nil {
			return fail(err)
		}
	}
	f, err := function.BindAggregate(x, known)
	if err != nil {
		return fail(b.callError(x, err))
	}
	call := &aggregateCall{Name: name}
	for i, n := range args {
		if i < len(f.Args) && f.Args[i].Kind != sqltype.Invalid && n.Type.Kind != sqltype.Null {
			if n, err = b.implicitly(n, f.Args[i]); err != nil {
				return fail(err)
			}
		}
		call.Args = append(call.Args, n)
	}
	call.Make = func(*execute.Run) execute.Accumulator { return f.New() }
	for _, item := range x.WithinGroup {
		n, err := b.expr(s, item.X)
		if err != nil {
			return fail(err)
		}
		call.Order = append(call.Order, SortKey{n, item.Desc})
	}
	t := f.Type
	label, err := resolve(args...)
	if err != nil {
		return fail(err)
	}
	if t.IsCharacter() && label.Label > value.CoercibleDefault {
		t.Collation = label.Collation
	}
	call.key = call.structure(x)
	return call, t, label.Label, f.Nullable, nil
}

// structure is the key by which equal aggregates are computed once.
func (c *aggregateCall) structure(x *syntax.Call) string {
	var s strings.Builder
	s.WriteString(c.Name)
	if x.Distinct {
		s.WriteString(" DISTINCT")
	}
	s.WriteString(x.JSONNulls)
	for _, a := range c.Args {
		s.WriteByte(',')
		a.writeKey(&s)
	}
	for _, k := range c.Order {
		s.WriteString(" order ")
		if k.Desc {
			s.WriteString("desc ")
		}
		k.Node.writeKey(&s)
	}
	return s.String()
}

// Collated returns a type with a collation if it is text: its own, or else the database's.
func (b *Binder) Collated(t value.Type) value.Type {
	if t.IsCharacter() && t.Collation == nil {
		t.Collation = b.collation()
	}
	return t
}

// sortable refuses what cannot be grouped or sorted.
func (b *Binder) sortable(n *Node) error {
	switch n.Type.Kind {
	case sqltype.Text, sqltype.NText, sqltype.Image:
		return fault.New(306)
	case sqltype.XML, sqltype.Geometry, sqltype.Geography:
		return fault.New(305)
	default:
		return nil
	}
}

// groupingCall binds GROUPING and GROUPING_ID.
func (b *Binder) groupingCall(s *scope, x *syntax.Call) (*Node, error) {
	name := strings.ToUpper(x.Name.Parts[0].Value)
	if s.group == nil || s.group.whole {
		return nil, fault.New(8161, 1, name)
	}
	inner := *s
	inner.InAggregate = true
	gr := execute.Grouping{}
	for i, a := range x.Args {
		n, err := b.expr(&inner, a)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(s.group.rel.Keys, func(k Computed) bool { return k.Node.Key() == n.Key() })
		if at < 0 {
			return nil, fault.New(8161, i+1, name)
		}
		gr.Keys = append(gr.Keys, at)
	}
	gr.Slot = b.NewSlot()
	s.group.rel.Grouping = append(s.group.rel.Grouping, gr)
	t := value.OfKind(sqltype.Int)
	if name == "GROUPING" {
		t = value.OfKind(sqltype.TinyInt)
	}
	return ColumnNode(gr.Slot, t, false), nil
}

// groupingSets reads which sets ROLLUP, CUBE and GROUPING SETS make, as indexes of keys. The tree has the expressions
// alone, so that what stands between them is read from the text. Index has the key of each expression.
func (b *Binder) groupingSets(g *syntax.GroupBy, index []int) ([][]int, error) {
	if b.Env.File == nil || int(g.To) > len(b.Env.File.Text) {
		return nil, b.Unsupported(g.Span, "grouping sets without a text")
	}
	p := &setParser{items: g.Items, index: index, at: int(g.From), end: int(g.To), text: b.Env.File.Text}
	p.word("GROUP")
	p.word("BY")
	if p.word("ALL") {
		return nil, b.Unsupported(g.Span, "GROUP BY ALL")
	}
	sets := [][]int{{}}
	for {
		sets = product(sets, p.element())
		if !p.sign(',') {
			break
		}
	}
	if p.word("WITH") {
		keys := make([][]int, len(index))
		for i, k := range index {
			keys[i] = []int{k}
		}
		if p.word("ROLLUP") {
			return rollup(keys), nil
		}
		return cube(keys), nil
	}
	return sets, nil
}

// setParser reads the text of GROUP BY.
type setParser struct {
	items   []syntax.Expr
	index   []int
	next    int // of items
	at, end int
	text    string
}

// skip passes over blanks and comments.
func (p *setParser) skip() {
	for p.at < p.end {
		rest := p.text[p.at:p.end]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.at++
		case strings.HasPrefix(rest, "--"):
			p.at += strings.IndexByte(rest+"\n", '\n')
		case strings.HasPrefix(rest, "/*"):
			p.at += strings.Index(rest, "*/") + 2
		default:
			return
		}
	}
}

func (p *setParser) word(w string) bool {
	p.skip()
	if p.next < len(p.items) && int(p.items[p.next].Range().From) == p.at {
		return false
	}
	if len(p.text)-p.at < len(w) || !strings.EqualFold(p.text[p.at:p.at+len(w)], w) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *setParser) sign(c byte) bool {
	p.skip()
	if p.at >= p.end || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

// item reads an expression and returns its key.
func (p *setParser) item() int {
	p.skip()
	p.at = int(p.items[p.next].Range().To)
	p.next++
	return p.index[p.next-1]
}

// element reads an expression, ROLLUP, CUBE, GROUPING SETS or (), and returns its sets.
func (p *setParser) element() [][]int {
	switch {
	case p.word("ROLLUP"):
		return rollup(p.list())
	case p.word("CUBE"):
		return cube(p.list())
	case p.word("GROUPING"):
		p.word("SETS")
		p.sign('(')
		var sets [][]int
		for {
			sets = append(sets, p.set()...)
			if !p.sign(',') {
				break
			}
		}
		p.sign(')')
		return sets
	}
	p.skip()
	if p.next < len(p.items) && int(p.items[p.next].Range().From) == p.at {
		return [][]int{{p.item()}}
	}
	p.sign('(')
	p.sign(')')
	return [][]int{{}}
}

// set reads an element of GROUPING SETS.
func (p *setParser) set() [][]int {
	p.skip()
	if p.text[p.at] == '(' {
		return [][]int{p.composite()}
	}
	return p.element()
}

// list reads the elements of ROLLUP and CUBE, each of which is an expression or several in parentheses.
func (p *setParser) list() [][]int {
	var list [][]int
	p.sign('(')
	for {
		p.skip()
		if p.text[p.at] == '(' {
			list = append(list, p.composite())
		} else {
			list = append(list, []int{p.item()})
		}
		if !p.sign(',') {
			break
		}
	}
	p.sign(')')
	return list
}

// composite reads (a, b).
func (p *setParser) composite() []int {
	var set []int
	p.sign('(')
	if p.sign(')') {
		return set
	}
	for {
		p.skip()
		if p.text[p.at] == '(' && (p.next >= len(p.items) || int(p.items[p.next].Range().From) != p.at) {
			set = append(set, p.composite()...)
		} else {
			set = append(set, p.item())
		}
		if !p.sign(',') {
			break
		}
	}
	p.sign(')')
	return set
}

// rollup makes the sets of ROLLUP (a, b): (a, b), (a), ().
func rollup(keys [][]int) [][]int {
	var sets [][]int
	for n := len(keys); n >= 0; n-- {
		sets = append(sets, slices.Concat(keys[:n]...))
	}
	return sets
}

// cube makes all subsets.
func cube(keys [][]int) [][]int {
	sets := [][]int{{}}
	for _, k := range keys {
		var with [][]int
		for _, s := range sets {
			with = append(with, slices.Concat(s, k))
		}
		sets = append(with, sets...)
	}
	return sets
}

// product combines the sets of two elements.
func product(a, b [][]int) [][]int {
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out
}
