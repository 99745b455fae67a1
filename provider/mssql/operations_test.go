package mssql_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// An operation is a method of the contract, and how to call it so that it has something to do.
type operation struct {
	// prepare brings about what the call needs and returns the call.
	prepare func(scene) call
	// local says that the call needs no server.
	local bool
	// reads says that the call changes nothing.
	reads bool
}

// call is one call of the contract.
type call func(context.Context, provider.Provider) error

// operations are all methods of the contract, by their names.
var operations = map[string]operation{
	"Name":    {local: true, reads: true, prepare: nothing(func(s provider.Provider) { s.Name() })},
	"Version": {local: true, reads: true, prepare: nothing(func(s provider.Provider) { s.Version() })},
	"Admin":   {local: true, reads: true, prepare: nothing(func(s provider.Provider) { s.Admin() })},

	"FetchOrchestrationItem": {prepare: func(w scene) call {
		w.enqueue()
		return func(ctx context.Context, s provider.Provider) error {
			_, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
			return err
		}
	}},
	"AckOrchestrationItem": {prepare: func(w scene) call {
		params := firstTurn(w.instance, w.turn())
		params.Metadata.PinnedDuroxideVersion = &provider.Version{Minor: 1, Patch: 29}
		return func(ctx context.Context, s provider.Provider) error { return s.AckOrchestrationItem(ctx, params) }
	}},
	"AbandonOrchestrationItem": {prepare: func(w scene) call {
		params := provider.AbandonParams{LockToken: w.turn(), Delay: time.Minute, IgnoreAttempt: true}
		return func(ctx context.Context, s provider.Provider) error { return s.AbandonOrchestrationItem(ctx, params) }
	}},
	"RenewOrchestrationItemLock": {prepare: func(w scene) call {
		token := w.turn()
		return func(ctx context.Context, s provider.Provider) error {
			return s.RenewOrchestrationItemLock(ctx, token, 10*lease)
		}
	}},
	"Read": {reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error { return second(s.Read(ctx, w.instance)) }
	}},
	"ReadWithExecution": {reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.ReadWithExecution(ctx, w.instance, 1))
		}
	}},
	"AppendWithExecution": {prepare: func(w scene) call {
		return func(ctx context.Context, s provider.Provider) error {
			return s.AppendWithExecution(ctx, w.instance, 1, firstTurn(w.instance, "").HistoryDelta)
		}
	}},
	"EnqueueForWorker": {prepare: func(w scene) call {
		item := activity(w.instance, 7)
		return func(ctx context.Context, s provider.Provider) error { return s.EnqueueForWorker(ctx, item) }
	}},
	"EnqueueForOrchestrator": {prepare: func(w scene) call {
		return func(ctx context.Context, s provider.Provider) error {
			return s.EnqueueForOrchestrator(ctx, start(w.instance), 0)
		}
	}},
	"FetchWorkItem": {prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease}))
		}
	}},
	"AckWorkItem": {prepare: func(w scene) call {
		token := w.work()
		completion := provider.ActivityCompletedItem{Instance: w.instance, ExecutionID: 1, ID: 2, Result: "done"}
		return func(ctx context.Context, s provider.Provider) error { return s.AckWorkItem(ctx, token, completion) }
	}},
	"RenewWorkItemLock": {prepare: func(w scene) call {
		token := w.work()
		return func(ctx context.Context, s provider.Provider) error { return s.RenewWorkItemLock(ctx, token, 10*lease) }
	}},
	"AbandonWorkItem": {prepare: func(w scene) call {
		params := provider.AbandonParams{LockToken: w.work(), Delay: time.Minute, IgnoreAttempt: true}
		return func(ctx context.Context, s provider.Provider) error { return s.AbandonWorkItem(ctx, params) }
	}},
	"RenewSessionLock": {prepare: func(w scene) call {
		owner := w.session()
		params := provider.RenewSessionParams{OwnerIDs: []string{owner, "other"}, ExtendFor: lease, IdleTimeout: lease}
		return func(ctx context.Context, s provider.Provider) error { return second(s.RenewSessionLock(ctx, params)) }
	}},
	"CleanupOrphanedSessions": {prepare: func(w scene) call {
		w.session()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.CleanupOrphanedSessions(ctx, lease))
		}
	}},
	"GetCustomStatus": {reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.GetCustomStatus(ctx, w.instance, 0))
		}
	}},
	"GetKVValue": {reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.GetKVValue(ctx, w.instance, "key"))
		}
	}},
	"GetKVAllValues": {reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error { return second(s.GetKVAllValues(ctx, w.instance)) }
	}},
	"GetInstanceStats": {reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.GetInstanceStats(ctx, w.instance))
		}
	}},

	"ListInstances": look(func(ctx context.Context, a provider.Admin, _ string) error {
		return second(a.ListInstances(ctx))
	}),
	"ListInstancesByStatus": look(func(ctx context.Context, a provider.Admin, _ string) error {
		return second(a.ListInstancesByStatus(ctx, provider.StatusRunning))
	}),
	"ListExecutions": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.ListExecutions(ctx, instance))
	}),
	"ReadHistoryWithExecutionID": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.ReadHistoryWithExecutionID(ctx, instance, 1))
	}),
	"ReadHistory": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.ReadHistory(ctx, instance))
	}),
	"LatestExecutionID": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.LatestExecutionID(ctx, instance))
	}),
	"GetInstanceInfo": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.GetInstanceInfo(ctx, instance))
	}),
	"GetExecutionInfo": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.GetExecutionInfo(ctx, instance, 1))
	}),
	"GetSystemMetrics": look(func(ctx context.Context, a provider.Admin, _ string) error {
		return second(a.GetSystemMetrics(ctx))
	}),
	"GetQueueDepths": look(func(ctx context.Context, a provider.Admin, _ string) error {
		return second(a.GetQueueDepths(ctx))
	}),
	"ListChildren": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.ListChildren(ctx, instance))
	}),
	"GetParentID": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.GetParentID(ctx, instance))
	}),
	"GetInstanceTree": look(func(ctx context.Context, a provider.Admin, instance string) error {
		return second(a.GetInstanceTree(ctx, instance))
	}),

	"DeleteInstance": {prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.Admin().DeleteInstance(ctx, w.instance, true))
		}
	}},
	"DeleteInstancesAtomic": {prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.Admin().DeleteInstancesAtomic(ctx, []string{w.instance, "other"}, true))
		}
	}},
	"DeleteInstanceBulk": {prepare: func(w scene) call {
		w.finish()
		filter := provider.InstanceFilter{InstanceIDs: []string{w.instance}}
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.Admin().DeleteInstanceBulk(ctx, filter))
		}
	}},
	"PruneExecutions": {prepare: func(w scene) call {
		w.runTwice()
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.Admin().PruneExecutions(ctx, w.instance, provider.PruneOptions{}))
		}
	}},
	"PruneExecutionsBulk": {prepare: func(w scene) call {
		w.runTwice()
		filter := provider.InstanceFilter{InstanceIDs: []string{w.instance}}
		return func(ctx context.Context, s provider.Provider) error {
			return second(s.Admin().PruneExecutionsBulk(ctx, filter, provider.PruneOptions{}))
		}
	}},
}

