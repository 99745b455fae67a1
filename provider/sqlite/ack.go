package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// opAckOrchestration labels the acknowledgement's errors.
const opAckOrchestration = "ack_orchestration_item"

// AckOrchestrationItem implements [provider.Provider] (§5.2). All of the turn's
// effects become durable together, or none does.
//
// Whatever can be checked or encoded without the database is, before the transaction:
// the connection that writes is what everybody shares.
//
// Errors: [provider.ErrInvalidLockToken], [provider.ErrLockExpired],
// [provider.ErrInvalidArgument], [provider.ErrDuplicateEvent]. After the last two the
// lock is still held.
func (s *Store) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	result, err := newTurnResult(params)
	if err != nil {
		return err
	}
	return s.write(ctx, opAckOrchestration, result.store)
}

// turnResult is what a turn changes, checked and encoded before the transaction.
type turnResult struct {
	token     string
	instance  string
	execution int64
	metadata  provider.ExecutionMetadata
	history   []sqlitedb.AppendEventParams
	// customStatus is the turn's last update of the custom status, if any.
	customStatus *provider.CustomStatusUpdated
	// values are the turn's changes of the key-value map, in order.
	values   []provider.EventKind
	work     []sqlitedb.EnqueueWorkParams
	messages []message
	// cancelled is the JSON list that CancelWork takes, "" for none.
	cancelled string
}

// newTurnResult checks and encodes what the turn hands in.
func newTurnResult(params provider.AckOrchestrationParams) (*turnResult, error) {
	r := &turnResult{token: params.LockToken, metadata: params.Metadata}
	if err := checkNumber(opAckOrchestration, "execution id", params.ExecutionID); err != nil {
		return nil, err
	}
	r.execution = int64(params.ExecutionID)
	if err := checkMetadata(params.Metadata); err != nil {
		return nil, err
	}
	var err error
	if r.history, err = encodeEvents(opAckOrchestration, params.HistoryDelta); err != nil {
		return nil, err
	}
	r.readEvents(params.HistoryDelta)
	for _, item := range params.WorkerItems {
		w, err := newWork(opAckOrchestration, item)
		if err != nil {
			return nil, err
		}
		r.work = append(r.work, w)
	}
	for _, item := range params.OrchestratorItems {
		m, err := newMessage(opAckOrchestration, item)
		if err != nil {
			return nil, err
		}
		r.messages = append(r.messages, m)
	}
	r.cancelled, err = activityList(params.CancelledActivities)
	return r, err
}

// checkMetadata checks what becomes columns.
func checkMetadata(m provider.ExecutionMetadata) error {
	if v := m.PinnedDuroxideVersion; v != nil {
		if err := checkNumber(opAckOrchestration, "pinned version", max(v.Major, v.Minor, v.Patch)); err != nil {
			return err
		}
	}
	if m.ParentInstanceID != nil {
		return checkID(opAckOrchestration, "parent instance id", *m.ParentInstanceID)
	}
	return nil
}

// readEvents picks out the events that change more than the history: of the updates
// of the custom status only the last counts (step 9), of those of the key-value map
// each in its turn (step 10).
func (r *turnResult) readEvents(events []provider.Event) {
	for _, event := range events {
		switch kind := event.Kind.(type) {
		case provider.CustomStatusUpdated:
			r.customStatus = &kind
		case provider.KeyValueSet, provider.KeyValueCleared, provider.KeyValuesCleared:
			r.values = append(r.values, kind)
		}
	}
}

// activityList encodes activities for CancelWork, as [instance, execution, activity].
func activityList(activities []provider.ActivityRef) (string, error) {
	if len(activities) == 0 {
		return "", nil
	}
	list := make([][3]any, 0, len(activities))
	for _, a := range activities {
		if err := checkNumber(opAckOrchestration, "execution id", a.ExecutionID); err != nil {
			return "", err
		}
		if err := checkNumber(opAckOrchestration, "activity id", a.ActivityID); err != nil {
			return "", err
		}
		list = append(list, [3]any{a.Instance, a.ExecutionID, a.ActivityID})
	}
	return jsonList(opAckOrchestration, list)
}

// jsonList encodes a list for a query that takes it apart with json_each.
func jsonList[T any](operation string, list []T) (string, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return "", invalid(operation, "%v", err)
	}
	return string(text), nil
}

