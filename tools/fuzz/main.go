// Command fuzz finds every fuzz target of the module in a folder and tries a number of inputs on each, because the go
// command fuzzes one target of one package at a time.
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
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	dir := flag.String("dir", ".", "`folder` of the module to fuzz")
	inputs := flag.Uint("inputs", 100_000, "`number` of inputs to try on each target, at least 1")
	flag.Parse()

	if err := run(context.Background(), *dir, *inputs); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, inputs uint) error {
	if inputs == 0 {
		// The go command would take it for no limit.
		return errors.New("no input to try: -inputs must be at least 1")
	}
	targets, err := find(ctx, dir)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("no fuzz target found in " + dir)
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

// find asks the test binaries of the module in dir for their fuzz targets.
func find(ctx context.Context, dir string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-list=^Fuzz", "./...")
	cmd.Dir = dir
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("listing fuzz targets: %w\n%s", err, stdout.Bytes())
	}
	return parse(&stdout)
}

// parse reads the events of go test -json -list and keeps the names it lists, in their order.
func parse(events io.Reader) ([]target, error) {
	var targets []target
	for decoder := json.NewDecoder(events); ; {
		var event struct{ Action, Package, Output string }
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return targets, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the list of fuzz targets: %w", err)
		}
		// Besides names, the output holds one summary line for each package ("ok", "?").
		name := strings.TrimSpace(event.Output)
		if event.Action == "output" && strings.HasPrefix(name, "Fuzz") {
			targets = append(targets, target{pkg: event.Package, name: name})
		}
	}
}
