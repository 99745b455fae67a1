package orchestration_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What docs/orchestrations.md shows of Go is part of an example, but for the indentation.
func TestManualShowsExamples(t *testing.T) {
	t.Parallel()
	indentation := regexp.MustCompile(`(?m)^\t+`)
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	examples := indentation.ReplaceAllString(read("example_test.go"), "")
	snippets := regexp.MustCompile("(?s)\n```go\n(.*?\n)```\n").FindAllStringSubmatch(read("../docs/orchestrations.md"), -1)
	if len(snippets) < 7 {
		t.Errorf("the manual has %d snippets", len(snippets))
	}
	for _, snippet := range snippets {
		if !strings.Contains(examples, "\n"+indentation.ReplaceAllString(snippet[1], "")) {
			t.Errorf("example_test.go has not these lines of the manual:\n%s", snippet[1])
		}
	}
}
