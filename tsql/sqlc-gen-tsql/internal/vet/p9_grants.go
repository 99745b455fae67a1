package vet

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// grantRules are about who may call what.
var grantRules = []Rule{{
	ID:    "P9-grant",
	Title: "Each view, and each procedure that is called from outside, is granted to one role in its own script; a helper to none",
	Reason: "EXECUTE on a schema lets everybody call the helpers too, which check nothing, and whatever is added later. What a " +
		"procedure does with objects of its owner needs no grant.",
	Bad: "CREATE PROCEDURE dbo.one AS\nSET NOCOUNT ON;\nSELECT 1 AS one;\nGO\nGRANT EXECUTE ON SCHEMA::dbo TO workers;",
	Good: "CREATE PROCEDURE dbo.one AS\nSET NOCOUNT ON;\nSELECT 1 AS one;\n" +
		"GO\nGRANT EXECUTE ON dbo.one TO workers;",
	Needs:   "roles",
	Example: Options{Roles: []string{"workers"}},
	check:   checkGrants,
}}

func checkGrants(p *pass) {
	if len(p.Options.Roles) == 0 {
		return
	}
	for _, u := range p.units {
		for grant := range syntax.All[*syntax.Permission](u.node) {
			if grant.Verb == "GRANT" && (grant.On == nil || grant.Class != "" && grant.Class != "OBJECT" && grant.Class != "TYPE") {
				p.report(u, grant.Span, "grant each object by itself", "what is granted on all of them holds for helpers too")
			}
		}
		if _, isView := u.node.(*syntax.CreateView); isView || u.proc != nil {
			p.checkGrantsOn(u)
		}
	}
}

// checkGrantsOn looks for the grants on a procedure or view in its script.
func (p *pass) checkGrantsOn(u *unit) {
	name, right := syntax.Dotted(u.name.Parts), "SELECT"
	if u.proc != nil {
		right = "EXECUTE"
	}
	var granted []*syntax.Permission
	for _, other := range p.units {
		for grant := range syntax.All[*syntax.Permission](other.node) {
			if other.script == u.script && grant.Verb == "GRANT" && grant.On != nil && same(syntax.Dotted(grant.On.Parts), name) {
				granted = append(granted, grant)
			}
		}
	}
	switch {
	case p.helper(u) && len(granted) > 0:
		p.report(u, granted[0].Span, "remove the grant", "only other procedures call %s", name)
	case p.helper(u):
	case len(granted) != 1 || !p.toOneRole(granted[0], right):
		p.report(u, u.name.Span, "write GRANT "+right+" ON "+name+" TO one of the roles behind it, once",
			"%s is not granted to one role", name)
	}
}

// toOneRole says whether a grant gives one right to one of the roles.
func (p *pass) toOneRole(grant *syntax.Permission, right string) bool {
	return len(grant.To) == 1 && slices.ContainsFunc(p.Options.Roles, func(role string) bool { return same(role, grant.To[0].Value) }) &&
		slices.Equal(grant.Permissions, []string{right}) && !grant.GrantOption
}
