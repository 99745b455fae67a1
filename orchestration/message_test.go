package orchestration_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

type decision struct {
	Approved bool
	By       string
}

// What the tests declare.
var (
	approve  = orchestration.NewEvent[decision]("approve")
	notes    = orchestration.NewQueue[int]("notes")
	attempts = orchestration.NewKey[[]string]("attempts")
	steps    orchestration.CustomStatus[decision]
)

// What knows no type passes the JSON on: as the input, an event, a message, a key and the result.
func TestRawJSON(t *testing.T) {
	t.Parallel()
	event, queue := orchestration.NewEvent[json.RawMessage]("event"), orchestration.NewQueue[json.RawMessage]("queue")
	key := orchestration.NewKey[json.RawMessage]("key")
	def := orchestration.New("Raw", func(ctx *orchestration.Context, input json.RawMessage) ([]json.RawMessage, error) {
		raised := event.Wait(ctx)
		ctx.SetCustomStatus("waits")
		data, err := raised.Await()
		if err != nil {
			return nil, err
		}
		message, err := queue.Dequeue(ctx).Await()
		if err != nil {
			return nil, err
		}
		key.Set(ctx, message)
		kept, _, err := key.Get(ctx)
		return []json.RawMessage{input, data, message, kept}, err
	})
	e := newEngine(t, def)
	for i, text := range []string{
		`{"b":1,"a":[1.50,12345678901234567890],"html":"<&>","c":{}}`, `"text"`, `"12"`, `"null"`, `""`, `12`, `null`, `true`, `[]`,
	} {
		id, want := fmt.Sprint("raw-", i), json.RawMessage(text)
		untyped := orchestration.Declare[json.RawMessage, []json.RawMessage]("Raw")
		run, err := client.Start(t.Context(), e.client, untyped, id, want)
		if err != nil {
			t.Fatal(err)
		}
		e.status(id, "waits")
		if err := errors.Join(
			client.RaiseEvent(t.Context(), e.client, event, id, want), client.Enqueue(t.Context(), e.client, queue, id, want),
		); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]json.RawMessage{want, want, want, want}, result(t, run)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if value, ok, err := client.Value(t.Context(), e.client, key, id); err != nil || !ok || string(value) != text {
			t.Errorf("the key %s is %s, %v, %v", text, value, ok, err)
		}
	}
}

// A client and an orchestration share declarations, and none of their names is written twice.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Declared", func(ctx *orchestration.Context, _ string) (int, error) {
		attempts.Set(ctx, []string{"a", "b"})
		got, ok, err := attempts.Get(ctx)
		if err != nil || !ok || len(got) != 2 {
			return 0, errors.New("the key was not read back")
		}
		if note, err := notes.Dequeue(ctx).Await(); err != nil || note != 7 {
			return 0, errors.New("the message was not read")
		}
		event := approve.Wait(ctx)
		steps.Set(ctx, decision{By: "nobody"})
		d, err := event.Await()
		if err != nil {
			return 0, err
		}
		attempts.Clear(ctx)
		steps.Set(ctx, d)
		return 1, nil
	})
	e := newEngine(t, def)
	run := start(e, def, "")
	if err := client.Enqueue(t.Context(), e.client, notes, run.Instance(), 7); err != nil {
		t.Fatal(err)
	}
	e.status(run.Instance(), `{"Approved":false,"By":"nobody"}`)
	if value, ok, err := client.Value(t.Context(), e.client, attempts, run.Instance()); err != nil || !ok || len(value) != 2 {
		t.Errorf("key %v %v, %v", value, ok, err)
	}
	want := decision{Approved: true, By: "Ada"}
	if err := client.RaiseEvent(t.Context(), e.client, approve, run.Instance(), want); err != nil {
		t.Fatal(err)
	}
	result(t, run)
	status, err := run.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, ok, err := steps.Decode(status.CustomStatus); err != nil || !ok || got != want {
		t.Errorf("status %v %v, %v", got, ok, err)
	}
	if _, ok, err := client.Value(t.Context(), e.client, attempts, run.Instance()); err != nil || ok {
		t.Errorf("a cleared key: %v, %v", ok, err)
	}
	names := []string{approve.Name(), notes.Name(), attempts.Name()}
	if diff := cmp.Diff([]string{"approve", "notes", "attempts"}, names); diff != "" {
		t.Error(diff)
	}
}

// A status that is none, and one that somebody else has set.
func TestStatusDecode(t *testing.T) {
	t.Parallel()
	if _, ok, err := steps.Decode(nil); ok || err != nil {
		t.Errorf("no status: %v, %v", ok, err)
	}
	text := "secret words"
	if _, ok, err := steps.Decode(&text); !ok || err == nil || strings.Contains(err.Error(), text) {
		t.Errorf("a text: %v, %v", ok, err)
	}
}

