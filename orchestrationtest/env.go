package orchestrationtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// epoch is when the clock of each test begins.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Env is a test environment for orchestrations with a clock of its own. Make it with [New]. Only the test's goroutine
// may use it; each parallel test needs its own.
type Env struct {
	code

	t     testing.TB
	mocks map[target]*Mocked
	clock agenda
	// instances are all that were started or were sent something.
	instances map[string]*instance
	// root is the instance of the latest Run.
	root string
	runs int
	// cancelled are the activities and mocked sub-orchestrations whose result nobody wants.
	cancelled map[any]bool
	calls     []Call
	guids     int
	turns     int
	// replayed counts the events that were replayed.
	replayed int
	log      transcript
	late     late
}

// New returns an environment with these orchestrations and activities. Its clock begins at midnight of 2000-01-01
// UTC. As for worker.Register, give versions of one orchestration in rising order. Definitions that [Mock] replaces,
// and the orchestration that [Run] runs, can be left out. If the test fails, the test's log shows what happened, and
// when.
func New(t testing.TB, definitions ...worker.Registrable) *Env {
	t.Helper()
	e := &Env{
		t: t, mocks: map[target]*Mocked{}, instances: map[string]*instance{},
		late: late{t: t}, clock: agenda{now: uint64(epoch.UnixMilli())}, cancelled: map[any]bool{},
	}
	var err error
	if e.code, err = codeOf(definitions); err != nil {
		t.Fatalf("orchestrationtest.New: %v", err)
	}
	t.Cleanup(e.close)
	return e
}

// close ends the functions that are kept in memory.
func (e *Env) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, in := range e.instances {
		in.forget(ctx)
	}
	e.late.end()
	if e.t.Failed() && len(e.log.lines) > 0 {
		e.t.Log("what happened:\n" + e.log.String())
	}
}

// Now returns the time of the test's clock.
func (e *Env) Now() time.Time { return time.UnixMilli(int64(e.clock.now)).UTC() }

// elapsed is the time since the clock began.
func (e *Env) elapsed() time.Duration { return e.Now().Sub(epoch) }

// ErrStuck is the error of a [Run] that can never end: the orchestration waits, and no activity, timer or script can
// still wake it. The text names what it waits for, and the line.
var ErrStuck = errors.New("nothing is left to happen")

// maxTurns ends an orchestration that goes on for ever.
const maxTurns = 1_000_000

// Run starts the orchestration in the version of the definition, and lets time pass until it has ended and everything
// due at that moment is done. The first instance has the id "test", the next "test-2". Errors: [*client.FailedError],
// as client.Run.Wait returns it, and [ErrStuck]. The test ends at once if code does not replay, blocks outside its
// context, or calls a definition that was neither given nor mocked.
func Run[I, O any](e *Env, def orchestration.Definition[I, O], input I) (O, error) {
	e.t.Helper()
	var none O
	text, err := payload.EncodeAs(input)
	if err != nil {
		e.t.Fatalf("orchestrationtest.Run: input of %s: %v", def.Name(), err)
	}
	e.runs++
	e.root = "test"
	if e.runs > 1 {
		e.root = fmt.Sprintf("test-%d", e.runs)
	}
	item := provider.StartOrchestrationItem{Instance: e.root, Orchestration: def.Name(), Input: text, ExecutionID: 1}
	if _, version, ok := e.registry.Orchestration(def.Name(), def.Version()); ok {
		item.Version = &version
	} else if _, _, ok := e.registry.Orchestration(def.Name(), ""); !ok {
		if err := e.registry.Add(def); err != nil {
			e.t.Fatalf("orchestrationtest.Run: %v", err)
		}
	}
	e.post(item)
	in := e.instance(e.root)
	e.pass(in.ended)
	if !in.ended() {
		return none, in.stuck()
	}
	e.settle()
	e.verify()
	if why := in.failure(); why != nil {
		return none, &client.FailedError{Instance: in.id, Details: why}
	}
	output, err := payload.Decode[O](in.output())
	if err != nil {
		return none, fmt.Errorf("result of %q: %w", in.id, err)
	}
	return output, nil
}

