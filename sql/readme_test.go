package scripts_test

import (
	"database/sql"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	scripts "github.com/duroxide/duroxide-go/sql"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

var update = flag.Bool("update", false, "write the tables of README.md anew")

// The tables of the README are made of the scripts: go test ./sql -update.
func TestTablesOfTheReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	modules := readModules(t)
	for name, table := range map[string]string{"indexes": indexTable(t, modules), "procedures": procedureTable(modules)} {
		begin, end := "<!-- "+name+": go test ./sql -update -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("the README has no place for %s", name)
		}
		want = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Error("the tables of README.md are not what the scripts say: run go test ./sql -update")
	}
}

// module is a procedure, function or view.
type module struct {
	name, kind, header, body string
}

func readModules(t *testing.T) []module {
	t.Helper()
	var modules []module
	for _, dir := range []string{"procedures", "schema/functions", "schema/views"} {
		names, err := fs.Glob(scripts.MSSQLScripts(), dir+"/*.sql")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", dir, names, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(scripts.MSSQLScripts(), name)
			if err != nil {
				t.Fatal(err)
			}
			header, body, ok := strings.Cut(string(text), "CREATE OR ALTER")
			if !ok {
				t.Fatalf("%s makes nothing", name)
			}
			modules = append(modules, module{strings.TrimSuffix(path.Base(name), ".sql"), path.Base(dir), header, body})
		}
	}
	return modules
}

// A header is one paragraph, and then its sections, without blank lines.
func TestHeadersHaveNoBlankLines(t *testing.T) {
	t.Parallel()
	for _, m := range readModules(t) {
		if m.kind != "views" && regexp.MustCompile(`(?m)^--\s*$`).MatchString(m.header) {
			t.Errorf("the header of %s has a blank line", m.name)
		}
	}
}

// procedureTable says of each procedure what its header says: first those that the store calls, then the helpers.
func procedureTable(modules []module) string {
	var table strings.Builder
	for _, helpers := range []bool{false, true} {
		table.WriteString("\n| " + map[bool]string{false: "Operation", true: "Helper"}[helpers] + " | Purpose |\n|---|---|\n")
		for _, m := range modules {
			if m.kind == "procedures" && (section(m.header, "Helper of:") != "") == helpers {
				fmt.Fprintf(&table, "| `%s` | %s |\n", m.name, firstSentence(m.header))
			}
		}
	}
	return table.String() + "\n"
}

// firstSentence is what a header begins with.
func firstSentence(header string) string {
	text := section(header, "")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i+1]
	}
	return cell(text)
}

