package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository is the root of the repository.
const repository = "../.."

// TestEveryTestRuns finds the folders with tests, each of which -all runs, and .ci/run runs -all.
func TestEveryTestRuns(t *testing.T) {
	t.Parallel()
	modules, err := find(t.Context(), repository, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var run []string
	for _, m := range modules {
		for _, pkg := range m.packages {
			run = append(run, path.Join(m.folder, pkg))
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(testFolders(t))) {
		if !slices.Contains(run, folder) {
			t.Errorf("no command runs the tests in %s", folder)
		}
	}
	if !strings.Contains(read(t, ".ci/run"), "go run ./tools/test -all\n") {
		t.Error(".ci/run does not run go run ./tools/test -all")
	}
}

// TestEveryPromiseRuns: README's command runs every test that docs/guarantees.md names, and only packages that have
// one.
func TestEveryPromiseRuns(t *testing.T) {
	t.Parallel()
	named, err := promisesOf(repository)
	if err != nil || len(named) == 0 {
		t.Fatalf("no promises: %v", err)
	}
	modules, err := find(t.Context(), repository, named.promised)
	if err != nil {
		t.Fatal(err)
	}
	folders := testFolders(t)
	run := map[string]bool{}
	for _, m := range modules {
		for _, pkg := range m.packages {
			tests := folders[path.Join(m.folder, pkg)]
			if !slices.ContainsFunc(tests, named.promised) {
				t.Errorf("%s in %s has no test that docs/guarantees.md names", pkg, m.folder)
			}
			for _, test := range tests {
				run[test] = run[test] || named.promised(test)
			}
		}
	}
	for _, name := range named {
		if test, _, _ := strings.Cut(name, "/"); !run[test] {
			t.Errorf("docs/guarantees.md names %s, and README's command does not run it", name)
		}
	}
}

// testFolders are the folders with tests, examples or fuzzers, and the names of the tests.
func testFolders(t *testing.T) map[string][]string {
	t.Helper()
	folders := map[string][]string{}
	err := fs.WalkDir(os.DirFS(repository), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		folder := path.Dir(name)
		for _, match := range declared.FindAllStringSubmatch(read(t, name), -1) {
			folders[folder] = append(folders[folder], match[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
