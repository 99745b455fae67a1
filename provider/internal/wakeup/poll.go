package wakeup

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Fetch is what [Poll] has to know about one fetch.
type Fetch struct {
	// Operation labels errors.
	Operation string
	// Timeout is how long it waits for something to find. 0 or less looks once.
	Timeout time.Duration
	// Closing is closed when the store closes. A wait then ends with Closed.
	Closing <-chan struct{}
	// Closed makes the error of a call on a closed store.
	Closed func(operation string) error
}

// Poll calls look until it finds something, fails, or the timeout has passed, which is
// no error. look is told whether the fetch was woken, after it had looked in vain. It
// returns the time, in milliseconds on the store's clock, from which it is worth looking
// again, 0 for unknown.
//
// Errors: look's; a [provider.ContextError] when ctx ends; f.Closed's.
func Poll[T any](
	ctx context.Context, list *List, f Fetch, look func(woken bool) (*T, int64, error),
) (*T, error) {
	if f.Timeout <= 0 {
		found, _, err := look(false)
		return found, err
	}
	timer := time.NewTimer(f.Timeout)
	defer timer.Stop()
	for woken := false; ; woken = true {
		ticket := list.ticket()
		found, wakeAt, err := look(woken)
		if found != nil || err != nil {
			list.Note(wakeAt)
			if err != nil && woken {
				list.passOn()
			}
			return found, err
		}
		if woken {
			list.passOn()
		}
		w := list.wait(ticket, wakeAt)
		select {
		case <-w.woken:
		case <-timer.C:
			list.leave(w)
			return nil, nil
		case <-ctx.Done():
			list.leave(w)
			return nil, provider.ContextError(ctx, f.Operation)
		case <-f.Closing:
			list.leave(w)
			return nil, f.Closed(f.Operation)
		}
	}
}
