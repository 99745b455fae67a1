package otel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The buckets of histograms.
var (
	orchestrationSeconds = []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600}
	activitySeconds      = []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	childSeconds         = []float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 600}
	storeSeconds         = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5}
	historyEvents        = []float64{10, 50, 100, 500, 1000, 5000, 10000}
	turnCounts           = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500}
	milliseconds         = []float64{1, 5, 10, 50, 100, 500, 1000, 5000, 10000, 60000}
)

// counter counts, unless nobody reads it.
type counter struct{ metric.Int64Counter }

func (c counter) add(ctx context.Context, n int, labels ...attribute.KeyValue) {
	if n > 0 && c.Enabled(ctx) {
		c.Add(ctx, int64(n), metric.WithAttributes(labels...))
	}
}

// histogram collects values, unless nobody reads it.
type histogram struct{ metric.Float64Histogram }

func (h histogram) record(ctx context.Context, value float64, labels ...attribute.KeyValue) {
	if h.Enabled(ctx) {
		h.Record(ctx, value, metric.WithAttributes(labels...))
	}
}

// enabler is an instrument that knows whether somebody reads it.
type enabler interface {
	Enabled(ctx context.Context) bool
}

// instruments makes them. A name that is refused is told to OpenTelemetry's error handler, and
// nothing is measured under it.
type instruments struct {
	meter metric.Meter
	made  []enabler
}

func (i *instruments) counter(name, description string) counter {
	c, err := i.meter.Int64Counter("duroxide_"+name, metric.WithDescription(description))
	handle(err)
	i.made = append(i.made, c)
	return counter{c}
}

func (i *instruments) histogram(name, description string, buckets []float64) histogram {
	h, err := i.meter.Float64Histogram("duroxide_"+name, metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(buckets...))
	handle(err)
	i.made = append(i.made, h)
	return histogram{h}
}

func (i *instruments) gauge(name, description string) metric.Int64ObservableGauge {
	g, err := i.meter.Int64ObservableGauge("duroxide_"+name, metric.WithDescription(description))
	handle(err)
	return g
}

func handle(err error) {
	if err != nil {
		otel.Handle(err)
	}
}
