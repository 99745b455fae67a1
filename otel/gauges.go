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
	admin                                     provider.Admin
	running, orchestratorQueue, activityQueue metric.Int64ObservableGauge

	mu      sync.Mutex
	counted time.Time
	metrics provider.SystemMetrics
	depths  provider.QueueDepths
}

// observe has the store asked whenever metrics are collected.
func observe(store provider.Provider, build *instruments) {
	if store == nil || store.Admin() == nil {
		return
	}
	g := &gauges{
		admin:             store.Admin(),
		running:           build.gauge("active_orchestrations", "Instances that run or wait, in the whole store."),
		orchestratorQueue: build.gauge("orchestrator_queue_depth", "Messages for instances, future timers included, in the whole store."),
		activityQueue:     build.gauge("worker_queue_depth", "Activities that wait for a worker, in the whole store."),
	}
	_, err := build.meter.RegisterCallback(g.collect, g.running, g.orchestratorQueue, g.activityQueue)
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
	observer.ObserveInt64(g.running, int64(g.metrics.RunningInstances))
	observer.ObserveInt64(g.orchestratorQueue, int64(g.depths.OrchestratorQueue))
	observer.ObserveInt64(g.activityQueue, int64(g.depths.WorkerQueue))
	return nil
}

func (g *gauges) count(ctx context.Context) (err error) {
	if g.metrics, err = g.admin.GetSystemMetrics(ctx); err != nil {
		return err
	}
	if g.depths, err = g.admin.GetQueueDepths(ctx); err != nil {
		return err
	}
	g.counted = time.Now()
	return nil
}
