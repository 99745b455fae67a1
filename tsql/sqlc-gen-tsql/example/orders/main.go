// Command orders shows generated calls at work on a SQL Server: it creates the small shop of the folder sql, orders
// something, orders too much, ships, and removes the shop again.
//
//	ORDERS_DSN='sqlserver://user:password@host?database=db' go run ./sqlc-gen-tsql/example/orders
//
// The login must be allowed to create a schema. The schema "shop" must not exist; it is dropped at the end.
package main

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"time"

	_ "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/batch"
	"github.com/shopspring/decimal"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/example/orders/ordersdb"
)

//go:embed sql/schema/*.sql sql/procedures/*.sql
var scripts embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Getenv("ORDERS_DSN"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// run plays one day of the shop on the server and prints what happened.
func run(ctx context.Context, dsn string, out io.Writer) (err error) {
	if dsn == "" {
		return errors.New("set ORDERS_DSN to the server's URL, sqlserver://user:password@host?database=db")
	}
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	if err := install(ctx, db); err != nil {
		return fmt.Errorf("creating the shop: %w", err)
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx), db)) }()

	return trade(ctx, ordersdb.New(db), out)
}

// trade calls what was generated.
func trade(ctx context.Context, q *ordersdb.Queries, out io.Writer) error {
	customer, err := q.AddCustomer(ctx, ordersdb.AddCustomerParams{Email: "ada@example.org", FullName: "Ada 🦉"})
	if err != nil {
		return err
	}
	if _, err := q.AddProduct(ctx, []ordersdb.AddProductParams{
		{Sku: "OWL", Title: "Owl, brass", Price: decimal.RequireFromString("19.90"), InStock: 3},
		{Sku: "TEA", Title: "Thé à la menthe", Price: decimal.RequireFromString("4.25"), InStock: 10},
	}); err != nil {
		return err
	}

	order := ordersdb.PlaceOrderParams{
		CustomerID: customer,
		Lines:      []ordersdb.OrderLineListV1Row{{Sku: "OWL", Quantity: 2}, {Sku: "TEA", Quantity: 4}},
	}
	placed, err := q.PlaceOrder(ctx, order)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "placed: %d lines\n", len(placed.Lines))

	// The stock holds one owl now: the procedure throws 50002, nothing is changed.
	if _, err := q.PlaceOrder(ctx, order); !errors.Is(err, ordersdb.ErrOutOfStock) {
		return fmt.Errorf("ordering too much: got %w, expected ErrOutOfStock", err)
	}
	fmt.Fprintln(out, "refused: out of stock")

	if err := deliver(ctx, q, out); err != nil {
		return err
	}
	return report(ctx, q, customer, out)
}

// deliver ships all open orders.
func deliver(ctx context.Context, q *ordersdb.Queries, out io.Writer) error {
	open, err := q.ListOpenOrders(ctx, ordersdb.ListOpenOrdersParams{Before: time.Now().Add(time.Hour)})
	if err != nil {
		return err
	}
	for _, next := range open {
		fmt.Fprintf(out, "to be paid, with the parcel: %s\n", next.Total)
		shipped, err := q.ShipNextOrder(ctx, ordersdb.ShipNextOrderParams{})
		if err != nil {
			return err
		}
		order, err := q.GetOrder(ctx, ordersdb.GetOrderParams{PublicID: shipped.Shipped.PublicID})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "shipped to %s:\n", order.Header.FullName)
		for _, line := range order.Lines {
			fmt.Fprintf(out, "  %d × %s = %s\n", line.Quantity, *line.Title, line.Amount)
		}
	}
	return nil
}

// report prints what a customer has bought. The names of these fields are the generator's: see report_sales.sql.
func report(ctx context.Context, q *ordersdb.Queries, customer int32, out io.Writer) error {
	sales, err := q.ReportSales(ctx, ordersdb.ReportSalesParams{CustomerID: customer})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "sold in %d order:\n", sales.Orders)
	for _, p := range sales.Products {
		fmt.Fprintf(out, "  %d × %s at %s, now %s\n", p.Column4, p.Title, p.Price2, p.Price)
	}
	return nil
}

// install runs the scripts in the order of their names, batch by batch. The price of a parcel takes the place of
// $(parcel).
func install(ctx context.Context, db *sql.DB) error {
	for _, pattern := range []string{"sql/schema/*.sql", "sql/procedures/*.sql"} {
		names, err := fs.Glob(scripts, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := scripts.ReadFile(name)
			if err != nil {
				return err
			}
			for _, statement := range batch.Split(strings.ReplaceAll(string(text), "$(parcel)", "4.90"), "GO") {
				if _, err := db.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// remove drops everything that install creates.
func remove(ctx context.Context, db *sql.DB) error {
	for _, object := range []string{
		"PROCEDURE shop.ship_next_order", "PROCEDURE shop.get_order", "PROCEDURE shop.place_order", "PROCEDURE shop.report_sales",
		"VIEW shop.v_open_orders", "TYPE shop.order_line_list_v1",
		"TABLE shop.order_lines", "TABLE shop.orders", "TABLE shop.products", "TABLE shop.customers",
		"SCHEMA shop",
	} {
		if _, err := db.ExecContext(ctx, "DROP "+object); err != nil {
			return fmt.Errorf("dropping %s: %w", object, err)
		}
	}
	return nil
}
