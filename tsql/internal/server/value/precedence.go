package value

import "github.com/duroxide/duroxide-go/tsql/internal/server/fault"

// Label says how strongly an expression insists on its collation.
type Label uint8

// The labels, from the weakest.
const (
	CoercibleDefault Label = iota // literals, variables, parameters, and what is computed from them
	Implicit                      // columns
	NoCollation                   // two columns of different collations met
	Explicit                      // COLLATE
)

// Labelled is a collation with its label.
type Labelled struct {
	Collation *Collation
	Label     Label
	// Other is the second collation of a conflict, with the label NoCollation.
	Other *Collation
}

// Resolve says which collation a string that is made of two has: by concatenation, CASE, UNION and the like. Two
// columns of different collations make one without, which is an error only where somebody needs it: see
// [ResolveComparison] and [Labelled.Need]. Two different COLLATE clauses are an error (468).
func Resolve(a, b Labelled) (Labelled, error) {
	switch {
	case a.Label > b.Label:
		return a, nil
	case a.Label < b.Label:
		return b, nil
	case a.Collation == b.Collation || a.Label == NoCollation || a.Label == CoercibleDefault:
		return a, nil
	case a.Label == Explicit:
		return Labelled{}, conflict(a.Collation, b.Collation, "equal to")
	default:
		return Labelled{Collation: a.Collation, Label: NoCollation, Other: b.Collation}, nil
	}
}

// ResolveComparison says by which collation two strings are compared. The operation is named as in the message of error
// 468: "equal to", "like".
func ResolveComparison(operation string, a, b Labelled) (*Collation, error) {
	if a.Label == Explicit && b.Label == Explicit && a.Collation != b.Collation {
		return nil, conflict(a.Collation, b.Collation, operation)
	}
	c, err := Resolve(a, b)
	if err != nil {
		return nil, err
	}
	if c.Label == NoCollation {
		return nil, conflict(c.Collation, c.Other, operation)
	}
	return c.Collation, nil
}

// Need returns the collation, or error 451 if two conflict: when a string without a collation is a column of a result.
func (l Labelled) Need(operator, statement string, column int) (*Collation, error) {
	if l.Label == NoCollation {
		return nil, fault.New(451, l.Collation.Name, l.Other.Name, operator, statement, column)
	}
	return l.Collation, nil
}

func conflict(a, b *Collation, operation string) error {
	return fault.New(468, b.Name, a.Name, operation)
}
