package demo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/audit"
	"github.com/duroxide/duroxide-go/provider"
)

// Instance is a shape with the id it was started under.
type Instance struct {
	Shape

	ID string
}

// Execution identifies a history.
type Execution struct {
	Instance string
	ID       uint64
}

// Record is what a store holds of some orchestrations and their children.
type Record struct {
	Roots []Root
	// Executions lists all executions, each root's followed by its children's.
	Executions []Execution
	Histories  map[Execution][]provider.Event
}

// Root is an orchestration that was started from outside.
type Root struct {
	Instance

	Status client.Status
	// Tree holds its id and those of all its descendants.
	Tree []string
}

// ReadRecord reads all there is of the given instances.
func ReadRecord(ctx context.Context, c *client.Client, instances []Instance) (Record, error) {
	r := Record{Histories: map[Execution][]provider.Event{}}
	admin, err := c.Admin()
	if err != nil {
		return r, err
	}
	for _, instance := range instances {
		root := Root{Instance: instance}
		if root.Status, err = c.Status(ctx, instance.ID); err != nil {
			return r, err
		}
		tree, err := admin.GetInstanceTree(ctx, instance.ID)
		if err != nil {
			return r, err
		}
		root.Tree = tree.AllIDs
		for _, id := range tree.AllIDs {
			if err := readHistories(ctx, admin, id, &r); err != nil {
				return r, err
			}
		}
		r.Roots = append(r.Roots, root)
	}
	return r, nil
}

func readHistories(ctx context.Context, admin provider.Admin, instance string, r *Record) error {
	executions, err := admin.ListExecutions(ctx, instance)
	if err != nil {
		return err
	}
	for _, id := range executions {
		e := Execution{instance, id}
		if r.Histories[e], err = admin.ReadHistoryWithExecutionID(ctx, instance, id); err != nil {
			return err
		}
		r.Executions = append(r.Executions, e)
	}
	return nil
}

// Instances counts the instances that have a history.
func (r Record) Instances() int {
	ids := map[string]bool{}
	for _, e := range r.Executions {
		ids[e.Instance] = true
	}
	return len(ids)
}

// Events counts the events.
func (r Record) Events() int {
	n := 0
	for _, history := range r.Histories {
		n += len(history)
	}
	return n
}

// Results counts the activities whose results are in a history.
func (r Record) Results() int {
	n := 0
	for _, e := range r.Executions {
		n += len(r.audit(e).Results)
	}
	return n
}

func (r Record) audit(e Execution) audit.Report {
	return audit.History(e.Instance, e.ID, r.Histories[e])
}

// Problems says what is not as it must be when all has ended. calls tells how
// often each activity was begun.
func (r Record) Problems(calls map[Call]int) []string {
	var problems []string
	drops := map[string]bool{}
	for _, root := range r.Roots {
		problems = append(problems, r.wrongOutcome(root)...)
		for _, id := range root.Tree {
			drops[id] = root.Drops
		}
	}
	for _, e := range r.Executions {
		report := r.audit(e)
		found := report.Problems
		if report.End == nil {
			found = append(found, "it has not ended")
		}
		if len(report.Unanswered) > 0 && !drops[e.Instance] {
			found = append(found, fmt.Sprintf("events %d have no answer", report.Unanswered))
		}
		if len(report.Lost) > 0 {
			found = append(found, fmt.Sprintf("nobody waited for events %d", report.Lost))
		}
		for _, id := range report.Results {
			if calls[Call{e.Instance, e.ID, id}] == 0 && !builtIn(r.Histories[e], id) {
				found = append(found, fmt.Sprintf("activity %d has a result but was never begun", id))
			}
		}
		for _, problem := range found {
			problems = append(problems, fmt.Sprintf("%s, execution %d: %s", e.Instance, e.ID, problem))
		}
	}
	return problems
}

// wrongOutcome checks a root's result and how much work it took.
func (r Record) wrongOutcome(root Root) []string {
	var problems []string
	if root.Status.State != client.Completed || root.Status.Output != root.Output {
		problems = append(problems, fmt.Sprintf("%s is %s with %q, not Completed with %q",
			root.ID, root.Status.State, root.Status.Output, root.Output))
	}
	want, executions, results := root.Instance, 0, 0
	for _, id := range root.Tree {
		for _, e := range r.Executions {
			if e.Instance == id {
				executions++
				results += len(r.counted(e))
			}
		}
	}
	if len(root.Tree) != want.Instances || executions != want.Executions || results != want.Results {
		problems = append(problems, fmt.Sprintf("%s has %d instances, %d executions and %d results, not %d, %d and %d", root.ID,
			len(root.Tree), executions, results, want.Instances, want.Executions, want.Results))
	}
	return problems
}

// counted lists the activities whose results an execution has used: all that came, but
// for those that it had stopped waiting for.
func (r Record) counted(e Execution) []uint64 {
	results := r.audit(e).Results
	for _, event := range r.Histories[e] {
		if _, ok := event.Kind.(provider.ActivityCancelRequested); ok && event.SourceEventID != nil {
			results = slices.DeleteFunc(results, func(id uint64) bool { return id == *event.SourceEventID })
		}
	}
	return results
}

// builtInPrefix begins the names of the activities that come with the runtime (contract §7.13).
const builtInPrefix = "__duroxide_syscall:"

// builtIn reports whether a scheduled activity is the runtime's own, which reports nothing.
func builtIn(history []provider.Event, id uint64) bool {
	scheduled, ok := history[id-1].Kind.(provider.ActivityScheduled)
	return ok && strings.HasPrefix(scheduled.Name, builtInPrefix)
}

// Changed says which events of an earlier record are no longer what they were,
// byte for byte. A history only ever grows.
func (r Record) Changed(earlier Record) []string {
	var problems []string
	for _, e := range earlier.Executions {
		now := r.Histories[e]
		for n, event := range earlier.Histories[e] {
			if n >= len(now) || !same(event, now[n]) {
				problems = append(problems, fmt.Sprintf("%s, execution %d: event %d has changed", e.Instance, e.ID, n+1))
			}
		}
	}
	return problems
}

func same(a, b provider.Event) bool {
	x, errX := provider.EncodeEvent(a)
	y, errY := provider.EncodeEvent(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
