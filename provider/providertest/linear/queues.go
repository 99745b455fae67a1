package linear

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// newMessage is a message that a call sends. A timer of the caller's clock becomes visible nobody knows when.
func newMessage(item provider.WorkItem, text string, s sent) message {
	m := message{sent: s, text: text}
	switch k := item.(type) {
	case provider.StartOrchestrationItem, provider.ContinueAsNewItem:
		m.starts = true
	case provider.TimerFiredItem:
		if k.FireAtMs > 0 {
			m.visible.max = math.MaxInt64
		}
	}
	return m
}

// newWork is an activity that a call puts into the queue.
func newWork(item provider.WorkItem, text string, s sent) work {
	a, _ := item.(provider.ActivityExecuteItem)
	return work{
		sent: s, text: text, session: deref(a.SessionID), tagged: a.Tag != nil,
		ref: provider.ActivityRef{Instance: a.Instance, ExecutionID: a.ExecutionID, ActivityID: a.ID},
	}
}

// enqueue is EnqueueForOrchestrator or EnqueueForWorker.
type enqueue struct {
	item  provider.WorkItem
	text  string
	delay time.Duration
}

func (e *enqueue) objects() []string { return []string{e.item.Target()} }

func (e *enqueue) effects(c *Call) Parts {
	if _, ok := e.item.(provider.ActivityExecuteItem); ok {
		return unlessFailed(c, Activities)
	}
	return unlessFailed(c, Messages)
}

func (e *enqueue) apply(s *State, c *Call) string {
	if c.err != nil && !c.lost() {
		return whyNoSuchError
	}
	i := s.change(e.item.Target())
	if _, ok := e.item.(provider.ActivityExecuteItem); ok {
		i.schedule(newWork(e.item, e.text, c.sent(0, c.now())))
	} else {
		i.send(newMessage(e.item, e.text, c.sent(0, c.after(e.delay))))
	}
	return ""
}

func (e *enqueue) describe() (call, answer string) {
	call = "enqueue " + messagesText([]string{e.text})
	if e.delay > 0 {
		call += fmt.Sprintf(" in %v", e.delay)
	}
	return call, "ok"
}

// fetchWork is FetchWorkItem.
type fetchWork struct {
	params provider.FetchWorkParams
	got    *provider.FetchedWorkItem
	text   string
	vague  bool
}

// sessionObject is a session's name among the objects.
func sessionObject(id string) string { return "session " + id }

// ownerObject is the name of what an owner of sessions has.
func ownerObject(id string) string { return "owner " + id }

func (f *fetchWork) objects() []string {
	if f.got == nil {
		return nil
	}
	a, _ := f.got.Item.(provider.ActivityExecuteItem)
	objects := []string{a.Instance}
	if a.SessionID != nil {
		objects = append(objects, sessionObject(*a.SessionID), ownerObject(f.params.Session.OwnerID))
	}
	return objects
}

func (f *fetchWork) effects(*Call) Parts {
	if f.got == nil {
		return 0
	}
	return Activities
}

func (f *fetchWork) apply(s *State, c *Call) string {
	switch {
	case c.err != nil:
		return whyNoSuchError
	case f.got == nil:
		return f.applyEmpty(s, c)
	}
	i := s.change(f.got.Item.Target())
	for at := range i.works {
		w := &i.works[at]
		if w.text == f.text {
			return f.take(s, w, c)
		}
	}
	if s.checks(Activities) {
		return "the activity is not in the queue"
	}
	return ""
}

func (f *fetchWork) take(s *State, w *work, c *Call) string {
	w.attempts++
	if s.checks(Activities) {
		switch {
		case !w.maybeFree(c.now()):
			return whyHeld
		case !w.visible.maybeBy(c.now()):
			return "the activity is not visible yet"
		case !f.mayHave(s, w, c):
			return "another owner has the session"
		case w.attempts != f.got.AttemptCount:
			return fmt.Sprintf("it is attempt %d", w.attempts)
		}
	}
	w.lease = lease{f.got.LockToken, c.after(f.params.LockTimeout)}
	if w.session != "" {
		s.sessions[w.session] = session{f.params.Session.OwnerID, c.after(f.params.Session.LockTimeout), c.now()}
	}
	return ""
}

