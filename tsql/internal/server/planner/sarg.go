package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// sarg is a condition that an index can answer: what it says about one column.
type sarg struct {
	ordinal int
	op      string // "=", "in", "null", "not null", "<", "<=", ">", ">="
	values  []*binder.Node
	null    bool // of "in": NULL is one of the values
	cond    int  // its place in the list of conditions
}

// sargs finds what a condition says about a column of a table. Columns has the ordinals by slot.
func sargs(n *binder.Node, place int, columns map[int]int) []sarg {
	switch n.Kind {
	case binder.IsCompare:
		return compareSarg(n, place, columns)
	case binder.IsNullTest, binder.IsNotNull:
		ordinal, ok := columns[slotOf(n.Args[0])]
		if !ok {
			return nil
		}
		if n.Kind == binder.IsNullTest {
			return []sarg{{ordinal: ordinal, op: "null", cond: place}}
		}
		return []sarg{{ordinal: ordinal, op: "not null", cond: place}}
	case binder.IsOr:
		return inSarg(n, place, columns)
	default:
		return nil
	}
}

// slotOf is the slot of a column; -1 for other expressions.
func slotOf(n *binder.Node) int {
	if n.Kind != binder.IsColumn {
		return -1
	}
	return n.Slot
}

// mirrored are the operators with their sides exchanged.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compareSarg is sargs of a comparison: of a column with what does not depend on the table. A column that has to be
// converted is none.
func compareSarg(n *binder.Node, place int, columns map[int]int) []sarg {
	if n.Name == "<>" {
		return nil
	}
	var out []sarg
	if ordinal, ok := columns[slotOf(n.Args[0])]; ok && independent(n.Args[1], columns) {
		out = append(out, sarg{ordinal: ordinal, op: n.Name, values: n.Args[1:2], cond: place})
	}
	if ordinal, ok := columns[slotOf(n.Args[1])]; ok && independent(n.Args[0], columns) {
		out = append(out, sarg{ordinal: ordinal, op: mirrored[n.Name], values: n.Args[0:1], cond: place})
	}
	return out
}

// independent reports whether an expression has one value for all rows of a table.
func independent(n *binder.Node, columns map[int]int) bool {
	if n.IsVolatile() {
		return false
	}
	for _, slot := range n.Slots().List() {
		if _, ok := columns[slot]; ok {
			return false
		}
	}
	return true
}

// inSarg is sargs of an OR: each part says what the same column may equal.
func inSarg(n *binder.Node, place int, columns map[int]int) []sarg {
	out := sarg{ordinal: -1, op: "in", cond: place}
	for _, part := range n.Args {
		hit := false
		for _, s := range sargs(part, place, columns) {
			if (out.ordinal >= 0 && s.ordinal != out.ordinal) || (s.op != "=" && s.op != "null") {
				continue
			}
			out.ordinal, hit = s.ordinal, true
			out.values = append(out.values, s.values...)
			out.null = out.null || s.op == "null"
			break
		}
		if !hit {
			return nil
		}
	}
	return []sarg{out}
}

