package worker

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// §7.1: 1, 2, 4, 8, 16, 32, 60, 60 … s.
func TestUnregisteredDelay(t *testing.T) {
	t.Parallel()
	options, err := Options{}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{options: options}
	var got []float64
	for _, attempt := range []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 1 << 31} {
		got = append(got, w.unregisteredDelay(attempt).Seconds())
	}
	if diff := cmp.Diff([]float64{1, 1, 2, 4, 8, 16, 32, 60, 60, 60}, got); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
}

// A back-off of years stays at its limit and does not wrap round.
func TestLongUnregisteredDelay(t *testing.T) {
	t.Parallel()
	for _, backoff := range []time.Duration{math.MaxInt64/64 + 1, math.MaxInt64/2 + 1, math.MaxInt64} {
		options, err := Options{Code: Code{Backoff: backoff, MaxBackoff: math.MaxInt64}}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		w := &Worker{options: options}
		if got := w.unregisteredDelay(1); got != backoff {
			t.Errorf("the first delay of %v is %v", backoff, got)
		}
		if got := w.unregisteredDelay(7); got != math.MaxInt64 {
			t.Errorf("the seventh delay of %v is %v", backoff, got)
		}
	}
}

// nowhere is a store that is never called.
type nowhere struct{ provider.Store }

func (nowhere) FetchOrchestrationItem(context.Context, provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	return nil, nil
}

func (nowhere) FetchWorkItem(context.Context, provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	return nil, nil
}

func (nowhere) UnknownCode(context.Context, time.Duration) ([]provider.UnknownCode, error) {
	return nil, nil
}

func TestWorkerIDsDoNotCollide(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		w, err := New(nowhere{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if seen[w.id] || len(w.id) < 16 {
			t.Fatalf("id %q", w.id)
		}
		seen[w.id] = true
		if w.slotID(0) == w.slotID(1) || w.ownerID(w.slotID(0)) != w.slotID(0) {
			t.Error("slots share an id")
		}
	}
	node := &Worker{options: settings{NodeID: "n"}}
	if node.slotID(3) != "work-3-n" || node.ownerID(node.slotID(3)) != "n" {
		t.Errorf("%s owns as %s", node.slotID(3), node.ownerID(node.slotID(3)))
	}
}
