package vet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

func TestFormOfHeaders(t *testing.T) {
	t.Parallel()
	one := "CREATE PROCEDURE dbo.one AS SELECT 1 AS one;"
	check(t, "D1", vet.Options{Header: []string{"called by", "Transaction", "locks", "hints", "returns"}}, []ruleCase{
		{"all there", "-- A.\n-- Called by: the shop.\n-- Transaction: none.\n" + one, nil},
		{"by their other names", "-- A.\n-- Helper of: b.\n-- Transaction: none.\n-- Lock order: users.\n" + one + "\nGO\n-- B.\n-- Called by: the shop.\n-- Transaction: none.\nCREATE PROCEDURE dbo.b AS EXEC dbo.one;", nil},
		{"none there", one, []string{"1 D1-header", "1 D1-header"}},
		{"sections that the list does not name", "-- A.\n-- Examples: EXEC dbo.one;\n-- Called by: the shop.\n-- Notes: none.\n-- Transaction: none.\n" + one, []string{"2 D1-header", "4 D1-header"}},
		{"out of order", "-- A.\n-- Locks: none.\n-- Called by: the shop.\n-- Transaction: none.\n" + one, []string{"3 D1-header", "4 D1-header"}},
		{"twice", "-- A.\n-- Called by: the shop.\n-- Helper of: b.\n-- Transaction: none.\n" + one, []string{"3 D1-header"}},
		{"tables have locks, also those that are only read or only added to", "-- A.\n-- Called by: the shop.\n-- Transaction: none.\nCREATE PROCEDURE dbo.a AS INSERT dbo.users (id, name, code) VALUES (1, N'', '');\nGO\n-- A.\n-- Called by: the shop.\n-- Transaction: none.\nCREATE PROCEDURE dbo.b AS SELECT id FROM dbo.users;", []string{"4 D1-header", "9 D1-header"}},
		{"hints of tables, joins and statements", "-- A.\n-- Called by: the shop.\n-- Transaction: none.\n-- Locks: users.\nCREATE PROCEDURE dbo.a AS SELECT id FROM dbo.users OPTION (MAXDOP 1);\nGO\n-- B.\n-- Called by: the shop.\n-- Transaction: none.\n-- Locks: users, orders.\nCREATE PROCEDURE dbo.b AS SELECT u.id FROM dbo.users AS u INNER LOOP JOIN dbo.orders AS o ON o.id = u.id;", []string{"5 D1-header", "11 D1-header"}},
		{"a function returns something, in no transaction of its own", "-- A.\n-- Called by: the shop.\nCREATE FUNCTION dbo.f (@a int) RETURNS int AS BEGIN RETURN @a; END;", []string{"3 D1-header"}},
	})
	check(t, "D1", vet.Options{}, []ruleCase{{"nothing is asked for without a list", "-- A.\n-- Locks: none.\n-- Transaction: none.\n" + one, nil}})
}

func TestCallersInHeaders(t *testing.T) {
	t.Parallel()
	header := func(callers string) string {
		return "-- A.\n-- " + callers + "\nCREATE PROCEDURE dbo.a AS SELECT 1 AS one;\nGO\n"
	}
	calls := "-- B.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.b AS EXEC dbo.a;\nGO\n-- C.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.c AS SELECT 1 AS one;"
	check(t, "D1", vet.Options{}, []ruleCase{
		{"a helper", header("Helper of: b.") + calls, nil},
		{"a helper over two lines, with a schema", header("Helper of:\n--   dbo.b.") + calls, nil},
		{"also by others", header("Called by: the shop at night, b.") + calls, nil},
		{"a caller is missing", header("Called by: the shop.") + calls, []string{"2 D1-callers"}},
		{"one that does not call", header("Helper of: b, c.") + calls, []string{"2 D1-callers"}},
		{"a helper of nobody known", header("Helper of: b, the shop.") + calls, []string{"2 D1-callers"}},
		{"of a function", "-- F.\n-- Helper of: b.\nCREATE FUNCTION dbo.f () RETURNS int AS BEGIN RETURN 1; END;\nGO\n-- B.\n-- Called by: the shop.\nCREATE PROCEDURE dbo.b AS SELECT dbo.f() AS one;", nil},
		{"a trigger and a view call, too", "-- F.\n-- Called by: the shop.\nCREATE FUNCTION dbo.f () RETURNS int AS BEGIN RETURN 1; END;\nGO\nCREATE VIEW dbo.v AS SELECT dbo.f() AS one;", []string{"2 D1-callers"}},
	})
	check(t, "D1", vet.Options{Helpers: []string{"a"}}, []ruleCase{
		{"the generator leaves out a helper", header("Helper of: b.") + calls, nil},
		{"and nothing else", header("Called by: the shop, b.") + calls, []string{"2 D1-callers"}},
	})
	check(t, "D1", vet.Options{Helpers: []string{"other"}}, []ruleCase{
		{"a helper that it does not leave out", header("Helper of: b.") + calls, []string{"2 D1-callers"}},
	})
}

