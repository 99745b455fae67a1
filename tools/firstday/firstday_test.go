package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// notOnTsqltest are the checks that a server without optimizer, log, extended events and replicas says nothing to.
var notOnTsqltest = []string{"estimated plans", "plans at each size", "log", "costs of statements", "recompiles", "readable secondary", "failover"}

// On tsqltest, which has no optimizer and no log, everything else holds, and the report says so of each check.
func TestFirstDay(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	out := t.TempDir()
	var log bytes.Buffer
	code := run(t.Context(), []string{"-root", "../..", "-out", out, "-sizes", "0,200", "-levels", "130,160", "-quick"}, server.DSN(), &log)
	text, err := os.ReadFile(filepath.Join(out, reportFile))
	if err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s\n%s", code, err, &log, text)
	}
	t.Logf("%s\n%s", &log, text)
	for _, check := range checks {
		want := string(held)
		if slices.Contains(notOnTsqltest, check.name) {
			want = string(notDone)
		}
		cells := []string{want, want, want, want, want}
		if check.where != nil && check.where(&site{server: &server2019}) == leaveOut {
			cells = []string{"", "", want, want, ""}
		}
		row := fmt.Sprintf("| [%s](#%s) | %s |", check.name, anchor(check.name), strings.Join(cells, " | "))
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("the report lacks %s", row)
		}
		if want == string(notDone) && !strings.Contains(string(text), "| "+check.name+" | ") {
			t.Errorf("the report does not say why %s was not asked", check.name)
		}
	}
	var left int
	err = server.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sys.databases AS d WHERE d.name LIKE N'duroxide%'").Scan(&left)
	if err != nil || left > 0 {
		t.Errorf("%d databases are left over (%v)", left, err)
	}
}

// server2019 is a server whose databases of lower levels are not checked in full.
var server2019 = server{version: 15}

// A check that does not hold makes the exit code 1, and stands first in the report.
func TestDamagedStoreDoesNotHold(t *testing.T) {
	t.Parallel()
	r := report{configs: []config{{level: 150, last: true}}}
	for _, result := range []result{holds("It completed."), fails("1 of 2 procedures met an error of the engine.").with("| take | 8622 a \\| b |"), unasked("the login may not")} {
		r.add([]string{"work", "procedures", "recompiles"}[len(r.entries)], r.configs[0], result)
	}
	text := r.markdown()
	for _, want := range []string{
		"**1 checks held, 1 did not hold, 1 were not asked.**", "| [procedures](#procedures) | **did not hold** |\n",
		"## What did not hold\n\n### procedures\n\n**150:** 1 of 2 procedures met an error of the engine.\n\n| take | 8622 a \\| b |\n",
		"| recompiles | 150 | not asked: the login may not |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// Without a server, or with a URL of another kind, there is no report, and no password in what is said of it.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"": "make first-day", "server=a;password=secret": "sqlserver://login", "sqlserver://sa:secret@127.0.0.1:1?encrypt=disable": "asking the server",
	} {
		var log bytes.Buffer
		if code := run(t.Context(), []string{"-out", t.TempDir()}, url, &log); code != exitNoReport || !strings.Contains(log.String(), want) || strings.Contains(log.String(), "secret") {
			t.Errorf("%q: exit code %d: %s", url, code, &log)
		}
	}
	var log bytes.Buffer
	if code := run(t.Context(), []string{"-sizes", "many"}, "", &log); code != exitNoReport || !strings.Contains(log.String(), `"many" is not a list of numbers`) {
		t.Errorf("exit code %d: %s", code, &log)
	}
}

// A procedure that the engine refuses, and a block of the README that does not run, do not hold, and the report has the
// batch to run again.
func TestChecksNotice(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	root := t.TempDir()
	s, err := connect(t.Context(), server.DSN(), options{root: root, out: t.TempDir(), quick: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	at, err := s.open(t.Context(), config{level: 160, last: true})
	if err != nil {
		t.Fatal(err)
	}
	defer at.close(context.WithoutCancel(t.Context()))
	if r := checkSchema(t.Context(), at); r.outcome != held {
		t.Fatalf("%+v", r)
	}
	if r := checkBlocks(t.Context(), at); r.outcome != failed || !strings.Contains(r.why, "say where it is by -root") {
		t.Errorf("%+v", r)
	}
	readme := "\n## Try it\n\n```sql\nSELECT 1;\n```\n\n```sql\nEXEC duroxide.gone;\n```\n\n## Next\n"
	if err := errors.Join(os.Mkdir(filepath.Join(root, "sql"), 0o700), os.WriteFile(filepath.Join(root, "sql", "README.md"), []byte(readme), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := checkBlocks(t.Context(), at); r.outcome != failed || !strings.Contains(r.why, "block 2 of 2") || !slices.Contains(r.details, "EXEC duroxide.gone;") {
		t.Errorf("%+v", r)
	}
	// Whatever names an index that is gone has error 308.
	var table, index string
	if err := at.db.QueryRowContext(t.Context(), `SELECT TOP (1) t.name, i.name FROM sys.indexes AS i
		INNER JOIN sys.tables AS t ON t.object_id = i.object_id
		WHERE t.schema_id = SCHEMA_ID(@p1) AND t.name = N'worker_queue' AND i.type = 2 AND i.is_unique = 0 ORDER BY i.name`, schema).Scan(&table, &index); err != nil {
		t.Fatal(err)
	}
	if _, err := at.db.ExecContext(t.Context(), fmt.Sprintf("DROP INDEX %s ON %s.%s", index, schema, table)); err != nil {
		t.Fatal(err)
	}
	r := checkProcedures(t.Context(), at)
	if text := strings.Join(r.details, "\n"); r.outcome != failed || !strings.Contains(text, "308 ") || !strings.Contains(text, "\nEXEC "+schema+".") {
		t.Errorf("%+v", r)
	}
	if r := checkMethods(t.Context(), at); r.outcome != failed {
		t.Errorf("%+v", r)
	}
}
