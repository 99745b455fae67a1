package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// Everything in the README that a machine can check is checked here:
//
//   - between "begin x" and "end x" stands a table that a function of this file writes;
//   - a block below "file: name" is written to a file of that name, in the order of the text, and one below "add to:
//     name" to its end;
//   - a block of the language console is a session in the folder of these files: what follows a line "$ sqlc-gen-tsql
//     …" is what that command prints;
//   - every block of Go compiles against the package that is generated from all of these files.
//
// go test -run TestReadme -update rewrites tables and sessions.
const readmeFile = "README.md"

// readmeTables are the tables by name.
var readmeTables = map[string]func(*testing.T) string{
	"options":  optionTable,
	"types":    typeTable,
	"rules":    ruleTable,
	"refusals": refusalTable,
}

func readReadme(t *testing.T) string {
	t.Helper()
	readmeLock.RLock()
	defer readmeLock.RUnlock()
	text, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestReadmeTables compares the tables with what they are about.
func TestReadmeTables(t *testing.T) {
	t.Parallel()
	readme := readReadme(t)
	for name, write := range readmeTables {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		_, rest, begins := strings.Cut(readme, begin)
		have, _, ends := strings.Cut(rest, end)
		if !begins || !ends {
			t.Fatalf("%s has no table %s", readmeFile, name)
		}
		want := "\n" + write(t) + "\n"
		if *update {
			rewriteReadme(t, begin+have+end, begin+want+end)
		} else if d := cmp.Diff(strings.Split(have, "\n"), strings.Split(want, "\n")); d != "" {
			t.Errorf("the table %s is out of date (-README +reality); run go test -run TestReadme -update\n%s", name, d)
		}
	}
}

// With -update the tests change the README while others read it: readmeLock guards the file, and rewriting a change
// from the reading to the writing.
var (
	readmeLock sync.RWMutex
	rewriting  sync.Mutex
)

// rewriteReadme puts a part of the README in place of another.
func rewriteReadme(t *testing.T, from, to string) {
	t.Helper()
	rewriting.Lock()
	defer rewriting.Unlock()
	text := strings.Replace(readReadme(t), from, to, 1)
	readmeLock.Lock()
	defer readmeLock.Unlock()
	if err := os.WriteFile(readmeFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// escape writes text for a Markdown table.
var escape = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`)

// row writes a row of a Markdown table.
func row(cells ...string) string {
	for i, c := range cells {
		if !strings.Contains(c, "`") {
			cells[i] = escape.Replace(c)
		}
	}
	return strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |", "|  |", "| |") + "\n"
}

func optionTable(*testing.T) string {
	var described strings.Builder
	config.Describe(&described)
	var table strings.Builder
	table.WriteString(row("Key", "Meaning") + "|---|---|\n")
	for line := range strings.Lines(described.String()) {
		key, doc, _ := strings.Cut(strings.TrimSpace(line), " ")
		table.WriteString(row("`"+key+"`", strings.TrimSpace(doc)))
	}
	return table.String()
}

func typeTable(*testing.T) string {
	var table strings.Builder
	table.WriteString(row("T-SQL", "Go", "On the wire", "Checks and notes") + "|---|---|---|---|\n")
	for _, r := range model.Types {
		table.WriteString(row(r.SQL, r.Go, r.Wire, r.Note))
	}
	return table.String()
}

// ruleTable has a row for each family of rules: for several small ones of one letter, and several of at most 320 bytes
// for a large one.
func ruleTable(*testing.T) string {
	var table strings.Builder
	table.WriteString(row("Rules and what they demand") + "|---|\n")
	var demands, family string
	for _, r := range vet.Rules() {
		applies := strings.Replace(condition(r), "off unless enabled", "off", 1)
		demand := strings.TrimSpace("`" + r.ID + "` " + escape.Replace(r.Title) + " " + applies)
		of, _, _ := strings.Cut(r.ID, "-")
		switch {
		case demands == "":
			demands = demand
		case of != family && len(demands) > 150 || of[0] != family[0] || len(demands)+len(demand) > 310:
			table.WriteString(row(demands))
			demands = demand
		default:
			demands += "<br>" + demand
		}
		family = of
	}
	return table.String() + row(demands)
}

// A refusal is something that a script can't have, in a script that has nothing else wrong with it. dbo.t is there. The
// way out is said here only where the finding leaves it open.
type refusal struct{ construct, script, way string }

