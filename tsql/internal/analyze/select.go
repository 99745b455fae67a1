package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// selectBody types one SELECT, in the order in which its clauses take effect: FROM, WHERE, GROUP BY, HAVING, the select
// list. Aliases of the list are therefore unknown to all of them; only ORDER BY, which comes later, sees them.
func (a *analyzer) selectBody(outer *scope, q *syntax.Select) result {
	s := outer.inner()
	s.Windows, s.Exists = q.Windows, outer.Exists
	from := a.from(s, q.From)
	if q.Where != nil {
		a.cond(s.in(lookup.InWhere), q.Where)
		a.refine(s, q.Where)
	}
	if q.Top != nil {
		a.top(outer, q.Top)
	}
	a.groups(s, q)
	if q.Having != nil {
		a.cond(s.in(lookup.InHaving), q.Having)
		a.refine(s, q.Having)
	}
	for _, w := range q.Windows {
		a.window(s.in(lookup.InList), w.Window)
	}
	out := a.selectList(s, q)
	if q.Distinct {
		a.sortedColumns(s.env, out.columns, "DISTINCT")
	}
	out.rows = a.cardinality(s, q, from)
	out.keys = a.resultKeys(s, q, from, &out)
	if q.Into != nil {
		a.selectInto(s, q, &out)
	}
	return out
}

// top checks TOP, which sees no column of its query.
func (a *analyzer) top(outer *scope, t *syntax.Top) {
	want := typeBigInt
	if t.Percent {
		want = typeFloat
	}
	a.takes(outer.in(lookup.InTop), t.N, want, "TOP")
}

// checkTop refuses what the server refuses beside TOP.
func (a *analyzer) checkTop(e *env, q *syntax.Query) {
	selected, ok := q.Body.(*syntax.Select)
	switch {
	case !ok || selected.Top == nil:
	case q.Offset != nil:
		a.fail(e, selected.Top.Span, "use one of them", "TOP can't be combined with OFFSET")
	case selected.Top.WithTies && len(q.OrderBy) == 0:
		a.fail(e, selected.Top.Span, "add ORDER BY", "WITH TIES needs an ORDER BY")
	}
}

// groups checks GROUP BY and, if rows are grouped, limits what the clauses after it may refer to: the grouped columns,
// the grouped expressions as they are written, and aggregates.
//
//	SELECT YEAR(at) AS y, COUNT(*) AS n FROM dbo.orders GROUP BY YEAR(at)
//
// repeats the expression rather than its alias, which GROUP BY does not know; so two expressions have to be compared
// for being the same, which is what fingerprint is for.
func (a *analyzer) groups(s *scope, q *syntax.Select) {
	if q.GroupBy == nil {
		if builtin.Aggregates(q, nil) {
			s.group = &grouping{whole: true}
		}
		return
	}
	g := &grouping{nullable: q.GroupBy.Extended, items: map[string]typed{}}
	for _, item := range q.GroupBy.Items {
		item = syntax.Unparen(item)
		if lit, ok := item.(*syntax.Literal); ok {
			a.fail(s.env, lit.Span, "group by a column", "a constant groups nothing")
			continue
		}
		t := a.expr(s.in(lookup.InGroupBy), item)
		a.sorted(s.env, t.Type, item.Range(), "GROUP BY")
		t.literal, t.Nullable = nil, t.Nullable || g.nullable
		if ref, ok := item.(*syntax.ColumnRef); ok {
			if at, ok := a.local(s, ref); ok {
				g.columns = append(g.columns, at)
				continue
			}
		}
		g.items[a.fingerprint(s, item)] = t
	}
	s.group = g
}

// local finds a column among the sources of a scope itself, without reporting anything.
func (a *analyzer) local(s *scope, ref *syntax.ColumnRef) (place, bool) {
	var at place
	var owner *scope
	var ok bool
	a.quietly(func() { at, owner, ok = a.find(s, ref) })
	return at, ok && owner == s
}

