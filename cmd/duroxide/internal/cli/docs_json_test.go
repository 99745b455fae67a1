package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
)

// examples are the documents that docs/cli.md shows, as they are printed, on one line each.
func examples(t *testing.T) (list []string) {
	t.Helper()
	blocks := regexp.MustCompile("(?s)\n```json\n(.*?)\n```\n").FindAllStringSubmatch(source(t, "docs/cli.md"), -1)
	for _, block := range blocks {
		decoder := json.NewDecoder(strings.NewReader(strings.ReplaceAll(block[1], "\n", "")))
		for decoder.More() {
			var document json.RawMessage
			if err := decoder.Decode(&document); err != nil {
				t.Fatalf("%v in %s", err, block[1])
			}
			list = append(list, string(document))
		}
	}
	return list
}

// repository is the root of the repository.
const repository = "../../../.."

// source reads a file of the repository.
func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestManualShowsWhatJSONPrints reads each example of docs/cli.md into the document that the command prints, and prints
// it: every member is there, in its place, and no other.
func TestManualShowsWhatJSONPrints(t *testing.T) {
	t.Parallel()
	shown := examples(t)
	documents := []any{
		&startedDocument{}, &statusDocument{}, &listDocument{}, &historyDocument{}, &replayDocument{}, &raisedDocument{}, &cancelledDocument{}, &retriedDocument{},
		&metricsDocument{}, &planDocument{}, &schemaDocument{}, &dropDocument{}, &doctorDocument{},
		&lettersDocument{}, &shownLetterDocument{}, &handledLettersDocument{}, &purgeDocument{}, &dryRunDocument{},
	}
	if len(shown) != len(documents) {
		t.Fatalf("docs/cli.md shows %d documents, want %d", len(shown), len(documents))
	}
	for i, document := range documents {
		decoder := json.NewDecoder(strings.NewReader(shown[i]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(document); err != nil {
			t.Errorf("%s as a %T: %v", shown[i], document, err)
			continue
		}
		var printed bytes.Buffer
		if err := (&app{screen: screen.New(&printed, os.Getenv)}).printJSON(reflect.ValueOf(document).Elem().Interface()); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(printed.String()); got != shown[i] {
			t.Errorf("docs/cli.md shows\n%s\nand the program prints\n%s", shown[i], got)
		}
	}
}

// TestManualShowsTextsOfTheProgram looks for the names and sentences in the examples where the program has them: files
// among the scripts, reasons and details as texts in the code.
func TestManualShowsTextsOfTheProgram(t *testing.T) {
	t.Parallel()
	code := map[string]string{
		"reason": source(t, "provider/mssql/migrate/plan.go"),
		"action": source(t, "provider/mssql/migrate/plan.go"),
		"kind":   source(t, "provider/mssql/migrate/verify.go"),
		"detail": source(t, "provider/mssql/migrate/verify.go") + source(t, "cmd/duroxide/internal/server/tables.go"),
	}
	found := map[string]int{}
	for _, example := range examples(t) {
		for _, match := range regexp.MustCompile(`"(reason|action|kind|detail)":("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(example, -1) {
			if strings.Contains(example, `"instance"`) {
				continue // a user's
			}
			if strings.Contains(example, `"held":[`) && match[1] == "reason" {
				continue // of a user's code
			}
			found[match[1]]++
			if !strings.Contains(code[match[1]], match[2]) {
				t.Errorf("docs/cli.md shows the %s %s, which the program does not have", match[1], match[2])
			}
		}
		for _, match := range regexp.MustCompile(`"((?:schema|procedures)/[^"]*)"`).FindAllStringSubmatch(example, -1) {
			found["file"]++
			if _, err := os.Stat(filepath.Join(repository, "sql", filepath.FromSlash(match[1]))); err != nil {
				t.Errorf("docs/cli.md shows a script that is not there: %v", err)
			}
		}
	}
	for _, what := range []string{"reason", "action", "kind", "detail", "file"} {
		if found[what] == 0 {
			t.Error("docs/cli.md shows no " + strconv.Quote(what))
		}
	}
}
