package otel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/duroxide/duroxide-go/provider"
)

// gaugesKept is for how long what the store has counted is told again: counting reads much of
// the store.
const gaugesKept = 30 * time.Second

// gauges are what a store holds, as its management interface counts it.
type gauges struct {
	admin provider.Admin
	// full is nil for a store that has only the plain contract.
	full provider.Store
	list []gauge

	mu      sync.Mutex
	counted time.Time
	counts  counts
}

// counts are what a store has counted.
type counts struct {
	metrics provider.SystemMetrics
	depths  provider.QueueDepths
	held    int
	letters uint64
}

type gauge struct {
	instrument metric.Int64ObservableGauge
	value      func(counts) uint64
}

// observe has the store asked whenever metrics are collected.
func observe(store provider.Provider, build *instruments) {
	if store == nil || store.Admin() == nil {
		return
	}
	g := &gauges{admin: store.Admin()}
	var watched []metric.Observable
	add := func(name, description string, value func(counts) uint64) {
		instrument := build.gauge(name, description+", in the whole store.")
		g.list, watched = append(g.list, gauge{instrument, value}), append(watched, instrument)
	}
	add("active_orchestrations", "Instances that run or wait", func(c counts) uint64 { return c.metrics.RunningInstances })
	add("orchestrator_queue_depth", "Messages for instances, future timers included", func(c counts) uint64 { return c.depths.OrchestratorQueue })
	add("worker_queue_depth", "Activities that wait for a worker", func(c counts) uint64 { return c.depths.WorkerQueue })
	if full, ok := store.(provider.Store); ok {
		g.full = full
		add("unknown_orchestrations", "Instances that wait for code that no worker has", func(c counts) uint64 { return c.depths.UnknownOrchestrations })
		add("unknown_activities", "Activities that no worker takes, because none has them or none that has them takes their tags", func(c counts) uint64 { return c.depths.UnknownActivities })
		add("held_orchestrations", "Instances that are held, because their code does not fit their histories or cannot read them", func(c counts) uint64 { return uint64(c.held) })
		add("dead_letters", "Messages and activities that could not be decoded and were set aside", func(c counts) uint64 { return c.letters })
	}
	_, err := build.meter.RegisterCallback(g.collect, watched...)
	handle(err)
}

func (g *gauges) collect(ctx context.Context, observer metric.Observer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.counted.IsZero() || time.Since(g.counted) > gaugesKept {
		if err := g.count(ctx); err != nil {
			return err
		}
	}
	for _, gauge := range g.list {
		observer.ObserveInt64(gauge.instrument, int64(gauge.value(g.counts)))
	}
	return nil
}

func (g *gauges) count(ctx context.Context) (err error) {
	if g.counts.metrics, err = g.admin.GetSystemMetrics(ctx); err != nil {
		return err
	}
	if g.counts.depths, err = g.admin.GetQueueDepths(ctx); err != nil {
		return err
	}
	if g.full != nil {
		held, err := g.full.ListHeldInstances(ctx)
		if err != nil {
			return err
		}
		g.counts.held = len(held)
		if g.counts.letters, err = g.full.CountDeadLetters(ctx); err != nil {
			return err
		}
	}
	g.counted = time.Now()
	return nil
}
