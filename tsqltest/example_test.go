package tsqltest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsqltest"
)

// A shop's procedures are called by the usual driver: a table-valued parameter, an OUTPUT parameter, a result set, and an
// error that the procedure throws.
func Example() {
	ctx := context.Background()
	server, err := tsqltest.Start(tsqltest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	if err := server.ApplyFS(ctx, os.DirFS("testdata/shop"), "schema.sql", "procedures/*.sql"); err != nil {
		log.Fatal(err)
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
		log.Fatal(err)
	}
	var refused mssql.Error
	if err := order(line{"tea", 1}, line{"pot", 1}); errors.As(err, &refused) {
		fmt.Println(refused.Number, refused.Message)
	}

	// Output:
	// 1 cup 12.00
	// 2 tea 9.00
	// order 1
	// 50001 Something is out of stock.
}
