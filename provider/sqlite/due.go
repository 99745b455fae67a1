package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
)

// wakeTime is the earliest time at which a row of a queue has to be looked at again
// although nobody wrote, as far as the writer knows: one too early costs a look, which
// corrects it. Whatever makes a time earlier says so at once, and times are forgotten when
// the bounds of heads.go are.
type wakeTime struct {
	known bool
	// at is in milliseconds, 0 for never.
	at int64
}

// lower takes note of an earlier time, 0 for none.
func (w *wakeTime) lower(at int64) { w.at = earlier(w.at, at) }

// set replaces the time by what the database says.
func (w *wakeTime) set(at int64) { *w = wakeTime{known: true, at: at} }

// past reports whether there may be a row whose time has come.
func (w *wakeTime) past(now int64) bool { return !w.known || (w.at != 0 && w.at <= now) }

// read returns the time, and asks the database for it if it is not known.
func (w *wakeTime) read(query func() (int64, error)) (int64, error) {
	if w.known {
		return w.at, nil
	}
	at, err := query()
	if errors.Is(err, sql.ErrNoRows) {
		at, err = 0, nil
	}
	if err == nil {
		w.set(at)
	}
	return at, err
}

// wakeInstance notes when an instance may become fetchable by itself.
func (t *tx) wakeInstance(at int64) {
	t.instanceWake = earlier(t.instanceWake, at)
	t.ready.nextInstance.lower(at)
}

// wakeActivity notes when an activity may become fetchable by itself.
func (t *tx) wakeActivity(at int64) {
	t.activityWake = earlier(t.activityWake, at)
	t.ready.nextActivity.lower(at)
}

// wakeSession notes when a session may be claimed by others.
func (t *tx) wakeSession(at int64) {
	t.activityWake = earlier(t.activityWake, at)
	t.ready.nextSession.lower(at)
}

// noSession reports whether it is known that no session is live.
func (t *tx) noSession() bool {
	t.ready.used = true
	return t.ready.nextSession.known && t.ready.nextSession.at == 0
}

// nextInstanceWake returns when the next instance may become fetchable by itself,
// 0 for never.
func (t *tx) nextInstanceWake(ctx context.Context) (int64, error) {
	t.ready.used = true
	return t.ready.nextInstance.read(func() (int64, error) {
		at, err := t.NextInboxWake(ctx)
		if err != nil {
			return 0, err
		}
		return *at, nil
	})
}

// nextActivityWake returns when the next activity may become fetchable by itself,
// 0 for never: when its delay or lease ends, or the lease of the session it belongs to.
func (t *tx) nextActivityWake(ctx context.Context, sessions bool) (int64, error) {
	t.ready.used = true
	wakeAt, err := t.ready.nextActivity.read(func() (int64, error) { return t.NextWorkWake(ctx) })
	if err != nil || !sessions {
		return wakeAt, err
	}
	if t.ready.nextSession.past(t.now) {
		t.ready.nextSession = wakeTime{}
	}
	end, err := t.ready.nextSession.read(func() (int64, error) { return t.NextSessionWake(ctx, t.now) })
	return earlier(wakeAt, end), err
}

// duePortion is the limit of RefreshDueInboxes and ResetDueInboxes.
const duePortion = 256

// refreshDue refreshes instances of which a lease or delay has ended and returns how
// many. When very many timers fire at once it is a portion of them, so that everybody
// else gets a turn in between.
func (t *tx) refreshDue(ctx context.Context) (int, error) {
	t.ready.used = true
	if !t.ready.nextInstance.past(t.now) {
		return 0, nil
	}
	t.ready.due = nil
	running, err := t.RefreshDueInboxes(ctx, t.now)
	if err != nil {
		return 0, err
	}
	for _, inbox := range running {
		t.wake(inbox.InstanceID, inbox.HeadID)
		t.refreshed(inbox.InstanceID, sqlitedb.RefreshInboxRow{
			VersionID: inbox.VersionID, CodeID: inbox.CodeID, HeadID: inbox.HeadID, WakeAt: inbox.WakeAt,
		})
	}
	if len(running) == duePortion {
		return len(running), nil
	}
	others, err := t.ResetDueInboxes(ctx, &t.now)
	if err != nil {
		return 0, err
	}
	for _, instance := range others {
		if err := t.refresh(ctx, instance); err != nil {
			return 0, err
		}
	}
	if len(others) < duePortion {
		t.ready.nextInstance = wakeTime{}
		_, err = t.nextInstanceWake(ctx)
	}
	return len(running) + len(others), err
}

// readyDue makes activities fetchable whose lease or delay has ended, a portion of them as
// in refreshDue, and returns how many.
func (t *tx) readyDue(ctx context.Context) (int, error) {
	t.ready.used = true
	if !t.ready.nextActivity.past(t.now) {
		return 0, nil
	}
	due, err := t.ReadyDueWork(ctx, &t.now)
	if err != nil {
		return 0, err
	}
	if due > 0 {
		t.due += int(due)
		// Whose they are would be a row for each, and leases seldom end by themselves.
		t.ready.activities.forget()
		return int(due), nil
	}
	t.ready.nextActivity = wakeTime{}
	_, err = t.nextActivityWake(ctx, false)
	return 0, err
}
