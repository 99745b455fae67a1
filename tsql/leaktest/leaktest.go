// Package leaktest finds goroutines that tests leave behind. It is our own because a library for it would be in the
// list of modules of everybody who imports this one.
package leaktest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long a goroutine may take to end after the tests: one that was told to end needs a moment.
const patience = time.Second

// Main runs a package's tests and ends the process. If the tests pass and a goroutine is left over, the run fails and
// its stack is shown. It is the body of a TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Find waits up to a second for all goroutines but the caller's to end. The error has the stacks of those that have
// not.
func Find() error {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause *= 2 {
		left := others()
		switch {
		case len(left) == 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("goroutines are left over:\n\n%s", strings.Join(left, "\n\n"))
		}
		<-time.After(pause)
	}
}

// others returns the stacks of all goroutines but the caller's and those that nobody can end.
func others() []string {
	var left []string
	// The caller's is the first.
	for _, stack := range strings.Split(allStacks(), "\n\n")[1:] {
		if !ofTheRuntime(stack) {
			left = append(left, strings.TrimSpace(stack))
		}
	}
	return left
}

// allStacks is what the runtime prints of all goroutines.
func allStacks() string {
	for size := 64 << 10; ; size *= 2 {
		buffer := make([]byte, size)
		if n := runtime.Stack(buffer, true); n < size {
			return string(buffer[:n])
		}
	}
}

// ofTheRuntime reports whether a goroutine belongs to the testing package, to os/signal, which keeps its own for good,
// to a trace that is being recorded, or to a thread of C.
func ofTheRuntime(stack string) bool {
	header, frames, _ := strings.Cut(stack, "\n")
	first, _, _ := strings.Cut(frames, "\n")
	// A frame is the function, its arguments in parentheses, and the place on the next line.
	function := first
	if at := strings.LastIndexByte(first, '('); at >= 0 {
		function = first[:at]
	}
	switch function {
	case "testing.RunTests", "testing.(*T).Run", "testing.(*T).Parallel", "testing.runFuzzing", "testing.runFuzzTests":
		return strings.Contains(header, "[chan receive")
	case "os/signal.signal_recv", "os/signal.loop":
		return true
	case "runtime.goexit":
		return strings.Contains(header, "[syscall")
	}
	return strings.Contains(frames, "runtime.ensureSigM") || strings.Contains(frames, "runtime.ReadTrace")
}
