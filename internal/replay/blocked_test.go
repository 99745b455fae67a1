package replay_test

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// blockedAfter is short, and long for a function that has nothing to do.
const blockedAfter = 50 * time.Millisecond

// A function that waits for something other than its context costs its turn a short
// time, and is told with what it does and where.
func TestBlockedFunctionIsFound(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var ended sync.WaitGroup
	var mu sync.Mutex
	mu.Lock()
	for _, test := range []struct {
		state string
		block func()
	}{
		{"chan receive", func() { <-release }},
		{"select", func() {
			select {
			case <-release:
			case <-t.Context().Done():
			}
		}},
		{"sync.Mutex.Lock", func() {
			mu.Lock()
			defer mu.Unlock()
		}},
		{"sleep", func() {
			for {
				select {
				case <-release:
					return
				default:
					time.Sleep(blockedAfter * 10)
				}
			}
		}},
		{"chan receive", func() { panic(slowError(release)) }},
	} {
		for _, later := range []bool{false, true} {
			slow := 0
			ended.Add(1)
			turn := newTurn(do(func(f flow, _ string) (string, error) {
				defer ended.Done()
				if later {
					f.text(f.dequeue("q"))
				}
				test.block()
				f.status("too late")
				return "", nil
			}), nil, queued("q", ""))
			turn.BlockedAfter, turn.Slow = blockedAfter, func() { slow++ }
			result, err := replay.Run(t.Context(), turn)
			blocked, ok := errors.AsType[*replay.BlockedError](err)
			if result != nil || !ok || !errors.Is(err, replay.ErrBlocked) {
				t.Fatalf("%s: result %+v, error %v", test.state, result, err)
			}
			if blocked.State != test.state || !regexp.MustCompile(`^replay/blocked_test\.go:\d+$`).MatchString(blocked.At) || slow != 1 {
				t.Errorf("%s: %q at %q, told %d times that it is slow:\n%s", test.state, blocked.State, blocked.At, slow, blocked.Stack)
			}
			if blocked.For < blockedAfter || !strings.Contains(err.Error(), "at "+blocked.At) {
				t.Errorf("%s: blocked for %v: %v", test.state, blocked.For, err)
			}
		}
	}
	close(release)
	mu.Unlock()
	ended.Wait()
}

// slowError is an error whose text needs the channel to be closed.
type slowError <-chan struct{}

func (e slowError) Error() string { <-e; return "slow" }

// A function that computes gets ten times as long, as it may only have got no processor,
// and is then told like one that blocks.
func TestEndlessComputation(t *testing.T) {
	t.Parallel()
	var release atomic.Bool
	ended := make(chan struct{})
	turn := newTurn(do(func(flow, string) (string, error) {
		defer close(ended)
		for !release.Load() { //nolint:revive // that it does nothing but compute is the test
		}
		return "", nil
	}), nil)
	turn.BlockedAfter = blockedAfter
	_, err := replay.Run(t.Context(), turn)
	blocked, ok := errors.AsType[*replay.BlockedError](err)
	if !ok || blocked.For < 10*blockedAfter || !strings.Contains(err.Error(), "computed for") {
		t.Errorf("error %v", err)
	}
	release.Store(true)
	<-ended
}

// A deferred call that blocks does not hold up the turn, whose effects are decided.
func TestBlockedDeferredCallIsFound(t *testing.T) {
	t.Parallel()
	release, ended := make(chan struct{}), make(chan struct{})
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		defer close(ended)
		defer func() { <-release }()
		return f.await(f.activity("A", ""))
	}), nil)
	turn.BlockedAfter = blockedAfter
	result := run(t, turn)
	wantDelta(t, result, started, provider.ActivityScheduled{Name: "A"})
	if b := result.Lingering; b == nil || !strings.HasPrefix(b.At, "replay/blocked_test.go:") {
		t.Errorf("lingering %+v", b)
	}
	close(release)
	<-ended
}

// Long turns of functions that do use their context are not blocked.
func TestLongTurnIsNotBlocked(t *testing.T) {
	t.Parallel()
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		for began := time.Now(); time.Since(began) < 3*blockedAfter; {
			f.text(f.dequeue("q"))
		}
		return "out", nil
	}), nil)
	for range 100_000 {
		turn.Messages = append(turn.Messages, queued("q", ""))
	}
	turn.BlockedAfter = blockedAfter
	result, err := replay.Run(t.Context(), turn)
	if err != nil || result.Lingering != nil {
		t.Errorf("result %+v, error %v", result, err)
	}
}

// What the detector adds to a turn: compare the two.
func BenchmarkTurn(b *testing.B) {
	for name, after := range map[string]time.Duration{"watched": time.Second, "unwatched": 0} {
		b.Run(name, func(b *testing.B) {
			turn := newTurn(charge, nil)
			turn.BlockedAfter = after
			for b.Loop() {
				if _, err := replay.Run(b.Context(), turn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A blocked function that is cancelled reads and writes nothing of its turn while that is being decided.
func TestBlockedFunctionLeavesItsCancelledTurnAlone(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(f flow, h *replay.Handle){
		"pruning keys":           func(f flow, _ *replay.Handle) { f.KVBefore(now) },
		"passing over a message": func(f flow, h *replay.Handle) { f.Again(h, replay.Unreadable{Source: "q"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release, ended := make(chan struct{}), make(chan struct{})
			went := false
			turn := newTurn(do(func(f flow, _ string) (string, error) {
				defer close(ended)
				h := f.dequeue("q")
				<-release
				use(f, h)
				went = true
				return "", nil
			}), nil, cancel("enough"))
			turn.BlockedAfter = blockedAfter
			decided := false
			turn.NowMs = func() uint64 {
				if decided { // the function comes back in the midst of that
					select {
					case <-release:
					default:
						close(release)
					}
					<-ended
				}
				return now
			}
			turn.Slow = func() { decided = true } // before the function counts as blocked
			result, err := replay.Run(t.Context(), turn)
			if err != nil || result.Outcome != replay.Cancelled || result.Blocked == nil {
				t.Fatalf("got %+v, %v", result, err)
			}
			if went || len(result.Unreadable) > 0 {
				t.Errorf("the function went on: %v, with %v", went, result.Unreadable)
			}
		})
	}
}