// store carries the turn out. The instance is the one the token locks, not one that
// the caller names (step 1). The order is that of §5.2 except that what touches the
// same row is done at once.
func (r *turnResult) store(ctx context.Context, t *tx) error {
	held, err := t.findLock(ctx, opAckOrchestration, r.token)
	if err != nil {
		return err
	}
	if held.until <= t.now {
		return instanceLockExpired(opAckOrchestration)
	}
	if r.execution == 0 {
		return invalid(opAckOrchestration, "execution id must be set: the first is 1")
	}
	r.instance = held.instance
	if err := t.DeleteBatch(ctx, held.instance, held.since, &r.token); err != nil {
		return err
	}
	for _, step := range []func(context.Context, *tx) error{
		r.storeInstance, r.storeHistory, r.storeStatus, r.storeValues, r.storeWork, r.storeMessages,
	} {
		if err := step(ctx, t); err != nil {
			return err
		}
	}
	t.changed = append(t.changed, held.instance)
	return t.unlock(ctx, held.instance)
}

// storeInstance brings the instance and execution rows up to date (steps 3 to 6,
// 9 and 16). Without a name and version it creates no instance; an execution, always.
func (r *turnResult) storeInstance(ctx context.Context, t *tx) error {
	m := r.metadata
	if m.OrchestrationName != nil && m.OrchestrationVersion != nil {
		if err := t.PutInstance(ctx, sqlitedb.PutInstanceParams{
			InstanceID:           r.instance,
			OrchestrationName:    *m.OrchestrationName,
			OrchestrationVersion: m.OrchestrationVersion,
			ExecutionID:          r.execution,
			ParentInstanceID:     m.ParentInstanceID,
			Now:                  t.now,
		}); err != nil {
			return err
		}
	}
	if err := t.StartExecution(ctx, r.instance, r.execution, t.now); err != nil {
		return err
	}
	if v := m.PinnedDuroxideVersion; v != nil {
		if err := t.pin(ctx, r.instance, r.execution, *v); err != nil {
			return err
		}
	}
	touch := sqlitedb.TouchInstanceParams{ExecutionID: r.execution, Now: t.now, InstanceID: r.instance}
	if r.customStatus != nil {
		touch.SetStatus, touch.CustomStatus = 1, r.customStatus.Status
	}
	return t.TouchInstance(ctx, touch)
}

// pin binds an execution to a framework version, whatever it was bound to before
// (step 5).
func (t *tx) pin(ctx context.Context, instance string, execution int64, v provider.Version) error {
	major, minor, patch := int64(v.Major), int64(v.Minor), int64(v.Patch)
	if err := t.AddFrameworkVersion(ctx, major, minor, patch); err != nil {
		return err
	}
	return t.PinExecution(ctx, sqlitedb.PinExecutionParams{
		Major: major, Minor: minor, Patch: patch, InstanceID: instance, ExecutionID: execution,
	})
}

// storeHistory appends (step 7). It reads no event: a damaged history must still
// take the event that ends it.
func (r *turnResult) storeHistory(ctx context.Context, t *tx) error {
	return t.appendEvents(ctx, opAckOrchestration, r.instance, r.execution, r.history)
}

// storeStatus ends the execution, or sets it running again (step 8). Every end has a
// time, continuing as new included, so that pruning by time finds it (pitfall P29).
func (r *turnResult) storeStatus(ctx context.Context, t *tx) error {
	status := r.metadata.Status
	if status == nil {
		return nil
	}
	var completedAt *int64
	if status.Terminal() {
		completedAt = &t.now
	}
	return t.SetExecutionStatus(ctx, sqlitedb.SetExecutionStatusParams{
		Status: string(*status), Output: r.metadata.Output, CompletedAt: completedAt,
		InstanceID: r.instance, ExecutionID: r.execution,
	})
}

// storeWork queues activities, then cancels: one that was scheduled and cancelled
// in the same turn must end up absent (steps 12 and 13).
func (r *turnResult) storeWork(ctx context.Context, t *tx) error {
	for _, w := range r.work {
		w.Now = t.now
		if err := t.EnqueueWork(ctx, w); err != nil {
			return err
		}
	}
	t.activities += len(r.work)
	if r.cancelled == "" {
		return nil
	}
	return t.CancelWork(ctx, r.cancelled)
}

// storeMessages sends what the turn has to say (step 14) and refreshes each inbox it
// goes to, once. The instance's own is refreshed when the turn ends.
func (r *turnResult) storeMessages(ctx context.Context, t *tx) error {
	var others []string
	for _, m := range r.messages {
		if err := t.send(ctx, m, 0); err != nil {
			return err
		}
		if m.instance != r.instance && !slices.Contains(others, m.instance) {
			others = append(others, m.instance)
		}
	}
	for _, other := range others {
		if err := t.refresh(ctx, other); err != nil {
			return err
		}
	}
	return nil
}
