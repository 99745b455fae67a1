package rig

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	// The driver registers itself as "sqlite".
	_ "modernc.org/sqlite"
)

// Commits returns how many transactions the SQLite file has seen since its
// write-ahead log was opened, from SQLite's own count in the shared memory beside
// the file (https://sqlite.org/walformat.html, iChange). Only the difference of
// two readings means something. ok is false when there is no such count.
func Commits(file string) (n uint32, ok bool) {
	if file == "" {
		return 0, false
	}
	index, err := os.Open(file + "-shm")
	if err != nil {
		return 0, false
	}
	defer func() { _ = index.Close() }() // it was only read
	var header [12]byte
	if _, err := io.ReadFull(index, header[:]); err != nil {
		return 0, false
	}
	return binary.NativeEndian.Uint32(header[8:]), true
}

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
