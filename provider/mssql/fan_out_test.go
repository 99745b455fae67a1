package mssql_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// childrenVariable says how many children the widest turn starts. The default costs a second. What has to hold is 2000.
const childrenVariable = "DUROXIDE_TEST_MSSQL_CHILDREN"

// A turn executes as many statements for many children, activities, events and cancellations as for a few (rule Q6: and
// locks all inboxes at once, in order).
func TestTurnsExecuteFewStatements(t *testing.T) {
	t.Parallel()
	most := 300
	if text := os.Getenv(childrenVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 100 {
			t.Fatalf("%s is %q and has to be a number from 100 on", childrenVariable, text)
		}
		most = n
	}
	c := newCrowd(t, true)
	few, many := c.fanOut(3, "few"), c.fanOut(most, "many")
	t.Logf("%d statements for 3 children, %d for %d", few.Executions(), many.Executions(), most)
	if many.Executions() > few.Executions() {
		t.Errorf("%d statements for %d children, %d for 3:\n%v", many.Executions(), most, few.Executions(), many)
	}
}

// fanOut is what a turn touches that starts some children and as many activities, sends each child a message, and
// cancels as many activities.
func (c *crowd) fanOut(children int, parent string) tsqltest.Keys {
	c.t.Helper()
	ok(c.t, c.EnqueueForOrchestrator(c.t.Context(), startOf(parent, "Order"), 0))
	ok(c.t, fetchesTurn(nil)(c))
	p := provider.AckOrchestrationParams{LockToken: c.turn.LockToken, ExecutionID: 1, Metadata: running()}
	for i := range children {
		child := fmt.Sprintf("%s-%d", parent, i)
		p.OrchestratorItems = append(p.OrchestratorItems, startOf(child, "Child"), provider.ExternalRaisedItem{Instance: child, Name: "go"})
		p.WorkerItems = append(p.WorkerItems, activityOf(parent, "Pay"))
		p.CancelledActivities = append(p.CancelledActivities, provider.ActivityRef{Instance: parent, ExecutionID: 1, ActivityID: uint64(i) + 10})
	}
	return c.server.CountKeys(func() { ok(c.t, c.AckOrchestrationItem(c.t.Context(), p)) })
}
