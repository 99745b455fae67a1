package model

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// share gives the rows that a procedure passes on from one that it calls the type that they have there, so that
// both may be handed to the same code. Rows of a procedure without a method, which says gen:internal, have the type
// of the method with the fewest sets, since others pass that on whole. methods are those of the procedures, nil for
// what can't be.
func (b *builder) share(procedures []*analyze.Procedure, methods []*Method) {
	own := map[catalog.Place]*Set{}
	least := map[catalog.Place]int{} // sets of the method that own is of
	for i, m := range methods {
		if m == nil {
			continue
		}
		for j := range m.Sets {
			s := &m.Sets[j]
			switch in := definedIn(procedures, s.place); {
			case in == procedures[i] && own[s.place] == nil:
				own[s.place] = s
			case in == nil && (least[s.place] == 0 || len(m.Sets) < least[s.place]):
				own[s.place], least[s.place] = s, len(m.Sets)
			}
		}
	}
	for _, m := range methods {
		if m == nil {
			continue
		}
		for j := range m.Sets {
			s := &m.Sets[j]
			if o := own[s.place]; o != nil && o != s && s.Row != nil && o.Row != nil && slices.Equal(o.Row.Fields, s.Row.Fields) {
				b.adopt(m, s, o)
			}
		}
	}
}

// adopt replaces the row type of a method's set by that of another method.
func (b *builder) adopt(m *Method, s, other *Set) {
	delete(b.exported, s.Type)
	s.Type, s.Row, s.Shared = other.Type, nil, true
	if m.Result == nil {
		return
	}
	for i := range m.Result.Fields {
		if f := &m.Result.Fields[i]; f.Name == s.Field {
			f.Type = s.GoType()
		}
	}
}

// definedIn returns the procedure whose body holds the place: the last of its script that begins before it.
func definedIn(procedures []*analyze.Procedure, at catalog.Place) (in *analyze.Procedure) {
	for _, p := range procedures {
		if p.Place.File == at.File && p.Place.Span.From <= at.Span.From &&
			(in == nil || in.Place.Span.From < p.Place.Span.From) {
			in = p
		}
	}
	return in
}
