package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opAckOrchestration labels the acknowledgement's errors.
const opAckOrchestration = "ack_orchestration_item"

// AckOrchestrationItem implements [provider.Provider]. All of the turn's effects become durable together, or none
// does.
//
// Arguments are checked and encoded before the transaction begins, because all calls share the connection that
// writes.
//
// Errors, the first that applies: [provider.ErrInvalidLockToken], [provider.ErrLockExpired],
// [provider.ErrInvalidArgument], [provider.ErrDuplicateEvent]. After the last two the
// lock is still held.
func (s *Store) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	return s.write(ctx, opAckOrchestration, ackTurn(params))
}

// ackTurn prepares the acknowledgement.
func ackTurn(params provider.AckOrchestrationParams) func(context.Context, *tx) error {
	result, err := newTurnResult(params)
	if err == nil {
		return result.store
	}
	return func(ctx context.Context, t *tx) error {
		_, lost := t.liveLock(ctx, opAckOrchestration, params.LockToken)
		return cmp.Or(lost, err)
	}
}

// turnResult is what a turn changes, and where.
type turnResult struct {
	*columns.TurnResult

	instance string
	// cancelled is the JSON list that CancelWork takes, "" for none.
	cancelled string
	// kept is what was known of the instance, nil if nothing was.
	kept *kept
	// first says that the turn has created the instance.
	first bool
	// own are the messages that the turn has for its own instance.
	own []keptMessage
	// hasDelta says that the instance had values to be merged before the turn, as far as
	// storeStatus has asked.
	hasDelta bool
}

// newTurnResult checks and encodes what a turn hands in. Error:
// [provider.ErrInvalidArgument].
func newTurnResult(params provider.AckOrchestrationParams) (*turnResult, error) {
	checked, err := columns.NewTurnResult(opAckOrchestration, params, longText)
	if err != nil {
		return nil, err
	}
	list, err := activityList(checked.Cancelled)
	return &turnResult{TurnResult: checked, cancelled: list}, err
}

// activityList encodes activities for CancelWork, as [instance, execution, activity].
func activityList(activities []provider.ActivityRef) (string, error) {
	if len(activities) == 0 {
		return "", nil
	}
	list := make([][3]any, 0, len(activities))
	for _, a := range activities {
		list = append(list, [3]any{a.Instance, a.ExecutionID, a.ActivityID})
	}
	return jsonList(opAckOrchestration, list)
}

// jsonList encodes a list for a query that takes it apart with json_each.
func jsonList[T any](operation string, list []T) (string, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return "", columns.Invalid(operation, "%v", err)
	}
	return string(text), nil
}

// store carries the turn out. The instance is the one the token locks, not one that
// the caller names (step 1). The order is that of contract §5.2 except that what touches the
// same row is done at once, and messages are deleted later.
func (r *turnResult) store(ctx context.Context, t *tx) error {
	held, ended, err := r.endLock(ctx, t)
	if err != nil {
		return err
	}
	if err := columns.CheckExecution(opAckOrchestration, uint64(r.Execution)); err != nil {
		return err
	}
	r.instance, r.first, r.own = held.instance, false, nil
	deleteMessages := func(ctx context.Context, t *tx) error {
		if err := r.deleteBatch(ctx, t, held); err != nil || !r.DropTimers || ended {
			return err
		}
		return t.DeleteTimers(ctx, held.instance, t.now)
	}
	for _, step := range []func(context.Context, *tx) error{
		// A payload that the history takes over from a message must not be deleted in between.
		r.storeInstance, r.storeHistory, r.storeStatus, deleteMessages, r.storeValues, r.storeWork, r.storeMessages,
	} {
		if err := step(ctx, t); err != nil {
			return err
		}
	}
	t.changed = append(t.changed, held.instance)
	if status := r.Metadata.Status; status != nil && status.Ended() {
		t.ended = append(t.ended, held.instance)
	}
	if !ended {
		if err := r.awaitQueues(ctx, t); err != nil {
			return err
		}
		return r.unlock(ctx, t, held)
	}
	return r.rest(ctx, t)
}

