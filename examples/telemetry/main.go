// Command telemetry runs orchestrations that are traced and measured with OpenTelemetry.
//
//	docker compose up -d      # a collector, Jaeger and Prometheus
//	go run .                  # in this folder; ends with Ctrl-C
//
// It starts an order a second. Traces and metrics go to the collector by OTLP, to
// http://localhost:4318 unless OTEL_EXPORTER_OTLP_ENDPOINT says otherwise. The collector hands
// traces to Jaeger (http://localhost:16686). Metrics can be read from the program itself, too,
// as Prometheus does: http://localhost:9464/metrics.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:9464")
	if err == nil {
		err = run(ctx, listener, func(n int) {
			log.Printf("order %d is done", n)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		})
	}
	if err != nil {
		log.Print(err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

// reserve fails for each third order at its first try.
var reserve = activity.New("Reserve", func(ctx context.Context, order int) (string, error) {
	info, _ := activity.InfoFrom(ctx)
	if order%3 == 0 && info.ActivityID == 2 {
		return "", errors.New("the warehouse is closed for a moment")
	}
	return fmt.Sprint("reserved ", order), nil
})

var charge = activity.New("Charge", func(_ context.Context, order int) (string, error) {
	return fmt.Sprint("charged ", order), nil
})

// order has two steps, the first of them with retries.
var order = orchestration.New("Order", func(ctx *orchestration.Context, n int) (string, error) {
	retry := retry.Policy{MaxAttempts: 3, Backoff: retry.Constant(200 * time.Millisecond)}
	if _, err := orchestration.Activity(ctx, reserve, n, orchestration.WithRetry(retry)).Await(); err != nil {
		return "", err
	}
	return orchestration.Activity(ctx, charge, n).Await()
})

// run works until ctx ends, and then sends what is left to the collector. done is called after
// each order.
func run(ctx context.Context, listener net.Listener, done func(order int)) (err error) {
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	telemetry, err := begin(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, telemetry.shutdown(ctx)) }() // before the store is closed, which it asks
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(ctx, listener, telemetry.metrics) })
	group.Go(func() error { return work(ctx, store, telemetry.hook) })
	group.Go(func() error { return startOrders(ctx, store, telemetry.hook, done) })
	return group.Wait()
}

// serve lets Prometheus read the metrics.
func serve(ctx context.Context, listener net.Listener, metrics http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	log.Printf("metrics for Prometheus: http://%s/metrics", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// work is a worker with the hook.
func work(ctx context.Context, store provider.Provider, h hook.Hook) error {
	w, err := worker.New(store, worker.Options{Hook: h})
	if err != nil {
		return err
	}
	if err := w.Register(order, reserve, charge); err != nil {
		return err
	}
	return w.Run(ctx)
}

// startOrders starts orders by a client with the hook, and waits for each.
func startOrders(ctx context.Context, store provider.Provider, h hook.Hook, done func(order int)) error {
	c := client.New(store, client.Options{Hook: h})
	for n := 1; ; n++ {
		started, err := client.Start(ctx, c, order, fmt.Sprint("order-", n), n)
		if err == nil {
			_, err = started.Wait(ctx)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop
		}
		if err != nil {
			return err
		}
		done(n)
	}
}