func TestTransactionsInHeaders(t *testing.T) {
	t.Parallel()
	own := "CREATE PROCEDURE dbo.a AS SET NOCOUNT ON; SET XACT_ABORT ON;\nBEGIN TRANSACTION;\nBEGIN TRY DELETE dbo.users; EXEC dbo.b; COMMIT TRANSACTION; END TRY\nBEGIN CATCH IF XACT_STATE() <> 0 ROLLBACK TRANSACTION; THROW; END CATCH;\n"
	b := func(text string) string {
		return "GO\n-- B.\n-- Transaction: " + text + "\nCREATE PROCEDURE dbo.b AS SET NOCOUNT ON; SET XACT_ABORT ON;\nDELETE dbo.orders;\nDELETE dbo.lines;\n"
	}
	outside := "CREATE PROCEDURE dbo.a AS SET NOCOUNT ON;\nEXEC dbo.b;\n"
	check(t, "D1", vet.Options{}, []ruleCase{
		{"its own, and the caller's", "-- A.\n-- Transaction: its own, from the first write on.\n" + own + b("the caller's."), nil},
		{"its own, which the header denies", "-- A.\n-- Transaction: none.\n" + own + b("the caller's."), []string{"2 D1-transaction"}},
		{"none, which the header denies", "-- A.\n-- Transaction: its own.\n" + outside, []string{"2 D1-transaction"}},
		{"something else", "-- A.\n-- Transaction: it depends.\n" + outside, []string{"2 D1-transaction"}},
		{"what needs a transaction is called in none", outside + b("the caller's."), []string{"2 D1-transaction"}},
		{"what needs a transaction is called by what has the caller's", "-- A.\n-- Transaction: the caller's.\n" + outside + b("the caller's."), nil},
		{"what needs none", outside + b("none: what is left is deleted by the next call."), nil},
	})
	// Who says that the transaction is the caller's needs no suppression for two writes.
	check(t, "P1", vet.Options{}, []ruleCase{
		{"two writes in the caller's transaction", b("the caller's."), nil},
		{"two writes in none", b("none."), []string{"6 P1-atomic"}},
	})
}

func TestLockedTables(t *testing.T) {
	t.Parallel()
	check(t, "D1", vet.Options{}, []ruleCase{
		{"read, written and added to", "-- A.\n-- Locks: users, orders\n--   and lines.\nCREATE PROCEDURE dbo.a AS DELETE dbo.lines;\nINSERT dbo.orders (id, user_id, state) SELECT u.id, 1, 0 FROM dbo.users AS u;", nil},
		{"one is missing", "-- A.\n-- Locks: orders.\nCREATE PROCEDURE dbo.a AS INSERT dbo.orders (id, user_id, state) SELECT u.id, 1, 0 FROM dbo.users AS u;", []string{"2 D1-locks"}},
		{"no tables: variables, views and what nobody has defined", "-- A.\n-- Locks: none.\nCREATE PROCEDURE dbo.a AS DECLARE @t TABLE (id int);\nSELECT t.id FROM @t AS t, sys.objects AS o, dbo.elsewhere AS e;", nil},
	})
}

func TestNamedHints(t *testing.T) {
	t.Parallel()
	const proc = "\nCREATE PROCEDURE dbo.a AS SELECT u.id FROM dbo.users AS u WITH (ROWLOCK) INNER LOOP JOIN dbo.orders AS o ON o.user_id = u.id OPTION (KEEPFIXED PLAN);"
	check(t, "D1", vet.Options{}, []ruleCase{
		{"of a table, of a join and of the statement", "-- A.\n-- Hints: ROWLOCK, LOOP and KEEPFIXED PLAN, by the index of a serializable LOCK_TIMEOUT." + proc, nil},
		{"two that are not there", "-- A.\n-- Hints: ROWLOCK and INDEX. INDEX seeks, and READPAST\n--   passes." + proc, []string{"2 D1-hints", "2 D1-hints"}},
		{"no section", "-- A: READPAST." + proc, nil},
	})
}

