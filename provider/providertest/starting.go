package providertest

import (
	"fmt"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// starting checks what a store promises that knows who uses an instance id, and starts an
// instance only if nobody does, alone or with messages (§5.22). Another store skips the
// scenarios.
func starting() category {
	return category{"starting", needing([]scenario{
		{"start_of_a_used_id_changes_nothing", startsUnused},
		{"id_is_used_by_instances_and_starts_alone", knowsUsers},
		{"deleted_instance_frees_its_id", startsDeleted},
		{"one_of_many_starts_is_enqueued", startsOnce},
		{"start_needs_an_instance", startsSomething},
		{"messages_come_with_the_start", startsWithMessages},
		{"messages_for_who_uses_the_id", sendsToUser},
		{"bad_message_starts_nothing", startsAllOrNothing},
	})}
}

const (
	ruleStarts   = "§5.22 StartInstance: finds out and enqueues in one atomic step; nil when the start was enqueued"
	ruleUsed     = "§5.22 used: there is an instance, in whatever state, or a StartOrchestration or ContinueAsNew waits"
	ruleFreed    = "§5.22 used: a deleted instance frees its id"
	ruleTogether = "§5.22 StartInstanceWith: the start and then the messages, in one atomic step"
	ruleToUser   = "§5.22 StartInstanceWith: if the id is used, messages are sent only if toUser is set"
)

// start starts an instance and wants that nobody, or this one, uses the id.
func (e *env) start(instance string, user *provider.IDUse, rule string) {
	e.Helper()
	use, err := e.full().StartInstance(e.ctx, startItem(instance))
	e.ok(err, rule)
	e.sameValue(use, user, rule, "who uses the id")
}

// use wants that nobody, or this one, uses the id.
func (e *env) use(instance string, user *provider.IDUse) {
	e.Helper()
	use, err := e.full().FindInstance(e.ctx, instance)
	e.ok(err, ruleUsed)
	e.sameValue(use, user, ruleUsed, "who uses the id")
}

// Each state that an instance goes through.
func startsUnused(e *env) {
	e.use("A", nil)
	e.start("A", nil, ruleStarts)
	e.start("A", &provider.IDUse{Name: "Order"}, ruleStarts)
	turn := e.fetchInstance("A", held)
	e.sameValue(turn.Item.Messages, []provider.WorkItem{startItem("A")}, ruleStarts, "messages of the first turn")
	e.ack(provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, HistoryDelta: []provider.Event{started("A", 1)}, Metadata: created(),
	})
	e.start("A", &provider.IDUse{Name: "Order", Status: provider.StatusRunning}, ruleStarts)
	e.fetchNone(ruleStarts)
	e.setStatusAndEnd("B", provider.StatusCompleted, nil)
	e.start("B", &provider.IDUse{Name: "Order", Status: provider.StatusCompleted}, ruleStarts)
	e.fetchNone(ruleStarts)
}

// Other messages use no id, and to look is no start.
func knowsUsers(e *env) {
	e.create("C")
	e.enqueue(raised("A", "event"), provider.QueueMessageItem{Instance: "A", Name: "queue", Data: "1"},
		provider.CancelInstanceItem{Instance: "A", Reason: "why"})
	e.use("A", nil)
	e.enqueue(startItem("B"))
	e.use("B", &provider.IDUse{Name: "Order"})
	e.use("B", &provider.IDUse{Name: "Order"})
	e.use("C", &provider.IDUse{Name: "Order", Status: provider.StatusRunning})
	e.start("A", nil, ruleUsed)
	e.use("A", &provider.IDUse{Name: "Order"})
}

func startsDeleted(e *env) {
	e.setStatusAndEnd("A", provider.StatusFailed, nil)
	_, err := e.admin().DeleteInstance(e.ctx, "A", false)
	e.ok(err, ruleFreed)
	e.use("A", nil)
	e.start("A", nil, ruleFreed)
	e.fetchInstance("A", held)
}

// Of many that start one id at once, one does.
func startsOnce(e *env) {
	const callers = 8
	var enqueued atomic.Int64
	starter := e.full()
	e.together(callers, func(int) error {
		return patiently(func() error {
			use, err := starter.StartInstance(e.ctx, startItem("A"))
			if err == nil && use == nil {
				enqueued.Add(1)
			}
			return err
		})
	})
	e.sameValue(enqueued.Load(), int64(1), ruleStarts, "starts that were enqueued")
	e.sameValue(len(e.fetchInstance("A", held).Item.Messages), 1, ruleStarts, "messages of the first turn")
}

func startsSomething(e *env) {
	_, err := e.full().StartInstance(e.ctx, startItem(""))
	e.permanent(err, provider.ErrInvalidArgument, "§5.22 StartInstance: ErrInvalidArgument without an instance")
}

// startWith starts an instance with two messages.
func (e *env) startWith(instance string, toUser bool, rule string) *provider.IDUse {
	e.Helper()
	use, err := e.full().StartInstanceWith(e.ctx, startItem(instance), letters(instance), toUser)
	e.ok(err, rule)
	return use
}

func letters(instance string) []provider.WorkItem {
	var list []provider.WorkItem
	for i := range 2 {
		list = append(list, provider.QueueMessageItem{Instance: instance, Name: "letters", Data: fmt.Sprint(i)})
	}
	return list
}

// The first turn has all of them, whatever was sent before.
func startsWithMessages(e *env) {
	early := raised("A", "event")
	e.enqueue(early)
	e.sameValue(e.startWith("A", false, ruleTogether), (*provider.IDUse)(nil), ruleTogether, "who uses the id")
	want := append([]provider.WorkItem{early, startItem("A")}, letters("A")...)
	e.sameValue(e.fetchInstance("A", held).Item.Messages, want, ruleTogether, "messages of the first turn")
}

// An instance that runs, and a start that waits.
func sendsToUser(e *env) {
	e.create("A")
	running := &provider.IDUse{Name: "Order", Status: provider.StatusRunning}
	e.sameValue(e.startWith("A", false, ruleToUser), running, ruleToUser, "who uses the id")
	e.fetchNone(ruleToUser)
	e.sameValue(e.startWith("A", true, ruleToUser), running, ruleToUser, "who uses the id")
	e.sameValue(e.fetchInstance("A", held).Item.Messages, letters("A"), ruleToUser, "messages")
	e.start("B", nil, ruleToUser)
	e.sameValue(e.startWith("B", true, ruleToUser), &provider.IDUse{Name: "Order"}, ruleToUser, "who uses the id")
	want := append([]provider.WorkItem{startItem("B")}, letters("B")...)
	e.sameValue(e.fetchInstance("B", held).Item.Messages, want, ruleToUser, "messages of the first turn")
}

// An activity is no message for an instance.
func startsAllOrNothing(e *env) {
	messages := append(letters("A"), activityItem("A", 2))
	_, err := e.full().StartInstanceWith(e.ctx, startItem("A"), messages, false)
	e.permanent(err, provider.ErrInvalidArgument, ruleTogether)
	e.fetchNone(ruleTogether)
	e.use("A", nil)
}
