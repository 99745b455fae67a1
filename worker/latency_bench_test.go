package worker_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// BenchmarkDifferentActivities is an orchestration with one activity on two workers: as
// "different" each has an activity of its own, as "equal" both have both. The ratio of
// the two is what it costs that work is selected by code; it should be below 2.
func BenchmarkDifferentActivities(b *testing.B) {
	did := func(context.Context, string) (string, error) { return "", nil }
	acts := []activity.Definition[string, string]{activity.New("Left", did), activity.New("Right", did)}
	stores := map[string]func(b *testing.B) provider.Provider{
		"sqlite": func(b *testing.B) provider.Provider { b.Helper(); return openStore(b) },
		"mssql":  func(b *testing.B) provider.Provider { b.Helper(); return openMSSQL(b) },
	}
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			per := map[string]time.Duration{}
			for _, kind := range []string{"equal", "different"} {
				b.Run(kind, func(b *testing.B) {
					per[kind] = oneActivity(b, open(b), kind == "equal", acts)
					if kind == "different" && per["equal"] > 0 {
						b.ReportMetric(float64(per[kind])/float64(per["equal"]), "different/equal")
					}
				})
			}
		})
	}
}

// oneActivity runs orchestrations of one activity, one after the other, on a worker for each activity,
// which has all of them or its own, and returns how long one takes.
func oneActivity(b *testing.B, store provider.Provider, all bool, acts []activity.Definition[string, string]) time.Duration {
	b.Helper()
	def := orchestration.New("One", func(ctx *orchestration.Context, which int) (string, error) {
		return orchestration.Activity(ctx, acts[which], "").Await()
	})
	for i := range acts {
		own := []worker.Registrable{def, acts[i]}
		if all {
			own = []worker.Registrable{def, acts[0], acts[1]}
		}
		runWorker(b, store, worker.Options{}, own...)
	}
	c := client.New(store, client.Options{})
	n := 0
	for b.Loop() {
		n++
		run, err := client.Start(b.Context(), c, def, fmt.Sprint("one-", n), n%len(acts))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return b.Elapsed() / time.Duration(n)
}

// BenchmarkPlainStore is a sequence of five activities on a store as it is, and through package adapt, for one client
// and for 32 clients on each processor. The ratio of the two is what a plain store costs.
func BenchmarkPlainStore(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) provider.Provider{
		"sqlite": func(b *testing.B) provider.Provider { b.Helper(); return openStore(b) },
		"mssql":  func(b *testing.B) provider.Provider { b.Helper(); return openMSSQL(b) },
	} {
		for _, clients := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", name, clients*runtime.GOMAXPROCS(0)), func(b *testing.B) {
				per := map[string]time.Duration{}
				for _, kind := range []string{"full", "plain"} {
					b.Run(kind, func(b *testing.B) {
						store := open(b)
						if kind == "plain" {
							store = struct{ provider.Provider }{store}
						}
						runWorker(b, store, worker.Options{OrchestrationConcurrency: 8, ActivityConcurrency: 8}, sequenceOfFive, echo)
						c := client.New(store, client.Options{})
						var n atomic.Int64
						b.SetParallelism(clients)
						b.RunParallel(func(pb *testing.PB) {
							for pb.Next() {
								run, err := client.Start(b.Context(), c, sequenceOfFive, fmt.Sprint("five-", n.Add(1)), "")
								if err == nil {
									_, err = run.Wait(b.Context())
								}
								if err != nil {
									b.Error(err)
									return
								}
							}
						})
						per[kind] = b.Elapsed() / time.Duration(b.N)
						if kind == "plain" && per["full"] > 0 {
							b.ReportMetric(float64(per[kind])/float64(per["full"]), "plain/full")
						}
					})
				}
			})
		}
	}
}
