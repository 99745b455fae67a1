package rig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/provider"
)

// Queue is one of a store's two queues.
type Queue string

// The queues.
const (
	// Turns is the orchestrators' queue: to claim is to lock an instance.
	Turns Queue = "turns"
	// Activities is the workers' queue.
	Activities Queue = "activities"
)

// Population is what a store's queues hold.
type Population struct {
	// Ready is the number of rows that can be claimed, each of another instance.
	Ready int `json:"ready"`
	// Timers is the number of timers that are due in a day, each of another
	// instance.
	Timers int `json:"timers"`
	// Names is the number of names that the ready rows have, by turns; 0 is 1. All
	// claimers know them.
	Names int `json:"names"`
	// Foreign is the number of rows more that are ready, under as many other names,
	// which no claimer knows.
	Foreign int `json:"foreign"`
}

// known is what the claimers know.
func (p Population) known() *provider.KnownCode {
	names := make([]provider.CodeName, max(1, p.Names))
	for n := range names {
		names[n].Name = p.name(ready, n)
	}
	return provider.Know(names...)
}

// name is the name of the row with that number.
func (p Population) name(kind rowKind, n int) string {
	names := max(1, p.Names)
	switch {
	case kind == foreign:
		return "Foreign-" + strconv.Itoa(n%names)
	case names == 1:
		return benchName
	}
	return benchName + "-" + strconv.Itoa(n%names)
}

// rowKind is what kind of rows a portion has, and how the ids of their instances begin.
type rowKind string

const (
	ready   rowKind = "ready"
	foreign rowKind = "foreign"
	timers  rowKind = "timer"
)

const (
	// fillBatch is how many rows one acknowledgement brings. More of them save little.
	fillBatch = 250
	// fillers is how many acknowledgements are made at a time.
	fillers = 4
	// fillLease is longer than any rig runs.
	fillLease = 24 * time.Hour
)

// filler fills an empty store through the contract, and so fills any. A row of its
// own call each would take hours for a million; the acknowledgement of a turn brings
// hundreds at once. So it starts an instance for each such portion and ends it with
// a turn that sends the portion.
type filler struct {
	store      provider.Provider
	queue      Queue
	population Population
	// filled, if set, is told of the number of rows brought so far, by one goroutine
	// at a time.
	filled func(rows int)

	mu   sync.Mutex
	rows int
}

// portion is a part of the rows of a kind, from a number to below another.
type portion struct {
	kind     rowKind
	from, to int
}

func (f *filler) fill(ctx context.Context) error {
	if err := MustBeEmpty(ctx, f.store); err != nil {
		return err
	}
	// What nobody knows comes first, so that who walked past it would be slow.
	p := f.population
	portions := slices.Concat(portionsOf(foreign, p.Foreign), portionsOf(ready, p.Ready), portionsOf(timers, p.Timers))
	// All turns are claimed before any is acknowledged: what the first one brings can
	// be claimed as well.
	tokens := make([]string, 0, len(portions))
	for n := range portions {
		token, err := f.seed(ctx, fmt.Sprintf("seed-%d", n))
		if err != nil {
			return fmt.Errorf("filling the store: %w", err)
		}
		tokens = append(tokens, token)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fillers)
	for n, portion := range portions {
		group.Go(func() error { return f.bring(ctx, tokens[n], portion) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("filling the store: %w", err)
	}
	return nil
}

func portionsOf(kind rowKind, rows int) []portion {
	var list []portion
	for from := 0; from < rows; from += fillBatch {
		list = append(list, portion{kind, from, min(from+fillBatch, rows)})
	}
	return list
}

// MustBeEmpty returns an error for a store that holds anything. A rig takes whatever it
// finds: its claims keep work from others for the length of a lease, and its workers know
// nobody's orchestrations, so that each of their fetches uses up an attempt until the
// work counts as poisoned (docs/contract.md §7.9). Ask before the first worker or
// claimer of a run starts; what an earlier configuration of it has left does no harm.
func MustBeEmpty(ctx context.Context, store provider.Provider) error {
	admin := store.Admin()
	if admin == nil {
		return errors.New("the store has no management interface, so nothing shows whether it is empty")
	}
	metrics, err := admin.GetSystemMetrics(ctx)
	if err != nil {
		return err
	}
	depths, err := admin.GetQueueDepths(ctx)
	if err != nil {
		return err
	}
	if metrics.TotalInstances != 0 || depths != (provider.QueueDepths{}) {
		return errors.New("the store is not empty: this rig claims whatever it finds, so give it a store of its own")
	}
	return nil
}

// seed starts an instance and claims its turn.
func (f *filler) seed(ctx context.Context, instance string) (token string, err error) {
	if err := f.store.EnqueueForOrchestrator(ctx, start(instance), 0); err != nil {
		return "", err
	}
	turn, err := f.store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: fillLease, PollTimeout: time.Minute})
	if err != nil {
		return "", err
	}
	if turn == nil || turn.Item.Instance != instance {
		return "", fmt.Errorf("another program works on this store: %q was started and could not be claimed", instance)
	}
	return turn.LockToken, nil
}

// bring ends a seed with a turn that sends a portion of the rows.
func (f *filler) bring(ctx context.Context, token string, p portion) error {
	name, version, status := benchName, "1.0.0", provider.StatusCompleted
	ack := provider.AckOrchestrationParams{
		LockToken: token, ExecutionID: 1,
		Metadata: provider.ExecutionMetadata{OrchestrationName: &name, OrchestrationVersion: &version, Status: &status},
	}
	due := uint64(time.Now().Add(fillLease).UnixMilli())
	for n := p.from; n < p.to; n++ {
		instance, name := string(p.kind)+"-"+strconv.Itoa(n), f.population.name(p.kind, n)
		switch {
		case p.kind == timers:
			ack.OrchestratorItems = append(ack.OrchestratorItems, provider.TimerFiredItem{
				Instance: instance, ExecutionID: 1, ID: 2, FireAtMs: due,
			})
		case f.queue == Activities:
			ack.WorkerItems = append(ack.WorkerItems, provider.ActivityExecuteItem{
				Instance: instance, ExecutionID: 1, ID: 2, Name: name, Input: "null",
			})
		default:
			ack.OrchestratorItems = append(ack.OrchestratorItems, startOf(instance, name))
		}
	}
	if err := again(func() error { return f.store.AckOrchestrationItem(ctx, ack) }); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows += p.to - p.from
	if f.filled != nil {
		f.filled(f.rows)
	}
	return nil
}

// benchName is the name of what the rig starts. No worker has it.
const benchName = "Claimed"

func start(instance string) provider.StartOrchestrationItem {
	return startOf(instance, benchName)
}

func startOf(instance, name string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{Instance: instance, Orchestration: name, Input: "null", ExecutionID: 1}
}
