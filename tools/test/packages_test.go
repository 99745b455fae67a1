package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is the root of the repository.
const repository = "../.."

// TestEveryTestRuns finds the folders with tests, each of which -all runs, and .ci/run runs -all.
func TestEveryTestRuns(t *testing.T) {
	t.Parallel()
	modules, err := find(t.Context(), repository, true)
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

// TestPromisesAreNotAdded: README's command runs every test that docs/guarantees.md names.
func TestPromisesAreNotAdded(t *testing.T) {
	t.Parallel()
	named, err := promisesOf(repository)
	if err != nil || len(named) == 0 {
		t.Fatalf("no promises: %v", err)
	}
	run := map[string]bool{}
	for folder, tests := range testFolders(t) {
		for _, test := range tests {
			run[test] = run[test] || !isAdded(folder)
		}
	}
	for _, name := range named {
		if test, _, _ := strings.Cut(name, "/"); !run[test] {
			t.Errorf("docs/guarantees.md names %s, and README's command does not run it", name)
		}
	}
}

// TestAddedHasReasons compares the list with the table of CONTRIBUTING.md, and with what is there.
func TestAddedHasReasons(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "\n| `.ci/run` adds | because |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, row := range regexp.MustCompile("(?m)^\\| tests of (`.*`) \\| \\S").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			told = append(told, name[1])
		}
	}
	slices.Sort(told)
	if !slices.Equal(told, added) {
		t.Errorf("CONTRIBUTING.md gives reasons for %q, and README's command leaves out %q", told, added)
	}
	folders := testFolders(t)
	for _, folder := range added {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(folders)), func(f string) bool { return f == folder || strings.HasPrefix(f, folder+"/") }) {
			t.Errorf("%s has no tests; take it from the list", folder)
		}
	}
}

// testFolders are the folders with tests, and the names of these.
func testFolders(t *testing.T) map[string][]string {
	t.Helper()
	folders := map[string][]string{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := fs.WalkDir(os.DirFS(repository), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		folder := path.Dir(name)
		folders[folder] = append(folders[folder], "")
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
