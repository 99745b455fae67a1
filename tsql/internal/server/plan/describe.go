package plan

import "strings"

// shownNullable reports whether SQL Server describes an expression as one that may be NULL. It does so of most
// expressions, since with some SET options an overflow yields NULL, so that the answer says less than it could.
func (n *node) shownNullable() bool {
	if n.nullable || n.shownNull {
		return true
	}
	anyOf := func(list []*node) bool {
		for _, a := range list {
			if !a.isTruth() && a.shownNullable() {
				return true
			}
		}
		return false
	}
	switch n.kind {
	case isColumn, isConstant:
		return false
	case isSubquery:
		return true
	case isCast:
		// What CAST is written for; COLLATE and what only changes the type's name keep the answer.
		return !strings.HasPrefix(n.name, "COLLATE") && !strings.HasPrefix(n.name, "as ") || anyOf(n.args)
	default:
		return n.resultNullable(anyOf)
	}
}

// resultNullable is shownNullable of a call or an operator.
func (n *node) resultNullable(anyOf func(list []*node) bool) bool {
	switch strings.TrimSuffix(n.name, "()") {
	case "CASE", "IIF":
		return anyOf(n.args)
	case "ISNULL":
		return n.nullable
	case "+":
		return !n.typ.IsCharacter() || anyOf(n.args)
	case "COALESCE":
		return n.args[0].shownNullable()
	default:
		return len(n.args) > 0
	}
}
