package vet_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

func TestKeysAndPayloads(t *testing.T) {
	t.Parallel()
	const bin = " COLLATE Latin1_General_100_BIN2"
	check(t, "T5", vet.Options{}, []ruleCase{
		{"just fits", "CREATE TABLE dbo.t (a nvarchar(400) NOT NULL, b varbinary(100) NOT NULL, PRIMARY KEY (a, b));", nil},
		{"one byte too long", "CREATE TABLE dbo.t (a nvarchar(400) NOT NULL, b varbinary(101) NOT NULL, PRIMARY KEY (a, b));", []string{"1 T5"}},
		{"nonclustered has more", "CREATE TABLE dbo.t (a nvarchar(850) NOT NULL PRIMARY KEY NONCLUSTERED);", nil},
		{"an index made later", "CREATE TABLE dbo.t (a nvarchar(400) NOT NULL, b nvarchar(451) NOT NULL);\nCREATE INDEX i ON dbo.t (a, b) INCLUDE (a);", []string{"2 T5"}},
		{"no limit", "CREATE TABLE dbo.t (a nvarchar(max) NOT NULL UNIQUE);", []string{"1 T5"}},
		{"a table type", "CREATE TYPE dbo.t AS TABLE (a nvarchar(451) NOT NULL PRIMARY KEY);", []string{"1 T5"}},
		{"an inline index, and a primary key that leaves it the clustering", "CREATE TABLE dbo.t (a nvarchar(500) NOT NULL PRIMARY KEY, b int NOT NULL, INDEX i UNIQUE CLUSTERED (b));", nil},
		{"numbers and times", "CREATE TABLE dbo.t (a decimal(38, 2) NOT NULL, b datetimeoffset(7) NOT NULL, c varchar(873) NOT NULL, PRIMARY KEY (a, b, c));\nCREATE TABLE dbo.u (a decimal(38, 2) NOT NULL, b datetimeoffset(7) NOT NULL, c varchar(874) NOT NULL, PRIMARY KEY (a, b, c));", []string{"2 T5"}},
	})
	check(t, "T6", vet.Options{}, []ruleCase{
		{"versions", "CREATE TYPE dbo.a_v1 AS TABLE (id int);\nCREATE TYPE dbo.a_v12 AS TABLE (id int);\nCREATE TYPE dbo.a_v AS TABLE (id int);", []string{"3 T6-name"}},
		{"an alias type has none", "CREATE TYPE dbo.name FROM nvarchar(50);", nil},
		{"DROP TYPE IF EXISTS", "DROP TYPE IF EXISTS dbo.a_v1;", []string{"1 T6-drop"}},
		{"other drops", "DROP TABLE dbo.users;", nil},
		{"in a body", proc("DROP TYPE dbo.a_v1;"), []string{"2 T6-drop"}},
	})
	check(t, "T4", vet.Options{Payloads: []string{"payload"}}, []ruleCase{
		{"OPENJSON with members of any length", proc("SELECT j.payload, j.id FROM OPENJSON(@name) WITH (payload nvarchar(max), id nvarchar(20)) AS j;"), nil},
		{"a payload that is cut off", proc("SELECT j.Payload FROM OPENJSON(@name)\nWITH (Payload nvarchar(4000)) AS j;"), []string{"3 T4-member"}},
		{"varchar loses characters", proc("SELECT j.payload FROM OPENJSON(@name) WITH (payload varchar(max)) AS j;"), []string{"2 T4-member"}},
		{"AS JSON is always whole", proc("SELECT j.payload FROM OPENJSON(@name) WITH (payload nvarchar(max) AS JSON) AS j;"), nil},
		{"the members of a list", proc("SELECT j.value FROM OPENJSON(@name) AS j;"), nil},
		{"JSON functions", proc("SELECT JSON_QUERY(@name) AS a,\nJSON_MODIFY(@name, '$.a', 1) AS b, ISJSON(@name) AS c;"), []string{"2 T4-json", "3 T4-json"}},
		{"texts glued together", "SELECT STRING_AGG(name, N',') AS a FROM dbo.users;\nSELECT (SELECT name FROM dbo.users FOR XML PATH('')) AS a;", []string{"1 T4-json", "2 T4-json"}},
	})
	check(t, "T3", vet.Options{}, []ruleCase{
		{"once for a column in two keys", "CREATE TABLE dbo.t (a nvarchar(5) NOT NULL PRIMARY KEY, b int NOT NULL, UNIQUE (b, a));", []string{"1 T3"}},
		{"BIN2, and numbers", "CREATE TABLE dbo.t (a nvarchar(5)" + bin + " NOT NULL PRIMARY KEY, b int NOT NULL, UNIQUE (b, a));", nil},
		{"text outside of keys", "CREATE TABLE dbo.t (a nvarchar(5) NOT NULL, b int NOT NULL PRIMARY KEY);", nil},
		{"an index made later", "CREATE TABLE dbo.t (a varchar(5) NOT NULL);\nCREATE INDEX i ON dbo.t (a);", []string{"1 T3"}},
		{"a table type", "CREATE TYPE dbo.t AS TABLE (a nvarchar(5) COLLATE Latin1_General_BIN NOT NULL PRIMARY KEY);", []string{"1 T3"}},
	})
}

