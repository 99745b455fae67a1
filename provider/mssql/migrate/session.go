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

	"github.com/duroxide/duroxide-go/internal/clock"
)

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

// withLock runs f on a connection that holds the lock, however long another process
// holds it; the context sets the limit.
func (m *Migration) withLock(ctx context.Context, f func(*session) error) error {
	// The first time it does not wait, so that somebody who watches is told at once.
	wait := time.Duration(0)
	for {
		busy, err := m.tryWithLock(ctx, wait, f)
		if !busy || err != nil {
			return err
		}
		if wait < time.Second {
			m.logger().InfoContext(ctx, "another process is migrating the schema; waiting for it", "schema", m.schema())
			wait = time.Second
		}
	}
}

// tryWithLock waits for the lock for a while and runs f with it, or reports that it is
// busy. The connection is closed afterwards, not returned to the pool: with it go the
// lock and the options.
func (m *Migration) tryWithLock(ctx context.Context, wait time.Duration, f func(*session) error) (busy bool, err error) {
	conn, err := m.DB.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		// database/sql closes a connection that says this, and Raw returns just that.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}()
	s := &session{conn: conn, schema: m.schema(), log: m.logger(), cut: m.cut}
	if busy, err = s.lock(ctx, wait); err != nil {
		return false, fmt.Errorf("waiting for the lock %q: %w", lockName(s.schema), err)
	}
	if busy {
		return true, nil
	}
	if _, err := conn.ExecContext(ctx, sessionOptions); err != nil {
		return false, fmt.Errorf("setting the options of the session: %w", err)
	}
	return false, f(s)
}

// lock takes the application lock, unless it stays busy. The wait is short: a driver
// whose call is cancelled waits for the server to notice.
func (s *session) lock(ctx context.Context, wait time.Duration) (busy bool, err error) {
	var result int
	err = s.conn.QueryRowContext(ctx, takeLock, lockName(s.schema), wait.Milliseconds()).Scan(&result)
	switch {
	case err != nil:
		return false, withCause(ctx, err)
	case result == lockTimedOut:
		return true, nil
	case result < 0:
		return false, fmt.Errorf("sp_getapplock returned %d", result)
	}
	return false, nil
}

// withCause makes an error match the context's, if that has ended. Drivers have errors of their own for a call that was
// cancelled, and a transaction whose context has ended may only say that it is done.
func withCause(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// lockTimedOut is what sp_getapplock returns when somebody else has the lock.
const lockTimedOut = -1

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
		if err := clock.Sleep(ctx, time.Duration(attempt)*100*time.Millisecond); err != nil {
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
				return batchError(step.Name, batch, withCause(ctx, err))
			}
		}
	}
	if err := s.maybeCut(step, cutBeforeCommit); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing %s: %w", step.Name, withCause(ctx, err))
	}
	return s.maybeCut(step, cutAfterCommit)
}

func (s *session) maybeCut(step Step, at cutPoint) error {
	if s.cut == nil {
		return nil
	}
	return s.cut(step, at)
}
