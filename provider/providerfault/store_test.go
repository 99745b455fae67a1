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

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T) provider.Provider {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
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

// Watching leases follows the script too.
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
}
