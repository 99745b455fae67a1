package providerfault_test

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/testsupport/leaktest"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T) provider.Provider {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// methods are the provider's methods that the script is about, by operation.
func methods() map[providerfault.Operation]string {
	words := regexp.MustCompile(`KV|[A-Z][a-z]+`)
	found := map[providerfault.Operation]string{}
	for method := range reflect.TypeFor[provider.Provider]().Methods() {
		if slices.Contains([]string{"Name", "Version", "Admin"}, method.Name) {
			continue
		}
		name := strings.ToLower(strings.Join(words.FindAllString(method.Name, -1), "_"))
		found[providerfault.Operation(name)] = method.Name
	}
	return found
}

// call calls a method by its name with empty arguments and returns its error.
func call(ctx context.Context, store provider.Provider, method string) error {
	m := reflect.ValueOf(store).MethodByName(method)
	in := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < m.Type().NumIn(); i++ {
		in = append(in, reflect.Zero(m.Type().In(i)))
	}
	out := m.Call(in)
	err, _ := reflect.TypeAssert[error](out[len(out)-1])
	return err
}

// Every method follows the script under its own name.
func TestEveryMethodCanFail(t *testing.T) {
	t.Parallel()
	for operation, method := range methods() {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			var seen []providerfault.Call
			store := providerfault.New(nil, providerfault.Rule{
				Operation: operation, Fault: providerfault.Fault{Fail: providerfault.Busy()},
				If: func(c providerfault.Call) bool { seen = append(seen, c); return true },
			})
			err := call(t.Context(), store, method)
			if e := provider.AsError(err); e == nil || e.Operation != string(operation) || !e.Retryable {
				t.Errorf("error = %v", err)
			}
			if n := store.Calls(operation); n != 1 {
				t.Errorf("counted %d calls", n)
			}
			if len(seen) != 1 || seen[0].Operation != operation {
				t.Errorf("the rule saw %+v", seen)
			}
		})
	}
}

// Without a rule the decorator makes no difference.
func TestEveryMethodPassesThrough(t *testing.T) {
	t.Parallel()
	inner := open(t)
	store := providerfault.New(inner, providerfault.Rule{Operation: "no such operation", Fault: providerfault.Fault{Fail: providerfault.Refused()}})
	for _, method := range methods() {
		if strings.HasPrefix(method, "Fetch") {
			continue // needs a lease's length; below
		}
		want, got := call(t.Context(), inner, method), call(t.Context(), store, method)
		if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
			t.Errorf("%s: %v, decorated %v", method, want, got)
		}
	}
	if store.Name() != inner.Name() || store.Version() != inner.Version() || store.Admin() != inner.Admin() {
		t.Error("another name, version or management interface")
	}
}

var start = provider.StartOrchestrationItem{Instance: "i", Orchestration: "O", Input: "x", ExecutionID: 1}

func fetch(t *testing.T, store provider.Provider) *provider.FetchedOrchestration {
	t.Helper()
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return fetched
}

func TestLostAnswersHadTheirEffect(t *testing.T) {
	t.Parallel()
	store := providerfault.New(open(t), providerfault.Rule{
		Operation: providerfault.EnqueueForOrchestrator, Times: 1,
		Fault: providerfault.Fault{Lose: providerfault.Unreachable()},
	})
	err := store.EnqueueForOrchestrator(t.Context(), start, 0)
	if err == nil || err.Error() != "enqueue_for_orchestrator: injected: the connection was lost" {
		t.Errorf("error = %v", err)
	}
	fetched := fetch(t, store)
	if diff := cmp.Diff([]provider.WorkItem{start}, fetched.Item.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	ack := provider.AckOrchestrationParams{LockToken: fetched.LockToken, ExecutionID: 1}
	store.Add(providerfault.Rule{
		Operation: providerfault.AckOrchestrationItem, Times: 1,
		If:    func(c providerfault.Call) bool { return c.LockToken == fetched.LockToken && c.Turn.ExecutionID == 1 },
		Fault: providerfault.Fault{Lose: providerfault.Unreachable()},
	})
	if err := store.AckOrchestrationItem(t.Context(), ack); !provider.IsRetryable(err) {
		t.Errorf("first ack: %v", err)
	}
	if err := store.AckOrchestrationItem(t.Context(), ack); !errors.Is(err, provider.ErrInvalidLockToken) {
		t.Errorf("second ack: %v", err)
	}
}

func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	store := providerfault.New(open(t), providerfault.Rule{
		Operation: providerfault.EnqueueForOrchestrator, Fault: providerfault.Fault{Repeat: 2},
	})
	if err := store.EnqueueForOrchestrator(t.Context(), start, 0); err != nil {
		t.Fatal(err)
	}
	if n := len(fetch(t, store).Item.Messages); n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
	if n := store.Calls(providerfault.EnqueueForOrchestrator); n != 1 {
		t.Errorf("counted %d calls", n)
	}
}

