// Package samples has well-known workflows of other systems, told anew for this library. None of them has a finding.
package samples

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// act is an activity that some other program runs.
func act[I, O any](name string) activity.Definition[I, O] { return activity.Declare[I, O](name) }

var audit = activity.New("Audit", func(_ context.Context, line string) (time.Time, error) { return time.Now(), nil })

// patient is how the samples call services of others.
var patient = orchestration.WithRetry(retry.Policy{
	MaxAttempts: 5,
	Backoff:     retry.Exponential(time.Second, 2, time.Minute),
	Retryable:   func(err error) bool { return err.Error() != "refused" },
})
