package mssql

import (
	"context"
	"errors"
	"time"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
)

// Whether doing a call twice is the same as doing it once, see [Store.call].
const (
	once       = false
	repeatable = true
)

// giveBackTime bounds the call that returns what a fetch that was cut off has locked.
const giveBackTime = 5 * time.Second

// claim runs a call that locks something under a new token. Such a call is not
// repeated when its outcome is unknown: it might hold one thing and lock another. What
// it may hold is given back instead, so that nothing lies locked until a lease ends
// with nobody at work on it.
//
// What somebody's transaction keeps locked is nothing to fetch now: that is no error.
func (s *Store) claim(
	ctx context.Context, operation string, try, giveBack func(context.Context, *mssqldb.Queries) error,
) error {
	return s.call(ctx, operation, once, func(ctx context.Context, q *mssqldb.Queries) error {
		err := try(ctx, q)
		_, answered := errors.AsType[mssqldriver.Error](err)
		switch {
		case err == nil, isLockTimeout(err):
			return nil
		case answered && ctx.Err() == nil:
			// The server has rolled back.
			return err
		}
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
		defer cancel()
		// If this fails too, or the token is unknown because nothing was locked, there is
		// nothing more to do: the error to report is the first.
		_ = giveBack(after, q)
		return err
	})
}

// filterKind is the same for fetches that would find the same.
func filterKind(filter *provider.CapabilityFilter) string {
	if filter == nil {
		return ""
	}
	versions, _ := filter.Range()
	return versions.Min.String() + "-" + versions.Max.String()
}