// pass lets time pass until done, or nothing is left to happen.
func (e *Env) pass(done func() bool) {
	e.t.Helper()
	for more := true; more && !done(); {
		more = e.clock.step(never)
	}
}

// settle does what is left to do at this moment, without the script.
func (e *Env) settle() {
	for len(e.clock.entries) > 0 && !e.clock.entries[0].script {
		if !e.clock.step(e.clock.now) {
			return
		}
	}
}

// Advance lets d pass after [Run] has returned, for work that continues without it: detached orchestrations, and the
// rest of the script.
func (e *Env) Advance(d time.Duration) {
	e.t.Helper()
	until := e.clock.after(d)
	for more := true; more; {
		more = e.clock.step(until)
	}
	e.clock.now = until
	e.verify()
}

// CustomStatus returns the custom status of the orchestration that [Run] started last, nil if there is none. A script
// can read it in [Moment.Do].
func (e *Env) CustomStatus() *string { return e.instance(e.root).status }

// History returns the events of an instance's latest execution.
func (e *Env) History(instance string) []provider.Event {
	return slices.Clone(e.instance(instance).history)
}

// Instances returns the sorted ids of all instances that have begun, including sub-orchestrations.
func (e *Env) Instances() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(e.instances)) {
		if len(e.instances[id].history) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Moment is a time in the test's script.
type Moment struct {
	env      *Env
	at       uint64
	instance string
}

// After returns the moment d from now; before [Run], that is d after its start. Everything that the orchestrations do
// up to that moment happens first. Moments at the same time happen in the order of the script.
func (e *Env) After(d time.Duration) Moment { return Moment{env: e, at: e.clock.after(d)} }

// To sends what follows to the given instance, such as "test::sub::2". Without it, the instance that [Run] started
// last receives it.
func (m Moment) To(instance string) Moment {
	m.instance = instance
	return m
}

// Raise raises an event at a moment of the script, as client.RaiseEvent does. An event that no wait receives is lost.
// Data that cannot be decoded as a T again ends the test.
func Raise[T any](m Moment, event orchestration.Event[T], value T) Moment {
	m.env.t.Helper()
	data := encoded(m, value)
	return m.send(func(instance string) provider.WorkItem {
		return provider.ExternalRaisedItem{Instance: instance, Name: event.Name(), Data: data}
	})
}

// Enqueue puts a message into a queue at a moment of the script, as client.Enqueue does. A message that cannot be
// decoded as a T again ends the test.
func Enqueue[T any](m Moment, queue orchestration.Queue[T], message T) Moment {
	m.env.t.Helper()
	data := encoded(m, message)
	return m.send(func(instance string) provider.WorkItem {
		return provider.QueueMessageItem{Instance: instance, Name: queue.Name(), Data: data}
	})
}

// Cancel asks an orchestration to end, as client.Cancel does.
func (m Moment) Cancel(reason string) Moment {
	return m.send(func(instance string) provider.WorkItem {
		return provider.CancelInstanceItem{Instance: instance, Reason: reason}
	})
}

// Do calls fn, which may inspect the environment and add to its script.
func (m Moment) Do(fn func()) Moment {
	m.env.clock.add(m.at, true, fn)
	return m
}

// encoded is what a client of the same type would send.
func encoded[T any](m Moment, value T) string {
	m.env.t.Helper()
	text, err := payload.EncodeFitting(value)
	if err != nil {
		m.env.t.Fatalf("orchestrationtest: %v", err)
	}
	return text
}

func (m Moment) send(item func(instance string) provider.WorkItem) Moment {
	return m.Do(func() {
		instance := m.instance
		if instance == "" {
			instance = m.env.root
		}
		m.env.post(item(instance))
	})
}
