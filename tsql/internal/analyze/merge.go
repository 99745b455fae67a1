package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// merge checks MERGE. In OUTPUT, inserted is NULL for rows that were deleted, deleted for those that were inserted, and
// the source for those that it doesn't have.
func (a *analyzer) merge(e *env, s *syntax.Merge) (rowset, bool) {
	sc := &scope{env: e, level: level{Clause: lookup.InFrom}}
	a.with(sc, s.With)
	if s.Top != nil {
		a.top(sc, s.Top)
	}
	around := &scope{env: e, ctes: sc.ctes, level: level{Clause: lookup.InFrom}}
	target := a.target(around, s.Target, nil)
	from := a.source(around, s.Source)
	sources := append([]*source{target}, from.sources...)
	a.checkExposed(e, sources)
	sc.Sources = sources
	a.cond(sc.in(lookup.InOn), s.On)
	does := map[string]bool{}
	for _, action := range s.Actions {
		does[action.Action], does[action.When] = true, true
		a.mergeAction(sc, target, from.sources, action)
	}
	out := sc.in(lookup.InOutput)
	out.merge = true
	rest := make([]*source, len(from.sources))
	for i, src := range from.sources {
		rest[i] = &source{relation: src.relation, name: src.name, schema: src.schema, at: src.at, table: src.table, copyOf: src}
	}
	if does["NOT MATCHED BY SOURCE"] {
		makeNullable(rest)
	}
	out.Sources = append([]*source{target.as("inserted", does["DELETE"]), target.as("deleted", does["INSERT"])}, rest...)
	return a.output(out, s.Output, Many)
}

// mergeAction checks one WHEN clause. What has no counterpart can't be read there.
//
// A row that is not matched by the target has no columns of the target, and one not matched by the source none of the
// source.
func (a *analyzer) mergeAction(sc *scope, target *source, from []*source, action syntax.MergeAction) {
	s := sc.in(lookup.InSet)
	switch action.When {
	case "NOT MATCHED BY TARGET":
		s.Sources = from
	case "NOT MATCHED BY SOURCE":
		s.Sources = []*source{target}
	}
	if action.And != nil {
		a.cond(s.in(lookup.InWhere), action.And)
	}
	for _, as := range action.Set {
		a.assignment(s, target, as)
	}
	if action.Action == "INSERT" {
		columns := a.insertColumns(s.env, target, action.Columns)
		if action.Values != nil {
			a.storeRow(s, target, columns, action.Values)
		}
		if len(action.Columns) > 0 {
			a.checkMissing(s.env, target, action.Span, columns, action.Columns)
		}
	}
}
