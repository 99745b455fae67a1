package migrate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheck walks through what Check tells apart, and what each says to do.
func TestCheck(t *testing.T) {
	t.Parallel()
	one, two := releaseOne.load(t), releaseTwo.load(t)
	modulesOnly := releaseTwo.with(tree{"schema/revision.txt": "3\n", "procedures/more.sql": "CREATE OR ALTER PROCEDURE duroxide.more AS SELECT 1 AS a;"}).load(t)
	m := newMigration(t, one)
	expect := func(s *Scripts, want error, advice string) {
		t.Helper()
		m.Scripts = s
		err := m.Check(t.Context())
		if !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), advice) {
			t.Errorf("error %v, want %v with %q", err, want, advice)
		}
	}
	expect(one, ErrMissingSchema, "run `duroxide migrate up`")
	up(t, m)
	expect(one, nil, "")
	expect(two, ErrOldSchema, "schema/0004_sizes.sql has not been applied")
	up(t, m)
	expect(two, nil, "")
	expect(one, ErrNewerSchema, "upgrade duroxide-go")
	expect(modulesOnly, ErrOldSchema, "run `duroxide migrate up`")
	up(t, m)
	expect(two, ErrNewerSchema, "upgrade duroxide-go")
	m.Scripts = two
	_, upErr := m.Up(t.Context())
	_, planErr := m.Plan(t.Context())
	_, verifyErr := m.Verify(t.Context())
	for _, err := range []error{upErr, planErr, verifyErr, m.Drop(t.Context())} {
		if !errors.Is(err, ErrNewerSchema) {
			t.Errorf("error %v, want %v", err, ErrNewerSchema)
		}
	}
	status, err := m.Status(t.Context())
	must(t, err)
	if !status.Newer || status.Revision != 3 || len(status.Pending) != 0 {
		t.Errorf("status %+v", status)
	}
	m.Scripts = modulesOnly // for the end of the test
}

func TestStatus(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	status, err := m.Status(t.Context())
	must(t, err)
	if status.Exists || status.Version != 0 || len(status.Pending) == 0 {
		t.Errorf("before: %+v", status)
	}
	if _, err := m.Verify(t.Context()); !errors.Is(err, ErrMissingSchema) {
		t.Errorf("error %v, want %v", err, ErrMissingSchema)
	}
	up(t, m)
	m.Scripts = releaseTwo.load(t)
	status, err = m.Status(t.Context())
	must(t, err)
	if !status.Exists || status.Version != 3 || status.Latest != 5 || status.Revision != 1 || status.LatestRevision != 2 {
		t.Errorf("after: %+v", status)
	}
	kinds := make([]string, 0, len(status.Problems))
	for _, problem := range status.Problems {
		kinds = append(kinds, string(problem.Kind)+" "+problem.Object)
	}
	want := []string{
		"missing_script schema/0004_sizes.sql", "missing_script schema/0005_tidy.sql",
		"old_module things_of", "old_module add_thing", "extra_module count_red_things",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestUpgradeKeepsTheOldReleaseRunning expands: what release one calls works before,
// between and after the steps to release two.
func TestUpgradeKeepsTheOldReleaseRunning(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	up(t, m)
	calls := 0
	call := func() {
		calls++
		if _, err := m.DB.ExecContext(t.Context(), Quote(m.Schema)+".add_thing", calls, "red"); err != nil {
			t.Errorf("call %d of release one: %v", calls, err)
		}
	}
	call()
	m.Scripts = releaseTwo.load(t)
	m.cut = func(_ Step, at cutPoint) error {
		if at == cutAfterCommit {
			call()
		}
		return nil
	}
	steps := up(t, m)
	m.cut = nil
	clean(t, m)
	if calls != len(steps)+1 {
		t.Errorf("%d calls during %d steps", calls, len(steps))
	}
	if n := number(t, m, "SELECT COUNT(*) FROM duroxide.red_things"); n != calls {
		t.Errorf("%d things after %d calls", n, calls)
	}
	if n := number(t, m, "SELECT COUNT(*) FROM duroxide.things WHERE size = 7"); n == 0 || n == calls {
		t.Errorf("%d of %d calls met release two's procedure", n, calls)
	}
}

// TestUpgradeFromEveryRelease migrates each released set of scripts to the present
// one. Releasing copies sql/schema and sql/procedures to testdata/released/<version>.
func TestUpgradeFromEveryRelease(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/released/*")
	must(t, err)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			released, err := Load(os.DirFS(folder))
			must(t, err)
			follows(t, released, present(t))
			m := newMigration(t, released)
			up(t, m)
			m.Scripts = present(t)
			up(t, m)
			clean(t, m)
		})
	}
}

// follows fails unless a set of scripts may come after a released one: history stays,
// and other modules have a higher revision.
func follows(t *testing.T, released, now *Scripts) {
	t.Helper()
	for _, problem := range breaks(released, now) {
		t.Error(problem)
	}
}

func breaks(released, now *Scripts) []string {
	var problems []string
	for i, one := range released.numbered {
		if i >= len(now.numbered) || !bytes.Equal(one.checksum, now.numbered[i].checksum) {
			problems = append(problems, one.name+" was released and must not change")
		}
	}
	same := len(released.modules) == len(now.modules)
	for i := 0; same && i < len(now.modules); i++ {
		same = bytes.Equal(released.modules[i].checksum, now.modules[i].checksum)
	}
	if !same && now.revision <= released.revision {
		problems = append(problems, "modules have changed: raise the number in "+revisionFile)
	}
	return problems
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		now  tree
		want []string
	}{
		{"the same", releaseOne, nil},
		{"the next", releaseTwo, nil},
		{"changed history", releaseOne.with(tree{"schema/0003_role.sql": "SELECT 1;"}), []string{"schema/0003_role.sql was released and must not change"}},
		{"forgotten revision", releaseTwo.with(tree{"schema/revision.txt": "1\n"}), []string{"modules have changed: raise the number in schema/revision.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, breaks(releaseOne.load(t), c.now.load(t))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
