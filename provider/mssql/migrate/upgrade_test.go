package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheck walks through what Check tells apart, and what each says to do.
func TestCheck(t *testing.T) {
	t.Parallel()
	one, two := releaseOne.load(t), releaseTwo.load(t)
	modulesOnly := releaseTwo.with(tree{
		"schema/revision.txt": "revision: 3\noldest: 2\n", "procedures/more.sql": "CREATE OR ALTER PROCEDURE duroxide.more AS SELECT 1 AS a;",
	}).load(t)
	m := newMigration(t, one)
	expect := func(s *release, want error, advice string) {
		t.Helper()
		m.release = s
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
	expect(one, nil, "") // two serves it
	expect(modulesOnly, ErrOldSchema, "run `duroxide migrate up`")
	up(t, m)
	expect(two, nil, "")
	// To be served is not to know all that there is.
	if _, err := m.Drop(t.Context()); !errors.Is(err, ErrNewerSchema) {
		t.Errorf("error %v, want %v", err, ErrNewerSchema)
	}
	expect(one, ErrNewerSchema, "it serves programs from revision 2; upgrade duroxide-go")
	tooOld(t, m, one)
	m.release = modulesOnly // for the end of the test
}

// tooOld fails unless a release that the schema no longer serves is refused everything
// but to look.
func tooOld(t *testing.T, m *Migration, s *release) {
	t.Helper()
	old := &Migration{DB: m.DB, Schema: m.Schema, release: s}
	_, upErr := old.Up(t.Context())
	_, planErr := old.Plan(t.Context())
	_, verifyErr := old.Verify(t.Context())
	for _, err := range []error{old.Check(t.Context()), upErr, planErr, verifyErr} {
		if !errors.Is(err, ErrNewerSchema) {
			t.Errorf("error %v, want %v", err, ErrNewerSchema)
		}
	}
	status, err := old.Status(t.Context())
	must(t, err)
	if !status.Newer || status.OldestRevision <= status.LatestRevision || len(status.Pending) != 0 {
		t.Errorf("status %+v", status)
	}
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
	m.release = releaseThree.load(t)
	status, err = m.Status(t.Context())
	must(t, err)
	if !status.Exists || status.Version != 3 || status.Latest != 5 ||
		status.Revision != 1 || status.LatestRevision != 3 || status.OldestRevision != 1 {
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

// TestUpgradeKeepsTheOldReleaseRunning expands: a program of release one starts and works
// before, between and after the steps to release two, even if it migrates when it starts.
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
	m.release = releaseTwo.load(t)
	m.cut = func(step Step, at cutPoint) error {
		if at == cutAfterCommit {
			startsAnew(t, m, releaseOne.load(t), "after "+step.Name)
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
	startsAnew(t, m, releaseOne.load(t), "afterwards")
	clean(t, m) // release one has undone nothing

	// What release one has used goes with release three, whose first step says so.
	m.release = releaseThree.load(t)
	first := true
	m.cut = func(_ Step, at cutPoint) error {
		if at == cutAfterCommit && first {
			first = false
			tooOld(t, m, releaseOne.load(t))
			startsAnew(t, m, releaseTwo.load(t), "while release three begins")
		}
		return nil
	}
	up(t, m)
	m.cut = nil
	startsAnew(t, m, releaseTwo.load(t), "after release three")
	clean(t, m)
}

// startsAnew starts a program of an older release, without and with a migration of its
// own. The lock may be somebody else's meanwhile.
func startsAnew(t *testing.T, m *Migration, older *release, when string) {
	t.Helper()
	old := &Migration{DB: m.DB, Schema: m.Schema, release: older}
	if err := old.Check(t.Context()); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	plan, err := old.Up(t.Context())
	if err != nil || !plan.Newer || !plan.Empty() {
		t.Errorf("%s: plan %+v, error %v", when, plan, err)
	}
	if _, err := old.Verify(t.Context()); !errors.Is(err, ErrNewerSchema) {
		t.Errorf("%s: compared with another release: %v", when, err)
	}
}

// TestUpgradeFromEveryRelease migrates each released set of scripts to the present
// one. Releasing copies sql/schema and sql/procedures to testdata/released/<version>.
func TestUpgradeFromEveryRelease(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/released/*")
	must(t, err)
	if len(folders) == 0 {
		t.Skip("SKIPPED: nothing has been released yet: there is no testdata/released")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			released, err := loadRelease(os.DirFS(folder))
			must(t, err)
			follows(t, released, thisRelease(t))
			m := newMigration(t, released)
			up(t, m)
			m.release = thisRelease(t)
			up(t, m)
			clean(t, m)
			switch served := released.revision >= m.release.oldest; {
			case served && released.revision < m.release.revision:
				startsAnew(t, m, released, "after the upgrade")
			case !served:
				tooOld(t, m, released)
			}
		})
	}
}

// follows fails unless a set of scripts may come after a released one: history stays, a
// change has a higher revision, and a module that is gone was not needed by the last
// release that had it, so that only those before it are no longer served.
func follows(t *testing.T, released, now *release) {
	t.Helper()
	for _, problem := range breaks(released, now) {
		t.Error(problem)
	}
}

func breaks(released, now *release) []string {
	var problems []string
	for i, one := range released.numbered {
		if i >= len(now.numbered) || !bytes.Equal(one.checksum, now.numbered[i].checksum) {
			problems = append(problems, one.name+" was released and must not change")
		}
	}
	same := len(released.numbered) == len(now.numbered) && len(released.modules) == len(now.modules)
	for i := 0; same && i < len(now.modules); i++ {
		same = bytes.Equal(released.modules[i].checksum, now.modules[i].checksum)
	}
	if !same && now.revision <= released.revision {
		problems = append(problems, "scripts or modules have changed: raise the revision in "+revisionFile)
	}
	if now.oldest < released.oldest {
		problems = append(problems, "a revision that was no longer served cannot be served again: see oldest in "+revisionFile)
	}
	for _, one := range released.modules {
		if now.oldest < released.revision && !slices.ContainsFunc(now.modules, func(m module) bool { return m.name == one.name }) {
			problems = append(problems, fmt.Sprintf("%s is gone: raise oldest in %s to %d, or above it if programs of that revision call it",
				one.name, revisionFile, released.revision))
		}
	}
	return problems
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		released tree
		now      tree
		want     []string
	}{
		{"the same", releaseOne, releaseOne, nil},
		{"the next", releaseOne, releaseTwo, nil},
		{"the one after", releaseTwo, releaseThree, nil},
		{"two releases later", releaseOne, releaseThree, nil},
		{"changed history", releaseOne, releaseOne.with(tree{"schema/0003_role.sql": "SELECT 1;"}), []string{"schema/0003_role.sql was released and must not change"}},
		{"forgotten revision", releaseOne, releaseTwo.with(tree{"schema/revision.txt": "revision: 1\noldest: 1\n"}), []string{"scripts or modules have changed: raise the revision in schema/revision.txt"}},
		{"forgotten for a script", releaseOne, releaseOne.with(tree{"schema/0004_more.sql": "SELECT 1;"}), []string{"scripts or modules have changed: raise the revision in schema/revision.txt"}},
		{"lower oldest", releaseThree, releaseThree.with(tree{"schema/revision.txt": "revision: 3\noldest: 1\n"}), []string{"a revision that was no longer served cannot be served again: see oldest in schema/revision.txt"}},
		{"forgotten oldest", releaseTwo, releaseThree.with(tree{"schema/revision.txt": "revision: 3\noldest: 1\n"}), []string{"count_red_things is gone: raise oldest in schema/revision.txt to 2, or above it if programs of that revision call it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, breaks(c.released.load(t), c.now.load(t))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
