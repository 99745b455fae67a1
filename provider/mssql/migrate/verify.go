package migrate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// ProblemKind is a way in which a schema differs from the scripts.
type ProblemKind string

const (
	// ProblemMissingScript is a numbered script that was not applied.
	ProblemMissingScript ProblemKind = "missing_script"
	// ProblemChangedScript is one that was applied with another text.
	ProblemChangedScript ProblemKind = "changed_script"
	// ProblemMissingModule is a module that is not on the server.
	ProblemMissingModule ProblemKind = "missing_module"
	// ProblemOldModule is one with the text of another release.
	ProblemOldModule ProblemKind = "old_module"
	// ProblemEditedModule is one that was changed on the server.
	ProblemEditedModule ProblemKind = "edited_module"
	// ProblemExtraModule is one that these scripts do not have.
	ProblemExtraModule ProblemKind = "extra_module"
	// ProblemSetOptions is a module created with the wrong SET options.
	ProblemSetOptions ProblemKind = "set_options"
	// ProblemMissingTable is a table that is not on the server.
	ProblemMissingTable ProblemKind = "missing_table"
	// ProblemChangedTable is one with other columns.
	ProblemChangedTable ProblemKind = "changed_table"
	// ProblemMissingIndex is one that somebody has dropped. [Migration.Up] restores it, as the next two.
	ProblemMissingIndex ProblemKind = "missing_index"
	// ProblemDisabledIndex is one that somebody has disabled.
	ProblemDisabledIndex ProblemKind = "disabled_index"
	// ProblemChangedIndex is one that somebody has made anew, with other columns or another filter.
	ProblemChangedIndex ProblemKind = "changed_index"
	// ProblemExtraIndex is an index that these scripts do not have.
	ProblemExtraIndex ProblemKind = "extra_index"
	// ProblemPageLocks is an index that allows page locks and must not.
	ProblemPageLocks ProblemKind = "page_locks"
)

// Problem is one difference.
type Problem struct {
	Kind ProblemKind
	// Object is the script's file, or the name of the module, table or index.
	Object string
	// Detail is a sentence about what is the matter and what repairs it.
	Detail string
}

// String returns the problem as one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s", p.Kind, p.Object, p.Detail)
}

// Status is how a schema compares with the scripts.
type Status struct {
	Schema string
	// Exists tells whether there is a schema that was ever migrated.
	Exists bool
	// Version is that of the last numbered script applied, Revision that of the set of
	// scripts and modules; 0 for none. Latest and LatestRevision are those of the scripts.
	Version, Latest          int
	Revision, LatestRevision int
	// OldestRevision is the lowest revision of programs that may use the schema; 0 for
	// none. A program's own is LatestRevision.
	OldestRevision int
	// Newer tells that a newer release has migrated the schema. Then there is nothing
	// pending and nothing is called a problem: these scripts cannot judge it.
	Newer bool
	// Pending names the steps that [Migration.Up] would take.
	Pending  []string
	Problems []Problem
}

// Status compares the schema with the scripts, and changes nothing. A missing, old or
// newer schema is a status, not an error. Errors match [ErrPermission] for a login that
// is not an owner and may not see what is there, or are the driver's.
func (m *Migration) Status(ctx context.Context) (*Status, error) {
	m, err := m.prepared()
	if err != nil {
		return nil, err
	}
	st, err := m.readState(ctx, m.DB)
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	status := &Status{
		Schema: m.schema(), Exists: st.recorded,
		Version: st.newest(), Latest: m.release.version(),
		Revision: st.revision, LatestRevision: m.release.revision, OldestRevision: st.oldest,
	}
	status.Newer = m.isNewer(st)
	if status.Newer {
		return status, nil
	}
	for _, step := range makePlan(m.schema(), m.release, st).Steps {
		status.Pending = append(status.Pending, step.Name)
	}
	if !st.recorded {
		return status, nil
	}
	locks, err := m.pageLocks(ctx)
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	status.Problems = slices.Concat(m.scriptProblems(st), m.moduleProblems(st), m.tableProblems(st), locks)
	return status, nil
}

// Verify returns every way in which the schema differs from the scripts; none is what
// it should be after [Migration.Up]. Errors match [ErrMissingSchema] or
// [ErrNewerSchema] when there is nothing to compare, which is so as well for a newer
// schema that serves these scripts' programs; or they are those of [Migration.Status].
func (m *Migration) Verify(ctx context.Context) ([]Problem, error) {
	m, err := m.prepared()
	if err != nil {
		return nil, err
	}
	status, err := m.Status(ctx)
	switch {
	case err != nil:
		return nil, err
	case !status.Exists:
		return nil, m.missing()
	case status.Newer:
		return nil, m.newer(status.Version, status.Revision, "only a program of that release can compare it")
	}
	return status.Problems, nil
}

func (m *Migration) scriptProblems(st *state) []Problem {
	var problems []Problem
	for _, one := range m.release.numbered {
		row, ok := st.scripts[one.version]
		switch {
		case !ok:
			problems = append(problems, Problem{ProblemMissingScript, one.name, "was not applied; run `duroxide migrate up`"})
		case !bytes.Equal(row.checksum, one.checksum):
			problems = append(problems, Problem{ProblemChangedScript, one.name, "was applied with a different text, as " + row.name})
		}
	}
	return problems
}

func (m *Migration) moduleProblems(st *state) []Problem {
	const repair = "; `duroxide migrate up` repairs it"
	var problems []Problem
	ours := map[string]bool{foundationView: true}
	p := &planner{schema: m.schema(), scripts: m.release, state: st}
	for _, one := range m.release.modules {
		ours[one.name] = true
		reason := p.reason(one)
		switch reason {
		case "":
			continue
		case reasonNew, reasonMissing:
			problems = append(problems, Problem{ProblemMissingModule, one.name, reason + repair})
		case reasonChanged:
			problems = append(problems, Problem{ProblemOldModule, one.name, reason + repair})
		case reasonSetOptions:
			problems = append(problems, Problem{ProblemSetOptions, one.name, reason + repair})
		default:
			problems = append(problems, Problem{ProblemEditedModule, one.name, reason + repair})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(st.stored)) {
		if ours[name] {
			continue
		}
		detail := "is not ours; it stays"
		if _, ok := st.modules[name]; ok {
			detail = reasonGone + repair
		}
		problems = append(problems, Problem{ProblemExtraModule, name, detail})
	}
	return problems
}

// pageLocks finds the indexes that allow page locks against the scripts' will.
func (m *Migration) pageLocks(ctx context.Context) ([]Problem, error) {
	allowed, err := m.on(m.DB).ListIndexesWithPageLocks(ctx, mssqldb.ListIndexesWithPageLocksParams{Schema: m.schema()})
	if err != nil {
		return nil, fmt.Errorf("reading the indexes of schema %s: %w", Quote(m.schema()), err)
	}
	var problems []Problem
	for _, index := range allowed {
		if m.release.pageLocksOff[index.IndexName] {
			problems = append(problems, Problem{ProblemPageLocks, index.IndexName, "ALLOW_PAGE_LOCKS is ON and should be OFF: a lock on a page hides a page of work from READPAST; " +
				fmt.Sprintf(turnPageLocksOff, Quote(index.IndexName), Quote(m.schema()), Quote(index.TableName))})
		}
	}
	return problems, nil
}
