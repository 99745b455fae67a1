package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// added are the folders whose tests only -all runs, since they judge no promise to users of the library, and
// docs/guarantees.md names no test in them. CONTRIBUTING.md lists them with the reasons.
var added = []string{
	"cmd/duroxide/internal/rig",
	"duroxidevet/cmd",
	"duroxidevet/golangci",
	"examples/telemetry",
	"internal/tsql",
	"provider/mssql/azuread",
	"provider/providertest",
	"tools/acceptance/secondopinion",
	"tools/acceptance/sqlc-gen-tsql",
	"tools/fuzz",
	"tools/generate",
	"tools/internal",
	"tools/mutate",
	"tools/sqlc-gen-tsql",
	"tools/sqlserver",
	"tools/test",
	"tsqltest/calibration",
	"tsqltest/internal",
}

// longest are the packages whose tests take longest. They begin first, so that none is alone at the end.
var longest = []string{"provider/mssql", "provider/sqlite", "worker", "internal/testsupport/interleave"}

// A module is a folder with a go.mod, and those of its packages whose tests are run.
type module struct {
	folder   string   // below the root
	packages []string // as go test takes them, in the folder
	compiled []string // those of them that have more than tests
}

// find lists the test packages of all modules, the main one first.
func find(ctx context.Context, root string, all bool) ([]module, error) {
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
		if err := modules[i].list(ctx, root, all); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(modules, func(m module) bool { return len(m.packages) == 0 }), nil
}

// list finds the packages of a module.
func (m *module) list(ctx context.Context, root string, all bool) error {
	const form = "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}\t{{len .GoFiles}}{{end}}"
	cmd := exec.CommandContext(ctx, "go", "list", "-f", form, "./...")
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
	for line := range strings.Lines(string(output)) {
		dir, files, _ := strings.Cut(strings.TrimSpace(line), "\t")
		below, err := filepath.Rel(base, dir)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if !all && isAdded(path.Join(m.folder, below)) {
			continue
		}
		m.packages = append(m.packages, "./"+below)
		if files != "0" {
			m.compiled = append(m.compiled, "./"+below)
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

// isAdded reports whether only -all runs the tests in a folder.
func isAdded(folder string) bool {
	return slices.ContainsFunc(added, func(a string) bool { return folder == a || strings.HasPrefix(folder, a+"/") })
}
