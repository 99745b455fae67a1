package mssql

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// manual reads docs/sqlserver.md.
func manual(t *testing.T) string {
	t.Helper()
	return document(t, "../../docs/sqlserver.md")
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// section returns what stands in a document from one line up to another.
func section(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, begins := strings.Cut(text, "\n"+from+"\n")
	part, _, ends := strings.Cut(rest, "\n"+to)
	if !begins || !ends {
		t.Fatalf("there is nothing from %q to %q", from, to)
	}
	return part
}

// The manual's table of options has a row for each field of Options, in order, that begins with the field's default,
// and tells which of them New ignores.
func TestManualHasEveryOption(t *testing.T) {
	t.Parallel()
	defaults, err := Options{}.forOpen("")
	if err != nil {
		t.Fatal(err)
	}
	onlyOpen := []string{"AutoMigrate", "ConnMaxIdleTime", "ConnMaxLifetime", "MaxOpenConns"}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| ([^|]+) \\|$").
		FindAllStringSubmatch(section(t, manual(t), "## Options", "## Errors"), -1)
	fields := reflect.VisibleFields(reflect.TypeFor[Options]())
	if len(rows) != len(fields) {
		t.Fatalf("the manual has %d options, and mssql.Options %d", len(rows), len(fields))
	}
	for i, field := range fields {
		name, value, meaning := rows[i][1], rows[i][2], rows[i][3]
		if name != field.Name {
			t.Errorf("option %d of the manual is %s, want %s, as in Options", i, name, field.Name)
			continue
		}
		want := inManual(t, reflect.ValueOf(defaults).FieldByName(name).Interface())
		first := regexp.MustCompile("^[^;,]+").FindString(value)
		if first != want {
			t.Errorf("the manual's default of %s is %q, want %q", name, first, want)
		}
		if ignored := strings.HasSuffix(meaning, "(`Open` only)"); ignored != slices.Contains(onlyOpen, name) {
			t.Errorf("the manual says that New ignores %s: %v", name, ignored)
		}
	}
}

// inManual writes a default as the manual does.
func inManual(t *testing.T, value any) string {
	t.Helper()
	switch value := value.(type) {
	case bool, int:
		return fmt.Sprint(value)
	case string:
		return "`" + value + "`"
	case *slog.Logger:
		return "nil"
	case time.Duration:
		switch {
		case value >= 2*time.Minute && value%time.Minute == 0:
			return fmt.Sprintf("%d min", value/time.Minute)
		case value%time.Second == 0:
			return fmt.Sprintf("%d s", value/time.Second)
		}
		return fmt.Sprintf("%d ms", value/time.Millisecond)
	}
	t.Fatalf("the manual has no options of type %T", value)
	return ""
}

// What the manual shows of Go is compiled, but for the indentation.
func TestManualShowsCompiledGo(t *testing.T) {
	t.Parallel()
	indentation := regexp.MustCompile(`(?m)^\t+`)
	code := indentation.ReplaceAllString(document(t, "example_test.go")+document(t, "manual_go_test.go"), "")
	snippets := regexp.MustCompile("(?s)\n```go\n(.*?\n)```\n").FindAllStringSubmatch(manual(t), -1)
	if len(snippets) < 2 {
		t.Errorf("the manual has %d snippets of Go: opening a store, and EnqueueTx?", len(snippets))
	}
	for _, snippet := range snippets {
		if !strings.Contains(code, "\n"+indentation.ReplaceAllString(snippet[1], "")) {
			t.Errorf("neither example_test.go nor manual_go_test.go has these lines of the manual:\n%s", snippet[1])
		}
	}
}

// What the manual calls errors of this package are all of them.
func TestManualNamesEveryError(t *testing.T) {
	t.Parallel()
	declared := regexp.MustCompile(`(?m)^\t(Err\w+) += `).FindAllStringSubmatch(document(t, "errors.go"), -1)
	if len(declared) == 0 {
		t.Error("errors.go declares no errors")
	}
	errors, _, _ := strings.Cut(section(t, manual(t), "## Errors", "## Looking inside"), "and those of the contract")
	for _, match := range declared {
		if !regexp.MustCompile("`(mssql\\.)?" + match[1] + "`").MatchString(errors) {
			t.Errorf("the manual does not name %s", match[1])
		}
	}
	for _, match := range regexp.MustCompile("`(?:mssql\\.)?(Err\\w+)`").FindAllStringSubmatch(errors, -1) {
		if !slices.ContainsFunc(declared, func(one []string) bool { return one[1] == match[1] }) {
			t.Errorf("the manual names %s, and errors.go declares no such error", match[1])
		}
	}
}

// The manual's table of views names columns that the scripts describe. The view of the migrations is the migrator's.
func TestManualNamesColumnsOfViews(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile("(?m)^\\| `(v_\\w+)` \\| [^|]+ \\| ([^|]+) \\|$").
		FindAllStringSubmatch(section(t, manual(t), "## Looking inside", "## Starting"), -1)
	files, err := filepath.Glob("../../sql/schema/views/*.sql")
	if err != nil || len(rows) != len(files)+1 {
		t.Fatalf("the manual has %d views, want those of the %d files and v_migrations (%v)", len(rows), len(files), err)
	}
	for _, row := range rows {
		file := "../../sql/schema/views/" + row[1] + ".sql"
		if row[1] == "v_migrations" {
			file = "../../sql/schema/records/migrations.sql"
		}
		described := document(t, file)
		for _, column := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[2], -1) {
			if !regexp.MustCompile(`(?m)^--   ` + column[1] + `\b`).MatchString(described) {
				t.Errorf("the manual gives %s a column %s, which %s does not describe", row[1], column[1], file)
			}
		}
	}
}

// Every id of a rule that the T-SQL's comments cite is a rule that is written down.
func TestRulesAreWrittenDown(t *testing.T) {
	t.Parallel()
	var written []string
	for _, match := range regexp.MustCompile(`(?m)^\| ([PQT]\d+) \| .{20,} \|$`).FindAllStringSubmatch(
		section(t, document(t, "../../docs/architecture.md")+"\n## ", "## Rules for the T-SQL", "\n## "), -1) {
		written = append(written, match[1])
	}
	var checked []string
	for _, match := range regexp.MustCompile(`(?m)^\t"([PQT]\d+)": +\{`).FindAllStringSubmatch(document(t, "static_test.go"), -1) {
		checked = append(checked, match[1])
	}
	if len(checked) == 0 || !slices.Equal(written, checked) {
		t.Errorf("docs/architecture.md has the rules\n%v, and static_test.go checks\n%v", written, checked)
	}
}