// selectList types the columns of a SELECT. Those without a name stay without one here: whoever reads them decides
// whether that matters.
func (a *analyzer) selectList(s *scope, q *syntax.Select) result {
	out := result{selectScope: s, selected: q}
	list := s.in(lookup.InList)
	assigns := 0
	for _, item := range q.Items {
		switch x := item.X.(type) {
		case *syntax.Star:
			a.star(list, x, &out)
		default:
			t := a.selected(list, q, item)
			if item.Variable != nil {
				assigns++
				a.assignVariable(s.env, item.Variable, item.AssignOp, t, x)
				continue
			}
			out.bad = out.bad || t.bad()
			c := Column{Name: item.Name(), Type: t.Type, Nullable: t.Nullable, Span: item.Span, unsaid: !a.createdNotNull(list, x), origin: t.origin}
			out.add(c, t, x)
		}
	}
	out.none = assigns > 0
	if assigns > 0 && assigns < len(q.Items) {
		a.fail(s.env, q.Span, "use two statements", "a SELECT that assigns variables can't return columns too")
		out.bad = true
	}
	return out
}

func (r *result) add(c Column, t typed, x syntax.Expr) {
	r.columns = append(r.columns, c)
	r.values = append(r.values, t)
	r.items = append(r.items, x)
}

// star expands * and t.* from what is known of the tables, in the order of FROM. Below EXISTS it stands for nothing.
//
// Of a JOIN all columns come, those of both sides even if they have one name; T-SQL has neither USING nor NATURAL.
// HIDDEN columns, which a temporal table may have, have to be named.
func (a *analyzer) star(s *scope, star *syntax.Star, out *result) {
	sources := s.Qualified(star.Qualifier, same)
	switch {
	case len(sources) == 0 && len(star.Qualifier) > 0:
		ref := &syntax.ColumnRef{Span: star.Span, Parts: append(slices.Clone(star.Qualifier), syntax.Ident{Span: star.Span, Value: "*"})}
		a.failUnknownColumn(s, ref)
		out.bad = true
	case len(sources) == 0:
		a.failName(s.env, star.Span, "", "* stands where no table is read")
		out.bad = true
	}
	for _, src := range sources {
		out.bad = out.bad || src.bad
		if s.Exists {
			continue
		}
		if src.isSystem() {
			a.fail(s.env, star.Span, "list the columns", "not all columns of %s are known to the generator", src.table.Name)
			out.bad = true
			return
		}
		if s.env.grows(src.table) {
			a.failGap(s.env, star.Span, "list the columns", "dynamic SQL gives %s columns that are not known", src.table.Name.Name)
			out.bad = true
			return
		}
		for i, c := range src.columns {
			if src.hides(i) {
				continue
			}
			t := typed{Type: c.Type, Nullable: c.Nullable}
			if s.group != nil && !slices.Contains(s.group.columns, place{Table: src, Column: i}) {
				a.fail(s.env, star.Span, "list the grouped columns", "* includes %s, which is not grouped", c.Name)
				out.bad = true
				return
			}
			t.Nullable = t.Nullable || s.group != nil && s.group.nullable
			out.bad = out.bad || t.bad()
			c.Span, c.Nullable, c.unsaid = star.Span, t.Nullable, c.unsaid || src.refined[i]
			out.add(c, t, nil)
		}
		out.changed = later(out.changed, src.changed)
	}
}

// selectInto makes the table of SELECT … INTO known: a temp table, or one that the procedure makes for itself.
func (a *analyzer) selectInto(s *scope, q *syntax.Select, out *result) {
	out.none = true
	name := q.Into.Last().Value
	working, isWorking := a.workingInto(s.env, q.Into)
	var known *catalog.Table // of the scripts, which is made again
	if s.env.working != nil {
		known = a.cat.Table(working)
	}
	if !q.Into.IsTemp() && !isWorking && known == nil {
		a.failName(s.env, q.Into.Span, "create the table in a script and INSERT into it, or use a temp table",
			"SELECT … INTO creates table %s when it runs", syntax.Dotted(q.Into.Parts))
		return
	}
	table := &catalog.Table{Place: catalog.Place{File: s.env.file, Span: q.Into.Span}, Name: catalog.Name{Name: name}}
	if isWorking {
		table.Name = working
	} else if known == nil {
		a.checkCreatedOnce(s.env, q.Into.Last())
	}
	if !out.bad {
		out.bad = !a.checkNames(s.env, out.columns, "of "+name)
	}
	numbered := a.numbered(s, q, out)
	for i, c := range out.columns {
		if out.values[i].isNull() {
			c.Type = typeInt
		}
		table.Columns = append(table.Columns, catalog.Column{
			Name: c.Name, Type: c.Type, Span: c.Span, Identity: i == numbered,
			Nullable: i != numbered && (c.Nullable || c.unsaid || i >= len(out.items)),
		})
	}
	switch {
	case isWorking:
		s.env.working.tables[working.Key()] = table
	case known == nil:
		s.env.declareTable(name, table)
	case !out.bad && !restores(table, known):
		a.failName(s.env, q.Into.Span, "INSERT into the table, or use a temp table",
			"SELECT … INTO makes table %s, which the scripts define, in another way", syntax.Dotted(q.Into.Parts))
	}
}

