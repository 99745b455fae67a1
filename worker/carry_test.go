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
		message, err := orchestration.NewQueue[string](queue).Dequeue(ctx).Await()
		if err != nil || message == "end" {
			return true, err
		}
		l.Read[queue] = append(l.Read[queue], message)
	}
	return false, nil
}

// first reads the first message of two queues and drops the other's dequeue.
func (l *left) first(a, b *orchestration.Future[string]) error {
	queue, won := "a", a
	if orchestration.SelectAndDrop(a, b) == 1 {
		queue, won = "b", b
	}
	text, err := won.Await()
	l.Read[queue] = append(l.Read[queue], text)
	return err
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
			return orchestration.Declare[left, left]("InRounds").ContinueAsNew(ctx, l)
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
	c := client.New(store, client.Options{})
	put := func(queue, text string) {
		if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string](queue), instance, text); err != nil {
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

// Continue-as-new loses no message that no future gave to the function, and keeps the order of
// each queue.
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
		"more than a turn is shown":  {rounds: 3, leave: nothing, queues: []string{"a", "b"}, each: 150},
		"several queues":             {rounds: 2, leave: nothing, queues: []string{"a", "b", "c"}, each: 16},
		"some are read in each":      {rounds: 4, queues: []string{"a", "b"}, each: 25, leave: readSome},
		"they come while it goes on": {rounds: 8, queues: []string{"a", "b"}, each: 25, leave: readSome, live: true},
		"behind the end of the function": {rounds: 1, queues: []string{"a"}, each: 50, leave: func(ctx *orchestration.Context, l *left) error {
			_, err := l.read(ctx, "a", 1)
			return err
		}},
		"dequeues that nobody awaits": {rounds: 2, queues: []string{"a", "b"}, each: 5, leave: func(ctx *orchestration.Context, _ *left) error {
			orchestration.NewQueue[string]("a").Dequeue(ctx)
			orchestration.NewQueue[string]("b").Dequeue(ctx)
			return nil
		}},
		"dequeues that hold a message for turns": {rounds: 2, queues: []string{"a"}, each: 5, leave: func(ctx *orchestration.Context, _ *left) error {
			orchestration.NewQueue[string]("a").Dequeue(ctx)
			ctx.Sleep(time.Millisecond)
			orchestration.NewQueue[string]("a").Dequeue(ctx)
			ctx.Sleep(time.Millisecond)
			return nil
		}},
		"a dequeue that lost a select": {rounds: 2, queues: []string{"a", "b"}, each: 5, leave: func(ctx *orchestration.Context, l *left) error {
			return l.first(orchestration.NewQueue[string]("a").Dequeue(ctx), orchestration.NewQueue[string]("b").Dequeue(ctx))
		}},
		"one that lost in an earlier turn": {rounds: 2, queues: []string{"a", "b"}, each: 5, leave: func(ctx *orchestration.Context, l *left) error {
			a, b := orchestration.NewQueue[string]("a").Dequeue(ctx), orchestration.NewQueue[string]("b").Dequeue(ctx)
			ctx.Sleep(time.Millisecond)
			err := l.first(a, b)
			ctx.Sleep(time.Millisecond)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, store provider.Provider) {
				def := inRounds(test.rounds, test.leave, test.queues...)
				run := start(t, store, def, left{})
				if test.live {
					runWorker(t, store, worker.Options{}, def)
				}
				sent := fill(t, store, run.Instance(), test.each, test.queues...)
				if !test.live {
					runWorker(t, store, worker.Options{}, def)
				}
				got := result(t, run)
				if diff := cmp.Diff(sent, got.Read); diff != "" || got.Round != test.rounds+1 {
					t.Errorf("round %d read (-sent +read):\n%s", got.Round, diff)
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
