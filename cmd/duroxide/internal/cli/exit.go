package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/provider"
)

// The exit codes, as docs/cli.md promises them.
const (
	ExitOK       = 0
	ExitFailure  = 1
	ExitUsage    = 2
	ExitNotFound = 3
	// ExitFailed is an orchestration that failed; the command itself did not.
	ExitFailed = 4
	// ExitTimeout is --wait that waited longer than --timeout.
	ExitTimeout = 5
	// ExitInterrupted is SIGINT or SIGTERM.
	ExitInterrupted = 130
)

// usageError is a command line that cannot be understood.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e usageError) Error() string {
	return fmt.Sprintf("%v\nRun '%s --help' for how to use it.", e.err, e.cmd.CommandPath())
}

func (e usageError) Unwrap() error { return e.err }

// timeoutError is the end of a --timeout before that of an instance.
type timeoutError struct {
	instance string
	after    time.Duration
	// err is what the wait returned: the end of its context, how far the instance was, and the store's trouble.
	err error
}

func (e timeoutError) Error() string {
	// After a deadline the client says how far the instance was.
	wait := client.WaitError{Instance: e.instance}
	if found, ok := errors.AsType[*client.WaitError](e.err); ok {
		wait = *found
	}
	wait.Err = fmt.Errorf("timed out after %v", e.after)
	text := wait.Error()
	if trouble, ok := errors.AsType[*provider.Error](e.err); ok {
		text += fmt.Sprintf("; the last look at the store failed: %v", trouble)
	}
	return text
}

func (e timeoutError) Unwrap() error { return e.err }

// notFoundError is something that is not there. It matches [provider.ErrNotFound].
type notFoundError struct{ text string }

func (e notFoundError) Error() string { return e.text }

func (notFoundError) Unwrap() error { return provider.ErrNotFound }

func notFound(format string, args ...any) error {
	return notFoundError{fmt.Sprintf(format, args...)}
}

// exit reports an error and returns the code that stands for it.
func (a *app) exit(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	code := exitCode(ctx, err)
	if code == ExitInterrupted {
		err = errors.New("interrupted")
	}
	// A failed orchestration's error is its own text, and a store's may quote what it holds.
	fmt.Fprintf(a.env.Stderr, "duroxide: %s\n", screen.Lines(err.Error()))
	return code
}

func exitCode(ctx context.Context, err error) int {
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	if isUsage(err) {
		return ExitUsage
	}
	if _, ok := errors.AsType[timeoutError](err); ok {
		return ExitTimeout
	}
	if _, ok := errors.AsType[*client.FailedError](err); ok {
		return ExitFailed
	}
	if errors.Is(err, provider.ErrNotFound) {
		return ExitNotFound
	}
	return ExitFailure
}

// isUsage reports whether what somebody has typed cannot be understood, the URL of a
// store among it.
func isUsage(err error) bool {
	if opening, ok := errors.AsType[openingError](err); ok {
		return errors.Is(opening, provider.ErrInvalidArgument)
	}
	_, ok := errors.AsType[usageError](err)
	return ok
}
