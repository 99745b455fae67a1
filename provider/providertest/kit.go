// Package providertest is the conformance kit for stores. It holds every rule of the contract as a named scenario
// that runs against any implementation of [provider.Provider].
//
// A store's own test calls [Run] with a [Config] that says how to open a fresh
// store:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, providertest.Config{
//			Open: func(t *testing.T) providertest.Store {
//				return providertest.Store{Provider: openMyStore(t)}
//			},
//		})
//	}
//
// Each scenario is its own subtest, "category/name", gets a store of its own and runs in parallel with the others;
// raise `go test -parallel` to overlap the waits for leases. A failure quotes the sentence of the contract that was
// violated. A call that does not return is a failure as well: 60 leases (see [Config].LockTimeout) after it began, or
// 10 leases after its context ended, the scenario fails with the method's name and continues without the call.
//
// Categories are subjects. 233 of the scenarios have the category and the name that the reference implementation,
// Duroxide, gives them. The others cover the rest of the contract: hazards, recommendations and known pitfalls.
package providertest

import (
	"context"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Config describes the store under test.
type Config struct {
	// Open returns a new, empty store that shares nothing with any other. The
	// function arranges for it to be closed, usually with t.Cleanup. Required.
	Open func(t *testing.T) Store

	// LockTimeout is the length of the leases that scenarios let expire. Several calls must fit into it, so it should
	// be at least ten times as long as one call takes, also under the race detector. Default 1 s.
	LockTimeout time.Duration

	// ShortPollLimit is how long a fetch with PollTimeout 0 may take on an idle
	// store. Default 100 ms; allow 500 ms for a store across a network, and more
	// under the race detector on a loaded machine.
	ShortPollLimit time.Duration

	// LongPolling says that the store waits for PollTimeout when there is no work. If false, the kit also accepts an
	// answer before PollTimeout, and waits for notices of a [provider.Store] where a scenario waits for work. Default
	// false.
	LongPolling bool

	// MaxPayload is the largest payload in bytes that the size scenarios send.
	// Default 10 MiB, which the contract expects of every store.
	MaxPayload int

	// Rows is how many rows of a kind scenarios make that look for the end of a page or batch. Default 1,100, which is
	// more than the 1,000 and 1,024 of most databases. With fewer than the 1,003 that it takes, the scenario of the
	// default limit is left out, and says so.
	Rows int
}

// Store is a store under test with the hooks that reach behind its interface.
// A scenario whose hook is nil is skipped and says so.
type Store struct {
	Provider provider.Provider

	// CorruptHistory replaces the stored JSON of one event.
	CorruptHistory func(ctx context.Context, instance string, executionID, eventID uint64, data string) error

	// CorruptOrchestratorItem replaces the stored JSON of the oldest message
	// queued for an instance.
	CorruptOrchestratorItem func(ctx context.Context, instance, data string) error

	// CorruptWorkItem replaces the stored JSON of a queued activity.
	CorruptWorkItem func(ctx context.Context, activity provider.ActivityRef, data string) error

	// DeadLetters returns the raw text of every message the store set aside
	// because it could not be decoded, oldest first.
	DeadLetters func(ctx context.Context) ([]string, error)

	// MendDeadLetter replaces the text of a letter that the store has set aside.
	MendDeadLetter func(ctx context.Context, id uint64, data string) error

	// Sessions returns the ids of all session rows, live or expired.
	Sessions func(ctx context.Context) ([]string, error)

	// Spoil puts the store into a state in which somebody has to mend it, and in which it stores nothing; mend does
	// that.
	Spoil func(ctx context.Context) (mend func() error, err error)

	// Reopen opens the same data a second time, as another process would, and
	// arranges for it to be closed.
	Reopen func(t *testing.T) provider.Provider
}

// Run runs every scenario against the store as subtests of t.
func Run(t *testing.T, config Config) {
	t.Helper()
	config = config.withDefaults(t)
	for _, category := range categories() {
		t.Run(category.name, func(t *testing.T) {
			t.Parallel()
			for _, scenario := range category.scenarios {
				t.Run(scenario.name, func(t *testing.T) {
					t.Parallel()
					scenario.run(newEnv(t, t, config))
				})
			}
		})
	}
}

// Scenarios returns the names of all scenarios, "category/name", in the order in
// which Run starts them.
func Scenarios() []string {
	var names []string
	for _, category := range categories() {
		for _, scenario := range category.scenarios {
			names = append(names, category.name+"/"+scenario.name)
		}
	}
	return names
}

func (c Config) withDefaults(t *testing.T) Config {
	t.Helper()
	if c.Open == nil {
		t.Fatal("providertest: Config.Open is required: it opens the store under test")
	}
	if c.LockTimeout == 0 {
		c.LockTimeout = time.Second
	}
	if c.ShortPollLimit == 0 {
		c.ShortPollLimit = 100 * time.Millisecond
	}
	if c.MaxPayload == 0 {
		c.MaxPayload = 10 << 20
	}
	if c.Rows == 0 {
		c.Rows = 1100
	}
	return c
}

// category groups scenarios by the property they check.
type category struct {
	name      string
	scenarios []scenario
}

// scenario checks one property.
type scenario struct {
	name string
	run  func(*env)
}

// categories lists the kit's contents: one function per subject.
func categories() []category {
	return []category{
		// Queues and leases.
		queueSemantics(),
		fetching(),
		longPolling(),
		instanceLocking(),
		lockExpiration(),
		renewingTogether(),
		leaseWatching(),
		times(),
		poisonMessage(),
		activities(),
		cancellation(),
		heartbeats(),
		tagFiltering(),
		sessions(),
		capabilityFiltering(),
		selectionByCode(),
		taking(),
		peeking(),
		heldInstances(),
		deadLetters(),

		// Turns and what they write.
		atomicity(),
		instanceCreation(),
		starting(),
		multiExecution(),
		executionStatus(),
		customStatus(),
		kvStore(),
		history(),
		heldHistory(),
		raceReplay(),

		// Management.
		management(),
		instanceStats(),
		progressReading(),
		pages(),
		deletion(),
		bulkDeletion(),
		prune(),

		// All of them.
		errorHandling(),
		payloads(),
		amounts(),
		concurrency(),
	}
}
