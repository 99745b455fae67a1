package activity

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
)

// maxDetails leaves room for a codec in [provider.MaxHeartbeat].
const maxDetails = 32 << 10

// Heartbeat says how far the activity has come, for the attempt after this one: [LastHeartbeat]
// returns there the details of the last heartbeat. The next attempt is the same call when its
// worker has died or stopped, or has lost the lease, and the call that
// orchestration.WithRetry makes after this one has failed. After an attempt that took longer
// than orchestration.RetryPolicy.Timeout, the details are those of the attempts before it.
//
// It returns at once, and costs little however often it is called: the first details are stored
// at once, later ones at most once a second, the latest always. So what a worker
// that dies had said in its last second may be missing. A failure brings the very last details.
// A heartbeat does not have to come in time: the lease is renewed without it.
//
// Errors: why the context has ended, when the orchestration does not want the result any more
// or the worker stops, although the details count; details that have no JSON, or more than 32 KiB
// of it. Outside an activity it does nothing.
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
