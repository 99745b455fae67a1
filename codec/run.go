package codec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// runGrace is how long a stage may take to return after its context has ended.
const runGrace = 100 * time.Millisecond

// run calls a stage. That is the user's code: if it panics, ends its goroutine or never returns,
// this is an error of the payload, and neither ends the process nor holds the caller.
func run(ctx context.Context, stage Stage, call func(context.Context, []byte) ([]byte, error), data []byte) ([]byte, error) {
	switch stage.(type) {
	case compress, encrypt:
		return call(ctx, data)
	}
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("it called runtime.Goexit")}
		defer func() {
			if value := recover(); value != nil { // which may quote the payload
				a.err = fmt.Errorf("it panicked with a %T at %s", value, panicked())
			}
			done <- a
		}()
		a.data, a.err = call(ctx, data)
	}()
	select {
	case a := <-done:
		return a.data, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done:
		return a.data, a.err
	case <-time.After(runGrace):
		return nil, fmt.Errorf("it does not return: %w", context.Cause(ctx))
	}
}

// panicked is the line that panicked, for a deferred call that has recovered.
func panicked() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") || !more {
			return fmt.Sprintf("%s, line %d", frame.Function, frame.Line)
		}
	}
}
