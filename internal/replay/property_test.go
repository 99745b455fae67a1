package replay_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// Random orchestrations are run against a small simulator of the two queues, which
// delivers in a random order, in random batches, some completions twice. Whatever it
// does, crashes before the ack must change nothing, and no replay may find fault with
// the history.
func TestRandomOrchestrations(t *testing.T) {
	t.Parallel()
	for share := range 8 { // rare mistakes need more than one helping of tries
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, checkRandomOrchestration)
		})
	}
}

func checkRandomOrchestration(t *rapid.T) {
	p := program(rapid.SliceOfN(rapid.Custom(drawStep), 1, 25).Draw(t, "program"))
	choices := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 0, 120).Draw(t, "choices")
	crashes := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 40).Draw(t, "crashes")
	peek := rapid.IntRange(0, 3).Draw(t, "peek")

	calm := simulate(t, p, choices, nil, nil, peek)
	crashed := simulate(t, p, choices, crashes, nil, peek)
	if diff := cmp.Diff(calm.told, crashed.told); diff != "" {
		t.Errorf("crashes changed what happened (-without +with):\n%s", diff)
	}
}

// Turns that go on where one left the function give the histories, the items and the
// cancellations of turns that replay, byte for byte: whichever functions are forgotten, and
// whichever of two workers runs a turn, each with functions that know the turns of the other
// or not. Neither do crashes change anything.
func TestSuspendedFunctionsGiveTheSameHistories(t *testing.T) {
	t.Parallel()
	for share := range 8 {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, checkSuspendedOrchestration)
		})
	}
}

func checkSuspendedOrchestration(t *rapid.T) {
	p := program(rapid.SliceOfN(rapid.Custom(drawStep), 1, 25).Draw(t, "program"))
	choices := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 0, 120).Draw(t, "choices")
	crashes := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 40).Draw(t, "crashes")
	evictions := rapid.SliceOfN(rapid.IntRange(0, 15), 1, 40).Draw(t, "evictions")
	peek := rapid.IntRange(0, 3).Draw(t, "peek")

	calm := simulate(t, p, choices, nil, nil, peek)
	suspended := simulate(t, p, choices, nil, evictions, peek)
	if diff := cmp.Diff(calm.stored, suspended.stored); diff != "" {
		t.Errorf("suspended functions changed a history (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(calm.sent, suspended.sent); diff != "" {
		t.Errorf("suspended functions changed what is sent (-without +with):\n%s", diff)
	}
	crashed := simulate(t, p, choices, crashes, evictions, peek)
	if diff := cmp.Diff(calm.told, crashed.told); diff != "" {
		t.Errorf("crashes and suspended functions changed what happened (-without +with):\n%s", diff)
	}
}

// step is one thing an orchestration does.
type step struct {
	Do   string
	A, B int
}

var stepKinds = []string{
	"activity", "activity", "activity", "timer", "event", "event", "dequeue", "dequeue", "dequeue", "sub", "detach",
	"await", "await", "join", "select", "select", "any", "race", "race", "race", "drop", "status", "set", "clear",
	"skip", "skip", "clean up", "clean up", "go", "go", "branch", "branch", "give up", "continue", "return", "fail", "panic",
}

func drawStep(t *rapid.T) step {
	return step{
		Do: rapid.SampledFrom(stepKinds).Draw(t, "do"),
		A:  rapid.IntRange(0, 5).Draw(t, "a"), B: rapid.IntRange(0, 5).Draw(t, "b"),
	}
}

// program is an orchestration function as data.
type program []step

var errProgram = errors.New("the program fails")

