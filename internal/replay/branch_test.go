package replay_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// branch runs a branch that only has a result.
func (f flow) branch(fn func() string) *branch {
	b := &branch{}
	b.Branch = f.Go(func() { b.text = fn() })
	return b
}

// A branch asks up to its first wait before the function goes on, and each goes on from its
// waits whoever's result comes first. The function sees the results in the order in which it
// waits for them.
func TestBranchesRunBesideEachOther(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		var branches []*branch
		for _, name := range []string{"A", "B"} {
			branches = append(branches, f.branch(func() string {
				first := f.text(f.activity(name+"1", ""))
				return first + f.text(f.activity(name+"2", first))
			}))
		}
		f.activity("C", "")
		return branches[0].wait(f) + branches[1].wait(f), nil
	})
	schedule := func(name, input string) provider.EventKind {
		return provider.ActivityScheduled{Name: name, Input: input}
	}
	past := after(nil, run(t, newTurn(fn, nil)))
	if diff := cmp.Diff(entries(pastOf(started, schedule("A1", ""), schedule("B1", ""), schedule("C", ""))), entries(past)); diff != "" {
		t.Errorf("the first turn (-want +got):\n%s", diff)
	}
	second := run(t, newTurn(fn, past, activityDone(3, "b"), activityDone(2, "a")))
	wantDelta(t, second,
		to(3, provider.ActivityCompleted{Result: "b"}), to(2, provider.ActivityCompleted{Result: "a"}),
		schedule("B2", "b"), schedule("A2", "a"))
	third := run(t, newTurn(fn, after(past, second), activityDone(7, "B"), activityDone(8, "A")))
	wantOutcome(t, third, replay.Completed)
	if got := third.Metadata.Output; got == nil || *got != "aBbA" && *got != "aAbB" {
		t.Errorf("output %v", got)
	}
}

// A branch can start others, and any of them can wait for any.
func TestBranchesOfBranches(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		message := f.branch(func() string { return f.text(f.dequeue("q")) })
		outer := f.branch(func() string {
			inner := f.branch(func() string { return "inner and " + message.wait(f) })
			return "outer and " + inner.wait(f)
		})
		return outer.wait(f), nil
	}), nil, queued("q", "a message")))
	wantOutcome(t, result, replay.Completed)
	if got, want := *result.Metadata.Output, "outer and inner and a message"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

// The function's end is the end of its branches, without a word.
func TestFunctionLeavesItsBranches(t *testing.T) {
	t.Parallel()
	deferred := 0
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		f.branch(func() string {
			defer func() {
				deferred++
				f.status("too late")
			}()
			return f.text(f.activity("A", ""))
		})
		return "out", nil
	}), nil))
	wantDelta(t, result, started, provider.ActivityScheduled{Name: "A"}, provider.OrchestrationCompleted{Output: "out"},
		to(2, provider.ActivityCancelRequested{Reason: "orchestration_terminal_completed"}))
	if deferred != 1 {
		t.Errorf("%d deferred calls, want 1", deferred)
	}
}

// A branch that panics, or ends its goroutine, fails the function, also from within others.
// Nobody's recover sees it.
func TestBranchPanics(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fn   func()
		want string
	}{
		"panic": {func() { panic("boom") }, "boom"},
		"exit":  {runtime.Goexit, "runtime.Goexit was called in an orchestration function"},
	} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprint(name, later), func(t *testing.T) {
				t.Parallel()
				unwound := 0
				result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
					defer func() {
						if r := recover(); r != nil {
							t.Errorf("recovered %v", r)
						}
					}()
					f.branch(func() string {
						defer func() { unwound++ }()
						return f.text(f.event("e"))
					})
					return f.branch(func() string {
						defer func() { unwound++ }()
						return f.branch(func() string {
							if later {
								f.text(f.dequeue("q"))
							}
							test.fn()
							return ""
						}).wait(f)
					}).wait(f), nil
				}), nil, queued("q", "")))
				wantOutcome(t, result, replay.Failed)
				want := provider.ApplicationFailure{Kind: provider.AppPanicked, Message: test.want}
				if diff := cmp.Diff(provider.ErrorDetails(want), placeless(result.Details)); diff != "" {
					t.Errorf("details (-want +got):\n%s", diff)
				}
				if name == "panic" && !strings.Contains(string(result.PanicStack), "branch_test.go") {
					t.Errorf("the stack does not lead to the branch:\n%s", result.PanicStack)
				}
				if unwound != 2 {
					t.Errorf("%d other branches were unwound, want 2", unwound)
				}
			})
		}
	}
}