var refusals = []refusal{
	{
		"a table, view or function that no script defines",
		"CREATE PROCEDURE dbo.p AS SELECT m.id FROM dbo.missing AS m;",
		"",
	},
	{"another database", "CREATE PROCEDURE dbo.p AS SELECT o.id FROM other.dbo.t AS o;", ""},
	{"a linked server", "CREATE PROCEDURE dbo.p AS SELECT o.id FROM far.other.dbo.t AS o;", ""},
	{
		"OPENQUERY, OPENROWSET, OPENXML",
		"CREATE PROCEDURE dbo.p AS SELECT q.id FROM OPENQUERY(far, 'SELECT 1 AS id') AS q;",
		"",
	},
	{
		"CONTAINSTABLE and FREETEXTTABLE without the full-text index",
		"CREATE PROCEDURE dbo.p AS SELECT k.[KEY] FROM CONTAINSTABLE(dbo.t, *, N'owl') AS k;",
		"",
	},
	{"a temp table that the caller creates", "CREATE PROCEDURE dbo.p AS SELECT h.id FROM #handed_over AS h;", ""},
	{"dynamic SQL", "CREATE PROCEDURE dbo.p @sql nvarchar(max) AS EXEC sp_executesql @sql;", ""},
	{"EXEC of a procedure that no script defines", "CREATE PROCEDURE dbo.p AS EXEC dbo.unknown;", ""},
	{"EXEC of a procedure in a variable", "CREATE PROCEDURE dbo.p @name sysname AS EXEC @name;", ""},
	{"a result set in a loop that is streamed", "CREATE PROCEDURE dbo.p AS\nWHILE 1 = 1\n\t-- gen:result rows :stream\n\tSELECT t.id FROM dbo.t AS t;", ""},
	{
		"FETCH without INTO",
		"CREATE PROCEDURE dbo.p AS\nDECLARE c CURSOR FOR SELECT t.id FROM dbo.t AS t;\nOPEN c;\nFETCH NEXT FROM c;",
		"",
	},
	{
		"branches that a client can't tell apart",
		"CREATE PROCEDURE dbo.p @a int AS IF @a = 1 SELECT t.id AS v FROM dbo.t AS t; ELSE SELECT t.name AS v FROM dbo.t AS t;",
		"",
	},
	{"FOR JSON or FOR XML as a result set", "CREATE PROCEDURE dbo.p AS SELECT t.id FROM dbo.t AS t FOR JSON PATH;", ""},
	{"rare methods of geography and geometry", "CREATE PROCEDURE dbo.p AS SELECT geography::Point(1, 2, 4326).Rare() AS a;", ""},
	{"Service Broker", "CREATE PROCEDURE dbo.p AS RECEIVE * FROM dbo.q;", ""},
	{"sql_variant, hierarchyid, geometry, geography", "CREATE PROCEDURE dbo.p @v sql_variant AS SELECT 1 AS a;", ""},
	{"an OUTPUT parameter of type xml", "CREATE PROCEDURE dbo.p @x xml OUTPUT AS SET @x = N'<a/>';", ""},
	{"a parameter whose name begins with a line", "CREATE PROCEDURE dbo.p @_x int AS SELECT 1 AS a;", ""},
	{"DDL in a procedure", "CREATE PROCEDURE dbo.p AS ALTER TABLE dbo.t ADD extra int NULL;", ""},
	{
		"text that a migration executes, if it is not known",
		"DECLARE @sql nvarchar(max) = (SELECT MAX(t.name) FROM dbo.t AS t);\nEXEC (@sql);",
		"",
	},
	{
		"a migration that calls a procedure which changes a table",
		"CREATE PROCEDURE dbo.p AS EXEC (N'DROP TABLE dbo.u') WITH RESULT SETS NONE;\nGO\nEXEC dbo.p;", "",
	},
	{
		"OUTPUT without INTO where a trigger is enabled",
		"CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS RETURN;\nGO\nCREATE PROCEDURE dbo.p AS INSERT INTO dbo.t (id) OUTPUT inserted.id VALUES (1);",
		"",
	},
	{"a view with SELECT * of a table that a migration changes", "CREATE VIEW dbo.v AS SELECT * FROM dbo.t;\nGO\nALTER TABLE dbo.t ADD extra int NULL;", ""},
	{"a trigger that sends a result set", "CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS SELECT i.id FROM inserted AS i;", ""},
	{"a placeholder without a value", "CREATE PROCEDURE {owner}p AS SELECT 1 AS a;", ""},
	{"sqlcmd's commands that include files, connect or end", ":r tables.sql", ""},
	{"a reserved word as a name", "CREATE PROCEDURE dbo.p AS SELECT t.user FROM dbo.t AS t;", ""},
	{"an annotated query whose parameter has no type", "-- name: Echo :one\nSELECT @x AS x;", ""},
}

// refusalTable runs the refusals and writes what is said about them.
func refusalTable(t *testing.T) string {
	t.Helper()
	options := config.Default()
	options.Model.Package = "db"
	var table strings.Builder
	table.WriteString(row("What", "What is said", "What to do") + "|---|---|---|\n")
	for _, r := range refusals {
		_, findings := generate.Run([]generate.Source{
			{Name: "t.sql", Text: "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name nvarchar(50) NULL);", Role: generate.Schema},
			{Name: "p.sql", Text: r.script, Role: generate.Any},
		}, options)
		if len(findings) != 1 {
			t.Fatalf("%s: expected one finding, got\n%s", r.construct, findings.Format())
		}
		if (findings[0].Advice() == "") != (r.way != "") {
			t.Errorf("%s: the finding has the fix %q and the table has %q", r.construct, findings[0].Advice(), r.way)
		}
		table.WriteString(row(r.construct, findings[0].Message, findings[0].Advice()+r.way))
	}
	return table.String()
}

