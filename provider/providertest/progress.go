package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// progressReading checks what a store promises that tells how far many instances are, and
// when one has ended (§5.25). Another store skips the scenarios.
func progressReading() category {
	return category{"progress", append(needing([]scenario{
		{"progress_of_each_state", tellsEachState},
		{"progress_in_the_order_asked_for", tellsInOrder},
		{"progress_of_the_current_execution", tellsCurrentExecution},
		{"progress_of_a_damaged_instance_hides_no_other", tellsAroundDamage},
	}), scenario{"end_is_told_and_nothing_else", noticesEnds}, scenario{"end_is_told_with_its_outcome", tellsOutcomes})}
}

const (
	ruleUse      = "§5.25: Use: as FindInstance says"
	ruleProgress = "§5.25: one for each instance, in order; an id may come twice"
	ruleOutcome  = "§5.25: CustomStatus, History: only of an instance whose current execution is Completed or Failed"
	ruleTold     = "§5.25: InstanceEnd tells how far the commit has left the instance, nothing of one that was deleted"
	ruleNotice   = "§5.25: InstanceEnd is told of a turn that completes or fails the instance, and of its deletion"
)

// progress asks the store; the scenario is skipped if it does not tell.
func (e *env) progress(instances ...string) []provider.Progress {
	e.Helper()
	list, err := e.full().ReadProgress(e.ctx, instances)
	e.ok(err, ruleProgress)
	e.sameValue(len(list), len(instances), ruleProgress, "the number of answers")
	return list
}

// outcome asserts that the progress has the first and the last of the events.
func (e *env) outcome(got provider.Progress, all []provider.Event) {
	e.Helper()
	e.ok(got.Err, ruleOutcome)
	ends := []provider.Event{all[0], all[len(all)-1]}
	if len(all) == 1 {
		ends = ends[:1]
	}
	if len(got.History) == len(all) {
		ends = all
	}
	e.sameEvents(got.History, ends, ruleOutcome)
}

// Nobody, a start that waits, one that runs, and those that have ended.
func tellsEachState(e *env) {
	e.createWith("runs", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("runs", 1, 2, provider.CustomStatusUpdated{Status: new("half")})},
		Metadata:     created(),
	})
	e.setStatusAndEnd("completed", provider.StatusCompleted, new("all"))
	e.setStatusAndEnd("failed", provider.StatusFailed, nil)
	e.enqueue(startItem("waits"))
	list := e.progress("nobody", "waits", "runs", "completed", "failed")
	for i, want := range []*provider.IDUse{
		nil,
		{Name: "Order"},
		{Name: "Order", Status: provider.StatusRunning},
		{Name: "Order", Status: provider.StatusCompleted},
		{Name: "Order", Status: provider.StatusFailed},
	} {
		e.sameValue(list[i].Use, want, ruleUse, "who uses the id")
	}
	for i, want := range []uint64{0, 0, 1, 1, 1} {
		e.sameValue(list[i].CustomStatusVersion, want, "§5.25: CustomStatusVersion: as §5.16", "version of the custom status")
	}
	for i, want := range []*string{nil, nil, nil, new("all"), nil} {
		e.sameValue(list[i].CustomStatus, want, ruleOutcome, "custom status")
	}
	for _, running := range list[:3] {
		e.sameEvents(running.History, nil, ruleOutcome)
	}
	e.outcome(list[3], e.read("completed"))
	e.outcome(list[4], e.read("failed"))
}

// setStatusAndEnd makes an instance that has set or reset its custom status and has ended.
func (e *env) setStatusAndEnd(instance string, status provider.Status, custom *string) {
	e.Helper()
	e.createWith(instance, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event(instance, 1, 2, provider.CustomStatusUpdated{Status: custom}), event(instance, 1, 3, terminal(status, "out")),
		},
		Metadata: provider.ExecutionMetadata{
			OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0"), Status: &status, Output: new("out"),
		},
	})
}

func tellsInOrder(e *env) {
	e.sameValue(len(e.progress()), 0, ruleProgress, "answers about none")
	for _, id := range lookalikes {
		e.setStatusAndEnd(id, provider.StatusCompleted, new(id))
	}
	ids := append(append([]string{"unknown"}, lookalikes...), lookalikes...)
	for i, p := range e.progress(ids...) {
		if i == 0 {
			e.check(p.Use == nil, ruleUse, "an unknown id is used: %+v", p.Use)
			continue
		}
		e.sameValue(p.CustomStatus, &ids[i], ruleProgress, "custom status")
		e.outcome(p, e.read(ids[i]))
	}
}

// What an earlier execution ended with is not the instance's end.
func tellsCurrentExecution(e *env) {
	e.create("A")
	e.finish("A", provider.StatusContinuedAsNew, "next")
	p := e.progress("A")[0]
	e.check(!p.Ended(), ruleOutcome, "an instance between two executions has ended: %+v", p)
	e.sameEvents(p.History, nil, ruleOutcome)
	e.nextExecution("A", provider.AckOrchestrationParams{})
	p = e.progress("A")[0]
	e.check(!p.Ended(), ruleOutcome, "an instance in its second execution has ended: %+v", p)
	e.finish("A", provider.StatusCompleted, "out")
	e.outcome(e.progress("A")[0], e.read("A"))
}

func tellsAroundDamage(e *env) {
	e.createEnded("A", provider.StatusCompleted)
	e.createEnded("B", provider.StatusCompleted)
	e.corrupt("A", 1, 1, "{")
	list := e.progress("A", "B")
	e.permanent(list[0].Err, provider.ErrCorrupt, "§5.25: Err: ErrCorrupt when one of the events cannot be decoded; the other instances are told")
	e.outcome(list[1], e.read("B"))
}

// A turn that goes on, and one that continues as new, are no ends.
func noticesEnds(e *env) {
	notifier := e.full()
	told := func(ended <-chan struct{}) bool {
		select {
		case <-ended:
			return true
		case <-time.After(noticePatience):
			return false
		}
	}
	e.create("A")
	e.create("B")
	a, _, stopA := notifier.InstanceEnd("A")
	defer stopA()
	b, _, stopB := notifier.InstanceEnd("B")
	defer stopB()
	e.turn("A", provider.AckOrchestrationParams{})
	e.continueAsNew("A")
	select {
	case <-a:
		e.violated(ruleNotice, "an instance that goes on was told to have ended")
	default:
	}
	e.finish("A", provider.StatusFailed, "out")
	e.check(told(a), ruleNotice, "the end was not told")
	select {
	case <-b:
		e.violated(ruleNotice, "another instance's end was told")
	default:
	}
	e.delete("B", true)
	e.check(told(b), ruleNotice, "the deletion was not told")
	stopB()
	stopB() // once or more
}

func tellsOutcomes(e *env) {
	teller := e.full()
	e.create("A")
	e.createEnded("B", provider.StatusCompleted)
	a, endA, stopA := teller.InstanceEnd("A")
	defer stopA()
	b, endB, stopB := teller.InstanceEnd("B")
	defer stopB()
	e.finish("A", provider.StatusFailed, "out")
	e.delete("B", true)
	for _, ended := range []<-chan struct{}{a, b} {
		select {
		case <-ended:
		case <-time.After(noticePatience):
			e.violated(ruleNotice, "an end was not told")
		}
	}
	// A store that does not know it says nothing.
	if end := endA(); end != nil {
		e.outcome(*end, e.read("A"))
	}
	e.check(endB() == nil, ruleTold, "what is told of a deleted instance: %+v", endB())
}

// noticePatience is how long a notice may take on a busy machine.
const noticePatience = 10 * time.Second
