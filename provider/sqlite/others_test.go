package sqlite

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// lookNow looks as if it were time to.
func (o *others) lookNow(t *testing.T) (pace time.Duration) {
	t.Helper()
	o.looked = time.Time{}
	o.lookIfDue(t.Context())
	return o.pace
}

// finish starts an instance and ends it with its first turn.
func finish(t *testing.T, s *Store, instance string) {
	t.Helper()
	must(t, s.EnqueueForOrchestrator(t.Context(), start(instance), 0))
	ack := firstTurn(fetch(t, s))
	ack.WorkerItems, ack.Metadata.Status = nil, new(provider.StatusCompleted)
	must(t, s.AckOrchestrationItem(t.Context(), ack))
}

// How soon the next look comes depends on whether the last one was of use: soon after work was found that
// another process has made, twice as late after each look that finds nothing, and no sooner after what another
// process writes for itself.
func TestLooksFollowWhatIsOfUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, other := openFile(t, path, Options{PollInterval: Never}), openFile(t, path, Options{PollInterval: Never})
	const interval = 100 * millisecond
	o := newOthers(s, Options{PollInterval: interval})
	write := func(instance string) { must(t, other.EnqueueForOrchestrator(t.Context(), start(instance), 0)) }
	pace := func(what string, want time.Duration) {
		t.Helper()
		if got := o.lookNow(t); got != want {
			t.Errorf("%s: the next look comes after %v, want %v", what, got, want)
		}
	}
	pace("at first", interval)
	for i := range 3 {
		write(strconv.Itoa(i))
		pace("nobody takes what was written", interval)
	}
	fetch(t, s)
	pace("a fetch has found something", 2*soonestLook)
	pace("nothing was written", 4*soonestLook)
	write("more")
	pace("nobody has taken it yet", 5*soonestLook)
	fetch(t, s)
	write("most")
	pace("a fetch has found something again, and there is more", soonestLook+soonestLook/4)
	looks := 1
	for o.lookNow(t) < interval {
		looks++
	}
	if looks != 7 {
		t.Errorf("the looks came to the interval after %d, want 7", looks)
	}
	s.writer.committed.Store(false) // as when the system is asked to tell
	o.notice()
	pace("the system tells of a write", 2*soonestLook)
	must(t, s.EnqueueForOrchestrator(t.Context(), start("own"), 0))
	pace("it was one of this process", interval)
	o.least = interval / 2
	fetch(t, s)
	write("last")
	o.woke = true
	pace("it takes long to find out who has ended", interval/2+interval/8)
}

// One look tells all whose end another process has stored, with one statement, and nobody else.
func TestOneLookTellsAllEndsOfAnotherProcess(t *testing.T) { //nolint:paralleltest // all statements are counted
	s := openCounted(t)
	other := openFile(t, s.watch.others.log[:len(s.watch.others.log)-len("-wal")], Options{PollInterval: Never})
	o := newOthers(s, Options{PollInterval: time.Hour})
	const n = 20
	var ended []<-chan struct{}
	for i := range n {
		told, end, stop := s.InstanceEnd(strconv.Itoa(i))
		t.Cleanup(stop)
		t.Cleanup(func() {
			if end() != nil {
				t.Error("a result is told that may be that of an earlier instance")
			}
		})
		ended = append(ended, told)
	}
	waits, _, stop := s.InstanceEnd("waits")
	defer stop()
	must(t, other.EnqueueForOrchestrator(t.Context(), start("waits"), time.Hour))
	for i := range n {
		finish(t, other, strconv.Itoa(i))
	}
	statements.take()
	if pace := o.lookNow(t); pace > 10*time.Second {
		t.Errorf("the next look comes after %v", pace)
	}
	if counts, sum := statements.take(); counts["ListEndedOf"] != 1 || sum != 2 {
		t.Errorf("a look took %v; want PRAGMA and ListEndedOf once each", counts)
	}
	for _, told := range ended {
		soon(t, told)
	}
	select {
	case <-waits:
		t.Error("an end was told of an instance that waits")
	default:
	}
	o.lookNow(t)
	if counts, sum := statements.take(); sum != 1 {
		t.Errorf("a look without news took %v; want PRAGMA alone", counts)
	}
}

// Who waits for an end is told by a store of which nothing else is asked.
func TestEndInAnotherProcessIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, other := openFile(t, path, Options{}), openFile(t, path, Options{})
	for _, instance := range []string{"a", "b"} {
		ended, _, stop := s.InstanceEnd(instance)
		finish(t, other, instance)
		soon(t, ended)
		stop()
	}
}
