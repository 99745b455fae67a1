package tsqltest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// manual reads README.md.
func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// rows returns the cells of the table below a heading of the manual, without the table's own headings.
func rows(t *testing.T, heading string) [][]string {
	t.Helper()
	_, part, found := strings.Cut(manual(t), "\n"+heading+"\n")
	_, part, table := strings.Cut(part, "|---")
	if !found || !table {
		t.Fatalf("the manual has no table below %q", heading)
	}
	var list [][]string
	lines := strings.Split(part, "\n")[1:]
	for _, line := range lines {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		list = append(list, strings.Split(strings.Trim(line, "| "), " | "))
	}
	return list
}

// examples returns the batches of a cell.
func examples(cell string) []string {
	var list []string
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		list = append(list, match[1])
	}
	return list
}

// example is a session in which an example of the manual can be executed.
func example(t *testing.T) *tsqltest.Conn {
	t.Helper()
	server := tsqltest.New(t, tsqltest.Options{})
	if err := server.ApplyText(t.Context(), "example.sql", `
		CREATE TABLE dbo.t (a INT);
		CREATE SEQUENCE dbo.s;
		GO
		CREATE VIEW dbo.v WITH SCHEMABINDING AS SELECT a FROM dbo.t;
		GO
		CREATE PROCEDURE dbo.p AS SELECT a FROM dbo.t;`); err != nil {
		t.Fatal(err)
	}
	return session(t, server)
}

// What the manual says is refused is refused, with the number that the manual says.
func TestManualRefusals(t *testing.T) {
	t.Parallel()
	for _, heading := range []string{"### Refused", "### Unknown names"} {
		for _, row := range rows(t, heading) {
			for _, batch := range examples(row[1]) {
				_, err := example(t).Exec(t.Context(), batch)
				e, ok := errors.AsType[*tsqltest.Error](err)
				if !ok || strconv.Itoa(int(e.Number)) != row[2] || heading == "### Refused" && !strings.Contains(e.Message, "supported") {
					t.Errorf("%s returns %v, and the manual says error %s", batch, err, row[2])
				}
			}
		}
	}
}

// A statement that reads rows is refused when its procedure is created, others when they are executed.
func TestRefusedAtCreation(t *testing.T) {
	t.Parallel()
	conn := example(t)
	_, err := conn.Exec(t.Context(), "CREATE PROCEDURE dbo.q AS\n  SELECT a FROM dbo.t FOR XML AUTO")
	if err == nil || !strings.Contains(err.Error(), "(dbo.q:2:31)") {
		t.Errorf("the procedure is created with %v, want an error at dbo.q:2:23", err)
	}
	must(t, conn, "CREATE PROCEDURE dbo.q AS SHUTDOWN")
	_, err = conn.Exec(t.Context(), "EXEC dbo.q")
	wantError(t, err, 49900)
}

func TestManualNoEffects(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "### Accepted without effect") {
		for _, batch := range examples(row[1]) {
			must(t, example(t), batch)
		}
	}
}

// A difference that is gone has to go from the manual, too.
func TestManualDifferences(t *testing.T) {
	t.Parallel()
	for _, row := range rows(t, "### Different without an error") {
		for _, batch := range examples(row[1]) {
			sets := must(t, example(t), batch).Sets
			if got := fmt.Sprint(sets[len(sets)-1].Rows[0][0]); got != row[2] {
				t.Errorf("%s returns %s, and the manual says %s", batch, got, row[2])
			}
		}
	}
}

// The manual's table of options has a row for each field, in order.
func TestManualHasEveryOption(t *testing.T) {
	t.Parallel()
	table, fields := rows(t, "## Options"), reflect.VisibleFields(reflect.TypeFor[tsqltest.Options]())
	if len(table) != len(fields) {
		t.Fatalf("the manual has %d options, and Options %d", len(table), len(fields))
	}
	for i, field := range fields {
		if want := "`" + field.Name + "`"; table[i][0] != want {
			t.Errorf("option %d of the manual is %s, want %s", i, table[i][0], want)
		}
	}
}

// What the manual shows of Go is compiled, but for the indentation.
func TestManualShowsCompiledGo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	indentation := regexp.MustCompile(`(?m)^\t+`)
	compiled := indentation.ReplaceAllString(code.String(), "")
	snippets := regexp.MustCompile("(?s)\n```go\n(.*?\n)```\n").FindAllStringSubmatch(manual(t), -1)
	if len(snippets) < 5 {
		t.Errorf("the manual has %d snippets of Go", len(snippets))
	}
	for _, snippet := range snippets {
		if !strings.Contains(compiled, indentation.ReplaceAllString(snippet[1], "")) {
			t.Errorf("no test has these lines of the manual:\n%s", snippet[1])
		}
	}
}

// shopURL is where the manual's tests find a shop: on the server that the variable names, or on one of their own.
func shopURL(t *testing.T) string {
	t.Helper()
	if url := os.Getenv("SHOP_TEST_URL"); url != "" {
		return url
	}
	return newShop(t).DSN()
}

func TestShopOnAnyServer(t *testing.T) {
	t.Parallel()
	var price string
	err := open(t, shopURL(t)).QueryRowContext(t.Context(), "SELECT price FROM dbo.products WHERE sku = 'tea'").Scan(&price)
	if err != nil || price != "4.50" {
		t.Errorf("tea costs %s, want 4.50 (%v)", price, err)
	}
}
