package providertest

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// bulkDeletion checks which finished roots one call deletes.
func bulkDeletion() category {
	return category{"bulk deletion", []scenario{
		{"delete_instance_bulk_filter_combinations", bulkFilters},
		{"delete_instance_bulk_safety_and_limits", bulkSafety},
		{"delete_instance_bulk_completed_before_filter", bulkCompletedBefore},
		{"delete_instance_bulk_cascades_to_children", bulkCascades},
	}}
}

const (
	ruleBulk = "§6.17: root instances whose current execution is Completed, Failed or ContinuedAsNew; " +
		"running ones are skipped silently"
	ruleBulkIDs = "§6.17: InstanceIDs: nil = no restriction; empty list = zero result; " +
		"child ids in the list are skipped (not roots)"
	ruleBulkBefore = "§6.17: CompletedBefore: current execution's completed_at strictly less than. NULL never matches"
	ruleBulkLimit  = "§6.17: Limit: default 1000, counts roots"
)

// bulkFilters: all given conditions must hold together.
func bulkFilters(e *env) {
	for _, instance := range []string{"a", "b", "c", "d"} {
		e.createEnded(instance, provider.StatusCompleted)
		e.tick()
	}
	e.create("runs")
	beforeC := e.completedAt("c", 1)
	got := e.deleteBulk(provider.InstanceFilter{
		InstanceIDs: []string{"b", "c", "d", "runs", "nobody"}, CompletedBefore: &beforeC,
	})
	same(e, got, provider.DeleteInstanceResult{InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2},
		"§6.1: all given conditions are ANDed")
	e.gone(ruleBulkBefore, "b")
	e.exists("§6.1: all given conditions are ANDed", "a", "c", "d", "runs")
	got = e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"c", "d"}, Limit: new(uint32(1))})
	same(e, got.InstancesDeleted, 1, ruleBulkLimit)
	got = e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"c", "d"}})
	same(e, got.InstancesDeleted, 1, ruleBulkIDs)
	e.gone(ruleBulkIDs, "c", "d")
	e.exists(ruleBulkIDs, "a", "runs")
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, 1, ruleBulkIDs)
	e.exists(ruleBulk, "runs")
}

// bulkSafety: running instances are passed over in silence, and the limit bounds
// how many go.
func bulkSafety(e *env) {
	e.create("runs")
	none := e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"runs"}})
	same(e, none, provider.DeleteInstanceResult{}, ruleBulk)
	for i := range 5 {
		e.createEnded(fmt.Sprintf("done-%d", i), provider.StatusFailed)
	}
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(2))}).InstancesDeleted, 2, ruleBulkLimit)
	same(e, e.metrics().FailedInstances, 3, ruleBulkLimit)
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(10))}).InstancesDeleted, 3, ruleBulkLimit)
	same(e, e.deleteBulk(provider.InstanceFilter{}), provider.DeleteInstanceResult{}, ruleBulk)
	e.exists(ruleBulk, "runs")
}

// bulkCompletedBefore: the completion time must be strictly before the bound, to
// the millisecond.
func bulkCompletedBefore(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	e.create("runs")
	at := e.completedAt("order", 1)
	for _, bound := range []time.Time{at.Add(-time.Hour), at.Add(-time.Millisecond), at} {
		got := e.deleteBulk(provider.InstanceFilter{CompletedBefore: &bound})
		same(e, got, provider.DeleteInstanceResult{}, ruleBulkBefore)
	}
	got := e.deleteBulk(provider.InstanceFilter{CompletedBefore: new(at.Add(time.Millisecond))})
	same(e, got.InstancesDeleted, 1, ruleBulkBefore)
	e.gone(ruleBulkBefore, "order")
	e.exists(ruleBulk, "runs")
}

// bulkCascades: a root takes its whole tree along, and the sums include it.
func bulkCascades(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "child", provider.StatusCompleted)
	e.createEndedChild("child", "grandchild", provider.StatusFailed)
	e.createEnded("lonely", provider.StatusCompleted)
	e.wake("grandchild")
	same(e, e.deleteBulk(provider.InstanceFilter{}), provider.DeleteInstanceResult{
		InstancesDeleted: 4, ExecutionsDeleted: 4, EventsDeleted: 8, QueueMessagesDeleted: 1,
	}, "§6.17: counts: sums including children")
	e.gone("§6.17: each root: its tree is deleted", "root", "child", "grandchild", "lonely")
}
