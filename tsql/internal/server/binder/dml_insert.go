package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Insert is an INSERT.
type Insert struct {
	b        *Binder
	Target   *target
	Rules    *Rules
	Ordinals []int // of the columns that are given
	Outputs  []*Output
	listed   bool // there is a list of columns
	// Grains are what may be locked at first; nil for what is not locked.
	Grains []store.Grain
	// Rows are where the rows come from, and nodes what is stored of each; nil if the statement is given its rows.
	Rows  Rel
	Nodes []*Node
}

// Gives reports whether a column is given.
func (ins *Insert) Gives(ordinal int) bool { return slices.Contains(ins.Ordinals, ordinal) }

// Insert binds INSERT … VALUES, SELECT or DEFAULT VALUES.
func (b *Binder) Insert(s *syntax.Insert) (*Insert, error) {
	ins, sc, err := b.inserting(s)
	if err != nil {
		return nil, err
	}
	if ins.Rows, ins.Nodes, err = ins.source(sc, s); err != nil {
		return nil, err
	}
	if s.Top != nil {
		top, err := b.topOf(sc, s.Top)
		if err != nil {
			return nil, err
		}
		ins.Rows = &Block{From: ins.Rows, Top: top}
	}
	err = ins.complete(s)
	return ins, err
}

// InsertRows binds an INSERT that is given its rows: INSERT … EXEC and INSERT BULK.
func (b *Binder) InsertRows(s *syntax.Insert) (*Insert, error) {
	ins, _, err := b.inserting(s)
	if err != nil {
		return nil, err
	}
	err = ins.complete(s)
	return ins, err
}

// inserting binds the target of an INSERT and its columns.
func (b *Binder) inserting(s *syntax.Insert) (*Insert, *scope, error) {
	sc := &scope{}
	if err := b.with(sc, s.With); err != nil {
		return nil, nil, err
	}
	if err := b.option(s.Options); err != nil {
		return nil, nil, err
	}
	t, err := b.namedTarget(sc, s.Target, "INSERT")
	if err != nil {
		return nil, nil, err
	}
	if err := t.noHistory(13559); err != nil {
		return nil, nil, err
	}
	ins := &Insert{b: b, Target: t, listed: len(s.Columns) > 0}
	if !s.Default {
		if ins.Ordinals, err = b.insertOrdinals(t, s.Columns); err != nil {
			return nil, nil, err
		}
	}
	if ins.Rules, err = b.rulesOf(t.from, map[*schema.Table]*Rules{}); err != nil {
		return nil, nil, err
	}
	if t.Instead {
		ins.Rules.InsteadOf = "INSERT"
	} else if ins.Grains, err = Grains(t.from, t.Table().Indexes[0], &t.Hints); err != nil {
		return nil, nil, err
	}
	if len(t.check) > 0 {
		err = ins.Rules.viewOption(t)
	}
	return ins, sc, err
}

// complete binds what the source leaves to defaults, and OUTPUT.
func (ins *Insert) complete(s *syntax.Insert) error {
	if err := ins.Rules.BindDefaults(ins.Ordinals); err != nil {
		return err
	}
	err := ins.Target.readingRows(ins.Rules, func() (err error) {
		ins.Outputs, err = ins.b.outputs(&scope{level: level{Sources: []*Source{ins.Rules.After}}}, s.Output)
		return err
	})
	if err != nil {
		return err
	}
	return noTriggers(ins.Target, ins.Outputs, "INSERT")
}

// noTriggers refuses OUTPUT to the client of a table, or of a view with INSTEAD OF triggers, on which a trigger is
// enabled for the event.
func noTriggers(t *target, outputs []*Output, event string) error {
	for _, o := range outputs {
		if o.Into != nil || t.view != nil && !t.Instead {
			continue
		}
		for _, m := range t.Table().Triggers {
			if def, ok := m.Stmt.(*syntax.CreateTrigger); ok && !m.Disabled {
				if slices.Contains(def.Events, event) {
					return fault.New(334, t.Table().Name)
				}
			}
		}
	}
	return nil
}