// A block is a fenced block of the README.
type block struct {
	language, file, text string
	adds                 bool // to the file's end
	line                 int
}

var fence = regexp.MustCompile("(?s)(?:<!-- (file|add to): ([^\n ]+) -->\n)?```([a-z]+)\n(.*?)\n```\n")

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	readme := readReadme(t)
	var blocks []block
	for _, at := range fence.FindAllStringSubmatchIndex(readme, -1) {
		b := block{language: readme[at[6]:at[7]], text: readme[at[8]:at[9]] + "\n", line: 1 + strings.Count(readme[:at[6]], "\n")}
		if at[2] >= 0 {
			b.file, b.adds = readme[at[4]:at[5]], readme[at[2]:at[3]] == "add to"
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// TestReadmeBlocks does what the README shows, from an empty folder.
func TestReadmeBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var programs []block
	for _, b := range readmeBlocks(t) {
		switch {
		case b.adds:
			text, err := os.ReadFile(filepath.Join(dir, b.file))
			if err != nil {
				t.Fatalf("%s:%d: %v", readmeFile, b.line, err)
			}
			writeFiles(t, dir, map[string]string{b.file: string(text) + b.text})
		case b.file != "":
			writeFiles(t, dir, map[string]string{b.file: b.text})
		case b.language == "console":
			session(t, dir, b)
		case b.language == "go":
			programs = append(programs, b)
		case b.language == "sql" || b.language == "yaml":
			t.Errorf("%s:%d: a block of %s has to name its file", readmeFile, b.line, b.language)
		}
	}
	a := &app{stdout: io.Discard, stderr: t.Output(), dir: dir, getenv: os.Getenv}
	if code := a.run(t.Context(), []string{"generate"}); code != exitFine {
		t.Fatal("all files together don't generate")
	}
	generated, err := filepath.Glob(filepath.Join(dir, "internal", "shopdb", "*.go"))
	if err != nil || len(generated) == 0 || len(programs) == 0 {
		t.Fatalf("nothing to compile: %v", err)
	}
	compile(t, dir, generated, programs)
}

// session runs the commands of a block and compares what they print.
func session(t *testing.T, dir string, b block) {
	t.Helper()
	var got strings.Builder
	for line := range strings.Lines(b.text) {
		command, ok := strings.CutPrefix(line, "$ sqlc-gen-tsql ")
		if !ok {
			continue
		}
		got.WriteString(line)
		a := &app{stdin: strings.NewReader(""), stdout: &got, stderr: &got, dir: dir, getenv: func(string) string { return "" }}
		a.run(t.Context(), strings.Fields(command))
	}
	switch {
	case got.String() == b.text:
	case *update:
		rewriteReadme(t, "```console\n"+b.text, "```console\n"+got.String())
	default:
		t.Errorf("%s:%d: the session is another one; run go test -run TestReadme -update:\n%s", readmeFile, b.line, got.String())
	}
}

// program is what is around the statements of a block of Go.
const program = `package readme

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"%s/internal/shopdb"
)

var _ = []any{errors.New, fmt.Println, time.Now, decimal.New}

func block%d(ctx context.Context, db *sql.DB, q *shopdb.Queries) error {
%s
	return nil
}
`

// compile builds the blocks of Go and the package that they use. Both are in this module for the compiler's eyes only,
// so that it finds their imports without a network.
func compile(t *testing.T, dir string, generated []string, programs []block) {
	t.Helper()
	const module = "github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/readme"
	here, err := filepath.Abs("readme")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, file := range generated {
		replace[filepath.Join(here, "internal", "shopdb", filepath.Base(file))] = file
	}
	for i, b := range programs {
		name := fmt.Sprintf("block%d.go", i)
		writeFiles(t, dir, map[string]string{path.Join("programs", name): fmt.Sprintf(program, module, i, b.text)})
		replace[filepath.Join(here, name)] = filepath.Join(dir, "programs", name)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"overlay.json": string(overlay)})
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), module)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the Go of the README doesn't compile: %v\n%s", err, bytes.ReplaceAll(out, []byte(dir), []byte("README")))
	}
}

// TestReadmeLinks follows the links to files of the repository.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(readReadme(t), -1) {
		if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
}

// TestReadOfInvalidText says once per file that it isn't UTF-8, and reads UTF-16 as the tools of SQL Server write it.
func TestReadOfInvalidText(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"little": "\xff\xfea\x00\xe4\x00", "big": "\xfe\xff\x00a\x00\xe4", "plain": "aä"} {
		if got := decode([]byte(content)); got != "aä" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, mark := range []string{"", "\ufeff"} {
		_, findings := generate.Analyze([]generate.Source{
			{Name: "a.sql", Text: mark + "-- Gr\xf6\xdfe\nCREATE PROCEDURE dbo.p AS SELECT 1 AS a;", Role: generate.Any},
		}, config.Default())
		if want := "a.sql:1:6: this character is not UTF-8 (syntax)"; len(findings) != 1 || findings[0].Error() != want {
			t.Errorf("got %s, want %s", findings.Format(), want)
		}
	}
}
