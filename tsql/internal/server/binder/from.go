package binder

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// from binds a comma-separated FROM clause, adding its tables to the scope.
func (b *Binder) from(s *scope, list []syntax.TableSource) (Rel, error) {
	around := &scope{outer: s.outer, ctes: s.ctes, level: level{Clause: lookup.InFrom}}
	var all Rel
	for _, src := range list {
		r, sources, err := b.source(around, src, false)
		if err != nil {
			return nil, err
		}
		s.Sources = append(s.Sources, sources...)
		if all == nil {
			all = r
		} else {
			all = &JoinRel{Kind: "INNER", X: all, Y: r}
		}
	}
	if all == nil {
		all = OneRel{}
	}
	return all, b.expose(s.Sources)
}

// source binds one element of a FROM clause. s is what surrounds it: the query further out and, on the right of an
// APPLY, the tables on its left. Maybe says that an outer join may have no row of it.
func (b *Binder) source(s *scope, src syntax.TableSource, maybe bool) (Rel, []*Source, error) {
	var one *Source
	var err error
	switch src := src.(type) {
	case *syntax.Join:
		return b.join(s, src, maybe)
	case *syntax.ParenSource:
		return b.source(s, src.X, maybe)
	case *syntax.TableRef:
		one, err = b.tableRef(s, src, maybe)
	case *syntax.VariableTable:
		one, err = b.variableTable(src, maybe)
	case *syntax.DerivedTable:
		one, err = b.derived(s, src, maybe)
	case *syntax.ValuesTable:
		one, err = b.valuesTable(s, src, maybe)
	case *syntax.FunctionTable:
		one, err = b.functionTable(s, src, maybe)
	case *syntax.Pivot:
		one, err = b.pivot(s, src, maybe)
	default:
		err = b.Unsupported(src.Range(), "this kind of table")
	}
	if err != nil {
		return nil, nil, err
	}
	return one.Rel, []*Source{one}, nil
}

// join binds both sides of a join and its condition, which sees the tables of both and no others beside them.
func (b *Binder) join(s *scope, j *syntax.Join, maybe bool) (Rel, []*Source, error) {
	leftMaybe := maybe || j.Kind == "RIGHT" || j.Kind == "FULL"
	rightMaybe := maybe || j.Kind == "LEFT" || j.Kind == "FULL" || j.Kind == "OUTER APPLY"
	x, left, err := b.source(s, j.X, leftMaybe)
	if err != nil {
		return nil, nil, err
	}
	inner := s
	if strings.HasSuffix(j.Kind, "APPLY") {
		side := &scope{outer: s, ctes: s.ctes, level: level{Clause: lookup.InFrom, Sources: left}}
		inner = side.inner()
	}
	y, right, err := b.source(inner, j.Y, rightMaybe)
	if err != nil {
		return nil, nil, err
	}
	both := append(slices.Clip(left), right...)
	out := &JoinRel{Kind: "INNER", X: x, Y: y, Hint: j.Hint}
	switch j.Kind {
	case "LEFT", "OUTER APPLY":
		out.Kind = "LEFT"
	case "RIGHT":
		out.Kind, out.X, out.Y = "LEFT", y, x
	case "FULL":
		out.Kind = "FULL"
	}
	if j.Hint != "" {
		b.Options.Force = true
		if j.Hint == "REMOTE" {
			return nil, nil, b.Unsupported(j.Span, "REMOTE JOIN")
		}
	}
	if j.On != nil {
		on := &scope{outer: s, ctes: s.ctes, level: level{Sources: both, Clause: lookup.InOn}}
		if out.On, err = b.conditions(on, j.On); err != nil {
			return nil, nil, err
		}
	}
	return out, both, nil
}

// tableRef finds what a name in FROM stands for: a common table expression, a temporary table, a table or a view.
func (b *Binder) tableRef(s *scope, ref *syntax.TableRef, maybe bool) (*Source, error) {
	name := ref.Name.Last().Value
	hints, err := b.hints(ref.Hints)
	if err != nil {
		return nil, err
	}
	if ref.Temporal != "" {
		then := *b
		if then.temporal, err = b.systemTime(s, ref); err != nil {
			return nil, err
		}
		b = &then
	}
	if hints, err = b.inherit(hints); err != nil {
		return nil, err
	}
	var src *Source
	if len(ref.Name.Parts) == 1 {
		if c := s.ctes.find(b, name); c != nil {
			if ref.Temporal != "" {
				return nil, fault.New(13544, name)
			}
			inside := *b
			inside.inherited = hints
			if hints.Index != "" || hints.ForceSeek || hints.ForceScan {
				return nil, b.Unsupported(ref.Span, "a hint about indexes on a common table expression")
			}
			src, err = inside.cteSource(c, maybe)
		}
	}
	if src == nil && err == nil {
		src, err = b.objectSource(ref, hints, maybe)
	}
	if err != nil {
		return nil, err
	}
	src.Name = name
	if ref.Alias != nil {
		src.Name, src.schema = ref.Alias.Value, ""
	}
	return src, nil
}

