package archtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Package is what the rules need to know about one package: a node of the import graph.
type Package struct {
	ImportPath string
	Name       string   // of the package clause
	Doc        string   // the first sentence of the package comment
	GoFiles    []string // non-test files that this platform builds
	Imports    []string // import paths of the non-test files
	Standard   bool     // belongs to the standard library
}

// A Graph is a set of packages with everything they import, directly and indirectly.
type Graph struct {
	// Module is the path of the module whose packages the rules are about.
	Module string
	// Packages holds each package once, by import path.
	Packages map[string]Package
}

// Load asks the go command for the packages of the module rooted at root and all their dependencies.
func Load(ctx context.Context, root, module string) (*Graph, error) {
	if err := openSources(root); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-deps",
		"-json=ImportPath,Name,Doc,GoFiles,Imports,Standard", "./...")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	return decode(strings.NewReader(string(output)), module)
}

// decode reads the stream of objects that go list -json prints.
func decode(list io.Reader, module string) (*Graph, error) {
	graph := &Graph{Module: module, Packages: map[string]Package{}}
	for decoder := json.NewDecoder(list); ; {
		var p Package
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return graph, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		graph.Packages[p.ImportPath] = p
	}
}

// openSources opens every folder and Go file below root. The go command caches a test's result until a file that the
// test process itself opened changes; what go list reads on its behalf does not count. Without this, a forbidden
// import would pass on yesterday's result.
func openSources(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" && entry.Name() != "go.mod":
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return file.Close()
	})
}

// inModule reports whether the package belongs to the module under test.
func (g *Graph) inModule(path string) bool {
	return path == g.Module || strings.HasPrefix(path, g.Module+"/")
}

// local shortens the path of a package of the module to the form the rules use: "./provider".
func (g *Graph) local(path string) string {
	if rest, ok := strings.CutPrefix(path, g.Module); ok && g.inModule(path) {
		return "." + rest
	}
	return path
}
