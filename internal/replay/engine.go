package replay

import (
	"context"
	"fmt"
	"maps"

	"github.com/duroxide/duroxide-go/provider"
)

// maxQuiescenceRounds bounds how often in a row a function may react to its own actions
// without reading a message, within one turn (contract §7.2).
const maxQuiescenceRounds = 100

// engine is the state of an execution and of its present turn. What belongs to the turn
// alone begins anew in resume (see suspend.go).
type engine struct {
	turn    Turn
	started provider.OrchestrationStarted
	// events is the recorded history followed by this turn's new events.
	events []provider.Event
	// persisted is the number of recorded events.
	persisted int
	// known is the number of those that an earlier turn of this engine left, and applied
	// how many of these the function's side has been told.
	known, applied int
	// at is the event that walk comes to next.
	at        int
	env       *Env
	coroutine *coroutine
	// recorded is what the recorded history holds, or the start of a new execution.
	recorded extent
	// inbox knows what messages the history admits. arriving are those of the batch that are
	// not recorded yet, and waiting the queue messages that no dequeue can read so far.
	inbox    inbox
	arriving []arrival
	waiting  []provider.QueueEventDelivered

	// bound are the handles by their schedule event.
	bound map[uint64]*Handle
	// open are the schedule events still waiting for a result.
	open map[uint64]bool
	// dequeued means that a dequeue was bound since the function last ran: a message
	// that was already there may answer it.
	dequeued bool
	// exact is the policy of this execution (see policy.go).
	exact bool
	// external and queues are the waits by name. external only ever holds
	// deliveries that found a subscription; queues keeps all (mailbox).
	external, queues *channels
	// pending are this turn's new actions, in order.
	pending []*Handle
	// next is set by NextExecution.
	next *NextExecution
	// carried are the queue messages that go along.
	carried []provider.CarriedMessage

	// failure ends the turn as Failed whatever else happened.
	failure provider.ErrorDetails
	outcome Outcome
	// cancelledChildren are those the function gave up in this turn.
	cancelledChildren []*Handle
	// limitExceeded says that the failure is a limit's, so that nothing is sent.
	limitExceeded bool
	res           Result
}

func engineFor(turn Turn) *engine {
	if turn.Resume != nil {
		return turn.Resume.resume(turn)
	}
	return newEngine(turn)
}

func newEngine(turn Turn) *engine {
	e := &engine{
		turn:  turn,
		bound: map[uint64]*Handle{},
		open:  map[uint64]bool{},
	}
	e.inbox = inbox{engine: e, schedules: map[uint64]provider.EventKind{}, done: map[uint64]bool{}}
	e.events = append(make([]provider.Event, 0, len(turn.History)+len(turn.Messages)+8), turn.History...)
	e.persisted = len(turn.History)
	if e.persisted == 0 {
		e.record(nil, turn.Started)
	}
	e.exact, e.res.StampError = isExact(e.events[0].DuroxideVersion)
	e.external, e.queues = newChannels(e.exact, false), newChannels(e.exact, true)
	e.queues.beginTurn(e.nextEventID())
	e.env = &Env{engine: e, kv: maps.Clone(turn.KV)}
	if e.env.kv == nil {
		e.env.kv = map[string]provider.KVEntry{}
	}
	env := e.env
	fn := turn.Func
	env.coroutine = newCoroutine(func() (string, error) {
		defer env.stopBranches()
		return fn(env, e.started.Input)
	})
	env.coroutine.begin(turn.UsedLate, turn.BlockedAfter, turn.Slow)
	e.coroutine = env.coroutine
	e.recorded = measure(e.events)
	return e
}

// record appends a new event.
func (e *engine) record(source *uint64, kind provider.EventKind) provider.Event {
	event := provider.Event{
		EventID: e.nextEventID(), SourceEventID: source,
		InstanceID: e.turn.Instance, ExecutionID: e.turn.ExecutionID,
		TimestampMs: e.turn.NowMs(), DuroxideVersion: e.turn.FrameworkVersion,
		Kind: kind,
	}
	e.events = append(e.events, event)
	return event
}

func (e *engine) nextEventID() uint64 {
	if len(e.events) == 0 {
		return 1
	}
	return e.events[len(e.events)-1].EventID + 1
}

// run executes the turn up to its outcome.
func (e *engine) run(ctx context.Context) error {
	if e.alreadyEnded() {
		return nil
	}
	started, ok := e.events[0].Kind.(provider.OrchestrationStarted)
	if e.known == 0 {
		e.started = started
		e.env.status = started.InitialCustomStatus
	}
	e.receive()
	if !ok {
		e.nondeterministicf("the history begins with %s instead of OrchestrationStarted", e.events[0].Kind.Type())
	}
	if e.failure == nil && !e.failMisuse(e.coroutine.misused()) {
		if err := e.walk(ctx); err != nil {
			return e.cancelBlocked(ctx, err)
		}
	}
	e.arriveUnseen()
	e.failMisuse(e.coroutine.decide())
	e.finish()
	return nil
}

// replaying tells the function whether it repeats what it did before.
func (e *engine) replaying(yes bool) { e.env.replaying.Store(yes || e.turn.Silent) }

// nondeterministicf ends the turn as Failed: history and messages do not fit each other.
// The first reason wins.
func (e *engine) nondeterministicf(format string, args ...any) {
	if e.failure == nil {
		message := fmt.Sprintf(format, args...)
		e.failure = provider.ConfigurationFailure{Kind: provider.Nondeterminism, Message: &message}
	}
}

