package binder

import "strings"

// ShownNullable reports whether SQL Server describes an expression as one that may be NULL. It does so of most
// expressions, since with some SET options an overflow yields NULL, so that the answer says less than it could.
func (n *Node) ShownNullable() bool {
	if n.Nullable || n.shownNull {
		return true
	}
	anyOf := func(list []*Node) bool {
		for _, a := range list {
			if !a.isTruth() && a.ShownNullable() {
				return true
			}
		}
		return false
	}
	switch n.Kind {
	case IsColumn, isConstant:
		return false
	case isSubquery:
		return true
	case IsCast:
		// What CAST is written for; COLLATE and what only changes the type's name keep the answer.
		return !strings.HasPrefix(n.Name, "COLLATE") && !strings.HasPrefix(n.Name, "as ") || anyOf(n.Args)
	default:
		return n.resultNullable(anyOf)
	}
}

// resultNullable is shownNullable of a call or an operator.
func (n *Node) resultNullable(anyOf func(list []*Node) bool) bool {
	switch strings.TrimSuffix(n.Name, "()") {
	case "CASE", "IIF":
		return anyOf(n.Args)
	case "ISNULL":
		return n.Nullable
	case "+":
		return !n.Type.IsCharacter() || anyOf(n.Args)
	case "COALESCE":
		return n.Args[0].ShownNullable()
	default:
		return len(n.Args) > 0
	}
}
