package mssql

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
)

// opTake labels errors of the taking that are neither fetch's.
const opTake = "take"

// Claim implements [provider.Store]: one remote call, whatever it takes. If its answer is lost, the store gives the
// locks back as [Store.FetchOrchestrationItem] does.
func (s *Store) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	k, err := newTaking(params)
	if err != nil || k.nothing() {
		return provider.Claimed{}, err
	}
	return s.claimNow(ctx, opTake, k)
}

// claimNow claims what there is. It looks again if it found a turn whose messages nobody can read.
func (s *Store) claimNow(ctx context.Context, operation string, k taking) (provider.Claimed, error) {
	for {
		again := false
		taken, err := s.takeWith(ctx, operation, k, func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) (mssqldb.TakeResult, error) {
			rows, err := q.Take(ctx, s.takeParams(k, token))
			if err == nil {
				err = inVain(rows)
			}
			again = rows.Item != nil
			return rows, err
		})
		switch {
		case err != nil:
			return provider.Claimed{}, err
		case taken.Turn != nil || len(taken.Work) > 0:
			return taken, nil
		case taken.Err != nil || !again:
			return taken, taken.Err
		}
	}
}

// AckTurnAndClaim implements [provider.Store], as one remote call. It does not wait for locks of other writers. If it
// misses work because of that, [Store.WorkReady] reports the work later.
func (s *Store) AckTurnAndClaim(
	ctx context.Context, params provider.AckOrchestrationParams, take provider.ClaimParams,
) (provider.Claimed, error) {
	k, err := newTaking(take)
	if err != nil {
		return provider.Claimed{}, err
	}
	ack, err := newTurnAck(params)
	if err != nil {
		return provider.Claimed{}, err
	}
	var turn mssqldb.AckOrchestrationItemTurnRow
	taken, err := s.takeWith(ctx, opAckOrchestration, k, func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) (mssqldb.TakeResult, error) {
		ack.TakeParams = s.takeParams(k, token)
		r, err := q.AckOrchestrationItem(ctx, ack.AckOrchestrationItemParams)
		turn = r.Turn
		return r.TakeResult, err
	})
	if err != nil {
		return provider.Claimed{}, ack.explained(err)
	}
	s.published(ack.AckOrchestrationItemParams, turn, taken)
	return taken, nil
}

// AckWorkAndClaim implements [provider.Store], as one remote call in which each activity has a transaction of its own.
// Like [Store.AckTurnAndClaim] it does not wait for locks of other writers to take work. If one of several
// acknowledgements would wait long for a lock, or meets a deadlock, its outcome is a retryable error; repeat it with
// [Store.AckWorkItem].
func (s *Store) AckWorkAndClaim(
	ctx context.Context, acks []provider.WorkAck, take provider.ClaimParams,
) ([]error, provider.Claimed, error) {
	k, err := newTaking(take)
	if err != nil {
		return nil, provider.Claimed{}, err
	}
	outcomes := make([]error, len(acks))
	var list []mssqldb.CompletionListV1Row
	for i, a := range acks {
		var ack mssqldb.CompletionListV1Row
		if ack, outcomes[i] = newWorkAck(a.LockToken, a.Completion); outcomes[i] == nil {
			ack.Position = int32(i)
			list = append(list, ack)
		}
	}
	var refused []mssqldb.AckWorkItemRefusedRow
	taken, err := s.takeWith(ctx, opAckWork, k, func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) (mssqldb.TakeResult, error) {
		r, err := q.AckWorkItem(ctx, mssqldb.AckWorkItemParams{Acks: list, TakeParams: s.takeParams(k, token)})
		refused = r.Refused
		return r.TakeResult, err
	})
	if err != nil {
		return nil, provider.Claimed{}, err
	}
	for _, row := range refused {
		outcomes[row.Position] = s.told(opAckWork, refusal(row))
	}
	ready := map[string]bool{}
	for _, row := range list {
		if row.InstanceID != nil && outcomes[row.Position] == nil {
			ready[*row.InstanceID] = true
		}
	}
	if taken.Turn != nil {
		delete(ready, stored(taken.Turn.Item.Instance))
	}
	s.signalInstances(len(ready))
	return outcomes, taken, nil
}

// WorkReady implements [provider.Store]. It polls for work of other processes, see
// [Options].MinPollInterval.
func (s *Store) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	turns, stopTurns := s.instances.waiting.Subscribe()
	activities, stopActivities := s.activities.waiting.Subscribe()
	return turns, activities, sync.OnceFunc(func() {
		stopTurns()
		stopActivities()
	})
}

// taking is what a combined call takes, checked and encoded.
type taking struct {
	// turn is nil for none.
	turn *turnFetch
	work []workFetch
	// places are the entries of the parameters that work was made of.
	places []int
}

