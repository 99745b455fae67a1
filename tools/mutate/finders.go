package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// amendVariable names a file of T-SQL that the tests execute in every schema they make; see mssqltest.AmendVariable.
const amendVariable = "DUROXIDE_TEST_MSSQL_AMEND"

// finder is something that may notice a mutant.
type finder struct {
	name string
	// find returns what it has noticed, empty if nothing.
	find func(ctx context.Context, l *lab, t *trial, dir string) (string, error)
}

// finders are all of them, the cheapest first.
var finders = []finder{
	{"rules", rules},
	{"effects", tests("./provider/mssql/internal/interleave", alone)},
	{"explorer", tests("./provider/mssql", explored)},
	{"matrix", tests("./provider/mssql/internal/interleave", "^TestAmended$", alone)},
	{"linear", tests("./provider/mssql/internal/interleave", "^TestExploredSchedulesAreLinearizable$")},
	{"keys", tests("./provider/mssql", touched)},
	{"kit", tests("./provider/mssql", kit)},
	{"store", tests("./provider/mssql", ".", explored, touched, kit)}, // the other tests of the store
}

// The tests that are finders by themselves.
const (
	alone    = "^TestAmended$/^alone$"
	explored = "^TestExplore"
	touched  = "TouchFewKeys$"
	kit      = "^TestConformance$"
)

// lab has what the finders need.
type lab struct {
	root, dir string
	texts     texts
	generator string
	binaries  map[string]string // of tests, by package
}

// newLab builds the generator, and the tests of packages. What is in the folder bin is used as it is.
func newLab(ctx context.Context, root, bin string, all texts, packages []string) (*lab, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "duroxide-mutants")
	if err != nil {
		return nil, err
	}
	if bin == "" {
		bin = dir
	}
	l := &lab{root: root, dir: dir, texts: all, generator: filepath.Join(bin, "sqlc-gen-tsql"), binaries: map[string]string{}}
	err = l.build(ctx, l.generator, "build", "-o", l.generator, "./tsql/sqlc-gen-tsql")
	if err == nil {
		err = l.sound(ctx)
	}
	for _, pkg := range packages {
		l.binaries[pkg] = filepath.Join(bin, filepath.Base(pkg)+".test")
		if err == nil {
			err = l.build(ctx, l.binaries[pkg], "test", "-c", "-o", l.binaries[pkg], pkg)
		}
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// sound fails if the rules refuse the procedures as they are: they would seem to find every mutant.
func (l *lab) sound(ctx context.Context) error {
	said, err := l.refused(ctx, l.root)
	if err == nil && said != "" {
		err = fmt.Errorf("the rules refuse the procedures as they are: %s", said)
	}
	return err
}

// testPackages are the packages whose tests are finders.
var testPackages = []string{"./provider/mssql", "./provider/mssql/internal/interleave"}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// build runs the go command, unless what it would make is there.
func (l *lab) build(ctx context.Context, binary string, args ...string) error {
	if _, err := os.Stat(binary); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = l.root
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// ask goes from finder to finder, with all that none before has found. What has found a mutant in an older text is
// asked first.
func ask(ctx context.Context, l *lab, trials []*trial, o options, out io.Writer) error {
	chosen, err := regexp.Compile(o.finders)
	if err != nil {
		return err
	}
	for _, again := range []bool{true, false} {
		for _, f := range finders {
			if !chosen.MatchString(f.name) {
				continue
			}
			open := slices.DeleteFunc(slices.Clone(trials), func(t *trial) bool {
				return t.finder != "" || t.has(f.name) || again && t.before.Finder != f.name
			})
			if err := f.askAll(ctx, l, open, o, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// askAll asks a finder about many mutants, a few at once.
func (f finder) askAll(ctx context.Context, l *lab, trials []*trial, o options, out io.Writer) error {
	var (
		group    sync.WaitGroup
		book     = &notebook{path: o.results}
		slots    = make(chan struct{}, o.parallel)
		mu       sync.Mutex
		problems []error
	)
	for _, t := range trials {
		if slots <- struct{}{}; ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			err := f.ask(ctx, l, t)
			if err == nil {
				err = book.note(t)
			}
			mu.Lock()
			defer mu.Unlock()
			problems = append(problems, err)
			fmt.Fprintf(out, "%s\t%t\t%s\t%.200s\n", f.name, t.finder != "", t.name, strings.ReplaceAll(t.finding, "\n", " "))
		})
	}
	group.Wait()
	return errors.Join(append(problems, ctx.Err())...)
}

func (f finder) ask(ctx context.Context, l *lab, t *trial) (err error) {
	dir, err := os.MkdirTemp(l.dir, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if t.before.Finder != f.name {
		t.before.Finding = ""
	}
	finding, err := f.find(ctx, l, t, dir)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	if finding == "" {
		t.asked = append(t.asked, f.name)
		return nil
	}
	t.finder, t.finding = f.name, finding
	return nil
}

// rules applies the lint rules, and compares the generated code.
func rules(ctx context.Context, l *lab, t *trial, dir string) (string, error) {
	if err := os.CopyFS(filepath.Join(dir, "sql"), os.DirFS(filepath.Join(l.root, "sql"))); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "sql", filepath.FromSlash(t.path)), []byte(t.text), 0o600); err != nil {
		return "", err
	}
	config, err := os.ReadFile(filepath.Join(l.root, "sqlc.yaml"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "sqlc.yaml"), config, 0o600); err != nil {
		return "", err
	}
	if err := os.Symlink(filepath.Join(l.root, "gen"), filepath.Join(dir, "gen")); err != nil {
		return "", err
	}
	return l.refused(ctx, dir)
}

// refused returns what the rules or the generator say of the procedures in a folder, empty for nothing.
func (l *lab) refused(ctx context.Context, dir string) (string, error) {
	for _, args := range [][]string{{"vet", "-config", "sqlc.yaml"}, {"generate", "-verify", "-config", "sqlc.yaml"}} {
		cmd := exec.CommandContext(ctx, l.generator, args...)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
			first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
			return first, nil
		}
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, said)
		}
	}
	return "", nil
}

