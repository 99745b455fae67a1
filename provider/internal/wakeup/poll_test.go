package wakeup

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// long is a timeout that no test waits for.
const long = time.Minute

var (
	errClosed  = errors.New("closed")
	errTrouble = errors.New("trouble")
)

func patient(closing <-chan struct{}) Fetch {
	return Fetch{Operation: "fetch", Timeout: long, Closing: closing, Closed: func(string) error { return errClosed }}
}

// script is a look that finds what is there, and tells each time whether it was woken.
type script struct {
	work  atomic.Int64
	mu    sync.Mutex
	woken []bool
}

func (s *script) look(woken bool) (*int, int64, error) {
	s.mu.Lock()
	s.woken = append(s.woken, woken)
	s.mu.Unlock()
	if s.work.Add(-1) >= 0 {
		return new(1), 0, nil
	}
	s.work.Add(1)
	return nil, 0, nil
}

func (s *script) looks() []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.woken
}

// waitFor waits until n fetches sleep.
func waitFor(t *testing.T, l *List, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if l.Len() == n {
			return
		}
	}
	t.Errorf("never were %d fetches waiting", n)
}

func TestPollWithoutTimeoutLooksOnce(t *testing.T) {
	t.Parallel()
	var s script
	found, err := Poll(t.Context(), NewList(nil), Fetch{}, s.look)
	if found != nil || err != nil || len(s.looks()) != 1 {
		t.Errorf("found %v, %v after %d looks; want nothing after one", found, err, len(s.looks()))
	}
}

func TestPollFindsWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	var s script
	l := NewList(nil)
	go func() {
		waitFor(t, l, 1)
		s.work.Store(1)
		l.Signal(1)
	}()
	found, err := Poll(t.Context(), l, patient(nil), s.look)
	if found == nil || err != nil {
		t.Fatalf("found %v, %v", found, err)
	}
	if woken := s.looks(); len(woken) != 2 || woken[0] || !woken[1] {
		t.Errorf("woken before the looks: %v; want false, true", woken)
	}
}

// A fetch that fails after a signal leaves the signal to another.
func TestPollPassesOnWhatItCannotUse(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	failed := make(chan error)
	go func() {
		looks := 0
		_, err := Poll(t.Context(), l, patient(nil), func(bool) (*int, int64, error) {
			if looks++; looks > 1 {
				return nil, 0, errTrouble
			}
			return nil, 0, nil
		})
		failed <- err
	}()
	waitFor(t, l, 1)
	var s script
	found := make(chan *int)
	go func() {
		got, _ := Poll(t.Context(), l, patient(nil), s.look)
		found <- got
	}()
	waitFor(t, l, 2)
	s.work.Store(1)
	l.Signal(1)
	if err := <-failed; !errors.Is(err, errTrouble) {
		t.Errorf("error %v; want %v", err, errTrouble)
	}
	if <-found == nil {
		t.Error("the signal was lost with the fetch that failed")
	}
}

func TestPollEnds(t *testing.T) {
	t.Parallel()
	t.Run("after the timeout", func(t *testing.T) {
		t.Parallel()
		var s script
		f := patient(nil)
		f.Timeout = time.Millisecond
		l := NewList(nil)
		found, err := Poll(t.Context(), l, f, s.look)
		if found != nil || err != nil || l.Len() != 0 {
			t.Errorf("found %v, %v, and %d still wait", found, err, l.Len())
		}
	})
	t.Run("with the context", func(t *testing.T) {
		t.Parallel()
		var s script
		l := NewList(nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { waitFor(t, l, 1); cancel() }()
		_, err := Poll(ctx, l, patient(nil), s.look)
		if !errors.Is(err, context.Canceled) || !provider.IsRetryable(err) || l.Len() != 0 {
			t.Errorf("error %v, and %d still wait; want a retryable %v", err, l.Len(), context.Canceled)
		}
	})
	t.Run("with the store", func(t *testing.T) {
		t.Parallel()
		var s script
		l := NewList(nil)
		closing := make(chan struct{})
		go func() { waitFor(t, l, 1); close(closing) }()
		if _, err := Poll(t.Context(), l, patient(closing), s.look); !errors.Is(err, errClosed) || l.Len() != 0 {
			t.Errorf("error %v, and %d still wait; want %v", err, l.Len(), errClosed)
		}
	})
}

// However signals and fetches interleave, as many fetches find something as there is.
func TestNoSignalIsLost(t *testing.T) {
	t.Parallel()
	const n = 200
	var s script
	l := NewList(nil)
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if found, err := Poll(t.Context(), l, patient(nil), s.look); found == nil || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
		})
		group.Go(func() {
			s.work.Add(1)
			l.Signal(1)
		})
	}
	group.Wait()
}
