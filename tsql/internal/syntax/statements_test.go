package syntax

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// statementsFile holds the texts of all tables of statements, with the kinds of statements in each batch, for
// tools/acceptance/secondopinion, which compares them with what another parser finds.
const statementsFile = "testdata/statements.json"

var update = flag.Bool("update", false, "rewrite "+statementsFile)

// statementCases are all tables of statements that can be read.
func statementCases() []parseCase {
	return slices.Concat(dataCases, controlCases, variableCases, execCases, definitionCases, moduleCases)
}

// A readText is a text, and the kinds of the statements in each of its batches.
type readText struct {
	Text    string   `json:"text"`
	Batches []string `json:"batches"`
}

// kindsOf reads a text. Statements that come of the same part of it are one: SET NOCOUNT, XACT_ABORT ON.
func kindsOf(t *testing.T, text string) readText {
	t.Helper()
	script, found := Parse(diag.NewFile("t.sql", text))
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	read := readText{Text: text, Batches: []string{}}
	for _, b := range script.Batches {
		var kinds []string
		for i, s := range b.Stmts {
			if i == 0 || s.Range() != b.Stmts[i-1].Range() {
				kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", s), "*syntax."))
			}
		}
		read.Batches = append(read.Batches, strings.Join(kinds, " "))
	}
	return read
}

// TestStatementsFile says that the file has every text of the tables, and of the sample.
func TestStatementsFile(t *testing.T) {
	t.Parallel()
	read := []readText{kindsOf(t, sample)}
	for _, c := range statementCases() {
		read = append(read, kindsOf(t, c.text))
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(read); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(statementsFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(statementsFile); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date (%v); run go test -run TestStatementsFile -update", statementsFile, err)
	}
}
