package mssql_test

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// A store for the application: its user is in the role duroxide_runtime, and `duroxide migrate up` has been run before.
func ExampleOpen() { //nolint:testableexamples // it needs a server
	ctx := context.Background()
	store, err := mssql.Open(ctx, os.Getenv("DUROXIDE_STORE"), mssql.Options{
		// Five of these processes then open 100 connections, which is what this database can serve.
		MaxOpenConns: 20,
	})
	if err != nil {
		log.Fatal(err) // says what to do, and never shows the connection string
	}
	defer store.Close()

	start := provider.StartOrchestrationItem{Instance: "order-42", Orchestration: "Order", Input: `{"id":42}`, ExecutionID: 1}
	if err := store.EnqueueForOrchestrator(ctx, start, 0); err != nil {
		log.Print(err)
	}
}

// An order is stored and the orchestration that handles it is started, or neither. The application and the store share
// a database, and here also a pool of connections.
func ExampleStore_EnqueueTx() { //nolint:testableexamples // it needs a server
	placeOrder := func(ctx context.Context, db *sql.DB, store *mssql.Store) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // does nothing after the commit
		if _, err := tx.ExecContext(ctx, "INSERT INTO dbo.orders (id, customer) VALUES (@p1, @p2)", 42, "Ada"); err != nil {
			return err
		}
		start := provider.StartOrchestrationItem{Instance: "order-42", Orchestration: "Order", Input: `{"id":42}`, ExecutionID: 1}
		if err := store.EnqueueTx(ctx, tx, start, 0); err != nil {
			return err
		}
		return tx.Commit()
	}

	ctx := context.Background()
	db, err := sql.Open("sqlserver", os.Getenv("ORDERS_DB"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := mssql.New(db, mssql.Options{})
	if err != nil {
		log.Print(err)
		return
	}
	defer store.Close()
	if err := placeOrder(ctx, db, store); err != nil {
		log.Print(err)
	}
}
