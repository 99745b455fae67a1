package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRun runs the real go command on a repository with a test that passes, one that fails, one that is skipped, and a
// module of its own that does not compile.
func TestRun(t *testing.T) {
	t.Parallel()
	const test = "package a\n\nimport \"testing\"\n\nfunc Test%s(t *testing.T) { %s }\n"
	const unpromised = "\nfunc TestOther(t *testing.T) { t.Error(\"nobody has promised it\") }\n"
	root := repositoryOf(t, map[string]string{
		"a/a.go":               "package a\n",
		"a/a_test.go":          fmt.Sprintf(test, "Fine", `t.Log("nobody wants to know")`) + unpromised,
		"b/a_test.go":          fmt.Sprintf(test, "Wrong", `t.Run("part", func(t *testing.T) { t.Error("it broke") })`),
		"c/a_test.go":          fmt.Sprintf(test, "Elsewhere", `t.Skip()`),
		"tools/a_test.go":      fmt.Sprintf(test, "Short", `if !testing.Short() { t.Error("it is long") }`),
		"unpromised/a_test.go": fmt.Sprintf(test, "Another", "nonsense()"),
		"nested/go.mod":        "module github.com/duroxide/duroxide-go/nested\n\ngo 1.26\n",
		"nested/a_test.go":     fmt.Sprintf(test, "Never", "nonsense()"),
	}, "`TestFine`, `TestElsewhere`, `TestWrong/part`, `TestNever`, `TestFine`, `TestShort`")

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
		"Of the 5 tests that docs/guarantees.md names, 3 have run, and 1 are not for this machine: TestElsewhere.\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "nobody wants to know") {
		t.Errorf("it says what a test that passes prints:\n%s", said)
	}
	if strings.Contains(said, "nobody has promised") {
		t.Errorf("it runs a test that is no promise:\n%s", said)
	}
}

// TestRunAll runs tests that are no promise, too, and they are not short.
func TestRunAll(t *testing.T) {
	t.Parallel()
	const test = "package a\n\nimport \"testing\"\n\nfunc TestLong(t *testing.T) { if testing.Short() { t.Error(\"it is short\") } }\n" +
		"\nfunc TestOther(t *testing.T) { t.Error(\"it has run\") }\n"
	root := repositoryOf(t, map[string]string{"tools/fuzz/a_test.go": test}, "`TestLong`")
	var out strings.Builder
	if err := run(t.Context(), root, true, &out); err == nil || !strings.Contains(out.String(), "it has run") || strings.Contains(out.String(), "it is short") {
		t.Errorf("the error is %v\n%s", err, out.String())
	}
}

// TestRunShowsWhyAProcessEnded reads what go test -json says of a test that hangs: it gives the panic to the one that
// passed last.
func TestRunShowsWhyAProcessEnded(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	failed, err := newProgress(&out, 1).read(strings.NewReader(`
		{"Action":"start","Package":"p"}
		{"Action":"run","Package":"p","Test":"TestHangs"}
		{"Action":"run","Package":"p","Test":"TestFine"}
		{"Action":"output","Package":"p","Test":"TestFine","Output":"--- PASS: TestFine (0.00s)\n"}
		{"Action":"output","Package":"p","Test":"TestFine","Output":"    a_test.go:5: nobody wants to know\n"}
		{"Action":"output","Package":"p","Test":"TestFine","Output":"panic: test timed out after 20m0s\n"}
		{"Action":"output","Package":"p","Test":"TestFine","Output":"\trunning tests:\n"}
		{"Action":"output","Package":"p","Test":"TestFine","Output":"\t\tTestHangs (20m0s)\n"}
		{"Action":"pass","Package":"p","Test":"TestFine"}
		{"Action":"output","Package":"p","Output":"FAIL\tp\t1200.842s\n"}
		{"Action":"fail","Package":"p","Elapsed":1200.8}`))
	if err != nil || !failed {
		t.Fatal(failed, err)
	}
	const want = "panic: test timed out after 20m0s\n\trunning tests:\n\t\tTestHangs (20m0s)\nFAIL\tp\t1200.842s\n"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("it prints\n%s\nwant\n%s", out.String(), want)
	}
	if !strings.HasSuffix(out.String(), "these have not ended: TestHangs\n") {
		t.Errorf("it does not name the test that hangs at the end:\n%s", out.String())
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
