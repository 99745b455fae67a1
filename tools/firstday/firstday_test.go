package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// notOnTsqltest are the checks that a server without optimizer, log, extended events and replicas says nothing to.
var notOnTsqltest = []string{"estimated plans", "plans at each size", "log", "recompiles", "readable secondary", "failover"}

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
