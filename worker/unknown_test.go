package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// unselecting is a plain store, which does not select by code.
type unselecting struct{ provider.Provider }

func (s unselecting) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	params.Known = nil
	return s.Provider.FetchOrchestrationItem(ctx, params)
}

func (s unselecting) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	params.Known = nil
	return s.Provider.FetchWorkItem(ctx, params)
}

// eachSelecting runs a test on both stores, as they are and as plain ones.
func eachSelecting(t *testing.T, test func(t *testing.T, name string, inner, store provider.Provider)) {
	t.Helper()
	for name, selects := range map[string]bool{"selecting": true, "not selecting": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, inner provider.Provider) {
				if selects {
					test(t, name, inner, inner)
				} else {
					test(t, name, inner, unselecting{inner})
				}
			})
		})
	}
}

// handsBack counts what is given back to a store, with what delay.
type handsBack struct {
	provider.Provider
	given chan provider.AbandonParams
}

func (s handsBack) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	s.given <- params
	return s.Provider.AbandonOrchestrationItem(ctx, params)
}

func (s handsBack) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	s.given <- params
	return s.Provider.AbandonWorkItem(ctx, params)
}

// What a store offers without its code is given back with a growing delay, which is no
// attempt: the worker that has the code sees the first one.
func TestUnregistered(t *testing.T) {
	t.Parallel()
	inner := openStore(t)
	store := handsBack{unselecting{inner}, make(chan provider.AbandonParams, 256)}
	options := worker.Options{Code: worker.Code{Backoff: time.Millisecond}, Limits: worker.Limits{Attempts: 1}}
	attempts := make(chan uint32, 1)
	count := activity.New("Count", func(ctx context.Context, _ string) (string, error) {
		info, _ := activity.InfoFrom(ctx)
		attempts <- info.Attempt
		return "", nil
	})
	callCount := calling(count)
	givenBack := func(what string) {
		t.Helper()
		for _, delay := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond, 8 * time.Millisecond} {
			if params := receive(t, what, store.given); params.Delay != delay || !params.IgnoreAttempt {
				t.Errorf("%s: given back with %+v, want %v", what, params, delay)
			}
		}
	}

	stop := runWorker(t, store, options)
	run := start(t, inner, callCount, "x")
	givenBack("orchestration")
	stop()
	for len(store.given) > 0 {
		<-store.given
	}
	stop = runWorker(t, store, options, callCount)
	givenBack("activity")
	stop()

	runWorker(t, inner, options, callCount, count)
	result(t, run)
	if attempt := receive(t, "attempt", attempts); attempt != 1 {
		t.Errorf("attempt %d", attempt)
	}
}

var callUnknown = orchestration.New("CallUnknown", func(ctx *orchestration.Context, input string) (string, error) {
	return orchestration.SubOrchestration(ctx, orchestration.Declare[string, string]("Unknown"), input).Await()
})

// What nobody has fails after Code.UnknownTimeout as Configuration, which names it and the
// versions that are known. It is never poison nor called nondeterministic, and it is one
// failure on a store that selects work by its code and on one that does not.
func TestUnknownCodeFails(t *testing.T) {
	t.Parallel()
	eachSelecting(t, func(t *testing.T, name string, inner, store provider.Provider) {
		var log lockedBuffer
		stop := runWorker(t, store, worker.Options{
			Code:   worker.Code{Backoff: 10 * time.Millisecond, MaxBackoff: 10 * time.Millisecond, UnknownTimeout: 800 * time.Millisecond},
			Limits: worker.Limits{Attempts: 1}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}, callEcho, callEcho.WithVersion("2.0.0"), callUnknown)
		c := client.New(inner, client.Options{})
		wanted := map[string]struct {
			orchestration, version string
			text                   []string
		}{
			"a version":        {"CallEcho", "3.0.0", []string{`orchestration "CallEcho" version 3.0.0`, ": 1.0.0, 2.0.0"}},
			"a name":           {"Unknown", "", []string{`orchestration "Unknown"`, ": none"}},
			"its one activity": {"CallEcho", "", []string{`activity "Echo"`}},
			"its one child":    {"CallUnknown", "", []string{`orchestration "Unknown"`}},
		}
		for instance, want := range wanted {
			if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any](want.orchestration).AtVersion(want.version), name+": "+instance, "x"); err != nil {
				t.Fatal(err)
			}
		}
		for instance, want := range wanted {
			instance = name + ": " + instance
			details, ok := failure(t, client.Attach[string](c, instance)).(provider.ConfigurationFailure)
			if !ok {
				t.Fatalf("%s: failed with %+v", instance, details)
			}
			if s, err := c.Status(t.Context(), instance); err != nil || !errors.Is(s.Err(), orchestration.ErrNotRegistered) {
				t.Errorf("%s: the client sees %v, %v", instance, s.Err(), err)
			}
			if strings.Contains(details.DisplayMessage(), "nondeterministic") {
				t.Errorf("%s: %s", instance, details.DisplayMessage())
			}
			for _, text := range want.text {
				if !strings.Contains(details.DisplayMessage(), text) {
					t.Errorf("%s: %s", instance, details.DisplayMessage())
				}
			}
		}
		stop()
		for _, want := range []string{"an orchestration fails because no worker has its code", "an activity fails because no worker has its code"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, log.String())
			}
		}
	})
}

