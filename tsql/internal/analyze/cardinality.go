package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// cardinality says how many rows a SELECT has. It says One or Optional only when that follows from the text and the
// keys, for any rows that the tables may hold.
//
// Uniqueness is a fact of the schema, not of today's data, so that the answer stays right:
//
//	SELECT name FROM dbo.customers WHERE id = @id        -- Optional, if id is the primary key
//	SELECT name FROM dbo.customers WHERE name = @name    -- Many
//	SELECT COUNT(*) AS n FROM dbo.customers              -- One: an aggregate has its row also of no rows
func (a *analyzer) cardinality(s *scope, q *syntax.Select, from joined) Cardinality {
	rows := Many
	switch {
	case s.group != nil && s.group.whole:
		rows = One
		if q.Having != nil {
			rows = Optional
		}
	case s.group != nil && s.group.nullable:
		// ROLLUP and its like add rows for the totals.
	case s.group != nil && a.groupsOnce(s, q.Where, from):
		rows = Optional
	case a.reachesAll(s, q.Where, from, nil):
		rows = Optional
		if from.some && q.Where == nil && q.GroupBy == nil {
			rows = One
		}
	}
	if t := q.Top; t != nil {
		switch {
		case isOne(t.N) && !t.Percent && !t.WithTies:
			rows = max(rows, Optional)
		case rows == One && isZero(t.N), rows == One && !isNumber(t.N):
			rows = Optional
		}
	}
	return rows
}

// groupsOnce reports whether all rows fall into one group, because every grouped column is fixed.
//
// SELECT customer, SUM(total) … WHERE customer = @c GROUP BY customer has one group, or none if no row is left.
func (a *analyzer) groupsOnce(s *scope, where syntax.Expr, from joined) bool {
	if from.full || len(s.group.items) > 0 {
		return false
	}
	_, fixed := a.reaches(s, where, from, nil)
	return allFixed(fixed, s.group.columns)
}

// isOne, isZero and isNumber look at the literal in TOP and FETCH.
func isOne(x syntax.Expr) bool  { return isInt(x, "1") }
func isZero(x syntax.Expr) bool { return isInt(x, "0") }

func isNumber(x syntax.Expr) bool {
	lit, ok := syntax.Unparen(x).(*syntax.Literal)
	return ok && lit.Kind == syntax.IntLiteral
}

func isInt(x syntax.Expr, value string) bool {
	lit, ok := syntax.Unparen(x).(*syntax.Literal)
	return ok && lit.Kind == syntax.IntLiteral && lit.Value == value
}

// resultKeys returns the sets of result columns that no two rows share: the keys of each table that determines the rows
// of all others, the grouped columns, and all columns after DISTINCT.
//
// They are what makes a query over a view, a derived table or a common table expression Optional. A join with orders in
// which each order meets one customer at most keeps the keys of orders; those of customers, each of whom may be met
// often, are lost.
func (a *analyzer) resultKeys(s *scope, q *syntax.Select, from joined, out *result) [][]string {
	names := a.resultNames(s, q, out)
	var keys [][]string
	add := func(columns []place) {
		if key := rename(columns, names); len(key) > 0 {
			keys = append(keys, key)
		}
	}
	if s.group == nil {
		for _, src := range s.Sources {
			if len(src.keys) == 0 || src.lateral || !a.reachesAll(s, q.Where, from, src) {
				continue
			}
			for _, key := range src.keys {
				add(src.places(key))
			}
		}
	} else if !s.group.nullable && len(s.group.items) == 0 {
		add(s.group.columns)
	}
	if q.Distinct {
		all := make([]string, len(out.columns))
		for i, c := range out.columns {
			all[i] = c.Name
		}
		if !slices.Contains(all, "") {
			keys = append(keys, all)
		}
	}
	return keys
}

// rename returns the names of columns in a result, nil if one of them isn't there.
func rename(columns []place, names map[place]string) []string {
	var key []string
	for _, c := range columns {
		name := names[c]
		if name == "" {
			return nil
		}
		key = append(key, name)
	}
	return key
}

