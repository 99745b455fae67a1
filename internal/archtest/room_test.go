package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTSQLIsARoomOfItsOwn reads the files of tsql/, those of tests and of other systems as well: none imports anything
// of this module that is outside. The table sees only what a build on this system has.
func TestTSQLIsARoomOfItsOwn(t *testing.T) {
	t.Parallel()
	files := 0
	err := fs.WalkDir(os.DirFS(root), "tsql", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if strings.HasPrefix(name, module+"/") && !strings.HasPrefix(name, module+"/tsql/") {
				t.Errorf("%s imports %s, which is outside of tsql/", path, name)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatal(files, err)
	}
}

// TestTSQLKnowsNothingOfDuroxide: the toolkit serves anybody's procedures. Nothing in it, and in what it writes, may
// know the library that it is developed beside, except for the path of the module and the variable that names the test
// server.
func TestTSQLKnowsNothingOfDuroxide(t *testing.T) {
	t.Parallel()
	innocent := strings.NewReplacer(
		"github.com/duroxide/duroxide-go", "",
		"DUROXIDE_TEST_MSSQL", "",
		"duroxide-go", "", // what a clone is called
		"durabletask-mssql", "", // a project whose incidents some rules cite
	)
	// The library's name and the words of durable execution that nobody's T-SQL needs.
	foreign := regexp.MustCompile(`(?i)duroxide|durable|orchestrat|work_?item|continue.?as.?new`)
	for _, folder := range []string{"tsql", "tools/acceptance/sqlc-gen-tsql"} {
		err := fs.WalkDir(os.DirFS(root), folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				return err
			}
			for i, line := range strings.Split(innocent.Replace(string(content)), "\n") {
				if found := foreign.FindString(line); found != "" {
					t.Errorf("%s:%d: %q: %s", path, i+1, found, strings.TrimSpace(line))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