// unreadable writes a form that it does not read.
type unreadable struct{}

func (unreadable) MarshalJSON() ([]byte, error) { return []byte("[1]"), nil }

func (*unreadable) UnmarshalJSON([]byte) error { return errors.New("never") }

// A client sends nothing that its receiver could not read.
func TestMisfitsAreNotSent(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	event, queue := orchestration.NewEvent[unreadable]("e"), orchestration.NewQueue[unreadable]("q")
	if err := client.RaiseEvent(t.Context(), e.client, event, "i", unreadable{}); err == nil {
		t.Error("the event was raised")
	}
	if err := client.Enqueue(t.Context(), e.client, queue, "i", unreadable{}); err == nil {
		t.Error("the message was enqueued")
	}
	depths, err := e.store.Admin().GetQueueDepths(t.Context())
	if err != nil || depths.OrchestratorQueue != 0 {
		t.Errorf("depths %+v, %v", depths, err)
	}
}

func raised(name, data string) provider.WorkItem {
	return provider.ExternalRaisedItem{Instance: "i", Name: name, Data: data}
}

func queued(name, data string) provider.WorkItem {
	return provider.QueueMessageItem{Instance: "i", Name: name, Data: data}
}

// What does not fit leaves the waiter waiting: each history shows that a misfit is followed by
// another wait and nothing else. The script replays each turn from the first event.
func TestMisfitsLeaveTheWaiterWaiting(t *testing.T) {
	t.Parallel()
	good := `{"Approved":true,"By":"Ada"}`
	for name, test := range map[string]struct {
		fn      func(ctx *orchestration.Context) (string, error)
		turns   [][]provider.WorkItem
		want    []string
		misfits int
	}{
		"event": {
			fn: func(ctx *orchestration.Context) (string, error) {
				d, err := approve.Wait(ctx).Await()
				return d.By, err
			},
			turns: [][]provider.WorkItem{{raised("approve", "what?")}, {raised("approve", "[]")}, {raised("approve", good)}},
			want: []string{
				"2 event approve", "3 ExternalEvent", "4 event approve", "5 ExternalEvent",
				"6 event approve", "7 ExternalEvent", "8 completed: Ada",
			},
			misfits: 2,
		},
		"queue": {
			fn: func(ctx *orchestration.Context) (string, error) {
				n, err := notes.Dequeue(ctx).Await()
				return strings.Repeat("x", n), err
			},
			turns: [][]provider.WorkItem{{queued("notes", "what?"), queued("notes", "3")}},
			want: []string{
				"2 dequeue notes", "3 ExternalEventPersistent", "4 ExternalEventPersistent", "5 dequeue notes", "6 completed: xxx",
			},
			misfits: 1,
		},
		"select": {
			fn: func(ctx *orchestration.Context) (string, error) {
				event, timer := approve.Wait(ctx), ctx.Timer(time.Hour)
				if orchestration.SelectAndDrop(event, timer) == 1 {
					_, err := event.Await()
					return "timer", map[bool]error{false: errors.New("not dropped")}[errors.Is(err, orchestration.ErrDropped)]
				}
				return "event", nil
			},
			turns: [][]provider.WorkItem{{raised("approve", "what?")}, {
				provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: 3, FireAtMs: 4_600_000},
			}},
			want: []string{
				"2 event approve", "3 timer 1h0m0s", "4 ExternalEvent", "5 event approve", "6 3 fired",
				"7 5 taken back", "8 completed: timer",
			},
			misfits: 1,
		},
		"block": {
			fn: func(ctx *orchestration.Context) (string, error) {
				block := orchestration.Go(ctx, func(ctx *orchestration.Context) (string, error) {
					d, err := approve.Wait(ctx).Await()
					return d.By, err
				})
				if timer := ctx.Timer(time.Hour); orchestration.SelectAndDrop(block, timer) == 1 {
					return "timer", nil
				}
				return block.Await()
			},
			turns: [][]provider.WorkItem{{raised("approve", "what?")}, {
				provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: 3, FireAtMs: 4_600_000},
			}},
			want: []string{
				"2 event approve", "3 timer 1h0m0s", "4 ExternalEvent", "5 event approve", "6 3 fired",
				"7 5 taken back", "8 completed: timer",
			},
			misfits: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, orchestration.New("Misfits", func(ctx *orchestration.Context, _ string) (string, error) {
				return test.fn(ctx)
			}), "")
			for _, messages := range test.turns {
				s.turn(messages...)
			}
			if diff := cmp.Diff(test.want, s.lines()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if s.misfits != test.misfits {
				t.Errorf("%d misfits were told, want %d", s.misfits, test.misfits)
			}
		})
	}
}
