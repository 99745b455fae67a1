package sqlite

import (
	"context"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// A turn has to find out what its instance is, which messages it has and what its last event
// was, although the turn before, or the activity that woke it, has just written all that. So
// the writer keeps it in memory for the instances that run, and most statements of a turn that
// only ask are spared: what is left has to be written.
//
// What is kept is the whole truth or is not kept: whatever writes something else than the usual
// course of a running instance drops what is kept of it, and everything is dropped when another
// process has written and when a transaction or a call is taken back.

// What is kept is bounded: maxKept instances, each with mostKeptMessages that no turn has, and
// texts of up to longestKept bytes.
const (
	maxKept          = 1_000
	mostKeptMessages = 16
	longestKept      = 4_096
)

// kept is what the writer knows of an instance.
type kept struct {
	// fresh means that the instance has no row yet: its first turn is locked. Then the next
	// seven are not known.
	fresh bool
	name  string
	// version is nil for none.
	version *string
	// execution is the current one, which is running, pinned to version and code by their ids.
	execution, versionID, codeID int64
	// values says that there are values of earlier executions.
	values bool
	// noDelta says that the execution has neither set nor cleared a value.
	noDelta bool
	// last is the execution's last event; without id it is not known.
	last columns.Event

	// secret is that of the turn's lock, "" without one; since is when the lock began, and
	// taken are the messages that the turn has.
	secret string
	since  int64
	taken  []int64
	// queued counts the queue messages that the turn has, by queue.
	queued map[string]int
	// complete means that waiting are all other messages of the instance. They are visible, but for
	// the only message of an instance that is asleep: its inbox says when it will be.
	complete bool
	waiting  []keptMessage
	// inbox is the inboxes.id of an instance that is asleep, 0 for others.
	inbox int64
}

// keptMessage is a message that no turn has taken yet.
type keptMessage struct {
	id, visibleAt int64
	kind          int64
	queue         *string
	body          string
	// apart says that the body leaves out a text, which is not kept.
	apart bool
}

// kept returns what is known of an instance, nil for nothing.
func (t *tx) kept(instance string) *kept {
	// It may be changed in place, and has to be forgotten if the transaction is taken back.
	t.ready.used = true
	return t.ready.kept[instance]
}

// keep remembers an instance, in the place of any other if there are many.
func (t *tx) keep(instance string, k *kept) {
	r := t.ready
	r.used = true
	if r.kept == nil {
		r.kept = map[string]*kept{}
	}
	if len(r.kept) >= maxKept {
		for other := range r.kept {
			t.drop(other)
			break
		}
	}
	r.kept[instance] = k
}

// drop forgets an instance, of which something else is about to be written than kept follows.
func (t *tx) drop(instance string) {
	if k := t.ready.kept[instance]; k.asleep() {
		t.ready.nextInstance.lower(k.waiting[0].visibleAt) // it may have been listed as due
	}
	delete(t.ready.kept, instance)
}

// idle reports whether nobody has locked the instance, and all of its messages are known and visible.
func (k *kept) idle() bool {
	return k != nil && k.complete && !k.fresh && !k.asleep() && k.secret == ""
}

// asleep reports whether the instance's only message is hidden, and is its own.
func (k *kept) asleep() bool { return k != nil && k.inbox != 0 }

// lockedBy reports whether the secret is that of the turn's lock.
func (k *kept) lockedBy(secret string) bool { return k != nil && k.secret != "" && k.secret == secret }

// lock notes that a turn has been locked that has these messages.
func (k *kept) lock(secret string, since int64, taken []int64, queued map[string]int) {
	k.secret, k.since, k.taken, k.queued, k.waiting = secret, since, taken, queued, nil
}

// unlock notes the end of a turn after which no message is left.
func (k *kept) unlock() {
	k.secret, k.taken, k.queued, k.complete, k.waiting = "", nil, nil, true, nil
}

// follow notes what was appended to the history, which was empty if these are the first events.
func (k *kept) follow(events []columns.Event, first bool) {
	for i, e := range events {
		if (k.last.ID == 0 && (i > 0 || !first)) || e.ID <= k.last.ID {
			k.last = columns.Event{}
			return
		}
		k.last = columns.Event{ID: e.ID, Data: e.Data, Apart: e.Apart}
	}
	k.remember(k.last)
}

// remember notes the last event.
func (k *kept) remember(last columns.Event) {
	k.last = columns.Event{}
	if last.Apart == nil && len(last.Data) <= longestKept {
		k.last = last
	}
}

// keepMessages notes messages of an instance that runs, which are stored and visible, the first
// with an id and the others with the next. It reports whether its inbox is up to date with them;
// if not, nothing is kept of it any more.
func (t *tx) keepMessages(ctx context.Context, messages []columns.Message, first int64) (done bool, err error) {
	instance := messages[0].Instance
	k := t.kept(instance)
	if k == nil || !k.complete || k.fresh {
		return false, nil
	}
	if k.asleep() { // and has an inbox
		t.drop(instance)
		return false, nil
	}
	if k.secret == "" && len(k.waiting) == 0 {
		inbox, err := t.addInbox(ctx, sqlitedb.AddInboxParams{
			InstanceID: instance, VersionID: k.versionID, CodeID: k.codeID, HeadID: &first,
		})
		if err != nil || inbox == 0 {
			t.drop(instance)
			return false, err
		}
	}
	long := false
	for i, m := range messages {
		k.waiting = append(k.waiting, keptMessage{first + int64(i), max(m.NotBefore, t.now), m.Kind, m.Queue, m.Body, m.Apart != nil})
		long = long || m.Apart != nil || len(m.Body) > longestKept
	}
	if long || len(k.waiting) > mostKeptMessages {
		t.drop(instance) // the inbox is right all the same
	}
	if k.secret == "" {
		t.fetchable(instance, k.versionID, k.codeID, &k.waiting[0].id)
	}
	return true, nil
}

// sleep is unlock for an instance that has sent itself one message, which is hidden. It reports
// false if there is an inbox, or too much to keep.
func (t *tx) sleep(ctx context.Context, instance string, k *kept, timer keptMessage) (bool, error) {
	if timer.apart || len(timer.body) > longestKept {
		return false, nil
	}
	inbox, err := t.addInbox(ctx, sqlitedb.AddInboxParams{
		InstanceID: instance, VersionID: k.versionID, CodeID: k.codeID, WakeAt: &timer.visibleAt,
	})
	if err != nil || inbox == 0 {
		return false, err
	}
	t.wakeInstance(timer.visibleAt)
	k.unlock()
	k.inbox, k.waiting = inbox, []keptMessage{timer}
	return true, nil
}

// addInbox adds an inbox, and returns its id; 0 if the instance has one.
func (t *tx) addInbox(ctx context.Context, inbox sqlitedb.AddInboxParams) (int64, error) {
	result, err := t.AddInbox(ctx, inbox)
	if err != nil {
		return 0, err
	}
	if added, err := result.RowsAffected(); added == 0 {
		return 0, err
	}
	return result.LastInsertId()
}

// wake notes that an inbox was refreshed because its time has come. Of an instance that was not
// asleep nothing is kept any more.
func (t *tx) wake(instance string, head *int64) {
	k := t.kept(instance)
	if !k.asleep() || head == nil {
		t.drop(instance)
		return
	}
	k.inbox = 0
}

// lockMessages gives a turn the instance's visible messages. What is kept of the instance may
// spare the look for them.
func (t *tx) lockMessages(ctx context.Context, found *turn, k *kept) ([]sqlitedb.LockMessagesRow, error) {
	if k != nil && len(k.waiting) == 1 && k.waiting[0].visibleAt <= t.now {
		m := k.waiting[0]
		err := t.LockMessage(ctx, &found.secret, found.unnamed, m.id)
		return []sqlitedb.LockMessagesRow{{ID: m.id, Kind: m.kind, Queue: m.queue, WorkItem: m.body, AttemptCount: 1}}, err
	}
	if k == nil && !found.Item.Peeked {
		if err := t.TakeWaiting(ctx, found.Item.Instance, t.now); err != nil {
			return nil, err
		}
	}
	if found.hidden {
		// What came since a hold does not overtake what is held.
		if _, err := t.ShowHeld(ctx, t.now, found.Item.Instance); err != nil {
			return nil, err
		}
		return t.LockMessages(ctx, sqlitedb.LockMessagesParams{
			LockToken: &found.secret, Unnamed: found.unnamed, InstanceID: found.Item.Instance, Now: t.now,
		})
	}
	visible, err := t.LockVisibleMessages(ctx, sqlitedb.LockVisibleMessagesParams{
		LockToken: &found.secret, Unnamed: found.unnamed, InstanceID: found.Item.Instance, Now: t.now,
	})
	rows := make([]sqlitedb.LockMessagesRow, len(visible))
	for i, row := range visible {
		rows[i] = sqlitedb.LockMessagesRow(row)
	}
	return rows, err
}

// keptWork are activities that wait for their first lock and are in no session, by id: what
// NextPlainWork finds among them has not to be read. Those that were cancelled go with the others.
type keptWork map[int64]sqlitedb.LockWorkRow

// keepWork remembers an activity that was queued.
func (t *tx) keepWork(id int64, row sqlitedb.EnqueueWorkParams) {
	if row.SessionID != nil || row.PayloadID != nil || len(row.WorkItem) > longestKept {
		return
	}
	r := t.ready
	r.used = true
	if r.keptWork == nil {
		r.keptWork = keptWork{}
	}
	if len(r.keptWork) >= maxKept {
		for other := range r.keptWork {
			delete(r.keptWork, other)
			break
		}
	}
	r.keptWork[id] = sqlitedb.LockWorkRow{InstanceID: row.InstanceID, WorkItem: row.WorkItem, AttemptCount: 1, CreatedAt: row.Now}
}

// lockWork locks an activity that is ready.
func (t *tx) lockWork(ctx context.Context, lock sqlitedb.LockWorkParams) (sqlitedb.LockWorkRow, error) {
	row, ok := t.ready.keptWork[lock.WorkID]
	if !ok {
		return t.LockWork(ctx, lock)
	}
	delete(t.ready.keptWork, lock.WorkID)
	return row, t.LockKeptWork(ctx, sqlitedb.LockKeptWorkParams(lock))
}
