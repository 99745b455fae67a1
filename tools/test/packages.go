package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// longest are the packages whose tests take longest. They begin first, so that none is alone at the end.
var longest = []string{"provider/mssql", "provider/sqlite", "worker", "provider/mssql/internal/interleave"}

// A module is a folder with a go.mod, and those of its packages whose tests are run.
type module struct {
	folder   string   // below the root
	packages []string // as go test takes them, in the folder
	compiled []string // those of them that have more than tests
}

// find lists the modules with tests that are wanted, the main one first.
func find(ctx context.Context, root string, wanted func(test string) bool) ([]module, error) {
	var modules []module
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			modules = append(modules, module{folder: path.Dir(name)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	main := slices.IndexFunc(modules, func(m module) bool { return m.folder == "." })
	modules[0], modules[main] = modules[main], modules[0] // the others use what it has compiled
	for i := range modules {
		if err := modules[i].list(ctx, root, wanted); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(modules, func(m module) bool { return len(m.packages) == 0 }), nil
}

// A listed package is what go list says of it.
type listed struct {
	Dir                                string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// list finds the packages of a module that have a test that is wanted.
func (m *module) list(ctx context.Context, root string, wanted func(test string) bool) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = filepath.Join(root, m.folder)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing the packages of %s: %w\n%s", cmd.Dir, err, &problems)
	}
	base, err := filepath.Abs(cmd.Dir)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var pkg listed
		if err := decoder.Decode(&pkg); err != nil {
			return fmt.Errorf("reading what go list says of %s: %w", cmd.Dir, err)
		}
		tests, err := pkg.tests()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(tests, wanted) {
			continue
		}
		below, err := filepath.Rel(base, pkg.Dir)
		if err != nil {
			return err
		}
		name := "./" + filepath.ToSlash(below)
		m.packages = append(m.packages, name)
		if len(pkg.GoFiles) > 0 {
			m.compiled = append(m.compiled, name)
		}
	}
	late := len(longest)
	rank := func(pkg string) int {
		if at := slices.Index(longest, path.Join(m.folder, pkg)); at >= 0 {
			return at
		}
		return late
	}
	slices.SortStableFunc(m.packages, func(a, b string) int { return rank(a) - rank(b) })
	return nil
}

var declared = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// tests are the names of a package's tests, examples and fuzzers among them.
func (pkg listed) tests() ([]string, error) {
	var names []string
	for _, file := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(pkg.Dir, file))
		if err != nil {
			return nil, err
		}
		for _, match := range declared.FindAllSubmatch(text, -1) {
			names = append(names, string(match[1]))
		}
	}
	return names, nil
}
