package tsqltest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Two sessions want the same row. The second one does not wait: LOCK_TIMEOUT 0 makes the server answer with error 1222.
func ExampleServer_Connect() {
	ctx := context.Background()
	server := startShop(ctx)
	defer server.Close()
	ada, bob := connect(ctx, server), connect(ctx, server)
	defer ada.Close()
	defer bob.Close()

	execute(ctx, ada, "BEGIN TRANSACTION; EXEC dbo.reserve @sku = 'cup';")
	_, err := bob.Exec(ctx, "SET LOCK_TIMEOUT 0; SELECT stock FROM dbo.products WHERE sku = 'cup';")
	if refused, ok := errors.AsType[*tsqltest.Error](err); ok {
		fmt.Println(refused.Number, refused.Message)
	}

	execute(ctx, ada, "ROLLBACK;")
	result := execute(ctx, bob, "SELECT stock FROM dbo.products WHERE sku = 'cup';")
	fmt.Println("cups:", result.Sets[0].Rows[0][0])

	// Output:
	// 1222 Lock request time out period exceeded.
	// cups: 2
}

// Two sessions take the same rows in opposite order. The server finds the deadlock at once, and the session with the
// lower DEADLOCK_PRIORITY is the victim.
func ExampleServer_Connect_deadlock() {
	ctx := context.Background()
	server := startShop(ctx)
	defer server.Close()
	ada, bob := connect(ctx, server), connect(ctx, server)
	defer ada.Close()
	defer bob.Close()
	execute(ctx, bob, "SET DEADLOCK_PRIORITY LOW;")

	execute(ctx, ada, "BEGIN TRANSACTION; EXEC dbo.reserve @sku = 'tea';")
	execute(ctx, bob, "BEGIN TRANSACTION; EXEC dbo.reserve @sku = 'cup';")
	adas := make(chan error)
	go func() {
		_, err := ada.Exec(ctx, "EXEC dbo.reserve @sku = 'cup';")
		adas <- err
	}()
	_, err := bob.Exec(ctx, "EXEC dbo.reserve @sku = 'tea';")
	if victim, ok := errors.AsType[*tsqltest.Error](err); ok {
		fmt.Println("Bob:", victim.Number)
	}
	fmt.Println("Ada:", <-adas)

	// Output:
	// Bob: 1205
	// Ada: <nil>
}

// startShop starts a server with the shop's scripts.
func startShop(ctx context.Context) *tsqltest.Server {
	server, err := tsqltest.Start(tsqltest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.ApplyFS(ctx, os.DirFS("testdata/shop"), "schema.sql", "procedures/*.sql"); err != nil {
		log.Fatal(err)
	}
	return server
}

func connect(ctx context.Context, server *tsqltest.Server) *tsqltest.Conn {
	conn, err := server.Connect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	return conn
}

func execute(ctx context.Context, conn *tsqltest.Conn, batch string) *tsqltest.Result {
	result, err := conn.Exec(ctx, batch)
	if err != nil {
		log.Fatal(err)
	}
	return result
}