// endLock is that of the transaction. The lease of a turn that leaves messages ends last.
func (r *turnResult) endLock(ctx context.Context, t *tx) (held lock, ended bool, err error) {
	secret, instance := cutTurnToken(r.Token)
	if r.kept = t.kept(instance); !r.kept.lockedBy(secret) {
		r.kept = nil
	}
	if r.readsAll() {
		return t.endLock(ctx, opAckOrchestration, r.Token)
	}
	held, err = t.liveLock(ctx, opAckOrchestration, r.Token)
	return held, false, err
}

// rest brings the inbox up to date after a lease that has ended with all messages that there were.
func (r *turnResult) rest(ctx context.Context, t *tx) error {
	switch {
	case r.goesOn() && len(r.own) == 0:
		r.kept.unlock()
		r.kept.follow(r.History, r.first)
		return nil
	case r.goesOn() && len(r.own) == 1 && r.own[0].visibleAt > t.now:
		if slept, err := t.sleep(ctx, r.instance, r.kept, r.own[0]); slept || err != nil {
			r.kept.follow(r.History, r.first)
			return err
		}
	}
	t.drop(r.instance)
	if len(r.own) > 0 {
		return t.refresh(ctx, r.instance)
	}
	return nil
}

// goesOn reports whether the instance is known and runs on.
func (r *turnResult) goesOn() bool { return r.kept != nil && !r.kept.fresh && r.Metadata.Status == nil }

// deleteBatch ends the messages that the turn has.
func (r *turnResult) deleteBatch(ctx context.Context, t *tx, held lock) error {
	if !r.readsAll() {
		r.kept = nil
		if err := r.deleteRead(ctx, t, held); err != nil {
			return err
		}
	}
	if r.kept != nil && len(r.kept.taken) == 1 {
		return t.DeleteMessage(ctx, r.kept.taken[0])
	}
	return t.DeleteBatch(ctx, held.instance, held.since, &held.secret)
}

// unlock ends the lease of an instance that has messages which the turn has not.
func (r *turnResult) unlock(ctx context.Context, t *tx, held lock) error {
	k := r.kept
	if !r.goesOn() || len(r.own) > 0 || !k.complete || len(k.waiting) == 0 {
		return t.unlock(ctx, held.instance)
	}
	passed, err := t.PassLock(ctx, sqlitedb.PassLockParams{
		HeadID: &k.waiting[0].id, InstanceID: held.instance, LockToken: &held.secret, Now: &t.now,
	})
	if err != nil {
		return err
	}
	if passed == 0 {
		return t.unlock(ctx, held.instance)
	}
	k.secret, k.taken, k.queued = "", nil, nil
	k.follow(r.History, r.first)
	t.fetchable(held.instance, k.versionID, k.codeID, &k.waiting[0].id)
	return nil
}

// storeInstance brings the instance and execution rows up to date (steps 3 to 6,
// 9 and 16). Without a name and version it creates no instance; an execution, always.
func (r *turnResult) storeInstance(ctx context.Context, t *tx) error {
	pinned := r.Metadata.PinnedDuroxideVersion
	k := r.kept
	same := k != nil && !k.fresh && r.Code == nil && pinned == nil && r.Metadata.OrchestrationName == nil && r.Execution == k.execution
	if same && r.CustomStatus == nil && len(r.History) > 0 {
		return nil // the events say when the instance was changed
	}
	if !same {
		r.kept = nil
	}
	exists, err := r.touch(ctx, t)
	if err != nil || (exists && r.Code == nil && pinned == nil) {
		return err
	}
	start := sqlitedb.StartExecutionParams{InstanceID: r.instance, ExecutionID: r.Execution, Now: t.now}
	if start.CodeID, err = t.codeID(ctx, r.Code); err != nil {
		return err
	}
	if pinned != nil {
		if start.VersionID, err = t.versionID(ctx, *pinned); err != nil {
			return err
		}
	}
	if k != nil && k.fresh && !exists && r.Code != nil {
		r.kept, r.first = k, true
		k.fresh, k.name, k.version = false, *r.Metadata.OrchestrationName, r.Metadata.OrchestrationVersion
		k.execution, k.versionID, k.codeID, k.noDelta = r.Execution, start.VersionID, start.CodeID, true
	}
	return t.StartExecution(ctx, start)
}

