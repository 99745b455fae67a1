package otel_test

import (
	"context"
	"fmt"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/otel"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// A client that counts what it starts. A worker takes the same hook, as worker.Options.Hook.
func ExampleNew() {
	ctx := context.Background()
	store, err := sqlite.OpenMemory(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()
	reader := sdkmetric.NewManualReader() // in a program an exporter's
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	telemetry := otel.New(otel.Config{MeterProvider: meters, Store: store})
	c := client.New(store, client.WithHook(telemetry))
	if err := c.StartNamed(ctx, "Order", "order-1", nil); err != nil {
		fmt.Println(err)
		return
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		fmt.Println(err)
		return
	}
	for _, metric := range data.ScopeMetrics[0].Metrics {
		fmt.Println(metric.Name)
	}
	// Unordered output:
	// duroxide_client_orchestration_starts_total
	// duroxide_provider_operation_duration_seconds
	// duroxide_active_orchestrations
	// duroxide_orchestrator_queue_depth
	// duroxide_worker_queue_depth
}
