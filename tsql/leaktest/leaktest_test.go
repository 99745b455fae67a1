package leaktest

import (
	"os"
	"os/signal"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// waits is a goroutine that is left over until it is told to end.
func waits(until <-chan struct{}) { <-until }

func TestFindNamesWhatIsLeft(t *testing.T) { //nolint:paralleltest // the goroutines of another test would be found, too
	end := make(chan struct{})
	go waits(end)
	if err := Find(); err == nil || !strings.Contains(err.Error(), "leaktest.waits") || strings.Contains(err.Error(), "leaktest.Find") {
		t.Errorf("found %v", err)
	}
	close(end)
	if err := Find(); err != nil {
		t.Error(err)
	}
}

func TestSignalsAreNobodysLeak(t *testing.T) { //nolint:paralleltest // as above
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	if err := Find(); err != nil {
		t.Error(err)
	}
}

func TestStacksThatNobodyCanEnd(t *testing.T) {
	t.Parallel()
	for stack, want := range map[string]bool{
		"goroutine 1 [chan receive, 2 minutes]:\ntesting.(*T).Run(0xc0001, {0x1, 0x2}, 0x3)\n\t/go/src/testing/testing.go:1": true,
		"goroutine 1 [select]:\ntesting.(*T).Run(0xc0001)\n\t/go/src/testing/testing.go:1":                                   false,
		"goroutine 17 [syscall, locked to thread]:\nruntime.goexit({})\n\t/go/src/runtime/asm.s:1":                           true,
		"goroutine 9 [syscall]:\nos/signal.signal_recv()\n\t/go/src/runtime/sigqueue.go:1":                                   true,
		"goroutine 9 [chan receive]:\nmain.work(...)\n\t/tmp/main.go:1\ncreated by main.main":                                false,
		"goroutine 9 [chan receive]:": false,
	} {
		if got := ofTheRuntime(stack); got != want {
			t.Errorf("%t for %s", got, stack)
		}
	}
}
