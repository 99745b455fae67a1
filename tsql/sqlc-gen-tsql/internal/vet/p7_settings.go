package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// settingRules are about options that are frozen into a module when it is created.
var settingRules = []Rule{{
	ID:    "P7",
	Title: "QUOTED_IDENTIFIER, ANSI_NULLS and the related settings stay ON",
	Reason: "They are stored with a procedure, and writing to a table with a filtered index, an indexed view or a computed " +
		"key fails with error 1934 when one of them is off.",
	Bad:   "SET QUOTED_IDENTIFIER OFF;\nGO\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
	Good:  "SET QUOTED_IDENTIFIER ON;\nGO\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
	check: checkModuleSettings,
}}

// wantedSettings are the values that filtered indexes, indexed views and indexes on computed columns demand of
// whoever writes to their tables. QUOTED_IDENTIFIER and ANSI_NULLS are frozen into a module when it is created; the
// others are the session's at run time, unless the module sets them.
var wantedSettings = map[string]string{
	"QUOTED_IDENTIFIER": "ON", "ANSI_NULLS": "ON", "ANSI_PADDING": "ON", "ANSI_WARNINGS": "ON", "ARITHABORT": "ON",
	"CONCAT_NULL_YIELDS_NULL": "ON", "NUMERIC_ROUNDABORT": "OFF",
}

// checkModuleSettings looks at scripts as well as bodies: SET in the batch before CREATE PROCEDURE is what is frozen.
func checkModuleSettings(p *pass) {
	for _, u := range p.units {
		for set := range syntax.All[*syntax.SetOption](u.node) {
			if want, ok := wantedSettings[set.Name]; ok && set.Value != want {
				p.report(u, set.Span, "SET "+set.Name+" "+want, "SET %s %s: writes to tables with filtered or computed indexes fail under it",
					set.Name, set.Value)
			}
		}
	}
}