// mayHave reports whether the session that an activity is in, if it is in one, may be the caller's.
func (f *fetchWork) mayHave(s *State, w *work, c *Call) bool {
	if w.session == "" {
		return true
	}
	if f.params.Session == nil {
		return false
	}
	had, ok := s.sessions[w.session]
	return !ok || had.owner == f.params.Session.OwnerID || had.until.maybeBy(c.now())
}

// applyEmpty checks that no activity could surely be fetched. Of those in sessions the caller may have lost a race.
func (f *fetchWork) applyEmpty(s *State, c *Call) string {
	mode := f.params.Tags.Mode()
	if f.vague || f.params.Known != nil || f.params.UnknownFor != 0 || !s.checks(Activities) {
		return ""
	}
	for _, i := range s.instances {
		for _, w := range i.works {
			fits := w.session == "" && (mode == provider.TagAny || (mode != provider.TagNone && mode != provider.TagSet && !w.tagged))
			if fits && w.surelyFree(c.now()) && w.visible.surelyBy(c.now()) {
				return "an activity can be fetched: " + w.text
			}
		}
	}
	return ""
}

func (f *fetchWork) describe() (call, answer string) {
	call = fmt.Sprintf("fetch activity, lease %v", f.params.LockTimeout)
	if f.params.Session != nil {
		call += ", owner " + f.params.Session.OwnerID
	}
	if f.got == nil {
		return call, "nothing"
	}
	return call, fmt.Sprintf("%s, token %s, attempt %d", messagesText([]string{f.text}), short(f.got.LockToken), f.got.AttemptCount)
}

// heldWork is a call with the token of an activity.
type heldWork struct {
	token string
	// ref is the activity that the token was for, empty if no fetch has returned it.
	ref provider.ActivityRef
}

func (h heldWork) objects() []string { return []string{h.ref.Instance} }

// find is the activity that the token holds, nil for none.
func (h heldWork) find(i *instance) *work {
	for at := range i.works {
		if i.works[at].token == h.token {
			return &i.works[at]
		}
	}
	return nil
}

// lost checks an answer that says that the token is no good. The contract does not say which of two errors it is.
func (h heldWork) lost(s *State, c *Call, expires bool) string {
	w := h.find(s.at(h.ref.Instance))
	if w == nil || !s.checks(Activities) || (expires && w.until.maybeBy(c.now())) {
		return ""
	}
	return whyStillHeld
}

// live finds the activity that the token holds with a lease that has not ended.
func (h heldWork) live(s *State, c *Call) (w *work, why string) {
	w = h.find(s.change(h.ref.Instance))
	switch {
	case !s.checks(Activities):
		return w, ""
	case w == nil:
		return nil, whyNotHeld
	case w.until.surelyBy(c.now()):
		return nil, whyEnded
	}
	return w, ""
}

// stamp notes activity in a session that is still live.
func (s *State) stamp(id string, c *Call) {
	if had, ok := s.sessions[id]; ok && id != "" {
		had.last = span{had.last.min, c.Until}
		if !had.until.maybeBy(c.now()) {
			had.last = c.now()
		}
		s.sessions[id] = had
	}
}

// ackWork is AckWorkItem.
type ackWork struct {
	heldWork

	completion provider.WorkItem
	sends      string
}

func (a *ackWork) objects() []string {
	if a.completion == nil {
		return a.heldWork.objects()
	}
	return append(a.heldWork.objects(), a.completion.Target())
}

func (a *ackWork) effects(c *Call) Parts {
	if a.completion == nil {
		return unlessFailed(c, Activities)
	}
	return unlessFailed(c, Activities|Messages)
}