// section is a paragraph of a header that begins with a word, as one line.
func section(header, begin string) string {
	var words []string
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "--"))
		heading := regexp.MustCompile(`^(Called by|Helper of|Transaction|Parameters|Returns|Result sets|Locks|Hints|Errors|Length):`).MatchString(line)
		if len(words) > 0 && (line == "" || heading || strings.HasPrefix(line, "gen:") || strings.HasPrefix(line, "vet:")) {
			break
		}
		if rest, ok := strings.CutPrefix(line, begin); ok && len(words) == 0 && (begin != "" || !heading) {
			words = append(words, strings.TrimSpace(rest))
			continue
		}
		if len(words) > 0 {
			words = append(words, line)
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func cell(text string) string {
	if text == "" {
		return "none"
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// indexTable says of each index what it is for, as its comment in the schema does, and which modules name it. Primary
// keys are left out.
func indexTable(t *testing.T, modules []module) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("\n| Index | On | For | These fail without it |\n|---|---|---|---|\n")
	for _, index := range indexes(t) {
		var by []string
		for _, m := range modules {
			if regexp.MustCompile(`\b` + index.name + `\b`).MatchString(m.body) {
				by = append(by, "`"+m.name+"`")
			}
		}
		if len(by) > 6 {
			by = append(by[:5], fmt.Sprintf("and %d more", len(by)-5))
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", index.name, index.on, index.purpose, cell(strings.Join(by, ", ")))
	}
	return table.String() + "\n"
}

// An index is one of the numbered scripts.
type index struct {
	name, on, purpose string
}

func indexes(t *testing.T) []index {
	t.Helper()
	var found []index
	begin := regexp.MustCompile(`^CREATE (?:UNIQUE |CLUSTERED )*INDEX (\w+) ON duroxide\.(\w+ \([^)]*\))|^    CONSTRAINT (uq_\w+) UNIQUE(?: NONCLUSTERED)? (\([^)]*\))`)
	for _, script := range []string{"schema/0001_instances.sql", "schema/0002_queues.sql"} {
		text, err := fs.ReadFile(scripts.MSSQLScripts(), script)
		if err != nil {
			t.Fatal(err)
		}
		comment := ""
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "-- "); ok {
				comment = strings.TrimSpace(comment + " " + strings.TrimSpace(rest))
				continue
			}
			switch match := begin.FindStringSubmatch(line); {
			case match == nil:
			case match[1] != "":
				purpose, _, _ := strings.Cut(strings.TrimPrefix(comment, "For ")+" ", ". ")
				found = append(found, index{match[1], match[2], strings.TrimSuffix(strings.TrimSpace(purpose), ".")})
			default:
				found = append(found, index{match[3], strings.TrimPrefix(match[3], "uq_") + " " + match[4], "finding a row by its key, and no second one"})
			}
			comment = ""
		}
	}
	return found
}

// The table of hints explains each hint that the scripts have, and no other, and the linter asks no reason of just
// these.
func TestHintsOfTheReadme(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, m := range readModules(t) {
		for _, hint := range hints(m.body) {
			used[hint] = true
		}
	}
	want := slices.Sorted(maps.Keys(used))
	readme := readFile(t, "README.md")
	_, table, _ := strings.Cut(readme, "\n## Hints\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z ]+)` \\|").FindAllStringSubmatch(table, -1) {
		explained = append(explained, row[1])
	}
	slices.Sort(explained)
	if !slices.Equal(explained, want) {
		t.Errorf("the README explains %q, and the scripts have %q", explained, want)
	}
	list := regexp.MustCompile(`(?m)^ +hints: \[(.*)\]`).FindStringSubmatch(readFile(t, "../sqlc.yaml"))
	if list == nil {
		t.Fatal("sqlc.yaml has no list of hints")
	}
	known := strings.Split(list[1], ", ")
	// INNER LOOP JOIN is LOOP to the linter.
	if known = slices.DeleteFunc(known, func(hint string) bool { return hint == "LOOP" || hint == "HASH" }); !slices.Equal(known, want) {
		t.Errorf("the linter asks no reason of %q, and the scripts have %q", known, want)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hints are the names of the hints of tables, joins and statements in a script.
func hints(body string) []string {
	body = regexp.MustCompile(`--.*|N?'[^']*'`).ReplaceAllString(body, "")
	names := regexp.MustCompile(`\b(LOOP|HASH|MERGE|REMOTE) JOIN\b`).FindAllString(body, -1)
	body = regexp.MustCompile(`COMMIT TRANSACTION WITH \(.*?\)`).ReplaceAllString(body, "")
	for _, list := range regexp.MustCompile(`\b(?:WITH|OPTION) \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)`).FindAllStringSubmatch(body, -1) {
		// INDEX (pk_inboxes) is INDEX, and MAXDOP 1 is MAXDOP.
		for hint := range strings.SplitSeq(regexp.MustCompile(`\((?:[^()]|\([^()]*\))*\)|\d`).ReplaceAllString(list[1], ""), ",") {
			names = append(names, strings.TrimSpace(hint))
		}
	}
	return names
}

// The batches of the README run one after the other, and change what the picture says.
func TestBatchesOfTheReadme(t *testing.T) {
	t.Parallel()
	s := tsqltest.New(t, tsqltest.Options{})
	if _, err := (&migrate.Migration{DB: s.DB()}).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	var batches []batch
	before := rowsOfTables(t, s.DB())
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(readFile(t, "README.md"), -1) {
		returned := 0
		for range values(t, s.DB(), block[1]) {
			returned++
		}
		if fetches := regexp.MustCompile(`fetch_|duroxide\.take |v_instances`); fetches.MatchString(block[1]) && returned == 0 {
			t.Errorf("nothing came of\n%s", block[1])
		}
		b := batch{changed: map[string]bool{}}
		for _, call := range regexp.MustCompile(`(?m)^EXEC duroxide\.(\w+)`).FindAllStringSubmatch(block[1], -1) {
			if b.procedure != "" {
				t.Errorf("a batch makes two calls:\n%s", block[1])
			}
			b.procedure = call[1]
		}
		after := rowsOfTables(t, s.DB())
		for table := range after {
			if after[table] != before[table] {
				b.changed[table] = true
			}
		}
		before, batches = after, append(batches, b)
	}
	checkLife(t, batches)
}

// rowsOfTables is what is in each table.
func rowsOfTables(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	contents := map[string]string{}
	for _, table := range schemaTables(t) {
		rows := slices.Collect(values(t, db, "SELECT * FROM duroxide."+table)) //nolint:unqueryvet // rows are compared as they are
		slices.Sort(rows)
		contents[table] = strings.Join(rows, "\n")
	}
	return contents
}

// values are the rows of all results of a batch.
func values(t *testing.T, db *sql.DB, text string) iter.Seq[string] {
	t.Helper()
	return func(yield func(string) bool) {
		rows, err := db.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		defer rows.Close()
		for more := true; more; more = rows.NextResultSet() {
			columns, err := rows.Columns()
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				row, into := make([]any, len(columns)), make([]any, len(columns))
				for i := range row {
					into[i] = &row[i]
				}
				if err := rows.Scan(into...); err != nil {
					t.Fatal(err)
				}
				if !yield(fmt.Sprint(row...)) {
					return
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}
