package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFind reads the packages of a module, and takes neither tests nor functions of other files.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"a/a_test.go":    "package a\n\nimport \"testing\"\n\nfunc FuzzA(f *testing.F) {}\n\nfunc TestA(*testing.T) {}\n",
		"none/none.go":   "package none\n",
		"b/c/fuzzed.go":  "package c\n\nfunc FuzzNothing() {}\n",
		"b/c/c_test.go":  "package c_test\n\nimport \"testing\"\n\nfunc FuzzC(f *testing.F) {}\n",
		"b/plain.go":     "package b\n",
		"b/test_test.go": "package b\n\nimport \"testing\"\n\nfunc TestB(*testing.T) {}\n",
	})

	got, err := find(t.Context(), dir, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	want := []target{{"example.com/module/a", "FuzzA"}, {"example.com/module/b/c", "FuzzC"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, err := find(t.Context(), dir, []string{"./b/...", "./none"}); err != nil || !slices.Equal(got, want[1:]) {
		t.Errorf("of two packages: got %v, %v; want %v", got, err, want[1:])
	}
}

// TestRunFuzzes lets the real go command fuzz two targets: what neither finds fault with passes, and an input that
// one of them fails on is an error. The target does not add that input itself: it has to be found.
func TestRunFuzzes(t *testing.T) {
	t.Parallel()
	const source = `package a

import "testing"

func FuzzFine(f *testing.F) { f.Add("fine"); f.Fuzz(func(*testing.T, string) {}) }

func FuzzNext(f *testing.F) {
	f.Add("fine")
	f.Fuzz(func(t *testing.T, s string) {
		if s != "fine" && FAULT {
			t.Error("found")
		}
	})
}
`
	for fault, wantErr := range map[string]bool{"false": false, "true": true} {
		dir := module(t, map[string]string{"a_test.go": strings.Replace(source, "FAULT", fault, 1)})
		err := run(t.Context(), dir, 1000, "./...")
		if (err != nil) != wantErr {
			t.Errorf("fault %s: %v", fault, err)
		}
		if wantErr && !strings.Contains(err.Error(), "FuzzNext in example.com/module") {
			t.Errorf("the error does not name the target: %v", err)
		}
	}
}

// A module whose fuzz targets have all gone is a mistake to hear about, not a success.
func TestNoTargetIsAnError(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"main.go": "package main\n\nfunc main() {}\n"})
	if err := run(t.Context(), dir, 1, "./..."); err == nil {
		t.Error("no error")
	}
}

// To the go command, no inputs at all would mean to go on for ever.
func TestNoInputIsAnError(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), t.TempDir(), 0, "./..."); err == nil || !strings.Contains(err.Error(), "-inputs") {
		t.Errorf("got %v", err)
	}
}

// module writes the files of a module beside its go.mod, and returns its folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(path, content string) {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/module\n\ngo 1.26\n")
	for path, content := range files {
		write(path, content)
	}
	return dir
}