// tests is a finder that runs tests of a package on the mutated procedure, but for those that others are. At first it
// asks the test that has found the same mutant in an older text of the procedure.
func tests(pkg, pattern string, others ...string) func(ctx context.Context, l *lab, t *trial, dir string) (string, error) {
	return func(ctx context.Context, l *lab, t *trial, dir string) (string, error) {
		r := testRun{lab: l, pkg: pkg, mutated: filepath.Join(dir, "amend.sql"), sound: filepath.Join(dir, "sound.sql")}
		if err := errors.Join(os.WriteFile(r.mutated, []byte(t.text), 0o600), os.WriteFile(r.sound, []byte(l.texts[t.path]), 0o600)); err != nil {
			return "", err
		}
		if name, _, is := strings.Cut(t.before.Finding, ": "); is && strings.HasPrefix(name, "Test") {
			if said, err := r.find(ctx, exactly(name), others); said != "" || err != nil {
				return said, err
			}
		}
		return r.find(ctx, pattern, others)
	}
}

// testRun is of the tests of a package, on a mutated procedure or on the sound one.
type testRun struct {
	lab                 *lab
	pkg, mutated, sound string
}

// find returns what a test says that fails because of the mutant: it does so twice, the second time by itself, and
// passes with the procedure as it is. So a busy machine finds nothing, nor a defect that is there anyway.
func (r *testRun) find(ctx context.Context, pattern string, skip []string) (string, error) {
	for range 5 {
		name, _, err := r.test(ctx, r.mutated, pattern, skip)
		if name == "" || err != nil {
			return "", err
		}
		again, said, err := r.test(ctx, r.mutated, exactly(name), nil)
		if err != nil {
			return "", err
		}
		if again != "" {
			anyway, _, err := r.test(ctx, r.sound, exactly(name), nil)
			if anyway == "" || err != nil {
				return said, err
			}
		}
		skip = append(skip, exactly(name))
	}
	return "", nil
}

// exactly is the pattern of one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}

// patience bounds a run of tests. That it takes longer is nothing that a test has found.
const patience = 10 * time.Minute

var (
	failed   = regexp.MustCompile(`^\s*--- FAIL: (\S+) `)
	reported = regexp.MustCompile(`^\s+\w+\.go:\d+: (.*)`)
)

// test runs tests until the first one fails, and returns its name and the first that any said.
func (r *testRun) test(ctx context.Context, file, pattern string, skip []string) (name, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := []string{"-test.v=test2json", "-test.timeout=0", "-test.run", pattern} // a subtest tells at once that it has failed, after a ^V
	if len(skip) > 0 {
		args = append(args, "-test.skip", strings.Join(skip, "|"))
	}
	cmd := exec.CommandContext(ctx, r.lab.binaries[r.pkg], args...)
	cmd.Dir = filepath.Join(r.lab.root, r.pkg)
	cmd.Env = append(os.Environ(), amendVariable+"="+file)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	tail := ""
	for lines := bufio.NewScanner(stdout); lines.Scan() && name == ""; {
		line := strings.TrimPrefix(lines.Text(), "\x16")
		tail = (tail + line + "\n")[max(0, len(tail)+len(line)+1-4000):]
		if m := reported.FindStringSubmatch(line); m != nil && said == "" {
			said = m[1]
		}
		if m := failed.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
	}
	if name != "" {
		cancel() // the others need not end
	}
	switch err := cmd.Wait(); {
	case name != "":
		return name, name + ": " + said, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", "", nil
	case err != nil && strings.Contains(tail, "panic: "):
		return strings.Trim(pattern, "^$"), "the tests panic", nil
	case err != nil:
		return "", "", fmt.Errorf("%w: %s", err, tail)
	}
	return "", "", nil
}
