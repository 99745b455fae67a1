package analyze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// results decides which steps fill the same field of the result, and returns the fields in the order of the text.
//
// Fields are not edges. In IF @x = 1 SELECT 1 AS a; SELECT 2 AS b; two edges carry the set b, one after a and one
// without; but it is one statement, and whoever writes the procedure expects one field for it.
func (m *automaton) results(sets []sender, found *diag.List) []ResultSet {
	apart := m.exclusive()
	groups := m.group(sets, apart)
	results := make([]ResultSet, len(groups))
	for i, group := range groups {
		for _, e := range group {
			m.edges[e].field = i
		}
	}
	for i, group := range groups {
		var senders []int
		for _, e := range group {
			senders = append(senders, m.edges[e].sets...)
		}
		slices.Sort(senders)
		senders = slices.Compact(senders)
		results[i] = merge(sets, senders, m.apart(i, senders), found)
		// All edges must have their field before this can be asked.
		results[i].Maybe = m.avoids(i)
		results[i].Repeated = !all(group, group, apart)
		if results[i].Repeated && results[i].Stream {
			found.Add(results[i].File, results[i].Span, ruleShape, "leave :stream out",
				"a result set of a loop can come several times, and only one can be streamed")
		}
		results[i].Columns = sent(results[i].Columns)
	}
	oneNameEach(results, found)
	return results
}

