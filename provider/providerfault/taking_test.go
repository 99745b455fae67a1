package providerfault_test

import (
	"errors"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
)

// both takes a turn and an activity.
var both = provider.ClaimParams{
	Turn: &provider.FetchOrchestrationParams{LockTimeout: time.Minute},
	Work: []provider.FetchWorkParams{{LockTimeout: time.Minute}},
}

// A combined call follows the script as the calls that it stands for.
func TestCombinedCallsFollowTheScript(t *testing.T) {
	t.Parallel()
	busy := providerfault.Fault{Fail: providerfault.Busy()}
	for _, test := range []struct {
		name  string
		rules []providerfault.Rule
		// what an acknowledgement of a turn that queues an activity brings, while another
		// turn is ready
		fails, takesTurn, takesWork, takingFails bool
	}{
		{name: "no fault", takesTurn: true, takesWork: true},
		{name: "the acknowledgement fails", fails: true, rules: []providerfault.Rule{{Operation: providerfault.AckOrchestrationItem, Fault: busy}}},
		{name: "taking a turn fails", takesWork: true, takingFails: true, rules: []providerfault.Rule{{Operation: providerfault.FetchOrchestrationItem, Skip: 1, Fault: busy}}},
		{
			name: "taking an activity fails", takesTurn: true, takingFails: true,
			rules: []providerfault.Rule{{Operation: providerfault.FetchWorkItem, Fault: busy}},
		},
		{
			name: "what is taken is late", takesTurn: true, takesWork: true,
			rules: []providerfault.Rule{{Operation: providerfault.FetchWorkItem, Fault: providerfault.Fault{Delay: time.Millisecond}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := providerfault.New(open(t), test.rules...)
			other := start
			other.Instance = "other"
			for _, item := range []provider.WorkItem{start, other} {
				if err := store.EnqueueForOrchestrator(t.Context(), item, 0); err != nil {
					t.Fatal(err)
				}
			}
			fetched := fetch(t, store)
			taken, err := store.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
				LockToken: fetched.LockToken, ExecutionID: 1,
				WorkerItems: []provider.WorkItem{provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}},
			}, both)
			if (err != nil) != test.fails || (taken.Err != nil) != test.takingFails {
				t.Errorf("error %v, of the taking %v", err, taken.Err)
			}
			if (taken.Turn != nil) != test.takesTurn || (len(taken.Work) == 1) != test.takesWork {
				t.Errorf("took %+v", taken)
			}
		})
	}
}

// Each of many leases follows the script, and the others are renewed.
func TestRenewLocksFollowsTheScript(t *testing.T) {
	t.Parallel()
	store := providerfault.New(open(t), providerfault.Rule{
		Operation: providerfault.RenewWorkItemLock, Fault: providerfault.Fault{Fail: providerfault.Busy()},
		If: func(c providerfault.Call) bool { return c.LockToken == "unlucky" },
	})
	if err := store.EnqueueForOrchestrator(t.Context(), start, 0); err != nil {
		t.Fatal(err)
	}
	token := fetch(t, store).LockToken
	outcomes, err := store.RenewLocks(t.Context(), []provider.LockRenewal{
		{LockToken: "unlucky", ExtendFor: time.Minute},
		{LockToken: token, Turn: true, ExtendFor: time.Minute},
		{LockToken: "unknown", ExtendFor: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !provider.IsRetryable(outcomes[0]) || outcomes[1] != nil || !errors.Is(outcomes[2], provider.ErrInvalidLockToken) {
		t.Errorf("outcomes %v", outcomes)
	}
}
