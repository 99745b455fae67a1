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
	{"explorer", tests("./provider/mssql", func(*trial) string { return "^(TestExploreOperations|TestExploreWithoutHints)$" })},
	{"matrix", tests("./internal/testsupport/interleave", func(*trial) string { return "^TestAmended$" })},
	{"keys", tests("./provider/mssql", func(*trial) string { return "TouchFewKeys$" })},
	{"kit", tests("./provider/mssql", likely)},
}

// likely are the categories of the kit that are about a module. All of the kit takes a minute of processor time for each survivor.
func likely(t *trial) string {
	for _, l := range []struct{ modules, categories string }{
		{"delete|prune", "deletion|bulk_deletion|more_deletion|more_bulk|more_bulk_deletion|prune|more_prune"},
		{"value", "kv_store|more_kv"},
		{"session", "sessions|more_sessions|more_activities|cancellation"},
		{"work|tag", "more_activities|sessions|more_sessions|tag_filtering|more_tags|lock_expiration|cancellation|more_exact_times|queue_semantics|more_attempts|selection_by_code"},
		{"code|version", "selection_by_code|capability_filtering|more_filtering|more_fetching"},
		{"depths|count|stats|list", "management|more_management|more_stats|selection_by_code"},
	} {
		if regexp.MustCompile(l.modules).MatchString(t.module) {
			return "^TestConformance$/^(" + l.categories + ")$"
		}
	}
	return "^TestConformance$/^(atomicity|instance_creation|instance_locking|lock_expiration|multi_execution|queue_semantics|poison_message|" +
		"more_fetching|more_acking|more_attempts|more_exact_times|more_held_history|cancellation|capability_filtering|selection_by_code)$"
}

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
	err = l.build(ctx, l.generator, "build", "-o", l.generator, "./tools/sqlc-gen-tsql")
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

// testPackages are the packages whose tests are finders.
var testPackages = []string{"./provider/mssql", "./internal/testsupport/interleave"}

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

// ask goes from finder to finder, with all that none before has found.
func ask(ctx context.Context, l *lab, trials []*trial, o options, out io.Writer) error {
	book := &notebook{path: o.results}
	chosen, err := regexp.Compile(o.finders)
	if err != nil {
		return err
	}
	for _, f := range finders {
		if !chosen.MatchString(f.name) {
			continue
		}
		var (
			group    sync.WaitGroup
			slots    = make(chan struct{}, o.parallel)
			mu       sync.Mutex
			problems []error
		)
		for _, t := range trials {
			if t.finder != "" || t.has(f.name) || ctx.Err() != nil {
				continue
			}
			slots <- struct{}{}
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
		if err := errors.Join(append(problems, ctx.Err())...); err != nil {
			return err
		}
	}
	return nil
}

func (f finder) ask(ctx context.Context, l *lab, t *trial) (err error) {
	dir, err := os.MkdirTemp(l.dir, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
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

// tests is a finder that runs tests of a package on the mutated procedure. What fails does so twice, the second time by itself, and
// passes with the procedure as it is: so a busy machine finds nothing, nor a defect that is there anyway.
func tests(pkg string, patternOf func(t *trial) string) func(ctx context.Context, l *lab, t *trial, dir string) (string, error) {
	return func(ctx context.Context, l *lab, t *trial, dir string) (string, error) {
		file, pattern := filepath.Join(dir, "amend.sql"), patternOf(t)
		sound := filepath.Join(dir, "sound.sql")
		if err := errors.Join(os.WriteFile(file, []byte(t.text), 0o600), os.WriteFile(sound, []byte(l.texts[t.path]), 0o600)); err != nil {
			return "", err
		}
		var skip []string
		for range 5 {
			name, said, err := l.test(ctx, pkg, file, pattern, skip)
			if name == "" || err != nil {
				return "", err
			}
			again, _, err := l.test(ctx, pkg, file, exactly(name), nil)
			if err != nil {
				return "", err
			}
			anyway := ""
			if again != "" {
				anyway, _, err = l.test(ctx, pkg, sound, exactly(name), nil)
			}
			if again != "" && anyway == "" || err != nil {
				return said, err
			}
			skip = append(skip, exactly(name))
		}
		return "", nil
	}
}

// exactly is the pattern of one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}

// patience bounds a run of tests. One that takes longer has been stopped by the mutant.
const patience = 30 * time.Minute

var (
	failed   = regexp.MustCompile(`^\s*--- FAIL: (\S+) `)
	reported = regexp.MustCompile(`^\s+\w+\.go:\d+: (.*)`)
)

// test runs tests until the first one fails, and returns its name and the first that any said.
func (l *lab) test(ctx context.Context, pkg, file, pattern string, skip []string) (name, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := []string{"-test.v=test2json", "-test.timeout=0", "-test.run", pattern} // a subtest tells at once that it has failed, after a ^V
	if len(skip) > 0 {
		args = append(args, "-test.skip", strings.Join(skip, "|"))
	}
	cmd := exec.CommandContext(ctx, l.binaries[pkg], args...)
	cmd.Dir = filepath.Join(l.root, pkg)
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
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return strings.Trim(pattern, "^$"), "the tests come to no end", nil
	case err != nil && strings.Contains(tail, "panic: "):
		return strings.Trim(pattern, "^$"), "the tests panic", nil
	case err != nil:
		return "", "", fmt.Errorf("%w: %s", err, tail)
	}
	return "", "", nil
}
