package vet

import (
	"maps"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// shapeRules are about the frame of a procedure: settings, transaction, TRY and CATCH.
var shapeRules = []Rule{
	{
		ID:    "P1-settings",
		Title: "A procedure that writes, and that not only procedures call, begins with SET NOCOUNT ON and SET XACT_ABORT ON",
		Reason: "Without NOCOUNT each statement sends a row count of its own; without XACT_ABORT a time-out or some errors " +
			"leave the transaction open.",
		Bad: `CREATE PROCEDURE dbo.rename_user @id int, @name nvarchar(50) AS
UPDATE dbo.users SET name = @name WHERE id = @id;`,
		Good: `CREATE PROCEDURE dbo.rename_user @id int, @name nvarchar(50) AS
SET NOCOUNT ON; SET XACT_ABORT ON;
UPDATE dbo.users SET name = @name WHERE id = @id;`,
		check: checkSettings,
	},
	{
		ID:    "P1-catch",
		Title: "CATCH rolls the transaction back before it throws: IF XACT_STATE() <> 0 ROLLBACK TRANSACTION; THROW;",
		Reason: "A THROW without a rollback leaves the transaction open on a pooled session, and the next caller works inside " +
			"it (durabletask-mssql #217 to #219). An unconditional ROLLBACK fails when the error has ended the transaction.",
		Bad: `CREATE PROCEDURE dbo.move @from int, @to int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE dbo.account SET amount -= 1 WHERE id = @from;
    UPDATE dbo.account SET amount += 1 WHERE id = @to;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    THROW;
END CATCH;`,
		Good: `CREATE PROCEDURE dbo.move @from int, @to int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE dbo.account SET amount -= 1 WHERE id = @from;
    UPDATE dbo.account SET amount += 1 WHERE id = @to;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		check: checkEvents(map[txEventKind]eventText{
			throwOpen: {
				"THROW leaves the transaction open",
				"put IF XACT_STATE() <> 0 ROLLBACK TRANSACTION; before it",
			},
			catchOpen: {
				"CATCH may end with the transaction open",
				"begin it with IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;",
			},
			rollbackUnchecked: {
				"ROLLBACK in CATCH fails when the transaction has ended already, and hides the error",
				"write IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;",
			},
		}),
	},
	{
		ID:    "P1-try",
		Title: "A transaction begins in TRY, or just before it",
		Reason: "RAISERROR ignores XACT_ABORT, and what stands behind it runs on. A CATCH rolls back whatever the error was, where " +
			"a reader sees it, in the same words everywhere.",
		Bad: `CREATE PROCEDURE dbo.clear_basket AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRANSACTION;
DELETE dbo.basket;
COMMIT TRANSACTION;`,
		Good: `CREATE PROCEDURE dbo.clear_basket AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    DELETE dbo.basket;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Optional: true,
		check: checkEvents(map[txEventKind]eventText{
			beginOutsideTry: {
				"BEGIN TRANSACTION outside of TRY",
				"put it into BEGIN TRY … END TRY BEGIN CATCH IF XACT_STATE() <> 0 ROLLBACK TRANSACTION; THROW; END CATCH",
			},
		}),
	},
	{
		ID:    "P1-open",
		Title: "Every way out of a procedure has ended the transaction that it began",
		Reason: "A transaction that is left open holds its locks until the session ends, and the next caller on the pooled " +
			"connection commits or loses its work with it.",
		Bad: `CREATE PROCEDURE dbo.take @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE dbo.stock SET amount -= 1 WHERE id = @id AND amount > 0;
    IF @@ROWCOUNT = 0 RETURN;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Good: `CREATE PROCEDURE dbo.take @id int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE dbo.stock SET amount -= 1 WHERE id = @id AND amount > 0;
    IF @@ROWCOUNT = 0
    BEGIN
        ROLLBACK TRANSACTION;
        RETURN;
    END;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		check: checkEvents(map[txEventKind]eventText{
			returnOpen: {"RETURN may leave the transaction open", "COMMIT or ROLLBACK before it"},
			leftOpen: {
				"the transaction that begins here is still open at the end on some path",
				"COMMIT or ROLLBACK on every path",
			},
			nothingToCommit: {"COMMIT where this code has no transaction open", "delete it, or begin one before"},
		}),
	},
	{
		ID:     "P1-nested",
		Title:  "No BEGIN TRANSACTION inside a transaction",
		Reason: "Transactions nest in name only: the inner COMMIT does nothing, and a ROLLBACK undoes everything.",
		Bad: `CREATE PROCEDURE dbo.twice AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    BEGIN TRANSACTION;
    DELETE dbo.basket;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		Good: `CREATE PROCEDURE dbo.once AS
SET NOCOUNT ON; SET XACT_ABORT ON;
BEGIN TRY
    BEGIN TRANSACTION;
    SAVE TRANSACTION before_delete;
    DELETE dbo.basket;
    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
		check: checkEvents(map[txEventKind]eventText{
			beginNested: {"BEGIN TRANSACTION where one may be open already", "end the first, or SAVE TRANSACTION"},
		}),
	},
	{
		ID:     "P1-atomic",
		Title:  "Several writes of a procedure are one transaction",
		Reason: "Between two statements that commit by themselves the caller can die, and half of the operation stays.",
		Bad: `CREATE PROCEDURE dbo.move @from int, @to int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
UPDATE dbo.account SET amount -= 1 WHERE id = @from;
UPDATE dbo.account SET amount += 1 WHERE id = @to;`,
		Good: `CREATE PROCEDURE dbo.move @from int, @to int AS
SET NOCOUNT ON; SET XACT_ABORT ON;
UPDATE dbo.account SET amount += IIF(id = @to, 1, -1) WHERE id IN (@from, @to);`,
		check: checkEvents(map[txEventKind]eventText{
			secondWriteUnguarded: {
				"this write and one before it are not in one transaction",
				"put both between BEGIN TRANSACTION and COMMIT TRANSACTION, in TRY",
			},
		}),
	},
}

// eventText is how a rule words an event for its user.
type eventText struct{ message, fix string }

// checkEvents makes a check that reports events of the transaction flow of procedures. A procedure that joins its
// caller's transaction is left alone: which BEGIN belongs to which COMMIT depends on a value at run time, and every
// path that the flow sees besides the right ones would be reported.
func checkEvents(texts map[txEventKind]eventText) func(*pass) {
	return func(p *pass) {
		for _, u := range p.procedures() {
			for _, e := range u.flow.events { // nobody can judge a procedure that joins its caller's transaction
				text, ok := texts[e.kind]
				if ok && !u.flow.joinsCaller {
					p.report(u, e.at, text.fix, "%s", text.message)
				}
			}
		}
	}
}

// checkSettings looks at procedures only: functions can't SET, and in a trigger XACT_ABORT is ON by itself. It
// matters most with clients that cancel: an attention from the driver ends the batch, and without XACT_ABORT leaves
// its transaction open.
func checkSettings(p *pass) {
	for _, u := range p.procedures() {
		counts, aborts := u.settingsNeeded()
		if p.helper(u) {
			counts, aborts = false, false // those of its callers hold
		}
		on := leadingSettings(u.body)
		for _, setting := range []struct {
			name   string
			needed bool
		}{{"NOCOUNT", counts}, {"XACT_ABORT", aborts}} {
			if setting.needed && !on[setting.name] {
				p.report(u, u.name.Span, "begin the body with SET "+setting.name+" ON;",
					"%s does not begin with SET %s ON", syntax.Dotted(u.name.Parts), setting.name)
			}
		}
		for set := range syntax.All[*syntax.SetOption](u.node) {
			if (set.Name == "NOCOUNT" || set.Name == "XACT_ABORT") && set.Value == "OFF" {
				p.report(u, set.Span, "delete it", "SET %s OFF: the rest of the procedure runs without it", set.Name)
			}
		}
	}
}

// settingsNeeded says which settings matter to a body: NOCOUNT if anything sends a row count, even a write to a table
// variable, and XACT_ABORT if a transaction can be left open. Row counts are messages of their own on the wire, and
// old drivers took them for results.
func (u *unit) settingsNeeded() (noCount, xactAbort bool) {
	xactAbort = len(u.writes()) > 0
	syntax.Walk(u.node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Merge:
			noCount = true
		case *syntax.Transaction:
			if n.Verb == "BEGIN" {
				noCount, xactAbort = true, true
			}
		}
		return true
	})
	return noCount, xactAbort
}

// leadingSettings returns the options that are set ON before anything else happens; only declarations may come
// between. SET NOCOUNT, XACT_ABORT ON comes as two statements from the parser. The last word about an option counts.
func leadingSettings(body []syntax.Stmt) map[string]bool {
	on := map[string]bool{}
	for _, s := range body {
		switch s := s.(type) {
		case *syntax.SetOption:
			on[s.Name] = s.Value == "ON"
		case *syntax.Declare:
		case *syntax.Block: // a body between BEGIN and END
			maps.Copy(on, leadingSettings(s.Stmts))
			return on
		default:
			return on
		}
	}
	return on
}
