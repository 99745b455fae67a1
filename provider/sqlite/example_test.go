package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// A store on its own, without the runtime: a message goes in, and comes out locked.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "orders.db"), sqlite.Options{
		// Faster, and still safe from everything but the loss of power.
		Synchronous: sqlite.Normal,
	})
	if err != nil {
		log.Print(err)
		return
	}
	defer store.Close()

	start := provider.StartOrchestrationItem{Instance: "order-42", Orchestration: "Order", ExecutionID: 1}
	if err := store.EnqueueForOrchestrator(ctx, start, 0); err != nil {
		log.Print(err)
		return
	}
	turn, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(turn.Item.Instance, turn.Item.OrchestrationName, "attempt", turn.AttemptCount)
	// Output: order-42 Order attempt 1
}
