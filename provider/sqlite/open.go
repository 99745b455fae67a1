package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	// The driver registers itself as "sqlite".
	_ "modernc.org/sqlite"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// driverName is how modernc.org/sqlite registers itself.
const driverName = "sqlite"

// openOperation labels the errors of opening.
const openOperation = "open"

// Open opens the database at path, creating the file if there is none and
// bringing its schema up to date. The directory must exist.
//
// Errors are [*provider.Error] values that match one of the package's sentinels:
// [ErrCannotOpen], [ErrReadOnly], [ErrBusy], [ErrDamaged], [ErrForeignFile],
// [ErrOldSchema], [ErrNewerSchema].
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	settings := options.withDefaults()
	if err := checkPath(path); err != nil {
		return nil, err
	}
	dsn, err := fileDSN(path)
	if err != nil {
		return nil, err
	}
	w, err := openWriter(ctx, dsn+"?"+pragmas(settings, false), settings, true)
	if err != nil {
		return nil, err
	}
	r, err := openReaders(dsn+"?"+pragmas(settings, true), settings)
	if err != nil {
		_ = w.close()
		return nil, err
	}
	settings.log = logPath(path)
	w.files = opened(path, settings.log)
	r.files = w.files
	return newStore(settings, w, r), nil //nolint:contextcheck // the store outlives the call that opens it
}

// OpenMemory opens a new, empty database in memory. It shares nothing with any
// other and is gone when the store is closed.
func OpenMemory(ctx context.Context, options Options) (*Store, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	settings := options.withDefaults()
	// Nobody else can write to it.
	settings.PollInterval = Never
	w, err := openWriter(ctx, "file::memory:?"+pragmas(settings, false), settings, false)
	if err != nil {
		return nil, err
	}
	return newStore(settings, w, nil), nil //nolint:contextcheck // the store outlives the call that opens it
}

// newStore starts what runs in the background: the writer and the watch. Both end with
// Close.
func newStore(settings Options, w *writer, r *readers) *Store {
	s := &Store{
		log:     settings.Logger,
		now:     settings.now,
		writer:  w,
		readers: r,
	}
	s.watch = startWatch(s, newOthers(s, settings))
	w.start(s.published, s.ends.Awaits)
	return s
}

// checkPath says in words what SQLite would only call "unable to open".
func checkPath(path string) error {
	if path == "" || path == ":memory:" {
		return columns.Invalid(openOperation, "the path must name a file; for a database in memory call OpenMemory")
	}
	if strings.ContainsRune(path, 0) {
		return columns.Invalid(openOperation, "the path %q must not contain NUL", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return provider.Permanent(openOperation,
			fmt.Sprintf("cannot open database file: %s is a directory; name a file in it", path), ErrCannotOpen)
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) {
		return provider.Permanent(openOperation,
			fmt.Sprintf("cannot open database file: the directory %s does not exist; create it first", filepath.Dir(path)),
			fmt.Errorf("%w: %w", ErrCannotOpen, err))
	}
	return nil
}

// fileDSN is the path as a URI without query, in which no character of the path
// means anything to the driver or to SQLite.
func fileDSN(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", provider.Permanent(openOperation,
			fmt.Sprintf("cannot open database file: %v; pass an absolute path", err), fmt.Errorf("%w: %w", ErrCannotOpen, err))
	}
	slashed := filepath.ToSlash(absolute)
	if !strings.HasPrefix(slashed, "/") {
		// A drive letter comes first.
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String(), nil
}

// pageSize is that of a new file, in bytes. Beside pages of 4,096 bytes, SQLite's own choice, those
// of 2,048 write two thirds of the bytes at the same rate; with smaller ones turns that append much
// would be slower (docs/performance-2026-11.md).
const pageSize = 2048

// movedLog is how long the log gets before SQLite moves it into the database, in bytes. One that a reader made twice as
// long is cut back when the reader has gone.
const movedLog = 16 << 20

// pragmas is the query of a DSN: the settings every new connection starts with.
// What changes the file itself is not among them, because the file may not be
// ours.
func pragmas(settings Options, readOnly bool) string {
	synchronous := "FULL"
	if settings.Synchronous == Normal {
		synchronous = "NORMAL"
	}
	// The writer waits for other processes by itself, see its method begin; a
	// reader hardly ever has to.
	var patience time.Duration
	if readOnly {
		patience = settings.BusyTimeout
	}
	list := []string{
		// First: it governs the others.
		fmt.Sprintf("busy_timeout(%d)", min(patience.Milliseconds(), math.MaxInt32)), // SQLite takes more for 0
		"synchronous(" + synchronous + ")",
		// 16 MiB of pages per connection.
		"cache_size(-16384)",
		"temp_store(MEMORY)",
	}
	if readOnly {
		// A reader that wrote would do so behind the writer's back.
		list = append(list, "query_only(1)")
	} else {
		list = append(list,
			// Only a new file takes it. A turn changes a few bytes in a dozen places, and of
			// each place the log gets the whole page.
			fmt.Sprintf("page_size(%d)", pageSize),
			// The log is moved into the file at 16 MiB rather than 4: the pages of the queues
			// change all the time, and each move writes them once and flushes twice.
			fmt.Sprintf("wal_autocheckpoint(%d)", movedLog/pageSize),
			// While another program reads, the log cannot be moved and grows.
			fmt.Sprintf("journal_size_limit(%d)", 2*movedLog))
	}
	return url.Values{"_pragma": list}.Encode()
}

// openWriter opens the connection that writes, and brings the schema up to date. A
// file that another process has locked is tried again and again until the patience
// configured is over: SQLite's own busy timeout does not cover every step, and does
// not heed the context.
func openWriter(ctx context.Context, dsn string, settings Options, file bool) (*writer, error) {
	deadline := time.Now().Add(settings.BusyTimeout)
	for {
		w, err := tryOpenWriter(ctx, dsn, settings, file)
		if !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			return w, err
		}
		if err := clock.Sleep(ctx, longestNap); err != nil {
			return nil, provider.ContextError(ctx, openOperation)
		}
	}
}

// tryOpenWriter is one try of openWriter.
func tryOpenWriter(ctx context.Context, dsn string, settings Options, file bool) (*writer, error) {
	db, err := sql.Open(settings.driver, dsn)
	if err != nil {
		return nil, classify(openOperation, err)
	}
	db.SetMaxOpenConns(1)
	w := &writer{db: db, clock: settings.now, patience: settings.BusyTimeout, single: settings.DisableGroupCommit}
	w.logRoom.on = settings.room
	if err := w.open(ctx, file); err != nil {
		// That closing fails too is no news.
		_ = w.closeAll()
		return nil, classify(openOperation, err)
	}
	return w, nil
}

// open connects, migrates and prepares.
func (w *writer) open(ctx context.Context, file bool) (err error) {
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, w.conn, file); err != nil {
		return err
	}
	w.rows.conn = w.conn
	w.prepared = prepareOn(w.conn)
	w.queries = sqlitedb.New(w.prepared)
	if w.control, err = prepareControl(ctx, w.conn); err != nil {
		return err
	}
	return w.look(ctx)
}

// openReaders opens the pool of the connections that read. It opens each when it is needed.
func openReaders(dsn string, settings Options) (*readers, error) {
	db, err := sql.Open(settings.driver, dsn)
	if err != nil {
		return nil, classify(openOperation, err)
	}
	db.SetMaxOpenConns(settings.MaxReaders)
	db.SetMaxIdleConns(settings.MaxReaders)
	return &readers{db: db, prepared: prepareOn(db)}, nil
}