func TestParametersAndLength(t *testing.T) {
	t.Parallel()
	check(t, "D2", vet.Options{}, []ruleCase{
		{"named, together and in any case", "-- A.\n-- Parameters: @ID and @name: who, not somebody@example, after @@ROWCOUNT\n--   @b at noon\nCREATE PROCEDURE dbo.a @id int, @Name int, @b int AS SELECT @id AS id;", nil},
		{"no section, and none needed", "-- A.\nCREATE PROCEDURE dbo.a AS SELECT 1 AS one;\nGO\nCREATE PROCEDURE dbo.b @id int AS SELECT 1 AS one;", []string{"4 D2-described"}},
		{"one is part of another's name", "-- A.\n-- Parameters:\n--   @id_list  ids\nCREATE PROCEDURE dbo.a @id_list int,\n@id int AS SELECT @id AS id;", []string{"5 D2-described"}},
		{"one that is gone", "-- A.\n-- Parameters:\n--   @id    who\n--   @name  gone\nCREATE PROCEDURE dbo.a @id int AS SELECT @id AS id;", []string{"2 D2-parameters"}},
		{"of a function", "-- A.\nCREATE FUNCTION dbo.f (@a int) RETURNS int AS BEGIN RETURN @a; END;", []string{"2 D2-described"}},
		{"of a function that has another name now", "-- A.\n-- Parameters: @b and @a\nCREATE FUNCTION dbo.f (@a int) RETURNS int AS BEGIN RETURN @a; END;", []string{"2 D2-parameters"}},
	})
	long := "CREATE PROCEDURE dbo.a AS\n" + strings.Repeat("-- Nothing.\n", 148) + "SELECT 1 AS one;"
	check(t, "D3", vet.Options{}, []ruleCase{
		{"150 lines", "-- A.\n" + long, nil},
		{"151 lines", "-- A.\n" + long + "\nSELECT 2 AS two;", []string{"2 D3-length"}},
		{"151 lines with a reason", "-- A.\n-- Length: it says nothing at length.\n" + long + "\nSELECT 2 AS two;", nil},
		{"a reason without need", "-- A.\n-- Length: it was longer once.\n" + long, []string{"2 D3-length"}},
	})
}

func TestNamesOfResultSets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"--   1 Item: the item\n--   2 Rest: what is left": nil,
		"--   1 Rest: what is left\n--   2 Item: the item": {"2 D2-results"},
		"--   1 Item: the item\n--   2 what is left":       {"2 D2-results"},
		"--   1 Items: the items\n--   2 Rest":             {"2 D2-results"},
	} {
		in := input(t, "-- A.\n-- Result sets:\n"+text+"\nCREATE PROCEDURE dbo.a AS SELECT 1 AS one;\n", vet.Options{Enable: []string{"D2"}})
		in.Program = &analyze.Program{Procedures: []*analyze.Procedure{{
			Place:   catalog.Place{File: in.Scripts[0].File},
			Name:    catalog.Name{Schema: "dbo", Name: "a"},
			Results: []analyze.ResultSet{{Name: "Item", File: in.Scripts[0].File}, {}, {Name: "Rest", File: in.Scripts[0].File}},
		}}}
		if diff := cmp.Diff(append([]string{}, want...), brief(vet.Run(in))); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", text, diff)
		}
	}
}

func TestFixedPlans(t *testing.T) {
	t.Parallel()
	check(t, "Q9", vet.Options{QueueTables: []string{"orders"}}, []ruleCase{
		{"reads and writes", "SELECT o.id FROM dbo.orders AS o;\nUPDATE dbo.orders SET state = 1;\nDELETE o FROM dbo.orders AS o;\nINSERT dbo.lines (order_id, line, item) SELECT o.id, 1, N'' FROM dbo.orders AS o;", []string{"1 Q9-fixed", "2 Q9-fixed", "3 Q9-fixed", "4 Q9-fixed"}},
		{"with the option", "SELECT o.id FROM dbo.orders AS o OPTION (LOOP JOIN, KEEPFIXED PLAN);\nUPDATE dbo.orders SET state = 1 OPTION (KEEPFIXED PLAN);", nil},
		{"another table", "SELECT u.id FROM dbo.users AS u;", nil},
		{"what is added", "INSERT dbo.orders (id, user_id, state) VALUES (1, 1, 1);\nINSERT dbo.orders (id, user_id, state) SELECT u.id, 2, 1 FROM dbo.users AS u;", nil},
		{"a subquery", "SELECT u.id FROM dbo.users AS u WHERE EXISTS (SELECT 1 FROM dbo.orders AS o WHERE o.user_id = u.id);", []string{"1 Q9-fixed"}},
		{"a condition, which can have none", "IF EXISTS (SELECT 1 FROM dbo.orders AS o WHERE o.id = 1)\n    SELECT 1 AS one;", nil},
	})
}
