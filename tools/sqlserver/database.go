package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"
)

// wait is how a server that starts is waited for.
type wait struct {
	// patience is how long it may take until a login succeeds, pause the time between two tries.
	patience, pause time.Duration
	// create logs in to the URL of the database master and makes the database anew.
	create func(ctx context.Context, master string, rowVersions bool) error
}

func newWait() wait {
	return wait{patience: 3 * time.Minute, pause: time.Second, create: createDatabase}
}

// database makes an empty database on the server and returns its URL. The URL of the server names no database. It is
// tried until the server accepts the login, or ctx ends.
func (w wait) database(ctx context.Context, server *url.URL, rowVersions bool) (dsn string, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	master := withDatabase(server, "master")
	for {
		if err = w.create(ctx, master, rowVersions); err == nil {
			return withDatabase(server, database), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the server does not accept a login: %w", errors.Join(err, ctx.Err()))
		case <-time.After(w.pause):
		}
	}
}

func withDatabase(server *url.URL, name string) string {
	u := *server
	query := u.Query()
	query.Set("database", name)
	u.RawQuery = query.Encode()
	return u.String()
}

// createDatabase makes the database under test, in place of one that an earlier run has left.
func createDatabase(ctx context.Context, master string, rowVersions bool) (err error) {
	db, err := sql.Open("sqlserver", master)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	setting := "OFF"
	if rowVersions {
		setting = "ON"
	}
	for _, statement := range []string{
		"IF DB_ID('" + database + "') IS NOT NULL DROP DATABASE " + database,
		"CREATE DATABASE " + database,
		"ALTER DATABASE " + database + " SET READ_COMMITTED_SNAPSHOT " + setting,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
