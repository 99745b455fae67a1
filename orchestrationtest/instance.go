package orchestrationtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// instance is an orchestration that was started, or that was only sent something.
type instance struct {
	id string
	// started is the beginning of the latest execution, whose events are the history.
	started   provider.OrchestrationStarted
	execution uint64
	history   []provider.Event
	// end is the event that ended the execution, nil while it runs.
	end provider.EventKind
	// earlier are the histories of the executions before.
	earlier [][]provider.Event
	// kv are the keys as of the execution's start.
	kv     map[string]provider.KVEntry
	status *string
	// waiting are messages that came before the execution's start.
	waiting []provider.WorkItem
	// queues are the queue messages that no turn has read, and awaited those of which the last turn
	// waits for a message.
	queues  queues
	awaited []string
	// places are the lines that asked for what is recorded, by event.
	places map[uint64]string
	// mock is the start of a mocked orchestration.
	mock *provider.StartOrchestrationItem

	// suspended, if not nil, is the function, and checked how long the history was when it was
	// replayed last.
	suspended *replay.Suspended
	checked   int
	// verified is how long the history was when verify replayed it.
	verified int
}

// instance finds an instance, or makes it.
func (e *Env) instance(id string) *instance {
	in := e.instances[id]
	if in == nil {
		in = &instance{id: id}
		e.instances[id] = in
	}
	return in
}

// post sends a message now.
func (e *Env) post(item provider.WorkItem) {
	at := e.clock.now
	if timer, ok := item.(provider.TimerFiredItem); ok {
		at = timer.FireAtMs
	}
	e.clock.add(at, false, func() { e.deliver(item) })
}

// deliver hands a message to its instance.
func (e *Env) deliver(item provider.WorkItem) {
	in := e.instance(item.Target())
	if e.deliverMocked(in, item) {
		return
	}
	next, continues := item.(provider.ContinueAsNewItem)
	start, starts := item.(provider.StartOrchestrationItem)
	begins := starts && len(in.history) == 0 || continues
	message, queued := item.(provider.QueueMessageItem)
	switch {
	case in.ended():
		e.refuse(in, start)
	case starts && !begins:
		e.refuse(in, start)
	case queued:
		e.enqueue(in, message)
	case !begins && (len(in.history) == 0 || in.continued()):
		in.waiting = append(in.waiting, item)
	case starts:
		in.begin(history.StartedBy(start), start.Version)
		// A request from before the start was meant for somebody else.
		in.waiting = slices.DeleteFunc(in.waiting, isCancel)
		e.turn(in, in.unread())
	case continues:
		e.continueAsNew(in, next)
	default:
		e.turn(in, []provider.WorkItem{item})
	}
}

func isCancel(item provider.WorkItem) bool {
	_, ok := item.(provider.CancelInstanceItem)
	return ok
}

// deliverMocked is deliver for what a mock stands for.
func (e *Env) deliverMocked(in *instance, item provider.WorkItem) bool {
	if start, ok := item.(provider.StartOrchestrationItem); ok && len(in.history) == 0 && in.mock == nil {
		if m := e.mocks[target{sub: true, name: start.Orchestration}]; m != nil {
			in.mock = &start
			e.startMocked(m, start)
		}
		return in.mock != nil
	}
	cancel, ok := item.(provider.CancelInstanceItem)
	if ok && in.mock != nil && !e.cancelled[in.id] {
		e.cancelled[in.id] = true
		e.endMocked(*in.mock, "", &provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: cancel.Reason})
	}
	if start, ok := item.(provider.StartOrchestrationItem); ok && in.mock != nil {
		e.refuse(in, start)
	}
	return in.mock != nil
}

func (in *instance) begin(started provider.OrchestrationStarted, version *string) {
	started.Version = text(version)
	in.execution++
	in.started, in.history, in.end, in.places = started, nil, nil, map[uint64]string{}
	in.checked, in.verified = 0, 0
	if started.InitialCustomStatus != nil {
		in.status = started.InitialCustomStatus
	}
}

// unread takes the messages that have waited for the start.
func (in *instance) unread() []provider.WorkItem {
	items := in.waiting
	in.waiting = nil
	return items
}

func (e *Env) continueAsNew(in *instance, item provider.ContinueAsNewItem) {
	in.kv = in.keys()
	in.earlier = append(in.earlier, in.history)
	in.begin(history.ContinuedBy(item), item.Version)
	e.turn(in, in.unread())
}