// TestEveryMethodIsAnOperation keeps the table complete.
func TestEveryMethodIsAnOperation(t *testing.T) {
	t.Parallel()
	methods := map[string]bool{}
	for _, contract := range []reflect.Type{reflect.TypeFor[provider.Provider](), reflect.TypeFor[provider.Admin]()} {
		for method := range contract.Methods() {
			methods[method.Name] = true
			if _, ok := operations[method.Name]; !ok {
				t.Errorf("%s.%s is missing in the table of operations", contract, method.Name)
			}
		}
	}
	for _, name := range operationNames() {
		if !methods[name] {
			t.Errorf("the table of operations has %s, and the contract has not", name)
		}
	}
}

// operationNames are the names of all operations, fetches last: what the preparation of one makes ready, that of
// another would fetch.
func operationNames() []string {
	return slices.SortedFunc(maps.Keys(operations), func(a, b string) int {
		if c := strings.Compare(a, b); strings.HasPrefix(a, "Fetch") == strings.HasPrefix(b, "Fetch") {
			return c
		}
		if strings.HasPrefix(a, "Fetch") {
			return 1
		}
		return -1
	})
}

// nothing is for calls that need neither preparation nor a context.
func nothing(run func(provider.Provider)) func(scene) call {
	return func(scene) call {
		return func(_ context.Context, s provider.Provider) error {
			run(s)
			return nil
		}
	}
}

// look is an operation that looks at a running instance.
func look(run func(ctx context.Context, a provider.Admin, instance string) error) operation {
	return operation{reads: true, prepare: func(w scene) call {
		w.run()
		return func(ctx context.Context, s provider.Provider) error { return run(ctx, s.Admin(), w.instance) }
	}}
}

// second is a call's error.
func second[T any](_ T, err error) error { return err }

// scene is an instance that no other has, and a store to bring it into some state.
type scene struct {
	t        *testing.T
	store    provider.Provider
	instance string
}

// enqueue sends the instance its start.
func (w scene) enqueue() {
	w.t.Helper()
	ok(w.t, w.store.EnqueueForOrchestrator(w.t.Context(), start(w.instance), 0))
}

