package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestKnowsNothingOfDuroxide: the generator serves anybody's procedures. Nothing in it, in the front end that it stands on,
// and in what it writes may know the library that it is developed beside, except for the path of the module and the
// variable that names the test server.
func TestKnowsNothingOfDuroxide(t *testing.T) {
	t.Parallel()
	innocent := strings.NewReplacer(
		"github.com/duroxide/duroxide-go", "",
		"DUROXIDE_TEST_MSSQL", "",
		"TestKnowsNothingOfDuroxide", "",
		"durabletask-mssql", "", // a project whose incidents some rules cite
	)
	// The library's name and the words of durable execution that no generator needs.
	foreign := regexp.MustCompile(`(?i)duroxide|durable|orchestrat|work_?item|continue.?as.?new`)
	visit := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == "stranger_test.go" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(innocent.Replace(string(content)), "\n") {
			if found := foreign.FindString(line); found != "" {
				t.Errorf("%s:%d: %q: %s", path, i+1, found, strings.TrimSpace(line))
			}
		}
		return nil
	}
	for _, folder := range []string{".", "../../internal/tsql", "../acceptance/sqlc-gen-tsql"} {
		if err := filepath.WalkDir(folder, visit); err != nil {
			t.Fatal(err)
		}
	}
}