// run interprets the program. What it has seen so far goes into each input, so that
// any difference in what it sees becomes a difference in what it asks for.
func (p program) run(f flow, input string) (string, error) {
	seen := input
	see := func(format string, args ...any) {
		h := fnv.New32a()
		fmt.Fprintf(h, seen+format, args...)
		seen = fmt.Sprintf("%08x", h.Sum32())
	}
	var open []*replay.Handle
	var branches []*branch
	// some picks up to three different open handles, not in the order of asking.
	some := func(s step) (picked []*replay.Handle) {
		for i := range min(len(open), 2+s.B%2) {
			picked = append(picked, open[((s.A+i)*(len(open)-1)+s.B)%len(open)])
		}
		slices.Reverse(picked)
		return picked
	}
	for i := 0; i < len(p); i++ {
		s := p[i]
		switch s.Do {
		case "activity":
			open = append(open, f.activity(fmt.Sprint("act", s.A), seen))
		case "timer":
			open = append(open, f.timer(f.NowMs()+uint64(s.A)))
		case "event":
			open = append(open, f.event(fmt.Sprint("event", s.A%2)))
		case "dequeue":
			open = append(open, f.dequeue(fmt.Sprint("queue", s.A%2)))
		case "sub":
			open = append(open, f.sub(fmt.Sprint("sub", s.A), seen))
		case "detach":
			f.Emit(replay.StartDetached{Name: "detached", Instance: seen, Input: seen})
		case "await":
			if len(open) > 0 {
				see("await %s", f.text(open[s.A%len(open)]))
			}
		case "join":
			for _, h := range open {
				see("join %s", f.text(h))
			}
		case "select", "any":
			// Only live ones: nobody waits for what was dropped.
			picked := slices.DeleteFunc(some(s), func(h *replay.Handle) bool { return h.Dropped() && !h.Ready() })
			switch {
			case len(picked) == 0:
			case s.Do == "any":
				see("any %d", f.any(picked...))
			default:
				see("select %d", f.sel(picked...))
			}
		case "race":
			// Asked for in one go, and the order of the race is another.
			var racers []*replay.Handle
			for n := range 2 + s.B%2 {
				switch (s.A + n) % 4 {
				case 0, 1:
					racers = append(racers, f.dequeue(fmt.Sprint("queue", (s.A+n)%4)))
				case 2:
					racers = append(racers, f.activity("racer", seen))
				case 3:
					racers = append(racers, f.event("event0"))
				}
			}
			open = append(open, racers...)
			slices.Reverse(racers)
			see("race %d", f.sel(racers...))
		case "drop":
			if len(open) > 0 {
				f.Drop(open[s.A%len(open)])
			}
		case "go":
			// The next steps are the branch's.
			end := i + 1 + min(s.A+s.B, len(p)-i-1)
			branches = append(branches, p[i+1:end].branch(f, seen))
			i = end - 1
		case "branch":
			if len(branches) > 0 {
				see("branch %s", branches[s.A%len(branches)].wait(f))
			}
		case "give up":
			if len(branches) > 0 {
				f.DropBranch(branches[s.A%len(branches)].Branch)
			}
		case "clean up":
			if len(open) > 0 {
				h := open[s.A%len(open)]
				f.WaitUntil(func() bool { return h.Ready() || h.Dropped() || f.Cancelled() })
				see("ready %v cancelled %v", h.Ready(), f.Cancelled())
				f.Drop(h)
			}
		case "status":
			f.status(seen)
		case "set":
			f.set(fmt.Sprint("key", s.A), seen)
		case "clear":
			f.Emit(replay.ClearKV{Key: fmt.Sprint("key", s.A)})
		case "skip":
			entry, _ := f.KV(fmt.Sprint("key", s.B))
			see("key %s", entry.Value)
			if seen[0]%2 == 0 {
				i += s.A
			}
		case "continue":
			if f.Info().ExecutionID < 4 {
				return f.continueAsNew(seen)
			}
		case "return":
			if seen[0]%2 == 0 {
				return seen, nil
			}
		case "fail":
			if seen[0]%4 == 0 {
				return seen, errProgram
			}
		case "panic":
			if seen[0]%8 == 0 {
				panic(seen)
			}
		}
	}
	return seen, nil
}