// fetch fetches the instance, past all others, and returns the lock token.
func (w scene) fetch() string {
	w.t.Helper()
	for {
		turn, err := w.store.FetchOrchestrationItem(w.t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
		ok(w.t, err)
		if turn == nil {
			w.t.Fatalf("%s cannot be fetched", w.instance)
		}
		if turn.Item.Instance == w.instance {
			return turn.LockToken
		}
	}
}

// turn starts the instance and fetches its first turn.
func (w scene) turn() string {
	w.t.Helper()
	w.enqueue()
	return w.fetch()
}

// run takes the instance through its first turn, which schedules an activity.
func (w scene) run() {
	w.t.Helper()
	ok(w.t, w.store.AckOrchestrationItem(w.t.Context(), firstTurn(w.instance, w.turn())))
}

// finish takes the instance to its end.
func (w scene) finish() {
	w.t.Helper()
	params := firstTurn(w.instance, w.turn())
	params.WorkerItems = nil
	status := provider.StatusCompleted
	params.Metadata.Status = &status
	ok(w.t, w.store.AckOrchestrationItem(w.t.Context(), params))
}

// runTwice takes the instance into its second execution.
func (w scene) runTwice() {
	w.t.Helper()
	first := firstTurn(w.instance, w.turn())
	status, input := provider.StatusContinuedAsNew, "again"
	first.WorkerItems = nil
	first.Metadata.Status, first.Metadata.Output = &status, &input
	first.OrchestratorItems = []provider.WorkItem{
		provider.ContinueAsNewItem{Instance: w.instance, Orchestration: "Order", Input: input},
	}
	ok(w.t, w.store.AckOrchestrationItem(w.t.Context(), first))
	next := firstTurn(w.instance, w.fetch())
	next.ExecutionID = 2
	next.WorkerItems = nil
	ok(w.t, w.store.AckOrchestrationItem(w.t.Context(), next))
}

// work runs the instance and fetches its activity, past all others, and returns the lock token.
func (w scene) work() string {
	w.t.Helper()
	w.run()
	return w.fetchActivity(nil)
}

// session runs the instance with an activity in a session, and returns the session's owner.
func (w scene) session() string {
	w.t.Helper()
	session, owner := "session of "+w.instance, "owner of "+w.instance
	item := activity(w.instance, 9)
	item.SessionID = &session
	ok(w.t, w.store.EnqueueForWorker(w.t.Context(), item))
	w.fetchActivity(&provider.SessionFetchConfig{OwnerID: owner, LockTimeout: lease})
	return owner
}

func (w scene) fetchActivity(session *provider.SessionFetchConfig) string {
	w.t.Helper()
	for {
		found, err := w.store.FetchWorkItem(w.t.Context(), provider.FetchWorkParams{LockTimeout: lease, Session: session})
		ok(w.t, err)
		if found == nil {
			w.t.Fatalf("the activity of %s cannot be fetched", w.instance)
		}
		if found.Item.Target() == w.instance {
			return found.LockToken
		}
	}
}

// activity is an activity of an instance's first execution.
func activity(instance string, id uint64) provider.ActivityExecuteItem {
	return provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: id, Name: "Charge", Input: "{}"}
}

// firstTurn is a turn that does a bit of everything.
func firstTurn(instance, token string) provider.AckOrchestrationParams {
	text := "halfway"
	kinds := []provider.EventKind{
		provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"},
		provider.ActivityScheduled{Name: "Charge", Input: "{}"},
		provider.KeyValueSet{Key: "key", Value: "value", LastUpdatedAtMs: 1},
		provider.CustomStatusUpdated{Status: &text},
	}
	params := provider.AckOrchestrationParams{
		LockToken: token, ExecutionID: 1, Metadata: running(),
		WorkerItems:         []provider.WorkItem{activity(instance, 2), activity(instance, 3)},
		CancelledActivities: []provider.ActivityRef{{Instance: instance, ExecutionID: 1, ActivityID: 3}},
		OrchestratorItems: []provider.WorkItem{
			provider.QueueMessageItem{Instance: instance + " and more", Name: "queue", Data: "data"},
			provider.ExternalRaisedItem{Instance: instance, Name: "event", Data: "data"},
		},
	}
	for i, kind := range kinds {
		params.HistoryDelta = append(params.HistoryDelta, provider.Event{
			EventID: uint64(i + 1), InstanceID: instance, ExecutionID: 1, DuroxideVersion: "0.1.29", Kind: kind,
		})
	}
	return params
}

// scenes returns a function that makes a new scene at each call.
func scenes(t *testing.T, store provider.Provider) func() scene {
	t.Helper()
	n := 0
	return func() scene {
		n++
		return scene{t: t, store: store, instance: fmt.Sprintf("instance %d", n)}
	}
}
