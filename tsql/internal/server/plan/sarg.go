package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// sarg is a condition that an index can answer: what it says about one column.
type sarg struct {
	ordinal int
	op      string // "=", "in", "null", "not null", "<", "<=", ">", ">="
	values  []*node
	null    bool // of "in": NULL is one of the values
	cond    int  // its place in the list of conditions
}

// sargs finds what a condition says about a column of a table. Columns has the ordinals by slot.
func sargs(n *node, place int, columns map[int]int) []sarg {
	switch n.kind {
	case isCompare:
		return compareSarg(n, place, columns)
	case isNullTest, isNotNull:
		ordinal, ok := columns[slotOf(n.args[0])]
		if !ok {
			return nil
		}
		if n.kind == isNullTest {
			return []sarg{{ordinal: ordinal, op: "null", cond: place}}
		}
		return []sarg{{ordinal: ordinal, op: "not null", cond: place}}
	case isOr:
		return inSarg(n, place, columns)
	default:
		return nil
	}
}

// slotOf is the slot of a column; -1 for other expressions.
func slotOf(n *node) int {
	if n.kind != isColumn {
		return -1
	}
	return n.slot
}

// mirrored are the operators with their sides exchanged.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compareSarg is sargs of a comparison: of a column with what does not depend on the table. A column that has to be
// converted is none.
func compareSarg(n *node, place int, columns map[int]int) []sarg {
	if n.name == "<>" {
		return nil
	}
	var out []sarg
	if ordinal, ok := columns[slotOf(n.args[0])]; ok && independent(n.args[1], columns) {
		out = append(out, sarg{ordinal: ordinal, op: n.name, values: n.args[1:2], cond: place})
	}
	if ordinal, ok := columns[slotOf(n.args[1])]; ok && independent(n.args[0], columns) {
		out = append(out, sarg{ordinal: ordinal, op: mirrored[n.name], values: n.args[0:1], cond: place})
	}
	return out
}

// independent reports whether an expression has one value for all rows of a table.
func independent(n *node, columns map[int]int) bool {
	if n.isVolatile() {
		return false
	}
	for _, slot := range n.slots().list() {
		if _, ok := columns[slot]; ok {
			return false
		}
	}
	return true
}

// inSarg is sargs of an OR: each part says what the same column may equal.
func inSarg(n *node, place int, columns map[int]int) []sarg {
	out := sarg{ordinal: -1, op: "in", cond: place}
	for _, part := range n.args {
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
func implied(n *node, given []*node) bool {
	key := n.key()
	for _, g := range given {
		if g.key() == key {
			return true
		}
	}
	switch n.kind {
	case isNotNull:
		slot := slotOf(n.args[0])
		if slot < 0 {
			return !n.args[0].nullable
		}
		for _, g := range given {
			if strict(g, setOf(slot)) {
				return true
			}
		}
		return n.args[0].base != nil && !n.args[0].base.Nullable && !n.args[0].nullable
	case isCompare:
		return slices.ContainsFunc(given, func(g *node) bool { return narrower(g, n) })
	case isOr:
		return impliedOr(n, given)
	case isAnd:
		for _, a := range n.args {
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
func impliedOr(n *node, given []*node) bool {
	for _, part := range n.args {
		if implied(part, given) {
			return true
		}
	}
	for _, g := range given {
		if g.kind != isOr {
			continue
		}
		all := true
		for _, part := range g.args {
			all = all && impliedOr(n, []*node{part})
		}
		if all {
			return true
		}
	}
	return false
}

// columnAndConstant splits a comparison of a column with a constant, as if the column stood on the left.
func columnAndConstant(n *node) (slot int, op string, v value.Value, ok bool) {
	if n.kind != isCompare {
		return 0, "", v, false
	}
	x, y, op := n.args[0], n.args[1], n.name
	if y.kind == isColumn {
		x, y = y, x
		if op != "<>" {
			op = mirrored[op]
		}
	}
	v, ok = y.constantValue()
	return slotOf(x), op, v, ok && x.kind == isColumn && !v.IsNull()
}

// narrower reports whether a comparison with a constant holds only where another one does, on the same column.
func narrower(g, n *node) bool {
	slot, op, v, ok := columnAndConstant(g)
	other, want, limit, ok2 := columnAndConstant(n)
	if !ok || !ok2 || slot != other || g.typ != n.typ && family(g.typ) != family(n.typ) {
		return false
	}
	return onlyWhere(op, want, value.Compare(v, limit, n.typ))
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
func strict(n *node, slots set) bool {
	switch n.kind {
	case isCompare, isLike:
		for _, a := range n.args {
			if strictValue(a, slots) {
				return true
			}
		}
		return false
	case isNotNull:
		return strictValue(n.args[0], slots)
	case isAnd:
		for _, a := range n.args {
			if strict(a, slots) {
				return true
			}
		}
		return false
	case isOr:
		for _, a := range n.args {
			if !strict(a, slots) {
				return false
			}
		}
		return true
	case isNot:
		return (n.args[0].kind == isCompare || n.args[0].kind == isLike) && strict(n.args[0], slots)
	default:
		return false
	}
}

// strictValue reports whether an expression is NULL if all of some slots are.
func strictValue(n *node, slots set) bool {
	switch n.kind {
	case isColumn:
		return slots.has(n.slot)
	case isCast:
		return len(n.args) > 0 && strictValue(n.args[0], slots)
	default:
		switch n.name {
		case "+", "-", "*", "/", "%":
			return strictValue(n.args[0], slots) || strictValue(n.args[1], slots)
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
		out = append(out, execute.SeekValue{Value: c.expr})
	}
	if s.null || s.op == "null" {
		out = append(out, execute.SeekValue{IsNull: true})
	}
	return out, nil
}
