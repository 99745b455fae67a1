package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opTake labels errors of the taking that are neither fetch's.
const opTake = "take"

// Claim implements [provider.Store], as one transaction. One that finds nothing and may wait returns nothing as soon as
// there is a notice as of [Store.WorkReady]: the caller looks again.
func (s *Store) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	taking, err := s.newTaking(params)
	if err != nil || taking.nothing() {
		return provider.Claimed{}, err
	}
	j := &job{operation: opTake, run: func(ctx context.Context, t *tx) error {
		for _, step := range taking.steps() {
			if err := step(ctx, t); err != nil {
				return err
			}
		}
		return nil
	}}
	if params.Wait > 0 {
		return s.waitToTake(ctx, j, taking, params.Wait)
	}
	return s.takeWith(ctx, j, taking)
}

// AckTurnAndClaim implements [provider.Store], as one transaction.
func (s *Store) AckTurnAndClaim(
	ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams,
) (provider.Claimed, error) {
	taking, err := s.newTaking(params)
	if err != nil {
		return provider.Claimed{}, err
	}
	return s.takeWith(ctx, &job{operation: opAckOrchestration, run: ackTurn(ack), then: taking.steps()}, taking)
}

// AckWorkAndClaim implements [provider.Store], as one transaction. After an error of the database no activity was
// ended.
func (s *Store) AckWorkAndClaim(
	ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams,
) ([]error, provider.Claimed, error) {
	taking, err := s.newTaking(params)
	if err != nil {
		return nil, provider.Claimed{}, err
	}
	var outcomes []error // not to be read when the call was left
	taken, err := s.takeWith(ctx, &job{operation: opAckWork, then: taking.steps(), run: func(ctx context.Context, t *tx) error {
		outcomes = make([]error, len(acks))
		var completions []columns.Message
		for i, a := range acks {
			end, err := newWorkEnd(a.LockToken, a.Completion)
			if err == nil {
				err = end.store(ctx, t)
			}
			if err != nil && !errors.Is(err, provider.ErrLockLost) && !errors.Is(err, provider.ErrInvalidArgument) {
				return err
			}
			if outcomes[i] = err; err == nil && a.Completion != nil {
				completions = append(completions, end.message)
			}
		}
		return t.deliverEach(ctx, completions)
	}}, taking)
	if err != nil {
		return nil, provider.Claimed{}, err
	}
	return outcomes, taken, nil
}

// WorkReady implements [provider.Store]. It checks for writes of other processes every [Options].PollInterval.
func (s *Store) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	turns, stopTurns := s.instances.Subscribe()
	activities, stopActivities := s.activities.Subscribe()
	return turns, activities, sync.OnceFunc(func() {
		stopTurns()
		stopActivities()
	})
}

// taking is what a combined call takes: what it looks for, checked, and what it has
// found. The latter is not to be read when the call was left: it may still be under way.
type taking struct {
	store *Store
	turn  *turnFetch
	work  []workTaking

	foundTurn *turn
	foundWork []provider.ClaimedWork
	// served are the entries for which the turn itself has queued something.
	served map[int]bool
}

// workTaking is one entry of the parameters.
type workTaking struct {
	workFetch
	place int
}

// newTaking checks the parameters. Error: [provider.ErrInvalidArgument].
func (s *Store) newTaking(params provider.ClaimParams) (*taking, error) {
	k := &taking{store: s}
	if params.Turn != nil {
		var err error
		if k.turn, err = newTurnFetch(*params.Turn); err != nil {
			return nil, err
		}
	}
	for i, entry := range params.Work {
		f, err := newWorkFetch(entry)
		if err != nil {
			return nil, err
		}
		if !f.nothing() {
			k.work = append(k.work, workTaking{f, i})
		}
	}
	return k, nil
}

func (k *taking) nothing() bool { return k.turn == nil && len(k.work) == 0 }

// steps are what there is to do in the transaction, one for each lock. Errors are those of
// the fetches.
func (k *taking) steps() []func(context.Context, *tx) error {
	var steps []func(context.Context, *tx) error
	if k.turn != nil {
		steps = append(steps, func(ctx context.Context, t *tx) error {
			return classify(opFetchOrchestration, k.takeTurn(ctx, t))
		})
	}
	for i := range k.work {
		steps = append(steps, func(ctx context.Context, t *tx) error {
			return classify(opFetchWork, k.takeWork(ctx, t, i))
		})
	}
	return steps
}

// takeTurn locks a turn, and notes when the next may become ready by itself.
func (k *taking) takeTurn(ctx context.Context, t *tx) error {
	found, err := t.dueOrNextTurn(ctx, k.store.log, *k.turn)
	if err != nil {
		return err
	}
	wakeAt, err := t.nextInstanceWake(ctx)
	if err != nil {
		return err
	}
	t.wakeInstance(wakeAt)
	k.foundTurn = found
	return nil
}

