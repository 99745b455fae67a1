package migrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// state is what a database holds for one schema.
type state struct {
	// exists tells whether there is a schema of that name, recorded whether it is ours:
	// whether it has the tables that record migrations.
	exists   bool
	recorded bool
	// scripts by version and modules by name are what those tables say.
	scripts map[int]recordedScript
	modules map[string]recordedModule
	// revision is the highest that has been begun, oldest the lowest whose programs that
	// one serves, and complete the highest that was applied to the end; 0 for none.
	revision, oldest, complete int
	// stored are the modules that are there, by name, ours or not.
	stored map[string]storedModule
	// tables are what the server has.
	tables tables
}

// recordedScript is a row of migrations.
type recordedScript struct {
	name     string
	checksum []byte
}

// recordedModule is a row of modules.
type recordedModule struct {
	kind moduleKind
	// checksum is that of our text, serverChecksum that of the definition which the
	// server made of it.
	checksum       []byte
	serverChecksum []byte
}

// storedModule is what the server has. The checksum is NULL for a definition that
// cannot be read, such as an encrypted one.
type storedModule struct {
	kind     moduleKind
	checksum []byte
	// setOptions tells whether it was created with QUOTED_IDENTIFIER and ANSI_NULLS on,
	// which filtered indexes ask for.
	setOptions bool
}

// on returns the reads of the schema on a connection or a pool.
func (m *Migration) on(db mssqldb.DBTX) *mssqldb.Queries {
	return mssqldb.New(db, mssqldb.WithSchema(DefaultSchema, m.schema()))
}

// readState reads everything. It needs to see the definitions, as the owner does.
func (m *Migration) readState(ctx context.Context, db mssqldb.DBTX) (*state, error) {
	schema := m.schema()
	st, err := m.readRecords(ctx, db)
	if err != nil {
		return nil, err
	}
	if st.stored, err = m.readStored(ctx, db); err != nil {
		return nil, fmt.Errorf("reading the modules of schema %s: %w", Quote(schema), err)
	}
	if st.tables, err = m.readTables(ctx, db); err != nil {
		return nil, fmt.Errorf("reading the tables of schema %s: %w", Quote(schema), err)
	}
	if st.isUnreadable() {
		return nil, m.forbidden(errUnreadable)
	}
	return st, nil
}

// readRecords reads what was applied, from the view, which the runtime role may read
// too.
func (m *Migration) readRecords(ctx context.Context, db mssqldb.DBTX) (*state, error) {
	st := &state{scripts: map[int]recordedScript{}, modules: map[string]recordedModule{}}
	found, err := m.on(db).FindSchema(ctx, mssqldb.FindSchemaParams{Schema: m.schema()})
	if err != nil {
		return nil, fmt.Errorf("looking for schema %s: %w", Quote(m.schema()), err)
	}
	st.exists, st.recorded = found.SchemaID != nil, found.RecordViews == 1
	if !st.recorded {
		return st, nil
	}
	records, err := m.on(db).ReadRecords(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what was applied to schema %s: %w", Quote(m.schema()), err)
	}
	for i := range records {
		st.record(&records[i])
	}
	return st, nil
}

// record takes a row of the view.
func (st *state) record(row *mssqldb.ReadRecordsRow) {
	version := int(row.Version)
	switch row.Kind {
	case "SCRIPT":
		st.scripts[version] = recordedScript{name: row.Name, checksum: row.Checksum}
	case "REVISION":
		if version > st.revision {
			st.revision, st.oldest = version, 0
			if row.Oldest != nil {
				st.oldest = int(*row.Oldest)
			}
		}
		if row.Complete != nil && *row.Complete {
			st.complete = max(st.complete, version)
		}
	default:
		st.modules[row.Name] = recordedModule{kind: moduleKind(row.Kind), checksum: row.Checksum, serverChecksum: row.ServerChecksum}
	}
}

// readStored asks the server for the modules it has.
func (m *Migration) readStored(ctx context.Context, db mssqldb.DBTX) (map[string]storedModule, error) {
	modules, err := m.on(db).ListModules(ctx, mssqldb.ListModulesParams{Schema: m.schema()})
	if err != nil {
		return nil, err
	}
	stored := map[string]storedModule{}
	for _, row := range modules {
		code := ""
		if row.Type != nil {
			code = *row.Type
		}
		stored[row.Name] = storedModule{kind: kindOf(code), checksum: row.Checksum, setOptions: row.SetOptions == 1}
	}
	return stored, nil
}

// kindOf translates sys.objects.type, which is padded. A kind that we have none of
// keeps its code.
func kindOf(code string) moduleKind {
	switch code = strings.TrimSpace(code); code {
	case "P":
		return kindProcedure
	case "V":
		return kindView
	case "FN", "IF", "TF":
		return kindFunction
	default:
		return moduleKind(code)
	}
}
