package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// left is what an execution hands to the next one.
type left struct {
	Round int
	Read  map[string][]string
}

// read dequeues up to n messages of a queue and reports whether "end" was among them.
func (l *left) read(ctx *orchestration.Context, queue string, n int) (ended bool, err error) {
	for range n {
		message, err := orchestration.Dequeue[string](ctx, queue).Await()
		if err != nil || message == "end" {
			return true, err
		}
		l.Read[queue] = append(l.Read[queue], message)
	}
	return false, nil
}

// inRounds runs rounds executions that end after leave, then one that reads every queue.
func inRounds(rounds int, leave func(ctx *orchestration.Context, l *left) error, queues ...string) orchestration.Definition[left, left] {
	return orchestration.New("InRounds", func(ctx *orchestration.Context, l left) (left, error) {
		if l.Read == nil {
			l.Read = map[string][]string{}
		}
		if l.Round++; l.Round <= rounds {
			if err := leave(ctx, &l); err != nil {
				return l, err
			}
			return l, orchestration.ContinueAsNew(ctx, l)
		}
		for _, queue := range queues {
			if _, err := l.read(ctx, queue, 1000); err != nil {
				return l, err
			}
		}
		return l, nil
	})
}

// fill sends n messages to each queue, in turn, and then the end of each.
func fill(t *testing.T, store provider.Provider, instance string, n int, queues ...string) (sent map[string][]string) {
	t.Helper()
	c := client.New(store)
	put := func(queue, text string) {
		if err := c.Enqueue(t.Context(), instance, queue, text); err != nil {
			t.Fatal(err)
		}
	}
	sent = map[string][]string{}
	for i := range n {
		for _, queue := range queues {
			text := fmt.Sprint(queue, i)
			sent[queue] = append(sent[queue], text)
			put(queue, text)
		}
	}
	for _, queue := range queues {
		put(queue, "end")
	}
	return sent
}

// Continue-as-new loses none of up to 100 messages that no future gave to the function,
// and keeps the order of each queue.
func TestContinueAsNewLosesNoMessage(t *testing.T) {
	t.Parallel()
	nothing := func(*orchestration.Context, *left) error { return nil }
	for name, test := range map[string]struct {
		rounds int
		leave  func(ctx *orchestration.Context, l *left) error
		queues []string
		// each is how many messages each queue gets.
		each int
		// live sends them to an instance that runs.
		live bool
	}{
		"nobody asked":               {rounds: 1, leave: nothing, queues: []string{"a"}, each: 50},
		"nobody asked for long":      {rounds: 5, leave: nothing, queues: []string{"a"}, each: 50},
		"as many as there may be":    {rounds: 2, leave: nothing, queues: []string{"a"}, each: 99},
		"several queues":             {rounds: 2, leave: nothing, queues: []string{"a", "b", "c"}, each: 16},
		"some are read in each":      {rounds: 4, queues: []string{"a", "b"}, each: 25, leave: readSome},
		"they come while it goes on": {rounds: 8, queues: []string{"a", "b"}, each: 25, leave: readSome, live: true},
		"behind the end of the function": {rounds: 1, queues: []string{"a"}, each: 50, leave: func(ctx *orchestration.Context, l *left) error {
			_, err := l.read(ctx, "a", 1)
			return err
		}},
		"dequeues that nobody awaits": {rounds: 2, queues: []string{"a", "b"}, each: 5, leave: func(ctx *orchestration.Context, _ *left) error {
			orchestration.Dequeue[string](ctx, "a")
			orchestration.Dequeue[string](ctx, "b")
			return nil
		}},
		"dequeues that hold a message for turns": {rounds: 2, queues: []string{"a"}, each: 5, leave: func(ctx *orchestration.Context, _ *left) error {
			orchestration.Dequeue[string](ctx, "a")
			orchestration.Sleep(ctx, time.Millisecond)
			orchestration.Dequeue[string](ctx, "a")
			orchestration.Sleep(ctx, time.Millisecond)
			return nil
		}},
		"a dequeue that lost a select": {rounds: 2, queues: []string{"a", "b"}, each: 5, leave: func(ctx *orchestration.Context, l *left) error {
			won, lost := orchestration.Dequeue[string](ctx, "a"), orchestration.Dequeue[string](ctx, "b")
			orchestration.Select(won, lost)
			text, err := won.Await()
			l.Read["a"] = append(l.Read["a"], text)
			return err
		}},
		"one that lost in an earlier turn": {rounds: 2, queues: []string{"a", "b"}, each: 5, leave: func(ctx *orchestration.Context, l *left) error {
			won, lost := orchestration.Dequeue[string](ctx, "a"), orchestration.Dequeue[string](ctx, "b")
			orchestration.Sleep(ctx, time.Millisecond)
			orchestration.Select(won, lost)
			orchestration.Sleep(ctx, time.Millisecond)
			text, err := won.Await()
			l.Read["a"] = append(l.Read["a"], text)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, store provider.Provider) {
				def := inRounds(test.rounds, test.leave, test.queues...)
				run := start(t, store, def, left{})
				log, logs := logged()
				if test.live {
					runWorker(t, store, worker.Options{Logger: log}, def)
				}
				sent := fill(t, store, run.Instance(), test.each, test.queues...)
				if !test.live {
					runWorker(t, store, worker.Options{Logger: log}, def)
				}
				got := result(t, run)
				if diff := cmp.Diff(sent, got.Read); diff != "" || got.Round != test.rounds+1 {
					t.Errorf("round %d read (-sent +read):\n%s", got.Round, diff)
				}
				status, err := client.New(store).Status(t.Context(), run.Instance())
				if told := lines(logs, "left queue messages behind"); told != nil || status.DroppedMessages > 0 || err != nil {
					t.Errorf("told of loss: %q, %d, %v", told, status.DroppedMessages, err)
				}
			})
		})
	}
}

