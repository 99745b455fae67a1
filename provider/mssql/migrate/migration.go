package migrate

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// Migration is one schema of one database, which should become what this release of the
// module needs. The zero values of Schema and Log are good defaults. A Migration may be
// used by several goroutines.
type Migration struct {
	// DB are connections of the driver go-mssqldb under its name "sqlserver". They are the
	// caller's to close. [Migration.Up] uses one of them at a time, and closes it.
	DB *sql.DB
	// Schema is the schema's name; "" for [DefaultSchema]. Any name will do that
	// [CheckSchemaName] accepts.
	Schema string
	// Log is told about each step that was applied, and warned about modules that somebody
	// edited on the server; nil for nothing.
	Log *slog.Logger

	// release is what the schema should become; nil for this module's own.
	release *release
	// cut is for tests; see session.
	cut func(step Step, at cutPoint) error
}

// prepared returns the migration with everything that was left out, or refuses it.
func (m *Migration) prepared() (*Migration, error) {
	filled, err := m.completed()
	if err == nil && m.DB == nil {
		return nil, errors.New("Migration.DB is nil: set it to connections of an owner of the database")
	}
	return filled, err
}

// completed is prepared for what needs no server.
func (m *Migration) completed() (*Migration, error) {
	filled := *m
	filled.Schema = m.schema()
	if err := CheckSchemaName(filled.Schema); err != nil {
		return nil, err
	}
	if filled.release == nil {
		var err error
		if filled.release, err = present(); err != nil {
			return nil, err
		}
	}
	return &filled, nil
}

func (m *Migration) schema() string {
	if m.Schema == "" {
		return DefaultSchema
	}
	return m.Schema
}

func (m *Migration) logger() *slog.Logger {
	if m.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return m.Log
}

// Up brings the schema up to date, creating it if it is missing, gives the roles back what
// somebody has taken away from them, and returns the steps that it took. On an error these
// are the steps that are done and stay done: calling it again goes on from there.
//
// A schema that a newer release has migrated, or has begun to, is left alone. If that
// one serves programs of this one, as it does during a rolling upgrade, Up succeeds and
// [Plan].Newer says why there were no steps.
//
// Any number of processes may call it at once. One works, the others wait, for as long
// as the context lets them; those of an older release have nothing to wait for.
//
// Errors match what [Migration.Check] returns for a newer schema, or [ErrChangedScript],
// when the schema must be left alone, [ErrPermission] for a login that is not an owner,
// and are a [*BatchError] around the driver's error when the server refuses something.
func (m *Migration) Up(ctx context.Context) (*Plan, error) {
	done := &Plan{Schema: m.schema()}
	m, err := m.prepared()
	if err != nil {
		return done, err
	}
	plan, err := m.leaveAlone(ctx)
	if err != nil {
		return done, err
	}
	if plan != nil {
		return plan, nil
	}
	err = m.withLock(ctx, func(s *session) error {
		// What is there is only known for certain under the lock.
		plan, err := m.plan(ctx, s.conn)
		if err != nil {
			return err
		}
		done.Newer = plan.Newer
		for _, step := range plan.Steps {
			if err := s.apply(ctx, step); err != nil {
				return err
			}
			done.Steps = append(done.Steps, step)
			m.report(ctx, step)
		}
		return nil
	})
	return done, m.explain(ctx, err)
}

// report logs a step that is done.
func (m *Migration) report(ctx context.Context, step Step) {
	log := m.logger().With("schema", m.schema(), "step", step.Name, "action", string(step.Action), "reason", step.Reason)
	if step.Reason == reasonEdited {
		log.WarnContext(ctx, "a module was edited on the server; the edit is undone")
		return
	}
	if step.Action == ActionRestore {
		log.WarnContext(ctx, "an index was not as this release has made it; it is restored")
		return
	}
	log.InfoContext(ctx, "applied a migration step")
}

// Plan returns what [Migration.Up] would do now, and changes nothing. Its errors are
// those of Up.
func (m *Migration) Plan(ctx context.Context) (*Plan, error) {
	m, err := m.prepared()
	if err != nil {
		return nil, err
	}
	plan, err := m.plan(ctx, m.DB)
	return plan, m.explain(ctx, err)
}

func (m *Migration) plan(ctx context.Context, db mssqldb.DBTX) (*Plan, error) {
	st, err := m.readState(ctx, db)
	if err != nil {
		return nil, err
	}
	plan, err := m.planFor(st)
	if err == nil && st.recorded && !plan.Newer {
		err = m.restoreGrants(ctx, db, plan)
	}
	return plan, err
}