// objectSource finds a table or a view of the catalog, or a temporary table, or one of those of a trigger.
func (b *Binder) objectSource(ref *syntax.TableRef, hints execute.Hints, maybe bool) (*Source, error) {
	name := ref.Name.Last().Value
	if err := linked(ref.Name); err != nil {
		return nil, err
	}
	if ref.Name.IsTemp() {
		return b.temporary(ref, hints, maybe)
	}
	if t := b.Env.Inserted; t != nil && len(ref.Name.Parts) == 1 {
		switch b.Fold(name) {
		case b.Fold("inserted"):
			return b.tableSource(execute.Source{Place: execute.InInserted, Table: ShapeOf(t)}, hints, maybe), nil
		case b.Fold("deleted"):
			return b.tableSource(execute.Source{Place: execute.InDeleted, Table: ShapeOf(t)}, hints, maybe), nil
		}
	}
	switch o := b.object(ref.Name).(type) {
	case *schema.Table:
		if o.Data == nil {
			return nil, fault.New(208, syntax.Dotted(ref.Name.Parts))
		}
		src, err := b.catalogTable(o, ref, hints, maybe)
		if err != nil {
			return nil, err
		}
		if o.Schema != nil {
			src.schema = o.Schema.Name
		}
		return src, nil
	case *schema.Module:
		if def, ok := o.Stmt.(*syntax.CreateView); ok {
			right := b.needs("SELECT", o)
			if hints.Index != "" || hints.ForceSeek || hints.ForceScan {
				return nil, b.Unsupported(ref.Span, "a hint about indexes on a view")
			}
			outer := *b
			outer.inherited = hints
			src, err := outer.view(o, def, maybe)
			if err == nil {
				src.schema = o.Schema.Name
				right.reading(src)
			}
			return src, err
		}
	}
	if v := sysview.Lookup(ref.Name.Schema(), name); v != nil {
		return b.systemView(v, maybe), nil
	}
	if sysview.ViewElsewhere(b.databaseNamed(ref.Name), ref.Name.Schema(), name) {
		return nil, b.absent(ref.Span, syntax.Dotted(ref.Name.Parts))
	}
	return nil, fault.New(208, syntax.Dotted(ref.Name.Parts))
}

// databaseNamed is the database that a name is about.
func (b *Binder) databaseNamed(name *syntax.ObjectName) string {
	if n := len(name.Parts); n > 2 && name.Parts[n-3].Value != "" {
		return name.Parts[n-3].Value
	}
	return b.Env.Database.Name
}

// temporary is a temporary table.
func (b *Binder) temporary(ref *syntax.TableRef, hints execute.Hints, maybe bool) (*Source, error) {
	t := b.Env.Temp(ref.Name.Last().Value)
	switch {
	case t == nil:
		return nil, fault.New(208, ref.Name.Last().Value)
	case ref.Temporal != "":
		return nil, fault.New(13544, t.FullName())
	default:
		return b.tableSource(execute.Source{Table: t}, hints, maybe), nil
	}
}

// catalogTable is a table of the catalog, with its history if FOR SYSTEM_TIME asks for it.
func (b *Binder) catalogTable(t *schema.Table, ref *syntax.TableRef, hints execute.Hints, maybe bool) (*Source, error) {
	switch {
	case b.temporal != nil && t.History != nil:
		b.defined(t)
		return b.versions(t, hints, maybe)
	case ref.Temporal != "":
		return nil, fault.New(13544, t.FullName())
	}
	src := b.tableSource(execute.Source{Table: t}, hints, maybe)
	b.needs("SELECT", t).reading(src)
	return src, nil
}

// linked returns error 7202 for a name of four parts: there are no linked servers.
func linked(name *syntax.ObjectName) error {
	if len(name.Parts) > 3 && name.Parts[0].Value != "" {
		return fault.New(7202, name.Parts[0].Value)
	}
	return nil
}

// object finds an object by its name, through synonyms too; nil if there is none.
func (b *Binder) object(name *syntax.ObjectName) schema.Object {
	parts := make([]string, len(name.Parts))
	for i, p := range name.Parts {
		parts[i] = p.Value
	}
	return b.objectOf(parts, 0)
}