// resultNames returns the names that the columns of the sources have in the result.
func (a *analyzer) resultNames(s *scope, q *syntax.Select, out *result) map[place]string {
	names := map[place]string{}
	for i, x := range out.items {
		if x == nil {
			continue // of a star
		}
		if ref, ok := syntax.Unparen(x).(*syntax.ColumnRef); ok {
			if at, ok := a.local(s, ref); ok {
				names[at] = out.columns[i].Name
			}
		}
	}
	starNames(s, q, names)
	return names
}

// starNames adds the columns that a star brings into the result.
func starNames(s *scope, q *syntax.Select, names map[place]string) {
	for _, item := range q.Items {
		star, ok := item.X.(*syntax.Star)
		if !ok {
			continue
		}
		for _, src := range s.Qualified(star.Qualifier, same) {
			for i, c := range src.columns {
				if !src.hides(i) {
					names[place{Table: src, Column: i}] = c.Name
				}
			}
		}
	}
}

// places returns the columns of a key.
func (src *source) places(key []string) []place {
	out := make([]place, len(key))
	for i, name := range key {
		out[i] = place{Table: src, Column: src.column(name)}
	}
	return out
}

// An equality fixes a column as soon as the columns of the other side are fixed.
type equality struct {
	column place
	needs  []place
	after  []*source // tables whose rows must be fixed before: without a match, an outer join has NULL instead
}

// reachesAll reports whether the conditions leave at most one row: of each table at most one, because a key of it is
// compared with constants or with columns of rows that are fixed already. With start, the row of that table is given.
func (a *analyzer) reachesAll(s *scope, where syntax.Expr, from joined, start *source) bool {
	if from.full {
		return false
	}
	reached, _ := a.reaches(s, where, from, start)
	return len(reached) == len(from.sources)
}

// reaches returns the tables of which at most one row is left, and the columns that have one value at most. It goes on
// until nothing new comes out: a fixed key fixes its table's columns, which fix what is compared with them.
//
// In
//
//	FROM dbo.orders AS o JOIN dbo.customers AS c ON c.id = o.customer_id WHERE o.id = @id
//
// the variable fixes o.id, the key o.id fixes all columns of o, o.customer_id fixes c.id, and that key fixes c.
func (a *analyzer) reaches(s *scope, where syntax.Expr, from joined, start *source) (map[*source]bool, map[place]bool) {
	fixed := map[place]bool{}
	reached := map[*source]bool{}
	reach := func(src *source) {
		reached[src] = true
		for i := range src.columns {
			fixed[place{Table: src, Column: i}] = true
		}
	}
	if start != nil {
		reach(start)
	}
	equalities := a.equalities(s, where, from)
	for changed := true; changed; {
		changed = false
		for _, eq := range equalities {
			if !fixed[eq.column] && allFixed(fixed, eq.needs) && allReached(reached, eq.after) {
				fixed[eq.column], changed = true, true
			}
		}
		for _, src := range from.sources {
			if reached[src] || !src.isFixed(fixed) || !allReached(reached, src.after) {
				continue
			}
			reach(src)
			changed = true
		}
	}
	return reached, fixed
}

// isFixed reports whether a table has one row at most, or its row is determined by fixed columns.
func (src *source) isFixed(fixed map[place]bool) bool {
	return !src.bad && (src.rows != Many || slices.ContainsFunc(src.keys, func(key []string) bool {
		return len(key) > 0 && allFixed(fixed, src.places(key))
	}))
}

func allReached(reached map[*source]bool, sources []*source) bool {
	return !slices.ContainsFunc(sources, func(src *source) bool { return !reached[src] })
}

func allFixed(fixed map[place]bool, places []place) bool {
	return !slices.ContainsFunc(places, func(p place) bool { return !fixed[p] })
}

