package goroutine_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/duroxide/duroxide-go/internal/goroutine"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// Goroutines that live at the same time have different ids, and keep them while their
// stacks grow and move.
func TestCurrent(t *testing.T) {
	t.Parallel()
	const many = 100
	ids := make([]goroutine.ID, many)
	var alive, done sync.WaitGroup
	alive.Add(many)
	for i := range ids {
		done.Go(func() {
			ids[i] = goroutine.Current()
			alive.Done()
			alive.Wait()
			if id := grown(200); id != ids[i] {
				t.Errorf("the id changed from %x to %x", ids[i], id)
			}
		})
	}
	done.Wait()
	seen := map[goroutine.ID]bool{0: true}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("id %x is 0 or somebody else's", id)
		}
		seen[id] = true
	}
}

// grown calls itself until the stack is large.
func grown(depth int) goroutine.ID {
	var ballast [512]byte
	runtime.KeepAlive(&ballast)
	if depth == 0 {
		return goroutine.Current()
	}
	return grown(depth - 1)
}

// waitHere is found in traces by its name.
func waitHere(began chan<- bool, release <-chan bool) {
	began <- true
	<-release
}

func TestTraces(t *testing.T) {
	t.Parallel()
	began, release := make(chan bool), make(chan bool)
	var done sync.WaitGroup
	done.Go(func() { waitHere(began, release) })
	<-began
	var found []goroutine.Trace
	for len(found) != 1 || found[0].Computing() { // until it has come to its wait
		runtime.Gosched()
		found = goroutine.Traces("goroutine_test.waitHere(")
	}
	if found[0].State != "chan receive" {
		t.Errorf("state %q", found[0].State)
	}
	if place := found[0].Place(); !regexp.MustCompile(`^goroutine/goroutine_test\.go:\d+$`).MatchString(place) {
		t.Errorf("place %q in:\n%s", place, found[0].Text)
	}
	close(release)
	done.Wait()
}

func TestComputing(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"running": true, "runnable": true, "GC assist wait": true,
		"chan receive": false, "sleep": false, "sync.Mutex.Lock": false, "IO wait": false, "syscall": false,
	} {
		if got := (goroutine.Trace{State: state}).Computing(); got != want {
			t.Errorf("%s: computing is %v", state, got)
		}
	}
}

// allocate computes, and makes garbage collections begin.
func allocate(began chan<- bool, end *atomic.Bool) {
	began <- true
	kept := map[int]*[64]byte{}
	for i := 0; !end.Load(); i++ {
		kept[i%10_000] = new([64]byte)
	}
}

// A goroutine that wants to begin a garbage collection must wait for the end of a dump. It
// computes all the same.
func TestAllocatingIsComputing(t *testing.T) {
	t.Parallel()
	began, end := make(chan bool), new(atomic.Bool)
	var done sync.WaitGroup
	done.Go(func() { allocate(began, end) })
	<-began
	for range 300 {
		for _, trace := range goroutine.Traces("goroutine_test.allocate(") {
			if !trace.Computing() && trace.State != "chan send" {
				t.Errorf("state %q counts as blocked:\n%s", trace.State, trace.Text)
			}
		}
	}
	end.Store(true)
	done.Wait()
}

// Waits of a program on a semaphore, as for a file that another goroutine uses, are none of the collector's.
func TestSemaphores(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"goroutine 7 [semacquire]:\nmain.compute(0x1)\n\t/src/main.go:9 +0x1d":                                  true,
		"goroutine 7 [semacquire]:\ninternal/poll.runtime_Semacquire(0xc0)\n\t/go/src/runtime/sema.go:76 +0x25": false,
	} {
		if got := (goroutine.Trace{State: "semacquire", Text: text}).Computing(); got != want {
			t.Errorf("computing is %v of %s", got, text)
		}
	}
}

// The place is the user's, also if the user called Go's library.
func TestCaller(t *testing.T) {
	t.Parallel()
	var place string
	var once sync.Once
	once.Do(func() {
		func() { place = goroutine.Caller() }()
	})
	if !strings.HasPrefix(place, "goroutine/goroutine_test.go:") {
		t.Errorf("place %q", place)
	}
}

// Frames of Go and of this library are passed over, whatever the receiver and the
// arguments look like.
func TestPlace(t *testing.T) {
	t.Parallel()
	const own = "github.com/duroxide/duroxide-go/"
	const folder = "/src/duroxide/"
	text := fmt.Sprintf(`goroutine 7 [sleep, 3 minutes]:
%sorchestration.(*Future[...]).Await(0xc000010000)
	%sx.go:12 +0x1d
example.com/orders/v2.(*Desk).Pay.func1({0x1, 0x2}, 0xc000010000?)
	/src/orders/pay.go:31 +0x2f
%sinternal/replay.(*coroutine).main(0xc000010000)
	%sy.go:12 +0x1d
created by %sinternal/replay.(*coroutine).poll in goroutine 6
	%sz.go:40 +0x8`, own, folder, own, folder, own, folder)
	if place := (goroutine.Trace{Text: text}).Place(); place != "orders/pay.go:31" {
		t.Errorf("place %q", place)
	}
	if place := (goroutine.Trace{Text: "goroutine 7 [sleep]:"}).Place(); place != "" {
		t.Errorf("place %q of an empty stack", place)
	}
}

func BenchmarkCurrent(b *testing.B) {
	for b.Loop() {
		_ = goroutine.Current()
	}
}
