package providertest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// peeking are the rules about queue messages that wait in the store until a turn reads them (§5.28).
func peeking() category {
	return category{"peeking", []scenario{
		{"a_turn_is_shown_the_oldest", peeksOldest},
		{"what_is_not_read_stays_in_its_place", peeksInOrder},
		{"unawaited_queues_wake_nobody", peeksUnawaited},
		{"awaited_queues_wake", peeksAwaited},
		{"messages_that_a_turn_sends_wake", peeksSent},
		{"a_queue_behind_a_long_one_is_shown", peeksBehind},
		{"abandoned_and_expired_turns_keep_the_order", peeksAgain},
		{"only_turns_that_read_nothing_count_no_attempt", peeksAttempts},
		{"the_next_execution_has_what_is_left", peeksNextExecution},
		{"a_turn_that_does_not_peek_takes_all", peeksNot},
		{"an_ended_instance_keeps_unread_messages_quietly", peeksEnded},
		{"messages_of_several_queues_come_in_the_order_of_arrival", peeksAcross},
		{"random_turns_follow_a_list", peeksRandomly},
	}}
}

const (
	rulePeek    = "§5.28: of each queue, a peeked item holds the oldest messages, without a gap"
	ruleAwaited = "§5.28: a message makes the instance fetchable if its queue is awaited, or was empty, and then once"
)

// peek fetches the instance's turn with Peek. A store that keeps no queue messages is passed over.
func (e *env) peek(lease time.Duration) *provider.FetchedOrchestration {
	e.Helper()
	got := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: lease, Peek: true})
	e.check(got != nil, ruleAwaited, "nothing was fetched")
	if !got.Item.Peeked {
		e.Skip("the store keeps no queue messages")
	}
	return got
}

// peekNone asserts that nothing is fetchable.
func (e *env) peekNone() {
	e.Helper()
	got := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, Peek: true})
	e.check(got == nil, ruleAwaited, "fetched %v, want nothing", got)
}

// line sends n messages with the numbers from first on to a queue of instance A.
func (e *env) line(queue string, first, n int) {
	e.Helper()
	for i := range n {
		e.enqueue(provider.QueueMessageItem{Instance: "A", Name: queue, Data: fmt.Sprint(first + i)})
	}
}

// shown are the messages of one queue in an item.
func shown(got *provider.FetchedOrchestration, queue string) (data []string) {
	for _, item := range got.Item.Messages {
		if m, ok := item.(provider.QueueMessageItem); ok && m.Name == queue {
			data = append(data, m.Data)
		}
	}
	return data
}

// showsFrom asserts that an item shows at least so many messages of a queue, from a number on.
func (e *env) showsFrom(got *provider.FetchedOrchestration, queue string, first, atLeast int) {
	e.Helper()
	data := shown(got, queue)
	e.check(len(data) >= atLeast, rulePeek, "the item has %d messages of queue %s, want %d", len(data), queue, atLeast)
	for i, d := range data {
		e.check(d == fmt.Sprint(first+i), rulePeek, "message %d of queue %s is %s, want %d", i, queue, d, first+i)
	}
}

// leave commits a turn that has read so many messages of queue q.
func (e *env) leave(got *provider.FetchedOrchestration, read int, awaited ...string) {
	e.Helper()
	e.commit(got, provider.AckOrchestrationParams{Queues: &provider.QueueReads{Read: map[string]int{"q": read}, Awaited: awaited}})
}

func peeksOldest(e *env) {
	e.create("A")
	e.line("q", 0, 2*provider.MaxPeeked)
	e.enqueue(raised("A", "event"))
	got := e.peek(held)
	e.showsFrom(got, "q", 0, 10)
	n := len(shown(got, "q"))
	e.check(n <= provider.MaxPeeked, rulePeek, "the item has %d messages of a queue, at most %d are wanted", n, provider.MaxPeeked)
	e.sameValue(got.Item.Messages[len(got.Item.Messages)-1], provider.WorkItem(raised("A", "event")), "§5.1: Messages holds the batch in queue order", "the last message")
}

// Read one by one, and all at once.
func peeksInOrder(e *env) {
	e.create("A")
	e.line("q", 0, 250)
	for next := 0; next < 250; {
		got := e.peek(held)
		e.showsFrom(got, "q", next, 1)
		read := 1
		if next > 5 {
			read = len(shown(got, "q"))
		}
		next += read
		e.leave(got, read, "q")
	}
	e.peekNone()
	e.line("q", 250, 1)
	e.showsFrom(e.peek(held), "q", 250, 1)
}

func peeksUnawaited(e *env) {
	e.create("A")
	e.line("q", 0, 1)
	e.leave(e.peek(held), 0)
	e.peekNone()
	e.line("q", 1, 3)
	e.peekNone()
	e.leave(func() *provider.FetchedOrchestration { e.line("r", 0, 1); return e.peek(held) }(), 0, "other")
	e.peekNone()
	e.enqueue(raised("A", "event"))
	got := e.peek(held)
	e.showsFrom(got, "q", 0, 1)
	e.leave(got, 1)
	e.peekNone()
}

