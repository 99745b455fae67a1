package rig

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	// The driver registers itself as "sqlite".
	_ "modernc.org/sqlite"
)

// CommitCounter counts the transactions that a SQLite file has seen, by SQLite's
// own count in the shared memory beside the file
// (https://sqlite.org/walformat.html, iChange).
type CommitCounter struct {
	index *os.File
}

// OpenCommitCounter opens the counter of a file that a store has open in
// write-ahead log mode.
//
// Close it after the store, never before: when a process closes any descriptor of
// a file, POSIX takes all the locks away that the process has on that file. SQLite
// keeps its locks on this one, and without them another process that closes the
// database believes to be the last and removes the log.
func OpenCommitCounter(file string) (*CommitCounter, error) {
	index, err := os.Open(file + "-shm")
	if err != nil {
		return nil, fmt.Errorf("counting commits: %w", err)
	}
	return &CommitCounter{index}, nil
}

// Commits returns the count. Only the difference of two means something.
func (c *CommitCounter) Commits() (uint32, error) {
	var count [4]byte
	const at = 8
	if _, err := c.index.ReadAt(count[:], at); err != nil {
		return 0, fmt.Errorf("counting commits: %w", err)
	}
	return binary.NativeEndian.Uint32(count[:]), nil
}

// Close closes the counter. See [OpenCommitCounter].
func (c *CommitCounter) Close() error { return c.index.Close() }

// RawCommitRate measures how many transactions a second the file takes when
// nothing else is asked of it: one connection, one updated row of 100 bytes each,
// with the given synchronous setting. The scratch table is removed again.
func RawCommitRate(ctx context.Context, file, synchronous string, d time.Duration) (rate float64, err error) {
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath()}).String() +
		"?_pragma=busy_timeout(5000)&_pragma=synchronous(" + synchronous + ")"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return 0, fmt.Errorf("measuring the raw commit rate: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	rate, err = commitFor(ctx, db, d)
	if err != nil {
		return 0, fmt.Errorf("measuring the raw commit rate: %w", err)
	}
	return rate, nil
}

// commitFor commits until d has passed.
func commitFor(ctx context.Context, db *sql.DB, d time.Duration) (rate float64, err error) {
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS bench_commit (id INTEGER PRIMARY KEY, data TEXT)"); err != nil {
		return 0, err
	}
	defer func() {
		_, dropErr := db.ExecContext(context.WithoutCancel(ctx), "DROP TABLE bench_commit")
		err = errors.Join(err, dropErr)
	}()
	statement, err := db.PrepareContext(ctx, "INSERT OR REPLACE INTO bench_commit (id, data) VALUES (1, ?)")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	began, n := time.Now(), 0
	for ; time.Since(began) < d; n++ {
		if _, err := statement.ExecContext(ctx, fmt.Sprintf("%0100d", n)); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