// equalities collects the comparisons that hold for every row of the result.
//
// An ON counts too; that of an outer join only for the side that may be missing, since the other side keeps its rows
// whether or not it holds.
func (a *analyzer) equalities(s *scope, where syntax.Expr, from joined) []equality {
	var out []equality
	// What WHERE says holds for every row; what ON says doesn't where an outer join found nothing.
	collect := func(at *scope, cond syntax.Expr, only []*source, filter bool) {
		for _, c := range syntax.Conjuncts(cond) {
			for _, eq := range a.equality(at, c) {
				if only == nil || slices.Contains(only, eq.column.Table) {
					if !filter {
						eq.after = eq.column.Table.after
					}
					out = append(out, eq)
				}
			}
		}
	}
	if where != nil {
		collect(s, where, nil, true)
	}
	for _, b := range from.bounds {
		collect(b.scope, b.cond, b.only, false)
	}
	return out
}

// equality reads column = expression, in both directions.
func (a *analyzer) equality(s *scope, cond syntax.Expr) []equality {
	c, ok := cond.(*syntax.Compare)
	if !ok || c.Op != "=" && c.Op != "IS NOT DISTINCT FROM" {
		return nil
	}
	var out []equality
	for _, side := range [][2]syntax.Expr{{c.X, c.Y}, {c.Y, c.X}} {
		ref, ok := syntax.Unparen(side[0]).(*syntax.ColumnRef)
		if !ok {
			continue
		}
		at, ok := a.local(s, ref)
		if !ok {
			continue
		}
		needs, pure := a.dependencies(s, side[1])
		if pure && a.keepsApart(s, at, side[1]) {
			out = append(out, equality{column: at, needs: needs})
		}
	}
	return out
}

// dependencies returns the columns on which an expression depends. It is not pure if it may have another value each
// time, or compares otherwise than the column does: a subquery, a function such as NEWID, a COLLATE.
func (a *analyzer) dependencies(s *scope, x syntax.Expr) (needs []place, pure bool) {
	pure = true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ColumnRef:
			if at, ok := a.local(s, n); ok {
				needs = append(needs, at)
			}
			return false
		case *syntax.Subquery, *syntax.Collate, *syntax.NextValue:
			pure = false
		case *syntax.Call:
			pure = pure && len(n.Name.Parts) == 1 && !isVolatile(n)
		}
		return pure
	})
	return needs, pure
}

// isVolatile reports functions that are computed anew for each row.
//
// WHERE id = ABS(CHECKSUM(NEWID())) % 10 can find several rows, though id is a key: each row is compared with another
// number.
func isVolatile(c *syntax.Call) bool {
	switch strings.ToUpper(c.Name.Parts[0].Value) {
	case "NEWID", "RAND", "NEWSEQUENTIALID", "CRYPT_GEN_RANDOM":
		return true
	default:
		return c.Over != nil
	}
}

// keepsApart reports whether different values of the column stay different in a comparison with the expression. They
// don't when the column is converted to a type of another family: both '5' and '05' equal 5.
func (a *analyzer) keepsApart(s *scope, at place, x syntax.Expr) bool {
	column := at.Table.columns[at.Column].Type
	var other typed
	a.quietly(func() { other = a.expr(s, x) })
	if column.IsCharacter() && !column.IsNational() && other.Type.IsNational() {
		return false // in a SQL collation varchar tells 'ß' from 'ss', and nvarchar doesn't
	}
	return !other.bad() && (column.Kind == other.Type.Kind || family(column) != 0 && family(column) == family(other.Type) ||
		column.Precedence() < other.Type.Precedence())
}

// family numbers the groups of types among which conversions lose nothing that tells two values apart. It is 0 for
// types of no such group: float, where large integers meet, and the date types, which may lose fractions of a second.
//
// Within a family, a comparison converts to the wider type, in which different values stay different.
func family(t sqltype.Type) int {
	switch {
	case t.IsCharacter():
		return 1
	case t.IsExactInteger(), t.Kind == sqltype.Bit, t.Kind == sqltype.Decimal, t.IsMoney():
		return 2
	case t.IsBinary():
		return 3
	default:
		return 0
	}
}
