// Command test runs the tests of the repository, of all of its modules, and shows how far it is.
//
//	go run ./tools/test         the tests that docs/guarantees.md names, those of scale in part (-short): minutes
//	go run ./tools/test -all    every test, in full length, as .ci/run does
//
// It runs go test, which alone stays within one module and prints nothing while it compiles. packages.go finds the
// packages, progress.go prints, and promises.go sees that no promise is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

func main() {
	all := flag.Bool("all", false, "every test, in full length")
	flag.Parse()

	if err := run(context.Background(), ".", *all, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		os.Exit(1)
	}
}

// run tests the repository at root.
func run(ctx context.Context, root string, all bool, out io.Writer) error {
	promises, err := promisesOf(root)
	if err != nil {
		return err
	}
	wanted := promises.promised
	var args []string
	if all {
		wanted = func(string) bool { return true }
	} else {
		args = []string{"-short", "-run", promises.pattern()}
	}
	modules, err := find(ctx, root, wanted)
	if err != nil {
		return err
	}
	total := 0
	for _, m := range modules {
		total += len(m.packages)
	}
	p := newProgress(out, total)
	stop := p.every(10 * time.Second)
	err = testAll(ctx, root, modules, args, p)
	stop()
	if err != nil {
		return err
	}
	return errors.Join(p.end(), promises.check(p.tests, out))
}

// testAll tests the first module, and the others beside it, one after the other: they use what it has compiled.
func testAll(ctx context.Context, root string, modules []module, args []string, p *progress) error {
	if len(modules) == 0 {
		return nil
	}
	if err := compile(ctx, root, modules[0], p); err != nil {
		return err
	}
	var main error
	var waiting sync.WaitGroup
	waiting.Go(func() { main = test(ctx, root, modules[0], args, p) })
	var nested error
	for _, m := range modules[1:] {
		if nested = compile(ctx, root, m, p); nested == nil {
			nested = test(ctx, root, m, args, p)
		}
		if nested != nil {
			break
		}
	}
	waiting.Wait()
	return errors.Join(main, nested)
}

// test runs tests of a module, by arguments of go test. It returns no error for those that fail: these are counted.
func test(ctx context.Context, root string, m module, args []string, p *progress) error {
	// Tests wait for leases and timers most of the time, so that more packages than processors have their turn. The
	// linters vet.
	args = append([]string{"test", "-json", "-timeout=20m", "-vet=off", "-p=" + strconv.Itoa(max(3, runtime.NumCPU()))}, args...)
	if m.folder != "." {
		args = append(args, "-count=1") // go test does not see that the library beside the module has changed
	}
	cmd := exec.CommandContext(ctx, "go", append(args, m.packages...)...)
	cmd.Dir, cmd.Stderr = filepath.Join(root, m.folder), os.Stderr
	// The T-SQL server in the tests makes much garbage. There may be more of it before it is collected.
	cmd.Env = append([]string{"GOGC=400", "GOMEMLIMIT=3GiB"}, os.Environ()...)
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed, read := p.read(events)
	if read != nil {
		_ = cmd.Cancel() // it would wait for ever for somebody who reads
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 && failed {
		err = nil
	}
	return errors.Join(read, err)
}

// compile compiles the packages of a module without their tests, only to show how far it is: go test does not.
func compile(ctx context.Context, root string, m module, p *progress) error {
	if len(m.compiled) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-v"}, m.compiled...)...)
	cmd.Dir = filepath.Join(root, m.folder)
	// Without collections of garbage, large packages take a quarter less time. A compiler may use so much memory before
	// it collects.
	cmd.Env = append([]string{"GOGC=off", "GOMEMLIMIT=1GiB"}, os.Environ()...)
	names, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.compile(names)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go build of %s: %w", m.folder, err)
	}
	return nil
}