func TestQueriesRead(t *testing.T) {
	t.Parallel()
	check(t, "P2", vet.Options{}, []ruleCase{
		{"a write that nobody generates for", "DELETE dbo.users;", nil},
		{"each query by itself", "-- name: A :one\nSELECT name FROM dbo.users WHERE id = 1;\n\n-- Deletes.\n-- name: B :exec\nDELETE dbo.users;", []string{"6 P2"}},
		{"SELECT INTO writes", "-- name: A :exec\nSELECT id INTO dbo.copy FROM dbo.users;\n\n-- name: B :exec\nSELECT id INTO #copy FROM dbo.users;", []string{"2 P2"}},
		{"a CTE", "-- name: A :many\nWITH c AS (SELECT u.id FROM dbo.users AS u) SELECT c.id FROM c;", nil},
		{"a MERGE", "-- name: A :exec\nMERGE dbo.users AS t USING dbo.lines AS s ON t.id = s.line WHEN MATCHED THEN DELETE;", []string{"2 P2"}},
	})
}

func TestSuppressions(t *testing.T) {
	t.Parallel()
	const dirty = "SELECT id FROM dbo.users WITH (NOLOCK);"
	for _, c := range []struct {
		name, text string
		options    vet.Options
		want       []string
	}{
		{"above", "-- vet:allow P4-nolock: a test\n" + dirty, vet.Options{}, []string{}},
		{"at the end of the line", dirty + " -- vet:allow P4-nolock: a test", vet.Options{}, []string{}},
		{"by the family", "-- vet:allow P4: a test\n" + dirty, vet.Options{}, []string{}},
		{"in any case of letters", "-- vet:allow p4-nolock: a test\n" + dirty, vet.Options{}, []string{}},
		{"among other comments", "-- Lists.\n-- vet:allow P4-nolock: a test\n-- Users.\n" + dirty, vet.Options{}, []string{}},
		{"another rule's", "-- vet:allow P3: a test\n" + dirty, vet.Options{}, []string{"1 allow", "2 P4-nolock"}},
		{"too far away", "-- vet:allow P4-nolock: a test\n\n" + dirty, vet.Options{}, []string{"1 allow", "3 P4-nolock"}},
		{"no such rule", "-- vet:allow P4-nolokc: a test\nSELECT id FROM dbo.users;", vet.Options{}, []string{"1 allow"}},
		{"twice the same", "-- vet:allow P4-nolock: a test\n-- vet:allow P4: again\n" + dirty, vet.Options{}, []string{"2 allow"}},
		{"of a rule that is off", "-- vet:allow P4-merge: a test\nSELECT id FROM dbo.users;", vet.Options{}, []string{}},
		{"of a rule that is switched off", "-- vet:allow P4: a test\n" + dirty, vet.Options{Disable: []string{"P4"}}, []string{}},
		{"of a rule that is on", "-- vet:allow P4-merge: a test\nSELECT id FROM dbo.users;", vet.Options{Enable: []string{"P4-merge"}}, []string{"1 allow"}},
		{"about a whole procedure", "-- vet:allow P1-settings: a test\nCREATE PROCEDURE dbo.p AS DELETE dbo.users;", vet.Options{}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, run(t, c.text, c.options)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		options    vet.Options
		want       []string
	}{
		{"unknown ids", "", vet.Options{Enable: []string{"P4-merg"}, Disable: []string{"X1"}}, []string{"0 options", "0 options"}},
		{"all", "WAITFOR DELAY '0:00:01';", vet.Options{Enable: []string{"all"}}, []string{"1 P4-waitfor"}},
		{"nothing", "SELECT * FROM users;", vet.Options{Disable: []string{"all"}}, []string{}},
		{"off wins", "WAITFOR DELAY '0:00:01';", vet.Options{Enable: []string{"all"}, Disable: []string{"P4"}}, []string{}},
		{"numbers of one's own", "THROW 60001, N'x', 1;", vet.Options{ErrorMax: 59999}, []string{"1 P5-number"}},
		{"more numbers", "THROW 70001, N'x', 1;", vet.Options{ErrorMin: 70000, ErrorMax: 79999}, []string{}},
		{"prefixes of one's own", "CREATE PROCEDURE dbo.weed AS SET NOCOUNT ON; SET XACT_ABORT ON; DELETE dbo.users;", vet.Options{Enable: []string{"Q7"}, PurgePrefixes: []string{"weed"}}, []string{"1 Q7-priority", "1 Q7-top"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, run(t, c.text, c.options)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueue runs every rule, with every option set, over procedures that do it right, and over the same with one thing
// changed.
func TestQueue(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/queue.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	options := vet.Options{
		Enable:     []string{"all"},
		Schema:     "shop",
		LockTokens: []string{"lock_token"}, LockedUntil: []string{"locked_until"}, Payloads: []string{"payload"},
		QueueTables: []string{"jobs"}, HotTables: []string{"jobs", "owners"}, LockOrder: []string{"owners", "jobs", "done"},
		Helpers: []string{"shop.helper"},
		Header:  []string{"called by", "transaction", "parameters", "result sets", "locks", "hints", "errors", "length"},
	}
	if found := vet.Run(input(t, text, options)); len(found) > 0 {
		t.Errorf("correct procedures are reported:\n%s", found.Format())
	}
	for _, c := range []struct{ old, mutant, want string }{
		{"SET XACT_ABORT ON;\nSET TRANSACTION", "SET TRANSACTION", "P1-settings"},
		{"IF XACT_STATE() <> 0\n        ROLLBACK TRANSACTION;\n    THROW", "THROW", "P1-catch"},
		{"            COMMIT TRANSACTION;\n            RETURN;", "            RETURN;", "P1-open"},
		{"FROM shop.done AS d WHERE d.job_id", "FROM done AS d WHERE d.job_id", "P3-schema"},
		{"WHERE j.owner_id = @owner_id", "WHERE owner_id = @owner_id", ""},
		{"WHERE d.job_id < j.job_id", "WHERE d.job_id < job_id", "P3-qualify"},
		{"--   50010 lock_lost: the", "--   50011 lock_lost: the", "P5-documented"},
		{"IF @error NOT IN (2601, 2627)\n        THROW;", "PRINT @error;", "P5-swallow"},
		{"-- Claims the next job that is due.\n-- Called", "-- Called", "P6-header"},
		{"-- Locks: jobs, done.\n", "", "P6-locks"},
		{"-- Hints: UPDLOCK and HOLDLOCK", "-- Hints: UPDLOCK", "P6-hints"},
		{"j.visible_at <= @now", "j.Visible_at <= @now", "P8"},
		{"READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK,", "READPAST, UPDLOCK, ROWLOCK,", "Q1"},
		{"DELETE shop.jobs WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_jobs))", "DELETE shop.jobs", "Q9-write"},
		{"        AND locked_until > @now\n", "\n", "Q3"},
		{"locked_until > @now\n    OPTION (KEEPFIXED PLAN);", "locked_until > @now;", "Q9-fixed"},
		{"-- Called by: the web site.\n-- Transaction: none.", "-- Transaction: none.\n-- Called by: the web site.", "D1-header"},
		{"-- Called by: the clock, every night.\n-- Transaction: none.", "-- Called by: the clock, finish_job.\n-- Transaction: none.", "D1-callers"},
		{"every night.\n-- Transaction: none.", "every night.\n-- Transaction: its own.", "D1-transaction"},
		{"--   how many were forgotten\n-- Locks: done.", "--   how many were forgotten\n-- Locks: none.", "D1-locks"},
		{"--   @lease  how", "--   @leases how", "D2-described"},
		{"--   @lease  how", "--   @lease  how, unlike @old,", "D2-parameters"},
		{"-- Locks: jobs.\n", "-- Locks: jobs.\n-- Length: a loop.\n", "D3-length"},
		{"    IF @@ROWCOUNT = 0\n    BEGIN\n        -- Answered", "    IF @now = 0\n    BEGIN\n        -- Answered", "Q3-rowcount"},
		{"CONSTRAINT pk_jobs PRIMARY KEY CLUSTERED (job_id) WITH (ALLOW_PAGE_LOCKS = OFF)", "CONSTRAINT pk_jobs PRIMARY KEY CLUSTERED (job_id)", "Q5"},
		{"    job_id bigint NOT NULL,", "    job_id bigint NOT NULL REFERENCES shop.jobs (job_id),", "Q6-foreign-key"},
		{"DELETE TOP (1000) d", "DELETE d", "Q7-top"},
		{"SET DEADLOCK_PRIORITY LOW;\n", "", "Q7-priority"},
		{"WITH (UPDLOCK, HOLDLOCK)", "", "Q10"},
		{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n", "", "Q12-set"},
		{"@owner_id nvarchar(200),", "@owner_id nvarchar(100),", "T1-length"},
		{"    @job_id bigint,\n    @token  uniqueidentifier", "    @job_id int,\n    @token  uniqueidentifier", "T1-param"},
		{"DATEDIFF_BIG", "DATEDIFF", "T2-overflow"},
		{"SYSUTCDATETIME());\nDECLARE @tries", "GETDATE());\nDECLARE @tries", "T2-utc"},
		{"COLLATE Latin1_General_100_BIN2 NOT NULL,\n    lock_token", "NOT NULL,\n    lock_token", "T3"},
		{"job_list_v1", "job_list", "T6-name"},
	} {
		if !strings.Contains(text, c.old) {
			t.Errorf("queue.sql doesn't contain %q", c.old)
		}
		found := vet.Run(input(t, strings.ReplaceAll(text, c.old, c.mutant), options))
		if c.want == "" && len(found) > 0 || c.want != "" && !slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
			return d.Rule == "vet/"+c.want
		}) {
			t.Errorf("%q instead of %q: want %q, got\n%s", c.mutant, c.old, c.want, found.Format())
		}
	}
}

// TestNothingIsNeeded runs every rule without a catalog, directives and a program: a front end that stopped early.
func TestNothingIsNeeded(t *testing.T) {
	t.Parallel()
	for _, rule := range vet.Rules() {
		options := rule.Example
		options.Enable = []string{"all"}
		for _, text := range []string{rule.Bad, rule.Good} {
			in := input(t, text, options)
			in.Catalog, in.Directives = nil, nil
			vet.Run(in)
		}
	}
}