// What a dropped branch and its branches wait for is given up, and its deferred calls have
// run when the drop returns. What it has read stays, and what others asked for.
func TestDroppedBranch(t *testing.T) {
	t.Parallel()
	deferred := 0
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		mine := f.activity("mine", "")
		b := f.branch(func() string {
			defer func() {
				deferred++
				f.status("gone")
				t.Error("a dropped branch went on")
			}()
			f.text(f.dequeue("q"))
			f.branch(func() string { return f.text(f.activity("inner", "")) })
			f.activity("outer", "")
			return f.text(mine)
		})
		f.text(f.event("e"))
		f.DropBranch(b.Branch)
		f.DropBranch(b.Branch)
		if deferred != 1 {
			t.Errorf("%d deferred calls had run, want 1", deferred)
		}
		if got := b.wait(f); got != "dropped" || b.Ready() {
			t.Errorf("the branch is %q, ready %v", got, b.Ready())
		}
		return f.text(f.dequeue("q")), nil
	}), pastOf(started, provider.ActivityScheduled{Name: "mine"}, provider.QueueSubscribed{Name: "q"}, provider.ExternalSubscribed{Name: "e"}),
		queued("q", "first"), raised("e", "")))
	wantOutcome(t, result, replay.Continue)
	wantDelta(t, result,
		provider.QueueEventDelivered{Name: "q", Data: "first"}, provider.ExternalEvent{Name: "e"},
		provider.ActivityScheduled{Name: "inner"}, provider.ActivityScheduled{Name: "outer"}, provider.QueueSubscribed{Name: "q"},
		to(7, provider.ActivityCancelRequested{Reason: "dropped_future"}), to(8, provider.ActivityCancelRequested{Reason: "dropped_future"}))
}

// A deferred call that panics while its branch is dropped fails the function, which goes no further.
func TestDroppedBranchPanics(t *testing.T) {
	t.Parallel()
	for name, itself := range map[string]bool{"by another": false, "by itself": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("recovered %v", r)
					}
				}()
				var inner *branch
				inner = f.branch(func() string {
					defer func() { panic("boom") }()
					text := f.text(f.dequeue("q"))
					f.DropBranch(inner.Branch)
					return text
				})
				if itself {
					return inner.wait(f), nil
				}
				f.DropBranch(inner.Branch)
				t.Error("the function went on")
				return "", nil
			}), nil, queued("q", "")))
			wantOutcome(t, result, replay.Failed)
			want := provider.ApplicationFailure{Kind: provider.AppPanicked, Message: "boom"}
			if diff := cmp.Diff(provider.ErrorDetails(want), placeless(result.Details)); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
			if !strings.Contains(string(result.PanicStack), "branch_test.go") {
				t.Errorf("the stack does not lead to the branch:\n%s", result.PanicStack)
			}
		})
	}
}

// A message that a dropped branch waited for goes to whoever asks next.
func TestDroppedBranchLeavesItsMessage(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		b := f.branch(func() string { return f.text(f.dequeue("q")) })
		f.DropBranch(b.Branch)
		return f.text(f.dequeue("q")), nil
	}), nil, queued("q", "a message")))
	wantOutcome(t, result, replay.Completed)
	if got := *result.Metadata.Output; got != "a message" {
		t.Errorf("output %q", got)
	}
}

// Dropping a branch whose result was seen has no effect.
func TestDroppedAfterItsEnd(t *testing.T) {
	t.Parallel()
	run(t, newTurn(do(func(f flow, _ string) (string, error) {
		seen, unseen := f.branch(func() string { return "seen" }), f.branch(func() string { return "unseen" })
		first := seen.wait(f)
		f.DropBranch(seen.Branch)
		f.DropBranch(unseen.Branch)
		if again := seen.wait(f); first != "seen" || again != first || unseen.wait(f) != "dropped" {
			t.Errorf("%q, then %q; the other %q", first, again, unseen.wait(f))
		}
		return "", nil
	}), nil))
}

// A branch that drops itself, or the one that it was started by, ends where it next uses its
// context.
func TestBranchDropsItself(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		outer := &branch{}
		f.text(f.dequeue("q"))
		later := f.branch(func() string {
			outer.Branch = f.Go(func() {
				f.text(f.event("start"))
				f.branch(func() string {
					f.activity("A", "")
					f.DropBranch(outer.Branch)
					f.status("too late")
					return ""
				})
				f.status("too late as well")
			})
			return ""
		})
		later.wait(f)
		return outer.wait(f), nil
	}), pastOf(started, provider.QueueSubscribed{Name: "q"}, provider.QueueEventDelivered{Name: "q"},
		provider.ExternalSubscribed{Name: "start"}), raised("start", "")))
	wantOutcome(t, result, replay.Completed)
	wantDelta(t, result, provider.ExternalEvent{Name: "start"}, provider.ActivityScheduled{Name: "A"},
		to(6, provider.ActivityCancelRequested{Reason: "dropped_future"}), provider.OrchestrationCompleted{Output: "dropped"})
}

// A branch ends the execution in favour of the next, and nothing else goes on.
func TestBranchContinuesAsNew(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		f.branch(func() string {
			f.text(f.dequeue("q"))
			_, _ = f.continueAsNew("next")
			return ""
		})
		f.branch(func() string {
			f.text(f.dequeue("q"))
			t.Error("another branch went on")
			return ""
		})
		f.text(f.event("never"))
		return "", nil
	}), nil, queued("q", "1"), queued("q", "2")))
	wantOutcome(t, result, replay.ContinuedAsNew)
}

