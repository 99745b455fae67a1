// Command fuzz finds every fuzz target of packages, by default all of the module in the current folder, and tries a
// number of inputs on each, because the go command fuzzes one target of one package at a time.
//
//	fuzz [-inputs number] [packages]
//
// It counts inputs and not seconds, since the go command up to Go 1.26 now and then calls it a failure ("context
// deadline exceeded") when time is up while its workers are busy: https://go.dev/issue/75804.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	inputs := flag.Uint("inputs", 100_000, "`number` of inputs to try on each target, at least 1")
	flag.Parse()

	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	if err := run(context.Background(), ".", *inputs, packages...); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, inputs uint, packages ...string) error {
	if inputs == 0 {
		// The go command would take it for no limit.
		return errors.New("no input to try: -inputs must be at least 1")
	}
	targets, err := find(ctx, dir, packages)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz target found in %s", strings.Join(packages, " "))
	}
	for _, target := range targets {
		fmt.Printf("--- %s %s with %d inputs\n", target.pkg, target.name, inputs)
		if err := target.fuzz(ctx, dir, inputs); err != nil {
			return fmt.Errorf("%s in %s: %w", target.name, target.pkg, err)
		}
	}
	return nil
}

// A target is one fuzz function.
type target struct {
	pkg  string
	name string
}

// fuzz runs the target with its output passed through, so that a failing input is shown as it is found.
func (t target) fuzz(ctx context.Context, dir string, inputs uint) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", fmt.Sprintf("-fuzztime=%dx", inputs),
		"-fuzzminimizetime=100x", t.pkg) // what is interesting is not kept, so it need not be short
	cmd.Dir = dir
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// find reads the test files of packages, as seen from dir, for fuzz targets. It does not ask the test binaries, which
// would all have to be linked.
func find(ctx context.Context, dir string, packages []string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, packages...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	var targets []target
	for decoder := json.NewDecoder(bytes.NewReader(list)); ; {
		var pkg struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return targets, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the list of packages: %w", err)
		}
		for _, file := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
			names, err := declared(filepath.Join(pkg.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				targets = append(targets, target{pkg: pkg.ImportPath, name: name})
			}
		}
	}
}

// declared returns the names of the fuzz targets of a test file.
func declared(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}
