package mssql_test

import (
	"context"

	"github.com/duroxide/duroxide-go/provider/mssql"
)

// What docs/sqlserver.md shows of Go and no example has: TestManualShowsCompiledGo compares the lines.
var _ = func(ctx context.Context) (*mssql.Store, error) {
	store, err := mssql.Open(ctx, "sqlserver://orders_app:password@host:1433?database=orders", nil)
	return store, err
}