func (b *Binder) objectOf(parts []string, hops int) schema.Object {
	part := func(fromEnd int) string {
		if i := len(parts) - 1 - fromEnd; i >= 0 {
			return parts[i]
		}
		return ""
	}
	db := b.Env.Database
	if name := part(2); name != "" && !b.Same(name, db.Name) {
		if b.Env.Server == nil {
			return nil
		}
		if db = b.Env.Server.Databases[b.Fold(name)]; db == nil {
			return nil
		}
	}
	if part(3) != "" {
		return nil
	}
	o := db.Find(part(1), part(0), b.Env.Schema)
	if synonym, ok := o.(*schema.Synonym); ok && hops < 8 {
		return b.objectOf(synonym.For, hops+1)
	}
	return o
}

// tableSource makes the source of a table.
func (b *Binder) tableSource(from execute.Source, hints execute.Hints, maybe bool) *Source {
	src, _ := b.tableAndSource(from, hints, maybe)
	return src
}

// tableAndSource is tableSource with the relation that the source has.
func (b *Binder) tableAndSource(from execute.Source, hints execute.Hints, maybe bool) (*Source, *TableRel) {
	t := from.Table
	if from.Place == execute.InCatalog {
		b.defined(t)
	}
	table := &TableRel{Source: from, Hints: hints, Row: -1, Slots: make([]int, len(t.Columns))}
	src := &Source{Name: t.Name, table: t, Rel: table}
	table.Of, table.binder = src, b
	for i, c := range t.Columns {
		table.Slots[i] = -1
		src.columns = append(src.columns, sourceColumn{name: c.Name, hidden: c.Hidden, make: func() (*Node, error) {
			if c.Computed != nil && !c.Stored {
				return b.computedColumn(src, c, maybe)
			}
			table.Slots[i] = b.NewSlot()
			n := ColumnNode(table.Slots[i], b.ColumnType(c), c.Nullable || maybe)
			n.Base = c
			return n, nil
		}})
	}
	return src, table
}

// ColumnType returns the type of a column with its collation.
func (b *Binder) ColumnType(c *schema.Column) schema.Type {
	return b.Collated(c.Type)
}

// computedColumn binds a computed column whose value is not in the row.
func (b *Binder) computedColumn(src *Source, c *schema.Column, maybe bool) (*Node, error) {
	inside := *b
	env := *b.Env
	env.Variables, env.Tables, env.Inserted, env.File = nil, nil, nil, c.File
	inside.Env = &env
	inside.params = nil
	inside.owner = src.table
	row := *src
	row.reads = nil // what it is computed of takes no permission
	n, err := inside.expr(&scope{level: level{Sources: []*Source{&row}, Clause: lookup.InList}}, c.Computed)
	if err != nil {
		return nil, err
	}
	out := *n
	out.Type = b.ColumnType(c)
	out.Base, out.literal = nil, nil
	out.Nullable = c.Nullable || maybe
	if out.Type.IsCharacter() {
		out.Label = value.Implicit
	}
	return &out, nil
}

// variableTable finds a table variable or a table-valued parameter.
func (b *Binder) variableTable(v *syntax.VariableTable, maybe bool) (*Source, error) {
	t := b.Env.Tables[b.Fold(v.Name)]
	if t == nil {
		return nil, fault.New(1087, v.Name)
	}
	hints, err := b.hints(v.Hints)
	if err != nil {
		return nil, err
	}
	b.uses(t.Slot)
	src := b.tableSource(execute.Source{Place: execute.InVariable, Table: t.Table, Slot: t.Slot}, hints, maybe)
	src.Name = v.Name // for [@t].id
	if v.Alias != nil {
		src.Name = v.Alias.Value
	}
	return src, nil
}

// derived binds (query) AS alias (columns).
func (b *Binder) derived(s *scope, d *syntax.DerivedTable, maybe bool) (*Source, error) {
	r, columns, err := b.subquery(s, d.Query, false)
	if err != nil {
		return nil, err
	}
	name := ""
	if d.Alias != nil {
		name = d.Alias.Value
	}
	return b.named(r, columns, name, d.Columns, maybe)
}

// named makes a source of a query's rows. All columns must have a name, each its own.
func (b *Binder) named(r Rel, columns []OutColumn, name string, names []syntax.Ident, maybe bool) (*Source, error) {
	switch {
	case len(names) == 0:
	case len(names) < len(columns):
		return nil, fault.New(8158, name)
	case len(names) > len(columns):
		return nil, fault.New(8159, name)
	}
	src := &Source{Name: name, Rel: r}
	seen := map[string]bool{}
	for i, c := range columns {
		if len(names) > 0 {
			c.name = names[i].Value
		}
		if c.name == "" {
			return nil, fault.New(8155, i+1, name)
		}
		if seen[b.Fold(c.name)] {
			return nil, fault.New(8156, c.name, name)
		}
		seen[b.Fold(c.name)] = true
		src.columns = append(src.columns, sourceColumn{name: c.name, make: func() (*Node, error) {
			return b.passed(r, c.Node, maybe), nil
		}})
	}
	return src, nil
}

