package orchestrationtest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// target is what a mock stands for.
type target struct {
	sub  bool
	name string
}

// definition is an activity or an orchestration.
type definition[I, O any] interface {
	activity.Definition[I, O] | orchestration.Definition[I, O]
	Name() string
}

// Mocked is an activity or a sub-orchestration that [Mock] has replaced.
type Mocked struct {
	fn    registry.ActivityFunc
	fails int
	err   error
	takes time.Duration
	waits time.Duration
}

// Mock replaces an activity, a sub-orchestration or a detached orchestration by fn. Results, errors and panics of fn
// arrive as those of the real one would. fn runs on the test's goroutine when the call begins, so it may end the
// test, and variables that it shares with the test need no lock. A later Mock of a definition replaces an earlier
// one.
func Mock[I, O any, D definition[I, O]](e *Env, def D, fn func(ctx context.Context, input I) (O, error)) *Mocked {
	m := &Mocked{fn: func(ctx context.Context, text string) (string, error) {
		input, err := payload.Decode[I](text)
		if err != nil {
			return "", fmt.Errorf("input of %q: %w", def.Name(), err)
		}
		output, err := fn(ctx, input)
		if err != nil {
			return "", err
		}
		return payload.EncodeAs(output)
	}}
	_, sub := any(def).(orchestration.Definition[I, O])
	e.mocks[target{sub: sub, name: def.Name()}] = m
	return m
}

// Fails makes the first n calls fail with err; the function is not called for them.
func (m *Mocked) Fails(n int, err error) *Mocked {
	m.fails, m.err = n, err
	return m
}

// Takes makes the result of each call arrive d after the call begins. The result of a call that is cancelled before
// then never arrives. An activity whose retry policy has a shorter RunTimeout fails at that timeout.
func (m *Mocked) Takes(d time.Duration) *Mocked {
	m.takes = d
	return m
}

// Waits makes each call of an activity begin d after it was scheduled, as if all workers were busy until then. If the
// retry policy has a shorter StartTimeout, the function is not called.
func (m *Mocked) Waits(d time.Duration) *Mocked {
	m.waits = d
	return m
}

// call is a mock's function, or its failure.
func (m *Mocked) call(ctx context.Context, input string) (string, error) {
	if m.fails > 0 {
		m.fails--
		return "", m.err
	}
	return m.fn(ctx, input)
}

// schedule has an activity begin, at once unless a mock says otherwise.
func (e *Env) schedule(item provider.ActivityExecuteItem) {
	if m := e.mocks[target{name: item.Name}]; m != nil && m.waits > 0 {
		e.clock.add(e.clock.after(m.waits), false, func() { e.begin(item, m.waits) })
		return
	}
	e.begin(item, 0)
}

// begin runs an activity that has waited, unless it may not wait so long.
func (e *Env) begin(item provider.ActivityExecuteItem, waited time.Duration) {
	ref := provider.ActivityRef{Instance: item.Instance, ExecutionID: item.ExecutionID, ActivityID: item.ID}
	if e.cancelled[ref] {
		return
	}
	var result string
	var failed *provider.ApplicationFailure
	var takes time.Duration
	if most := item.StartTimeoutMs; most > 0 && uint64(waited/time.Millisecond) > most {
		failed = new(details.StartedLate(waited, most))
		failed.Heartbeat = item.Heartbeat
	} else {
		result, failed, takes = e.execute(item)
	}
	var completion provider.WorkItem = provider.ActivityCompletedItem{
		Instance: item.Instance, ExecutionID: item.ExecutionID, ID: item.ID, Result: result,
	}
	if failed != nil {
		completion = provider.ActivityFailedItem{
			Instance: item.Instance, ExecutionID: item.ExecutionID, ID: item.ID, Details: *failed,
		}
	}
	e.clock.add(e.clock.after(takes), false, func() {
		if !e.cancelled[ref] {
			e.deliver(completion)
		}
	})
}