// walk replays the history and then lets the function go on (contract §7.11 B).
func (e *engine) walk(ctx context.Context) error {
	// A function that goes on has looked at all it knows.
	mustPoll := e.known == 0
	// The function's reaction to a recorded event was seen by the turn that
	// recorded it, so it is a replay; the reaction to a new event is not.
	e.replaying(e.persisted > e.known)
	for i := e.applied; i < len(e.events) || len(e.arriving) > 0; i++ {
		e.at = i
		// Polled before the next event is applied, so that every completion is
		// observed alone and in the order of history: that is what makes a
		// select deterministic.
		if mustPoll {
			if err := e.poll(ctx); err != nil {
				return err
			}
			if e.failure != nil || e.returned() {
				e.checkReturnedEarly(i)
				break
			}
			mustPoll = false
		}
		if i == len(e.events) && !e.arrive() {
			break
		}
		mustPoll = e.apply(e.events[i]) || (e.dequeued && e.batchEnds(i))
		if e.failure != nil {
			return nil
		}
		if mustPoll {
			e.replaying(i < e.persisted)
		}
	}
	if e.failure != nil {
		return nil
	}
	e.at = len(e.events)
	return e.advance(ctx, mustPoll)
}

// batchEnds reports whether event i is the last that records what the function asked
// for in one go. All of that was recorded before the function could look again (see
// convert), so a replay lets it look no sooner: a dequeue in the midst that finds its
// message waiting would otherwise win a select against those recorded after it.
func (e *engine) batchEnds(i int) bool {
	return len(e.env.emitted) == 0 || i+1 == len(e.events) || !isSchedule(e.events[i+1].Kind)
}

// advance goes beyond the history: it polls once more if the last event asks for
// it, then records what the function asked for, and the messages that it can read, and
// lets it react to that.
func (e *engine) advance(ctx context.Context, mustPoll bool) error {
	if mustPoll && !e.returned() {
		if err := e.poll(ctx); err != nil || e.failure != nil {
			return err
		}
	}
	e.replaying(false)
	e.releaseDropped()
	for idle := 0; ; idle++ {
		// A message that comes after what was asked for is observed after it, as in a replay.
		if asked := e.convert(); e.returned() || !asked && !e.readWaiting() {
			return nil
		}
		if idle == maxQuiescenceRounds {
			e.failure = provider.InfrastructureFailure{
				Operation: "quiescence_loop",
				Message: fmt.Sprintf("the orchestration did not come to rest within %d rounds: it has asked for as many things in a row "+
					"without having to wait; let it sleep or continue as new after fewer", maxQuiescenceRounds),
			}
			return nil
		}
		before := e.queues.reads
		if err := e.poll(ctx); err != nil || e.failure != nil {
			return err
		}
		if e.queues.reads > before {
			idle = 0
		}
	}
}

// releaseDropped is where the legacy policy takes back the places of dropped dequeues.
// Those that are bound or dropped later keep theirs for the rest of the turn.
func (e *engine) releaseDropped() {
	if e.exact {
		return
	}
	for _, h := range e.env.dropped {
		if _, dequeue := h.action.(Dequeue); dequeue && h.sub != nil {
			h.sub.cancel()
		}
	}
}

// poll lets the function run until it blocks or returns.
func (e *engine) poll(ctx context.Context) error {
	e.dequeued = false
	if err := e.coroutine.poll(ctx); err != nil {
		return err
	}
	if e.failMisuse(e.coroutine.misused()) {
		return nil
	}
	if e.env.exceeded != "" {
		e.exceed(e.env.exceeded)
	}
	if p := e.coroutine.panic; p != nil && e.failure == nil {
		e.failure = provider.ApplicationFailure{Kind: provider.AppPanicked, Message: p.message}
		e.res.PanicStack = p.stack
	}
	return nil
}

// failMisuse ends the turn as Failed when another goroutine used the context. The
// function may still be running, so its side is left to it and not looked at again.
func (e *engine) failMisuse(at string) bool {
	if at == "" {
		return false
	}
	e.res.Misused = at
	e.failure = provider.ApplicationFailure{
		Kind: provider.AppOrchestrationFailed,
		Message: "the orchestration context was used from another goroutine at " + at +
			"; orchestrations must not start goroutines, use orchestration.Go",
	}
	e.env = &Env{}
	return true
}

// tellMisuse is failMisuse for a turn that another goroutine's use of the context cannot fail.
func (e *engine) tellMisuse() {
	if at := e.coroutine.decide(); at != "" && e.turn.UsedLate != nil {
		e.turn.UsedLate(at)
	}
}

func (e *engine) returned() bool { return e.coroutine.done }

// checkReturnedEarly reports code that returns before it has asked for everything
// that history says it asked for: had it returned then, the execution would have
// ended there (contract §7.12). Of one that has, what it last asked for is compared.
func (e *engine) checkReturnedEarly(at int) {
	for i := at; i < e.persisted && e.failure == nil; i++ {
		switch {
		case !isSchedule(e.events[i].Kind):
		case e.turn.ended && len(e.env.emitted) > 0:
			e.applySchedule(e.events[i]) // asked for just before it returned
		default:
			e.misfit(Misfit{Message: fmt.Sprintf("the function returned, but history goes on with event %d, %s",
				e.events[i].EventID, describe(e.events[i].Kind))})
		}
	}
}
