package duroxidevet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/duroxide/duroxide-go/duroxidevet"
)

// root is the folder of the library.
const root = ".."

// TestChecks compares the findings in testdata, package by package, with what the comments there want.
func TestChecks(t *testing.T) {
	t.Parallel()
	analysistest.Run(t, app(t), duroxidevet.Analyzer, "./...")
}

// TestFixes applies every suggested fix in testdata/fixes.
func TestFixes(t *testing.T) {
	t.Parallel()
	analysistest.RunWithSuggestedFixes(t, app(t), duroxidevet.Analyzer, "./fixes")
}

// app makes a module of the packages in testdata that uses the library from this tree, with all that the library
// requires.
func app(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllLiteralString(string(mod), "module example.com/app") +
		"\nrequire " + library + " v0.0.0\n\nreplace " + library + " => " + folder + "\n"
	for file, content := range map[string]string{"go.mod": text, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFixedCodeCompiles builds what the fixes make.
func TestFixedCodeCompiles(t *testing.T) {
	t.Parallel()
	dir := app(t)
	if err := os.Rename(filepath.Join(dir, "fixes/fixes.go.golden"), filepath.Join(dir, "fixes/fixes.go")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "./fixes")
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}
