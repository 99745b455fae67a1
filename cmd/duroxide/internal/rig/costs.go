package rig

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider"
)

// Costs are what a number of orchestrations asked of the store and of this process.
// Counts are per orchestration.
type Costs struct {
	// WorkerCalls and ClientCalls count the store's calls.
	WorkerCalls float64 `json:"worker_calls"`
	ClientCalls float64 `json:"client_calls"`
	// EmptyFetches counts those of WorkerCalls that found no work.
	EmptyFetches float64 `json:"empty_fetches"`
	// Writes counts the calls that changed the store.
	Writes float64 `json:"writes"`
	// Commits counts the transactions that the file has seen, per orchestration and
	// per second; nil when it cannot be known.
	Commits          *float64 `json:"commits"`
	CommitsPerSecond *float64 `json:"commits_per_second"`
	// RoundTrips counts what was sent to a server, by the worker and the client, and
	// also while a fetch waits; nil for a store without a server.
	RoundTrips *float64 `json:"round_trips"`
	// CPUMilliseconds is the processor time of this process, the client's work included, and
	// BytesWritten what it has handed to the system to be written, to files above all; nil
	// when the system does not tell. Both are per orchestration.
	CPUMilliseconds *float64 `json:"cpu_ms"`
	BytesWritten    *float64 `json:"bytes_written"`
	// PeakRSS is in bytes.
	PeakRSS uint64 `json:"peak_rss_bytes"`
	// Methods times the worker's calls.
	Methods []MethodTime `json:"methods"`
}

// RoundTripper is a store that knows how often it has asked its server.
type RoundTripper interface {
	// RoundTrips is the number since the store was opened.
	RoundTrips() int64
}

// roundTrips reads the number, 0 for a store without a server.
func roundTrips(store provider.Provider) (n int64, known bool) {
	if counting, ok := store.(RoundTripper); ok {
		return counting.RoundTrips(), true
	}
	return 0, false
}

// meter takes down the costs from its start to its reading.
type meter struct {
	store   provider.Provider
	commits *CommitCounter
	rss     *RSSWatch
	began   time.Time
	// What there was before.
	commitsBefore uint32
	tripsBefore   int64
	cpuBefore     time.Duration
	writtenBefore int64
	// work is told of the worker's calls, watch of the client's.
	work, watch *Counter
}

// startMeter starts a meter. commits may be nil. Stop rss in any case.
func startMeter(ctx context.Context, store provider.Provider, commits *CommitCounter) (*meter, error) {
	m := &meter{store: store, commits: commits, work: NewCounter(), watch: NewCounter()}
	if commits != nil {
		var err error
		if m.commitsBefore, err = commits.Commits(); err != nil {
			return nil, err
		}
	}
	m.tripsBefore, _ = roundTrips(store)
	m.cpuBefore, _ = cpuTime()
	m.writtenBefore, _ = written(self)
	m.rss = WatchRSS(ctx)
	m.began = time.Now()
	return m, nil
}

// client returns a client on the store, whose calls are counted.
func (m *meter) client() *client.Client { return client.New(m.store, client.Options{Hook: m.watch}) }

// read returns what orchestrations have cost since the start, and how long they took.
// It stops the worker after it has looked at the clock: only then the calls are counted
// in which the last orchestration was ended and its client woken.
func (m *meter) read(orchestrations int, stopWorker func()) (Costs, time.Duration, error) {
	elapsed, n := time.Since(m.began), float64(orchestrations)
	m.rss.Stop()
	stopWorker()
	c := Costs{
		WorkerCalls: float64(m.work.Calls()) / n, ClientCalls: float64(m.watch.Calls()) / n,
		EmptyFetches: float64(m.work.EmptyFetches()) / n,
		Writes:       float64(m.work.Writes()+m.watch.Writes()) / n,
		PeakRSS:      m.rss.Peak(), Methods: m.work.Methods(),
	}
	if m.commits != nil {
		after, err := m.commits.Commits()
		if err != nil {
			return c, elapsed, err
		}
		commits := float64(after - m.commitsBefore)
		perOrchestration, perSecond := commits/n, commits/elapsed.Seconds()
		c.Commits, c.CommitsPerSecond = &perOrchestration, &perSecond
	}
	if after, known := cpuTime(); known {
		spent := (after - m.cpuBefore).Seconds() * 1000 / n
		c.CPUMilliseconds = &spent
	}
	if after, known := written(self); known {
		bytes := float64(after-m.writtenBefore) / n
		c.BytesWritten = &bytes
	}
	if after, known := roundTrips(m.store); known {
		trips := float64(after-m.tripsBefore) / n
		c.RoundTrips = &trips
	}
	return c, elapsed, nil
}

// add adds the costs of a client in a process of its own, of whose orchestrations they are.
func (c *Costs) add(l Load) {
	n := float64(len(l.Samples))
	c.ClientCalls += float64(l.Calls) / n
	c.Writes += float64(l.Writes) / n
	if c.CPUMilliseconds != nil {
		*c.CPUMilliseconds += l.CPU.Seconds() * 1000 / n
	}
	if c.BytesWritten != nil {
		*c.BytesWritten += float64(l.Written) / n
	}
}
