package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// spellingRules matter where names that differ in case are different.
var spellingRules = []Rule{{
	ID:     "P8",
	Title:  "A name is written as it was defined",
	Reason: "On a case-sensitive database another spelling is another name, and the script fails there only.",
	Bad: "CREATE TABLE dbo.Users (Id int NOT NULL PRIMARY KEY);\nGO\n" +
		"CREATE PROCEDURE dbo.find @id int AS SELECT id FROM dbo.Users WHERE Id = @id;",
	Good: "CREATE TABLE dbo.Users (Id int NOT NULL PRIMARY KEY);\nGO\n" +
		"CREATE PROCEDURE dbo.find @id int AS SELECT Id FROM dbo.Users WHERE Id = @id;",
	check: checkSpelling,
}}

// checkSpelling compares the uses that the resolver found with their definitions. Variables are among them: their
// names follow the collation of the server's databases, too.
func checkSpelling(p *pass) {
	for _, u := range p.units {
		for _, use := range u.Uses {
			if use.Written != use.Defined {
				p.report(u, use.At, "write "+use.Defined, "%s %s is defined as %s", use.What, use.Written, use.Defined)
			}
		}
		for n := range syntax.All[*syntax.ObjectName](u.node) {
			p.checkSystemSpelling(u, n)
		}
	}
}

// checkSystemSpelling looks at the names of the system, which are lower case but for INFORMATION_SCHEMA.
func (p *pass) checkSystemSpelling(u *unit, n *syntax.ObjectName) {
	for i, part := range n.Parts {
		want := part.Value
		switch folded := catalog.Fold(part.Value); {
		case i == len(n.Parts)-1 && (folded == "sysname" || folded == "sp_executesql"):
			want = folded
		case i == len(n.Parts)-2 && folded == "sys":
			want = folded
		case i == len(n.Parts)-2 && folded == "information_schema":
			want = "INFORMATION_SCHEMA"
		}
		if want != part.Value {
			p.report(u, part.Span, "write "+want, "%s is %s on a case-sensitive server", part.Value, want)
		}
	}
}