// insertOrdinals finds the columns of an INSERT: those of its list, or all that the server doesn't fill by itself.
func (b *Binder) insertOrdinals(t *target, names []syntax.Ident) ([]int, error) {
	table := t.Table()
	var list []int
	if len(names) == 0 {
		for i, ordinal := range t.ordinals {
			if t.source.columns[i].hidden {
				continue
			}
			if ordinal < 0 {
				return nil, fault.New(4406, t.source.Name)
			}
			if c := table.Columns[ordinal]; !c.Identity && c.Computed == nil {
				list = append(list, ordinal)
			}
		}
		return list, nil
	}
	seen := map[int]bool{}
	for _, name := range names {
		ordinal, err := b.ordinal(t, name.Value)
		if err != nil {
			return nil, err
		}
		if c := table.Columns[ordinal]; c.Computed != nil {
			return nil, fault.New(271, c.Name)
		}
		if seen[ordinal] {
			return nil, fault.New(264, name.Value)
		}
		seen[ordinal] = true
		list = append(list, ordinal)
	}
	return list, nil
}

// source binds where the rows come from, and what each column stores of them.
func (ins *Insert) source(sc *scope, s *syntax.Insert) (Rel, []*Node, error) {
	switch {
	case s.Default:
		return OneRel{}, nil, nil
	case s.Query != nil:
		return ins.query(sc, s.Query)
	case len(s.Rows) == 1:
		return ins.oneRow(sc, s.Rows[0])
	default:
		return ins.values(sc, s.Rows)
	}
}

// query binds INSERT … SELECT.
func (ins *Insert) query(sc *scope, q *syntax.Query) (Rel, []*Node, error) {
	out, err := ins.b.queryIn(sc, q)
	if err != nil {
		return nil, nil, err
	}
	if out.Into != nil || len(out.Assigns) > 0 {
		return nil, nil, fault.New(156, "INTO")
	}
	if err := ins.count(len(out.Columns), 120, 121); err != nil {
		return nil, nil, err
	}
	nodes := make([]*Node, len(out.Columns))
	for i, c := range out.Columns {
		if nodes[i], err = ins.give(i, c.Node); err != nil {
			return nil, nil, err
		}
	}
	return out.Rel, nodes, nil
}

// count checks that there are as many values as columns. The numbers are those of the errors for too few and too many.
func (ins *Insert) count(n int, few, many int32) error {
	table := ins.Target.Table()
	switch {
	case n == len(ins.Ordinals):
		return nil
	case !ins.listed && table.Identity != nil && n == len(ins.Ordinals)+1:
		return fault.New(8101, table.Name)
	case !ins.listed:
		return fault.New(213)
	case n < len(ins.Ordinals):
		return fault.New(few)
	default:
		return fault.New(many)
	}
}

// Refuse returns an error for a column whose values the server makes in every case.
func (ins *Insert) Refuse(c *schema.Column) error {
	switch {
	case ins.Target.Instead:
		return nil
	case c.RowVersion:
		return fault.New(273)
	case c.Generated != "":
		return fault.New(13536, ins.Target.Table().FullName())
	default:
		return nil
	}
}

// give converts the value of a column.
func (ins *Insert) give(i int, n *Node) (*Node, error) {
	table := ins.Target.Table()
	c := table.Columns[ins.Ordinals[i]]
	if err := ins.Refuse(c); err != nil {
		return nil, err
	}
	return ins.b.stored(n, table, c)
}

// isDefault reports the keyword DEFAULT.
func isDefault(x syntax.Expr) bool {
	lit, ok := x.(*syntax.Literal)
	return ok && lit.Kind == syntax.DefaultLiteral
}