// touch changes what every turn changes, if there is an instance or the turn creates it, and
// returns whether the execution exists.
func (r *turnResult) touch(ctx context.Context, t *tx) (executionExists bool, err error) {
	m := r.Metadata
	var setStatus int64
	var customStatus *string
	if r.CustomStatus != nil {
		setStatus, customStatus = 1, r.CustomStatus.Status
	}
	if m.OrchestrationName != nil && m.OrchestrationVersion != nil {
		return t.PutInstance(ctx, sqlitedb.PutInstanceParams{
			InstanceID:           r.instance,
			OrchestrationName:    *m.OrchestrationName,
			OrchestrationVersion: m.OrchestrationVersion,
			ExecutionID:          r.Execution,
			CustomStatus:         customStatus,
			SetStatus:            setStatus,
			ParentInstanceID:     m.ParentInstanceID,
			Now:                  t.now,
		})
	}
	executionExists, err = t.TouchInstance(ctx, sqlitedb.TouchInstanceParams{
		ExecutionID: r.Execution, SetStatus: setStatus, CustomStatus: customStatus, Now: t.now, InstanceID: r.instance,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return executionExists, err
}

// storeHistory appends (step 7). It reads no event: a damaged history must still
// take the event that ends it.
func (r *turnResult) storeHistory(ctx context.Context, t *tx) error {
	return t.appendEvents(ctx, opAckOrchestration, r.instance, r.Execution, r.History)
}

// storeStatus ends the execution, or sets it running again (step 8). Every end has a
// time, continuing as new included, so that pruning by time finds it.
func (r *turnResult) storeStatus(ctx context.Context, t *tx) error {
	status := r.Metadata.Status
	if status == nil {
		return nil
	}
	var completedAt *int64
	if status.Terminal() {
		completedAt = &t.now
	}
	output, payload, err := t.longOutput(ctx, r.Metadata.Output)
	if err != nil {
		return err
	}
	end := sqlitedb.EndExecutionParams{
		Status: string(*status), Output: output, PayloadID: payload, CompletedAt: completedAt,
		InstanceID: r.instance, ExecutionID: r.Execution,
	}
	if r.hasDelta = false; r.kept != nil && r.kept.noDelta {
		return t.EndExecution(ctx, end)
	}
	r.hasDelta, err = t.SetExecutionStatus(ctx, sqlitedb.SetExecutionStatusParams(end))
	return err
}

// storeWork queues activities, then cancels: one that was scheduled and cancelled
// in the same turn must end up absent (steps 12 and 13).
func (r *turnResult) storeWork(ctx context.Context, t *tx) error {
	// What may be cancelled by the same turn is not handed out.
	if err := t.queue(ctx, r.Work, r.cancelled == ""); err != nil || r.cancelled == "" {
		return err
	}
	return t.CancelWork(ctx, r.cancelled)
}

// storeMessages sends what the turn has to say (step 14) and refreshes each inbox it
// goes to, once. The instance's own is refreshed when the turn ends.
func (r *turnResult) storeMessages(ctx context.Context, t *tx) error {
	// The inboxes that got one message, by the message, and those that got more.
	first := map[string]func() error{}
	var others []string
	id, err := t.send(ctx, r.Messages, 0)
	if err != nil {
		return err
	}
	for i, m := range r.Messages {
		id := id + int64(i)
		switch _, again := first[m.Instance]; {
		case m.Instance == r.instance:
			r.own = append(r.own, keptMessage{id, max(m.NotBefore, t.now), m.Kind, m.Queue, m.Body, m.Apart != nil})
		case again:
			first[m.Instance] = func() error { return t.refresh(ctx, m.Instance) }
		default:
			first[m.Instance] = func() error { return t.receive(ctx, []columns.Message{m}, id, 0) }
			others = append(others, m.Instance)
		}
	}
	for _, other := range others {
		if err := first[other](); err != nil {
			return err
		}
	}
	return nil
}