// An instance that was cancelled while it waited for code that nobody has ends as cancelled, and its history says so.
func TestUnknownCodeCanBeCancelled(t *testing.T) {
	t.Parallel()
	eachSelecting(t, func(t *testing.T, name string, inner, store provider.Provider) {
		c := client.New(inner, client.Options{})
		if _, err := client.Start(t.Context(), c, orchestration.Declare[string, any]("Unknown"), name, ""); err != nil {
			t.Fatal(err)
		}
		if err := c.Cancel(t.Context(), name, "no longer wanted", client.MustExist()); err != nil {
			t.Fatal(err)
		}
		stop := runWorker(t, store, worker.Options{
			Code: worker.Code{Backoff: 10 * time.Millisecond, MaxBackoff: 10 * time.Millisecond, UnknownTimeout: 300 * time.Millisecond},
		}, callEcho, echo)
		details, ok := failure(t, client.Attach[string](c, name)).(provider.ApplicationFailure)
		if !ok || details.Kind != provider.AppCancelled || details.CancelReason != "no longer wanted" {
			t.Errorf("failed with %+v", details)
		}
		stop()
		want := []string{"OrchestrationStarted", "OrchestrationCancelRequested", "OrchestrationFailed"}
		if diff := cmp.Diff(want, types(history(t, inner, name))); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

// A fleet that comes back after it was stopped for longer than Code.UnknownTimeout fails
// nothing: the worker with the code may be the last one.
func TestStoppedFleetComesBack(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		run := start(t, store, callEcho, "x")
		options := worker.Options{Code: worker.Code{UnknownTimeout: timeout}}
		<-time.After(timeout + timeout/5) // nobody runs
		other := orchestration.New("Other", func(*orchestration.Context, string) (string, error) { return "", nil })
		runWorker(t, store, options, other)
		<-time.After(timeout / 2) // that one is the first
		runWorker(t, store, options, callEcho, echo)
		if got := result(t, run); got != "x" {
			t.Errorf("output = %q", got)
		}
	})
}

// A worker whose slots are all taken still says what it has: what waits for a free slot
// there is not failed by others.
func TestBusyWorkerKeepsItsCodeKnown(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		release, running := make(chan struct{}), make(chan struct{}, 2)
		hold := activity.New("Hold", func(context.Context, string) (string, error) {
			running <- struct{}{}
			<-release
			return "", nil
		})
		def := orchestration.New("Holds", func(ctx *orchestration.Context, _ string) (string, error) {
			first, second := orchestration.Activity(ctx, hold, ""), orchestration.Activity(ctx, hold, "")
			if _, err := first.Await(); err != nil {
				return "", err
			}
			return second.Await()
		})
		runWorker(t, store, worker.Options{ActivityConcurrency: 1, Code: worker.Code{UnknownTimeout: timeout}}, def, hold)
		runWorker(t, store, worker.Options{Code: worker.Code{UnknownTimeout: timeout}}, def)
		run := start(t, store, def, "")
		receive(t, "activity", running)
		<-time.After(3 * timeout)
		close(release)
		result(t, run)
	})
}
