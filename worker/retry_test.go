package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// A worker's policy tries activities again that have none of their own (Options.ActivityRetry).
func TestActivityRetry(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		tries := 0 // one instance, one attempt at a time
		flaky := activity.New("Flaky", func(context.Context, string) (string, error) {
			if tries++; tries == 1 {
				return "", errors.New("busy")
			}
			return "done", nil
		})
		def := calling(flaky)
		policy := retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Millisecond)}
		runWorker(t, store, worker.Options{ActivityRetry: &policy}, def, flaky)
		if got := result(t, start(t, store, def, "x")); got != "done" || tries != 2 {
			t.Errorf("%q after %d attempts", got, tries)
		}
	})
}
