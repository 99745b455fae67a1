package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
)

// roundTripRules say what belongs into a procedure.
var roundTripRules = []Rule{{
	ID:    "P2",
	Title: "Annotated queries only read; procedures write",
	Reason: "A write is a whole operation with its checks and its transaction, in one round trip and one place, rather than " +
		"a statement that a client puts together with others.",
	Bad:      "-- name: DeleteUser :exec\nDELETE dbo.users WHERE id = @id;",
	Good:     "-- name: GetUser :one\nSELECT name FROM dbo.users WHERE id = @id;",
	Optional: true,
	check:    checkQueriesRead,
}}

// checkQueriesRead looks at statements with a directive -- name: above them; others are no queries of the generated
// code.
func checkQueriesRead(p *pass) {
	for _, u := range p.units {
		set := p.sets[u.script.File]
		if u.module() || set == nil {
			continue
		}
		for _, s := range u.body {
			if u.writesStored(s) && len(set.Above(s.Range(), directive.Query)) > 0 {
				p.report(u, s.Range(), "make it a procedure", "this query writes")
			}
		}
	}
}
