package syntax

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
)

// statementsFile holds the texts of all tables of statements for tools/acceptance/secondopinion, which compares what another parser
// makes of them.
const statementsFile = "testdata/statements.json"

var update = flag.Bool("update", false, "rewrite "+statementsFile)

// statementCases are all tables of statements that can be read.
func statementCases() []parseCase {
	return slices.Concat(dataCases, controlCases, variableCases, execCases, definitionCases, moduleCases)
}

// TestStatementsFile says that the file has every text of the tables, and the sample.
func TestStatementsFile(t *testing.T) {
	t.Parallel()
	texts := []string{sample}
	for _, c := range statementCases() {
		texts = append(texts, c.text)
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(texts); err != nil {
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
