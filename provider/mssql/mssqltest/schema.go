package mssqltest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

const (
	// prefix begins the names of all schemas that are made here. The time follows, so that those which a run left
	// behind can be told from those of a run in progress.
	prefix = "duroxide_test_"
	// stamp is the layout of that time, UTC.
	stamp = "060102150405"
	// leftover is the age from which on a schema is one that was left behind.
	leftover = 24 * time.Hour
	// migrationPatience bounds making or dropping a schema.
	migrationPatience = 5 * time.Minute
)

// NewSchema makes a schema with everything in it that the store needs, and drops it when the test ends.
func NewSchema(t testing.TB) string {
	t.Helper()
	name := Name()
	Drop(t, name)
	if err := up(t.Context(), DB(t), name); err != nil {
		t.Fatalf("making schema %s: %v", name, err)
	}
	return name
}

// Name is a name for a schema that the test makes by itself. Should it be left behind, a later run drops what the
// migration put into it.
func Name() string { return nameAt(time.Now()) }

func nameAt(now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	return prefix + now.UTC().Format(stamp) + "_" + hex.EncodeToString(random[:])
}

// Drop drops the schema when the test ends. A schema that is missing then is no error.
func Drop(t testing.TB, schema string) {
	t.Helper()
	db := DB(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), migrationPatience)
		defer cancel()
		if err := drop(ctx, db, schema); err != nil {
			t.Error(err)
		}
	})
}

func drop(ctx context.Context, db *sql.DB, schema string) error {
	if _, err := migration(db, schema).Drop(ctx); err != nil {
		return fmt.Errorf("dropping schema %s: %w", schema, err)
	}
	return nil
}

func migration(db *sql.DB, schema string) *migrate.Migration {
	return &migrate.Migration{DB: db, Schema: schema}
}

// sweep drops the schemas that earlier runs have left behind. One that cannot be dropped, because its scripts were
// others, is left to whoever made it.
func sweep(ctx context.Context, db *sql.DB, now time.Time) error {
	names, err := column(ctx, db, "SELECT s.name FROM sys.schemas AS s ORDER BY s.name")
	if err != nil {
		return fmt.Errorf("looking for schemas that earlier tests left behind: %w", err)
	}
	for _, name := range names {
		if isLeftover(name, now) {
			_ = drop(ctx, db, name)
		}
	}
	return nil
}

// isLeftover reports whether a schema's name is one of ours and old.
func isLeftover(name string, now time.Time) bool {
	rest, ours := strings.CutPrefix(name, prefix)
	if !ours || len(rest) < len(stamp) {
		return false
	}
	made, err := time.Parse(stamp, rest[:len(stamp)])
	return err == nil && now.Sub(made) > leftover
}

// column reads a query's only column.
func column(ctx context.Context, db *sql.DB, query string, args ...any) (values []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}
