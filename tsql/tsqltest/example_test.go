package tsqltest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// A shop's procedures are called by the usual driver: a table-valued parameter, an OUTPUT parameter, a result set, and
// an error that the procedure throws.
func Example() {
	if err := shop(context.Background()); err != nil {
		fmt.Println(err)
	}

	// Output:
	// 1 cup 12.00
	// 2 tea 9.00
	// order 1
	// 50001 Something is out of stock.
}

// shop orders something.
func shop(ctx context.Context) error {
	// In a test, tsqltest.New(t, …) starts a server that ends with it, and server.Apply(t, …) fails it.
	server, err := tsqltest.Start(tsqltest.Options{})
	if err != nil {
		return err
	}
	defer server.Close()
	if err := server.ApplyFS(ctx, os.DirFS("testdata/shop"), "schema.sql", "procedures/*.sql"); err != nil {
		return err
	}

	type line struct {
		SKU      string
		Quantity int32
	}
	order := func(lines ...line) error {
		var id int64
		rows, err := server.DB().QueryContext(ctx, "dbo.place_order",
			sql.Named("customer", "Ada"), sql.Named("lines", mssql.TVP{TypeName: "dbo.lines", Value: lines}),
			sql.Named("id", sql.Out{Dest: &id}))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var sku, total string
			var quantity int
			if err := rows.Scan(&sku, &quantity, &total); err != nil {
				return err
			}
			fmt.Println(quantity, sku, total)
		}
		fmt.Println("order", id)
		return rows.Err()
	}

	if err := order(line{"tea", 2}, line{"cup", 1}); err != nil {
		return err
	}
	err = order(line{"tea", 1}, line{"pot", 1})
	if refused, ok := errors.AsType[mssql.Error](err); ok {
		fmt.Println(refused.Number, refused.Message)
		return nil
	}
	return err
}
