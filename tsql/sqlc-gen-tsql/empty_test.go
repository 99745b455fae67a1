package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestNothingFound runs each command on scripts in which it has nothing to do. It says what it has read and what to
// check, and fails: a build with a wrong pattern must not go on with an empty package, or with no comparison.
func TestNothingFound(t *testing.T) {
	t.Parallel()
	const advice = " (a folder stands for the scripts in it, folder/**/*.sql also for those below), and annotate queries: -- name: GetOrder :one\n"
	scripts := map[string]string{
		"tables.sql":  "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);\nGO\nCREATE VIEW dbo.v AS SELECT t.id FROM dbo.t AS t;\n",
		"seed.sql":    "PRINT N'nothing';\n",
		"hidden.sql":  "CREATE PROCEDURE dbo.p AS RETURN;\n",
		"helper.sql":  "-- gen:internal\nCREATE PROCEDURE dbo.h AS RETURN;\n",
		"query.sql":   "-- name: One :one\nSELECT 1 AS one;\n",
		"hidden.yaml": "package: db\nout: db\nschema: hidden.sql\nexclude: [p]\n",
		"tables.yaml": "package: db\nout: db\nschema: [tables.sql, seed.sql]\n",
	}
	onlyTables := "there is no procedure and no annotated query in 2 files (tables.sql, seed.sql), only 1 table, 1 view (input)\n" +
		"  fix: check which files schema, procedures and queries name" + advice
	onlySeed := "there is no definition and no annotated query in 1 file (seed.sql) (input)\n  fix: check the files on the command line" + advice
	for name, c := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"generate":         {[]string{"generate", "-config", "tables.yaml"}, exitFound, onlyTables},
		"generate -verify": {[]string{"generate", "-verify", "-config", "tables.yaml"}, exitFound, onlyTables},
		"diff":             {[]string{"diff", "-config", "tables.yaml"}, exitFound, onlyTables},
		"all are excluded": {
			[]string{"generate", "-config", "hidden.yaml"},
			exitFound,
			"there is no procedure and no annotated query in 1 file (hidden.sql), only 1 excluded procedure (input)\n  fix: take one out of exclude\n",
		},
		"all are internal": {
			[]string{"generate", "-package", "db", "-out", "db", "helper.sql"},
			exitFound,
			"there is no procedure and no annotated query in 1 file (helper.sql), only 1 internal procedure (input)\n" +
				"  fix: remove gen:internal from one that the client calls\n",
		},
		"a query is enough": {[]string{"generate", "-package", "db", "-out", "db", "query.sql"}, exitFine, ""},
		"vet":               {[]string{"vet", "seed.sql"}, exitFound, onlySeed},
		"vet of tables":     {[]string{"vet", "tables.sql"}, exitFine, ""},
		"vet of a query":    {[]string{"vet", "query.sql"}, exitFine, ""},
		"verify":            {[]string{"verify", "-dsn", "sqlserver://localhost:1", "seed.sql"}, exitFound, onlySeed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, scripts)
			var stdout, stderr bytes.Buffer
			a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, dir: dir, getenv: func(string) string { return "" }}
			if code := a.run(t.Context(), c.args); code != c.code || stderr.String() != c.stderr {
				t.Errorf("exit code %d, want %d\ngot:  %s\nwant: %s", code, c.code, stderr.String(), c.stderr)
			}
		})
	}
}