// whole runs the program, which cleans up when it is cancelled if a step says so.
func (p program) whole(f flow, input string) (string, error) {
	if slices.ContainsFunc(p, func(s step) bool { return s.Do == "clean up" }) {
		f.AllowCleanup(time.Second)
	}
	output, err := p.run(f, input)
	if f.Cancelled() && err == nil {
		err = replay.ErrCancelled
	}
	return output, err
}

// branch is a branch that runs a program.
type branch struct {
	*replay.Branch

	text string
}

func (p program) branch(f flow, input string) *branch {
	b := &branch{}
	b.Branch = f.Go(func() {
		output, err := p.run(f, "in a branch: "+input)
		b.text = fmt.Sprint(output, err)
	})
	return b
}

// wait returns what the branch returned.
func (b *branch) wait(f flow) string {
	f.WaitUntil(func() bool { return b.Ready() || b.Dropped() })
	if !b.Ready() {
		return "dropped"
	}
	return b.text
}

// simulator is a store, a worker and a client in one thread.
type simulator struct {
	t       *rapid.T
	fn      replay.Func
	choices []int
	crashes []int
	turns   int
	clock   uint64
	// evictions, if not nil, say for each run which worker runs it and what it remembers.
	evictions []int
	runs      int
	workers   [2]*replay.Suspended

	execution uint64
	history   []provider.Event
	begin     provider.OrchestrationStarted
	kv        map[string]provider.KVEntry
	queue     []provider.WorkItem
	outside   []provider.WorkItem // running activities, timers, children: what will come
	delivered []provider.WorkItem // completions, to deliver again
	budget    int                 // of what clients still send
	ended     bool

	// peek is how many messages of each queue a turn is shown, 0 if it consumes all. unread are
	// those that turns have left, and awaited what the last turn waits for.
	peek    int
	unread  []provider.WorkItem
	awaited []string
	// enqueued and dequeued are the data of all queue messages, by queue.
	enqueued, dequeued map[string][]string

	// told is all that happened, without times: entries and items.
	told []any
	// stored are all histories as JSON, and sent all other effects.
	stored []string
	sent   []any
}

func simulate(t *rapid.T, p program, choices, crashes, evictions []int, peek int) *simulator {
	s := &simulator{
		peek: peek, enqueued: map[string][]string{}, dequeued: map[string][]string{},
		t: t, fn: do(p.whole), choices: choices, crashes: crashes, evictions: evictions, clock: now,
		execution: 1, kv: map[string]provider.KVEntry{}, budget: 14,
		begin: provider.OrchestrationStarted{Name: "Random", Version: "1.0.0", Input: "in"},
	}
	defer func() {
		s.forget(0)
		s.forget(1)
	}()
	for range s.choose(8) {
		s.enqueue(s.choose(2))
	}
	s.turn()
	for steps := 0; !s.ended; steps++ {
		if steps > 2000 {
			t.Fatalf("no end; told %v", s.told)
		}
		s.step()
	}
	s.checkQueues()
	return s
}

// enqueue sends a message to one of the queues.
func (s *simulator) enqueue(queue int) {
	name := fmt.Sprint("queue", queue)
	data := fmt.Sprint("message ", len(s.enqueued[name]))
	s.enqueued[name] = append(s.enqueued[name], data)
	s.queue = append(s.queue, queued(name, data))
}

// fetch takes what a turn is shown: all messages, or all but queue messages and the first peek
// of each queue. The rest stays behind.
func (s *simulator) fetch() (batch []provider.WorkItem) {
	waiting := slices.Concat(s.unread, s.queue)
	s.queue, s.unread = nil, nil
	shown := map[string]int{}
	for _, item := range waiting {
		if m, ok := item.(provider.QueueMessageItem); ok && s.peek > 0 {
			s.unread = append(s.unread, item)
			if shown[m.Name]++; shown[m.Name] > s.peek {
				continue
			}
		}
		batch = append(batch, item)
	}
	return batch
}

