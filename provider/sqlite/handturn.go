package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// A call that ends activities and takes a turn usually takes the one that their completions
// make ready. Then it locks the instance first and adds the completions as the turn's: they are
// neither entered into the index of what is ready nor read again.

// deliver delivers completions, those of an instance together. One instance may be handed on as
// the turn that the call takes.
func (k *taking) deliver(ctx context.Context, t *tx, completions []columns.Message) error {
	for len(completions) > 0 {
		var these, others []columns.Message
		for _, m := range completions {
			if m.Instance == completions[0].Instance {
				these = append(these, m)
			} else {
				others = append(others, m)
			}
		}
		handed, err := k.handTurnOn(ctx, t, these)
		if err != nil {
			return err
		}
		if !handed {
			first, err := t.send(ctx, these, 0)
			if err != nil {
				return err
			}
			if err := t.receive(ctx, these, first, 0); err != nil {
				return err
			}
		}
		completions = others
	}
	return nil
}

// handTurnOn makes completions that are about to be added to an instance the turn that the call
// takes, if nothing that is ready comes first, and nothing of the instance waits or is locked.
//
// If others of the group end activities, the turn has to have theirs as well. And when the group
// is done again with savepoints, the taking has one of its own. In both cases it takes what is
// stored.
func (k *taking) handTurnOn(ctx context.Context, t *tx, completions []columns.Message) (handed bool, err error) {
	f := k.turn
	if f == nil || k.foundTurn != nil || !t.handsTurnOn || !t.useBounds() ||
		!t.ready.instances.read || t.ready.nextInstance.past(t.now) || f.mayFind(t) {
		return false, nil
	}
	k.handing = true
	found, err := t.lockReceiver(ctx, f, completions)
	if err != nil {
		return false, err
	}
	k.handing, k.foundTurn = false, found
	return found != nil, nil
}

// endsActivities counts the calls of a group that end activities.
func endsActivities(group []*job) (n int) {
	for _, j := range group {
		if j.operation == opAckWork {
			n++
		}
	}
	return n
}

// lockReceiver locks an instance and adds messages to it that are the locked turn's; nil if the
// instance cannot be locked in this way, or the fetch does not take it.
func (t *tx) lockReceiver(ctx context.Context, f *turnFetch, messages []columns.Message) (*turn, error) {
	found := newTurn(newSecret(), messages[0].Instance, f)
	k, err := t.lockIdle(ctx, f, messages[0].Instance, found.secret)
	if k == nil || err != nil {
		return nil, err
	}
	first, err := t.sendTo(ctx, messages, 0, found)
	if err != nil {
		return nil, err
	}
	k.lock(found.secret, t.now, nil, nil)
	for i := range messages {
		k.taken = append(k.taken, first+int64(i))
	}
	found.AttemptCount = 1
	for _, m := range messages {
		item, err := provider.DecodeWorkItemApart([]byte(m.Body), m.Apart)
		if err != nil {
			return nil, err
		}
		found.Item.Messages = append(found.Item.Messages, item)
	}
	t.wakeInstance(t.now + f.lockFor)
	return found, t.loadKept(ctx, found, k)
}

// lockIdle locks a running instance that has no messages, so no inbox either, and returns what
// is known of it; nil if it is not such a one, or the fetch does not take it.
func (t *tx) lockIdle(ctx context.Context, f *turnFetch, instance, secret string) (*kept, error) {
	until := t.now + f.lockFor
	if k := t.kept(instance); k.idle() {
		if len(k.waiting) > 0 {
			return nil, nil
		}
		if fits, err := t.fits(ctx, f, k.versionID, k.codeID); !fits || err != nil {
			return nil, err
		}
		inbox, err := t.addInbox(ctx, sqlitedb.AddInboxParams{
			InstanceID: instance, VersionID: k.versionID, CodeID: k.codeID, LockToken: &secret, LockedUntil: &until, LockedAt: &t.now, WakeAt: &until,
		})
		if err != nil || inbox != 0 {
			return k, err
		}
	}
	t.drop(instance)
	row, err := t.LockReceiver(ctx, sqlitedb.LockReceiverParams{
		LockToken: secret, LockedUntil: until, Now: t.now, InstanceID: instance,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if fits, err := t.fits(ctx, f, row.VersionID, row.CodeID); !fits || err != nil {
		if err == nil {
			_, err = t.DeleteEmptyInbox(ctx, instance)
		}
		return nil, err
	}
	k := &kept{
		name: row.OrchestrationName, version: row.OrchestrationVersion, execution: row.CurrentExecutionID,
		versionID: row.VersionID, codeID: row.CodeID, values: row.Exists, complete: true,
	}
	t.keep(instance, k)
	return k, nil
}

// fits reports whether a fetch takes instances of a version and code.
func (t *tx) fits(ctx context.Context, f *turnFetch, version, code int64) (bool, error) {
	known, seen := t.seen(f.codeSelection)
	if !seen {
		return false, nil
	}
	return t.takes(ctx, f, known, version, code)
}

// takes is fits for a fetch whose set of code is known.
func (t *tx) takes(ctx context.Context, f *turnFetch, known seenSet, version, code int64) (bool, error) {
	if !known.admits(code) || version == 0 {
		return known.admits(code), nil
	}
	if _, read := t.ready.versions[version]; !read {
		if err := t.readVersions(ctx); err != nil {
			return false, err
		}
	}
	return f.versions.Contains(t.ready.versions[version]), nil
}
