package vet

import (
	"regexp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// agreementRules compare what a header says with what the scripts do.
var agreementRules = []Rule{
	{
		ID:    "D1-callers",
		Title: "The section Called by, or Helper of, names the procedures that call this one, and no others",
		Reason: "Whoever changes a helper must look at its callers. Helper of stands above what only other scripts call; Called by " +
			"names other callers as well. Names are separated by commas. What says gen:internal, or the option exclude names, is a " +
			"helper.",
		Bad: "-- Returns one.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;\nGO\n" +
			"-- Returns one, too.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.both AS EXEC dbo.one;",
		Good: "-- Returns one.\n-- Helper of: both.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;\nGO\n" +
			"-- Returns one, too.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.both AS EXEC dbo.one;",
		Optional: true,
		check:    checkCallers,
	},
	{
		ID:    "D1-transaction",
		Title: "The section Transaction begins with its own, the caller's or none, and matches the procedure",
		Reason: "Several procedures make one transaction, and which it is can't be seen in the text of one of them. What is in the " +
			"caller's transaction is called inside one.",
		Bad:      "-- Returns one.\n-- Transaction: its own.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Good:     "-- Returns one.\n-- Transaction: none.\nCREATE PROCEDURE dbo.one AS SELECT 1 AS one;",
		Optional: true,
		check:    checkTransactionSections,
	},
	{
		ID:       "D1-locks",
		Title:    "The section Locks names every table that the procedure reads or writes",
		Reason:   "A table that is missing there is missing where somebody compares the order of locks of two procedures.",
		Bad:      "-- Counts.\n-- Locks: orders.\nCREATE PROCEDURE dbo.count_users AS SELECT COUNT(*) AS users FROM dbo.users;\nGO\nCREATE TABLE dbo.users (id int NOT NULL PRIMARY KEY);",
		Good:     "-- Counts.\n-- Locks: users.\nCREATE PROCEDURE dbo.count_users AS SELECT COUNT(*) AS users FROM dbo.users;\nGO\nCREATE TABLE dbo.users (id int NOT NULL PRIMARY KEY);",
		Optional: true,
		check:    checkLockedTables,
	},
	{
		ID:    "D1-hints",
		Title: "The section Hints explains no hint that the procedure does not have",
		Reason: "Whoever reads there what a hint buys believes that it is in the text. P6-hints asks for a reason of each hint; this is " +
			"the other way round.",
		Bad:      "-- Lists users.\n-- Hints: READPAST passes over what is locked.\nCREATE PROCEDURE dbo.list_users AS SELECT u.name FROM dbo.users AS u;",
		Good:     "-- Lists users.\nCREATE PROCEDURE dbo.list_users AS SELECT u.name FROM dbo.users AS u;",
		Optional: true,
		check:    checkNamedHints,
	},
}

// checkCallers compares the list with the calls in all scripts.
func checkCallers(p *pass) {
	for _, u := range p.routines() {
		section, ok := u.section("called by")
		if !ok {
			continue
		}
		if helper := section.Title == "helper of"; u.proc != nil && len(p.Options.Helpers) > 0 && helper != p.helper(u) {
			p.report(u, section.Span, "write Helper of if it says gen:internal or exclude names it, and Called by if not",
				"the generator calls %s: %t; the header calls it a helper: %t", syntax.Dotted(u.name.Parts), !p.helper(u), helper)
		}
		callers := p.callers(u)
		for item := range strings.SplitSeq(strings.TrimSuffix(section.Text, "."), ",") {
			item = strings.TrimSpace(item)
			named := slices.IndexFunc(p.units, func(o *unit) bool { return o.module() && among([]string{item}, o.fullName()) })
			switch {
			case named < 0 && section.Title == "helper of":
				p.report(u, section.Span, "write Called by if somebody else than a script calls it", "no script makes %q", item)
			case named >= 0 && !slices.Contains(callers, p.units[named]):
				p.report(u, section.Span, "delete it from the section", "%s does not call %s", item, syntax.Dotted(u.name.Parts))
			case named >= 0:
				callers = slices.DeleteFunc(callers, func(o *unit) bool { return o == p.units[named] })
			}
		}
		for _, caller := range callers {
			p.report(u, section.Span, "add it to the section", "%s is called by %s, too", syntax.Dotted(u.name.Parts), syntax.Dotted(caller.name.Parts))
		}
	}
}

// callers are the modules that name a module in a call.
func (p *pass) callers(u *unit) []*unit {
	var callers []*unit
	for _, o := range p.units {
		if o == u || !o.module() {
			continue
		}
		for n := range syntax.All[*syntax.ObjectName](o.node) {
			if same(n.Last().Value, u.name.Last().Value) {
				callers = append(callers, o)
				break
			}
		}
	}
	return callers
}

// inCallers says that a header promises a transaction of the caller's.
func (u *unit) inCallers() bool {
	section, ok := u.section("transaction")
	return ok && u.proc != nil && begins(section.Text, "the caller's")
}

// begins compares without regard to case.
func begins(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// checkTransactionSections looks at the body, and at whoever calls what needs a transaction.
func checkTransactionSections(p *pass) {
	for _, u := range p.procedures() {
		p.checkCalls(u)
		section, ok := u.section("transaction")
		if !ok {
			continue
		}
		has := false
		for t := range syntax.All[*syntax.Transaction](u.node) {
			has = has || t.Verb == "BEGIN"
		}
		switch own := begins(section.Text, "its own"); {
		case !own && !begins(section.Text, "the caller's") && !begins(section.Text, "none"):
			p.report(u, section.Span, "begin it with its own, the caller's or none", "the section does not say whose transaction it is")
		case own && !has:
			p.report(u, section.Span, "write none, or the caller's", "%s begins no transaction", syntax.Dotted(u.name.Parts))
		case !own && has:
			p.report(u, section.Span, "write its own", "%s begins a transaction", syntax.Dotted(u.name.Parts))
		}
	}
}

// checkCalls looks for calls outside of a transaction of what is in the caller's.
func (p *pass) checkCalls(u *unit) {
	for call := range syntax.All[*syntax.Exec](u.node) {
		if call.Name == nil || u.flow.before[call]&txClosed == 0 || u.flow.joinsCaller {
			continue
		}
		for _, o := range p.procedures() {
			if same(o.name.Last().Value, call.Name.Last().Value) && o.inCallers() {
				p.report(u, call.Span, "BEGIN TRANSACTION before it", "%s needs a transaction of its caller's", syntax.Dotted(o.name.Parts))
			}
		}
	}
}

// checkLockedTables leaves what the procedure calls to the headers of that.
func checkLockedTables(p *pass) {
	for _, u := range p.routines() {
		section, ok := u.section("locks")
		if !ok {
			continue
		}
		for _, table := range u.tables() {
			if !containsWord(section.Text, table) {
				p.report(u, section.Span, "add it in the order of locks", "the section does not name the table %s", table)
			}
		}
	}
}

// hintWords are the words by which a header names hints, as they are written: a word in small letters is an ordinary
// one.
var hintWords = regexp.MustCompile(`\b(?:FORCESCAN|FORCESEEK|HOLDLOCK|INDEX|KEEPFIXED|LOOP|MAXDOP|NOLOCK|PAGLOCK|READCOMMITTEDLOCK|READPAST|` +
	`RECOMPILE|REPEATABLEREAD|ROWLOCK|SERIALIZABLE|TABLOCKX?|UPDLOCK|XLOCK)\b`)

// checkNamedHints compares the words with the hints of tables, joins and statements.
func checkNamedHints(p *pass) {
	for _, u := range p.routines() {
		section, ok := u.section("hints")
		if !ok {
			continue
		}
		has := u.hintNames()
		for _, word := range slices.Compact(slices.Sorted(slices.Values(hintWords.FindAllString(section.Text, -1)))) {
			if !slices.ContainsFunc(has, func(hint string) bool { return containsWord(hint, word) }) {
				p.report(u, section.Span, "delete it from the section, or add the hint", "%s has no hint %s", syntax.Dotted(u.name.Parts), word)
			}
		}
	}
}
