package vet

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// forbiddenRules name what is not used at all.
var forbiddenRules = []Rule{
	{
		ID:     "P4-prefix",
		Title:  "No procedure is called sp_…",
		Reason: "The server looks for such names in master first, and one day it may find one there.",
		Bad:    "CREATE PROCEDURE dbo.sp_one AS SELECT 1 AS one;",
		Good:   "CREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		check: func(p *pass) {
			for _, u := range p.procedures() {
				if strings.HasPrefix(catalog.Fold(u.name.Last().Value), "sp_") {
					p.report(u, u.name.Last().Span, "leave the sp_ out", "the prefix sp_ is the system's")
				}
			}
		},
	},
	{
		ID:       "P4-merge",
		Title:    "No MERGE",
		Reason:   "MERGE without HOLDLOCK races with itself, and has a list of wrong results that were never repaired.",
		Bad:      "MERGE dbo.users AS t USING dbo.arrivals AS a ON t.id = a.id WHEN MATCHED THEN UPDATE SET name = a.name;",
		Good:     "UPDATE t SET name = a.name FROM dbo.users AS t JOIN dbo.arrivals AS a ON t.id = a.id;",
		Optional: true,
		check:    forbid("MERGE", "write UPDATE and INSERT", func(n syntax.Node) bool { return is[*syntax.Merge](n) }),
	},
	{
		ID:       "P4-cursor",
		Title:    "No cursors",
		Reason:   "Row by row takes locks one at a time, in the order of the rows, and a statement does the same at once.",
		Bad:      "DECLARE c CURSOR FOR SELECT id FROM dbo.users;",
		Good:     "DECLARE @ids TABLE (id int);\nINSERT @ids (id) SELECT id FROM dbo.users;",
		Optional: true,
		check:    forbid("a cursor", "write one statement over the set", func(n syntax.Node) bool { return is[*syntax.CursorStmt](n) }),
	},
	{
		ID:     "P4-nolock",
		Title:  "No dirty reads: neither NOLOCK nor READ UNCOMMITTED",
		Reason: "Such a read returns rows that never existed, misses rows that do, and fails with 601 when a page moves.",
		Bad:    "SELECT name FROM dbo.users WITH (NOLOCK);",
		Good:   "SELECT name FROM dbo.users;",
		check:  checkDirtyReads,
	},
	{
		ID:       "P4-waitfor",
		Title:    "No WAITFOR",
		Reason:   "It holds a connection, and whatever locks the session has, while it does nothing.",
		Bad:      "WAITFOR DELAY '00:00:01';",
		Good:     "SELECT id FROM dbo.timers WHERE due <= 17;",
		Optional: true,
		check:    forbid("WAITFOR", "let the caller wait", func(n syntax.Node) bool { return is[*syntax.Waitfor](n) }),
	},
	{
		ID:     "P4-forceseek",
		Title:  "FORCESEEK names no columns for the table that an UPDATE or a DELETE changes",
		Reason: "The server's manual allows the hint with columns only for tables that are read. Together with INDEX it says the same and is allowed.",
		Bad:    "UPDATE u SET name = N'' FROM dbo.users AS u WITH (FORCESEEK (pk_users (id))) WHERE u.id = 1;",
		Good:   "UPDATE u SET name = N'' FROM dbo.users AS u WITH (FORCESEEK, INDEX (pk_users)) WHERE u.id = 1;",
		check:  checkSeeksOfTargets,
	},
	{
		ID:       "P4-goto",
		Title:    "No GOTO",
		Reason:   "Neither a reader nor a tool can say what holds at a label.",
		Bad:      "CREATE PROCEDURE dbo.one AS\nGOTO done;\ndone: SELECT 1 AS one;",
		Good:     "CREATE PROCEDURE dbo.one AS\nSELECT 1 AS one;",
		Optional: true,
		check:    forbid("GOTO", "write IF, WHILE or RETURN", func(n syntax.Node) bool { return is[*syntax.Goto](n) }),
	},
}

// forbid makes a check that reports the nodes which match.
func forbid(what, fix string, matches func(syntax.Node) bool) func(*pass) {
	return func(p *pass) {
		for _, u := range p.units {
			syntax.Walk(u.node, func(n syntax.Node) bool {
				if matches(n) {
					p.report(u, n.Range(), fix, "%s is not allowed", what)
				}
				return true
			})
		}
	}
}

// checkDirtyReads knows the hint under both of its names, and the isolation level that does the same for a session.
func checkDirtyReads(p *pass) {
	for _, u := range p.units {
		syntax.Walk(u.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Option:
				if n.Name == "NOLOCK" || n.Name == "READUNCOMMITTED" {
					p.report(u, n.Span, "leave the hint out", "%s reads what was never committed", n.Name)
				}
			case *syntax.SetOption:
				if n.Name == "TRANSACTION ISOLATION LEVEL" && n.Value == "READ UNCOMMITTED" {
					p.report(u, n.Span, "READ COMMITTED is the default", "READ UNCOMMITTED reads what was never committed")
				}
			}
			return true
		})
	}
}

// checkSeeksOfTargets looks at the target's own hints, which may stand in the FROM.
func checkSeeksOfTargets(p *pass) {
	p.statements(func(u *unit, s syntax.Stmt, n syntax.Node) {
		written, target := u.target(s)
		if target == nil {
			return
		}
		for t := range syntax.All[*syntax.TableRef](n) {
			if target != syntax.TableSource(t) && (written == nil || written.Ref != t) {
				continue
			}
			for _, h := range t.Hints {
				if h.Name == "FORCESEEK" && h.Value != "" {
					p.report(u, h.Span, "write FORCESEEK, INDEX (…)", "this hint is not allowed for what the statement changes")
				}
			}
		}
	})
}