func peeksAwaited(e *env) {
	e.create("A")
	e.enqueue(raised("A", "event"))
	e.leave(e.peek(held), 0, "q")
	e.peekNone()
	e.line("q", 0, 1)
	got := e.peek(held)
	e.line("q", 1, 2) // while the turn runs
	e.leave(got, 1, "r", "q")
	got = e.peek(held)
	e.showsFrom(got, "q", 1, 2)
	e.leave(got, 0, "q")
	e.leave(e.peek(held), 2, "q")
	e.peekNone()
}

// They wake as those of a client do: the first in an empty queue, and nothing behind it.
func peeksSent(e *env) {
	e.create("A")
	e.create("B")
	send := func(data ...string) {
		e.enqueue(raised("B", "go"))
		var items []provider.WorkItem
		for _, d := range data {
			items = append(items, provider.QueueMessageItem{Instance: "A", Name: "q", Data: d})
		}
		e.commit(e.fetchInstance("B", held), provider.AckOrchestrationParams{OrchestratorItems: items})
	}
	send("0", "1")
	got := e.peek(held)
	e.showsFrom(got, "q", 0, 2)
	e.leave(got, 0)
	e.peekNone()
	send("2")
	e.peekNone()
}

func peeksBehind(e *env) {
	e.create("A")
	e.line("q", 0, 150)
	e.line("z", 0, 150)
	e.line("zz", 0, 1)
	got := e.peek(held)
	e.leave(got, 0, "z")
	got = e.peek(held)
	e.showsFrom(got, "z", 0, 10)
	e.leave(got, 0, "zz")
	e.showsFrom(e.peek(held), "zz", 0, 1)
}

// Whoever awaits both queues must not see the end before what was sent before it.
func peeksAcross(e *env) {
	e.create("A")
	e.enqueue(raised("A", "event"))
	e.leave(e.peek(held), 0, "q", "end")
	e.line("q", 0, 2*provider.MaxPeeked+10)
	e.line("end", 0, 1)
	for next := 0; ; {
		got := e.peek(held)
		n := len(shown(got, "q"))
		e.showsFrom(got, "q", next, 1)
		if next += n; len(shown(got, "end")) > 0 {
			e.sameValue(next, 2*provider.MaxPeeked+10, rulePeek, "messages that were shown before the one behind them")
			return
		}
		e.leave(got, n, "q", "end")
	}
}

func peeksAgain(e *env) {
	e.create("A")
	e.line("q", 0, 30)
	got := e.peek(held)
	e.abandon(got, 30*time.Millisecond, true)
	e.line("q", 30, 1)
	e.sleep(60 * time.Millisecond)
	e.showsFrom(e.peek(e.lease), "q", 0, 10)
	e.line("q", 31, 1)
	e.expire()
	got = e.peek(held)
	e.showsFrom(got, "q", 0, 10)
	e.leave(got, len(shown(got, "q")), "q")
	e.line("q", 32, 1)
}

func peeksAttempts(e *env) {
	e.create("A")
	e.line("q", 0, 2)
	e.peek(e.lease)
	e.expire()
	got := e.peek(held)
	e.sameValue(got.AttemptCount, uint32(2), "§5.1 step 9: attempt count", "attempts after a lost lease")
	for range 3 {
		e.leave(got, 0, "q")
		got = e.peek(held)
		e.sameValue(got.AttemptCount, uint32(1), "§5.28: the attempt of a turn that was committed is not counted", "attempts")
	}
}

func peeksNextExecution(e *env) {
	e.create("A")
	e.line("q", 0, 120)
	got := e.peek(held)
	e.commit(got, provider.AckOrchestrationParams{
		Metadata:          ended(provider.StatusContinuedAsNew, "{}"),
		OrchestratorItems: []provider.WorkItem{continuing("A")},
		Queues:            &provider.QueueReads{Read: map[string]int{"q": 20}},
	})
	got = e.peek(held)
	e.commit(got, provider.AckOrchestrationParams{
		ExecutionID: got.Item.ExecutionID + 1, Metadata: created(), HistoryDelta: []provider.Event{started("A", got.Item.ExecutionID+1)},
		Queues: &provider.QueueReads{Awaited: []string{"q"}},
	})
	e.showsFrom(e.peek(held), "q", 20, 10)
}

// Such a turn is that of a worker that knows nothing of this.
func peeksNot(e *env) {
	e.create("A")
	e.line("q", 0, 120)
	e.line("r", 0, 3)
	e.leave(e.peek(held), 20)
	e.enqueue(raised("A", "event"))
	got := e.fetchInstance("A", held)
	e.check(!got.Item.Peeked, rulePeek, "an item is peeked that was fetched without Peek")
	e.showsFrom(got, "q", 20, 100)
	e.showsFrom(got, "r", 0, 3)
	e.line("q", 120, 2)
	e.line("r", 3, 1)
	e.commit(got, provider.AckOrchestrationParams{})
	got = e.fetchInstance("A", held)
	e.showsFrom(got, "q", 120, 2)
	e.showsFrom(got, "r", 3, 1)
	e.commit(got, provider.AckOrchestrationParams{})
	e.peekNone()
}

