package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// tolerance is how much too early, seen from the caller, a store that counts in
// milliseconds may let a lease or a delay end.
const tolerance = 2 * time.Millisecond

// patience bounds the wait for something that must come within a lease or two.
func (e *env) patience() time.Duration { return 60 * e.lease }

// awaitFetch polls until an orchestration becomes eligible.
func (e *env) awaitFetch(lease time.Duration, rule string) *provider.FetchedOrchestration {
	e.Helper()
	var got *provider.FetchedOrchestration
	e.await(rule, func() bool { got = e.tryFetch(lease); return got != nil })
	return got
}

// awaitWork polls until an activity becomes eligible.
func (e *env) awaitWork(lease time.Duration, rule string) *provider.FetchedWorkItem {
	e.Helper()
	var got *provider.FetchedWorkItem
	e.await(rule, func() bool { got = e.tryFetchWork(lease); return got != nil })
	return got
}

// await polls until ready.
func (e *env) await(rule string, ready func() bool) {
	e.Helper()
	for deadline := time.Now().Add(e.patience()); !ready(); e.sleep(e.lease / 50) {
		e.check(time.Now().Before(deadline), rule, "still nothing after %v", e.patience())
	}
}

// notBefore asserts that something has not come earlier than it was due. Time
// that a slow call or machine adds never counts against the store.
func (e *env) notBefore(due time.Time, rule string) {
	e.Helper()
	if early := time.Until(due); early > tolerance {
		e.violated(rule, "came %v early", early)
	}
}

// fastest is the shortest duration of several tries: a loaded machine slows some
// of them down, a store that waits all.
func fastest(tries int, call func()) time.Duration {
	var best time.Duration
	for try := range tries {
		start := time.Now()
		call()
		if took := time.Since(start); try == 0 || took < best {
			best = took
		}
	}
	return best
}
