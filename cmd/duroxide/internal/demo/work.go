package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// WorkOptions adjust a worker of the demo.
type WorkOptions struct {
	// Lease is the length of all leases: what a killed worker held comes back after
	// that time.
	Lease time.Duration
	// Pause is how long an activity takes.
	Pause time.Duration
	// Slots is the number of activities at a time.
	Slots int
	// Logger receives the worker's log.
	Logger *slog.Logger
}

// maxAttempts is generous: a worker that is killed on purpose must not make its
// work look like poison.
const maxAttempts = 1000

// Work runs the demo's orchestrations and activities until ctx ends, and reports
// on out, one line of JSON each, that it is ready and every activity it begins.
func Work(ctx context.Context, store provider.Provider, out io.Writer, options WorkOptions) error {
	tags, err := provider.DefaultAndTags(medleyTag)
	if err != nil {
		return err
	}
	w, err := worker.New(store, worker.Options{
		OrchestrationConcurrency: 2,
		ActivityConcurrency:      options.Slots,
		Leases:                   worker.Leases{Orchestration: options.Lease, Activity: options.Lease},
		Sessions:                 worker.Sessions{Lease: options.Lease},
		Limits:                   worker.Limits{Attempts: maxAttempts},
		Tags:                     tags,
		Logger:                   options.Logger,
	})
	if err != nil {
		return err
	}
	reports := &reporter{encoder: json.NewEncoder(out)}
	err = w.Register(helloCities, sumOfSquares, nap, approve, tour, laps, medleyBegins, medleyEnds, tidy,
		greet.Implement(does(reports, options.Pause, greeting)),
		square.Implement(does(reports, options.Pause, func(n int) int { return n * n })),
		count.Implement(does(reports, options.Pause, func(n int) int { return n })),
		linger.Implement(does(reports, time.Hour, func(n int) int { return n })),
		refuse.Implement(func(ctx context.Context, what string) (string, error) {
			if _, err := does(reports, options.Pause, greeting)(ctx, what); err != nil {
				return "", err
			}
			return "", errors.New("refused")
		}),
	)
	if err != nil {
		return err
	}
	if err := reports.write(report{Ready: true}); err != nil {
		return err
	}
	return w.Run(ctx)
}

// does makes an activity of a function: it reports, takes its time, and answers.
func does[I, O any](reports *reporter, pause time.Duration, f func(I) O) func(context.Context, I) (O, error) {
	return func(ctx context.Context, input I) (output O, err error) {
		info, _ := activity.InfoFrom(ctx)
		call := Call{Instance: info.Instance, ExecutionID: info.ExecutionID, ActivityID: info.ActivityID}
		if err := reports.write(report{Call: &call}); err != nil {
			return output, err
		}
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
			return f(input), nil
		case <-ctx.Done():
			return output, context.Cause(ctx)
		}
	}
}

// Call identifies an activity that was scheduled. It may be executed more than
// once, and its result is counted once.
type Call struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ActivityID  uint64 `json:"activity_id"`
}

// report is a line that a worker process writes.
type report struct {
	Ready bool  `json:"ready,omitempty"`
	Call  *Call `json:"call,omitempty"`
}

// reporter writes reports of several goroutines, each in one piece.
type reporter struct {
	mu      sync.Mutex
	encoder *json.Encoder
}

func (r *reporter) write(line report) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.encoder.Encode(line)
}