// refuse tells a parent that its child's id is taken.
func (e *Env) refuse(in *instance, start provider.StartOrchestrationItem) {
	if start.ParentInstance == nil {
		return
	}
	message := history.TakenText(in.id)
	if in.ended() {
		message += history.TakenByFinished
	}
	e.post(provider.SubOrchFailedItem{
		ParentInstance: *start.ParentInstance, ParentID: *start.ParentID, ParentExecutionID: *start.ParentExecutionID,
		Details: provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: message},
	})
}

// replayBudget is how many events are replayed before functions are kept in memory.
const replayBudget = 100_000

// blockedAfter is as long as on a worker.
const blockedAfter = time.Second

// turn runs a turn and does what it asks for.
func (e *Env) turn(in *instance, messages []provider.WorkItem) {
	if e.turns++; e.turns > maxTurns {
		e.t.Fatalf("after %d turns and %v of virtual time the orchestrations still go on; end them with After(…).Cancel",
			maxTurns, e.elapsed())
	}
	turn := e.turnOf(in)
	turn.Messages, turn.Peeked = append(in.queues.peek(), messages...), true
	if s := in.suspended; s != nil {
		in.suspended = nil
		if events, ok := s.Extend(0, in.history); ok {
			turn.History, turn.Resume = events, s
		} else {
			_ = s.Stop(context.Background())
		}
	} else {
		e.replayed += len(in.history)
		in.checked = len(in.history)
	}
	turn.Keep = e.replayed > replayBudget && len(in.history) < 2*in.checked+1000
	result, err := replay.Run(context.Background(), turn)
	if err == nil && result.Blocked != nil {
		err = result.Blocked
	}
	if err != nil {
		e.t.Fatalf("%q: %v", in.id, err)
	}
	if result.Misfit != nil {
		e.misfit(in, turn, result.Misfit)
	}
	in.suspended = result.Suspended
	in.history = append(in.history, result.HistoryDelta...)
	maps.Copy(in.places, result.Places)
	for _, event := range result.HistoryDelta {
		if event.Terminal() {
			in.end = event.Kind
		}
	}
	e.record(in, result)
	e.act(in, result)
	in.queues.read(result.Read)
	in.awaited = result.Awaited
	if in.queues.have(in.awaited) {
		e.clock.add(e.clock.now, false, func() { e.readOn(in) })
	}
}

// turnOf is what is the same for all turns of an execution.
func (e *Env) turnOf(in *instance) replay.Turn {
	fn, version, ok := e.registry.Orchestration(in.started.Name, in.started.Version)
	if !ok {
		e.t.Fatalf("orchestration %q, version %q, which %q is to run, is neither given to New nor mocked",
			in.started.Name, in.started.Version, in.id)
	}
	in.started.Version = version
	now := e.clock.now
	return replay.Turn{
		Instance: in.id, ExecutionID: in.execution, Func: fn, History: in.history, Started: in.started, KV: in.kv,
		FrameworkVersion: provider.FrameworkVersion, NowMs: func() uint64 { return now },
		Limits: replay.DefaultLimits, ActivityRetry: e.retry, BlockedAfter: blockedAfter, Places: true,
		UsedLate: func(at string) {
			e.late.errorf("%q: the orchestration context was used from another goroutine after its turn at %s", in.id, at)
		},
	}
}

// act sends what a turn has asked for.
func (e *Env) act(in *instance, result *replay.Result) {
	for _, ref := range result.CancelledActivities {
		e.cancelled[ref] = true
	}
	for _, item := range result.OrchestratorItems {
		if !e.isStranger(in, item) {
			e.post(item)
		}
	}
	if result.Outcome.Ends() {
		e.cancelEarlier(in)
		if result.Parent != nil {
			e.post(result.Parent)
		}
	}
	for _, item := range result.WorkerItems {
		if call, ok := item.(provider.ActivityExecuteItem); ok {
			e.clock.add(e.clock.now, false, func() { e.schedule(call) })
		}
	}
}

// isStranger reports the cancellation of an instance that has the id which a child was to have.
func (e *Env) isStranger(in *instance, item provider.WorkItem) bool {
	cancel, ok := item.(provider.CancelInstanceItem)
	if !ok || cancel.Instance == in.id || history.IsGeneratedChild(in.id, cancel.Instance) {
		return false
	}
	other := e.instance(cancel.Instance)
	return len(other.history) > 0 && text(other.started.ParentInstance) != in.id
}

