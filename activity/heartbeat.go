package activity

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
)

// maxDetails leaves room for a codec in [provider.MaxHeartbeat].
const maxDetails = 32 << 10

// Heartbeat reports the progress of an activity to its next attempt, where [LastHeartbeat] returns
// the details of the last heartbeat. The next attempt is the same call if its worker has died,
// stopped or lost the lease, and the next call of orchestration.WithRetry if this one has failed.
// After an attempt that took longer than retry.Policy.Timeout, the details are those
// of the attempts before it.
//
// It returns at once and costs little, however often it is called: the first details are stored at
// once, later ones at most once a second, the latest always. If the worker dies, its last second
// may be missing. A failure brings the very last details. Heartbeats have no deadline: the worker
// renews the lease without them.
//
// Errors: why the context has ended, if the orchestration no longer wants the result or the worker
// stops (the details count all the same); details that have no JSON, or more than 32 KiB of it.
// Outside an activity it does nothing.
func Heartbeat[T any](ctx context.Context, details T) error {
	text, err := payload.EncodeJSON(details)
	if err != nil {
		return fmt.Errorf("activity.Heartbeat: %w", err)
	}
	if len(text) > maxDetails {
		return fmt.Errorf("activity.Heartbeat: the details have %d bytes of JSON, more than %d", len(text), maxDetails)
	}
	if env, ok := ctx.Value(contextKey{}).(Environment); ok && env.Heartbeat != nil {
		env.Heartbeat(text)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// LastHeartbeat returns the details of the last heartbeat of the attempts before this one. ok is
// false when there was none, or when its details do not fit T.
func LastHeartbeat[T any](ctx context.Context) (details T, ok bool) {
	env, _ := ctx.Value(contextKey{}).(Environment)
	if env.LastHeartbeat == "" {
		return details, false
	}
	details, err := payload.DecodeJSON[T](env.LastHeartbeat)
	return details, err == nil
}