// group partitions the steps into fields. Steps belong together when the same statement, or statements that gen:result
// gives the same name, can be the sender; but not two steps that one call can take both, unless one of them is in a
// loop.
//
// The restriction comes first: outside of loops a field holds one set of a call, so that two edges on one path are two
// fields, although one statement can be the sender of both (see the example of [automaton]). In
//
//	WHILE @n < @x BEGIN SELECT @n AS a; SET @n += 1; END
//
// a call takes an edge to a state and then, any number of times, one from that state to itself: one field of all sets.
//
// A name in gen:result brings together what no statement does: the two sets of IF … SELECT a, b; ELSE SELECT a, b, c;
// stay two fields, as their columns differ, but SELECT a; and another SELECT a; in different branches further down
// become one.
//
// It is a union of sets of edges, in the manner of union-find, except that a union can be refused.
func (m *automaton) group(sets []sender, apart func(x, y int) bool) [][]int {
	akin := map[string][]int{} // steps that have the columns and a sender, or the name of one, in common
	groups := make([][]int, len(m.edges))
	of := make([]int, len(m.edges))
	for e, step := range m.edges {
		groups[e], of[e] = []int{e}, e
		for _, s := range step.sets {
			akin[fmt.Sprint(s)] = append(akin[fmt.Sprint(s)], e)
			if name := sets[s].Name; name != "" {
				akin[name+" "+step.label] = append(akin[name+" "+step.label], e)
			}
		}
	}
	// Whether two groups can become one depends on all of their steps, so the order matters; it is that of the keys.
	loops := func(e int) bool { return !apart(e, e) }
	for _, key := range slices.Sorted(maps.Keys(akin)) {
		for i, x := range akin[key] {
			for _, y := range akin[key][i+1:] {
				into, from := min(of[x], of[y]), max(of[x], of[y])
				looped := slices.ContainsFunc(groups[into], loops) || slices.ContainsFunc(groups[from], loops)
				if into == from || !looped && !all(groups[into], groups[from], apart) {
					continue
				}
				for _, e := range groups[from] {
					of[e] = into
				}
				groups[into] = append(groups[into], groups[from]...)
				groups[from] = nil
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 })
	slices.SortStableFunc(groups, func(a, b []int) int {
		return slices.Compare(m.edges[a[0]].sets, m.edges[b[0]].sets)
	})
	return groups
}

// exclusive returns the relation of steps that no call takes both: two are on one path if one begins where the other
// can lead. A step that a call can take twice, which is in a loop, is not even apart from itself.
func (m *automaton) exclusive() func(x, y int) bool {
	next := make([][]int, len(m.final))
	for _, e := range m.edges {
		next[e.from] = append(next[e.from], e.to)
	}
	reaches := make([][]bool, len(m.final))
	for s := range m.final {
		reaches[s] = reach(s, len(m.final), func(s int) []int { return next[s] })
	}
	return func(x, y int) bool {
		a, b := m.edges[x], m.edges[y]
		return !reaches[a.to][b.from] && !reaches[b.to][a.from]
	}
}

// all reports whether a relation holds for all pairs.
func all(xs, ys []int, holds func(x, y int) bool) bool {
	for _, x := range xs {
		for _, y := range ys {
			if !holds(x, y) {
				return false
			}
		}
	}
	return true
}

// avoids reports whether a call can succeed without filling a field.
//
// That is reachability in the automaton without them, and not a count of edges: a field with two edges is there in
// every call if each call takes one of the two.
func (m *automaton) avoids(field int) bool {
	// What is left when the field's edges are taken away: does a way to an end remain?
	next := make([][]int, len(m.final))
	for _, e := range m.edges {
		if e.field != field {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	seen := reach(0, len(m.final), func(s int) []int { return next[s] })
	for s, ok := range seen {
		if ok && m.final[s] {
			return true
		}
	}
	return false
}

// apart reports whether a call fills no other field with what the senders of one send: they could all have one name.
//
// It decides about the advice in a message only.
func (m *automaton) apart(field int, senders []int) bool {
	return !slices.ContainsFunc(m.edges, func(e step) bool {
		return e.field != field && slices.ContainsFunc(e.sets, func(s int) bool { return slices.Contains(senders, s) })
	})
}

// merge makes one field of the sets that a client cannot tell apart. They must agree on the types of their columns.
//
// Columns agree in number and names already; that is what their label says. What is left are the types, nullability,
// the number of rows and the name. Of each the field gets what covers all senders: in
//
//	IF @x = 1 SELECT TOP (1) name FROM dbo.short ORDER BY id;    -- nvarchar(20) not null, no row or one
//	ELSE SELECT name FROM dbo.long;                              -- nvarchar(50) null, any number
//
// it is nvarchar(50) null and any number.
func merge(sets []sender, senders []int, apart bool, found *diag.List) ResultSet {
	first := sets[senders[0]]
	fix := "give one of them a column more"
	if apart {
		fix += ", or use one name for both"
	}
	out := first.ResultSet
	out.Columns = slices.Clone(out.Columns)
	for _, i := range senders[1:] {
		other := sets[i]
		if out.Name == "" {
			out.Name = other.Name
		} else if other.Name != "" && other.Name != out.Name {
			found.Add(other.by.file, other.by.span, ruleShape, fix,
				"a client cannot tell this result set from %s at %s: both have the columns %s", out.Name, first.by, names(out.Columns))
		}
		for c := range out.Columns {
			if !widen(&out.Columns[c], other.Columns[c]) {
				found.Add(other.by.file, other.by.span, ruleShape, "cast them to one type, or name the columns differently",
					"column %s is %s here and %s at %s, and a client cannot tell the two result sets apart",
					out.Columns[c].Name, other.Columns[c].Type, out.Columns[c].Type, first.by)
				return out
			}
		}
		// Cardinalities are ordered from the weakest: many, optional, one.
		out.Rows = min(out.Rows, other.Rows)
		out.Stream = out.Stream || other.Stream
	}
	out.Stream = out.Stream && out.Rows == Many
	return out
}

// widen makes a column hold the values of another as well.
//
// It returns false if no type does.
func widen(c *Column, other Column) bool {
	t, ok := wider(c.Type, other.Type)
	if c.Type != other.Type {
		if len(c.Types) == 0 {
			c.Types = []sqltype.Type{sentAs(c.Type)}
		}
		c.Types = append(slices.Clip(c.Types), sentAs(other.Type))
	}
	c.Type = t
	if c.As == "" {
		c.As = other.As
	}
	c.Nullable = c.Nullable || other.Nullable
	return ok
}

// wider returns the type that holds the values of two types of one kind: the greater length, scale, and number of
// digits before the point. Most types of two kinds have none, though T-SQL would convert one to the other within a
// statement: what arrives at the client is a value of either kind. It doesn't matter to a client which if it can read
// both.
//
// What a client reads is described by the server for each set anew: the type here is what the Go type must be able to
// hold.
func wider(a, b sqltype.Type) (sqltype.Type, bool) {
	switch {
	case a == b || b.Kind == sqltype.Invalid || b.Kind == sqltype.Null:
		return a, true
	case a.Kind == sqltype.Invalid || a.Kind == sqltype.Null:
		return b, true
	case a.Kind != b.Kind && reading(a) != 0 && reading(a) == reading(b):
		if a.Kind == sqltype.XML || b.Kind == sqltype.XML {
			return typeNVarCharMax, true
		}
		t, err := sqltype.Union(a, b)
		return t, err == nil
	case a.Kind != b.Kind:
		return a, false
	}
	if a.Length == sqltype.Max || b.Length == sqltype.Max {
		a.Length = sqltype.Max
	} else {
		a.Length = max(a.Length, b.Length)
	}
	// decimal(5,1) and decimal(4,3) have 4 and 1 digits before the point: decimal(7,3) holds both.
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	a.Scale = max(a.Scale, b.Scale)
	if a.Kind == sqltype.Decimal {
		a.Precision = whole + a.Scale
		return a, a.Precision <= 38
	}
	return a, true
}

// reading numbers the groups of types of which one Go type can read any value. It is 0 for types that are alone.
// Neither a date nor a time of day is a point in time, though both have its Go type.
func reading(t sqltype.Type) int {
	switch {
	case t.IsCharacter(), t.Kind == sqltype.XML:
		return 1 // the driver decodes all of them to a string
	case t.Kind == sqltype.Decimal, t.IsMoney(), t.IsExactInteger():
		return 2 // the driver's integers are read into any that is wide enough, and into decimals
	case t.IsBinary():
		return 3
	case t.Kind == sqltype.SmallDateTime, t.Kind == sqltype.DateTime, t.Kind == sqltype.DateTime2:
		return 4 // the clock of UTC
	default:
		return 0
	}
}

// names lists columns in a message.
func names(columns []Column) string {
	var out []string
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return strings.Join(out, ", ")
}

// oneNameEach reports fields that gen:result gives the same name although one call can fill both.
func oneNameEach(results []ResultSet, found *diag.List) {
	first := map[string]ResultSet{}
	for _, r := range results {
		if r.Name == "" {
			continue
		}
		if other, taken := first[r.Name]; taken {
			found.Add(r.File, r.Span, ruleShape, "give it another name with -- gen:result (above the EXEC, if it comes from a procedure called twice)",
				"the result set at %s is also called %s", site{other.File, other.Span}, r.Name)
			continue
		}
		first[r.Name] = r
	}
}
