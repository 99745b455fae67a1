package linear

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Why an answer could not have been the store's.
const (
	whyNoSuchError = "the contract has no such error here"
	whyHeld        = "somebody else holds the lease"
	whyNotHeld     = "the token holds nothing"
	whyEnded       = "the lease has ended"
	whyStillHeld   = "the token still holds it"
	whyNotEnded    = "the lease has not ended"
	whyOther       = "the answer is another one"
)

// fetchTurn is FetchOrchestrationItem.
type fetchTurn struct {
	lease time.Duration
	// selective says that the fetch does not take everything, so that an empty answer says nothing.
	selective bool
	got       *provider.FetchedOrchestration
	// messages and history are those of got.
	messages []string
	history  []event
	// vague says that the fetch has waited too long for others to say that there is nothing.
	vague bool
}

func (f *fetchTurn) objects() []string {
	if f.got == nil {
		return nil
	}
	return []string{f.got.Item.Instance}
}

func (f *fetchTurn) effects(*Call) Parts {
	if f.got == nil {
		return 0
	}
	return Locks | Messages
}

func (f *fetchTurn) apply(s *State, c *Call) string {
	switch {
	case c.err != nil:
		return whyNoSuchError
	case f.got == nil:
		return f.applyEmpty(s, c)
	}
	item := &f.got.Item
	i := s.change(item.Instance)
	if s.checks(Locks) && !i.maybeFree(c.now()) {
		return whyHeld
	}
	if why := f.take(s, i, c); why != "" {
		return why
	}
	i.lease = lease{f.got.LockToken, c.after(f.lease)}
	if !i.known && len(i.executions) > 0 {
		return "" // a history without an instance, which only tools make
	}
	return f.context(s, i)
}

// take gives the turn the messages that its answer has.
func (f *fetchTurn) take(s *State, i *instance, c *Call) string {
	var batch []sent
	attempts := uint32(0)
	for at := range i.messages {
		m := &i.messages[at]
		place := slices.Index(f.messages, m.text)
		switch {
		case place >= 0 && !m.visible.maybeBy(c.now()) && s.checks(Messages):
			return "a message of the answer is not visible yet: " + m.text
		case place < 0 && m.visible.surelyBy(c.now()) && s.checks(Messages):
			return "a visible message is not in the answer: " + m.text
		case place < 0:
			continue
		}
		m.token = f.got.LockToken
		m.attempts++
		attempts = max(attempts, m.attempts)
		for _, other := range batch {
			if s.checks(Messages) && place < other.place && !m.mayPrecede(other) {
				return "the messages are in another order"
			}
		}
		batch = append(batch, sent{m.begin, m.end, place, span{}})
	}
	switch {
	case !s.checks(Messages):
		return ""
	case len(batch) < len(f.messages):
		return "a message of the answer is not in the queue"
	case attempts != f.got.AttemptCount:
		return fmt.Sprintf("it is attempt %d", attempts)
	}
	return ""
}

// context checks what the answer says about the instance.
func (f *fetchTurn) context(s *State, i *instance) string {
	item := &f.got.Item
	if s.checks(Instances) {
		name, version, execution := item.OrchestrationName, item.Version, uint64(1)
		if i.known {
			name, version, execution = i.name, i.version, i.execution
		}
		if item.OrchestrationName != name || item.Version != version || item.ExecutionID != execution {
			return fmt.Sprintf("it is execution %d of %s %s", execution, name, version)
		}
	}
	history := i.executions[item.ExecutionID].events
	if from, found := slices.BinarySearchFunc(history, event{id: item.HistoryFrom}, event.compare); found {
		history = history[from:]
	}
	if s.checks(Histories) && !slices.Equal(history, f.history) {
		return fmt.Sprintf("the history has %s", eventsText(history))
	}
	if s.checks(Values) && !maps.Equal(i.values, item.KVSnapshot) {
		return fmt.Sprintf("the execution began with the values %v", i.values)
	}
	return ""
}

// applyEmpty checks that no instance could surely be fetched.
func (f *fetchTurn) applyEmpty(s *State, c *Call) string {
	if f.selective || f.vague || !s.checks(Locks|Messages|Instances) {
		return ""
	}
	for id, i := range s.instances {
		if i.surelyFree(c.now()) && i.surelyReady(c.now()) {
			return "instance " + id + " can be fetched"
		}
	}
	return ""
}

