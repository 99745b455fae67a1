package linear_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providertest/linear"
)

// answers is a store that says what a test wants, and lets others make calls meanwhile.
type answers struct {
	provider.Provider

	clock int64
	// during is called while a call is running.
	during func()
	turn   *provider.FetchedOrchestration
	values map[string]string
	err    error
}

func (a *answers) answer() error {
	if during := a.during; during != nil {
		a.during = nil
		during()
	}
	err := a.err
	a.err = nil
	return err
}

func (a *answers) EnqueueForOrchestrator(context.Context, provider.WorkItem, time.Duration) error {
	return a.answer()
}

func (a *answers) FetchOrchestrationItem(context.Context, provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	turn := a.turn
	return turn, a.answer()
}

func (a *answers) AckOrchestrationItem(context.Context, provider.AckOrchestrationParams) error {
	return a.answer()
}

func (a *answers) GetKVAllValues(context.Context, string) (map[string]string, error) {
	values := a.values
	return values, a.answer()
}

// history is what two clients do with a store.
type history struct {
	*testing.T
	*answers

	recorder *linear.Recorder
	a, b     *linear.Client
}

func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{T: t, answers: &answers{clock: 1000}}
	h.recorder = &linear.Recorder{Clock: func() int64 { return h.answers.clock }}
	h.a, h.b = h.recorder.Client("a", h.answers), h.recorder.Client("b", h.answers)
	return h
}

// start is a message that begins the instance, told from others by its input.
func start(input string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{Instance: "i", Orchestration: "Order", Version: new("1.0.0"), Input: input, ExecutionID: 1}
}

// enqueue sends a message.
func (h *history) enqueue(c *linear.Client, input string, delay time.Duration) {
	_ = c.EnqueueForOrchestrator(h.Context(), start(input), delay)
}

// fetch gets a turn with messages, for 100 ms.
func (h *history) fetch(c *linear.Client, token string, attempt uint32, inputs ...string) {
	h.turn = nil
	if token != "" {
		h.turn = &provider.FetchedOrchestration{LockToken: token, AttemptCount: attempt}
		h.turn.Item = provider.OrchestrationItem{Instance: "i", OrchestrationName: "Order", Version: "1.0.0", ExecutionID: 1}
		for _, input := range inputs {
			h.turn.Item.Messages = append(h.turn.Item.Messages, start(input))
		}
	}
	_, _ = c.FetchOrchestrationItem(h.Context(), provider.FetchOrchestrationParams{LockTimeout: 100 * time.Millisecond})
}

