package generate

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
)

// ruleInternal is the rule of the findings about gen:internal. It is the one that the analysis has for all directives
// that belong to nothing, or contradict the text.
const ruleInternal = "override"

// findInternal finds the procedures whose headers say gen:internal, and reports each gen:internal that stands
// elsewhere, says something twice, or repeats the option exclude.
//
// Such procedures are excluded, with one difference from those that the option names: a statement or a directive in
// them that can't be read is a finding, since the parser has to read a procedure before it knows the header.
//
// Of several definitions of a procedure the last one counts. In the header of another one, or of a procedure that is
// dropped later, the directive does nothing and is no finding: a migration that has run is not edited.
func (f *front) findInternal(excluded catalog.Names) {
	last := map[*syntax.CreateProcedure]*catalog.Procedure{}
	for _, proc := range f.catalog.Procedures {
		last[proc.Def] = proc
	}
	var bad diag.List
	for i, script := range f.scripts {
		set := f.directives[i]
		for def := range syntax.All[*syntax.CreateProcedure](script) {
			said := set.InHeader(def, directive.Internal)
			for _, d := range said {
				set.Use(d)
			}
			if len(said) > 1 {
				bad.Add(script.File, said[1].Span, ruleInternal, "remove one of them", "there are two gen:internal in this header")
			}
			proc := last[def]
			if len(said) == 0 || proc == nil {
				continue
			}
			if excluded.Has(proc.Name) && !proc.Batch.Torn {
				bad.Add(script.File, said[0].Span, ruleInternal, "remove it, or take "+proc.Name.String()+" out of exclude",
					"exclude names %s already", proc.Name)
			}
			f.internal = append(f.internal, proc)
		}
		for _, d := range set.Unused(directive.Internal) {
			bad.Add(script.File, d.Span, ruleInternal,
				"remove it, or put it into the header of a procedure: directly above CREATE PROCEDURE, or directly behind its AS",
				"this gen:internal belongs to nothing")
		}
	}
	// These are findings also inside of what is excluded: nothing else says that the directive does not do what it
	// says.
	f.findings = append(f.findings, slices.DeleteFunc(bad, f.tears.echo)...)
	internal := catalog.NewNames(f.internalNames(), f.catalog.DefaultSchema)
	for _, script := range f.scripts {
		f.excluded.add(script, internal)
	}
}

// internalNames are the names of the internal procedures, as the option exclude has them.
func (f *front) internalNames() []string {
	names := make([]string, len(f.internal))
	for i, proc := range f.internal {
		names[i] = proc.Name.String()
	}
	return names
}

// leftOut are the procedures for which nothing is generated: those of the option exclude, and the internal ones.
func (f *front) leftOut(c config.Config) []string {
	return slices.Concat(c.Exclude, f.internalNames())
}