// cancelEarlier cancels the children of the executions before one that ends the instance.
func (e *Env) cancelEarlier(in *instance) {
	for _, events := range slices.Backward(in.earlier) {
		for _, child := range history.OpenChildren(in.id, events) {
			other := e.instance(child)
			if !other.ended() && (len(other.history) == 0 || text(other.started.ParentInstance) == in.id) {
				e.post(provider.CancelInstanceItem{Instance: child, Reason: history.ParentEnded})
			}
		}
	}
}

// verify replays what has happened once more from the start. It does so several times while that
// costs nothing: code that goes by chance may be right once.
func (e *Env) verify() {
	e.t.Helper()
	for _, id := range slices.Sorted(maps.Keys(e.instances)) {
		in := e.instances[id]
		if len(in.history) == in.verified {
			continue
		}
		for more := 8; more > 0; more-- {
			turn := e.turnOf(in)
			result, err := replay.Check(context.Background(), turn)
			if err != nil {
				e.t.Fatalf("%q: %v", in.id, err)
			}
			e.compareEnds(in, turn, result)
			if e.replayed += len(in.history); e.replayed > replayBudget {
				break
			}
		}
		in.verified = len(in.history)
	}
}

// compareEnds compares how an execution ended with what its replay came to.
func (e *Env) compareEnds(in *instance, turn replay.Turn, result *replay.Result) {
	if result.Misfit != nil {
		e.misfit(in, turn, result.Misfit)
	}
	completed, ok := in.end.(provider.OrchestrationCompleted)
	if ok && (result.Outcome != replay.Completed || *result.Metadata.Output != completed.Output) {
		e.t.Fatalf("%q does not repeat itself: it returned %s, and a replay %s", in.id, completed.Output, outcomeOf(result))
	}
}

func outcomeOf(result *replay.Result) string {
	if result.Metadata.Output == nil {
		return "goes on"
	}
	return "returned " + *result.Metadata.Output
}

// misfit ends the test because the code does not repeat itself. For the line it replays once more;
// code that goes by chance gets some more chances to fail.
func (e *Env) misfit(in *instance, turn replay.Turn, m *replay.Misfit) {
	e.t.Helper()
	turn.AllPlaces, turn.Resume, turn.Keep = true, nil, false
	for chances := 20; chances > 0; chances-- {
		again, err := replay.Check(context.Background(), turn)
		if err == nil && again.Misfit != nil {
			m = again.Misfit
			break
		}
	}
	if m.EventID == 0 {
		e.t.Fatalf("%q does not repeat itself: %s", in.id, m.Message)
	}
	e.t.Fatalf("%q does not repeat itself: event %d was %s%s, a replay asks for %s%s%s",
		in.id, m.EventID, m.Recorded, at(in.places[m.EventID]), m.Asked, at(m.At), m.Difference)
}

func at(place string) string {
	if place == "" {
		return ""
	}
	return " at " + place
}

func (in *instance) continued() bool {
	_, ok := in.end.(provider.OrchestrationContinuedAsNew)
	return ok
}

func (in *instance) ended() bool { return in.end != nil && !in.continued() }

func (in *instance) output() string {
	completed, _ := in.end.(provider.OrchestrationCompleted)
	return completed.Output
}

func (in *instance) failure() provider.ErrorDetails {
	failed, _ := in.end.(provider.OrchestrationFailed)
	return failed.Details
}

// stuck says for what an instance waits.
func (in *instance) stuck() error {
	var waits []string
	for _, event := range history.Unsettled(in.history) {
		waits = append(waits, fmt.Sprintf("event %d, %s%s", event.EventID, describe(event.Kind), at(in.places[event.EventID])))
	}
	if waits == nil {
		return fmt.Errorf("%q waits, but not for anything that it asked for: %w", in.id, ErrStuck)
	}
	return fmt.Errorf("%q waits for %s: %w", in.id, strings.Join(waits, ", "), ErrStuck)
}

// keys are the keys as they are now.
func (in *instance) keys() map[string]provider.KVEntry {
	keys := maps.Clone(in.kv)
	if keys == nil {
		keys = map[string]provider.KVEntry{}
	}
	for _, event := range in.history {
		switch k := event.Kind.(type) {
		case provider.KeyValueSet:
			keys[k.Key] = provider.KVEntry{Value: k.Value, LastUpdatedAtMs: k.LastUpdatedAtMs}
		case provider.KeyValueCleared:
			delete(keys, k.Key)
		case provider.KeyValuesCleared:
			clear(keys)
		}
	}
	return keys
}

// forget ends the function if it is kept in memory.
func (in *instance) forget(ctx context.Context) {
	if in.suspended != nil {
		_ = in.suspended.Stop(ctx) // a deferred call that blocks
		in.suspended = nil
	}
}