// implied reports whether a condition holds for every row for which all of some others hold.
func implied(n *binder.Node, given []*binder.Node) bool {
	key := n.Key()
	for _, g := range given {
		if g.Key() == key {
			return true
		}
	}
	switch n.Kind {
	case binder.IsNotNull:
		slot := slotOf(n.Args[0])
		if slot < 0 {
			return !n.Args[0].Nullable
		}
		for _, g := range given {
			if strict(g, binder.SetOf(slot)) {
				return true
			}
		}
		return n.Args[0].Base != nil && !n.Args[0].Base.Nullable && !n.Args[0].Nullable
	case binder.IsCompare:
		return slices.ContainsFunc(given, func(g *binder.Node) bool { return narrower(g, n) })
	case binder.IsOr:
		return impliedOr(n, given)
	case binder.IsAnd:
		for _, a := range n.Args {
			if !implied(a, given) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// impliedOr is implied for an OR: it is enough that one part is implied, or that all parts of another OR imply it.
func impliedOr(n *binder.Node, given []*binder.Node) bool {
	for _, part := range n.Args {
		if implied(part, given) {
			return true
		}
	}
	for _, g := range given {
		if g.Kind != binder.IsOr {
			continue
		}
		all := true
		for _, part := range g.Args {
			all = all && impliedOr(n, []*binder.Node{part})
		}
		if all {
			return true
		}
	}
	return false
}

// columnAndConstant splits a comparison of a column with a constant, as if the column stood on the left.
func columnAndConstant(n *binder.Node) (slot int, op string, v value.Value, ok bool) {
	if n.Kind != binder.IsCompare {
		return 0, "", v, false
	}
	x, y, op := n.Args[0], n.Args[1], n.Name
	if y.Kind == binder.IsColumn {
		x, y = y, x
		if op != "<>" {
			op = mirrored[op]
		}
	}
	v, ok = y.ConstantValue()
	return slotOf(x), op, v, ok && x.Kind == binder.IsColumn && !v.IsNull()
}

// narrower reports whether a comparison with a constant holds only where another one does, on the same column.
func narrower(g, n *binder.Node) bool {
	slot, op, v, ok := columnAndConstant(g)
	other, want, limit, ok2 := columnAndConstant(n)
	if !ok || !ok2 || slot != other || g.Type != n.Type && binder.Family(g.Type) != binder.Family(n.Type) {
		return false
	}
	return onlyWhere(op, want, value.Compare(v, limit, n.Type))
}

// onlyWhere reports whether a comparison by op holds only where one by want does. C says how the constant of the first
// compares with that of the second.
func onlyWhere(op, want string, c int) bool {
	switch want {
	case "=":
		return op == "=" && c == 0
	case "<>":
		return op == "=" && c != 0 || op == "<" && c <= 0 || op == ">" && c >= 0 || op == "<=" && c < 0 || op == ">=" && c > 0
	case "<":
		return (op == "=" || op == "<=") && c < 0 || op == "<" && c <= 0
	case "<=":
		return (op == "=" || op == "<=" || op == "<") && c <= 0
	case ">":
		return (op == "=" || op == ">=") && c > 0 || op == ">" && c >= 0
	case ">=":
		return (op == "=" || op == ">=" || op == ">") && c >= 0
	default:
		return false
	}
}

// strict reports whether a condition cannot be true if all of some slots are NULL.
func strict(n *binder.Node, slots binder.Set) bool {
	switch n.Kind {
	case binder.IsCompare, binder.IsLike:
		for _, a := range n.Args {
			if strictValue(a, slots) {
				return true
			}
		}
		return false
	case binder.IsNotNull:
		return strictValue(n.Args[0], slots)
	case binder.IsAnd:
		for _, a := range n.Args {
			if strict(a, slots) {
				return true
			}
		}
		return false
	case binder.IsOr:
		for _, a := range n.Args {
			if !strict(a, slots) {
				return false
			}
		}
		return true
	case binder.IsNot:
		return (n.Args[0].Kind == binder.IsCompare || n.Args[0].Kind == binder.IsLike) && strict(n.Args[0], slots)
	default:
		return false
	}
}

// strictValue reports whether an expression is NULL if all of some slots are.
func strictValue(n *binder.Node, slots binder.Set) bool {
	switch n.Kind {
	case binder.IsColumn:
		return slots.Has(n.Slot)
	case binder.IsCast:
		return len(n.Args) > 0 && strictValue(n.Args[0], slots)
	default:
		switch n.Name {
		case "+", "-", "*", "/", "%":
			return strictValue(n.Args[0], slots) || strictValue(n.Args[1], slots)
		}
		return false
	}
}

// seekValue is the code of what a column is compared with in a seek.
func (p *planner) seekValues(s sarg) ([]execute.SeekValue, error) {
	var out []execute.SeekValue
	for _, n := range s.values {
		c, err := p.code(n)
		if err != nil {
			return nil, err
		}
		out = append(out, execute.SeekValue{Value: c.Expr})
	}
	if s.null || s.op == "null" {
		out = append(out, execute.SeekValue{IsNull: true})
	}
	return out, nil
}
