package replay_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// A loop that asks for ever ends with the first action too many, and nothing of what the
// turn asked for is sent.
func TestEndlessLoopOfActions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limits replay.Limits
		want   string
	}{
		{"actions", replay.Limits{Actions: 100}, "has 101 actions in one turn, the limit is 100; await some of them"},
		{"bytes", replay.Limits{Bytes: 1000}, "has 1010 bytes of payload in the history, the limit is 1000; keep the history short"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(do(func(f flow, _ string) (string, error) {
				defer func() { _ = recover() }()
				for {
					f.activity("A", "0123456789")
				}
			}), nil)
			turn.Limits = test.limits
			result := run(t, turn)
			wantOutcome(t, result, replay.Failed)
			if got := result.Details.DisplayMessage(); !strings.Contains(got, test.want) {
				t.Errorf("details %q", got)
			}
			if len(result.WorkerItems)+len(result.OrchestratorItems) > 0 || len(result.HistoryDelta) != 2 {
				t.Errorf("sent %d and %d items, %d events", len(result.WorkerItems), len(result.OrchestratorItems), len(result.HistoryDelta))
			}
		})
	}
}

// Asking again for what is recorded costs nothing: a replay may ask for more than a turn.
func TestReplayOfManyActions(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		for range 5 {
			for range 10 {
				f.activity("A", "0123456789")
			}
			f.text(f.dequeue("q"))
		}
		return "out", nil
	})
	var past []provider.Event
	var result *replay.Result
	for range 6 {
		turn := newTurn(fn, past, queued("q", ""))
		if past == nil {
			turn.Messages = nil
		}
		turn.Limits = replay.Limits{Actions: 11, Bytes: 502}
		result = run(t, turn)
		past = after(past, result)
	}
	wantOutcome(t, result, replay.Completed)
}

// A history that grows beyond its limit fails the execution; one that ends in the same
// turn does not matter any more. Half of a limit is told once.
func TestHistoryLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		limits  replay.Limits
		nearing []replay.Nearing
		want    string
	}{
		{"events", replay.Limits{Events: 9}, []replay.Nearing{{What: "events in the history", Count: 7, Limit: 9}}, "has 11 events in the history, the limit is 9"},
		{"bytes", replay.Limits{Bytes: 35}, []replay.Nearing{{What: "bytes of payload in the history", Count: 22, Limit: 35}}, "has 42 bytes of payload in the history, the limit is 35"},
		{"actions", replay.Limits{Actions: 2}, []replay.Nearing{{What: "actions in one turn", Count: 1, Limit: 2}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fn := do(func(f flow, _ string) (string, error) {
				for {
					f.dequeue("q")
					if f.text(f.event("e")) == "0123456789" && test.name == "actions" {
						return "out", nil
					}
				}
			})
			if test.name == "actions" {
				fn = do(func(f flow, _ string) (string, error) { return f.await(f.event("e")) })
			}
			var past []provider.Event
			var nearing []replay.Nearing
			var result *replay.Result
			for range 4 {
				turn := newTurn(fn, past, raised("e", "0123456789"), queued("other", "0123456789"))
				turn.Messages = turn.Messages[:min(2, len(past))]
				turn.Limits = test.limits
				result = run(t, turn)
				nearing = append(nearing, result.Nearing...)
				past = after(past, result)
				if result.Outcome != replay.Continue {
					break
				}
			}
			if diff := cmp.Diff(test.nearing, nearing); diff != "" {
				t.Errorf("nearing (-want +got):\n%s", diff)
			}
			if test.want == "" {
				wantOutcome(t, result, replay.Completed)
				return
			}
			wantOutcome(t, result, replay.Failed)
			if got := result.Details.DisplayMessage(); !strings.Contains(got, test.want) {
				t.Errorf("details %q", got)
			}
		})
	}
}

// A result that ends the execution counts, however large the history has become.
func TestHistoryLimitsSpareTheEnd(t *testing.T) {
	t.Parallel()
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		f.status("long enough to be too much")
		return "out", nil
	}), nil, queued("q", "long enough to be too much"))
	turn.Limits = replay.Limits{Events: 1, Bytes: 30}
	wantOutcome(t, run(t, turn), replay.Completed)
}

// An event that nobody waits for is lost, and told once.
func TestUnheardEvents(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) { return f.await(f.event("go")) })
	result := run(t, newTurn(fn, nil, raised("early", "")))
	past := after(nil, result)
	if diff := cmp.Diff([]string{"early"}, result.Unheard); diff != "" {
		t.Errorf("unheard (-want +got):\n%s", diff)
	}
	result = run(t, newTurn(fn, past, raised("misspelt", ""), raised("go", "")))
	if diff := cmp.Diff([]string{"misspelt"}, result.Unheard); diff != "" {
		t.Errorf("unheard (-want +got):\n%s", diff)
	}
}