func (a *ackWork) apply(s *State, c *Call) string {
	switch {
	case c.is(provider.ErrLockLost):
		return a.lost(s, c, true)
	case c.err != nil && !c.lost():
		return whyNoSuchError
	}
	w, why := a.live(s, c)
	if why != "" {
		return why
	}
	if w != nil {
		s.stamp(w.session, c)
		s.change(a.ref.Instance).drop(a.token)
	}
	if a.completion != nil {
		s.change(a.ref.Instance).send(newMessage(a.completion, a.sends, c.sent(0, c.now())))
	}
	return ""
}

func (a *ackWork) describe() (call, answer string) {
	call = "ack activity " + short(a.token)
	if a.completion != nil {
		call += ", sends " + messagesText([]string{a.sends})
	}
	return call, "ok"
}

// renewWork is RenewWorkItemLock.
type renewWork struct {
	heldWork

	lease time.Duration
}

func (*renewWork) effects(c *Call) Parts { return unlessFailed(c, Activities) }

func (r *renewWork) apply(s *State, c *Call) string {
	switch {
	case c.is(provider.ErrLockLost):
		return r.lost(s, c, true)
	case c.err != nil && !c.lost():
		return whyNoSuchError
	}
	w, why := r.live(s, c)
	if w != nil {
		w.until = c.after(r.lease)
		s.stamp(w.session, c)
	}
	return why
}

func (r *renewWork) describe() (call, answer string) {
	return fmt.Sprintf("renew activity %s by %v", short(r.token), r.lease), "ok"
}

// abandonWork is AbandonWorkItem.
type abandonWork struct {
	heldWork

	delay    time.Duration
	giveBack bool
}

func (*abandonWork) effects(c *Call) Parts { return unlessFailed(c, Activities) }

func (a *abandonWork) apply(s *State, c *Call) string {
	switch {
	case c.is(provider.ErrLockLost):
		return a.lost(s, c, false)
	case c.err != nil && !c.lost():
		return whyNoSuchError
	}
	w := a.find(s.change(a.ref.Instance))
	switch {
	case w == nil && s.checks(Activities):
		return whyNotHeld
	case w == nil:
		return ""
	}
	w.lease, w.visible = lease{}, c.after(a.delay)
	if a.giveBack && w.attempts > 0 {
		w.attempts--
	}
	return ""
}

func (a *abandonWork) describe() (call, answer string) {
	call = "abandon activity " + short(a.token)
	if a.delay > 0 {
		call += fmt.Sprintf(" for %v", a.delay)
	}
	if a.giveBack {
		call += ", give the attempt back"
	}
	return call, "ok"
}

// renewSessions is RenewSessionLock.
type renewSessions struct {
	params  provider.RenewSessionParams
	renewed int
}

func (r *renewSessions) objects() []string {
	objects := make([]string, 0, len(r.params.OwnerIDs))
	for _, owner := range r.params.OwnerIDs {
		objects = append(objects, ownerObject(owner))
	}
	return objects
}

func (*renewSessions) effects(c *Call) Parts { return unlessFailed(c, Activities) }

// apply renews what is surely live and busy, and may have renewed what may be.
func (r *renewSessions) apply(s *State, c *Call) string {
	if c.err != nil && !c.lost() {
		return whyNoSuchError
	}
	sure, maybe := 0, 0
	for id, had := range s.sessions {
		idle := had.last.plus(r.params.IdleTimeout)
		switch {
		case !slices.Contains(r.params.OwnerIDs, had.owner), had.until.surelyBy(c.now()), idle.surelyBy(c.now()):
			continue
		case had.until.maybeBy(c.now()), idle.maybeBy(c.now()):
			had.until.max = max(had.until.max, c.after(r.params.ExtendFor).max)
		default:
			sure++
			had.until = c.after(r.params.ExtendFor)
		}
		maybe++
		s.sessions[id] = had
	}
	if s.checks(Activities) && !c.lost() && (r.renewed < sure || r.renewed > maybe) {
		return fmt.Sprintf("%d to %d sessions can be renewed", sure, maybe)
	}
	return ""
}

func (r *renewSessions) describe() (call, answer string) {
	return fmt.Sprintf("renew sessions of %v by %v", r.params.OwnerIDs, r.params.ExtendFor), fmt.Sprint(r.renewed)
}
