package generate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzRun puts any text through all stages: nothing panics or hangs, every finding has a place inside the text, and the
// same text comes to the same result twice. Its seeds are the scripts of the golden cases.
func FuzzRun(f *testing.F) {
	paths, err := filepath.Glob("../../testdata/golden/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var text strings.Builder
		for _, file := range txtar.Parse(content).Files {
			if strings.HasSuffix(file.Name, ".sql") {
				text.Write(file.Data)
				text.WriteString("\nGO\n")
			}
		}
		f.Add(text.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		source := []Source{{Name: "x.sql", Text: text, Role: Any}}
		result, findings := Run(source, options("db"))
		for _, d := range findings {
			if d.File == nil || d.Span.From < 0 || d.Span.To < d.Span.From || int(d.Span.To) > len(d.File.Text) {
				t.Errorf("a finding without a place: %q (%v)", d.Error(), d.Span)
			}
		}
		again, repeated := Run(source, options("db"))
		if findings.Format() != repeated.Format() || len(result.Files) != len(again.Files) {
			t.Error("the same text came to another result")
		}
		for name, content := range result.Files {
			if !bytes.Equal(content, again.Files[name]) {
				t.Errorf("%s differs between two runs", name)
			}
		}
	})
}
