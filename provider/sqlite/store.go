package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/internal/lifecycle"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// Version is the semantic version of this implementation.
const Version = "0.1.0"

// Store is an open database. It implements [provider.Store] and is safe for concurrent use.
type Store struct {
	log    *slog.Logger
	now    func() int64
	writer *writer
	// readers is nil for a database in memory, which the writer reads too.
	readers *readers
	// instances and activities are the fetches that wait for something to do.
	instances, activities *wakeup.List
	// changes are the clients that wait for an instance.
	changes wakeup.Changes
	// ends are the clients that wait for the end of an instance.
	ends wakeup.Changes
	// found is set by calls that have found work, and cleared when they are woken because another process
	// has written.
	found atomic.Bool

	// calls are the calls in progress, for Close to wait for.
	calls lifecycle.Calls
	// watch is the goroutine that ends waits as time passes.
	watch *watch
}

var _ provider.Store = (*Store)(nil)

// Name implements [provider.Provider].
func (*Store) Name() string { return "sqlite" }

// Version implements [provider.Provider].
func (*Store) Version() string { return Version }

// Admin returns the store itself: it implements both sides of the contract.
func (s *Store) Admin() provider.Admin { return s }

// Close ends waiting fetches, lets calls in progress finish, and closes the
// database. Calls made after it, and the waits it ended, return
// [provider.ErrClosed]. Closing twice is allowed and returns the same error.
func (s *Store) Close() error { return s.calls.Close(s.release) }

// release ends what runs in the background and closes the connections.
func (s *Store) release() (err error) {
	s.watch.stop()
	if s.readers != nil {
		err = s.readers.close()
	}
	// Last: SQLite moves the log into the database when the last connection closes, if
	// that one may write.
	return cmp.Or(err, s.writer.close())
}

// enter counts a call in, so that Close can wait for it. Every call that returns nil
// is followed by leave.
func (s *Store) enter(operation string) error {
	if !s.calls.Enter() {
		return columns.Closed(operation)
	}
	return nil
}

func (s *Store) leave() { s.calls.Leave() }

// write runs one call as a transaction. run may be in a group with other calls,
// but sees and leaves the database as if it were alone. When the context ends
// first, run may still be under way: what it writes to must not be read then.
func (s *Store) write(ctx context.Context, operation string, run func(context.Context, *tx) error) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	return s.writer.do(ctx, &job{operation: operation, run: run})
}

// written is write for a call that has a result, which is not read when the call was left.
func written[T any](ctx context.Context, s *Store, operation string, run func(context.Context, *tx) (T, error)) (T, error) {
	var result, none T
	err := s.write(ctx, operation, func(ctx context.Context, t *tx) (err error) {
		result, err = run(ctx, t)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// read runs one call that consists of one query. run may write to its caller's
// variables.
func (s *Store) read(ctx context.Context, operation string, run func(context.Context, *sqlitedb.Queries) error) error {
	if s.readers == nil {
		return s.readInTurn(ctx, operation, run)
	}
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	return s.readers.do(ctx, operation, run)
}

// readSnapshot is read for a call whose queries must see the same state.
func (s *Store) readSnapshot(
	ctx context.Context, operation string, run func(context.Context, *sqlitedb.Queries) error,
) error {
	if s.readers == nil {
		return s.readInTurn(ctx, operation, run)
	}
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	return s.readers.snapshot(ctx, operation, run)
}

// readInTurn reads on the only connection there is, in turn with the writes.
func (s *Store) readInTurn(
	ctx context.Context, operation string, run func(context.Context, *sqlitedb.Queries) error,
) error {
	if err := s.enter(operation); err != nil {
		return err
	}
	defer s.leave()
	if ctx.Err() != nil {
		return provider.ContextError(ctx, operation)
	}
	// The caller stays until the end, because run writes to its variables.
	return s.writer.do(context.WithoutCancel(ctx), &job{operation: operation, run: func(ctx context.Context, t *tx) error {
		return run(ctx, t.Queries)
	}})
}

// readers is the pool of connections for reading. They see what is committed, at once,
// and never wait for the writer nor it for them.
type readers struct {
	db       *sql.DB
	prepared *prepared
	// files are looked at before each read, which may open a connection.
	files openedFiles
}

// ready says why a call cannot read.
func (r *readers) ready(ctx context.Context, operation string) error {
	if ctx.Err() != nil {
		return provider.ContextError(ctx, operation)
	}
	_, err := r.files.look()
	return classify(operation, err)
}

// do runs a call of one query. The context's end interrupts it.
func (r *readers) do(ctx context.Context, operation string, run func(context.Context, *sqlitedb.Queries) error) error {
	if err := r.ready(ctx, operation); err != nil {
		return err
	}
	if err := run(ctx, sqlitedb.New(r.prepared)); err != nil {
		return classifyRead(ctx, operation, err)
	}
	return nil
}

// snapshot runs a call in a transaction, so that all its queries see the same
// state. The context's end interrupts it.
func (r *readers) snapshot(
	ctx context.Context, operation string, run func(context.Context, *sqlitedb.Queries) error,
) error {
	if err := r.ready(ctx, operation); err != nil {
		return err
	}
	if err := r.prepared.prepareUsed(ctx); err != nil {
		return classifyRead(ctx, operation, err)
	}
	snapshot, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return classifyRead(ctx, operation, err)
	}
	// Nothing was written, so there is nothing that a commit could keep.
	defer func() { _ = snapshot.Rollback() }()
	if err := run(ctx, sqlitedb.New(preparedIn{snapshot, r.prepared})); err != nil {
		return classifyRead(ctx, operation, err)
	}
	return nil
}

// classifyRead is classify for a call that its context may have interrupted, in
// which case SQLite's own report says less.
func classifyRead(ctx context.Context, operation string, err error) error {
	err = classify(operation, err)
	if ctx.Err() != nil && provider.IsRetryable(err) {
		return provider.ContextError(ctx, operation)
	}
	return err
}

func (r *readers) close() error { return classifyClose(r.prepared.close(), r.db.Close()) }
