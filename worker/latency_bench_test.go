package worker_test

import (
	"context"
	"fmt"
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
	c := client.New(store)
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
