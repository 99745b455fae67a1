package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// checkShape refuses a database whose tables, indexes and triggers are not those that the scripts make, before a call
// fails for what is missing. What somebody has added is left alone. It returns the statements of indexes and triggers
// that are gone: they hold no data, and can be made again.
func checkShape(ctx context.Context, conn *sql.Conn) (lost []string, err error) {
	want, err := scriptsShape()
	if err != nil {
		return nil, err
	}
	got, err := shape(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		what := "was changed"
		switch {
		case got[name] == want[name]:
			continue
		case got[name] == "" && !strings.HasPrefix(name, "table "):
			lost = append(lost, want[name])
			continue
		case got[name] == "":
			what = "is missing"
		}
		return nil, provider.Permanent(openOperation, fmt.Sprintf(
			"database is damaged: %s %s; restore the file from a backup, or stop all processes that use it and make good what this statement makes: %s",
			name, what, want[name]), ErrDamaged)
	}
	return lost, nil
}

// restore makes the indexes and triggers again that are gone.
func restore(ctx context.Context, conn *sql.Conn) error {
	return inTransaction(ctx, conn, beginWrite, func() error {
		lost, err := checkShape(ctx, conn) // another process may have been faster
		if err != nil {
			return err
		}
		for _, statement := range lost {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// scriptsShape is the shape that the scripts make.
var scriptsShape = sync.OnceValues(func() (map[string]string, error) {
	ctx := context.Background()
	db, err := sql.Open(driverName, "file::memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	list, err := migrations()
	if err != nil {
		return nil, err
	}
	if err := apply(ctx, conn, list); err != nil {
		return nil, err
	}
	return shape(ctx, conn)
})

// shape is the statement of each table and index, by its kind and name, without comments and line breaks.
func shape(ctx context.Context, conn *sql.Conn) (statements map[string]string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	statements = map[string]string{}
	for rows.Next() {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			return nil, err
		}
		var code strings.Builder
		for line := range strings.Lines(statement) {
			line, _, _ = strings.Cut(line, "--")
			code.WriteString(line + " ")
		}
		statements[name] = strings.Join(strings.Fields(code.String()), " ")
	}
	return statements, rows.Err()
}