// settle notes which queue messages a turn has read.
func (s *simulator) settle(result *replay.Result, carried int) {
	for _, event := range result.HistoryDelta {
		m, ok := event.Kind.(provider.QueueEventDelivered)
		if ok && carried == 0 {
			s.dequeued[m.Name] = append(s.dequeued[m.Name], m.Data)
		} else if ok {
			carried--
		}
	}
	s.awaited = result.Awaited
	left := maps.Clone(result.Read)
	s.unread = slices.DeleteFunc(s.unread, func(item provider.WorkItem) bool {
		name := item.(provider.QueueMessageItem).Name
		if left[name] == 0 {
			return false
		}
		left[name]--
		return true
	})
}

// ready reports whether there is a turn to run.
func (s *simulator) ready() bool {
	return len(s.queue) > 0 || slices.ContainsFunc(s.unread, func(item provider.WorkItem) bool {
		return slices.Contains(s.awaited, item.(provider.QueueMessageItem).Name)
	})
}

// checkQueues checks that each message became an event once and in order, or is still there.
func (s *simulator) checkQueues() {
	for _, item := range append(s.unread, s.queue...) {
		if m, ok := item.(provider.QueueMessageItem); ok {
			s.dequeued[m.Name] = append(s.dequeued[m.Name], m.Data)
		}
	}
	if diff := cmp.Diff(s.enqueued, s.dequeued); diff != "" {
		s.t.Fatalf("queue messages (-sent +read or left):\n%s", diff)
	}
}

// choose draws from the choices, 0 once they are used up.
func (s *simulator) choose(n int) int {
	if len(s.choices) == 0 || n == 0 {
		return 0
	}
	c := s.choices[0] % n
	s.choices = s.choices[1:]
	return c
}

// step lets one thing happen.
func (s *simulator) step() {
	switch c := s.choose(8); {
	case c < 4 && len(s.outside) > 0:
		s.arrive(s.choose(len(s.outside)))
	case c < 6 && s.budget > 0:
		s.budget--
		name, data := fmt.Sprint(s.choose(2)), fmt.Sprint("data", s.budget)
		if s.choose(3) == 0 {
			s.queue = append(s.queue, raised("event"+name, data))
		} else {
			s.enqueue(s.choose(2))
		}
	case c == 6 && len(s.delivered) > 0 && s.budget > 0:
		s.budget--
		s.queue = append(s.queue, s.delivered[s.choose(len(s.delivered))])
	case c == 7 && s.budget > 0 && s.choose(3) == 0:
		s.budget--
		s.queue = append(s.queue, cancel("a client"))
	case s.ready():
		s.turn()
	case len(s.outside) > 0:
		s.arrive(0)
	case s.budget > 0:
		s.budget--
		s.queue = append(s.queue, raised("event"+fmt.Sprint(s.budget%2), "more"))
		s.enqueue(s.budget / 2 % 2)
	default:
		s.queue = append(s.queue, cancel("stuck"))
	}
}

// arrive moves something that was under way into the queue.
func (s *simulator) arrive(i int) {
	item := s.outside[i]
	s.outside = slices.Delete(s.outside, i, i+1)
	switch m := item.(type) {
	case provider.ActivityExecuteItem:
		if m.ID%5 == 0 {
			item = provider.ActivityFailedItem{Instance: m.Instance, ExecutionID: m.ExecutionID, ID: m.ID, Details: declined("no " + m.Input)}
		} else {
			item = provider.ActivityCompletedItem{Instance: m.Instance, ExecutionID: m.ExecutionID, ID: m.ID, Result: m.Name + m.Input}
		}
	case provider.StartOrchestrationItem:
		item = provider.SubOrchCompletedItem{
			ParentInstance: instance, ParentExecutionID: s.execution, ParentID: *m.ParentID, Result: m.Orchestration + m.Input,
		}
	}
	s.delivered = append(s.delivered, item)
	s.queue = append(s.queue, item)
}