// newTaking leaves out what finds nothing. Error: [provider.ErrInvalidArgument].
func newTaking(params provider.ClaimParams) (k taking, err error) {
	if params.Turn != nil {
		f, possible, err := newTurnFetch(*params.Turn)
		if err != nil {
			return k, err
		}
		if possible {
			k.turn = &f
		}
	}
	for i, entry := range params.Work {
		f, err := newWorkFetch(entry)
		if err != nil {
			return k, err
		}
		if entry.Tags.Mode() != provider.TagNone || f.code.unknownMs > 0 {
			k.work, k.places = append(k.work, f), append(k.places, i)
		}
	}
	return k, nil
}

func (k taking) nothing() bool { return k.turn == nil && len(k.work) == 0 }

// mixed reports whether the activities are selected in several ways, so that some may have been claimed before the
// names of others were asked for.
func (k taking) mixed() bool {
	return slices.ContainsFunc(k.work, func(w workFetch) bool { return w.kind != k.work[0].kind })
}

// tokenAt is the lock token of the i-th activity of a call, which token belongs to. Tokens are
// random, so that no other call's are near.
func tokenAt(token mssqldriver.UniqueIdentifier, i int) mssqldriver.UniqueIdentifier {
	n := uint32(token[12])<<24 | uint32(token[13])<<16 | uint32(token[14])<<8 | uint32(token[15])
	n += uint32(i) + 1
	token[12], token[13], token[14], token[15] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return token
}

// takeParams are those of a call under the token. It looks from the marks, as fetches do.
func (s *Store) takeParams(k taking, token mssqldriver.UniqueIdentifier) mssqldb.TakeParams {
	p := mssqldb.TakeParams{Holder: &s.holder}
	if k.turn != nil {
		f := k.turn.claim
		f.LockToken = token
		f.FromHead, f.DueFrom = s.instances.marks.from(k.turn.code.fetches, time.Now())
		p.Turn = []mssqldb.TurnClaimV1Row{f}
	}
	// What the rows of a selection have in common.
	type common struct {
		kind                         string
		lockMs, sessionMs, unknownMs int64
	}
	selections := map[common]int32{}
	for i, w := range k.work {
		row := w.row
		same := common{w.kind, row.LockMs, row.SessionMs, row.UnknownMs}
		if _, known := selections[same]; !known {
			selections[same] = int32(len(selections))
		}
		row.Position, row.Selection, row.LockToken = int32(i), selections[same], tokenAt(token, i)
		row.FromID, row.DueFrom = s.activities.marks.from(w.kind, time.Now())
		p.Work = append(p.Work, row)
	}
	return p
}

// giveTakenBack returns a claimCall that puts back all that a call since began has locked whose answer nobody got,
// nil if it takes nothing.
func (s *Store) giveTakenBack(k taking, began time.Time) claimCall {
	if k.nothing() {
		return nil
	}
	return func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) error {
		var lost mssqldb.GiveBackParams
		leases := make([]int64, 0, len(k.work)+1)
		if k.turn != nil {
			lost.TurnToken = &token
			leases = append(leases, k.turn.claim.LockMs)
		}
		for i, w := range k.work {
			lost.WorkTokens = append(lost.WorkTokens, mssqldb.TokenListV1Row{Position: int32(i), LockToken: tokenAt(token, i)})
			leases = append(leases, w.row.LockMs)
		}
		lost.LeastMs, lost.MostMs = slices.Min(leases), slices.Max(leases)
		return s.giveBack(ctx, q, lost, began)
	}
}

// takeWith makes a combined call and opens what it has taken. Error: that of the
// acknowledgement, or of a call that takes nothing else.
func (s *Store) takeWith(
	ctx context.Context, operation string, k taking,
	call func(context.Context, *mssqldb.Queries, mssqldriver.UniqueIdentifier) (mssqldb.TakeResult, error),
) (provider.Claimed, error) {
	if err := s.enter(operation); err != nil {
		return provider.Claimed{}, err
	}
	defer s.leave()
	began := time.Now()
	var rows mssqldb.TakeResult
	var token mssqldriver.UniqueIdentifier
	err := s.lockUnder(ctx, operation, func(ctx context.Context, q *mssqldb.Queries, used mssqldriver.UniqueIdentifier) (err error) {
		token = used
		rows, err = call(ctx, q, used)
		return err
	}, s.giveTakenBack(k, began))
	if err != nil {
		return provider.Claimed{}, err
	}
	taken := s.opened(ctx, k, rows, token, began)
	if taken.Turn != nil || len(taken.Work) > 0 {
		s.poller.expect()
	}
	if taken.Err == nil && rows.FailureReturned {
		taken.Err = s.unlessTakenAgain(ctx, k, &taken, rows.Failure)
	}
	return taken, nil
}

