package linear

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// ackTurn is AckOrchestrationItem.
type ackTurn struct {
	turn

	params provider.AckOrchestrationParams
	events []event
	// works and messages are what it sends, as JSON.
	works, messages []string
}

func (a *ackTurn) objects() []string {
	objects := []string{a.instance}
	for _, item := range slices.Concat(a.params.WorkerItems, a.params.OrchestratorItems) {
		objects = append(objects, item.Target())
	}
	for _, ref := range a.params.CancelledActivities {
		objects = append(objects, ref.Instance)
	}
	if parent := a.params.Metadata.ParentInstanceID; parent != nil {
		objects = append(objects, *parent)
	}
	return objects
}

func (a *ackTurn) effects(c *Call) Parts {
	effects := Locks | Messages | Histories
	if a.params.Metadata.OrchestrationName != nil || a.params.ExecutionID > 1 {
		effects |= Instances
	}
	if len(a.works)+len(a.params.CancelledActivities) > 0 {
		effects |= Activities
	}
	if a.params.Metadata.Status != nil && a.params.Metadata.Status.Terminal() {
		effects |= Values
	}
	for _, e := range a.params.HistoryDelta {
		switch e.Kind.(type) {
		case provider.CustomStatusUpdated:
			effects |= CustomStatus
		case provider.KeyValueSet, provider.KeyValueCleared, provider.KeyValuesCleared:
			effects |= Values
		}
	}
	return unlessFailed(c, effects)
}

func (a *ackTurn) apply(s *State, c *Call) string {
	if c.is(provider.ErrLockLost) {
		return a.lost(s, c)
	}
	if why := a.live(s, c); why != "" {
		return why
	}
	taken := s.at(a.instance).has(a.params.ExecutionID, a.events)
	switch {
	case c.is(provider.ErrDuplicateEvent) && !taken && s.checks(Histories):
		return "there is no such event yet"
	case c.is(provider.ErrDuplicateEvent):
		return ""
	case c.err != nil && !c.lost():
		return whyNoSuchError
	case taken && s.checks(Histories):
		return "there is such an event already"
	}
	a.commit(s, s.change(a.instance), c)
	return ""
}

// commit carries the turn out, in the order of §5.2.
func (a *ackTurn) commit(s *State, i *instance, c *Call) {
	i.add(a.params.ExecutionID, a.events)
	i.messages = slices.DeleteFunc(i.messages, func(m message) bool { return m.token == a.token })
	a.storeInstance(i)
	a.storeStatus(i)
	for _, e := range a.params.HistoryDelta {
		i.change(e)
	}
	if a.params.Metadata.Status != nil && a.params.Metadata.Status.Terminal() {
		i.merge()
	}
	i.lease = lease{}
	for place, item := range a.params.WorkerItems {
		target := s.change(item.Target())
		target.schedule(newWork(item, a.works[place], c.sent(place, c.now())))
	}
	for _, ref := range a.params.CancelledActivities {
		target := s.change(ref.Instance)
		target.works = slices.DeleteFunc(target.works, func(w work) bool { return w.ref == ref })
	}
	for place, item := range a.params.OrchestratorItems {
		s.change(item.Target()).send(newMessage(item, a.messages[place], c.sent(place, c.now())))
	}
}

func (a *ackTurn) storeInstance(i *instance) {
	m := a.params.Metadata
	if m.OrchestrationName != nil && m.OrchestrationVersion != nil {
		if !i.known {
			i.known, i.execution, i.parent = true, a.params.ExecutionID, deref(m.ParentInstanceID)
		}
		i.name, i.version = *m.OrchestrationName, *m.OrchestrationVersion
	}
	if i.known {
		i.execution = max(i.execution, a.params.ExecutionID)
	}
}

func (a *ackTurn) storeStatus(i *instance) {
	e := i.executions[a.params.ExecutionID]
	if e.status == "" {
		e.status = provider.StatusRunning
	}
	if status := a.params.Metadata.Status; status != nil {
		e.status, e.output = *status, textOf(a.params.Metadata.Output)
	}
	i.executions[a.params.ExecutionID] = e
	// The last one of a turn counts, and counts once.
	for _, event := range slices.Backward(a.params.HistoryDelta) {
		if custom, ok := event.Kind.(provider.CustomStatusUpdated); ok {
			i.custom = custom.Status
			i.customVersion++
			return
		}
	}
}

// has reports whether an execution has one of the events.
func (i *instance) has(id uint64, events []event) bool {
	return slices.ContainsFunc(events, func(e event) bool {
		_, found := slices.BinarySearchFunc(i.executions[id].events, e, event.compare)
		return found
	})
}

// add adds events to an execution.
func (i *instance) add(id uint64, events []event) {
	e := i.executions[id]
	e.events = append(slices.Clone(e.events), events...)
	slices.SortFunc(e.events, event.compare)
	if i.executions == nil {
		i.executions = map[uint64]execution{}
	}
	i.executions[id] = e
}

// change does to the values what an event says.
func (i *instance) change(e provider.Event) {
	if i.changed == nil {
		i.changed = map[string]*provider.KVEntry{}
	}
	switch k := e.Kind.(type) {
	case provider.KeyValueSet:
		i.changed[k.Key] = &provider.KVEntry{Value: k.Value, LastUpdatedAtMs: k.LastUpdatedAtMs}
	case provider.KeyValueCleared:
		i.changed[k.Key] = nil
	case provider.KeyValuesCleared:
		for key := range i.values {
			i.changed[key] = nil
		}
		for key := range i.changed {
			i.changed[key] = nil
		}
	}
}

// merge ends an execution: what it has changed are values now.
func (i *instance) merge() {
	values := maps.Clone(i.values)
	if values == nil {
		values = map[string]provider.KVEntry{}
	}
	for key, entry := range i.changed {
		if entry == nil {
			delete(values, key)
		} else {
			values[key] = *entry
		}
	}
	i.values, i.changed = values, nil
}

func (a *ackTurn) describe() (call, answer string) {
	call = fmt.Sprintf("ack turn %s, execution %d", short(a.token), a.params.ExecutionID)
	if len(a.events) > 0 {
		call += " + " + eventsText(a.events)
	}
	if status := a.params.Metadata.Status; status != nil {
		call += ", " + string(*status)
	}
	if sends := slices.Concat(a.works, a.messages); len(sends) > 0 {
		call += ", sends " + messagesText(sends)
	}
	if cancels := a.params.CancelledActivities; len(cancels) > 0 {
		ids := make([]string, 0, len(cancels))
		for _, ref := range cancels {
			ids = append(ids, fmt.Sprintf("%s/%d", ref.Instance, ref.ActivityID))
		}
		call += ", cancels " + strings.Join(ids, " ")
	}
	return call, "ok"
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
