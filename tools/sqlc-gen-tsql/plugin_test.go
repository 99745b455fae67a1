package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlc-dev/plugin-sdk-go/plugin"
	"google.golang.org/protobuf/proto"
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

// request returns what sqlc sends.
func request(t *testing.T, options string) []byte {
	t.Helper()
	body, err := proto.Marshal(&plugin.GenerateRequest{PluginOptions: []byte(options)})
	if err != nil {
		t.Fatal(err)
	}
	return body
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
			a := &app{stdin: bytes.NewReader(request(t, c.options)), stdout: &stdout, stderr: &stderr, dir: dir, getenv: os.Getenv}

			code := a.run(t.Context(), []string{pluginMethod})

			if code != c.code || stderr.String() != c.stderr {
				t.Errorf("exit code %d, stderr:\n%s\nwant %d:\n%s", code, stderr.String(), c.code, c.stderr)
			}
			var response plugin.GenerateResponse
			if err := proto.Unmarshal(stdout.Bytes(), &response); err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, f := range response.GetFiles() {
				names[f.GetName()] = true
			}
			for _, want := range c.files {
				if !names[want] {
					t.Errorf("%s is missing of %v", want, names)
				}
			}
		})
	}
}

// TestSQLC runs the sqlc that tools/pinned/go.mod pins with the plugin on a project of two T-SQL scripts. sqlc itself has no
// T-SQL; for its own part it wants one query, in a dialect that it knows.
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
	build(t, "-modfile=../pinned/go.mod", "-o", filepath.Join(bin, "sqlc"), "github.com/sqlc-dev/sqlc/cmd/sqlc")
	build(t, "-o", filepath.Join(bin, "sqlc-gen-tsql"), ".")

	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "sqlc"), "generate")
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

// build builds a command as tools/generate does: without cgo, which leaves out a parser that nothing here needs.
func build(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build"}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}
