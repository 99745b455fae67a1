package providertest

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// grab is a fetch under contention.
func (e *env) grab(p provider.Provider, lease time.Duration) (got *provider.FetchedOrchestration, err error) {
	err = patiently(func() (err error) {
		got, err = p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
		return err
	})
	return got, err
}

// grabWork is a fetch of an activity under contention.
func (e *env) grabWork(p provider.Provider, lease time.Duration) (got *provider.FetchedWorkItem, err error) {
	err = patiently(func() (err error) {
		got, err = p.FetchWorkItem(e.ctx, provider.FetchWorkParams{LockTimeout: lease})
		return err
	})
	return got, err
}

// loops runs n loops of step at once until done. step says whether it found
// something to do; the first error ends all loops.
func (e *env) loops(n int, rule string, done func() bool, step func(i int) (busy bool, err error)) {
	e.Helper()
	var stop atomic.Bool
	deadline := time.Now().Add(e.patience())
	e.together(n, func(i int) error {
		for !done() && !stop.Load() {
			busy, err := step(i)
			if err == nil && time.Now().After(deadline) {
				err = violation(rule, "not done after %v", e.patience())
			}
			switch {
			case err != nil && stop.CompareAndSwap(false, true):
				return err
			case !busy:
				time.Sleep(e.lease / 100)
			}
		}
		return nil
	})
}

// lostLock reports whether an error says, permanently, that the lock is gone.
func lostLock(err error) bool {
	return errors.Is(err, provider.ErrLockLost) && !provider.IsRetryable(err)
}
