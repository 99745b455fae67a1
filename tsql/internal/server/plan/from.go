package plan

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// from binds a comma-separated FROM clause, adding its tables to the scope.
func (b *binder) from(s *scope, list []syntax.TableSource) (rel, error) {
	around := &scope{outer: s.outer, ctes: s.ctes, clause: inFrom}
	var all rel
	for _, src := range list {
		r, sources, err := b.source(around, src, false)
		if err != nil {
			return nil, err
		}
		s.sources = append(s.sources, sources...)
		if all == nil {
			all = r
		} else {
			all = &joinRel{kind: "INNER", x: all, y: r}
		}
	}
	if all == nil {
		all = oneRel{}
	}
	return all, b.expose(s.sources)
}

// source binds one element of a FROM clause. s is what surrounds it: the query further out and, on the right of an
// APPLY, the tables on its left. Maybe says that an outer join may have no row of it.
func (b *binder) source(s *scope, src syntax.TableSource, maybe bool) (rel, []*source, error) {
	var one *source
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
		err = b.unsupported(src.Range(), "this kind of table")
	}
	if err != nil {
		return nil, nil, err
	}
	return one.rel, []*source{one}, nil
}

// join binds both sides of a join and its condition, which sees the tables of both and no others beside them.
func (b *binder) join(s *scope, j *syntax.Join, maybe bool) (rel, []*source, error) {
	leftMaybe := maybe || j.Kind == "RIGHT" || j.Kind == "FULL"
	rightMaybe := maybe || j.Kind == "LEFT" || j.Kind == "FULL" || j.Kind == "OUTER APPLY"
	x, left, err := b.source(s, j.X, leftMaybe)
	if err != nil {
		return nil, nil, err
	}
	inner := s
	if strings.HasSuffix(j.Kind, "APPLY") {
		side := &scope{outer: s, ctes: s.ctes, clause: inFrom, sources: left}
		inner = side.inner()
	}
	y, right, err := b.source(inner, j.Y, rightMaybe)
	if err != nil {
		return nil, nil, err
	}
	both := append(slices.Clip(left), right...)
	out := &joinRel{kind: "INNER", x: x, y: y, hint: j.Hint}
	switch j.Kind {
	case "LEFT", "OUTER APPLY":
		out.kind = "LEFT"
	case "RIGHT":
		out.kind, out.x, out.y, out.swapped = "LEFT", y, x, true
	case "FULL":
		out.kind = "FULL"
	}
	if j.Hint != "" {
		b.options.force = true
		if j.Hint == "REMOTE" {
			return nil, nil, b.unsupported(j.Span, "REMOTE JOIN")
		}
	}
	if j.On != nil {
		on := &scope{outer: s, ctes: s.ctes, sources: both, clause: inOn}
		if out.on, err = b.conditions(on, j.On); err != nil {
			return nil, nil, err
		}
	}
	return out, both, nil
}