// readSome reads three messages of a and one of b.
func readSome(ctx *orchestration.Context, l *left) error {
	if _, err := l.read(ctx, "a", 3); err != nil {
		return err
	}
	_, err := l.read(ctx, "b", 1)
	return err
}

// What is beyond the limit of 100 is told: in the log, in both histories and, for all
// executions so far, in the status.
func TestDroppedMessagesAreTold(t *testing.T) {
	t.Parallel()
	def := orchestration.New("Overflowing", func(ctx *orchestration.Context, round int) (int, error) {
		switch round {
		case 1:
			ctx.SetCustomStatus("second")
			if _, err := orchestration.Dequeue[string](ctx, "go").Await(); err != nil {
				return 0, err
			}
		case 2:
			return round, nil
		}
		return 0, orchestration.ContinueAsNew(ctx, round+1)
	})
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		log, logs := logged()
		run := start(t, store, def, 0)
		fill(t, store, run.Instance(), 110, "a")
		runWorker(t, store, worker.Options{Logger: log}, def)
		waitForStatus(t, store, run.Instance())
		for _, queue := range []string{"a", "a", "a", "go"} {
			if err := client.New(store).Enqueue(t.Context(), run.Instance(), queue, ""); err != nil {
				t.Fatal(err)
			}
		}
		result(t, run)
		// 11 of 111, with the end among them, then three of those that came later.
		want, told := [][2]uint64{{0, 11}, {11, 3}, {14, 0}}, [][2]uint64(nil)
		for execution := range uint64(3) {
			past, err := store.ReadWithExecution(t.Context(), run.Instance(), execution+1)
			if err != nil || len(past) == 0 {
				t.Fatal(past, err)
			}
			begun := past[0].Kind.(provider.OrchestrationStarted)
			ended, _ := past[len(past)-1].Kind.(provider.OrchestrationContinuedAsNew)
			told = append(told, [2]uint64{begun.DroppedMessages, ended.DroppedMessages})
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("counts before and at the end of each execution (-want +got):\n%s", diff)
		}
		status, err := client.New(store).Status(t.Context(), run.Instance())
		if err != nil || status.DroppedMessages != 14 {
			t.Errorf("the status tells of %d, %v", status.DroppedMessages, err)
		}
		for _, text := range []string{"dropped=11 limit=100", "dropped=3 limit=100"} {
			if len(lines(logs, "continue-as-new left queue messages behind", text)) != 1 {
				t.Errorf("the log does not say %q", text)
			}
		}
	})
}
