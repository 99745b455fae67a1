package client_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
	"github.com/duroxide/duroxide-go/provider/providerfault"
)

// startText starts an orchestration that is known by its name.
func startText(ctx context.Context, c *client.Client, name, instance, input string, options ...client.StartOption) error {
	_, err := client.Start(ctx, c, orchestration.Declare[string, string](name), instance, input, options...)
	return err
}

// What each call puts into the queue.
func TestMessages(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	ctx := t.Context()
	typed := orchestration.Declare[map[string]int, int]("Typed")
	run, err := client.Start(ctx, c, typed.AtVersion("2.0.0"), "i", map[string]int{"sku": 7})
	if err != nil {
		t.Fatal(err)
	}
	if run.Instance() != "i" {
		t.Errorf("instance %s", run.Instance())
	}
	for _, err := range []error{
		startText(ctx, c, "Untyped", "i", "plain", client.UseExisting()),
		client.RaiseEvent(ctx, c, orchestration.NewEvent[int]("event"), "i", 42),
		client.RaiseEvent(ctx, c, orchestration.NewEvent[*int]("event"), "i", nil),
		client.Enqueue(ctx, c, orchestration.NewQueue[string]("queue"), "i", `"quoted"`),
		c.Cancel(ctx, "i", "reason"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fetched, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	want := []provider.WorkItem{
		provider.StartOrchestrationItem{Instance: "i", Orchestration: "Typed", Input: `{"sku":7}`, Version: new("2.0.0"), ExecutionID: 1},
		provider.ExternalRaisedItem{Instance: "i", Name: "event", Data: "42"},
		provider.ExternalRaisedItem{Instance: "i", Name: "event", Data: "null"},
		provider.QueueMessageItem{Instance: "i", Name: "queue", Data: `"\"quoted\""`},
		provider.CancelInstanceItem{Instance: "i", Reason: "reason"},
	}
	if diff := cmp.Diff(want, fetched.Item.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	c := client.New(openStore(t), client.Options{})
	refusing := client.New(providerfault.New(openStore(t), providerfault.Rule{Fault: providerfault.Fault{Fail: providerfault.Refused()}}), client.Options{})
	ctx := t.Context()
	_, reserved := client.Start(ctx, c, orchestration.Declare[string, string]("O").AtVersion("1.0.0"), "sub::7", "x")
	_, noStats := refusing.Stats(ctx, "i")
	_, noName := client.Start(ctx, c, orchestration.Declare[string, string](""), "i", "x")
	_, noJSON := client.Start(ctx, c, orchestration.Declare[float64, string]("O"), "i", math.NaN())
	_, noStatus := refusing.Status(ctx, "i")
	_, noKeys := refusing.KVAll(ctx, "i")
	_, _, noKey := client.Value(ctx, refusing, orchestration.NewKey[int]("k"), "i")
	for _, test := range []struct {
		err  error
		is   error
		want string
	}{
		{noName, provider.ErrInvalidArgument, `starting  "i": the orchestration has no name: invalid argument`},
		{startText(ctx, c, "Caf\xe9", "i", ""), provider.ErrInvalidArgument, "starting Caf\xe9 \"i\": the orchestration's name is not valid UTF-8: invalid argument"},
		{reserved, provider.ErrInvalidArgument, `starting O "sub::7": invalid argument: instance id 'sub::7' uses the reserved sub-orchestration marker 'sub::'`},
		{
			startText(ctx, c, "O", "a::sub::7", ""), provider.ErrInvalidArgument,
			`starting O "a::sub::7": invalid argument: instance id 'a::sub::7' uses the reserved sub-orchestration marker 'sub::'`,
		},
		{noStats, provider.ErrInvalidArgument, `reading the sizes of "i": get_instance_stats: injected: refused`},
		{noJSON, nil, `starting O "i": json: unsupported value: NaN`},
		{client.RaiseEvent(ctx, c, orchestration.NewEvent[float64]("e"), "i", math.NaN()), nil, `raising event "e": data: json: unsupported value: NaN`},
		{client.Enqueue(ctx, c, orchestration.NewQueue[float64]("q"), "i", math.NaN()), nil, `enqueueing to "q": message: json: unsupported value: NaN`},
		{startText(ctx, refusing, "O", "i", ""), provider.ErrInvalidArgument, `starting O "i": enqueue_for_orchestrator: injected: refused`},
		{client.RaiseEvent(ctx, refusing, orchestration.NewEvent[string]("e"), "i", ""), provider.ErrInvalidArgument, `raising event "e" for "i": enqueue_for_orchestrator: injected: refused`},
		{client.Enqueue(ctx, refusing, orchestration.NewQueue[string]("q"), "i", ""), provider.ErrInvalidArgument, `enqueueing to "q" of "i": enqueue_for_orchestrator: injected: refused`},
		{refusing.Cancel(ctx, "i", ""), provider.ErrInvalidArgument, `cancelling "i": enqueue_for_orchestrator: injected: refused`},
		{noStatus, provider.ErrInvalidArgument, `reading the status of "i": read: injected: refused`},
		{noKeys, provider.ErrInvalidArgument, `reading the keys of "i": get_kv_all_values: injected: refused`},
		{noKey, provider.ErrInvalidArgument, `reading key "k" of "i": get_kv_value: injected: refused`},
		{startText(ctx, c, "O", "", ""), provider.ErrInvalidArgument, ""},
	} {
		if test.err == nil || test.is != nil && !errors.Is(test.err, test.is) || test.want != "" && test.err.Error() != test.want {
			t.Errorf("error\n got %v\nwant %s", test.err, test.want)
		}
	}
}

func TestLifeOfAnInstance(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	ctx := deadline(t)
	look := func(want client.Status) {
		t.Helper()
		got, err := c.Status(ctx, "i")
		if err != nil {
			t.Fatal(err)
		}
		want.Instance = "i"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if got.Finished() != (want.State == client.Completed) || got.Err() != nil {
			t.Errorf("finished %t, %v", got.Finished(), got.Err())
		}
	}
	look(client.Status{State: client.NotFound})
	run, err := client.Start(ctx, c, stages, "i", "the end")
	if err != nil {
		t.Fatal(err)
	}
	look(client.Status{State: client.NotFound}) // until its first turn
	work(t, store, stages)
	running := client.Status{State: client.Running, Name: "Stages", Version: "1.0.0", ExecutionID: 1}
	for version, status := range []*string{new("1"), new("2"), nil} {
		s, err := c.WaitForCustomStatus(ctx, "i", uint64(version))
		if err != nil {
			t.Fatal(err)
		}
		running.CustomStatus, running.CustomStatusVersion = status, uint64(version)+1
		want := running
		want.Instance = "i"
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		look(running)
		if err := client.RaiseEvent(ctx, c, orchestration.NewEvent[string]("go"), "i", ""); err != nil {
			t.Fatal(err)
		}
	}
	output, err := run.Wait(ctx)
	if err != nil || output != "the end" {
		t.Errorf("%q, %v", output, err)
	}
	ended := running
	ended.State, ended.Output = client.Completed, "the end"
	look(ended)
	// Waiting for a change that can no longer come ends at once.
	s, err := c.WaitForCustomStatus(ctx, "i", 99)
	if err != nil || !s.Finished() {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = run.Status(ctx); err != nil || s.Output != "the end" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFailedInstance(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	def := orchestration.New("Fails", func(*orchestration.Context, string) (string, error) { return "", errors.New("sold out") })
	work(t, store, def)
	run, err := client.Start(t.Context(), c, def, "i", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(deadline(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok || failed.Instance != "i" || failed.Error() != "sold out" || failed.Cancelled() {
		t.Errorf("error %v", err)
	}
	s, err := c.Status(t.Context(), "i")
	if err != nil || s.State != client.Failed || s.Err() == nil || s.Err().Error() != "sold out" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	def := orchestration.New("Keys", func(ctx *orchestration.Context, _ string) (string, error) {
		orchestration.NewKey[int]("n").Set(ctx, 7)
		orchestration.NewKey[string]("s").Set(ctx, "text")
		return "", nil
	})
	work(t, store, def)
	run, err := client.Start(t.Context(), c, def, "i", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if n, ok, err := client.Value(t.Context(), c, orchestration.NewKey[int]("n"), "i"); n != 7 || !ok || err != nil {
		t.Errorf("%d, %t, %v", n, ok, err)
	}
	if _, ok, err := client.Value(t.Context(), c, orchestration.NewKey[int]("none"), "i"); ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
	want := `value of key "s" of "i": cannot decode 6 bytes into int: cannot read JSON string at byte 6`
	if _, ok, err := client.Value(t.Context(), c, orchestration.NewKey[int]("s"), "i"); !ok || err == nil || err.Error() != want {
		t.Errorf("%t, %v", ok, err)
	}
	all, err := c.KVAll(t.Context(), "i")
	if diff := cmp.Diff(map[string]string{"n": "7", "s": `"text"`}, all); diff != "" || err != nil {
		t.Errorf("keys (-want +got):\n%s\n%v", diff, err)
	}
}

// A wait for a key begins before the instance is there, and ends with the value, with an end without the key, or with
// the instance's deletion.
func TestWaitForKey(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	shelf, deliveries := orchestration.NewKey[int]("shelf"), orchestration.NewQueue[int]("deliveries")
	def := orchestration.New("Keeper", func(ctx *orchestration.Context, _ string) (string, error) {
		n, err := deliveries.Dequeue(ctx).Await()
		shelf.Set(ctx, n)
		_, _ = deliveries.Dequeue(ctx).Await()
		return "", err
	})
	work(t, store, def)
	found := make(chan error, 1)
	go func() {
		n, err := client.WaitForValue(deadline(t), c, shelf, "i")
		if err == nil && n != 12 {
			err = fmt.Errorf("the value is %d", n)
		}
		found <- err
	}()
	_, err := client.Start(t.Context(), c, def, "i", "")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(client.Enqueue(t.Context(), c, deliveries, "i", 12))
	must(<-found)
	if _, err := client.WaitForValue(deadline(t), c, orchestration.NewKey[string]("shelf"), "i"); err == nil || !strings.Contains(err.Error(), "cannot decode") {
		t.Errorf("a value of another type: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.WaitForValue(deadline(t), c, orchestration.NewKey[int]("none"), "i")
		ended <- err
	}()
	must(c.Cancel(t.Context(), "i", "enough"))
	if err := <-ended; !errors.Is(err, client.ErrEnded) {
		t.Errorf("the end of an instance without the key: %v", err)
	}
	if n, err := client.WaitForValue(t.Context(), c, shelf, "i"); n != 12 || err != nil {
		t.Errorf("a key of an instance that has ended: %d, %v", n, err)
	}
}

// keys is a store whose reads of keys go by the function.
type keys struct {
	provider.Provider

	read func(read func() (*string, error)) (*string, error)
}

func (k keys) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	return k.read(func() (*string, error) { return k.Provider.GetKVValue(ctx, instance, key) })
}

// Trouble of the store that may pass is waited out also when the instance has ended meanwhile, and an error that stays
// ends the wait.
func TestWaitForKeyWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	def := orchestration.New("Sets", func(ctx *orchestration.Context, _ string) (string, error) {
		orchestration.NewKey[int]("key").Set(ctx, 12)
		return "", nil
	})
	work(t, store, def)
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"for a moment": {provider.Retryable("get_kv_value", "the connection is lost", nil), 12},
		"for good":     {provider.Permanent("get_kv_value", "the key is damaged", nil), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := 0
			c := client.New(keys{store, func(read func() (*string, error)) (*string, error) {
				switch reads++; reads {
				case 1: // before the start, and the answer is late
					run, err := client.Start(t.Context(), client.New(store, client.Options{}), def, name, "")
					if err == nil {
						_, err = run.Wait(deadline(t))
					}
					return nil, err
				case 2:
					return nil, test.err
				}
				return read()
			}}, client.Options{})
			n, err := client.WaitForValue(deadline(t), c, orchestration.NewKey[int]("key"), name)
			if n != test.want || (err == nil) != (test.want > 0) {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
}

// A wait ends with its context and says for what it waited.
func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := client.New(openStore(t), client.Options{})
	enough := errors.New("enough")
	for what, wait := range map[string]func(ctx context.Context) error{
		"end":           func(ctx context.Context) error { _, err := c.Wait(ctx, "nobody"); return err },
		"custom status": func(ctx context.Context) error { _, err := c.WaitForCustomStatus(ctx, "nobody", 0); return err },
		"key": func(ctx context.Context) error {
			_, err := client.WaitForValue(ctx, c, orchestration.NewKey[int]("key"), "nobody")
			return err
		},
		"result": func(ctx context.Context) error { _, err := client.Attach[int](c, "nobody").Wait(ctx); return err },
	} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, enough)
		err := wait(ctx)
		cancel()
		if !errors.Is(err, enough) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// simple is a store with one instance and no management interface.
type simple struct {
	provider.Provider
	history func() ([]provider.Event, error)
}

func (s simple) Admin() provider.Admin { return nil }

func (s simple) Read(context.Context, string) ([]provider.Event, error) { return s.history() }

func (s simple) GetCustomStatus(context.Context, string, uint64) (*provider.CustomStatus, error) {
	return nil, nil
}

// notifying is a store that tells of an end, perhaps wrongly.
type notifying struct {
	provider.Store

	ended chan struct{}
}

func (s notifying) InstanceEnd(string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	return s.ended, func() *provider.Progress { return nil }, func() {}
}

func events(kinds ...provider.EventKind) []provider.Event {
	var list []provider.Event
	for i, kind := range kinds {
		list = append(list, provider.Event{EventID: uint64(i + 1), InstanceID: "i", ExecutionID: 3, Kind: kind})
	}
	return list
}

// A change that comes with the end of the wait does not pass for a result. Once, a
// wait that was woken and cancelled at the same time returned a zero value and no
// error.
func TestWaitCancelledWhileWoken(t *testing.T) {
	t.Parallel()
	woken := make(chan struct{})
	close(woken)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		c := client.New(notifying{ended: woken, Store: adapt.Store(simple{history: func() ([]provider.Event, error) {
			cancel()
			return events(provider.OrchestrationStarted{}), nil
		}})}, client.Options{})
		if output, err := client.Attach[string](c, "i").Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("%q, %v", output, err)
		}
	}
}

// tellsOnce is a store that tells of one end, and of no other.
type tellsOnce struct {
	provider.Store

	told bool
}

func (s *tellsOnce) InstanceEnd(string) (ended <-chan struct{}, end func() *provider.Progress, stop func()) {
	end = func() *provider.Progress { return nil }
	if s.told {
		return nil, end, func() {}
	}
	s.told = true
	now := make(chan struct{})
	close(now)
	return now, end, func() {}
}

// Once a store has told of a change, a wait polls at the longest interval only.
func TestWaitPollsRarelyOnceTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks []time.Duration
		begin := time.Now()
		store := &tellsOnce{Store: adapt.Store(simple{history: func() ([]provider.Event, error) {
			looks = append(looks, time.Since(begin).Round(time.Millisecond))
			if len(looks) < 4 {
				return events(provider.OrchestrationStarted{}), nil
			}
			return events(provider.OrchestrationStarted{}, provider.OrchestrationCompleted{Output: "7"}), nil
		}})}
		if _, err := client.New(store, client.Options{}).Wait(t.Context(), "i"); err != nil {
			t.Fatal(err)
		}
		if looks = slices.Compact(looks); !slices.Equal(looks, []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}) {
			t.Errorf("looks after %v", looks)
		}
	})
}

// With notification a wait does not wait for its next poll.
func TestWaitIsWoken(t *testing.T) {
	t.Parallel()
	changed := make(chan struct{})
	looks := 0
	c := client.New(notifying{ended: changed, Store: adapt.Store(simple{history: func() ([]provider.Event, error) {
		looks++
		if looks == 1 {
			close(changed)
			return nil, nil
		}
		return events(provider.OrchestrationStarted{}, provider.OrchestrationCompleted{Output: "7"}), nil
	}})}, client.Options{})
	if n, err := client.Attach[int](c, "i").Wait(deadline(t)); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A store in trouble is waited out; one that refuses is not.
func TestWaitOnATroubledStore(t *testing.T) {
	t.Parallel()
	answers := []error{provider.Retryable("read", "busy", nil), provider.Retryable("read", "busy", nil), nil}
	c := client.New(simple{history: func() ([]provider.Event, error) {
		err := answers[0]
		answers = answers[1:]
		return events(provider.OrchestrationStarted{}, provider.OrchestrationCompleted{Output: "7"}), err
	}}, client.Options{})
	if n, err := client.Attach[int](c, "i").Wait(deadline(t)); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	c = client.New(simple{history: func() ([]provider.Event, error) {
		return nil, provider.Permanent("read", "corrupt", provider.ErrCorrupt)
	}}, client.Options{})
	if _, err := c.Wait(deadline(t), "i"); !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

// A wait that its context ends says what kept it: the context's error and cause, and
// the trouble the store is in. Once, an hour without a server read as a deadline alone.
func TestWaitSaysWhatKeptIt(t *testing.T) {
	t.Parallel()
	trouble, cause := provider.Retryable("read", "unreachable", nil), errors.New("closing time")
	for _, test := range []struct {
		name    string
		answers []error
		lasting bool
	}{
		{"trouble", []error{nil, trouble}, true},
		{"trouble that is over", []error{trouble, nil}, false},
		{"trouble, then a look cut short", []error{trouble, context.Canceled}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			looks := 0
			c := client.New(simple{history: func() ([]provider.Event, error) {
				looks++
				if looks < len(test.answers) {
					return nil, test.answers[looks-1]
				}
				err := test.answers[len(test.answers)-1]
				cancel(cause)
				if errors.Is(err, context.Canceled) {
					err = provider.ContextError(ctx, "read")
				}
				return nil, err
			}}, client.Options{})
			_, err := c.Wait(ctx, "i")
			if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
				t.Errorf("%v does not say how the context ended", err)
			}
			if errors.Is(err, trouble) != test.lasting {
				t.Errorf("%v: the store's trouble is wrapped: %t, want %t", err, errors.Is(err, trouble), test.lasting)
			}
		})
	}
}

func TestNoManagement(t *testing.T) {
	t.Parallel()
	if admin, err := client.New(simple{}, client.Options{}).Admin(); admin != nil || !errors.Is(err, client.ErrManagementNotAvailable) {
		t.Errorf("%v, %v", admin, err)
	}
	if admin, err := client.New(openStore(t), client.Options{}).Admin(); admin == nil || err != nil {
		t.Errorf("%v, %v", admin, err)
	}
}

// §7.16: what a history says about its instance.
func TestStatusOfAHistory(t *testing.T) {
	t.Parallel()
	started := provider.OrchestrationStarted{Name: "O", Version: "1.2.0"}
	failure := provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "r"}
	base := client.Status{Instance: "i", Name: "O", Version: "1.2.0", ExecutionID: 3}
	with := func(change func(*client.Status)) client.Status {
		s := base
		change(&s)
		return s
	}
	for _, test := range []struct {
		name  string
		kinds []provider.EventKind
		want  client.Status
	}{
		{"unknown", nil, client.Status{Instance: "i", State: client.NotFound}},
		{"running", []provider.EventKind{started, provider.TimerCreated{}}, with(func(s *client.Status) { s.State = client.Running })},
		{
			"between two executions",
			[]provider.EventKind{started, provider.OrchestrationContinuedAsNew{Input: "x"}},
			with(func(s *client.Status) { s.State = client.Running }),
		},
		{
			"completed, with cancellations behind",
			[]provider.EventKind{started, provider.OrchestrationCompleted{Output: "o"}, provider.ActivityCancelRequested{}},
			with(func(s *client.Status) { s.State, s.Output = client.Completed, "o" }),
		},
		{
			"cancelled",
			[]provider.EventKind{started, provider.OrchestrationFailed{Details: failure}},
			with(func(s *client.Status) { s.State, s.Failure = client.Cancelled, failure }),
		},
		{
			"continued and then poisoned",
			[]provider.EventKind{started, provider.OrchestrationContinuedAsNew{}, provider.OrchestrationFailed{Details: failure}},
			with(func(s *client.Status) { s.State, s.Failure = client.Cancelled, failure }),
		},
		{
			"failed without a beginning that can be read",
			[]provider.EventKind{provider.OrchestrationFailed{Details: failure}},
			client.Status{Instance: "i", State: client.Cancelled, Failure: failure},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := client.New(simple{history: func() ([]provider.Event, error) { return events(test.kinds...), nil }}, client.Options{})
			got, err := c.Status(t.Context(), "i")
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("status (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

// A failure of code that nobody has names it; one of a history that does not fit its code is
// another failure (orchestration.ErrNotRegistered).
func TestNotRegistered(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]bool{"Charge": true, "": false} {
		err := &client.FailedError{Details: provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: resource, Message: new("text")}}
		if errors.Is(err, orchestration.ErrNotRegistered) != want {
			t.Errorf("resource %q: %v", resource, err)
		}
	}
}