// set commits a turn that sets a value.
func (h *history) set(c *linear.Client, token, value string) {
	_ = c.AckOrchestrationItem(h.Context(), provider.AckOrchestrationParams{
		LockToken: token, ExecutionID: 1, HistoryDelta: []provider.Event{
			{EventID: 1, InstanceID: "i", ExecutionID: 1, Kind: provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"}},
			{EventID: 2, InstanceID: "i", ExecutionID: 1, Kind: provider.KeyValueSet{Key: "k", Value: value}},
		},
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")},
	})
}

// read gets the values.
func (h *history) read(c *linear.Client, value string) {
	h.values = map[string]string{}
	if value != "" {
		h.values["k"] = value
	}
	_, _ = c.GetKVAllValues(h.Context(), "i")
}

// lose makes the next call one whose answer is lost.
func (h *history) lose() { h.err = provider.Retryable("test", "the connection was lost", nil) }

// Histories of two clients, and whether there is an order of their calls.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		play func(h *history)
		want string // a part of why there is no order; "" if there is one
	}{
		"one after the other": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.set(h.a, "t1", "x")
			h.read(h.b, "x")
		}},
		"a stale read": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.set(h.a, "t1", "x")
			h.read(h.b, "")
		}, want: "the answer is map[k:x]"},
		"a read while a turn is committed": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.during = func() { h.read(h.b, "") }
			h.set(h.a, "t1", "x")
			h.read(h.b, "x")
		}},
		"a read that takes back what another one has seen": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.during = func() {
				h.read(h.b, "x")
				h.read(h.b, "")
			}
			h.set(h.a, "t1", "x")
		}, want: "the answer is map[k:x]"},
		"a lost message": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.enqueue(h.b, "2", 0)
			h.fetch(h.a, "t1", 1, "1")
		}, want: "a visible message is not in the answer"},
		"nothing to fetch although there is": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.b, "", 0)
		}, want: "instance i can be fetched"},
		"nothing to fetch yet": {play: func(h *history) {
			h.enqueue(h.a, "1", time.Millisecond)
			h.fetch(h.b, "", 0)
			h.clock++
			h.fetch(h.b, "t1", 1, "1")
		}},
		"messages in the order of the calls only": {play: func(h *history) {
			h.during = func() { h.enqueue(h.b, "2", 0) }
			h.enqueue(h.a, "1", 0)
			h.enqueue(h.a, "3", 0)
			h.fetch(h.a, "t1", 1, "2", "1", "3")
		}},
		"messages in another order": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.enqueue(h.b, "2", 0)
			h.fetch(h.a, "t1", 1, "2", "1")
		}, want: "the messages are in another order"},
		"a lease that two have": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.clock += 99
			h.fetch(h.b, "t2", 2, "1")
		}, want: "somebody else holds the lease"},
		"a lease after another": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.clock += 100
			h.fetch(h.b, "t2", 2, "1")
			h.err = provider.Permanent("ack", "Invalid lock token", provider.ErrInvalidLockToken)
			h.set(h.a, "t1", "x")
			h.read(h.a, "")
		}},
		"an attempt that was not counted": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.clock += 100
			h.fetch(h.b, "t2", 1, "1")
		}, want: "it is attempt 2"},
		"an end of a lease that nobody knows exactly": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.during = func() { h.clock += 50 }
			h.fetch(h.a, "t1", 1, "1")
			h.clock += 60 // 60 ms or 110 ms of 100 ms are over
			h.fetch(h.b, "", 0)
			h.fetch(h.b, "t2", 2, "1")
		}},
		"a lost answer, and no effect": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.lose()
			h.set(h.a, "t1", "x")
			h.read(h.b, "")
		}},
		"a lost answer, and an effect later": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.lose()
			h.set(h.a, "t1", "x")
			h.read(h.b, "")
			h.read(h.b, "x")
		}},
		"a lost answer, and an effect that goes again": {play: func(h *history) {
			h.enqueue(h.a, "1", 0)
			h.fetch(h.a, "t1", 1, "1")
			h.lose()
			h.set(h.a, "t1", "x")
			h.read(h.b, "x")
			h.read(h.b, "")
		}, want: "the answer is map[k:x]"},
		"an error that the contract does not have": {play: func(h *history) {
			h.err = provider.Permanent("enqueue", "no", errors.New("no"))
			h.enqueue(h.a, "1", 0)
		}, want: "no such error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			tt.play(h)
			anomaly, err := linear.Check(h.recorder.Calls())
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case anomaly == nil && tt.want != "":
				t.Errorf("there is an order, want none: %s", tt.want)
			case anomaly != nil && tt.want == "":
				t.Errorf("%v", anomaly)
			case anomaly != nil && !strings.Contains(anomaly.String(), tt.want):
				t.Errorf("no %q in %v", tt.want, anomaly)
			}
		})
	}
}

// Of a long history the anomaly has what it needs.
func TestAnomalyIsShort(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.enqueue(h.a, "1", 0)
	h.fetch(h.a, "t1", 1, "1")
	for range 20 {
		h.read(h.b, "")
	}
	h.set(h.a, "t1", "x")
	h.read(h.b, "")
	for range 20 {
		h.read(h.b, "x")
	}
	anomaly, err := linear.Check(h.recorder.Calls())
	if err != nil || anomaly == nil {
		t.Fatal(anomaly, err)
	}
	const want = `No order of these calls explains their answers:

   began  ended  clock (ms)  client  call                                                                    answer
1  45     46     1000        a       ack turn t1, execution 1 + [1 OrchestrationStarted, 2 KeyValueSet k=x]  ok
2  47     48     1000        b       values of i                                                             map[]

The longest beginning of an order is 1. After it:
  not 2: the answer is map[k:x]
`
	if got := anomaly.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