// execute calls an activity's function, and says how long that takes.
func (e *Env) execute(item provider.ActivityExecuteItem) (result string, failed *provider.ApplicationFailure, takes time.Duration) {
	fn, takes := e.activity(item)
	heartbeat := item.Heartbeat
	ctx := activity.NewContext(e.t.Context(), activity.Environment{
		Info: activity.Info{
			Instance: item.Instance, ExecutionID: item.ExecutionID, ActivityID: item.ID,
			Name: item.Name, Attempt: 1, WorkerID: "test", SessionID: text(item.SessionID), Tag: text(item.Tag),
		},
		Caller: func(context.Context) (name, version string) {
			started := e.instance(item.Instance).started
			return started.Name, started.Version
		},
		Heartbeat: func(details string) { heartbeat = details }, LastHeartbeat: item.Heartbeat,
	})
	result, failed = invoke(ctx, provider.AppActivityFailed, "activity panicked: ", fn, item.Input)
	if most := details.Milliseconds(item.RunTimeoutMs); most > 0 && takes > most {
		failed, takes = new(details.RanTooLong(item.RunTimeoutMs)), most
	}
	if failed != nil {
		failed.Heartbeat = heartbeat
	}
	return result, failed, takes
}

// activity finds what runs as an activity, and how long that takes.
func (e *Env) activity(item provider.ActivityExecuteItem) (registry.ActivityFunc, time.Duration) {
	if fn, ok := e.builtIn(item.Name); ok {
		return fn, 0
	}
	e.called(false, item.Name, item.Instance, item.Input)
	if m := e.mocks[target{name: item.Name}]; m != nil {
		return m.call, m.takes
	}
	fn, ok := e.registry.Activity(item.Name)
	if !ok {
		e.t.Fatalf("activity %q of %q is neither given to New nor mocked", item.Name, item.Instance)
	}
	return fn, 0
}

// builtIn are the activities that every worker runs.
func (e *Env) builtIn(name string) (registry.ActivityFunc, bool) {
	switch name {
	case registry.NewGUID:
		return func(context.Context, string) (string, error) {
			e.guids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", e.guids), nil
		}, true
	case registry.UTCNow:
		return func(context.Context, string) (string, error) { return strconv.FormatUint(e.clock.now, 10), nil }, true
	case registry.ReadKV:
		return registry.KVReader(e.kvValue), true
	}
	return nil, false
}

// kvValue reads a key of another instance, nil if there is none.
func (e *Env) kvValue(_ context.Context, instance, key string) (*string, error) {
	if in := e.instances[instance]; in != nil {
		if entry, ok := in.keys()[key]; ok {
			return &entry.Value, nil
		}
	}
	return nil, nil
}

// startMocked calls the mock of an orchestration, and tells the parent if there is one.
func (e *Env) startMocked(m *Mocked, item provider.StartOrchestrationItem) {
	e.called(true, item.Orchestration, item.Instance, item.Input)
	result, failed := invoke(e.t.Context(), provider.AppOrchestrationFailed, "", m.call, item.Input)
	e.clock.add(e.clock.after(m.takes), false, func() {
		if !e.cancelled[item.Instance] {
			e.cancelled[item.Instance] = true // has ended
			e.endMocked(item, result, failed)
		}
	})
}

// endMocked tells the parent how the mock of a sub-orchestration ended.
func (e *Env) endMocked(item provider.StartOrchestrationItem, result string, failed *provider.ApplicationFailure) {
	if item.ParentInstance == nil {
		return
	}
	if failed == nil {
		e.post(provider.SubOrchCompletedItem{
			ParentInstance: *item.ParentInstance, ParentExecutionID: *item.ParentExecutionID, ParentID: *item.ParentID, Result: result,
		})
		return
	}
	e.post(provider.SubOrchFailedItem{
		ParentInstance: *item.ParentInstance, ParentExecutionID: *item.ParentExecutionID, ParentID: *item.ParentID, Details: *failed,
	})
}

// invoke calls a function as a worker does, which turns a panic into a failure.
func invoke(ctx context.Context, kind provider.AppErrorKind, panicked string, fn registry.ActivityFunc, input string) (result string, failed *provider.ApplicationFailure) {
	defer func() {
		if value := recover(); value != nil {
			failed = &provider.ApplicationFailure{Kind: kind, Message: panicked + fmt.Sprint(value)}
		}
	}()
	result, err := fn(ctx, input)
	if err != nil {
		return "", new(details.Of(kind, err))
	}
	return result, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
