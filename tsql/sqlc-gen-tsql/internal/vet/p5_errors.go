package vet

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// errorRules are about what a caller learns when something goes wrong.
var errorRules = []Rule{
	{
		ID:    "P5-number",
		Title: "THROW raises a number that is written out and in the configured range, which begins at 50001 by default",
		Reason: "Callers tell errors apart by number. One that is computed has no name, and 50000 is what RAISERROR raises " +
			"for every text.",
		Bad:   "CREATE PROCEDURE dbo.fail AS THROW 50000, N'nothing there', 1;",
		Good:  "CREATE PROCEDURE dbo.fail AS THROW 50010, N'nothing there', 1;",
		check: checkNumbers,
	},
	{
		ID:       "P5-raiserror",
		Title:    "Errors are raised by THROW, not by RAISERROR",
		Reason:   "RAISERROR goes on with the next statement outside of TRY, ignores XACT_ABORT, and has one number for all texts.",
		Bad:      "CREATE PROCEDURE dbo.fail AS RAISERROR (N'nothing there', 16, 1);",
		Good:     "CREATE PROCEDURE dbo.fail AS THROW 50010, N'nothing there', 1;",
		Optional: true,
		check:    checkRaiserror,
	},
	{
		ID:     "P5-documented",
		Title:  "Where a header lists errors, it lists those that are thrown, and no others",
		Reason: "The list becomes the names that a caller compares with; a number that is missing there has none.",
		Bad:    "-- Fails.\n-- Errors:\n--   50010 gone: it is not there\nCREATE PROCEDURE dbo.fail AS THROW 50011, N'busy', 1;",
		Good:   "-- Fails.\n-- Errors:\n--   50010 gone: it is not there\nCREATE PROCEDURE dbo.fail AS THROW 50010, N'gone', 1;",
		check:  checkDocumented,
	},
	{
		ID:    "P5-meaning",
		Title: "An error number has one name in all scripts",
		Reason: "A number that means two things can't be handled (durabletask-mssql uses 50000 and 50001 for two things " +
			"each).",
		Bad: "-- A.\n-- Errors:\n--   50010 gone: x\nCREATE PROCEDURE dbo.a AS THROW 50010, N'x', 1;\nGO\n" +
			"-- B.\n-- Errors:\n--   50010 busy: y\nCREATE PROCEDURE dbo.b AS THROW 50010, N'y', 1;",
		Good: "-- A.\n-- Errors:\n--   50010 gone: x\nCREATE PROCEDURE dbo.a AS THROW 50010, N'x', 1;\nGO\n" +
			"-- B.\n-- Errors:\n--   50011 busy: y\nCREATE PROCEDURE dbo.b AS THROW 50011, N'y', 1;",
		check: checkMeanings,
	},
	{
		ID:    "P5-swallow",
		Title: "CATCH throws, unless it has looked at ERROR_NUMBER(), or sends it as a result",
		Reason: "An error that ends in CATCH is a success for the caller. What is expected is told from what isn't by its " +
			"number, and everything else is thrown on. A result set with the number leaves that to the caller.",
		Bad: `CREATE PROCEDURE dbo.try_it AS
BEGIN TRY
    EXEC dbo.do_it;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH;`,
		Good: `CREATE PROCEDURE dbo.try_it AS
BEGIN TRY
    EXEC dbo.do_it;
END TRY
BEGIN CATCH
    IF ERROR_NUMBER() <> 2627 THROW;
END CATCH;`,
		check: checkCatches(swallowed, "throw on what is not expected: IF ERROR_NUMBER() NOT IN (…) THROW;",
			"CATCH can end without throwing, and the caller takes it for a success"),
	},
	{
		ID:     "P5-rethrow",
		Title:  "CATCH changes the number of an error only after it has looked at that number",
		Reason: "A deadlock or a time-out under another's number is neither retried nor understood.",
		Bad: `CREATE PROCEDURE dbo.try_it AS
BEGIN TRY
    EXEC dbo.do_it;
END TRY
BEGIN CATCH
    THROW 50010, N'it failed', 1;
END CATCH;`,
		Good: `CREATE PROCEDURE dbo.try_it AS
BEGIN TRY
    EXEC dbo.do_it;
END TRY
BEGIN CATCH
    IF ERROR_NUMBER() = 2627 THROW 50010, N'it exists', 1;
    THROW;
END CATCH;`,
		check: checkCatches(renumbered, "THROW; without arguments raises the error as it was",
			"an error of any kind gets a number of another meaning here"),
	},
}

