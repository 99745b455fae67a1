package worker

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// limits are the options that bound a turn and a history.
func (s *settings) limits() replay.Limits {
	return replay.Limits{
		Actions: limit(s.MaxTurnActions), Events: limit(s.MaxHistoryEvents), Bytes: limit(s.MaxHistoryBytes), Nesting: limit(s.MaxNesting),
	}
}

// blocked gives a turn back whose function waits for something other than its context,
// and fails the instance at the last attempt: poison would say only that it was tried too
// often.
func (t *turn) blocked(ctx context.Context, b turns.Begin, blocked *replay.BlockedError) verdict {
	attempt, last := t.fetched.AttemptCount, t.worker.options.MaxAttempts
	delay := t.worker.unregisteredDelay(attempt)
	logger := t.logger.With("orchestration_version", b.Started.Version,
		"execution_id", b.ExecutionID, "at", blocked.At, "state", blocked.State, "waited", blocked.For, "attempt", attempt)
	t.worker.failed(t.key(), blocked)
	if attempt < last {
		logger.ErrorContext(ctx, "an orchestration function blocks on something other than its context, its turn is tried again",
			"retry_in", delay, "stack", blocked.Stack)
		return giveBack{Delay: delay}
	}
	logger.ErrorContext(ctx, "an orchestration function blocks on something other than its context, the orchestration fails",
		"stack", blocked.Stack)
	delta := failureDelta(t.item.Instance, b.ExecutionID, b.History, b.Started,
		provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: blocked.Error()})
	return failure{executionID: b.ExecutionID, started: b.Started, delta: delta, otherwise: giveBack{Delay: delay}}
}

// logUsedLate logs a use of the context that came too late for the turn to fail.
func logUsedLate(logger *slog.Logger, at string) {
	logger.Error("an orchestration context was used from another goroutine after its turn", "at", at)
}

func logLingering(ctx context.Context, logger *slog.Logger, b *replay.BlockedError) {
	logger.ErrorContext(ctx, "a deferred call of an orchestration function blocks, its goroutine is left behind",
		"at", b.At, "state", b.State, "waited", b.For, "stack", b.Stack)
}

// newlyStuck reports whether this worker has not yet told that the function waits in vain at that line: any message
// for the instance is a turn.
func (t *turn) newlyStuck(at string) (newly bool) {
	at = "at " + at
	t.worker.stuck.update(t.key(), func(told string) string {
		newly = told != at
		return at
	})
	return newly
}

// reportMisuse logs what a turn did that costs its author work later.
func (t *turn) reportMisuse(ctx context.Context, result *replay.Result) {
	if b := result.Blocked; b != nil {
		t.logger.ErrorContext(ctx, "a cancelled orchestration function blocks on something other than its context, its goroutine is left behind",
			"at", b.At, "state", b.State, "waited", b.For, "stack", b.Stack)
	}
	if b := result.Lingering; b != nil {
		logLingering(ctx, t.logger, b)
	}
	if s := result.Stuck; s != nil && t.newlyStuck(s.At) {
		t.logger.WarnContext(ctx, "an orchestration waits for something that can never come, such as a channel that no block sends to; "+
			"only a cancellation ends it", "at", s.At)
	}
	for _, near := range result.Nearing {
		t.logger.WarnContext(ctx, "an orchestration has reached half of a limit, beyond which it fails",
			"what", near.What, "count", near.Count, "limit", near.Limit)
	}
	lost := map[string]int{}
	for _, name := range result.Unheard {
		lost[name]++
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		t.logger.WarnContext(ctx, "an event that nobody waited for is lost; a queue would keep it",
			"event_name", name, "lost", lost[name])
	}
}