// turn fetches all that is queued, runs it, perhaps crashes and runs it again, and
// commits.
func (s *simulator) turn() {
	batch, carried := s.fetch(), 0
	if len(s.history) == 0 {
		carried = len(s.begin.CarryForwardEvents)
	}
	result, worker := s.attempt(batch)
	if s.crashes != nil {
		for range s.crashes[s.turns%len(s.crashes)] {
			if result.Suspended != nil {
				result.Suspended.Stop(s.t.Context())
			}
			result, worker = s.attempt(batch)
		}
	}
	s.turns++
	s.settle(result, carried)
	s.forget(worker)
	s.workers[worker] = result.Suspended
	s.ack(result)
	if !s.ended && len(s.history) > 0 {
		if again := s.run(nil, s.history, nil, false); again.Outcome != replay.Continue || len(again.HistoryDelta) > 0 {
			s.t.Fatalf("replaying a history gives %+v, %+v\n%+v", entries(again.HistoryDelta), again.Details, entries(s.history))
		}
	}
}

// attempt runs a turn on one of the workers, by the function that it remembers if it does.
func (s *simulator) attempt(batch []provider.WorkItem) (*replay.Result, int) {
	if s.evictions == nil {
		return s.run(batch, s.history, nil, s.evictions != nil), 0
	}
	c := s.evictions[s.runs%len(s.evictions)]
	s.runs++
	worker := c % 2
	kept := s.workers[worker]
	if kept == nil || c/2%4 == 0 || kept.ExecutionID() != s.execution {
		s.forget(worker)
		return s.run(batch, s.history, nil, s.evictions != nil), worker
	}
	s.workers[worker] = nil
	from, sent := kept.LastEventID(), s.history
	if c/8 == 0 {
		sent = s.history[from-1:]
	} else {
		from = 0
	}
	whole, ok := kept.Extend(from, slices.Clone(sent))
	if !ok {
		s.t.Fatalf("the function does not go on from event %d of %+v", kept.LastEventID(), entries(s.history))
	}
	return s.run(batch, whole, kept, true), worker
}

// forget ends what a worker remembers.
func (s *simulator) forget(worker int) {
	if kept := s.workers[worker]; kept != nil {
		kept.Stop(s.t.Context())
	}
	s.workers[worker] = nil
}

