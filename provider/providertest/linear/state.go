package linear

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// Parts are parts of a store.
type Parts uint8

// The parts.
const (
	Locks Parts = 1 << iota
	Messages
	Activities
	Instances // their rows
	Histories // with the status of executions
	CustomStatus
	Values

	everything = Locks | Messages | Activities | Instances | Histories | CustomStatus | Values
)

// State is a state of the contract's model. It is never changed once another one was made of it.
type State struct {
	instances map[string]*instance
	sessions  map[string]session
	// checked are the parts in which answers must be right; the others are kept all the same.
	checked Parts
	// text is what is the same for equal states, "" as long as nobody has asked.
	text string
}

// instance is what the store has of an instance.
type instance struct {
	// known says that there is a row, which has what follows.
	known                 bool
	name, version, parent string
	execution             uint64
	custom                *string
	customVersion         uint64

	executions map[uint64]execution
	// values are as of the end of the last execution, changed what the present one has done to them: nil is a key that
	// was cleared.
	values  map[string]provider.KVEntry
	changed map[string]*provider.KVEntry
	lease
	messages []message
	works    []work
	text     string
}

type execution struct {
	// status is empty if there are only events.
	status provider.Status
	output string
	events []event
}

// event is an event's id and its JSON.
type event struct {
	id   uint64
	text string
}

func (e event) compare(other event) int { return cmp.Compare(e.id, other.id) }

// lease is who holds something and until when. A lease without a token is none.
type lease struct {
	token string
	until span
}

func (l lease) surelyFree(now span) bool { return l.token == "" || l.until.surelyBy(now) }
func (l lease) maybeFree(now span) bool  { return l.token == "" || l.until.maybeBy(now) }

// message is a message in an instance's queue.
type message struct {
	sent

	text   string
	starts bool
	// token is that of the turn that has it.
	token    string
	attempts uint32
}

// sent tells which call has put something into a queue, at which place of its list, and when it becomes visible.
type sent struct {
	begin, end uint64
	place      int
	visible    span
}

func (c *Call) sent(place int, visible span) sent { return sent{c.Begin, c.End, place, visible} }

func (s sent) compare(other sent) int {
	return cmp.Or(cmp.Compare(s.begin, other.begin), cmp.Compare(s.place, other.place))
}

// mayPrecede reports whether the row may have the smaller id: unless its call began after the other one had ended.
func (s sent) mayPrecede(other sent) bool {
	if s.begin == other.begin {
		return s.place < other.place
	}
	return other.end == 0 || s.begin < other.end
}

// work is an activity in the queue.
type work struct {
	sent
	lease

	ref      provider.ActivityRef
	text     string
	session  string
	tagged   bool
	attempts uint32
}

// session is who may fetch a session's activities.
type session struct {
	owner string
	until span
	// last is when there was activity.
	last span
}

func (s *State) checks(parts Parts) bool { return s.checked&parts == parts }

// next is a copy to be changed.
func (s *State) next() *State {
	n := &State{instances: make(map[string]*instance, len(s.instances)+1), sessions: make(map[string]session, len(s.sessions)+1), checked: s.checked}
	maps.Copy(n.instances, s.instances)
	maps.Copy(n.sessions, s.sessions)
	return n
}

// at is an instance, to be read only.
func (s *State) at(id string) *instance {
	if i := s.instances[id]; i != nil {
		return i
	}
	return &instance{}
}

// change is an instance of a state that was just copied.
func (s *State) change(id string) *instance {
	i := *s.at(id)
	i.text = ""
	i.executions, i.values, i.changed = maps.Clone(i.executions), maps.Clone(i.values), maps.Clone(i.changed)
	i.messages, i.works = slices.Clone(i.messages), slices.Clone(i.works)
	s.instances[id] = &i
	return &i
}

// String is the same for equal states.
func (s *State) String() string {
	if s.text == "" {
		var b strings.Builder
		for _, id := range slices.Sorted(maps.Keys(s.instances)) {
			fmt.Fprintf(&b, "%s{%s}", id, s.instances[id])
		}
		for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
			fmt.Fprintf(&b, "%s%v", id, s.sessions[id])
		}
		s.text = b.String()
	}
	return s.text
}

// String is the same for equal instances.
func (i *instance) String() string {
	if i.text == "" {
		var b strings.Builder
		fmt.Fprintf(&b, "%t %s %s %s %d %s %d %v|", i.known, i.name, i.version, i.parent, i.execution, textOf(i.custom), i.customVersion, i.lease)
		fmt.Fprint(&b, i.executions, i.values)
		for _, key := range slices.Sorted(maps.Keys(i.changed)) {
			fmt.Fprint(&b, key, textOf(i.changed[key]))
		}
		for _, m := range i.messages {
			fmt.Fprint(&b, m.sent, m.token, m.attempts)
		}
		for _, w := range i.works {
			fmt.Fprint(&b, w.sent, w.lease, w.attempts)
		}
		i.text = b.String() + " "
	}
	return i.text
}

// textOf tells a value that there may not be.
func textOf[A any](value *A) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprintf("%q", fmt.Sprint(*value))
}

// send puts a message into the queue.
func (i *instance) send(m message) {
	at, _ := slices.BinarySearchFunc(i.messages, m, func(a, b message) int { return a.compare(b.sent) })
	i.messages = slices.Insert(i.messages, at, m)
}

// schedule puts an activity into the queue.
func (i *instance) schedule(w work) {
	at, _ := slices.BinarySearchFunc(i.works, w, func(a, b work) int { return a.compare(b.sent) })
	i.works = slices.Insert(i.works, at, w)
}

// drop takes the activity with a token out of the queue.
func (i *instance) drop(token string) {
	i.works = slices.DeleteFunc(i.works, func(w work) bool { return w.token == token })
}

// value is a key's present value.
func (i *instance) value(key string) *provider.KVEntry {
	if changed, ok := i.changed[key]; ok {
		return changed
	}
	if entry, ok := i.values[key]; ok {
		return &entry
	}
	return nil
}

// present are all present values.
func (i *instance) present() map[string]string {
	all := map[string]string{}
	for key, entry := range i.values {
		all[key] = entry.Value
	}
	for key, entry := range i.changed {
		if entry == nil {
			delete(all, key)
		} else {
			all[key] = entry.Value
		}
	}
	return all
}

// latest is the highest execution that there is anything of; 1 if there is none.
func (i *instance) latest() uint64 {
	latest := uint64(1)
	for id := range i.executions {
		latest = max(latest, id)
	}
	return latest
}

// status is that of the current execution.
func (i *instance) status() provider.Status { return i.executions[i.execution].status }
