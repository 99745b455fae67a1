// Package vet checks scripts against rules that no compiler knows: habits that deadlock, lose a transaction or scan a
// table. Each rule is a unit of its own with the reason for it, an example that breaks it and one that keeps it; the
// tests run both.
//
// A finding is suppressed where it stands by a comment that names the rule and says why:
//
//	-- vet:allow P4-merge: one writer, and the whole set in one statement
//
// A suppression that names no rule, gives no reason or suppresses nothing is a finding itself.
//
// A rule that isn't sure says nothing. People switch a linter off after its third false alarm, and a rule that is
// switched off finds nothing at all; so an unknown table, a variable where a constant was expected, or control flow
// that can't be followed all count in favour of the script.
//
// Reading order: vet.go has what other packages see; session.go cuts scripts into units and keeps the findings;
// text.go and expr.go have small questions that many rules ask; what names mean, package analyze finds out. flow.go
// with conditions.go follows transactions through a body, catch.go errors through a CATCH, and indexes.go lists the
// keys of all tables. Behind them stands one file for each family of rules, named by its id.
package vet

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Input is what the rules look at. Only Scripts must be there: what a front end that stopped early has not made is
// nil, and costs the rules that need it.
type Input struct {
	Scripts []*syntax.Script
	// Directives has a set for each script, in the same order. Without one nothing is suppressed in its script, and no
	// statement of it is known as an annotated query.
	Directives []*directive.Set
	// Catalog is what the scripts define. Without one no column has a type and no table a key.
	Catalog *catalog.Catalog
	// Program is what the analysis came to; nil if it failed.
	Program *analyze.Program
	Options Options
}

// Options say which rules apply and what they can't know by themselves: the names of columns and tables that play a
// part in a design. A rule that needs an option which isn't set says nothing. Names of tables may be written with or
// without their schema, and case doesn't count.
type Options struct {
	// Enable and Disable hold ids of rules ("P4-merge"), of families ("P4"), or "all". Disable wins.
	Enable, Disable []string

	// Schema is the schema that every object is in. Without it any schema will do, so long as it is written.
	Schema string
	// ErrorMin and ErrorMax are the lowest and the highest number that THROW may raise; 50001 and 2147483647 if zero.
	ErrorMin, ErrorMax int64

	// LockTokens and LockedUntil are the columns that hold the token of a lease, and its end: "lock_token",
	// "locked_until". Several, for tables that call them otherwise. The rules about leases need both.
	LockTokens, LockedUntil []string
	// Payloads are the members of JSON documents that hold values of any length.
	Payloads []string

	// QueueTables are the tables that are claimed from, by many sessions at once.
	QueueTables []string
	// HotTables are the tables that every operation works on, which must not have foreign keys.
	HotTables []string
	// LockOrder is the order in which every transaction locks tables. A table that isn't in it may be locked at any
	// time.
	LockOrder []string

	// Header holds the titles of the sections that a header has, in their order: "called by", "transaction", "locks".
	Header []string
	// Hints are those that P6-hints asks no reason of, since one text explains them for all scripts: "KEEPFIXED PLAN".
	Hints []string
	// MaxLines is how many lines a procedure may have without saying why; 150 if zero.
	MaxLines int64

	// PurgePrefixes is how the names of procedures that delete in bulk begin; purge_, prune_ and delete_ if nil. An
	// empty list that isn't nil stands for no procedure.
	PurgePrefixes []string
	// Helpers are the procedures that only other procedures call: those that the generator leaves out. They are named
	// as in the option exclude: with their schema, or without if that is the default one.
	Helpers []string
	// Roles are those that views and procedures are granted to.
	Roles []string
}

// defaults fills in what has a default. They are filled in here, and not by whoever reads a configuration, so that
// the zero value means the same to every caller.
func (o Options) defaults() Options {
	// THROW takes numbers from 50000 on, and 50000 is what RAISERROR raises for any text: an error of its own begins
	// behind.
	if o.ErrorMin == 0 {
		o.ErrorMin = 50001
	}
	if o.ErrorMax == 0 {
		o.ErrorMax = math.MaxInt32
	}
	if o.MaxLines == 0 {
		o.MaxLines = 150
	}
	if o.PurgePrefixes == nil {
		o.PurgePrefixes = []string{"purge_", "prune_", "delete_"}
	}
	return o
}

