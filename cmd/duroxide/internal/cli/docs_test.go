package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
)

// root is the root of the repository.
const root = "../../../.."

// TestDocumentsNameTests finds every test and benchmark that the documents name. A promise
// whose test is gone has to go, too.
func TestDocumentsNameTests(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	name := regexp.MustCompile("`((?:Test|Benchmark)[A-Z][A-Za-z0-9]*)(?:/([a-z_]+))?`")
	for _, document := range documents(t) {
		for _, match := range name.FindAllStringSubmatch(read(t, document), -1) {
			if !tests[match[1]] {
				t.Errorf("%s names %s, and there is no such test", filepath.Base(document), match[1])
			}
			if match[1] == "TestScripts" {
				read(t, root+"/tools/acceptance/duroxide/testdata/script/"+match[2]+".txtar")
			}
		}
	}
}

// documents returns the files of the documents.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"/*.md", "/docs/*.md", "/docs/decisions/*.md", "/sql/*.md", "/tsql/sqlc-gen-tsql/*.md", "/tsql/sqlc-gen-tsql/docs/*.md"} {
		found, err := filepath.Glob(root + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no documents %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// testNames returns the names of all tests and benchmarks.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(\w+ \*testing\.[TB]\)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") && !entry.IsDir() {
			for _, match := range declared.FindAllStringSubmatch(read(t, path), -1) {
				names[match[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEveryGuaranteeNamesATest looks at the rows of all tables but the first one of
// docs/guarantees.md, which sums them up.
func TestEveryGuaranteeNamesATest(t *testing.T) {
	t.Parallel()
	_, promises, _ := strings.Cut(read(t, root+"/docs/guarantees.md"), "\n## ")
	rows := 0
	for row := range strings.Lines(promises) {
		heading := strings.HasSuffix(row, "| Tests |\n") || strings.HasPrefix(row, "|---")
		if !strings.HasPrefix(row, "|") || heading {
			continue
		}
		rows++
		if cells := strings.Split(row, "|"); len(cells) != 4 || !strings.Contains(cells[2], "`Test") {
			t.Errorf("no test for this promise: %s", row)
		}
	}
	if rows == 0 {
		t.Error("docs/guarantees.md has no promises")
	}
}

// TestReadmeTellsInOrder keeps the order a newcomer needs.
func TestReadmeTellsInOrder(t *testing.T) {
	t.Parallel()
	readme, last := read(t, root+"/README.md"), -1
	for _, part := range []string{
		"# duroxide-go\n", "go run -v ./cmd/duroxide/demo", "go run ./tools/test ", "```text", "## A program", "## Install", "## Guarantees",
	} {
		at := strings.Index(readme, part)
		if at <= last {
			t.Errorf("README.md has %q at byte %d, and it belongs after byte %d", part, at, last)
		}
		last = at
	}
}

// TestReadmeShowsOneProgram keeps Go out of the README that nobody compiles: its program is
// that of examples/hello, where it is compared.
func TestReadmeShowsOneProgram(t *testing.T) {
	t.Parallel()
	readme := read(t, root+"/README.md")
	if n := strings.Count(readme, "\n```go\n"); n != 1 {
		t.Errorf("README.md has %d blocks of Go, want 1", n)
	}
	if n := strings.Count(readme, "\n```text\n"); n != 1 {
		t.Errorf("README.md has %d pictures, want 1", n)
	}
}

// TestManualIsComplete finds every command and every exit code in docs/cli.md, and every rig of bench among those of
// docs/performance.md.
func TestManualIsComplete(t *testing.T) {
	t.Parallel()
	manual := read(t, root+"/docs/cli.md")
	_, rigs, _ := strings.Cut(read(t, root+"/docs/performance.md"), "\n## The rigs\n")
	rigs, _, _ = strings.Cut(rigs, "\n## ")
	files, err := filepath.Glob("testdata/help/duroxide_?*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no help texts: %v", err)
	}
	for _, file := range files {
		command := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txt"), "_", " ")
		if rig, ok := strings.CutPrefix(command, "duroxide bench "); ok {
			if !strings.Contains(rigs, "\n| `"+rig) {
				t.Errorf("docs/performance.md does not list the rig `%s`", rig)
			}
			continue
		}
		if !strings.Contains(manual, "| `"+command) {
			t.Errorf("docs/cli.md does not list `%s`", command)
		}
	}
	for _, code := range []int{
		cli.ExitOK, cli.ExitFailure, cli.ExitUsage, cli.ExitNotFound, cli.ExitFailed, cli.ExitTimeout, cli.ExitInterrupted,
	} {
		if !strings.Contains(manual, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/cli.md does not explain exit code %d", code)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDocumentsLinkToWhatIsThere follows the links from one file of the repository to
// another, with the heading behind the #.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^):#]*)(?:#([a-z0-9_-]+))?\)`)
	for _, document := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(prose(read(t, document)), -1) {
			target := document
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(document), match[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, and there is no such file", filepath.Base(document), match[1])
			} else if match[2] != "" && !slices.Contains(anchors(read(t, target)), match[2]) {
				t.Errorf("%s links to %s#%s, and there is no such heading", filepath.Base(document), match[1], match[2])
			}
		}
	}
}

// prose is a document without its blocks of code and its code in backquotes.
func prose(document string) string {
	return regexp.MustCompile("(?s)\n```.*?\n```|`[^`\n]*`").ReplaceAllString(document, "\n")
}

// anchors are the names that a document's headings have in links, and those that stand in
// the document itself.
func anchors(document string) []string {
	var names []string
	for _, match := range regexp.MustCompile(`<a id="([^"]+)">`).FindAllStringSubmatch(document, -1) {
		names = append(names, match[1])
	}
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(document, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(match[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}
