package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// sessionOptions is sent once the lock is held: Babelfish breaks the connection when a
// wait for the lock ends under XACT_ABORT. The first two are frozen into modules
// and asked for by filtered indexes (rule P7); the third makes every error undo its
// whole transaction. A step gives way to the workers: it is the one to be chosen in a
// deadlock, and it waits 10 seconds at most for a lock, because whoever needs a table
// that it waits for waits behind it.
const sessionOptions = `SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;
SET XACT_ABORT ON;
SET NOCOUNT ON;
SET DEADLOCK_PRIORITY LOW;
SET LOCK_TIMEOUT 10000;`

// maxAttempts is how often a step is tried that loses against workers.
const maxAttempts = 5

// lockName names the application lock. Whether two spellings are one schema is up to
// the database's collation; taking both for one does no harm.
func lockName(schema string) string {
	return "duroxide migration of " + strings.ToLower(schema)
}

// session is the connection of a migration, with the lock.
type session struct {
	conn   *sql.Conn
	schema string
	log    *slog.Logger
	// cut is for tests, which end the process, so to speak, at a point of a step.
	cut func(step Step, at cutPoint) error
}

// cutPoint is a moment of a step at which a process may die.
type cutPoint string

const (
	cutBeforeCommit cutPoint = "before commit"
	cutAfterCommit  cutPoint = "after commit"
)

// withLock runs f on a connection of its own that holds the lock. The connection is
// closed afterwards, not returned to the pool: with it go the lock and the options.
func (m *Migration) withLock(ctx context.Context, f func(*session) error) error {
	conn, err := m.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		// database/sql closes a connection that says this, and Raw returns just that.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}()
	s := &session{conn: conn, schema: m.schema(), log: m.logger(), cut: m.cut}
	if err := s.lock(ctx); err != nil {
		return fmt.Errorf("waiting for the lock %q: %w", lockName(s.schema), err)
	}
	if _, err := conn.ExecContext(ctx, sessionOptions); err != nil {
		return fmt.Errorf("setting the options of the session: %w", err)
	}
	return f(s)
}

// lock takes the application lock, however long another process holds it; the context
// sets the limit. It asks again every second, because not every server gives up
// waiting when the client does. The first time it hardly waits, so that somebody who
// watches is told at once.
func (s *session) lock(ctx context.Context) error {
	const query = `DECLARE @result INT;
EXEC @result = sp_getapplock @Resource = @p1, @LockMode = N'Exclusive', @LockOwner = N'Session', @LockTimeout = @p2;
SELECT @result;`
	// Not 0: Babelfish calls that an error.
	for waitMS := 1; ; waitMS = 1000 {
		var result int
		if err := s.conn.QueryRowContext(ctx, query, lockName(s.schema), waitMS).Scan(&result); err != nil {
			// A driver has errors of its own for a call that was cancelled.
			if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
				return fmt.Errorf("%w: %w", cause, err)
			}
			return err
		}
		switch {
		case result >= 0:
			return nil
		case result != -1:
			return fmt.Errorf("sp_getapplock returned %d", result)
		case waitMS == 1:
			s.log.InfoContext(ctx, "another process is migrating the schema; waiting for it", "schema", s.schema)
		}
	}
}

// apply runs one step, again if it lost against somebody who uses the schema: it has
// left nothing behind then.
func (s *session) apply(ctx context.Context, step Step) error {
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, step)
		if attempt == maxAttempts || !isLockConflict(err) {
			return err
		}
		s.log.InfoContext(ctx, "a migration step found the schema busy and is repeated",
			"schema", s.schema, "step", step.Name, "attempt", attempt, "error", err)
		if err := pause(ctx, time.Duration(attempt)*100*time.Millisecond); err != nil {
			return err
		}
	}
}

// attempt runs the batches of a step in one transaction.
func (s *session) attempt(ctx context.Context, step Step) error {
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning %s: %w", step.Name, err)
	}
	// After a commit this does nothing; after an error the server has rolled back
	// already, which is no news.
	defer func() { _ = tx.Rollback() }()
	for _, batch := range step.Batches {
		for range batch.Repeat {
			if _, err := tx.ExecContext(ctx, batch.Text); err != nil {
				return batchError(step.Name, batch, err)
			}
		}
	}
	if err := s.maybeCut(step, cutBeforeCommit); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing %s: %w", step.Name, err)
	}
	return s.maybeCut(step, cutAfterCommit)
}

func (s *session) maybeCut(step Step, at cutPoint) error {
	if s.cut == nil {
		return nil
	}
	return s.cut(step, at)
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
