package patterns

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// Watch is what a Monitor goes on with.
type Watch struct {
	URL string
	// Down is since when the address does not answer; zero when it does.
	Down time.Time
}

// Ping reports whether an address answers, and Alarm tells somebody that it does not.
var (
	Ping  = activity.New("Ping", func(_ context.Context, url string) (bool, error) { return url != "", nil })
	Alarm = activity.New("Alarm", func(_ context.Context, w Watch) (string, error) { return w.URL, nil })
)

var monitor = orchestration.Declare[Watch, string]("Monitor") // apart, as its function uses it

// Monitor looks every minute, for ever, and begins a new execution every hour, so that its
// history stays short.
var Monitor = monitor.Implement(func(ctx *orchestration.Context, w Watch) (string, error) {
	for range 60 {
		up, err := orchestration.Activity(ctx, Ping, w.URL, orchestration.WithTimeout(30*time.Second)).Await()
		switch {
		case err == nil && up:
			w.Down = time.Time{}
		case w.Down.IsZero():
			if w.Down, err = ctx.UTCNow(); err != nil {
				return "", err
			}
			if _, err := orchestration.Activity(ctx, Alarm, w, orchestration.WithRetry(retry.Policy{})).Await(); err != nil {
				return "", err
			}
		}
		if err := ctx.Sleep(time.Minute); err != nil {
			return "", err
		}
	}
	return monitor.ContinueAsNew(ctx, w)
})
