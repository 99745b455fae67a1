package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// A charge that gets no answer is tried again after a timer, and after a longer one.
func Example_retry() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	var calls atomic.Int64
	unsteady := charge.Implement(func(_ context.Context, b bill) (answer, error) {
		if n := calls.Add(1); n < 3 {
			fmt.Println("call", n, "with the key", b.Key, "gets no answer")
			return answer{}, errors.New("no answer")
		}
		return answer{Receipt: fmt.Sprint("receipt for ", b.Cents)}, nil
	})
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = w.Register(payment, unsteady)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()

	run, err := client.Start(ctx, client.New(store, client.Options{}), payment, "payment-1", 49_00)
	if err == nil {
		fmt.Println(run.Wait(ctx))
	}
	cancel()
	fmt.Println(err, <-ended)
	// Output:
	// call 1 with the key payment-1 gets no answer
	// call 2 with the key payment-1 gets no answer
	// receipt for 4900 <nil>
	// <nil> <nil>
}