// tableRef finds what a name in FROM stands for: a common table expression, a temporary table, a table or a view.
func (b *binder) tableRef(s *scope, ref *syntax.TableRef, maybe bool) (*source, error) {
	name := lastOf(ref.Name)
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
	var src *source
	if len(ref.Name.Parts) == 1 {
		if c := s.ctes.find(b, name); c != nil {
			if ref.Temporal != "" {
				return nil, fault.New(13544, name)
			}
			inside := *b
			inside.inherited = hints
			if hints.Index != "" || hints.ForceSeek || hints.ForceScan {
				return nil, b.unsupported(ref.Span, "a hint about indexes on a common table expression")
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
	src.name = name
	if ref.Alias != nil {
		src.name, src.schema = ref.Alias.Value, ""
	}
	return src, nil
}

// objectSource finds a table or a view of the catalog, or a temporary table, or one of those of a trigger.
func (b *binder) objectSource(ref *syntax.TableRef, hints execute.Hints, maybe bool) (*source, error) {
	name := lastOf(ref.Name)
	if err := linked(ref.Name); err != nil {
		return nil, err
	}
	if isTemp(ref.Name) {
		return b.temporary(ref, hints, maybe)
	}
	if t := b.env.Inserted; t != nil && len(ref.Name.Parts) == 1 {
		switch b.fold(name) {
		case b.fold("inserted"):
			return b.tableSource(execute.Source{Place: execute.InInserted, Table: shapeOf(t)}, hints, maybe), nil
		case b.fold("deleted"):
			return b.tableSource(execute.Source{Place: execute.InDeleted, Table: shapeOf(t)}, hints, maybe), nil
		}
	}
	switch o := b.object(ref.Name).(type) {
	case *schema.Table:
		if o.Data == nil {
			return nil, fault.New(208, textOf(ref.Name.Parts))
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
				return nil, b.unsupported(ref.Span, "a hint about indexes on a view")
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
	if v := sysview.Lookup(schemaOf(ref.Name), name); v != nil {
		return b.systemView(v, maybe), nil
	}
	if sysview.ViewElsewhere(b.databaseNamed(ref.Name), schemaOf(ref.Name), name) {
		return nil, b.absent(ref.Span, textOf(ref.Name.Parts))
	}
	return nil, fault.New(208, textOf(ref.Name.Parts))
}

// databaseNamed is the database that a name is about.
func (b *binder) databaseNamed(name *syntax.ObjectName) string {
	if n := len(name.Parts); n > 2 && name.Parts[n-3].Value != "" {
		return name.Parts[n-3].Value
	}
	return b.env.Database.Name
}

// temporary is a temporary table.
func (b *binder) temporary(ref *syntax.TableRef, hints execute.Hints, maybe bool) (*source, error) {
	t := b.env.Temp(lastOf(ref.Name))
	switch {
	case t == nil:
		return nil, fault.New(208, lastOf(ref.Name))
	case ref.Temporal != "":
		return nil, fault.New(13544, t.FullName())
	default:
		return b.tableSource(execute.Source{Table: t}, hints, maybe), nil
	}
}

// catalogTable is a table of the catalog, with its history if FOR SYSTEM_TIME asks for it.
func (b *binder) catalogTable(t *schema.Table, ref *syntax.TableRef, hints execute.Hints, maybe bool) (*source, error) {
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
func (b *binder) object(name *syntax.ObjectName) schema.Object {
	parts := make([]string, len(name.Parts))
	for i, p := range name.Parts {
		parts[i] = p.Value
	}
	return b.objectOf(parts, 0)
}

func (b *binder) objectOf(parts []string, hops int) schema.Object {
	part := func(fromEnd int) string {
		if i := len(parts) - 1 - fromEnd; i >= 0 {
			return parts[i]
		}
		return ""
	}
	db := b.env.Database
	if name := part(2); name != "" && !b.same(name, db.Name) {
		if b.env.Server == nil {
			return nil
		}
		if db = b.env.Server.Databases[b.fold(name)]; db == nil {
			return nil
		}
	}
	if part(3) != "" {
		return nil
	}
	o := db.Find(part(1), part(0), b.env.Schema)
	if synonym, ok := o.(*schema.Synonym); ok && hops < 8 {
		return b.objectOf(synonym.For, hops+1)
	}
	return o
}

// tableSource makes the source of a table.
func (b *binder) tableSource(from execute.Source, hints execute.Hints, maybe bool) *source {
	src, _ := b.tableAndSource(from, hints, maybe)
	return src
}

// tableAndSource is tableSource with the relation that the source has.
func (b *binder) tableAndSource(from execute.Source, hints execute.Hints, maybe bool) (*source, *tableRel) {
	t := from.Table
	if from.Place == execute.InCatalog {
		b.defined(t)
	}
	table := &tableRel{source: from, hints: hints, row: -1, slots: make([]int, len(t.Columns))}
	src := &source{name: t.Name, table: t, rel: table}
	table.of, table.binder = src, b
	for i, c := range t.Columns {
		table.slots[i] = -1
		src.columns = append(src.columns, sourceColumn{name: c.Name, hidden: c.Hidden, make: func() (*node, error) {
			if c.Computed != nil && !c.Stored {
				return b.computedColumn(src, c, maybe)
			}
			table.slots[i] = b.newSlot()
			n := columnNode(table.slots[i], b.columnType(c), c.Nullable || maybe)
			n.base = c
			return n, nil
		}})
	}
	return src, table
}

// columnType is the type of a column with its collation.
func (b *binder) columnType(c *schema.Column) schema.Type {
	t := c.Type
	if t.IsCharacter() && t.Collation == nil {
		t.Collation = b.collation()
	}
	return t
}

// computedColumn binds a computed column whose value is not in the row.
func (b *binder) computedColumn(src *source, c *schema.Column, maybe bool) (*node, error) {
	inside := *b
	env := *b.env
	env.Variables, env.Tables, env.Inserted, env.File = nil, nil, nil, c.File
	inside.env = &env
	inside.params = nil
	inside.owner = src.table
	row := *src
	row.reads = nil // what it is computed of takes no permission
	n, err := inside.expr(&scope{sources: []*source{&row}, clause: inList}, c.Computed)
	if err != nil {
		return nil, err
	}
	out := *n
	out.typ = b.columnType(c)
	out.base, out.literal = nil, nil
	out.nullable = c.Nullable || maybe
	if out.typ.IsCharacter() {
		out.label = value.Implicit
	}
	return &out, nil
}

// variableTable finds a table variable or a table-valued parameter.
func (b *binder) variableTable(v *syntax.VariableTable, maybe bool) (*source, error) {
	t := b.env.Tables[b.fold(v.Name)]
	if t == nil {
		return nil, fault.New(1087, v.Name)
	}
	hints, err := b.hints(v.Hints)
	if err != nil {
		return nil, err
	}
	b.uses(t.Slot)
	src := b.tableSource(execute.Source{Place: execute.InVariable, Table: t.Table, Slot: t.Slot}, hints, maybe)
	src.name = v.Name // for [@t].id
	if v.Alias != nil {
		src.name = v.Alias.Value
	}
	return src, nil
}

// derived binds (query) AS alias (columns).
func (b *binder) derived(s *scope, d *syntax.DerivedTable, maybe bool) (*source, error) {
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
func (b *binder) named(r rel, columns []outColumn, name string, names []syntax.Ident, maybe bool) (*source, error) {
	switch {
	case len(names) == 0:
	case len(names) < len(columns):
		return nil, fault.New(8158, name)
	case len(names) > len(columns):
		return nil, fault.New(8159, name)
	}
	src := &source{name: name, rel: r}
	seen := map[string]bool{}
	for i, c := range columns {
		if len(names) > 0 {
			c.name = names[i].Value
		}
		if c.name == "" {
			return nil, fault.New(8155, i+1, name)
		}
		if seen[b.fold(c.name)] {
			return nil, fault.New(8156, c.name, name)
		}
		seen[b.fold(c.name)] = true
		src.columns = append(src.columns, sourceColumn{name: c.name, make: func() (*node, error) {
			return b.passed(r, c.node, maybe), nil
		}})
	}
	return src, nil
}

// passed returns a column of a query as the query around it sees it: an expression is computed where it is used, unless
// that might change what comes of it or what it costs.
func (b *binder) passed(r rel, n *node, maybe bool) *node {
	out := *n
	out.literal = nil
	switch {
	case n.kind == isColumn:
		out.nullable = n.nullable || maybe
		return &out
	case !maybe && cheap(n):
		return &out
	}
	q, ok := r.(*block)
	if !ok {
		return &out
	}
	slot := b.newSlot()
	q.computes = append(q.computes, computed{slot, n})
	c := columnNode(slot, n.typ, n.nullable || maybe)
	c.label, c.other, c.shownNull = n.label, n.other, n.shownNullable()
	return c
}

// cheap reports whether an expression may be computed wherever it is referred to.
func cheap(n *node) bool {
	ok, size := true, 0
	n.walk(func(x *node) {
		size++
		if x.sub != nil || x.varies || x.session {
			ok = false
		}
	})
	return ok && size <= 24
}

// valuesTable binds (VALUES …) AS alias (columns).
func (b *binder) valuesTable(s *scope, v *syntax.ValuesTable, maybe bool) (*source, error) {
	r, columns, err := b.values(s.in(inFrom), v.Rows)
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
func (b *binder) valueRows(s *scope, rows [][]syntax.Expr) ([][]*node, error) {
	var all [][]*node
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, fault.New(10709)
		}
		var nodes []*node
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
func (b *binder) values(s *scope, rows [][]syntax.Expr) (*rowsRel, []outColumn, error) {
	all, err := b.valueRows(s, rows)
	if err != nil {
		return nil, nil, err
	}
	r := &rowsRel{rows: float64(len(rows)), text: "values"}
	var columns []outColumn
	width := len(rows[0])
	for i := range width {
		var column []*node
		nullable := false
		for _, row := range all {
			column = append(column, row[i])
			nullable = nullable || row[i].nullable
		}
		t, label, err := b.unite(column)
		if err != nil {
			return nil, nil, err
		}
		t = untyped(t)
		slot := b.newSlot()
		r.slots = append(r.slots, slot)
		n := columnNode(slot, t, nullable)
		n.label = label
		columns = append(columns, outColumn{node: n, computed: true})
		for _, row := range all {
			row[i] = b.become(row[i], t)
		}
	}
	for _, row := range all {
		r.args = append(r.args, row...)
	}
	r.make = func(args []code, need set) execute.Operator {
		var out [][]execute.Assign
		for len(args) > 0 {
			var row []execute.Assign
			for i := range width {
				if need.has(r.slots[i]) {
					row = append(row, execute.Assign{Slot: r.slots[i], Value: args[i].expr})
				}
			}
			out, args = append(out, row), args[width:]
		}
		return execute.Values(out, r.text)
	}
	return r, columns, nil
}