// surelyReady reports whether an instance that nobody holds can be fetched for sure.
func (i *instance) surelyReady(now span) bool {
	visible, starts, hidden := false, false, false
	for _, m := range i.messages {
		sure := m.visible.surelyBy(now)
		visible = visible || sure
		starts = starts || (m.starts && sure)
		hidden = hidden || (m.starts && !sure)
	}
	switch {
	case i.known:
		return visible && (!hidden || i.status() != provider.StatusContinuedAsNew)
	case hidden:
		return false
	}
	return starts
}

func (f *fetchTurn) describe() (call, answer string) {
	call = fmt.Sprintf("fetch turn, lease %v", f.lease)
	if f.got == nil {
		return call, "nothing"
	}
	item := &f.got.Item
	answer = fmt.Sprintf("%s, token %s, attempt %d: %s; execution %d with %s", item.Instance, short(f.got.LockToken),
		f.got.AttemptCount, messagesText(f.messages), item.ExecutionID, eventsText(f.history))
	if len(item.KVSnapshot) > 0 {
		answer += fmt.Sprint("; ", item.KVSnapshot)
	}
	return call, answer
}

// turn is a call with the token of a turn.
type turn struct {
	token string
	// instance is the one that the token was for, "" if no fetch has returned it.
	instance string
}

func (t turn) objects() []string { return []string{t.instance} }

// lost checks an answer that says that the token is no good.
func (t turn) lost(s *State, c *Call) string {
	i := s.at(t.instance)
	switch {
	case !s.checks(Locks):
		return ""
	case c.is(provider.ErrInvalidLockToken) && i.token == t.token:
		return whyStillHeld
	case c.is(provider.ErrLockExpired) && i.token != t.token:
		return whyNotHeld
	case c.is(provider.ErrLockExpired) && !i.until.maybeBy(c.now()):
		return whyNotEnded
	}
	return ""
}

// live checks that the token holds the instance, and that its lease has not ended.
func (t turn) live(s *State, c *Call) string {
	i := s.at(t.instance)
	switch {
	case !s.checks(Locks):
		return ""
	case i.token != t.token || t.instance == "":
		return whyNotHeld
	case i.until.surelyBy(c.now()):
		return whyEnded
	}
	return ""
}

// renewTurn is RenewOrchestrationItemLock.
type renewTurn struct {
	turn

	lease time.Duration
}

func (*renewTurn) effects(c *Call) Parts { return unlessFailed(c, Locks) }

func (r *renewTurn) apply(s *State, c *Call) string {
	switch {
	case c.is(provider.ErrLockLost):
		return r.lost(s, c)
	case c.err != nil:
		return whyNoSuchError
	}
	if why := r.live(s, c); why != "" {
		return why
	}
	s.change(r.instance).until = c.after(r.lease)
	return ""
}

func (r *renewTurn) describe() (call, answer string) {
	return fmt.Sprintf("renew turn %s by %v", short(r.token), r.lease), "ok"
}

// abandonTurn is AbandonOrchestrationItem.
type abandonTurn struct {
	turn

	delay    time.Duration
	giveBack bool
}

func (*abandonTurn) effects(c *Call) Parts { return unlessFailed(c, Locks|Messages) }

func (a *abandonTurn) apply(s *State, c *Call) string {
	switch {
	case c.is(provider.ErrInvalidLockToken):
		return a.lost(s, c)
	case c.err != nil:
		return whyNoSuchError
	case s.checks(Locks) && s.at(a.instance).token != a.token:
		return whyNotHeld
	}
	i := s.change(a.instance)
	i.lease = lease{}
	for at := range i.messages {
		m := &i.messages[at]
		if m.token != a.token {
			continue
		}
		m.token = ""
		if a.delay > 0 {
			m.visible = c.after(a.delay)
		}
		if a.giveBack && m.attempts > 0 {
			m.attempts--
		}
	}
	return ""
}

func (a *abandonTurn) describe() (call, answer string) {
	call = fmt.Sprintf("abandon turn %s", short(a.token))
	if a.delay > 0 {
		call += fmt.Sprintf(" for %v", a.delay)
	}
	if a.giveBack {
		call += ", give the attempt back"
	}
	return call, "ok"
}

// unlessFailed are the effects of a call that changes nothing when it fails for good.
func unlessFailed(c *Call, effects Parts) Parts {
	if c.err != nil && !c.lost() {
		return 0
	}
	return effects
}
