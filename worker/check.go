package worker

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// MisfitError reports a history that the registered code does not fit.
type MisfitError struct {
	Instance    string
	ExecutionID uint64
	// EventID is the recorded event that the code does not ask for; 0 when the misfit is something else.
	EventID uint64
	// Reason says what the history holds, what the code asks for, and at which line, where it
	// panics, or where another goroutine uses its context. There is no payload in it.
	Reason string
}

// Error names the instance and the reason.
func (e *MisfitError) Error() string {
	return fmt.Sprintf("%q, execution %d: %s", e.Instance, e.ExecutionID, e.Reason)
}

// Check replays one execution's history against the registered code, before that code is deployed. It makes no call to
// the store and has no effects. After the end of the history the code may ask for anything. A function that panics
// does not fit, unless the recorded one panicked, too. Nor does one whose context another goroutine uses. A history
// does not contain keys of the key-value map that an earlier execution set, so code that decides by such keys is
// checked only in first executions. Payloads are decoded by [Options].Codec. Errors: [*MisfitError];
// [codec.ErrNotDecoded]; or another reason why the history cannot be replayed, such as a version that is not
// registered.
func (w *Worker) Check(ctx context.Context, history []provider.Event) error {
	misfit, err := w.check(ctx, history)
	switch {
	case misfit != nil:
		return &MisfitError{
			Instance: history[0].InstanceID, ExecutionID: history[0].ExecutionID, EventID: misfit.EventID, Reason: misfit.Now(),
		}
	case err != nil && len(history) > 0:
		return fmt.Errorf("%q, execution %d: %w", history[0].InstanceID, history[0].ExecutionID, err)
	}
	return err
}

func (w *Worker) check(ctx context.Context, history []provider.Event) (*replay.Misfit, error) {
	history, err := sealed.OpenEvents(ctx, w.options.Codec, history)
	if err != nil {
		return nil, err
	}
	return w.registry.Check(ctx, history, replay.Turn{
		FrameworkVersion: provider.FrameworkVersion, ActivityRetry: w.options.ActivityRetry, BlockedAfter: w.options.BlockedTimeout,
	})
}
