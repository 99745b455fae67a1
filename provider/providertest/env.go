package providertest

import (
	"context"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// env is what a scenario works with: a fresh store and short ways to say the
// usual things. Its must-methods end the scenario on an unexpected error.
type env struct {
	testing.TB
	// test is what the store's hooks need.
	test   *testing.T
	ctx    context.Context //nolint:containedctx // the scenario's own, gone with it
	config Config
	store  Store
	// p is store.Provider, with a watch on each call.
	p provider.Provider
	// lease is Config.LockTimeout: a lease the scenario lets run out.
	lease time.Duration
}

// held is a lease that outlives any scenario: for locks that must not expire.
const held = 10 * time.Minute

// newEnv opens a store for a scenario that reports to tb, which is t except in the kit's
// own tests.
func newEnv(tb testing.TB, t *testing.T, config Config) *env { //nolint:thelper // no helper: it opens the store
	store := config.Open(t)
	e := &env{TB: tb, test: t, ctx: tb.Context(), config: config, store: store, lease: config.LockTimeout}
	e.p = e.watch(store.Provider)
	return e
}

// needs skips the scenario when the store lacks a hook.
func (e *env) needs(present bool, hook string) {
	e.Helper()
	if !present {
		e.Skipf("the store under test offers no %s hook", hook)
	}
}

// admin returns the management interface, which every store must have for the
// scenarios that call it; without one they are skipped.
func (e *env) admin() provider.Admin {
	e.Helper()
	a := e.p.Admin()
	if a == nil {
		e.Skip("the store has no management interface")
	}
	return a
}

// full returns the store as a [provider.Store], whose calls nobody watches; the scenario is skipped if it has only the
// plain contract.
func (e *env) full() provider.Store {
	e.Helper()
	s, ok := e.store.Provider.(provider.Store)
	if !ok {
		e.Skip("the store is no provider.Store")
	}
	return s
}

// needing makes scenarios be skipped for a store that has only the plain contract.
func needing(scenarios []scenario) []scenario {
	return skipped(func(e *env) { e.full() }, scenarios)
}

// skipped makes scenarios be skipped, before they do anything, where check skips.
func skipped(check func(*env), scenarios []scenario) []scenario {
	for i, s := range scenarios {
		scenarios[i].run = func(e *env) {
			check(e)
			s.run(e)
		}
	}
	return scenarios
}

// corrupt replaces the stored JSON of one event; without the hook the scenario
// is skipped.
func (e *env) corrupt(instance string, execution, id uint64, data string) {
	e.Helper()
	e.needs(e.store.CorruptHistory != nil, "CorruptHistory")
	if err := e.store.CorruptHistory(e.ctx, instance, execution, id, data); err != nil {
		e.Fatalf("the CorruptHistory hook failed: %v", err)
	}
}

// sleep waits for store time to pass: leases and delays only end with the clock.
func (e *env) sleep(d time.Duration) {
	e.Helper()
	select {
	case <-time.After(d):
	case <-e.ctx.Done():
		e.Fatal("test ended while waiting")
	}
}

// expire waits until a lease of e.lease taken before the call has ended.
func (e *env) expire() {
	e.Helper()
	e.sleep(e.lease + 20*time.Millisecond)
}

// tick lets the store's clock move on, so that what follows has a later time.
func (e *env) tick() {
	e.Helper()
	e.sleep(15 * time.Millisecond)
}
