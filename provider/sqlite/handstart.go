package sqlite

import (
	"context"
	"slices"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// handStartOn makes a start that is about to be sent the turn of a Take that waits for one, if
// nothing that is ready comes first, and nothing is stored of the instance. Then both are added
// locked: they are neither entered into the index of what is ready nor read again.
func (t *tx) handStartOn(ctx context.Context, start columns.Message, code int64) (handed bool, err error) {
	if t.parking == nil {
		return false, nil
	}
	i := slices.IndexFunc(t.parking.jobs, func(j *job) bool {
		return j.waits.wouldTakeStart(t, code) && j.state.CompareAndSwap(queued, running)
	})
	if i < 0 {
		return false, nil
	}
	j := t.parking.jobs[i]
	j.tx = &tx{Queries: t.Queries, now: t.now, known: t.known, ready: t.ready, rows: t.rows}
	found, err := j.tx.addTurn(ctx, j.waits.turn, start, code)
	if found == nil && err == nil {
		j.state.Store(queued)
		j.tellUnserved()
		return false, nil
	}
	j.waits.foundTurn = found
	t.parking.served = append(t.parking.served, j)
	return true, err
}

// wouldTakeStart reports whether the Take takes the turn of a start, and nothing that is ready
// already.
func (k *taking) wouldTakeStart(t *tx, code int64) bool {
	if k.turn == nil || len(k.work) > 0 || k.turn.unknownFor > 0 || !t.useBounds() ||
		!t.ready.instances.read || t.ready.nextInstance.past(t.now) {
		return false
	}
	known, seen := t.seen(k.turn.codeSelection)
	return seen && known.admits(code) && !k.turn.mayFind(t)
}

// addTurn adds an instance's first message, and locks the instance; nil if anything is stored
// of it.
func (t *tx) addTurn(ctx context.Context, f *turnFetch, start columns.Message, code int64) (*turn, error) {
	found := newTurn(newSecret(), start.Instance, f)
	until := t.now + f.lockFor
	added, err := t.AddLockedStartInbox(ctx, sqlitedb.AddLockedStartInboxParams{
		InstanceID: start.Instance, CodeID: code, LockToken: found.secret, LockedUntil: until, Now: t.now,
	})
	if added == 0 || err != nil {
		return nil, err
	}
	id, err := t.sendTo(ctx, []columns.Message{start}, 0, found)
	if err != nil {
		return nil, err
	}
	item, err := provider.DecodeWorkItemApart([]byte(start.Body), start.Apart)
	if err != nil {
		return nil, err
	}
	found.taken = []int64{id}
	found.AttemptCount = 1
	found.Item.ExecutionID, found.Item.Version, found.Item.Messages = 1, provider.UnknownVersion, []provider.WorkItem{item}
	columns.NameFromStart(&found.Item)
	k := &kept{fresh: true}
	k.lock(found.secret, t.now, found.taken, nil)
	t.keep(start.Instance, k)
	t.wakeInstance(until)
	return found, nil
}
