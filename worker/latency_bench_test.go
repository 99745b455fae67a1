package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// BenchmarkDifferentActivities is an orchestration with one activity on two workers: as
// "different" each has an activity of its own, as "equal" both have both. The ratio of
// the two is what it costs that work is selected by code; it should be below 2.
func BenchmarkDifferentActivities(b *testing.B) {
	did := func(context.Context, string) (string, error) { return "", nil }
	acts := []activity.Definition[string, string]{activity.New("Left", did), activity.New("Right", did)}
	per := map[string]time.Duration{}
	for _, kind := range []string{"equal", "different"} {
		b.Run(kind, func(b *testing.B) {
			store, err := sqlite.OpenMemory(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			def := orchestration.New("One", func(ctx *orchestration.Context, which int) (string, error) {
				return orchestration.Activity(ctx, acts[which], "").Await()
			})
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error)
			for i := range acts {
				w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					b.Fatal(err)
				}
				own := []worker.Registrable{def, acts[i]}
				if kind == "equal" {
					own = []worker.Registrable{def, acts[0], acts[1]}
				}
				if err := w.Register(own...); err != nil {
					b.Fatal(err)
				}
				go func() { done <- w.Run(ctx) }()
			}
			c := client.New(store)
			n := 0
			for b.Loop() {
				n++
				run, err := client.Start(ctx, c, def, fmt.Sprint("one-", n), n%2)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := run.Wait(ctx); err != nil {
					b.Fatal(err)
				}
			}
			per[kind] = b.Elapsed() / time.Duration(n)
			if kind == "different" && per["equal"] > 0 {
				b.ReportMetric(float64(per[kind])/float64(per["equal"]), "different/equal")
			}
			cancel()
			for range acts {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
		})
	}
}
