package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/drift"
)

// fakeGenerator writes the given files beside the configuration, as sqlc would.
func fakeGenerator(t *testing.T, files map[string]string) generator {
	t.Helper()
	return func(_ context.Context, _, config string) error {
		writeFiles(t, filepath.Dir(config), files)
		return nil
	}
}

func writeFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for path, content := range files {
		name := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// newRepository makes a repository with the inputs every case needs and the given files.
func newRepository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	writeFiles(t, root, map[string]string{
		"sqlc.yaml":                  "version: \"2\"\n",
		"sql/sqlite/schema/0001.sql": "CREATE TABLE t (id INTEGER);\n",
	})
	writeFiles(t, root, files)
	return root
}

func TestVerifyNamesEveryDifference(t *testing.T) {
	t.Parallel()
	root := newRepository(t, map[string]string{
		"gen/db/same.go":     "package db\n",
		"gen/db/changed.go":  "package db\n\nvar edited = 1\n",
		"gen/db/leftover.go": "package db\n",
	})
	generate := fakeGenerator(t, map[string]string{
		"gen/db/same.go":    "package db\n",
		"gen/db/changed.go": "package db\n\nvar made = 1\n",
		"gen/db/missing.go": "package db\n",
	})

	var out strings.Builder
	err := run(t.Context(), root, generate, true, &out)

	if !errors.Is(err, errDrift) || !strings.Contains(err.Error(), repair) {
		t.Errorf("error = %v; want errDrift naming %q", err, repair)
	}
	const want = "changed  gen/db/changed.go (from line 3)\n" +
		"leftover gen/db/leftover.go\n" +
		"missing  gen/db/missing.go\n"
	if out.String() != want {
		t.Errorf("printed:\n%swant:\n%s", out.String(), want)
	}
	if _, err := os.Stat(filepath.Join(root, "gen/db/leftover.go")); err != nil {
		t.Errorf("verifying touched the tree: %v", err)
	}
}

func TestGenerateRepairsWhatVerifyReports(t *testing.T) {
	t.Parallel()
	root := newRepository(t, map[string]string{
		"gen/db/changed.go":  "package db // edited\n",
		"gen/db/leftover.go": "package db\n",
	})
	generate := fakeGenerator(t, map[string]string{
		"gen/db/changed.go":    "package db\n",
		"gen/other/missing.go": "package other\n",
	})

	var out strings.Builder
	if err := run(t.Context(), root, generate, false, &out); err != nil {
		t.Fatal(err)
	}
	const want = "wrote gen/db/changed.go\n" +
		"removed gen/db/leftover.go\n" +
		"wrote gen/other/missing.go\n" +
		"2 files up to date\n"
	if out.String() != want {
		t.Errorf("printed:\n%swant:\n%s", out.String(), want)
	}
	if err := run(t.Context(), root, generate, true, &out); err != nil {
		t.Errorf("verify after generate: %v", err)
	}
}

func TestVerifyOfAnAbsentFolderNamesEveryFile(t *testing.T) {
	t.Parallel()
	root := newRepository(t, nil)
	generate := fakeGenerator(t, map[string]string{"gen/db/db.go": "package db\n"})

	var out strings.Builder
	err := run(t.Context(), root, generate, true, &out)

	if !errors.Is(err, errDrift) || out.String() != "missing  gen/db/db.go\n" {
		t.Errorf("error = %v, printed %q", err, out.String())
	}
}

func TestGeneratorSeesTheInputs(t *testing.T) {
	t.Parallel()
	root := newRepository(t, nil)
	var seen string
	generate := func(_ context.Context, gotRoot, config string) error {
		if gotRoot != root {
			t.Errorf("working directory = %s; want %s", gotRoot, root)
		}
		content, err := os.ReadFile(filepath.Join(filepath.Dir(config), "sql/sqlite/schema/0001.sql"))
		seen = string(content)
		writeFiles(t, filepath.Dir(config), map[string]string{"gen/db/db.go": "package db\n"})
		return err
	}

	if err := run(t.Context(), root, generate, false, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	if seen != "CREATE TABLE t (id INTEGER);\n" {
		t.Errorf("the generator read %q", seen)
	}
}

// A generator that fails, or that succeeds without writing anything, must leave gen/ alone: taken at its word, an
// empty result would delete every file.
func TestNothingGeneratedLeavesTheTreeAlone(t *testing.T) {
	t.Parallel()
	broken := errors.New("syntax error at sql/sqlite/queries/x.sql:1:1")
	cases := map[string]struct {
		generate generator
		want     string
	}{
		"failure": {
			generate: func(context.Context, string, string) error { return broken },
			want:     broken.Error(),
		},
		"empty result": {
			generate: func(context.Context, string, string) error { return nil },
			want:     "wrote no file",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := newRepository(t, map[string]string{"gen/db/db.go": "package db\n"})
			err := run(t.Context(), root, c.generate, false, &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v; want one containing %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(root, "gen/db/db.go")); err != nil {
				t.Error(err)
			}
		})
	}
}

// The real sqlc finds our plugin, which is built for it because the configuration names it, and everything is written
// relative to the configuration.
func TestSQLCRunsThePlugin(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	writeFiles(t, scratch, map[string]string{
		"sqlc.yaml": `version: "2"
plugins:
  - name: tsql
    process:
      cmd: sqlc-gen-tsql
      format: json
sql:
  - engine: sqlite
    schema: sql/sqlite/schema.sql
    queries: sql/sqlite/query.sql
    codegen:
      - plugin: tsql
        out: gen/mssqldb
        options:
          package: mssqldb
          schema: [sql/schema/*.sql]
          procedures: [sql/procedures/*.sql]
`,
		"sql/sqlite/schema.sql":       "CREATE TABLE t (id INTEGER);\n",
		"sql/sqlite/query.sql":        "-- name: Count :one\nSELECT COUNT(*) FROM t;\n",
		"sql/schema/0001_notes.sql":   "CREATE TABLE dbo.notes (id int NOT NULL PRIMARY KEY, body nvarchar(max) NULL);\n",
		"sql/procedures/add_note.sql": "CREATE PROCEDURE dbo.add_note @id int AS INSERT INTO dbo.notes (id) VALUES (@id);\n",
	})
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlc(t.Context(), root, filepath.Join(scratch, configFile)); err != nil {
		t.Fatal(err)
	}
	written, err := drift.ReadTree(scratch, genFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gen/mssqldb/db.go", "gen/mssqldb/add_note.sql.go"} {
		if _, ok := written[name]; !ok {
			t.Errorf("%s was not written", name)
		}
	}
}

func TestConfigurationThatRunsThePlugin(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		config string
		want   bool
	}{
		"none":    {config: "version: \"2\"\n"},
		"another": {config: "plugins: [{name: x, process: {cmd: sqlc-gen-x}}]\n"},
		"ours":    {config: "plugins: [{name: x, wasm: {url: file://x}}, {name: y, process: {cmd: sqlc-gen-tsql}}]\n", want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := runsPlugin([]byte(c.config)); got != c.want || err != nil {
				t.Errorf("runsPlugin = %t, %v; want %t", got, err, c.want)
			}
		})
	}
}

// TestRepositoryIsUpToDate is make verify-generated as a test: whoever only runs the tests is told all the same.
func TestRepositoryIsUpToDate(t *testing.T) {
	t.Parallel()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), root, everything, true, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}
