package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRun runs the real go command on a repository with a test that passes, one that fails, one that is skipped, and a module of its
// own that does not compile.
func TestRun(t *testing.T) {
	t.Parallel()
	const test = "package a\n\nimport \"testing\"\n\nfunc Test%s(t *testing.T) { %s }\n"
	root := repositoryOf(t, map[string]string{
		"a/a.go":           "package a\n",
		"a/a_test.go":      fmt.Sprintf(test, "Fine", `t.Log("nobody wants to know")`),
		"b/a_test.go":      fmt.Sprintf(test, "Wrong", `t.Run("part", func(t *testing.T) { t.Error("it broke") })`),
		"c/a_test.go":      fmt.Sprintf(test, "Elsewhere", `t.Skip()`),
		"tools/a_test.go":  fmt.Sprintf(test, "Short", `if !testing.Short() { t.Error("it is long") }`),
		"nested/go.mod":    "module github.com/duroxide/duroxide-go/nested\n\ngo 1.26\n",
		"nested/a_test.go": fmt.Sprintf(test, "Never", "nonsense()"),
	}, "`TestFine`, `TestElsewhere`, `TestWrong/part`, `TestNever`, `TestFine`")

	var out strings.Builder
	err := run(t.Context(), root, false, &out)

	const want = `2 of 5 packages have failed
docs/guarantees.md names tests that have not run: TestNever`
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	said := regexp.MustCompile(`(?m)^ *\d+ s {2}|\(\d.*?\)`).ReplaceAllString(out.String(), "")
	for _, want := range []string{
		"ok    a , ", "FAIL  b , ", "ok    c , ", "ok    tools , ", "FAIL  nested , ", "undefined: nonsense",
		"--- FAIL: TestWrong/part ", "    a_test.go:5: it broke\n", ", 5 of 5 packages\n",
		"Of the 4 tests that docs/guarantees.md names, 2 have run, and 1 are not for this machine: TestElsewhere.\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "nobody wants to know") {
		t.Errorf("it says what a test that passes prints:\n%s", said)
	}
}

// TestRunAll passes, and its tests are not short.
func TestRunAll(t *testing.T) {
	t.Parallel()
	const test = "package a\n\nimport \"testing\"\n\nfunc TestLong(t *testing.T) { if testing.Short() { t.Error(\"it is short\") } }\n"
	root := repositoryOf(t, map[string]string{"tools/fuzz/a_test.go": test}, "`TestLong`")
	var out strings.Builder
	if err := run(t.Context(), root, true, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := run(t.Context(), root, false, &out); err == nil || !strings.Contains(err.Error(), "that have not run: TestLong") {
		t.Errorf("the error is %v", err)
	}
}

// repositoryOf writes a repository with a list of promises, and returns its folder.
func repositoryOf(t *testing.T, files map[string]string, guarantees string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module github.com/duroxide/duroxide-go\n\ngo 1.26\n"
	files["docs/guarantees.md"] = guarantees
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
