package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// payloadRules are about values that the database keeps and doesn't understand.
var payloadRules = []Rule{
	{
		ID:    "T4-json",
		Title: "Procedures neither read nor build JSON: they take columns and return rows",
		Reason: "JSON_VALUE is NULL beyond 4,000 characters, and STRING_AGG and FOR JSON escape, cut and reorder what passes " +
			"through them. A list goes in as a table or by OPENJSON … WITH; results come back as rows.",
		Bad:      "DECLARE @name nvarchar(4000) = JSON_VALUE(@document, '$.name');",
		Good:     "SELECT d.name FROM OPENJSON(@document) WITH (name nvarchar(max) '$.name') AS d;",
		Optional: true,
		check:    checkJSON,
	},
	{
		ID:      "T4-member",
		Title:   "A payload in OPENJSON … WITH is nvarchar(max)",
		Reason:  "A longer value becomes NULL in silence.",
		Bad:     "SELECT d.payload FROM OPENJSON(@list) WITH (payload nvarchar(4000) '$.payload') AS d;",
		Good:    "SELECT d.payload FROM OPENJSON(@list) WITH (payload nvarchar(max) '$.payload') AS d;",
		Needs:   "payloads",
		Example: Options{Payloads: []string{"payload"}},
		check:   checkPayloadMembers,
	},
}

// jsonFunctions read or write JSON inside of a statement, or glue texts together.
var jsonFunctions = map[string]bool{
	"JSON_VALUE": true, "JSON_QUERY": true, "JSON_MODIFY": true, "STRING_AGG": true, "JSON_OBJECT": true, "JSON_ARRAY": true,
	"JSON_OBJECTAGG": true, "JSON_ARRAYAGG": true,
}

// checkJSON reports functions and FOR clauses by name alone; whether a value is a payload can't be seen.
func checkJSON(p *pass) {
	for _, u := range p.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Call:
				if name := callName(n); jsonFunctions[name] {
					p.report(u, n.Span, "rows and columns, or OPENJSON … WITH", "%s may cut or alter what passes through it", name)
				}
			case *syntax.ForClause:
				if n.Kind == "JSON" || n.Kind == "XML" {
					p.report(u, n.Span, "return rows", "FOR %s may cut or alter what passes through it", n.Kind)
				}
			}
			return true
		})
	}
}

// checkPayloadMembers looks at OPENJSON … WITH only. A member AS JSON must be nvarchar(max) for the server as well.
func checkPayloadMembers(p *pass) {
	for _, u := range p.units {
		for c := range syntax.All[*syntax.JSONColumn](u.node) {
			if c.AsJSON || c.Type == nil || u.catalog == nil {
				continue
			}
			for _, name := range p.Options.Payloads {
				typ, _, err := u.catalog.Type(c.Type)
				if same(name, c.Name.Value) && err == nil && (typ.Kind != sqltype.NVarChar || typ.Length != sqltype.Max) {
					p.report(u, c.Span, "nvarchar(max)", "payload %s is lost where it is longer than %s", c.Name.Value, typ)
				}
			}
		}
	}
}
