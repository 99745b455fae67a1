package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
	scripts "github.com/duroxide/duroxide-go/sql"
)

// applicationID marks a file as ours in its header: "DURX".
const applicationID = 0x44555258

// firstVersion is the version of a file after the first script; each further script adds one. Whoever edits a script,
// which only happens before it is released, raises this number: files of the version before are refused then, since
// nobody knows what they hold. TestSchemaHasItsVersion fails until that is done.
const firstVersion = 4

// migration is one numbered script.
type migration struct {
	// version is what PRAGMA user_version holds after the script has run.
	version int
	name    string
	script  string
}

// migrations returns all scripts in order. Their names begin with 1, 2, 3, ….
func migrations() ([]migration, error) {
	files := scripts.SQLiteSchema()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]migration, 0, len(names))
	for i, name := range names {
		prefix, _, _ := strings.Cut(name, "_")
		number, err := strconv.Atoi(prefix)
		if err != nil || number != i+1 {
			return nil, fmt.Errorf("migration %s should be number %d", name, i+1)
		}
		script, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		list = append(list, migration{version: firstVersion + i, name: name, script: string(script)})
	}
	return list, nil
}

// migrate brings the database up to date, or refuses it: a file of another
// application and a schema from the future stay untouched.
//
// Any number of processes may do this to one file at once. The immediate
// transaction lets one in at a time, and what it finds decides; a process that
// dies halfway leaves nothing behind. Who finds the file locked gets [ErrBusy] and
// may begin again.
func migrate(ctx context.Context, conn *sql.Conn, file bool) error {
	list, err := migrations()
	if err != nil {
		return provider.Permanent(openOperation, err.Error(), err)
	}
	latest := list[len(list)-1].version
	// Before anything that would change a file that is not ours.
	var version int
	var lost []string
	err = inTransaction(ctx, conn, "BEGIN", func() (err error) {
		version, err = inspect(ctx, conn, latest)
		if err == nil && version == latest {
			lost, err = checkShape(ctx, conn)
		}
		return err
	})
	if err != nil {
		return err
	}
	if file {
		if err := useWriteAheadLog(ctx, conn); err != nil {
			return err
		}
	}
	switch {
	case version == latest && len(lost) > 0:
		return restore(ctx, conn)
	case version == latest:
		return checkWritable(ctx, conn, version)
	}
	return inTransaction(ctx, conn, beginWrite, func() error {
		// Another process may have been faster.
		version, err := inspect(ctx, conn, latest)
		if err != nil || version == latest {
			return err
		}
		if err := apply(ctx, conn, list[max(0, version-firstVersion+1):]); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx,
			fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, latest))
		return err
	})
}

// apply runs scripts in their order.
func apply(ctx context.Context, conn *sql.Conn, list []migration) error {
	for _, m := range list {
		if _, err := conn.ExecContext(ctx, m.script); err != nil {
			return fmt.Errorf("applying %s: %w", m.name, err)
		}
	}
	return nil
}

// inspect returns the schema's version, 0 for a new file, and refuses files that
// are not ours, too new, or too old to be migrated. It is called in a transaction: another process may be
// creating the schema at this moment.
func inspect(ctx context.Context, conn *sql.Conn, known int) (int, error) {
	var application, version, tables int
	// The header's two numbers, and whether there is anything beside it.
	for _, ask := range []struct {
		query  string
		answer *int
	}{
		{"PRAGMA application_id", &application},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := conn.QueryRowContext(ctx, ask.query).Scan(ask.answer); err != nil {
			return 0, err
		}
	}
	switch {
	case application == 0 && version == 0 && tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, provider.Permanent(openOperation, fmt.Sprintf(
			"not a duroxide database: the file belongs to another application (id %#x, %d tables) and was left as it is; check the path",
			application, tables), ErrForeignFile)
	case version > known:
		return 0, provider.Permanent(openOperation, fmt.Sprintf(
			"database schema is newer than this program: it has version %d, this release knows %d; upgrade duroxide-go",
			version, known), ErrNewerSchema)
	}
	if version < firstVersion {
		return 0, provider.Permanent(openOperation, fmt.Sprintf(
			"database schema is older than this program can migrate: it has version %d, and this release reads %d to %d; the file was left as it is: "+
				"open it with the build that made it, or move it away and start with a new file", version, firstVersion, known), ErrOldSchema)
	}
	return version, nil
}

// useWriteAheadLog switches the file to the write-ahead log, which is a property
// of the file and needs it for oneself for a moment.
func useWriteAheadLog(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return provider.Permanent(openOperation, fmt.Sprintf(
			"cannot open database file: its file system does not support SQLite's write-ahead log (journal mode is %q); use a local disk",
			mode), ErrCannotOpen)
	}
	return nil
}

// errUnchanged makes inTransaction roll back what was only tried.
var errUnchanged = errors.New("unchanged")

// checkWritable tries to write and takes it back: otherwise a file that may only be
// read would be found out by the first call.
func checkWritable(ctx context.Context, conn *sql.Conn, version int) error {
	err := inTransaction(ctx, conn, beginWrite, func() error {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
			return err
		}
		return errUnchanged
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// beginWrite begins a transaction by taking the write lock, so that nothing read in
// it can be out of date when something is written.
const beginWrite = "BEGIN IMMEDIATE"

// inTransaction runs f in a transaction.
func inTransaction(ctx context.Context, conn *sql.Conn, begin string, f func() error) error {
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// Also when the context has ended: the transaction must not stay open.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}
