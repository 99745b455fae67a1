package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// server is a dialect of T-SQL. Its text is what a person reads.
type server string

const (
	sqlServer server = "SQL Server"
	babelfish server = "Babelfish"
)

// state is what a database holds for one schema.
type state struct {
	server server
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
	// which filtered indexes ask for (rule P7).
	setOptions bool
}

// querier is a connection or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readState reads everything. It needs to see the definitions, as the owner does.
func (m *Migration) readState(ctx context.Context, q querier) (*state, error) {
	schema := m.schema()
	st, err := readRecords(ctx, q, schema)
	if err != nil {
		return nil, err
	}
	if st.server, err = readServer(ctx, q); err != nil {
		return nil, fmt.Errorf("asking for the kind of server: %w", err)
	}
	if st.stored, err = readStored(ctx, q, schema); err != nil {
		return nil, fmt.Errorf("reading the modules of schema %s: %w", Quote(schema), err)
	}
	if st.isUnreadable() {
		return nil, m.forbidden(errUnreadable)
	}
	return st, nil
}

// readServer asks what dialect the server speaks.
func readServer(ctx context.Context, q querier) (server, error) {
	var property sql.NullString
	err := q.QueryRowContext(ctx, "SELECT CAST(SERVERPROPERTY('babelfish') AS NVARCHAR(10))").Scan(&property)
	if property.String == "1" {
		return babelfish, err
	}
	return sqlServer, err
}

// readRecords reads what was applied, from the view, which the runtime role may read
// too.
func readRecords(ctx context.Context, q querier, schema string) (*state, error) {
	st := &state{scripts: map[int]recordedScript{}, modules: map[string]recordedModule{}}
	var id sql.NullInt64
	var views int
	err := q.QueryRowContext(ctx, `
SELECT SCHEMA_ID(@p1),
       (SELECT COUNT(*) FROM sys.views AS v WHERE v.schema_id = SCHEMA_ID(@p1) AND v.name = N'v_migrations')`,
		schema).Scan(&id, &views)
	if err != nil {
		return nil, fmt.Errorf("looking for schema %s: %w", Quote(schema), err)
	}
	st.exists, st.recorded = id.Valid, views == 1
	if !st.recorded {
		return st, nil
	}
	err = each(ctx, q, rewrite("SELECT kind, version, name, checksum, server_checksum, oldest, complete FROM duroxide.v_migrations", schema), st.record)
	if err != nil {
		return nil, fmt.Errorf("reading what was applied to schema %s: %w", Quote(schema), err)
	}
	return st, nil
}

// record takes a row of the view.
func (st *state) record(scan scanner) error {
	var kind moduleKind
	var version int
	var name string
	var checksum, serverChecksum []byte
	var oldest sql.NullInt32
	var complete sql.NullBool
	if err := scan(&kind, &version, &name, &checksum, &serverChecksum, &oldest, &complete); err != nil {
		return err
	}
	switch kind {
	case "SCRIPT":
		st.scripts[version] = recordedScript{name: name, checksum: checksum}
	case "REVISION":
		if version > st.revision {
			st.revision, st.oldest = version, int(oldest.Int32)
		}
		if complete.Bool {
			st.complete = max(st.complete, version)
		}
	default:
		st.modules[name] = recordedModule{kind: kind, checksum: checksum, serverChecksum: serverChecksum}
	}
	return nil
}

// readStored asks the server for the modules it has.
func readStored(ctx context.Context, q querier, schema string) (map[string]storedModule, error) {
	stored := map[string]storedModule{}
	const query = `
SELECT o.name, o.type, HASHBYTES('SHA2_256', m.definition),
       CASE WHEN m.uses_quoted_identifier = 1 AND m.uses_ansi_nulls = 1 THEN 1 ELSE 0 END
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
WHERE o.schema_id = SCHEMA_ID(@p1)`
	err := each(ctx, q, query, func(scan scanner) error {
		var name, code string
		var row storedModule
		var options int
		err := scan(&name, &code, &row.checksum, &options)
		row.kind, row.setOptions = kindOf(code), options == 1
		stored[name] = row
		return err
	}, schema)
	return stored, err
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

// scanner is the Scan of a row.
type scanner func(dest ...any) error

// each calls f for every row of a query.
func each(ctx context.Context, q querier, query string, f func(scanner) error, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
