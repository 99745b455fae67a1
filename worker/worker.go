package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// Worker runs orchestrations and activities. Make it with [New].
type Worker struct {
	// plain is the store that the caller has given.
	plain    provider.Provider
	store    provider.Store
	options  settings
	registry *registry.Registry
	builtIn  map[string]registry.ActivityFunc
	// known is what the fetches ask for, from the start of Run on.
	known code
	// id distinguishes this worker from every other in any process.
	id       string
	sessions *taking.Sessions
	running  atomic.Bool
	loops    sync.WaitGroup
	cache    *cache
	outage   *outage.Watch
	unserved unserved
	kept     keptResults
	live     liveCalls
	// offers is the work that this worker was given without having its code.
	offers recent[offer]
	// undecodable counts how often work was given back because a payload could not be decoded.
	undecodable recent[uint32]
	// failures are why turns and activities were given back last.
	failures recent[string]
	// stuck is where functions were told to wait in vain.
	stuck recent[string]
	// held are the instances that wait for code that fits.
	held     recent[heldTurn]
	renewals *leases.Group
	// active are the activities that run on the worker's store.
	active *runningCalls
}

// Errors of a worker's life cycle.
var (
	// ErrRunning is returned by Register and Run once Run has been called. A worker runs only once.
	ErrRunning = errors.New("the worker was already started")
	// errStoreClosed ends a worker whose store was closed.
	errStoreClosed = fmt.Errorf("the worker has stopped because its store was closed: end the context of Run first; "+
		"work that is not acknowledged is done again when its lease ends: %w", provider.ErrClosed)
	// errShutdown is the cause of contexts that end with the worker.
	errShutdown = errors.New("the worker is shutting down")
)

// New returns a worker for the store. One that is not a [provider.Store] is used through package adapt, which says what
// that costs. Error: [ErrInvalidOptions].
func New(store provider.Provider, options Options) (*Worker, error) {
	if isNil(store) {
		return nil, invalid("the store is nil; open one, for example with sqlite.Open")
	}
	settings, err := options.resolve()
	if err != nil {
		return nil, err
	}
	full := observed.Store(adapt.Store(store), settings.Hook)
	w := &Worker{
		outage: outage.New(settings.Logger),
		unserved: unserved{
			routes: map[provider.ActivityRef]route{}, open: map[route]map[provider.ActivityRef]sent{}, told: map[route]bool{},
		},
		kept: keptResults{
			limit: taking.KeptPerSlot * max(1, settings.ActivityConcurrency), results: map[provider.ActivityRef]keptResult{},
		},
		live:  liveCalls{calls: map[provider.ActivityRef]*call{}},
		plain: store, store: full, options: settings, registry: registry.New(),
		cache: newCache(settings), renewals: leases.NewGroup(full.RenewLocks),
		id: rand.Text(), sessions: taking.NewSessions(settings.MaxSessions),
	}
	w.builtIn = w.syscalls()
	return w, nil
}

// Registrable is a definition of package orchestration or activity.
type Registrable interface{ definition }

type definition = registry.Definition

// Register adds orchestrations and activities. Versions of one orchestration are registered in rising order.
// Registering a name and version twice is an error. Errors: one that names the definition, or [ErrRunning].
func (w *Worker) Register(definitions ...Registrable) error {
	if w.running.Load() {
		return ErrRunning
	}
	for i, definition := range definitions {
		if definition == nil {
			return registry.Nil(i, len(definitions))
		}
		if err := w.registry.Add(definition); err != nil {
			return err
		}
	}
	return nil
}

// Pin makes unversioned starts of an orchestration use that version instead of
// the latest registered one.
func (w *Worker) Pin(orchestration, version string) error {
	if w.running.Load() {
		return ErrRunning
	}
	return w.registry.Pin(orchestration, version)
}

// Run works until ctx ends and then shuts down: it fetches no new work, gives running turns and activities
// Options.ShutdownTimeout to finish, and hands unfinished work back to the store, so that other workers can take it
// at once. If the store does not answer, Run gives up a second later. Work that is not acknowledged by then, finished
// or not, is done again when its lease ends. Run returns nil after an orderly end, [ErrRunning] when called again, and
// an error that matches [provider.ErrClosed] soon after somebody has closed the store.
func (w *Worker) Run(ctx context.Context) error {
	if w.running.Swap(true) {
		return ErrRunning
	}
	var leave func()
	w.active, leave = runningOn(w.plain)
	defer leave()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w.outage.Closed = func() { end(errStoreClosed) }
	// work outlives ctx by the shutdown timeout.
	work, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	stopTimer := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(w.options.ShutdownTimeout, func() { abort(errShutdown) })
		context.AfterFunc(work, func() { timer.Stop() })
	})
	defer stopTimer()

	w.known = w.knownCode()
	w.loops.Go(func() { w.watchUnknown(ctx, work) })
	defer w.dispatch(ctx, work)()
	// Sessions are kept until the last activity has ended, not just until ctx does.
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	var keeper sync.WaitGroup
	if w.options.ActivityConcurrency > 0 {
		keeper.Go(func() { w.keepSessions(keeping) })
		if w.options.CancellationPoll > 0 {
			keeper.Go(func() { w.watchLeases(keeping) })
		}
	}
	if w.options.QuietTime > 0 {
		keeper.Go(func() { w.watchQuiet(keeping) })
	}
	w.loops.Wait()
	w.renewals.Close()
	w.cache.close(max(100*time.Millisecond, w.options.ShutdownTimeout))
	stopKeeping()
	keeper.Wait()
	w.releaseSessions(context.WithoutCancel(ctx))
	if context.Cause(ctx) == errStoreClosed { //nolint:errorlint // no cause of the caller's
		return errStoreClosed
	}
	return nil
}
