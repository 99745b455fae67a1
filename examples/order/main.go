// Command order is a worker that handles the orders of a shop: a large one waits for
// somebody's decision, a charge that fails is tried again, and what was reserved for
// nothing is released. It works until it is interrupted, on the file orders.db:
//
//	go run ./examples/order
//
// The orders come from another terminal, as they might from another program:
//
//	export DUROXIDE_STORE=sqlite:orders.db
//	duroxide start Order order-1 '{"item":"chair","cents":4900}' --wait
//	duroxide start Order order-2 '{"item":"piano","cents":490000}'
//	duroxide raise order-2 decision '{"approved":true,"by":"Ada"}'
//	duroxide history order-2
//
// Files: order.go (Order in two versions, with an event and a deadline), payment.go (the
// sub-orchestration that tries again), shop.go (the activities).
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := work(ctx, "orders.db", shop{charge: sandbox})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// work handles the orders in a file until ctx ends.
func work(ctx context.Context, file string, s shop) error {
	store, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return err
	}
	w, err := worker.New(store, worker.Options{})
	if err == nil {
		err = w.Register(append(s.activities(), firstOrder, newOrder, payment)...) // the latest version last
	}
	if err == nil {
		err = w.Run(ctx)
	}
	return errors.Join(err, store.Close())
}