func (s *simulator) run(batch []provider.WorkItem, past []provider.Event, resume *replay.Suspended, keep bool) *replay.Result {
	s.clock += 7
	result, err := replay.Run(s.t.Context(), replay.Turn{
		Instance: instance, ExecutionID: s.execution, Func: s.fn, History: past, Started: s.begin,
		Resume: resume, Keep: keep,
		Peeked: s.peek > 0, Messages: batch, KV: s.kv, FrameworkVersion: version, NowMs: func() uint64 { return s.clock },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, nondeterministic := result.Details.(provider.ConfigurationFailure); nondeterministic {
		s.t.Fatalf("%s\nhistory %+v", result.Details.DisplayMessage(), entries(s.history))
	}
	return result
}

// ack commits a turn as a store does (§5.2).
func (s *simulator) ack(result *replay.Result) {
	s.history = append(slices.Clip(s.history), result.HistoryDelta...)
	s.checkHistory(result.Outcome)
	for _, e := range entries(result.HistoryDelta) {
		s.told = append(s.told, timeless(e))
	}
	for _, e := range result.HistoryDelta {
		data, err := provider.EncodeEvent(e)
		if err != nil {
			s.t.Fatal(err)
		}
		s.stored = append(s.stored, string(data))
	}
	s.sent = append(s.sent, result.WorkerItems, result.OrchestratorItems, result.CancelledActivities, result.Metadata,
		result.Nearing, result.Unheard, result.Read, result.Awaited)
	s.outside = append(s.outside, result.WorkerItems...)
	s.outside = slices.DeleteFunc(s.outside, func(item provider.WorkItem) bool {
		m, ok := item.(provider.ActivityExecuteItem)
		return ok && slices.Contains(result.CancelledActivities, provider.ActivityRef{Instance: m.Instance, ExecutionID: m.ExecutionID, ActivityID: m.ID})
	})
	s.ended = result.Outcome != replay.Continue && result.Outcome != replay.ContinuedAsNew
	for _, item := range result.OrchestratorItems {
		s.send(item)
	}
}

func (s *simulator) send(item provider.WorkItem) {
	if _, timer := item.(provider.TimerFiredItem); !timer {
		s.told = append(s.told, item)
	}
	switch m := item.(type) {
	case provider.TimerFiredItem:
		s.outside = append(s.outside, item)
	case provider.StartOrchestrationItem:
		if m.ParentID != nil {
			s.outside = append(s.outside, item)
		}
	case provider.CancelInstanceItem:
		if m.Instance == instance { // to its next execution
			s.queue = append(s.queue, item)
			return
		}
		s.cancelChild(m.Instance)
	case provider.ContinueAsNewItem:
		s.finishKV()
		s.execution++
		s.history = nil
		s.begin = provider.OrchestrationStarted{
			Name: m.Orchestration, Version: "1.0.0", Input: m.Input,
			CarryForwardEvents: m.CarryForwardEvents, InitialCustomStatus: m.InitialCustomStatus,
		}
		// Children of the old execution report to nobody.
		s.outside = slices.DeleteFunc(s.outside, func(item provider.WorkItem) bool {
			_, child := item.(provider.StartOrchestrationItem)
			return child
		})
		s.turn()
	}
}

func (s *simulator) cancelChild(child string) {
	i := slices.IndexFunc(s.outside, func(item provider.WorkItem) bool { return item.Target() == child })
	if i < 0 {
		return // it has ended already
	}
	m := s.outside[i].(provider.StartOrchestrationItem)
	s.outside = slices.Delete(s.outside, i, i+1)
	s.queue = append(s.queue, provider.SubOrchFailedItem{
		ParentInstance: instance, ParentExecutionID: s.execution, ParentID: *m.ParentID,
		Details: provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "dropped"},
	})
}

// finishKV merges the execution's changes into the snapshot of the next.
func (s *simulator) finishKV() {
	merged := maps.Clone(s.kv)
	for _, event := range s.history {
		switch k := event.Kind.(type) {
		case provider.KeyValueSet:
			merged[k.Key] = provider.KVEntry{Value: k.Value, LastUpdatedAtMs: k.LastUpdatedAtMs}
		case provider.KeyValueCleared:
			delete(merged, k.Key)
		}
	}
	s.kv = merged
}

// checkHistory checks what holds for every history.
func (s *simulator) checkHistory(outcome replay.Outcome) {
	completed, cancelled := map[uint64]bool{}, map[uint64]bool{}
	terminals := 0
	for i, event := range s.history {
		if event.EventID != uint64(i+1) {
			s.t.Fatalf("event %d is numbered %d", i+1, event.EventID)
		}
		if event.Terminal() {
			terminals++
		}
		if event.SourceEventID == nil {
			continue
		}
		settled := completed
		switch event.Kind.(type) {
		case provider.ActivityCancelRequested, provider.SubOrchestrationCancelRequested,
			provider.ExternalSubscribedCancelled, provider.QueueSubscriptionCancelled:
			settled = cancelled
		}
		if id := *event.SourceEventID; settled[id] || id >= event.EventID {
			s.t.Fatalf("event %d completes or cancels event %d again", event.EventID, id)
		} else {
			settled[id] = true
		}
	}
	if (outcome == replay.Continue) != (terminals == 0) || terminals > 1 {
		s.t.Fatalf("outcome %d with %d terminal events", outcome, terminals)
	}
}

// timeless drops what depends on the clock.
func timeless(e entry) entry {
	switch k := e.Kind.(type) {
	case provider.TimerCreated:
		e.Kind = provider.TimerCreated{}
	case provider.TimerFired:
		e.Kind = provider.TimerFired{}
	case provider.KeyValueSet:
		e.Kind = provider.KeyValueSet{Key: k.Key, Value: k.Value}
	}
	return e
}
