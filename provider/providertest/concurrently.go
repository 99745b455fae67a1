package providertest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// together calls f(0) … f(n-1) at once, waits for all of them, and ends the
// scenario when one returned an error.
func (e *env) together(n int, f func(i int) error) {
	e.Helper()
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		e.Fatal(err)
	}
}

// patiently repeats a call that competes with others for as long as it fails
// with a retryable error, which the contract allows for deadlocks and the like.
func patiently(call func() error) error {
	var err error
	for range 100 {
		if err = call(); !provider.IsRetryable(err) {
			return err
		}
	}
	return fmt.Errorf("still failing after 100 tries: %w", err)
}