// checkNumbers looks at every THROW with arguments; a THROW alone raises the error of its CATCH again.
func checkNumbers(p *pass) {
	for _, u := range p.units {
		for n := range syntax.All[*syntax.Throw](u.node) {
			if n.Number == nil {
				continue
			}
			number, literal := intValue(n.Number)
			switch {
			case !literal:
				p.report(u, n.Number.Range(), "write the number", "THROW of a number that isn't written out")
			case number < p.Options.ErrorMin || number > p.Options.ErrorMax:
				p.report(u, n.Number.Range(), "take one from the range, which error_min and error_max set",
					"THROW %d is outside of the range %d to %d", number, p.Options.ErrorMin, p.Options.ErrorMax)
			}
		}
	}
}

// raises says whether a RAISERROR is an error: severity 10 and less is a message. A severity that can't be seen
// counts. The server itself draws the line there: TRY catches from 11 on.
func raises(n *syntax.Raiserror) bool {
	if len(n.Args) < 2 {
		return true
	}
	severity, literal := intValue(n.Args[1])
	return !literal || severity > 10
}

// checkRaiserror reports errors only; RAISERROR with a severity up to 10 and NOWAIT is the one way to print at once.
func checkRaiserror(p *pass) {
	for _, u := range p.units {
		for n := range syntax.All[*syntax.Raiserror](u.node) {
			if raises(n) {
				p.report(u, n.Span, "THROW a number of its own", "RAISERROR instead of THROW")
			}
		}
	}
}

// thrown returns where a unit throws which numbers of its own. RAISERROR has none of its own, and what the server
// raises belongs to the server.
func (u *unit) thrown() map[int64]diag.Span {
	out := map[int64]diag.Span{}
	for n := range syntax.All[*syntax.Throw](u.node) {
		if n.Number == nil {
			continue
		}
		number, literal := intValue(n.Number)
		if _, seen := out[number]; literal && !seen {
			out[number] = n.Number.Range()
		}
	}
	return out
}

// checkDocumented compares the header's list with what is thrown, both ways. A header without a list is P6's to
// report.
func checkDocumented(p *pass) {
	for _, u := range p.procedures() {
		if !u.hasSection("errors") {
			continue
		}
		thrown := u.thrown()
		listed := map[int64]bool{}
		for _, e := range u.header.Errors {
			listed[int64(e.Number)] = true
			if _, own := thrown[int64(e.Number)]; !own && !p.callee(u, e.Number) {
				p.report(u, e.Span, "delete the line", "%s does not throw %d", syntax.Dotted(u.name.Parts), e.Number)
			}
		}
		// In any order: findings are sorted at the end.
		for number, at := range thrown {
			if !listed[number] && p.leaves(u, number) {
				p.report(u, at, "add it to the section Errors", "the header does not list error %d", number)
			}
		}
	}
}

// leaves says whether a number that is thrown may reach the caller. The analysis knows which ones a CATCH swallows, and
// refuses a header that lists one of those; without it every number counts.
func (p *pass) leaves(u *unit, number int64) bool {
	program := p.program(u)
	return program == nil || slices.Contains(program.Errors, int32(number))
}

// callee says whether a number may come from a procedure that is called: the analysis knows, and without it every call
// may throw anything.
func (p *pass) callee(u *unit, number int32) bool {
	if program := p.program(u); program != nil {
		return slices.Contains(program.Errors, number)
	}
	for range syntax.All[*syntax.Exec](u.node) {
		return true
	}
	return false
}

// checkMeanings looks at all procedures together: numbers and names become Go sentinels of one package, where one
// name can have one number only.
func checkMeanings(p *pass) {
	type first struct {
		u *unit
		directive.ErrorName
	}
	numbers, names := map[int32]first{}, map[string]first{}
	for _, u := range p.procedures() {
		for _, e := range u.header.Errors {
			// A line without a name documents the number and gives no sentinel.
			if e.Name == "" {
				continue
			}
			number, known := numbers[e.Number]
			name, used := names[catalog.Fold(e.Name)]
			switch {
			case known && !same(number.Name, e.Name):
				p.report(u, e.Span, "give one of the two another number",
					"error %d is called %s here and %s in %s", e.Number, e.Name, number.Name, syntax.Dotted(number.u.name.Parts))
			case used && name.Number != e.Number:
				p.report(u, e.Span, "use one number for it, or another name",
					"error %s has number %d here and %d in %s", e.Name, e.Number, name.Number, syntax.Dotted(name.u.name.Parts))
			}
			if !known {
				numbers[e.Number] = first{u, e}
			}
			if !used {
				names[catalog.Fold(e.Name)] = first{u, e}
			}
		}
	}
}