// oneRow binds VALUES with one row. What the server fills in by itself leaves the list.
func (ins *Insert) oneRow(sc *scope, row []syntax.Expr) (Rel, []*Node, error) {
	if err := ins.count(len(row), 110, 109); err != nil {
		return nil, nil, err
	}
	table := ins.Target.Table()
	var nodes []*Node
	var ordinals []int
	for i, x := range row {
		c := table.Columns[ins.Ordinals[i]]
		var n *Node
		var err error
		switch {
		case isDefault(x) && c.Identity:
			return nil, nil, fault.New(339)
		case isDefault(x):
			continue // as if the column weren't in the list
		default:
			if n, err = ins.b.expr(sc.in(lookup.InList), x); err == nil {
				n, err = ins.give(i, n)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		nodes, ordinals = append(nodes, n), append(ordinals, c.Ordinal)
	}
	ins.Ordinals = ordinals
	return OneRel{}, nodes, nil
}

// values binds VALUES with several rows. As in any VALUES, the values of a column have one type before they are stored.
func (ins *Insert) values(sc *scope, rows [][]syntax.Expr) (Rel, []*Node, error) {
	b, table := ins.b, ins.Target.Table()
	r := &RowsRel{Rows: float64(len(rows)), text: "values"}
	bound := make([][]*Node, len(rows))
	for k, row := range rows {
		if err := ins.count(len(row), 110, 109); err != nil {
			return nil, nil, err
		}
		bound[k] = make([]*Node, len(row))
	}
	var nodes []*Node
	var ordinals []int
	for i, ordinal := range ins.Ordinals {
		c := table.Columns[ordinal]
		column, defaulted, err := ins.column(sc, rows, i)
		if err != nil {
			return nil, nil, err
		}
		if (c.RowVersion || c.Generated != "") && defaulted == len(rows) {
			continue
		}
		if err := ins.Refuse(c); err != nil {
			return nil, nil, err
		}
		for k := range rows {
			bound[k][len(nodes)] = column[k]
		}
		slot := b.NewSlot()
		r.slots = append(r.slots, slot)
		nodes, ordinals = append(nodes, ColumnNode(slot, b.ColumnType(c), true)), append(ordinals, ordinal)
	}
	width := len(nodes)
	for _, row := range bound {
		r.Args = append(r.Args, row[:width]...)
	}
	r.Make = func(args []Code, _ Set) execute.Operator {
		var out [][]execute.Assign
		for len(args) > 0 && width > 0 {
			row := make([]execute.Assign, width)
			for i := range width {
				row[i] = execute.Assign{Slot: r.slots[i], Value: args[i].Expr}
			}
			out, args = append(out, row), args[width:]
		}
		return execute.Values(out, r.text)
	}
	ins.Ordinals = ordinals
	return r, nodes, nil
}

// column binds the values of one column in all rows. It counts those that are DEFAULT.
func (ins *Insert) column(sc *scope, rows [][]syntax.Expr, i int) (nodes []*Node, defaulted int, err error) {
	b, table := ins.b, ins.Target.Table()
	c := table.Columns[ins.Ordinals[i]]
	nodes = make([]*Node, len(rows))
	var typed []*Node
	for k, row := range rows {
		if isDefault(row[i]) {
			defaulted++
			continue
		}
		if nodes[k], err = b.expr(sc.in(lookup.InList), row[i]); err != nil {
			return nil, 0, err
		}
		typed = append(typed, nodes[k])
	}
	var t value.Type
	if len(typed) > 0 {
		if t, _, err = b.unite(typed); err != nil {
			return nil, 0, err
		}
	}
	for k := range nodes {
		switch {
		case nodes[k] == nil && c.Identity:
			return nil, 0, fault.New(339)
		case nodes[k] == nil:
			nodes[k], err = b.defaultNode(table, c)
		case c.RowVersion, c.Generated != "":
		default:
			n := nodes[k]
			if t.Kind != sqltype.Null && n.Type.Kind != sqltype.Null {
				n = b.become(n, t)
			}
			nodes[k], err = b.stored(n, table, c)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return nodes, defaulted, nil
}
