package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
)

// NothingToCall is the finding that scripts have no procedure and no query, so that a package of them would be empty.
// It is for commands that were told which scripts to read: a wrong pattern, or queries without annotations, look like
// that.
func NothingToCall(sources []Source, r Result, c config.Config) diag.List {
	if len(r.Program.Procedures)+len(r.Program.Queries) > 0 {
		return nil
	}
	return nothingIn(sources, r.Catalog, c, len(r.Internal), "no procedure and no annotated query")
}

// NothingToCompare is the finding that scripts define nothing at all and have no query.
func NothingToCompare(sources []Source, r Result, c config.Config) diag.List {
	if len(r.Catalog.Order)+len(r.Program.Queries) > 0 {
		return nil
	}
	return nothingIn(sources, r.Catalog, c, len(r.Internal), "no definition and no annotated query")
}

// nothingToVet is the same for scripts that were not analyzed.
func nothingToVet(sources []Source, front *front, c config.Config) diag.List {
	if len(front.catalog.Order)+len(front.catalog.Triggers) > 0 || slices.ContainsFunc(front.directives, annotates) {
		return nil
	}
	return nothingIn(sources, front.catalog, c, len(front.internal), "no definition and no annotated query")
}

// nothingIn says what was read, and what to check. internal is how many of the procedures say gen:internal.
func nothingIn(sources []Source, cat *catalog.Catalog, c config.Config, internal int, missing string) diag.List {
	const shown = 5
	var names []string
	for _, s := range sources[:min(shown, len(sources))] {
		names = append(names, s.Name)
	}
	if len(sources) > shown {
		names = append(names, "…")
	}
	read := fmt.Sprintf("%s in %s (%s)", missing, diag.Count(len(sources), "file"), strings.Join(names, ", "))
	if found := inventory(cat, internal); found != "" {
		read += ", only " + found
	}
	fix := "check which files schema, procedures and queries name"
	if len(c.Any) > 0 {
		fix = "check the files on the command line"
	}
	fix += " (a folder stands for the scripts in it, folder/**/*.sql also for those below), and annotate queries: -- name: GetOrder :one"
	switch {
	case internal > 0:
		fix = "remove gen:internal from one that the client calls"
	case len(cat.Procedures) > 0:
		fix = "take one out of exclude"
	}
	var found diag.List
	found.Add(nil, diag.Span{}, "input", fix, "there is %s", read)
	return found
}

// inventory counts what a catalog holds. Procedures that are in it are internal or have been excluded.
func inventory(cat *catalog.Catalog, internal int) string {
	var parts []string
	for _, sort := range []struct {
		n    int
		noun string
	}{
		{internal, "internal procedure"},
		{len(cat.Procedures) - internal, "excluded procedure"},
		{len(cat.Tables), "table"},
		{len(cat.Views), "view"},
		{len(cat.Functions), "function"},
		{len(cat.TableTypes) + len(cat.AliasTypes), "type"},
	} {
		if sort.n > 0 {
			parts = append(parts, diag.Count(sort.n, sort.noun))
		}
	}
	return strings.Join(parts, ", ")
}