// passed returns a column of a query as the query around it sees it: an expression is computed where it is used, unless
// that might change what comes of it or what it costs.
func (b *Binder) passed(r Rel, n *Node, maybe bool) *Node {
	out := *n
	out.literal = nil
	switch {
	case n.Kind == IsColumn:
		out.Nullable = n.Nullable || maybe
		return &out
	case !maybe && cheap(n):
		return &out
	}
	q, ok := r.(*Block)
	if !ok {
		return &out
	}
	slot := b.NewSlot()
	q.Computes = append(q.Computes, Computed{slot, n})
	c := ColumnNode(slot, n.Type, n.Nullable || maybe)
	c.Label, c.other, c.shownNull = n.Label, n.other, n.ShownNullable()
	return c
}

// cheap reports whether an expression may be computed wherever it is referred to.
func cheap(n *Node) bool {
	ok, size := true, 0
	n.walk(func(x *Node) {
		size++
		if x.Sub != nil || x.varies || x.session {
			ok = false
		}
	})
	return ok && size <= 24
}

// valuesTable binds (VALUES …) AS alias (columns).
func (b *Binder) valuesTable(s *scope, v *syntax.ValuesTable, maybe bool) (*Source, error) {
	r, columns, err := b.values(s.in(lookup.InFrom), v.Rows)
	if err != nil {
		return nil, err
	}
	name := ""
	if v.Alias != nil {
		name = v.Alias.Value
	}
	return b.named(r, columns, name, v.Columns, maybe)
}

// valueRows binds the expressions of a VALUES list, whose rows have to be of one length.
func (b *Binder) valueRows(s *scope, rows [][]syntax.Expr) ([][]*Node, error) {
	var all [][]*Node
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, fault.New(10709)
		}
		var nodes []*Node
		for _, x := range row {
			n, err := b.expr(s, x)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		}
		all = append(all, nodes)
	}
	return all, nil
}

// values binds a VALUES list.
func (b *Binder) values(s *scope, rows [][]syntax.Expr) (*RowsRel, []OutColumn, error) {
	all, err := b.valueRows(s, rows)
	if err != nil {
		return nil, nil, err
	}
	r := &RowsRel{Rows: float64(len(rows)), text: "values"}
	var columns []OutColumn
	width := len(rows[0])
	for i := range width {
		var column []*Node
		nullable := false
		for _, row := range all {
			column = append(column, row[i])
			nullable = nullable || row[i].Nullable
		}
		t, label, err := b.unite(column)
		if err != nil {
			return nil, nil, err
		}
		t = untyped(t)
		slot := b.NewSlot()
		r.slots = append(r.slots, slot)
		n := ColumnNode(slot, t, nullable)
		n.Label = label
		columns = append(columns, OutColumn{Node: n, computed: true})
		for _, row := range all {
			row[i] = b.become(row[i], t)
		}
	}
	for _, row := range all {
		r.Args = append(r.Args, row...)
	}
	r.Make = func(args []Code, need Set) execute.Operator {
		var out [][]execute.Assign
		for len(args) > 0 {
			var row []execute.Assign
			for i := range width {
				if need.Has(r.slots[i]) {
					row = append(row, execute.Assign{Slot: r.slots[i], Value: args[i].Expr})
				}
			}
			out, args = append(out, row), args[width:]
		}
		return execute.Values(out, r.text)
	}
	return r, columns, nil
}

// Filter binds the condition of a filtered index.
func (t *TableRel) Filter(ix *schema.Index) ([]*Node, error) {
	if ix.Where == nil {
		return nil, nil
	}
	if f, ok := t.filters[ix]; ok {
		return f, nil
	}
	inside := *t.binder
	env := *inside.Env
	env.Variables, env.Tables, env.File = nil, nil, ix.File
	inside.Env, inside.params = &env, nil
	src := *t.Of
	list, err := inside.conditions(&scope{level: level{Sources: []*Source{&src}, Clause: lookup.InWhere}}, ix.Where)
	if err != nil {
		return nil, err
	}
	if t.filters == nil {
		t.filters = map[*schema.Index][]*Node{}
	}
	t.filters[ix] = list
	return list, nil
}
