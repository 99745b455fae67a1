package linear

import (
	"fmt"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// reading is a call that changes nothing.
type reading struct {
	instance string
	part     Parts
	// call and answer describe it.
	call, answer string
	// differs reports what the answer is in a state, "" if it is the one that was given.
	differs func(i *instance, c *Call) string
}

func (r *reading) objects() []string { return []string{r.instance} }
func (*reading) effects(*Call) Parts { return 0 }

func (r *reading) apply(s *State, c *Call) string {
	if !s.checks(r.part) {
		return ""
	}
	return r.differs(s.at(r.instance), c)
}

func (r *reading) describe() (call, answer string) { return r.call, r.answer }

// same compares an answer, of a call that cannot fail, with that of a state.
func same(c *Call, got, want string) string {
	switch {
	case c.err != nil:
		return whyNoSuchError
	case got != want:
		return "the answer is " + want
	}
	return ""
}

// readHistory is Read, or with an execution ReadWithExecution.
func readHistory(id string, executionID uint64) (*reading, func([]provider.Event)) {
	var got []event
	r := &reading{instance: id, part: Histories, call: "history of " + id}
	if executionID != 0 {
		r.call += fmt.Sprintf(", execution %d", executionID)
	}
	r.differs = func(i *instance, c *Call) string {
		execution := executionID
		if execution == 0 {
			execution = i.latest()
		}
		events := i.executions[execution].events
		if c.err == nil && slices.Equal(events, got) {
			return ""
		}
		return same(c, r.answer+" or other texts", eventsText(events))
	}
	return r, func(events []provider.Event) {
		got = eventsOf(events)
		r.answer = eventsText(got)
	}
}

// readStatus is GetCustomStatus.
func readStatus(id string, lastSeen uint64) (*reading, func(*provider.CustomStatus)) {
	r := &reading{instance: id, part: CustomStatus, call: fmt.Sprintf("custom status of %s after %d", id, lastSeen)}
	r.differs = func(i *instance, c *Call) string {
		var want *provider.CustomStatus
		if i.known && i.customVersion > lastSeen {
			want = &provider.CustomStatus{Status: i.custom, Version: i.customVersion}
		}
		return same(c, r.answer, statusText(want))
	}
	return r, func(got *provider.CustomStatus) { r.answer = statusText(got) }
}

func statusText(status *provider.CustomStatus) string {
	if status == nil {
		return "none"
	}
	return fmt.Sprintf("%s, version %d", textOf(status.Status), status.Version)
}

// readValue is GetKVValue.
func readValue(id, key string) (*reading, func(*string)) {
	r := &reading{instance: id, part: Values, call: fmt.Sprintf("value %s of %s", key, id)}
	r.differs = func(i *instance, c *Call) string {
		var want *string
		if entry := i.value(key); entry != nil {
			want = &entry.Value
		}
		return same(c, r.answer, textOf(want))
	}
	return r, func(got *string) { r.answer = textOf(got) }
}

// readValues is GetKVAllValues.
func readValues(id string) (*reading, func(map[string]string)) {
	r := &reading{instance: id, part: Values, call: "values of " + id}
	r.differs = func(i *instance, c *Call) string { return same(c, r.answer, fmt.Sprint(i.present())) }
	return r, func(got map[string]string) {
		if got == nil {
			got = map[string]string{}
		}
		r.answer = fmt.Sprint(got)
	}
}

// readStats is GetInstanceStats.
func readStats(id string) (*reading, func(*provider.InstanceStats)) {
	r := &reading{instance: id, part: Histories | Values | Instances, call: "stats of " + id}
	r.differs = func(i *instance, c *Call) string {
		var want *provider.InstanceStats
		if i.known {
			want = i.stats()
		}
		return same(c, r.answer, textOf(want))
	}
	return r, func(got *provider.InstanceStats) {
		if got != nil {
			counted := *got
			counted.QueuePendingCount = 0 // that of the first event, which the history has
			got = &counted
		}
		r.answer = textOf(got)
	}
}

func (i *instance) stats() *provider.InstanceStats {
	s := &provider.InstanceStats{}
	for _, e := range i.executions[i.execution].events {
		s.HistoryEventCount++
		s.HistorySizeBytes += uint64(len(e.text))
	}
	for value := range maps.Values(i.present()) {
		s.KVUserKeyCount++
		s.KVTotalValueBytes += uint64(len(value))
	}
	return s
}

// readInfo is GetInstanceInfo.
func readInfo(id string) (*reading, func(provider.InstanceInfo)) {
	r := &reading{instance: id, part: Histories | Instances, call: "info of " + id}
	r.differs = func(i *instance, c *Call) string {
		switch {
		case !i.known && c.is(provider.ErrNotFound):
			return ""
		case !i.known:
			return "there is no instance"
		}
		return same(c, r.answer, infoText(i.name, i.version, i.execution, i.status(), i.parent))
	}
	return r, func(got provider.InstanceInfo) {
		r.answer = infoText(got.OrchestrationName, got.OrchestrationVersion, got.CurrentExecutionID, got.Status, deref(got.ParentInstanceID))
	}
}

func infoText(name, version string, executionID uint64, status provider.Status, parent string) string {
	text := fmt.Sprintf("%s %s, execution %d: %s", name, version, executionID, status)
	if parent != "" {
		text += ", child of " + parent
	}
	return text
}
