package orchestrationtest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// late fails the test from goroutines that functions have left behind. One that comes when the
// test has ended cannot fail it any more, and would end the process if it tried.
type late struct {
	t testing.TB

	mu    sync.Mutex
	ended bool
}

func (l *late) errorf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		fmt.Fprintf(os.Stderr, l.t.Name()+", after its end: "+format+"\n", args...)
		return
	}
	l.t.Errorf(format, args...)
}

func (l *late) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}
