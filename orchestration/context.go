package orchestration

import (
	"context"
	"log/slog"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Context gives an orchestration function access to everything outside it. Only the function's own goroutine may use
// it. If another goroutine uses the Context or one of its futures, that goroutine ends (its deferred calls run), and
// the orchestration fails with an error that names the line. If that happens after the turn, the worker logs it, and
// the next turn fails, provided that the worker still has the function in memory (Cache in worker.Options).
// The body of an iterator that iter.Pull runs counts as another goroutine.
type Context struct {
	env *replay.Env
	// retried counts the calls with a policy.
	retried *int
	// detached is a context that does not see the cancellation.
	detached bool
}

// Err returns nil until the orchestration is cancelled, then an error that matches [ErrCancelled]. Without
// [Definition.WithCleanup] it always returns nil, because a cancellation ends the orchestration at once.
func (c *Context) Err() error {
	if c.cancelled() {
		return ErrCancelled
	}
	return nil
}

// Detached returns a context for work that must be done although the orchestration is cancelled: clean-up, and steps
// that must not be left half done. Waits through it behave as if there were no cancellation.
func (c *Context) Detached() *Context {
	d := *c
	d.detached = true
	return &d
}

func (c *Context) cancelled() bool { return c.env.Cancelled() && !c.detached }

// Info identifies the running execution.
type Info struct {
	Instance    string
	ExecutionID uint64
	Name        string
	Version     string
	// ParentInstance is empty for a root.
	ParentInstance string
}

// Info returns the running execution's identity.
func (c *Context) Info() Info { return Info(c.env.Info()) }

// Replaying reports whether the function is repeating what it did before. Use it only for logging. A function that
// decides anything else by it fails on replay.
func (c *Context) Replaying() bool { return c.env.Replaying() }

// mustOwn ends a goroutine that is not the function's, before it runs anything that may panic: nobody recovers there,
// and the process would end.
func (c *Context) mustOwn() { _ = c.env.Replaying() }

// Logger returns base, or the default logger when base is nil, with the
// instance's identity attached. It is silent while the function replays, so that
// every line appears once. Any goroutine may use the logger.
func (c *Context) Logger(base *slog.Logger) *slog.Logger {
	if base == nil {
		base = slog.Default()
	}
	info := c.env.Info()
	return slog.New(onceHandler{Handler: base.Handler(), env: c.env}).With(
		"instance_id", info.Instance, "execution_id", info.ExecutionID,
		"orchestration_name", info.Name, "orchestration_version", info.Version)
}

// onceHandler drops what a replay logs again.
type onceHandler struct {
	slog.Handler
	env *replay.Env
}

func (h onceHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return !h.env.Silent() && h.Handler.Enabled(ctx, level)
}

func (h onceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return onceHandler{Handler: h.Handler.WithAttrs(attrs), env: h.env}
}

func (h onceHandler) WithGroup(name string) slog.Handler {
	return onceHandler{Handler: h.Handler.WithGroup(name), env: h.env}
}

// CustomStatus returns the status set last, nil when there is none.
func (c *Context) CustomStatus() *string { return c.env.CustomStatus() }

// SetCustomStatus sets a text that clients can watch, such as "3 of 5 done". At
// most 256 KiB.
func (c *Context) SetCustomStatus(status string) { c.env.Emit(replay.SetStatus{Status: &status}) }

// ResetCustomStatus removes the custom status.
func (c *Context) ResetCustomStatus() { c.env.Emit(replay.SetStatus{}) }

// encode turns an argument of a definition's type into text. A value that has no
// JSON is a programming error of the function and panics, which fails the
// orchestration with the text.
func encode[T any](what string, value T) string {
	text, err := payload.EncodeAs(value)
	if err != nil {
		panic(what + ": " + err.Error())
	}
	return text
}
