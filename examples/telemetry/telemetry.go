package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/otel"
	"github.com/duroxide/duroxide-go/provider"
)

// telemetry is a hook with the exporters behind it.
type telemetry struct {
	hook hook.Hook
	// metrics answers Prometheus.
	metrics http.Handler
	traces  *sdktrace.TracerProvider
	meters  *sdkmetric.MeterProvider
}

// begin exports traces by OTLP, and metrics by OTLP and to Prometheus.
func begin(ctx context.Context, store provider.Provider) (*telemetry, error) {
	collector := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://localhost:4318")
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(collector+"/v1/traces"))
	if err != nil {
		return nil, err
	}
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(collector+"/v1/metrics"))
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	scraped, err := prometheusexporter.New(prometheusexporter.WithRegisterer(registry), prometheusexporter.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	about := resource.NewSchemaless(attribute.String("service.name", "duroxide-example"))
	t := &telemetry{
		metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		traces:  sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about)),
		meters: sdkmetric.NewMeterProvider(
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)), sdkmetric.WithReader(scraped), sdkmetric.WithResource(about)),
	}
	t.hook = otel.New(otel.Options{TracerProvider: t.traces, MeterProvider: t.meters, Store: store})
	return t, nil
}

// shutdown sends what is left.
func (t *telemetry) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(t.traces.Shutdown(ctx), t.meters.Shutdown(ctx))
}
