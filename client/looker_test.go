package client_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// telling is a store that tells how far instances are and when they end, and counts how
// often it is asked for how many.
type telling struct {
	provider.Store

	mu sync.Mutex
	// asked is the number of instances of each call.
	asked []int
	ended map[string]bool
	// listens are the channels of those who wait for an end, stopped how many have stopped.
	listens map[string]chan struct{}
	stopped int
	// hold, if not nil, keeps calls until they are cancelled, and is closed by the first.
	hold chan struct{}
}

func newTelling() *telling {
	return &telling{ended: map[string]bool{}, listens: map[string]chan struct{}{}}
}

func (s *telling) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	if s.hold != nil {
		close(s.hold)
		<-ctx.Done()
		return nil, provider.ContextError(ctx, "read_progress")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, len(instances))
	list := make([]provider.Progress, len(instances))
	for i, instance := range instances {
		list[i].Use = &provider.IDUse{Name: "O", Status: provider.StatusRunning}
		if s.ended[instance] {
			list[i].Use.Status = provider.StatusCompleted
			list[i].History = events(provider.OrchestrationStarted{}, provider.OrchestrationCompleted{Output: "7"})
		}
	}
	return list, nil
}

func (s *telling) StartInstance(context.Context, provider.StartOrchestrationItem) (*provider.IDUse, error) {
	return nil, nil
}

func (s *telling) FindInstance(context.Context, string) (*provider.IDUse, error) {
	return nil, errors.New("asked for one instance")
}

func (s *telling) InstanceChanged(string) (changed <-chan struct{}, stop func()) {
	return nil, func() {}
}

func (s *telling) InstanceEnd(instance string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listens[instance] = make(chan struct{})
	return s.listens[instance], func() *provider.Progress { return nil }, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopped++
	})
}

// end ends the instance and tells so.
func (s *telling) end(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[instance] = true
	close(s.listens[instance])
}

// endUntold ends the instance and tells nobody.
func (s *telling) endUntold(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[instance] = true
}

// calls is how often the store was asked.
func (s *telling) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// All waits of a client ask in one call, ten times a second at most once they have waited for a
// while (Client.Wait).
func TestWaitsAskTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const waits = 500
		store := newTelling()
		c := client.New(store, client.Options{})
		var waiting sync.WaitGroup
		for i := range waits {
			waiting.Go(func() {
				if status, err := c.Wait(t.Context(), fmt.Sprint("i", i)); err != nil || status.Output != "7" {
					t.Errorf("%+v, %v", status, err)
				}
			})
			time.Sleep(time.Millisecond) // they begin one after the other
		}
		time.Sleep(time.Second)
		before := store.calls()
		time.Sleep(time.Second)
		if n := store.calls() - before; n > 11 {
			t.Errorf("%d calls in a second of %d waits", n, waits)
		}
		store.mu.Lock()
		if last := store.asked[len(store.asked)-1]; last != waits {
			t.Errorf("the last call asked for %d instances of %d", last, waits)
		}
		store.mu.Unlock()
		for i := range waits {
			store.end(fmt.Sprint("i", i))
		}
		waiting.Wait()
	})
}

// While ends are told one after the other, the looks for them are looks for all who wait: there are
// hardly any others.
func TestLooksForEndsAskForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const waits = 100
		store := newTelling()
		c := client.New(store, client.Options{})
		var waiting sync.WaitGroup
		for i := range waits {
			waiting.Go(func() { _, _ = c.Wait(t.Context(), fmt.Sprint("i", i)) })
		}
		time.Sleep(time.Second)
		before := store.calls()
		for i := range waits {
			time.Sleep(40 * time.Millisecond)
			store.end(fmt.Sprint("i", i))
		}
		waiting.Wait()
		if n := store.calls() - before; n > waits+1 {
			t.Errorf("%d calls for %d ends", n, waits)
		}
	})
}

// That a store tells of ends, which another process may have stored, does not make waits for other changes poll
// rarely.
func TestToldEndsLeaveOtherWaitsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTelling()
		c := client.New(store, client.Options{})
		time.AfterFunc(time.Millisecond, func() { store.end("i") })
		if _, err := c.Wait(t.Context(), "i"); err != nil {
			t.Fatal(err)
		}
		before := store.calls()
		time.AfterFunc(10*time.Millisecond, func() { store.endUntold("other") })
		if _, err := c.WaitForCustomStatus(t.Context(), "other", 0); err != nil {
			t.Fatal(err)
		}
		if n := store.calls() - before; n != 3 {
			t.Errorf("%d looks; want one at once, one after 5 ms and one after 15 ms", n)
		}
	})
}

// A run that was started here looks once: when the store tells of its end.
func TestRunLooksOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTelling()
		run, err := client.Start(t.Context(), client.New(store, client.Options{}), orchestration.Declare[int, int]("O"), "i", 1)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Millisecond, func() { store.end("i") })
		for range 2 { // it may be waited for again
			if n, err := run.Wait(t.Context()); n != 7 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		if !slices.Equal(store.asked, []int{1, 1}) {
			t.Errorf("asked for %v", store.asked)
		}
		runtime.KeepAlive(run)
	})
}

// knowing is a store that tells with the end what an instance has ended with.
type knowing struct{ *telling }

func (s knowing) InstanceEnd(instance string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	ended, _, stop = s.telling.InstanceEnd(instance)
	return ended, func() *provider.Progress {
		return &provider.Progress{
			Use:     &provider.IDUse{Name: "O", Status: provider.StatusCompleted},
			History: events(provider.OrchestrationStarted{}, provider.OrchestrationCompleted{Output: "7"}),
		}
	}, stop
}

// A run whose end is told with its outcome does not look. What was told before somebody waits is
// looked at: the instance may have been deleted since.
func TestToldOutcomeIsNotAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTelling()
		run, err := client.Start(t.Context(), client.New(knowing{store}, client.Options{}), orchestration.Declare[int, int]("O"), "i", 1)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Millisecond, func() { store.end("i") })
		for looks := range 2 {
			if n, err := run.Wait(t.Context()); n != 7 || err != nil || len(store.asked) != looks {
				t.Fatalf("%d, %v after %d looks; want 7 after %d", n, err, len(store.asked), looks)
			}
		}
		runtime.KeepAlive(run)
	})
}

// Nobody listens for the end of a run that is not used any more.
func TestForgottenRunListensNoMore(t *testing.T) {
	t.Parallel()
	store := newTelling()
	if _, err := client.Start(t.Context(), client.New(store, client.Options{}), orchestration.Declare[int, int]("O"), "i", 1); err != nil {
		t.Fatal(err)
	}
	stopped := func() bool {
		store.mu.Lock()
		defer store.mu.Unlock()
		return store.stopped > 0
	}
	for end := time.Now().Add(time.Minute); !stopped(); runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("it listens")
		}
	}
}

// The call under way ends when nobody waits for its answer any more.
func TestLastWaitEndsTheCall(t *testing.T) {
	t.Parallel()
	store := newTelling()
	store.hold = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-store.hold
		cancel()
	}()
	// leaktest fails if the call goes on.
	if _, err := client.New(store, client.Options{}).Wait(ctx, "i"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
