package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// Drop removes everything that [Migration.Up] has made, with all orchestrations and their
// histories, in one transaction, and asks nobody: for a tenant that leaves, and for tests. What somebody else has put
// into the schema stays, and then so does the schema: left names these objects, and what was dropped with the schema's
// tables is none. A schema that is missing, or was never migrated, is left as it is.
//
// Errors match [ErrNewerSchema] when a newer release has migrated the schema, which may
// hold what these scripts do not know, and [ErrPermission] for a login that is not an
// owner.
func (m *Migration) Drop(ctx context.Context) (left []string, err error) {
	m, err = m.prepared()
	if err != nil {
		return nil, err
	}
	err = m.withLock(ctx, func(s *session) error {
		st, err := m.readState(ctx, s.conn)
		if err != nil || !st.recorded {
			return err
		}
		if m.isNewer(st) {
			return m.newer(st.newest(), st.revision, "only a program of that release can remove it")
		}
		if err := m.refuse(st); err != nil {
			return err
		}
		roles, err := m.dropRoles(ctx, s.conn)
		if err != nil {
			return err
		}
		left, err = m.foreignObjects(ctx, s.conn, st)
		if err != nil {
			return fmt.Errorf("reading the objects of schema %s: %w", Quote(m.schema()), err)
		}
		step := m.dropStep(st, roles, len(left) > 0)
		if err := s.apply(ctx, step); err != nil {
			return err
		}
		m.report(ctx, step)
		return nil
	})
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	return left, nil
}

// dropStep drops first what reads, then what is read.
func (m *Migration) dropStep(st *state, roles []Batch, foreign bool) Step {
	p := &planner{schema: m.schema(), scripts: m.release, state: st}
	step := Step{Name: "schema " + Quote(m.schema()), Action: ActionDrop, Reason: "asked for"}
	add := func(format string, args ...any) {
		step.Batches = append(step.Batches, p.statement(fmt.Sprintf(format, args...)))
	}
	for _, kind := range []moduleKind{kindProcedure, kindView, kindFunction} {
		for _, name := range m.dropOrder(st, kind) {
			step.Batches = append(step.Batches, p.drop(kind, name))
		}
	}
	objects := m.ourObjects(st)
	for _, kind := range []string{"VIEW", "TYPE", "TABLE", "SEQUENCE"} {
		for _, one := range slices.Backward(objects) {
			if one.kind == kind {
				add(dropObject, kind, Quote(one.name))
			}
		}
	}
	step.Batches = append(step.Batches, roles...)
	if !foreign && m.schema() != "dbo" {
		add(dropSchema)
	}
	return step
}

// dropRoles drops each role, of which nobody may be a member then.
func (m *Migration) dropRoles(ctx context.Context, db mssqldb.DBTX) (batches []Batch, err error) {
	for _, role := range roleNames(m.schema()) {
		members, err := m.on(db).ListRoleMembers(ctx, mssqldb.ListRoleMembersParams{Role: role})
		if err != nil {
			return nil, fmt.Errorf("reading the members of the role %s: %w", Quote(role), err)
		}
		for _, member := range members {
			if slices.Contains(roleNames(m.schema()), member) {
				continue // It is gone by then.
			}
			batches = append(batches, Batch{Text: fmt.Sprintf(dropMember, Quote(role), Quote(member)), Repeat: 1})
		}
		batches = append(batches, Batch{Text: fmt.Sprintf(dropRole, Quote(role)), Repeat: 1})
	}
	return batches, nil
}

// dropOrder returns the modules of one kind that were applied, in the opposite order.
func (m *Migration) dropOrder(st *state, kind moduleKind) []string {
	var names []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(st.modules))) {
		if st.modules[name].kind == kind {
			names = append(names, name)
		}
	}
	return names
}

// ourObjects returns the tables and types of the scripts that were applied, and the
// tables that record them.
func (m *Migration) ourObjects(st *state) []object {
	objects := []object{{"VIEW", foundationView}, {"TABLE", "migrations"}, {"TABLE", "modules"}, {"TABLE", "revisions"}}
	for _, one := range m.release.numbered {
		if _, applied := st.scripts[one.version]; applied {
			objects = append(objects, one.creates...)
		}
	}
	return objects
}

// foreignObjects lists what is in the schema and not ours, in the order of names.
func (m *Migration) foreignObjects(ctx context.Context, db mssqldb.DBTX, st *state) ([]string, error) {
	ours := map[string]bool{}
	for name := range st.modules {
		ours[name] = true
	}
	for _, one := range m.ourObjects(st) {
		ours[one.name] = true
	}
	names, err := m.on(db).ListObjects(ctx, mssqldb.ListObjectsParams{Schema: m.schema()})
	if err != nil {
		return nil, err
	}
	foreign := slices.DeleteFunc(names, func(name string) bool { return ours[name] })
	slices.Sort(foreign)
	return foreign, nil
}
