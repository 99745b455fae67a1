package rig

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// claimConfig is a small run on SQLite files. wrap puts something around a store.
func claimConfig(t *testing.T, queue Queue, wrap func(Store) Store) ClaimConfig {
	t.Helper()
	dir := t.TempDir()
	return ClaimConfig{
		Open: func(ctx context.Context, p Population) (Store, error) {
			store, err := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprintf("%d-%d-%d", p.Ready, p.Timers, p.Foreign)), sqlite.Options{})
			return wrap(store), err
		},
		Queue: queue, Populations: []Population{{}, {Timers: 3}, {Ready: 20}, {Ready: 20, Timers: 3}, {Foreign: 7}, {Ready: 30, Names: 4, Foreign: 7}, {Ready: fillBatch + 1}},
		Claimers: []int{1, 4}, Claims: 20, Rounds: 3,
	}
}

func unwrapped(s Store) Store { return s }

func TestClaim(t *testing.T) {
	t.Parallel()
	for _, queue := range []Queue{Turns, Activities} {
		t.Run(string(queue), func(t *testing.T) {
			t.Parallel()
			config := claimConfig(t, queue, unwrapped)
			var begun []Population
			filled := 0
			config.Filling = func(p Population) { begun, filled = append(begun, p), 0 }
			config.Filled = func(rows int) { filled = rows }
			claims, err := RunClaim(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(config.Populations, begun); diff != "" || filled != fillBatch+1 {
				t.Errorf("filled %d of the last of %s", filled, diff)
			}
			var of []Population
			for _, c := range claims {
				of = append(of, c.Population)
				if c.Claims != 60 || c.Rate <= 0 || c.Latency.P50 <= 0 || c.Latency.P50 > c.Latency.Max || c.Ratio <= 0 || c.Errors != 0 || c.Missed != 0 {
					t.Errorf("got %+v", c)
				}
				if _, tells := cpuTime(); tells && (c.CPUMilliseconds == nil || *c.CPUMilliseconds <= 0 || *c.CPURatio <= 0) {
					t.Errorf("no processor time: %+v", c)
				}
			}
			if diff := cmp.Diff(append(config.Populations, config.Populations...), of); diff != "" {
				t.Errorf("not each population under each number of claimers: %s", diff)
			}
			for _, i := range []int{0, 2, 7, 9} {
				if c := claims[i]; c.Ratio != 1 || c.CPURatio != nil && *c.CPURatio != 1 {
					t.Errorf("line %d is the yardstick of its kind, and its ratios are not 1: %+v", i, c)
				}
			}
		})
	}
}

// TestClaimsArePutBack looks at a store after the run: everything can be claimed
// again, and no attempt has been counted.
func TestClaimsArePutBack(t *testing.T) {
	t.Parallel()
	config := claimConfig(t, Turns, unwrapped)
	config.Populations, config.Claimers = []Population{{Ready: 20, Timers: 5, Foreign: 3}}, []int{3}
	open := config.Open
	if _, err := RunClaim(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	store, err := open(t.Context(), config.Populations[0])
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	depths, err := store.Admin().GetQueueDepths(t.Context())
	// Nobody has the code of the foreign ones.
	if want := (provider.QueueDepths{OrchestratorQueue: 28, UnknownOrchestrations: 3}); err != nil || depths != want {
		t.Errorf("%+v is left, %v; want %+v", depths, err, want)
	}
	turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil || turn == nil || turn.AttemptCount != 1 {
		t.Errorf("got %+v, %v", turn, err)
	}
}

func TestClaimLeavesOthersWorkAlone(t *testing.T) {
	t.Parallel()
	config := claimConfig(t, Turns, unwrapped)
	store, err := config.Open(t.Context(), Population{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.EnqueueForOrchestrator(t.Context(), start("somebody's"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := RunClaim(t.Context(), config); err == nil || !strings.Contains(err.Error(), "the store is not empty") {
		t.Errorf("got %v", err)
	}
}

// troubled is a store whose fetches go wrong now and then once it is armed.
type troubled struct {
	Store

	fetches *atomic.Int64
	fetch   func(n int64) (*provider.FetchedOrchestration, error)
}

func (s troubled) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	if n := s.fetches.Add(1); params.PollTimeout == 0 && n%2 == 0 {
		return s.fetch(n)
	}
	return s.Store.FetchOrchestrationItem(ctx, params)
}

func TestTroubleWhileClaiming(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fetch  func(n int64) (*provider.FetchedOrchestration, error)
		errors bool
		missed bool
		want   string
	}{
		"deadlocks are counted": {
			fetch: func(int64) (*provider.FetchedOrchestration, error) {
				return nil, provider.Retryable("fetch", "deadlock", errors.New("deadlock"))
			},
			errors: true,
		},
		"empty answers are counted": {
			fetch:  func(int64) (*provider.FetchedOrchestration, error) { return nil, nil },
			missed: true,
		},
		"other errors end it": {
			fetch: func(int64) (*provider.FetchedOrchestration, error) {
				return nil, provider.Permanent("fetch", "the table is gone", nil)
			},
			want: "the table is gone",
		},
		"so does a row that is given away twice": {
			fetch: func(int64) (*provider.FetchedOrchestration, error) {
				return &provider.FetchedOrchestration{Item: provider.OrchestrationItem{Instance: "a"}, LockToken: "t"}, nil
			},
			want: `two claimers hold "a" at the same time`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := claimConfig(t, Turns, func(s Store) Store { return troubled{s, &atomic.Int64{}, test.fetch} })
			config.Populations, config.Claimers = []Population{{Ready: 20}}, []int{1}
			claims, err := RunClaim(t.Context(), config)
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			case err != nil:
				t.Error(err)
			case claims[0].Errors > 0 != test.errors || claims[0].Missed > 0 != test.missed:
				t.Errorf("got %+v", claims[0])
			}
		})
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []float64
		want   float64
	}{{[]float64{7}, 7}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := middle(test.values); got != test.want {
			t.Errorf("middle of %v is %g, want %g", test.values, got, test.want)
		}
	}
}
