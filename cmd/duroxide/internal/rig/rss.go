package rig

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"
)

// RSS returns the memory this process occupies, in bytes: the resident set where
// the system tells it (Linux), else what the Go runtime has from the system.
func RSS() uint64 {
	if runtime.GOOS == "linux" {
		if status, err := os.ReadFile("/proc/self/status"); err == nil {
			if n, ok := kilobytes(status, "VmRSS:"); ok {
				return n * 1024
			}
		}
	}
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// kilobytes reads a line such as "VmRSS:    1234 kB".
func kilobytes(status []byte, name string) (uint64, bool) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			n, err := strconv.ParseUint(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// RSSWatch samples the memory in the background.
type RSSWatch struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	peak    uint64
}

// WatchRSS gives unused memory back and starts sampling. Stop ends it.
func WatchRSS(ctx context.Context) *RSSWatch {
	debug.FreeOSMemory()
	ctx, cancel := context.WithCancel(ctx)
	w := &RSSWatch{cancel: cancel, peak: RSS()}
	w.running.Go(func() {
		const interval = 50 * time.Millisecond
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				w.peak = max(w.peak, RSS())
			case <-ctx.Done():
				return
			}
		}
	})
	return w
}

// Stop ends the sampling. It may be called again.
func (w *RSSWatch) Stop() {
	w.cancel()
	w.running.Wait()
}

// Peak is the largest sample in bytes. Call it after Stop.
func (w *RSSWatch) Peak() uint64 { return w.peak }