// A Rule is one check. Everything but the check is text for people: README, the command rules and the tests are made
// of it.
type Rule struct {
	// ID is what options and suppressions name: "P4-merge", a family of rules and one of them. It never changes, since
	// scripts contain it.
	ID string
	// Title is what is demanded, in one line without a full stop.
	Title string
	// Reason is why: what happens to whoever breaks the rule, and where it has happened.
	Reason string
	// Bad is a script that breaks this rule and no other that is on by default; Good is the same as it should be.
	Bad, Good string
	// Optional rules are matters of opinion, or of a design that not everybody shares: off unless enabled.
	Optional bool
	// Needs names the option without which the rule says nothing; Example holds what Bad and Good assume.
	Needs   string
	Example Options

	// check looks at all scripts and reports what breaks the rule.
	check func(*pass)
}

// families holds all rules, a list for each file; Rules sorts them.
var families = [][]Rule{
	shapeRules, roundTripRules, nameRules, forbiddenRules, errorRules, headerRules, settingRules, spellingRules, grantRules,
	claimRules, leaseRules, queueRules, orderRules, purgeRules, planRules, hintRules, upsertRules, isolationRules,
	typeRules, timeRules, keyRules, payloadRules, versionRules, formRules, agreementRules,
}

// Rules returns every rule in the order of their ids. The slice is the caller's, the rules in it are shared.
func Rules() []Rule {
	rules := slices.Concat(families...)
	slices.SortFunc(rules, func(a, b Rule) int { return compareIDs(a.ID, b.ID) })
	return rules
}

// compareIDs orders P2 before P10 and P3 before P3-star.
func compareIDs(a, b string) int {
	letterA, numberA, restA := splitID(a)
	letterB, numberB, restB := splitID(b)
	return cmp.Or(cmp.Compare(letterA, letterB), cmp.Compare(numberA, numberB), cmp.Compare(restA, restB))
}

// splitID takes "P3-star" apart into P, 3 and star. What isn't made like that is a letter alone and sorts by itself.
func splitID(id string) (letter string, number int, rest string) {
	family, rest, _ := strings.Cut(id, "-")
	number, err := strconv.Atoi(family[1:])
	if err != nil {
		return id, 0, ""
	}
	return family[:1], number, rest
}

// family returns "P4" of "P4-merge".
func family(id string) string {
	name, _, _ := strings.Cut(id, "-")
	return name
}

// Run applies the rules and returns what they found, sorted. Suppressed findings are left out; suppressions that
// suppressed nothing are findings. The order in which rules run makes no difference: none sees the findings of
// another, and suppressions are looked at when all have run.
func Run(in Input) diag.List {
	in.Options = in.Options.defaults()
	s := newSession(in)
	var out diag.List
	s.checkOptions(&out)
	for _, rule := range Rules() {
		if s.enabled(rule) {
			rule.check(&pass{session: s, rule: rule})
		}
	}
	s.suppress(&out)
	out.Sort()
	return out
}

// enabled says whether a rule applies under the options. A family or "all" in Disable wins over a single id in
// Enable, so that a team can switch off what an included configuration switches on.
func (s *session) enabled(r Rule) bool {
	names := func(list []string) bool {
		return slices.ContainsFunc(list, func(id string) bool { return id == "all" || id == r.ID || id == family(r.ID) })
	}
	return !names(s.Options.Disable) && (!r.Optional || names(s.Options.Enable))
}

// checkOptions reports ids that don't exist. A misspelt id in Disable would otherwise do nothing, and one
// in Enable would be taken for a clean run.
func (s *session) checkOptions(out *diag.List) {
	ids := ruleNames()
	for _, id := range slices.Concat(s.Options.Enable, s.Options.Disable) {
		if id != "all" && !slices.Contains(ids, id) {
			out.Add(nil, diag.Span{}, "vet/options", meant(diag.Nearest(id, ids)), "there is no rule %s", id)
		}
	}
}

// ruleNames returns the ids of all rules and of their families. The families are what "vet:allow P4" and the options
// may name instead of a rule.
func ruleNames() []string {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.ID, family(r.ID))
	}
	slices.SortFunc(names, compareIDs)
	return slices.Compact(names)
}

// meant words a suggestion; it is empty when there is none.
func meant(name string) string {
	if name == "" {
		return "sqlc-gen-tsql rules lists them"
	}
	return "probably " + name + " is meant"
}