// takeWork locks an activity for entry i. The last notes when the next may become ready
// by itself.
func (k *taking) takeWork(ctx context.Context, t *tx, i int) error {
	entry := k.work[i]
	var found *provider.FetchedWorkItem
	if !k.served[entry.place] {
		var err error
		if found, err = t.dueOrNextWork(ctx, k.store.log, entry.workFetch); err != nil {
			return err
		}
	}
	if i == len(k.work)-1 {
		sessions := slices.ContainsFunc(k.work, func(w workTaking) bool { return w.sessions })
		wakeAt, err := t.nextActivityWake(ctx, sessions)
		if err != nil {
			return err
		}
		t.activityWake = earlier(t.activityWake, wakeAt)
	}
	if found != nil {
		k.foundWork = append(k.foundWork, provider.ClaimedWork{FetchedWorkItem: found, For: entry.place})
	}
	return nil
}

// handedWork is an activity that is queued locked, for an entry.
type handedWork struct {
	place  int
	secret string
	until  int64
	item   provider.WorkItem
}

// handOn makes an activity that is about to be queued a locked one, for the first entry that
// it fits; nil if there is none. That spares the row its way through the index of ready ones.
// What is older comes first, and left are those before it in the same call: then the activity
// has to be queued like any other.
func (k *taking) handOn(t *tx, work columns.Work, row *sqlitedb.EnqueueWorkParams, left []sqlitedb.EnqueueWorkParams) (*handedWork, error) {
	if row.SessionID != nil || !t.useBounds() || !t.ready.activities.read || t.ready.nextActivity.past(t.now) {
		return nil, nil
	}
	i := slices.IndexFunc(k.work, func(e workTaking) bool { return !k.served[e.place] && e.wouldTakeNext(t, row, left) })
	if i < 0 {
		return nil, nil
	}
	item, err := provider.DecodeWorkItemApart([]byte(work.Body), work.Apart)
	if err != nil {
		return nil, err
	}
	h := &handedWork{place: k.work[i].place, secret: newSecret(), until: t.now + k.work[i].lockFor, item: item}
	row.Ready, row.LockToken, row.LockedUntil, row.AttemptCount, row.UnnamedCount = 0, &h.secret, &h.until, 1, k.work[i].unnamed()
	if k.served == nil {
		k.served = map[int]bool{}
	}
	k.served[h.place] = true
	return h, nil
}

// handedOn notes the id under which an activity was queued that handOn has locked.
func (k *taking) handedOn(t *tx, h *handedWork, id int64) {
	t.wakeActivity(h.until)
	k.foundWork = append(k.foundWork, provider.ClaimedWork{
		FetchedWorkItem: &provider.FetchedWorkItem{Item: h.item, LockToken: workToken(h.secret, id), AttemptCount: 1}, For: h.place,
	})
}

// wouldTakeNext reports whether the entry takes the activity, and nothing that is ready
// already or left over.
func (e workTaking) wouldTakeNext(t *tx, row *sqlitedb.EnqueueWorkParams, left []sqlitedb.EnqueueWorkParams) bool {
	known, seen := t.seen(e.codeSelection)
	if !seen || e.unknownFor > 0 || !e.admits(known, newWorkKey(row.Tag, false), row.CodeID) {
		return false
	}
	for _, older := range left {
		if e.admits(known, newWorkKey(older.Tag, older.SessionID != nil), older.CodeID) {
			return false
		}
	}
	return !e.findsAny(t, known)
}

// admits reports whether the fetch takes activities of a key and code.
func (f *workFetch) admits(known seenSet, key workKey, code int64) bool {
	return (f.sessions || !key.inSession) && f.tags.Matches(key.tagOf()) && known.admits(code)
}

// findsAny reports whether there may be something ready that the fetch takes.
func (f *workFetch) findsAny(t *tx, known seenSet) bool {
	for key, bounds := range t.ready.activities.bounds {
		for code := range bounds {
			if f.admits(known, key, code) {
				return true
			}
		}
	}
	return false
}

// giveBack puts what was taken back, with the attempt. What somebody has cancelled or
// deleted meanwhile keeps nothing else from it.
func (k *taking) giveBack(ctx context.Context, t *tx) error {
	if k.foundTurn != nil {
		err := t.abandonTurn(ctx, opFetchOrchestration, provider.AbandonParams{LockToken: k.foundTurn.LockToken, IgnoreAttempt: true}, 0)
		if err != nil && !errors.Is(err, provider.ErrLockLost) {
			return err
		}
	}
	for _, work := range k.foundWork {
		err := t.abandonWork(ctx, opFetchWork, work.LockToken, 0, true)
		if err != nil && !errors.Is(err, provider.ErrLockLost) {
			return err
		}
	}
	return nil
}

// takeWith runs the job and returns what was taken by it.
func (s *Store) takeWith(ctx context.Context, j *job, k *taking) (provider.Claimed, error) {
	if err := s.enter(j.operation); err != nil {
		return provider.Claimed{}, err
	}
	defer s.leave()
	run := j.run
	j.run = func(ctx context.Context, t *tx) error {
		k.foundTurn, k.foundWork, k.served = nil, nil, nil // of an earlier try
		t.taking = k
		return run(ctx, t)
	}
	j.undo = k.giveBack
	if err := s.writer.do(ctx, j); err != nil {
		return provider.Claimed{}, err
	}
	taken := provider.Claimed{Work: k.foundWork, Err: j.thenErr}
	if k.foundTurn != nil {
		taken.Turn = k.foundTurn.decoded()
	}
	return taken, nil
}
