package mssql_test

import (
	"context"
	"database/sql"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// What docs/sqlserver.md shows of Go and no example has: TestManualShowsCompiledGo compares the lines.
var _ = func(ctx context.Context) (*mssql.Store, error) {
	store, err := mssql.Open(ctx, "sqlserver://orders_app:password@host:1433?database=orders", mssql.Options{})
	return store, err
}

type order struct{ ID int }

// Order is the orchestration of the manual.
var Order = orchestration.New("Order", func(*orchestration.Context, order) (string, error) { return "", nil })

var _ = func(ctx context.Context, db *sql.DB, c *client.Client) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after the commit
	if _, err := tx.ExecContext(ctx, "INSERT INTO dbo.orders (id, customer) VALUES (@p1, @p2)", 42, "Ada"); err != nil {
		return err
	}
	if _, err := client.Start(ctx, c, Order, "order-42", order{ID: 42}, client.InTx(tx)); err != nil {
		return err
	}
	return tx.Commit()
}
