package model

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// embed puts the structs of the procedures that a gen:embed names into those of the procedure that has it, in place of
// the fields of the same names. The methods stay as they are: Go finds a field of an embedded struct by its name.
// methods are those of the procedures, nil for what can't be.
func (b *builder) embed(procedures []*analyze.Procedure, methods []*Method) {
	// What the structs hold by themselves, whatever is embedded where.
	params, results := map[*Method]*Struct{}, map[*Method]*Struct{}
	for _, m := range methods {
		if m != nil {
			params[m], results[m] = copied(m.Params), copied(m.Result)
		}
	}
	for i, p := range procedures {
		m := methods[i]
		if m == nil {
			continue
		}
		for _, e := range p.Embeds {
			at := catalog.Place{File: p.File, Span: e.Span}
			j := slices.IndexFunc(procedures, func(other *analyze.Procedure) bool { return e.Names.Has(other.Name) })
			switch {
			case j < 0:
				b.found.Add(at.File, at.Span, "embed", "name a procedure that has a method", "gen:embed names %s, and no method calls that", e.Name)
			case j == i:
				b.found.Add(at.File, at.Span, "embed", "remove it", "%s can't embed itself", e.Name)
			case methods[j] != nil:
				b.part(at, m, "the parameters", m.Params, params[methods[j]])
				b.part(at, m, "the results", m.Result, results[methods[j]])
			}
		}
		for k, s := range m.Sets {
			m.Sets[k].Promoted = m.Result != nil && !m.Result.has(s.Field) && k != m.Stream
		}
	}
}

// part replaces the fields of a struct that are those of another by the other itself. A field that it lacks, or that
// has another type, is a finding.
func (b *builder) part(at catalog.Place, m *Method, what string, whole, part *Struct) {
	if part == nil {
		return
	}
	for _, f := range part.Fields {
		if whole == nil || !slices.ContainsFunc(whole.Fields, func(own Field) bool { return own.Name == f.Name && own.Type == f.Type }) {
			b.found.Add(at.File, at.Span, "embed", "declare it as it is declared there, or remove gen:embed",
				"%s of %s have no field %s %s for %s", what, m.SQLName, f.Name, f.Type, part.Name)
			return
		}
	}
	first := slices.IndexFunc(whole.Fields, func(f Field) bool { return part.has(f.Name) })
	rest := slices.DeleteFunc(slices.Clone(whole.Fields), func(f Field) bool { return part.has(f.Name) })
	whole.Fields = slices.Insert(rest, min(first, len(rest)), Field{Type: part.Name})
}

func copied(s *Struct) *Struct {
	if s == nil {
		return nil
	}
	return &Struct{Name: s.Name, Fields: slices.Clone(s.Fields)}
}

func (s *Struct) has(name string) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Name == name })
}
