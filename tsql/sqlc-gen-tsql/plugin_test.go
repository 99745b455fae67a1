package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two scripts are enough for a plugin to write a package.
var pluginScripts = map[string]string{
	"sql/schema.sql": "CREATE TABLE dbo.notes (id int NOT NULL PRIMARY KEY, body nvarchar(max) NULL);\n",
	"sql/get_note.sql": "-- get_note reads a note.\nCREATE PROCEDURE dbo.get_note @id int\nAS\n" +
		"SELECT n.id, n.body FROM dbo.notes AS n WHERE n.id = @id;\n",
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sent is what sqlc 1.31 sends as JSON: every field by its name in the protocol, bytes as base64. TestSQLC shows that
// the real one is understood.
func sent(options string) string {
	return `{"settings":{"version":"2","engine":"sqlite","codegen":{"out":"gen/db","options":""}}, "catalog":{"comment":""}, ` +
		`"queries":[{"text":"SELECT 1","params":[]}], "sqlc_version":"v1.31.1", "plugin_options":"` +
		base64.StdEncoding.EncodeToString([]byte(options)) + `", "global_options":""}`
}

func TestPlugin(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		options string
		code    int
		files   []string
		stderr  string
	}{
		"files": {
			options: `{"package": "db", "schema": "sql/schema.sql", "procedures": ["sql/get_*.sql"]}`,
			files:   []string{"db.go", "errors.go", "get_note.sql.go"},
		},
		"nothing to generate": {
			options: `{"package": "db", "schema": "sql/schema.sql"}`,
			code:    exitFound,
			stderr: "there is no procedure and no annotated query in 1 file (sql/schema.sql), only 1 table (input)\n" +
				"  fix: check which files schema, procedures and queries name (a folder stands for the scripts in it, " +
				"folder/**/*.sql also for those below), and annotate queries: -- name: GetOrder :one\n",
		},
		"unknown key": {
			options: `{"package": "db", "schema": "sql/schema.sql", "proceduers": ["sql/get_*.sql"]}`,
			code:    exitFound,
			stderr: "options:1:47: unknown key proceduers (config)\n" +
				"    1 | {\"package\": \"db\", \"schema\": \"sql/schema.sql\", \"proceduers\": [\"sql/get_*.sql\"]}\n" +
				"      |                                               ^^^^^^^^^^^^\n" +
				"  fix: did you mean procedures?\n",
		},
		"out": {
			options: `{"package": "db", "schema": "sql/schema.sql", "out": "db"}`,
			code:    exitFound,
			stderr: "a plugin's out is set beside its options, not in them (config)\n" +
				"  fix: remove it from options\n",
		},
		"no file": {
			options: `{"package": "db", "schema": "sql/schemas.sql"}`,
			code:    exitUsage,
			stderr:  "sqlc-gen-tsql as a plugin: schema: no file matches sql/schemas.sql (paths are relative to the folder that sqlc runs in)\n",
		},
		"findings": {
			options: `{"package": "db", "procedures": "sql/get_note.sql"}`,
			code:    exitFound,
			stderr: "sql/get_note.sql:4:26: no script defines a table or a view dbo.notes (name)\n" +
				"    4 | SELECT n.id, n.body FROM dbo.notes AS n WHERE n.id = @id;\n" +
				"      |                          ^^^^^^^^^\n" +
				"  fix: name the script that defines it in the configuration, or say what is sent: " +
				"-- gen:columns (column type, …) above the statement\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, pluginScripts)
			var stdout, stderr bytes.Buffer
			a := &app{stdin: strings.NewReader(sent(c.options)), stdout: &stdout, stderr: &stderr, dir: dir, getenv: os.Getenv}

			code := a.run(t.Context(), []string{pluginMethod})

			if code != c.code || stderr.String() != c.stderr {
				t.Errorf("exit code %d, stderr:\n%s\nwant %d:\n%s", code, stderr.String(), c.code, c.stderr)
			}
			var answer struct {
				Files []struct{ Name, Contents string }
			}
			if code == exitFine {
				if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
					t.Fatal(err)
				}
			} else if stdout.Len() > 0 {
				t.Errorf("answered %s", &stdout)
			}
			names := map[string]bool{}
			for _, f := range answer.Files {
				text, err := base64.StdEncoding.DecodeString(f.Contents)
				names[f.Name] = err == nil && strings.Contains(string(text), "package db\n")
			}
			for _, want := range c.files {
				if !names[want] {
					t.Errorf("%s is missing of %v", want, names)
				}
			}
		})
	}
}

// TestPluginWantsJSON: whoever forgets the format is told where it goes, as sqlc's default is another one.
func TestPluginWantsJSON(t *testing.T) {
	t.Parallel()
	const hint = "sqlc-gen-tsql as a plugin: the request is not JSON: put format: json beside cmd in the plugin's process in sqlc.yaml\n"
	for body, want := range map[string]string{
		"\x0a\x05\x0a\x012": hint,
		"":                  hint,
		"{":                 "sqlc-gen-tsql as a plugin: reading the request: unexpected end of JSON input\n",
	} {
		var stdout, stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(body), stdout: &stdout, stderr: &stderr, dir: t.TempDir(), getenv: os.Getenv}
		if code := a.run(t.Context(), []string{pluginMethod}); code != exitUsage || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, stderr %q, stdout %q", body, code, &stderr, &stdout)
		}
	}
}

// TestSQLC runs the sqlc that tools/pinned/go.mod pins with the plugin on a project of two T-SQL scripts. sqlc itself
// has no T-SQL; for its own part it wants one query, in a dialect that it knows.
func TestSQLC(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, pluginScripts)
	writeFiles(t, dir, map[string]string{
		"sqlc/schema.sql": "CREATE TABLE unused (id INTEGER);\n",
		"sqlc/query.sql":  "-- name: Unused :one\nSELECT 1;\n",
		"sqlc.yaml": `version: "2"
plugins:
  - name: tsql
    process:
      cmd: sqlc-gen-tsql
      format: json
sql:
  - engine: sqlite
    schema: sqlc/schema.sql
    queries: sqlc/query.sql
    codegen:
      - plugin: tsql
        out: gen/db
        options:
          package: db
          schema: [sql/schema.sql]
          procedures: [sql/get_*.sql]
`,
	})
	bin := filepath.Join(dir, "bin")
	sqlc := goCommand(t, "tool", "-modfile=../../tools/pinned/go.mod", "-n", "sqlc") // builds it, unless tools/generate has, and says where
	goCommand(t, "build", "-o", filepath.Join(bin, "sqlc-gen-tsql"), ".")

	cmd := exec.CommandContext(t.Context(), sqlc, "generate")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sqlc generate: %v\n%s", err, output)
	}

	// The plugin writes what the command writes.
	var stderr strings.Builder
	a := &app{stdout: &stderr, stderr: &stderr, dir: dir, getenv: os.Getenv}
	code := a.run(t.Context(), []string{"generate", "-verify", "-package", "db", "-out", "gen/db", "sql/schema.sql", "sql/get_note.sql"})
	if code != exitFine {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	entries, err := os.ReadDir(filepath.Join(dir, "gen/db"))
	if err != nil || len(entries) < 3 {
		t.Errorf("%d files were written: %v", len(entries), err)
	}
}

// goCommand builds something as tools/generate does: without cgo, which leaves out a parser that nothing here needs. It
// returns what the go command prints.
func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &problems)
	}
	return strings.TrimSpace(string(output))
}