// opened makes of what was locked what the runtime works on. What cannot be opened is given
// back, and the error is the result's.
func (s *Store) opened(
	ctx context.Context, k taking, rows mssqldb.TakeResult, token mssqldriver.UniqueIdentifier, began time.Time,
) (taken provider.Claimed) {
	s.tellDropped(ctx, rows.Dropped)
	var lost taking
	if rows.FailureReturned && rows.Failure.TurnFailed {
		// What was read of it may be a part.
		rows.Item = nil
		if !locksNothing(rows.Failure.ErrorNumber) {
			lost.turn = k.turn
		}
	}
	if rows.FailureReturned && rows.Failure.WorkFailed {
		rows.Work = nil
		if !locksNothing(rows.Failure.ErrorNumber) || k.mixed() {
			lost.work = k.work
		}
	}
	if giveBack := s.giveTakenBack(lost, began); giveBack != nil {
		//nolint:contextcheck // this context may be what ended the call
		s.unclaim(token, giveBack)
	}
	if rows.Item != nil {
		locked := &lockedTurn{token: token, TakeResult: rows}
		s.markTurn(*k.turn, locked)
		var err error
		if taken.Turn, err = s.openTurn(ctx, locked, k.turn.caller); err != nil && !errors.Is(err, provider.ErrLockLost) {
			//nolint:contextcheck // this context may be what ended the call
			s.giveTurnBack(locked.lease())
			taken.Turn, taken.Err = nil, err
		}
	}
	told := map[string]bool{}
	for _, row := range rows.Work {
		if kind := k.work[row.Position].kind; !told[kind] { // a call is one look, slow or not
			told[kind] = true
			s.activities.marks.found(kind, time.Now(), row.ID, row.DueUntil, row.LookedMs)
		}
		item, err := s.openWork(ctx, k.work[row.Position], tokenAt(token, int(row.Position)), row)
		switch {
		case err != nil:
			taken.Err = errors.Join(taken.Err, err)
		case item != nil:
			taken.Work = append(taken.Work, provider.ClaimedWork{FetchedWorkItem: item, For: k.places[row.Position]})
		}
	}
	return taken
}

// The numbers of the errors by which a fetch says that it has waited for a lock for long enough, and by which it asks
// for the names of its set.
const (
	errLockTimeout      = 1222
	errUnregisteredCode = 50014
)

// locksNothing reports whether a turn's fetch that failed with the error has locked nothing.
func locksNothing(number int32) bool {
	return number == errLockTimeout || number == errUnregisteredCode
}

// inVain is the error of a Claim that has taken nothing, so that the call is repeated as a fetch is. It is nil for what
// unlessTakenAgain answers, and for a call that has dropped messages, which are told of once.
func inVain(rows mssqldb.TakeResult) error {
	f := rows.Failure
	took := rows.Item != nil && !f.TurnFailed || len(rows.Work) > 0 && !f.WorkFailed
	if !rows.FailureReturned || took || locksNothing(f.ErrorNumber) || len(rows.Dropped) > 0 {
		return nil
	}
	return causeOf(f)
}

// causeOf is the error that a failure tells of.
func causeOf(f mssqldb.TakeFailureRow) mssqldriver.Error {
	return mssqldriver.Error{Number: f.ErrorNumber, Class: uint8(f.ErrorSeverity), Message: f.ErrorMessage}
}

// unlessTakenAgain returns why no more was taken, nil if that was because somebody holds it.
// A set of names that the database does not have is registered, and if nothing has been
// taken, it is tried once more.
func (s *Store) unlessTakenAgain(ctx context.Context, k taking, taken *provider.Claimed, failure mssqldb.TakeFailureRow) error {
	cause := causeOf(failure)
	if isLockTimeout(cause) {
		return nil
	}
	if failure.ErrorNumber != errUnregisteredCode {
		return s.told(opTake, cause)
	}
	if err := s.register(ctx, k); err != nil || taken.Turn != nil || len(taken.Work) > 0 {
		return err
	}
	again, err := s.takeWith(ctx, opTake, k, func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) (mssqldb.TakeResult, error) {
		return q.Take(ctx, s.takeParams(k, token))
	})
	*taken = again
	return errors.Join(err, again.Err)
}

// register makes the sets of names known that the parts ask for.
func (s *Store) register(ctx context.Context, k taking) error {
	sets := map[string]codeSelection{}
	if k.turn != nil {
		sets["turn"] = k.turn.code
	}
	for _, w := range k.work {
		sets[w.kind] = w.code
	}
	return s.call(ctx, opTake, repeatable, func(ctx context.Context, q *mssqldb.Queries) error {
		for _, code := range sets {
			if code.known == nil {
				continue
			}
			if err := code.register(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
}