// planFor returns what leads from the state to the scripts.
func (m *Migration) planFor(st *state) (*Plan, error) {
	if m.isNewer(st) {
		// A program that migrates when it starts may start only if it can work.
		if err := m.usable(st); err != nil {
			return nil, err
		}
		return &Plan{Schema: m.schema(), Newer: true}, nil
	}
	if err := m.refuse(st); err != nil {
		return nil, err
	}
	return makePlan(m.schema(), m.release, st), nil
}

// leaveAlone returns the plan for a schema that a newer release has begun to migrate,
// and nil for any other. It needs no lock, which that release may hold for long: such a
// schema does not become ours again.
func (m *Migration) leaveAlone(ctx context.Context) (*Plan, error) {
	st, err := m.readRecords(ctx, m.DB)
	if err != nil || !m.isNewer(st) {
		return nil, nil //nolint:nilerr // what is wrong, if it still is, shows under the lock
	}
	return m.planFor(st)
}

// refuse returns why the schema is not for these scripts, if it is not: it no longer
// serves their programs, or has another history.
func (m *Migration) refuse(st *state) error {
	if m.isNewer(st) && m.release.revision < st.oldest {
		return m.newer(st.newest(), st.revision,
			fmt.Sprintf("it serves programs from revision %d; upgrade duroxide-go", st.oldest))
	}
	for _, one := range m.release.numbered {
		if row, ok := st.scripts[one.version]; ok && !bytes.Equal(row.checksum, one.checksum) {
			return fmt.Errorf("%w: %s was applied to schema %s with a different text (under the name %s); use the release that made the schema, or a new schema",
				ErrChangedScript, one.name, Quote(m.schema()), row.name)
		}
	}
	return nil
}

// isNewer reports whether a newer release has begun to migrate the schema.
func (m *Migration) isNewer(st *state) bool {
	return st.newest() > m.release.version() || st.revision > m.release.revision
}

// newest returns the highest version that was applied; 0 for none.
func (st *state) newest() int {
	return slices.Max(append(slices.Collect(maps.Keys(st.scripts)), 0))
}

// Check tells whether a program of this release may use the schema; mssql.Open calls it.
// That is so if the schema is exactly this release's, and if it is a newer release's that
// serves this one: the recorded oldest revision is not above this release's. Check asks little, takes no lock,
// and may be called with the rights of the runtime role. What was edited on the server
// it does not notice; [Migration.Verify] does.
//
// Errors match [ErrMissingSchema], [ErrOldSchema], [ErrNewerSchema] or
// [ErrChangedScript], or are the driver's.
func (m *Migration) Check(ctx context.Context) error {
	m, err := m.prepared()
	if err != nil {
		return err
	}
	st, err := m.readRecords(ctx, m.DB)
	if err != nil {
		return err
	}
	if !st.recorded {
		return m.missing()
	}
	return m.usable(st)
}

// usable returns why programs with these scripts cannot use the schema, if so.
func (m *Migration) usable(st *state) error {
	if err := m.refuse(st); err != nil {
		return err
	}
	if m.isNewer(st) {
		// What a newer release makes of our modules is its business, and it may stop on its
		// way. It must only have begun with something that was as new as this program.
		if st.complete < m.release.revision {
			return m.unfinished(st)
		}
		return nil
	}
	for _, one := range m.release.numbered {
		if _, ok := st.scripts[one.version]; !ok {
			return m.old(one.name)
		}
	}
	for _, one := range m.release.modules {
		if row, ok := st.modules[one.name]; !ok || !bytes.Equal(row.checksum, one.checksum) {
			return m.old(one.file)
		}
	}
	return nil
}

func (m *Migration) newer(version, revision int, advice string) error {
	return fmt.Errorf("%w: schema %s has version %d and revision %d, this release knows %d and %d; %s",
		ErrNewerSchema, Quote(m.schema()), version, revision, m.release.version(), m.release.revision, advice)
}

func (m *Migration) missing() error {
	return fmt.Errorf("%w: there is no duroxide schema %s in this database, or this login may not see it; "+
		"run `duroxide migrate up`, or make the login a member of the role %s",
		ErrMissingSchema, Quote(m.schema()), Quote(RoleName(m.schema())))
}

func (m *Migration) old(what string) error {
	return fmt.Errorf("%w: %s has not been applied to schema %s; run `duroxide migrate up`", ErrOldSchema, what, Quote(m.schema()))
}

func (m *Migration) unfinished(st *state) error {
	return fmt.Errorf("%w: a newer release has not finished migrating schema %s to revision %d, from a revision older than this program's %d; "+
		"run `duroxide migrate up` of that release", ErrOldSchema, Quote(m.schema()), st.revision, m.release.revision)
}
