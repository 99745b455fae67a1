package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseKeepsOnlyNames(t *testing.T) {
	t.Parallel()
	const events = `{"Action":"start","Package":"example.com/a"}
{"Action":"output","Package":"example.com/a","Output":"FuzzDecode\n"}
{"Action":"output","Package":"example.com/a","Output":"FuzzEncode\n"}
{"Action":"output","Package":"example.com/a","Output":"ok  \texample.com/a\t0.002s\n"}
{"Action":"pass","Package":"example.com/a","Elapsed":0.002}
{"Action":"output","Package":"example.com/b","Output":"?   \texample.com/b\t[no test files]\n"}
{"Action":"skip","Package":"example.com/b","Elapsed":0}
`
	got, err := parse(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	want := []target{{"example.com/a", "FuzzDecode"}, {"example.com/a", "FuzzEncode"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseRefusesWhatIsNotAnEvent(t *testing.T) {
	t.Parallel()
	if got, err := parse(strings.NewReader("panic: no JSON\n")); err == nil {
		t.Errorf("got %v and no error", got)
	}
}

// TestFindAsksTheGoCommand runs the real go command on a module with two packages, so that a change in its events
// is noticed.
func TestFindAsksTheGoCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, content := range map[string]string{
		"go.mod":         "module example.com/fuzzed\n\ngo 1.26\n",
		"a/a_test.go":    "package a\n\nimport \"testing\"\n\nfunc FuzzA(f *testing.F) {}\n\nfunc TestA(*testing.T) {}\n",
		"none/none.go":   "package none\n",
		"b/c/fuzzed.go":  "package c\n",
		"b/c/c_test.go":  "package c_test\n\nimport \"testing\"\n\nfunc FuzzC(f *testing.F) {}\n",
		"b/plain.go":     "package b\n",
		"b/test_test.go": "package b\n\nimport \"testing\"\n\nfunc TestB(*testing.T) {}\n",
	} {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	got, err := find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []target{{"example.com/fuzzed/a", "FuzzA"}, {"example.com/fuzzed/b/c", "FuzzC"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A module whose fuzz targets have all gone is a mistake to hear about, not a success.
func TestNoTargetIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, content := range map[string]string{
		"go.mod":  "module example.com/plain\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), dir, time.Second); err == nil {
		t.Error("no error")
	}
}
