package orchestrationtest

import (
	"cmp"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// queues are messages that wait until a turn reads them, as in a store.
type queues struct {
	sent   int
	byName map[string][]queueMessage
}

// queueMessage is a message and its place among all that were sent to the instance.
type queueMessage struct {
	provider.QueueMessageItem

	place int
}

func (q *queues) add(m provider.QueueMessageItem) {
	if q.byName == nil {
		q.byName = map[string][]queueMessage{}
	}
	q.sent++
	q.byName[m.Name] = append(q.byName[m.Name], queueMessage{m, q.sent})
}

// peek returns the oldest messages of each queue, in the order of their arrival, without those that
// arrived after one that it leaves out.
func (q *queues) peek() []provider.WorkItem {
	var oldest []queueMessage
	last := q.sent
	for _, messages := range q.byName {
		shown := messages[:min(provider.MaxPeeked, len(messages))]
		if oldest = append(oldest, shown...); len(shown) < len(messages) {
			last = min(last, shown[len(shown)-1].place)
		}
	}
	oldest = slices.DeleteFunc(oldest, func(m queueMessage) bool { return m.place > last })
	slices.SortFunc(oldest, func(a, b queueMessage) int { return cmp.Compare(a.place, b.place) })
	items := make([]provider.WorkItem, len(oldest))
	for i, m := range oldest {
		items[i] = m.QueueMessageItem
	}
	return items
}

// read drops the oldest messages of queues.
func (q *queues) read(read map[string]int) {
	for name, n := range read {
		if q.byName[name] = q.byName[name][n:]; len(q.byName[name]) == 0 {
			delete(q.byName, name)
		}
	}
}

// have reports whether one of the queues has a message.
func (q *queues) have(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return len(q.byName[name]) > 0 })
}

// enqueue adds a message to a queue of an instance. One to nobody's queue is dropped.
func (e *Env) enqueue(in *instance, m provider.QueueMessageItem) {
	if len(in.history) == 0 {
		return
	}
	in.queues.add(m)
	e.readOn(in)
}

// readOn runs a turn if the instance awaits a queue that has a message.
func (e *Env) readOn(in *instance) {
	if !in.continued() && !in.ended() && in.queues.have(in.awaited) {
		e.turn(in, nil)
	}
}