// workingInto returns the name of the working table that SELECT … INTO makes; it is false if that is not known here.
func (a *analyzer) workingInto(e *env, into *syntax.ObjectName) (catalog.Name, bool) {
	name, err := a.cat.Resolve(into)
	own := len(into.Parts) > 1 || e.schema == "" || same(e.schema, a.cat.DefaultSchema)
	return name, err == nil && own && !into.IsTemp() && e.working != nil && e.working.makes(name)
}

// checkCreatedOnce reports a second statement that creates a temp table: the server refuses to compile the two, also in
// different branches.
func (a *analyzer) checkCreatedOnce(e *env, name syntax.Ident) {
	if _, known := e.table(name.Value); known {
		a.failName(e, name.Span, "create it once, before the branches, or under another name",
			"temp table %s is created before, and one procedure cannot create it twice", name.Value)
	}
}

// createdNotNull reports whether SELECT … INTO makes a column NOT NULL of an expression that is never NULL. Rows with
// NULL may come later into any other, so it is nullable for us too: only plain columns, literals and ISNULL with one of
// them are taken over, and not when it was WHERE that kept the NULLs out. Of UNION and its like, nothing is.
func (a *analyzer) createdNotNull(s *scope, x syntax.Expr) bool {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		return x.Kind != syntax.NullLiteral
	case *syntax.ColumnRef:
		at, ok := a.local(s, x)
		if !ok {
			return false
		}
		c := at.Table.columns[at.Column]
		return !c.Nullable && !c.unsaid && !at.Table.refined[at.Column]
	case *syntax.Call:
		return len(x.Name.Parts) == 1 && same(x.Name.Parts[0].Value, "ISNULL") &&
			slices.ContainsFunc(x.Args, func(arg syntax.Expr) bool { return a.createdNotNull(s, arg) })
	default:
		return false
	}
}

// fingerprint is a text that two expressions share when they mean the same: without blanks and comments, in lower case
// outside of literals, with every column by the table that it belongs to.
//
// o.Total + 1 and Total+1 are one if Total is found in o. The server compares them in much the same way, and says 8120
// of what differs.
func (a *analyzer) fingerprint(s *scope, x syntax.Expr) string {
	var out strings.Builder
	file := s.env.file
	at := x.Range().From
	copyTo := func(to diag.Pos) {
		if to > at {
			text := withoutComments(file.Slice(diag.Span{From: at, To: to}))
			out.WriteString(strings.ToLower(strings.Join(strings.Fields(text), "")))
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ColumnRef:
			found, ok := a.local(s, n)
			if !ok {
				return false
			}
			copyTo(n.From)
			out.WriteString("{" + strconv.Itoa(slices.Index(s.Sources, found.Table)) + "." + strconv.Itoa(found.Column) + "}")
			at = n.To
			return false
		case *syntax.Literal:
			copyTo(n.From)
			out.WriteString(file.Slice(n.Span))
			at = n.To
			return false
		}
		return true
	})
	copyTo(x.Range().To)
	return out.String()
}

// withoutComments returns a text that holds no strings without its comments, in each place of which is a blank.
func withoutComments(text string) string {
	var out strings.Builder
	for depth := 0; text != ""; {
		switch {
		case strings.HasPrefix(text, "/*"):
			depth++
			text = text[2:]
		case depth > 0 && strings.HasPrefix(text, "*/"):
			depth--
			text = text[2:]
			out.WriteByte(' ')
		case depth == 0 && strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
			out.WriteByte(' ')
		default:
			if depth == 0 {
				out.WriteByte(text[0])
			}
			text = text[1:]
		}
	}
	return out.String()
}
