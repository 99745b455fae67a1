package worker

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// BenchmarkTenThousandInstances measures what a worker holds while 10,000 instances wait for an event after one
// activity: without a cache, with the default bounds, with 10,000 places and the default
// Cache.Bytes, and with 10,000 places and no limit of bytes. It fails when a bound is passed.
// Run it with -benchtime 1x.
func BenchmarkTenThousandInstances(b *testing.B) {
	const instances = 10_000
	for _, bound := range []struct {
		name string
		Options
	}{
		{"none", Options{Cache: Cache{Instances: None}}},
		{"default", Options{}},
		{"64MiB", Options{Cache: Cache{Instances: instances}}},
		{"all", Options{Cache: Cache{Instances: instances, Bytes: Unlimited}}},
	} {
		b.Run(bound.name, func(b *testing.B) {
			for b.Loop() {
				holdInstances(b, bound.Options, instances)
			}
		})
	}
}

func holdInstances(b *testing.B, options Options, instances int) {
	b.Helper()
	store, err := sqlite.OpenMemory(b.Context(), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	wait := orchestration.New("Wait", func(ctx *orchestration.Context, n int) (string, error) {
		if _, err := orchestration.Activity(ctx, addOne, n).Await(); err != nil {
			return "", err
		}
		ctx.SetCustomStatus("waits")
		return orchestration.NewEvent[string]("go").Wait(ctx).Await()
	})
	before := inUse()
	w, stop := cacheWorker(b, store, options, nil, wait, addOne)
	awaitWaiting(b, client.New(store, client.Options{}), wait, instances)
	w.cache.ending.Wait()
	b.ReportMetric((inUse()-before)/(1<<20), "held-MiB")
	w.cache.mu.Lock()
	kept, estimated := w.cache.order.Len(), w.cache.bytes
	w.cache.mu.Unlock()
	b.ReportMetric(float64(kept), "kept")
	b.ReportMetric(float64(estimated)/(1<<20), "estimated-MiB")
	if kept > max(w.options.CachedInstances, 0) || w.options.CachedBytes > 0 && estimated > w.options.CachedBytes {
		b.Errorf("%d instances of an estimated %d bytes are kept", kept, estimated)
	}
	stop()
}

// awaitWaiting starts instances, sixteen at a time, and returns when all of them wait.
func awaitWaiting(b *testing.B, c *client.Client, def orchestration.Definition[int, string], instances int) {
	b.Helper()
	const starters = 16
	var all sync.WaitGroup
	for first := range starters {
		all.Go(func() {
			for i := first; i < instances; i += starters {
				id := fmt.Sprint("waits", i)
				if _, err := client.Start(b.Context(), c, def, id, i); err != nil {
					b.Error(err)
					return
				}
				if _, err := c.WaitForCustomStatus(b.Context(), id, 0); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// inUse is what the process holds after a collection, heap and stacks, in bytes.
func inUse() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc + stats.StackInuse)
}