// Skip and Times select calls; the first rule in force wins, and each counts for
// itself.
func TestWhichCalls(t *testing.T) {
	t.Parallel()
	store := providerfault.New(open(t),
		providerfault.Rule{Operation: providerfault.Read, Skip: 1, Times: 2, Fault: providerfault.Fault{Fail: errors.New("first")}},
		providerfault.Rule{Skip: 2, Times: 2, Fault: providerfault.Fault{Fail: errors.New("second")}},
	)
	var got []string
	for range 5 {
		_, err := store.Read(t.Context(), "i")
		if err == nil {
			err = errors.New("none")
		}
		got = append(got, err.Error())
	}
	if diff := cmp.Diff([]string{"none", "first", "first", "second", "none"}, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestHeldCalls(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	store := providerfault.New(open(t), providerfault.Rule{Fault: providerfault.Fault{Hold: release, Delay: time.Millisecond}})
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	read := func() {
		_, err := store.Read(ctx, "i")
		done <- err
	}
	go read()
	close(release)
	if err := <-done; err != nil {
		t.Errorf("released call: %v", err)
	}
	store = providerfault.New(open(t), providerfault.Rule{Fault: providerfault.Fault{Hold: make(chan struct{})}})
	go read()
	cancel(errors.New("gave up"))
	if err := <-done; !provider.IsRetryable(err) || err.Error() != "read: gave up" {
		t.Errorf("cancelled call: %v", err)
	}
	store = providerfault.New(open(t), providerfault.Rule{Fault: providerfault.Fault{Delay: time.Hour}})
	go read()
	if err := <-done; !provider.IsRetryable(err) {
		t.Errorf("cancelled delay: %v", err)
	}
}

func TestInjectedErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err       error
		is        error
		retryable bool
	}{
		{providerfault.Busy(), nil, true},
		{providerfault.Unreachable(), nil, true},
		{providerfault.LockLost(), provider.ErrLockLost, false},
		{providerfault.Refused(), provider.ErrInvalidArgument, false},
	} {
		store := providerfault.New(nil, providerfault.Rule{Fault: providerfault.Fault{Fail: test.err}})
		_, err := store.Read(t.Context(), "i")
		if test.is != nil && !errors.Is(err, test.is) || provider.IsRetryable(err) != test.retryable {
			t.Errorf("error = %v, retryable %t", err, provider.IsRetryable(err))
		}
	}
}

// notifier is a store that tells of a change at once.
type notifier struct{ provider.Provider }

func (notifier) InstanceChanged(string) (changed <-chan struct{}, stop func()) {
	c := make(chan struct{})
	close(c)
	return c, func() {}
}

func TestChangesAreStillNotified(t *testing.T) {
	t.Parallel()
	changed, stop := providerfault.New(notifier{}).InstanceChanged("i")
	<-changed
	stop()
	never, stop := providerfault.New(nil).InstanceChanged("i")
	stop()
	if never != nil {
		t.Error("a channel that nobody closes")
	}
}

// Watching leases follows the script too, and of a store that cannot nothing is lost.
func TestLostWorkItems(t *testing.T) {
	t.Parallel()
	store := providerfault.New(open(t), providerfault.Rule{
		Operation: providerfault.LostWorkItems, Times: 1, Fault: providerfault.Fault{Fail: providerfault.Busy()},
	})
	if _, err := store.LostWorkItems(t.Context(), []string{"x"}); !provider.IsRetryable(err) {
		t.Errorf("error = %v", err)
	}
	if lost, err := store.LostWorkItems(t.Context(), []string{"x"}); err != nil || !slices.Equal(lost, []string{"x"}) {
		t.Errorf("lost %v, %v", lost, err)
	}
	plain := providerfault.New(struct{ provider.Provider }{open(t)})
	if lost, err := plain.LostWorkItems(t.Context(), []string{"x"}); err != nil || lost != nil {
		t.Errorf("lost %v, %v", lost, err)
	}
}

// unselecting hides that a store selects work by code.
type unselecting struct{ provider.Provider }

// Selection by code reaches the decorated store, and one without it is never asked for
// what nobody knows.
func TestSelectionByCodePassesThrough(t *testing.T) {
	t.Parallel()
	inner := open(t)
	start := provider.StartOrchestrationItem{Instance: "i", Orchestration: "A", Version: new("1.0.0"), ExecutionID: 1}
	if err := inner.EnqueueForOrchestrator(t.Context(), start, 0); err != nil {
		t.Fatal(err)
	}
	activity := provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "B"}
	if err := inner.EnqueueForWorker(t.Context(), activity); err != nil {
		t.Fatal(err)
	}
	known := provider.Know(provider.CodeName{Name: "A", Version: "2.0.0"})
	for name, c := range map[string]struct {
		store    provider.Provider
		versions []string
	}{
		"selector":    {inner, []string{"2.0.0"}},
		"no selector": {unselecting{inner}, nil},
	} {
		s := providerfault.New(c.store)
		if name == "selector" {
			turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Second, Known: known})
			if turn != nil || err != nil {
				t.Errorf("%s: fetched %v, %v; want nothing", name, turn, err)
			}
		}
		versions, err := s.KnownVersions(t.Context(), "A", time.Hour)
		if diff := cmp.Diff(c.versions, versions); diff != "" || err != nil {
			t.Errorf("%s: known versions (-want +got), error %v:\n%s", name, err, diff)
		}
		unknown, err := s.UnknownCode(t.Context(), 0)
		if err != nil || (len(unknown) > 0) != (name == "selector") {
			t.Errorf("%s: unknown code %v, %v", name, unknown, err)
		}
	}
	// Last, because a store that does not know of UnknownFor would give its work away.
	s := providerfault.New(unselecting{inner})
	turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Second, UnknownFor: 1})
	work, workErr := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Second, UnknownFor: 1})
	if turn != nil || work != nil || err != nil || workErr != nil {
		t.Errorf("a store that is no selector was asked for unknown code: %v, %v, %v, %v", turn, work, err, workErr)
	}
}
