package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
)

// root is the root of the repository.
const root = "../../../.."

// TestReadmeNamesTests finds every test that the README names as the proof of a
// claim. A claim whose test is gone has to go, too.
func TestReadmeNamesTests(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	named := regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)(?:/([a-z_]+))?`").FindAllStringSubmatch(read(t, root+"/README.md"), -1)
	if len(named) == 0 {
		t.Fatal("README.md names no test")
	}
	for _, match := range named {
		if !tests[match[1]] {
			t.Errorf("README.md names %s, and there is no such test", match[1])
		}
		if match[1] == "TestScripts" {
			read(t, root+"/tools/acceptance/duroxide/testdata/script/"+match[2]+".txtar")
		}
	}
}

// testNames returns the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
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

// TestReadmeTablesClaimNothingWithoutATest looks at the rows of the two tables of
// claims.
func TestReadmeTablesClaimNothingWithoutATest(t *testing.T) {
	t.Parallel()
	_, claims, ok := strings.Cut(read(t, root+"/README.md"), "\n## Guarantees\n")
	claims, _, ends := strings.Cut(claims, "\n## More\n")
	if !ok || !ends {
		t.Fatal("README.md has other sections")
	}
	for row := range strings.Lines(claims) {
		heading := strings.HasSuffix(row, "| Tests |\n") || strings.HasPrefix(row, "|---")
		if strings.HasPrefix(row, "|") && !heading && !strings.Contains(row, "`Test") {
			t.Errorf("no test for this claim: %s", row)
		}
	}
}

// TestReadmeTellsInOrder keeps the order a newcomer needs.
func TestReadmeTellsInOrder(t *testing.T) {
	t.Parallel()
	readme, last := read(t, root+"/README.md"), -1
	for _, part := range []string{
		"# duroxide-go\n", "go run ./cmd/duroxide demo", "make test", "## A program", "## Install", "## Guarantees", "## Limits",
	} {
		at := strings.Index(readme, part)
		if at <= last {
			t.Errorf("README.md has %q at byte %d, and it belongs after byte %d", part, at, last)
		}
		last = at
	}
}

// TestManualIsComplete finds every command and every exit code in docs/cli.md.
func TestManualIsComplete(t *testing.T) {
	t.Parallel()
	manual := read(t, root+"/docs/cli.md")
	files, err := filepath.Glob("testdata/help/duroxide_?*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no help texts: %v", err)
	}
	for _, file := range files {
		command := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txt"), "_", " ")
		if command != "duroxide bench" && !strings.Contains(manual, "| `"+command) {
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