// That is so for whoever has just started the branch, too: a message that it read then would be lost.
func TestBranchContinuesAsNewAtOnce(t *testing.T) {
	t.Parallel()
	for _, nested := range []bool{false, true} {
		result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
			unread := f.dequeue("q")
			f.text(f.dequeue("go"))
			next := func() string { _, err := f.continueAsNew("next"); return fmt.Sprint(err) }
			if nested {
				f.branch(func() string {
					f.branch(next)
					t.Error("the block that started the block went on")
					return ""
				})
			} else {
				f.branch(next)
			}
			t.Error("the function went on")
			return "", errors.New(fmt.Sprint(unread.Ready()))
		}), nil, queued("q", "1"), queued("go", "")))
		wantOutcome(t, result, replay.ContinuedAsNew)
		next, _ := result.OrchestratorItems[0].(provider.ContinueAsNewItem)
		if diff := cmp.Diff([]provider.CarriedMessage{{Name: "q", Data: "1"}}, next.CarryForwardEvents); diff != "" {
			t.Errorf("carried (-want +got):\n%s", diff)
		}
	}
}

// A goroutine is no branch, also in a branch.
func TestForeignGoroutineInABranch(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		return f.branch(func() string {
			done := make(chan struct{})
			go func() {
				defer close(done)
				f.activity("A", "")
			}()
			<-done
			return ""
		}).wait(f), nil
	}), nil))
	wantOutcome(t, result, replay.Failed)
	if got := result.Details.DisplayMessage(); !strings.Contains(got, "another goroutine at replay/helper_test.go:") {
		t.Errorf("failed with %q", got)
	}
}

// A branch that waits for something other than its context is found like the function.
func TestBlockedBranchIsFound(t *testing.T) {
	t.Parallel()
	release, ended := make(chan struct{}), make(chan struct{})
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		f.text(f.dequeue("q"))
		f.branch(func() string {
			defer close(ended)
			<-release
			f.status("too late")
			return ""
		})
		t.Error("the function went on")
		return "", nil
	}), nil, queued("q", ""))
	turn.BlockedAfter = blockedAfter
	_, err := replay.Run(t.Context(), turn)
	blocked, ok := errors.AsType[*replay.BlockedError](err)
	if !ok || blocked.State != "chan receive" || !strings.HasPrefix(blocked.At, "replay/branch_test.go:") {
		t.Errorf("error %v", err)
	}
	close(release)
	<-ended
}

// A deferred call of a branch that blocks holds the turn's end up no longer than the
// function's own would, and is named.
func TestBlockedDeferredCallOfABranch(t *testing.T) {
	t.Parallel()
	release, ended := make(chan struct{}), make(chan struct{})
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		f.branch(func() string {
			defer func() {
				<-release
				close(ended)
			}()
			return f.text(f.activity("A", ""))
		})
		return f.text(f.event("e")), nil
	}), nil)
	turn.BlockedAfter = blockedAfter
	result := run(t, turn)
	wantDelta(t, result, started, provider.ActivityScheduled{Name: "A"}, provider.ExternalSubscribed{Name: "e"})
	if at := result.Lingering; at == nil || !strings.HasPrefix(at.At, "replay/branch_test.go:") {
		t.Errorf("lingering %v", at)
	}
	close(release)
	<-ended
}

// A suspended function counts its branches.
func TestSuspendedBranchesHaveASize(t *testing.T) {
	t.Parallel()
	size := func(branches int) int {
		turn := newTurn(do(func(f flow, _ string) (string, error) {
			for range branches {
				f.branch(func() string { return f.text(f.event("e")) })
			}
			return f.text(f.event("e")), nil
		}), nil)
		turn.Keep = true
		result := run(t, turn)
		defer result.Suspended.Stop(t.Context())
		return result.Suspended.Bytes()
	}
	if none, ten := size(0), size(10); ten-none < 10*8<<10 {
		t.Errorf("%d bytes with ten branches, %d without", ten, none)
	}
}

// Only so many branches may wait at the same time as there may be actions. Those that have
// ended don't count.
func TestBranchesAreLimited(t *testing.T) {
	t.Parallel()
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		for range 100 {
			f.branch(func() string { return "" })
		}
		var branches []*branch
		for range 10 {
			branches = append(branches, f.branch(func() string { return f.text(f.event("e")) }))
		}
		f.branch(func() string { return "ended" })
		f.activity("A", "")
		return branches[0].wait(f), nil
	}), nil)
	turn.Limits.Actions = 11
	wantOutcome(t, run(t, turn), replay.Continue)
	turn.Func = do(func(f flow, _ string) (string, error) {
		for {
			f.branch(func() string {
				f.WaitUntil(func() bool { return false })
				return ""
			})
		}
	})
	result := run(t, turn)
	wantOutcome(t, result, replay.Failed)
	if text := result.Details.DisplayMessage(); !strings.Contains(text, "has 12 blocks that have not ended, the limit is 11; await some of them") {
		t.Errorf("failed with %q", text)
	}
}
