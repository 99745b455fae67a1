package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/goroutine"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// Check replays a recorded history against the registered code and returns where the code does
// not fit any more, where it panics, or where another goroutine uses its context, nil when it
// fits. turn has what is not in the history. Errors: a history that no code could fit, an
// orchestration or a version that is not registered, a function that blocks.
func (r *Registry) Check(ctx context.Context, history []provider.Event, turn replay.Turn) (*replay.Misfit, error) {
	if len(history) == 0 {
		return nil, errors.New("the history has no events")
	}
	started, ok := history[0].Kind.(provider.OrchestrationStarted)
	if !ok {
		return nil, fmt.Errorf("the history begins with %s instead of OrchestrationStarted", history[0].Kind.Type())
	}
	turn.Func, _, ok = r.Orchestration(started.Name, started.Version)
	if !ok {
		return nil, fmt.Errorf("orchestration %q version %s is not registered (versions that are: %v)",
			started.Name, started.Version, r.Versions(started.Name))
	}
	turn.Instance, turn.ExecutionID, turn.History = history[0].InstanceID, history[0].ExecutionID, history
	turn.AllPlaces = true
	last := history[len(history)-1].TimestampMs
	turn.NowMs = func() uint64 { return last }
	result, err := replay.Check(ctx, turn)
	if err != nil {
		return nil, err
	}
	if broken, ok := result.Details.(provider.ConfigurationFailure); ok && result.Misfit == nil {
		return nil, errors.New(broken.DisplayMessage())
	}
	recorded := recordedFailure(history)
	if panicked(result.Details) && !panicked(recorded) {
		return panics(result), nil
	}
	if result.Misused != "" && recorded == nil {
		return &replay.Misfit{Message: "another goroutine uses the context at " + result.Misused}, nil
	}
	return result.Misfit, nil
}

// panicked reports a failure of an execution whose function panicked or ended its goroutine.
func panicked(failure provider.ErrorDetails) bool {
	application, ok := failure.(provider.ApplicationFailure)
	return ok && application.Kind == provider.AppPanicked
}

// recordedFailure is how the execution failed, nil if it did not.
func recordedFailure(history []provider.Event) provider.ErrorDetails {
	for _, event := range history {
		if failed, ok := event.Kind.(provider.OrchestrationFailed); ok {
			return failed.Details
		}
	}
	return nil
}

// panics is the misfit of a function that panics in the replay: on a worker it would fail its instance.
// The text of a panic may quote a payload, so only its line is told.
func panics(result *replay.Result) *replay.Misfit {
	place := goroutine.Trace{Text: string(result.PanicStack)}.Place()
	if place == "" {
		return &replay.Misfit{Message: "the function panics"}
	}
	return &replay.Misfit{Message: "the function panics at " + place}
}