func peeksEnded(e *env) {
	e.create("A")
	e.line("q", 0, 5)
	e.commit(e.peek(held), provider.AckOrchestrationParams{
		Metadata: ended(provider.StatusCompleted, "out"), DropTimers: true, Queues: &provider.QueueReads{Read: map[string]int{"q": 2}},
	})
	e.peekNone()
	e.line("q", 5, 1)
	e.peekNone()
	deleted := e.delete("A", false)
	e.sameValue(deleted.QueueMessagesDeleted, uint64(4), "§6.15: deletion takes the instance's messages along", "deleted messages")
}

// queueModel is a list for each queue of instance A, which the store has to match.
type queueModel struct {
	*env

	random *rand.Rand
	sent   map[string]int // numbers from 0 on
	read   map[string]int
	// execution is the current one, and awaited what the instance awaits.
	execution uint64
	awaited   []string
}

// peeksRandomly does what turns and clients do, in a random order: each message is shown in its
// place until it is read, and whoever awaits one gets it.
func peeksRandomly(e *env) {
	m := &queueModel{env: e, random: rand.New(rand.NewPCG(1, 2)), sent: map[string]int{}, read: map[string]int{}, execution: 1}
	e.create("A")
	for range 250 {
		switch m.random.IntN(6) {
		case 0, 1, 2:
			queue := m.queue()
			n := 1 + m.random.IntN(4)
			e.line(queue, m.sent[queue], n)
			m.sent[queue] += n
		case 3:
			e.enqueue(raised("A", "event"))
			fallthrough
		default:
			m.turn()
		}
	}
	for queue := range m.sent {
		e.enqueue(raised("A", "event"))
		for m.read[queue] < m.sent[queue] {
			got := e.peek(held)
			m.shows(got)
			m.commit(got, map[string]int{queue: len(shown(got, queue))}, queue)
		}
	}
}

func (m *queueModel) queue() string { return []string{"p", "q", "r"}[m.random.IntN(3)] }

// turn fetches a turn, if there is one, and ends it in one of several ways.
func (m *queueModel) turn() {
	got, err := m.p.FetchOrchestrationItem(m.ctx, provider.FetchOrchestrationParams{LockTimeout: held, Peek: m.random.IntN(8) > 0})
	m.ok(err, "§5.1: FetchOrchestrationItem")
	if got == nil {
		for _, queue := range m.awaited {
			m.check(m.read[queue] == m.sent[queue], ruleAwaited, "queue %s is awaited and has messages, and nothing is fetched", queue)
		}
		return
	}
	m.shows(got)
	switch m.random.IntN(6) {
	case 0:
		m.abandon(got, time.Duration(m.random.IntN(2))*time.Millisecond, true)
		m.tick()
		return
	case 1:
		m.continueAsNew(got)
		return
	}
	read := map[string]int{}
	for _, queue := range []string{"p", "q", "r"} {
		if n := len(shown(got, queue)); n > 0 {
			read[queue] = m.random.IntN(n + 1)
		}
	}
	var awaited []string
	for range m.random.IntN(3) {
		awaited = append(awaited, m.queue())
	}
	m.commit(got, read, awaited...)
}

// shows asserts that an item shows what the lists begin with.
func (m *queueModel) shows(got *provider.FetchedOrchestration) {
	m.Helper()
	for queue := range m.sent {
		atLeast := 0
		if !got.Item.Peeked {
			atLeast = m.sent[queue] - m.read[queue]
		}
		m.showsFrom(got, queue, m.read[queue], atLeast)
	}
}

// commit ends a turn that has read so many messages of each queue.
func (m *queueModel) commit(got *provider.FetchedOrchestration, read map[string]int, awaited ...string) {
	m.Helper()
	params := provider.AckOrchestrationParams{ExecutionID: m.execution, Queues: &provider.QueueReads{Read: read, Awaited: awaited}}
	if !got.Item.Peeked {
		params.Queues, awaited = nil, []string{"p", "q", "r"}
		for queue := range m.sent {
			read[queue] = len(shown(got, queue))
		}
	}
	m.env.commit(got, params)
	m.awaited = awaited
	for queue, n := range read {
		m.read[queue] += n
	}
}

// continueAsNew begins the next execution, with what was not read.
func (m *queueModel) continueAsNew(got *provider.FetchedOrchestration) {
	params := provider.AckOrchestrationParams{
		ExecutionID: m.execution, Metadata: ended(provider.StatusContinuedAsNew, "{}"), OrchestratorItems: []provider.WorkItem{continuing("A")},
	}
	if got.Item.Peeked {
		params.Queues = &provider.QueueReads{}
	} else {
		for queue := range m.sent {
			m.read[queue] += len(shown(got, queue))
		}
	}
	m.env.commit(got, params)
	m.execution++
	got = m.peek(held)
	m.shows(got)
	m.env.commit(got, provider.AckOrchestrationParams{
		ExecutionID: m.execution, Metadata: created(), HistoryDelta: []provider.Event{started("A", m.execution)}, Queues: &provider.QueueReads{},
	})
	m.awaited = nil
}
