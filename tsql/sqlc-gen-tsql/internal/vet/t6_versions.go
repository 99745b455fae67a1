package vet

import (
	"regexp"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// versionRules are about how table types change while procedures of two releases run side by side.
var versionRules = []Rule{
	{
		ID:       "T6-name",
		Title:    "The name of a table type ends in its version: order_lines_v1",
		Reason:   "A type can't be altered, nor dropped while a procedure uses it; a change is a new type beside the old one.",
		Bad:      "CREATE TYPE dbo.order_lines AS TABLE (id int NOT NULL PRIMARY KEY);",
		Good:     "CREATE TYPE dbo.order_lines_v1 AS TABLE (id int NOT NULL PRIMARY KEY);",
		Optional: true,
		check:    checkTypeNames,
	},
	{
		ID:       "T6-drop",
		Title:    "No type is dropped",
		Reason:   "Procedures of the version before use it while the new one is rolled out.",
		Bad:      "DROP TYPE dbo.order_lines_v1;",
		Good:     "CREATE TYPE dbo.order_lines_v2 AS TABLE (id int NOT NULL PRIMARY KEY);",
		Optional: true,
		check: func(p *pass) {
			for _, u := range p.units {
				for d := range syntax.All[*syntax.Drop](u.node) {
					if d.Kind == "TYPE" {
						p.report(u, d.Span, "leave it, and create the next version", "a type is dropped that procedures of the version before may use")
					}
				}
			}
		},
	},
}

// versioned finds the version at the end of a name.
var versioned = regexp.MustCompile(`_v\d+$`)

// checkTypeNames looks at table types; an alias type is a name for a built-in one, and rarely changes.
func checkTypeNames(p *pass) {
	for _, u := range p.units {
		for t := range syntax.All[*syntax.CreateType](u.node) {
			if name := t.Name.Last(); t.Table != nil && !versioned.MatchString(name.Value) {
				p.report(u, name.Span, "call it "+name.Value+"_v1", "table type %s has no version", name.Value)
			}
		}
	}
}
