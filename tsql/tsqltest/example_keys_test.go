package tsqltest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// A call of the driver, and the keys that the statements in it touch: the same ones however many products there are,
// because each is sought.
func ExampleServer_CountKeys() {
	ctx := context.Background()
	server := startShop(ctx)
	defer server.Close()

	var stock int
	keys := server.CountKeys(func() {
		if err := server.DB().QueryRowContext(ctx, "EXEC dbo.reserve @sku = 'tea'").Scan(&stock); err != nil {
			log.Fatal(err)
		}
	})
	fmt.Print(keys)
	fmt.Println("in all:", keys.Total())

	// Output:
	// place          statement            table         index        access  locks  keys  of them
	// dbo.reserve:5  UPDATE dbo.products  dbo.products  pk_products  seek    U      1
	// dbo.reserve:5  UPDATE dbo.products  dbo.products  pk_products  write   X      1
	// dbo.reserve:9  SELECT p.stock       dbo.products  pk_products  seek    S      1
	// in all: 3
}

// What nobody has an index for is scanned. Where is for the part that a test is about.
func ExampleKeys_Where() {
	ctx := context.Background()
	server := startShop(ctx)
	defer server.Close()
	conn := connect(ctx, server)
	defer conn.Close()

	keys := execute(ctx, conn, "SELECT sku FROM dbo.products WHERE name = N'A cup'").Keys()
	scans := keys.Where(func(k tsqltest.KeyCount) bool { return k.Access == "scan" })
	fmt.Println(scans.Total(), "products are read for one")

	// Output:
	// 3 products are read for one
}
