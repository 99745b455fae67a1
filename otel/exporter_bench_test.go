//go:build unix

package otel_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/otel"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// BenchmarkNoExporter runs rig A, five activities side by side that take no time, in turn
// without a hook and with this one, to which no exporter listens. An operation is a round of 200
// orchestrations each. It reports the medians over the rounds of what the hook costs: the rate
// with it over the rate without it, and the same of the processor time. The limit is 2 % (0.98
// and 1.02):
//
//	go test ./ -run '^$' -bench NoExporter -benchtime 30x
func BenchmarkNoExporter(b *testing.B) {
	for _, name := range []string{"memory", "file"} {
		b.Run(name, func(b *testing.B) {
			var rates, processor []float64
			for round := 0; b.Loop(); round++ {
				hooks := []hook.Hook{nil, otel.New(otel.Options{})}
				var took, cpu [2]time.Duration
				for i := range hooks {
					which := (i + round) % 2 // either is first as often
					took[which], cpu[which] = rigA(b, name == "file", hooks[which])
				}
				rates = append(rates, took[0].Seconds()/took[1].Seconds())
				processor = append(processor, cpu[1].Seconds()/cpu[0].Seconds())
			}
			b.ReportMetric(median(rates), "rate-with/without")
			b.ReportMetric(median(processor), "cpu-with/without")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// rigA runs 200 orchestrations, 20 at a time, on a store of its own.
func rigA(b *testing.B, file bool, h hook.Hook) (took, cpu time.Duration) {
	b.Helper()
	store, err := sqlite.OpenMemory(b.Context(), sqlite.Options{})
	if file {
		store, err = sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), sqlite.Options{})
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	step := activity.New("Step", func(_ context.Context, n int) (int, error) { return n, nil })
	fanOut := orchestration.New("FanOut", func(ctx *orchestration.Context, _ int) (sum int, err error) {
		var list []*orchestration.Future[int]
		for n := range 5 {
			list = append(list, orchestration.Activity(ctx, step, n))
		}
		for _, future := range list {
			n, err := future.Await()
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	})
	w, err := worker.New(store, worker.Options{Hook: h, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = w.Register(fanOut, step)
	}
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	began, before := time.Now(), processorTime(b)
	if err := runMany(ctx, store, h, fanOut); err != nil {
		b.Fatal(err)
	}
	took, cpu = time.Since(began), processorTime(b)-before
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	return took, cpu
}

// runMany starts and awaits the orchestrations.
func runMany(ctx context.Context, store provider.Provider, h hook.Hook, def orchestration.Definition[int, int]) error {
	c := client.New(store, client.Options{Hook: h})
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(20)
	for i := range 200 {
		group.Go(func() error {
			run, err := client.Start(ctx, c, def, fmt.Sprint("i-", i), 0)
			if err == nil {
				_, err = run.Wait(ctx)
			}
			return err
		})
	}
	return group.Wait()
}

// processorTime is what the process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
