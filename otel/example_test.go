package otel_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/otel"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// One hook for worker and client: an instance is one trace, and the metrics count it. Instead of
// keeping both in memory, a real program exports them.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	check(err)
	defer store.Close()
	spans, metrics := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	telemetry := otel.New(otel.Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(metrics)),
	})

	greet := activity.New("Greet", func(_ context.Context, city string) (string, error) { return "Hello, " + city, nil })
	hello := orchestration.New("Hello", func(ctx *orchestration.Context, city string) (string, error) {
		return orchestration.Activity(ctx, greet, city).Await()
	})
	w, err := worker.New(store, worker.Options{Hook: telemetry, Logger: slog.New(slog.DiscardHandler)})
	check(err)
	check(w.Register(hello, greet))
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	run, err := client.Start(ctx, client.New(store, client.Options{Hook: telemetry}), hello, "hello-1", "Oslo")
	check(err)
	fmt.Println(run.Wait(ctx))
	cancel()
	check(<-done)

	var names []string
	for _, span := range spans.GetSpans() {
		names = append(names, span.Name)
	}
	slices.Sort(names)
	fmt.Println(slices.Compact(names))
	var collected metricdata.ResourceMetrics
	check(metrics.Collect(context.Background(), &collected))
	for _, metric := range collected.ScopeMetrics[0].Metrics {
		if metric.Name == "duroxide_orchestration_completions_total" {
			fmt.Println(metric.Name, metric.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
		}
	}
	// Output:
	// Hello, Oslo <nil>
	// [activity Greet orchestration Hello start Hello]
	// duroxide_orchestration_completions_total 1
}

// check ends an example that went wrong.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
