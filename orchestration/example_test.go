package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// The activities of the examples: ordinary functions, where side effects happen.
var (
	Greet = activity.New("Greet", func(_ context.Context, city string) (string, error) {
		return "Hello, " + city + "!", nil
	})
	Reserve = activity.New("Reserve", func(_ context.Context, item string) (string, error) {
		return item + " reserved", nil
	})
	Charge = activity.New("Charge", func(_ context.Context, cents int) (string, error) {
		if cents > 10_000 {
			return "", errors.New("card declined")
		}
		return fmt.Sprintf("charged %d", cents), nil
	})
	Release = activity.New("Release", func(_ context.Context, item string) (string, error) {
		return item + " released", nil
	})
)

// The events of the examples.
var (
	Paid     = orchestration.NewEvent[string]("paid")
	Returned = orchestration.NewEvent[string]("returned")
)

// An orchestration is a plain function. Whatever it asks for through its context is
// recorded, so it goes on where it was if the process dies in between.
func ExampleNew() {
	hello := orchestration.New("HelloCities", func(ctx *orchestration.Context, cities []string) ([]string, error) {
		var greetings []string
		for _, city := range cities {
			greeting, err := orchestration.Activity(ctx, Greet, city).Await()
			if err != nil {
				return nil, err
			}
			greetings = append(greetings, greeting)
		}
		return greetings, nil
	})

	fmt.Println(resultOf(hello, []string{"Oslo", "Lima"}, Greet))
	// Output: [Hello, Oslo! Hello, Lima!] <nil>
}

// Scheduling does not block, so several activities run side by side.
func ExampleJoin() {
	fanOut := orchestration.New("FanOut", func(ctx *orchestration.Context, cities []string) ([]string, error) {
		var greetings []*orchestration.Future[string]
		for _, city := range cities {
			greetings = append(greetings, orchestration.Activity(ctx, Greet, city))
		}
		return orchestration.Join(greetings...) // in the order of the cities
	})

	fmt.Println(resultOf(fanOut, []string{"Oslo", "Lima", "Hanoi"}, Greet))
	// Output: [Hello, Oslo! Hello, Lima! Hello, Hanoi!] <nil>
}

// A person is asked, and after a day nobody waits any longer. The timer holds across
// restarts; the loser of the race is taken back.
func ExampleSelectAndDrop() {
	answered := orchestration.NewEvent[string]("answer")
	approval := orchestration.New("Approval", func(ctx *orchestration.Context, _ string) (string, error) {
		answer := answered.Wait(ctx)
		deadline := ctx.Timer(24 * time.Hour)
		ctx.SetCustomStatus("asked")
		if orchestration.SelectAndDrop(answer, deadline) == 1 {
			return "nobody answered", nil
		}
		return answer.Await()
	})

	ctx, c, stop := working(approval)
	defer stop()
	run, err := client.Start(ctx, c, approval, "approval-1", "")
	check(err)
	// An event that is raised before somebody waits for it is lost.
	_, err = c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	check(client.RaiseEvent(ctx, c, answered, run.Instance(), "approved"))
	fmt.Println(run.Wait(ctx))
	// Output: approved <nil>
}

// ErrCardDeclined is what a charge fails with that another attempt does not help.
var ErrCardDeclined = failure.NewKind[int]("CardDeclined")

// A failure keeps its kind and its details on its way to the orchestration and the client.
func ExampleCallError() {
	refuse := activity.New("Refuse", func(context.Context, int) (string, error) {
		return "", failure.Final(ErrCardDeclined.New(51, "the card was declined"))
	})
	paying := orchestration.New("Paying", func(ctx *orchestration.Context, cents int) (string, error) {
		receipt, err := orchestration.Activity(ctx, refuse, cents, orchestration.WithRetry(retry.Policy{})).Await()
		return receipt, err
	})

	_, err := resultOf(paying, 100, refuse)
	code, _ := ErrCardDeclined.Details(err)
	fmt.Println(errors.Is(err, ErrCardDeclined), code, err)
	// Output: true 51 the card was declined
}

// A provider that does not always answer is asked again: four times at most, and never for
// longer than a minute in all.
func ExampleWithRetry() {
	tries := 0
	ask := activity.New("Ask", func(context.Context, string) (string, error) {
		if tries++; tries < 3 {
			return "", errors.New("busy")
		}
		return fmt.Sprint("answered at attempt ", tries), nil
	})
	asking := orchestration.New("Asking", func(ctx *orchestration.Context, question string) (string, error) {
		return orchestration.Activity(ctx, ask, question, orchestration.WithRetry(retry.Policy{
			MaxAttempts:  4,
			Backoff:      retry.Exponential(10*time.Millisecond, 2, time.Second),
			Jitter:       0.2,
			Timeout:      10 * time.Second,
			TotalTimeout: time.Minute,
		})).Await()
	})

	fmt.Println(resultOf(asking, "how much?", ask))
	// Output: answered at attempt 3 <nil>
}

// A policy in a definition applies to all its calls.
func ExampleDefinition_WithRetry() {
	knocks := 0
	knock := activity.New("Knock", func(context.Context, string) (string, error) {
		if knocks++; knocks < 3 {
			return "", errors.New("nobody is at home")
		}
		return "delivered", nil
	})
	deliver := orchestration.New("Deliver", func(ctx *orchestration.Context, item string) (string, error) {
		return orchestration.Activity(ctx, knock, item).Await()
	}).WithRetry(retry.Policy{MaxAttempts: 3, Backoff: retry.Constant(10 * time.Millisecond)})
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		return orchestration.SubOrchestration(ctx, deliver, item).Await()
	})

	fmt.Println(resultOf(order, "chair", deliver, knock))
	// Output: delivered <nil>
}

// A retry goes on where the attempt before it has failed. It has to be begun within an hour.
func ExampleWithRetry_heartbeat() {
	var imported []int
	importRows := activity.New("ImportRows", func(ctx context.Context, rows int) (string, error) {
		next, resumed := activity.LastHeartbeat[int](ctx)
		for ; next < rows; next++ {
			if next == 3 && !resumed {
				return "", errors.New("the connection was lost")
			}
			imported = append(imported, next)
			if err := activity.Heartbeat(ctx, next+1); err != nil {
				return "", err // nobody wants the result any more, or the worker stops
			}
		}
		return fmt.Sprintf("%d rows", next), nil
	})
	importing := orchestration.New("Importing", func(ctx *orchestration.Context, rows int) (string, error) {
		policy := retry.Policy{StartTimeout: time.Hour, Backoff: retry.Constant(0)}
		return orchestration.Activity(ctx, importRows, rows, orchestration.WithRetry(policy)).Await()
	})

	fmt.Println(resultOf(importing, 5, importRows))
	fmt.Println(imported)
	// Output:
	// 5 rows <nil>
	// [0 1 2 3 4]
}

// Each item is reserved and charged, two items at a time.
func ExampleMap() {
	buying := orchestration.New("Buying", func(ctx *orchestration.Context, items []string) ([]string, error) {
		return orchestration.Map(ctx, items, 2, func(ctx *orchestration.Context, item string) (string, error) {
			if _, err := orchestration.Activity(ctx, Reserve, item).Await(); err != nil {
				return "", err
			}
			receipt, err := orchestration.Activity(ctx, Charge, 100*len(item)).Await()
			return item + " " + receipt, err
		})
	})

	fmt.Println(resultOf(buying, []string{"chair", "table", "lamp"}, Reserve, Charge))
	// Output: [chair charged 500 table charged 500 lamp charged 400] <nil>
}

// A reminder goes on beside the work, and ends with it.
func ExampleGo() {
	working := orchestration.New("Working", func(ctx *orchestration.Context, name string) (string, error) {
		reminders := orchestration.Go(ctx, func(ctx *orchestration.Context) (int, error) {
			for n := 1; ; n++ {
				if err := ctx.Sleep(time.Hour); err != nil {
					return n, err
				}
				ctx.SetCustomStatus(fmt.Sprintf("reminded %d times", n))
			}
		})
		greeting := orchestration.Activity(ctx, Greet, name)
		orchestration.SelectAndDrop(greeting, reminders)
		return greeting.Await()
	})

	fmt.Println(resultOf(working, "Oslo", Greet))
	// Output: Hello, Oslo! <nil>
}

// Errors are values: what was done is undone where the function says so.
func ExampleActivity() {
	order := orchestration.New("Order", func(ctx *orchestration.Context, cents int) (string, error) {
		if _, err := orchestration.Activity(ctx, Reserve, "chair").Await(); err != nil {
			return "", err
		}
		receipt, err := orchestration.Activity(ctx, Charge, cents).Await()
		if err != nil {
			undone, undoErr := orchestration.Activity(ctx, Release, "chair").Await()
			return "", errors.Join(fmt.Errorf("%w, %s", err, undone), undoErr)
		}
		return receipt, nil
	})

	fmt.Println(resultOf(order, 4_900, Reserve, Charge, Release))
	_, err := resultOf(order, 490_000, Reserve, Charge, Release)
	fmt.Println(err)
	// Output:
	// charged 4900 <nil>
	// card declined, chair released
}

// A sub-orchestration is an orchestration with a parent; its result is a future like
// any other.
func ExampleSubOrchestration() {
	line := orchestration.New("OrderLine", func(ctx *orchestration.Context, item string) (string, error) {
		return orchestration.Activity(ctx, Reserve, item).Await()
	})
	order := orchestration.New("Order", func(ctx *orchestration.Context, items []string) ([]string, error) {
		var lines []*orchestration.Future[string]
		for _, item := range items {
			lines = append(lines, orchestration.SubOrchestration(ctx, line, item))
		}
		return orchestration.Join(lines...)
	})

	fmt.Println(resultOf(order, []string{"chair", "table"}, line, Reserve))
	// Output: [chair reserved table reserved] <nil>
}

// An orchestration that lives for ever reads its mailbox and begins anew with each
// message, so that its history stays short. Unread messages go along.
func ExampleDefinition_ContinueAsNew_mailbox() {
	mailbox := orchestration.Declare[int, int]("Account")
	shown, amounts := orchestration.NewKey[int]("balance"), orchestration.NewQueue[int]("amounts")
	account := mailbox.Implement(func(ctx *orchestration.Context, balance int) (int, error) {
		shown.Set(ctx, balance)
		amount, err := amounts.Dequeue(ctx).Await()
		if err != nil {
			return 0, err
		}
		if amount == 0 {
			return balance, nil
		}
		return mailbox.ContinueAsNew(ctx, balance+amount)
	})

	ctx, c, stop := working(account)
	defer stop()
	run, err := client.Start(ctx, c, account, "account-1", 100)
	check(err)
	for _, amount := range []int{50, -20, 0} {
		check(client.Enqueue(ctx, c, amounts, run.Instance(), amount))
	}
	fmt.Println(run.Wait(ctx))
	// Output: 130 <nil>
}

// New code for new instances, while those under way stay with what they began with.
func ExampleDefinition_WithVersion() {
	first := orchestration.New("Greeting", func(*orchestration.Context, string) (string, error) {
		return "Good day", nil
	})
	second := orchestration.New("Greeting", func(*orchestration.Context, string) (string, error) {
		return "Hi", nil
	}).WithVersion("2.0.0")

	ctx, c, stop := working(first, second)
	defer stop()
	for i, def := range []orchestration.Definition[string, string]{first.AtVersion("1.0.0"), first} {
		run, err := client.Start(ctx, c, def, fmt.Sprint("greeting-", i), "")
		check(err)
		text, err := run.Wait(ctx)
		check(err)
		fmt.Printf("%q: %s\n", def.WantedVersion(), text)
	}
	// Output:
	// "1.0.0": Good day
	// "": Hi
}

// A cancelled order gives back what it has taken. Each step ends before the cancellation counts,
// so that it is known what there is to undo.
func ExampleSaga() {
	order := orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
		var saga orchestration.Saga
		_, err := orchestration.Step(ctx, &saga, func(ctx *orchestration.Context) (string, error) {
			return orchestration.Activity(ctx, Reserve, item).Await()
		}, func(ctx *orchestration.Context, _ string) error {
			released, err := orchestration.Activity(ctx, Release, item).Await()
			ctx.SetCustomStatus(released)
			return err
		})
		if err == nil {
			ctx.SetCustomStatus("waits for the payment")
			_, err = Paid.Wait(ctx).Await()
		}
		return "shipped", saga.Undo(ctx, err)
	}).WithCleanup(time.Hour)

	ctx, c, stop := working(order, Reserve, Release)
	defer stop()
	run, err := client.Start(ctx, c, order, "order-1", "lamp")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	check(c.Cancel(ctx, run.Instance(), "changed my mind"))
	_, err = run.Wait(ctx)
	status, _ := run.Status(ctx)
	fmt.Println(status.State, *status.CustomStatus, err)
	// Output: Cancelled lamp released canceled: changed my mind
}

// Each execution counts on from the last one, whose history is gone.
func ExampleDefinition_ContinueAsNew() {
	counting := orchestration.Declare[int, string]("Counting")
	count := counting.Implement(func(ctx *orchestration.Context, n int) (string, error) {
		if n == 3 {
			return fmt.Sprint("execution ", ctx.Info().ExecutionID), nil
		}
		return counting.ContinueAsNew(ctx, n+1)
	})

	fmt.Println(resultOf(count, 1))
	// Output: execution 3 <nil>
}

// On its cancellation an orchestration may clean up. What it asks for through the detached
// context is done all the same.
func ExampleDefinition_WithCleanup() {
	rental := orchestration.New("Rental", func(ctx *orchestration.Context, car string) (string, error) {
		ctx.SetCustomStatus("rented")
		back, err := Returned.Wait(ctx).Await()
		if errors.Is(err, orchestration.ErrCancelled) {
			_, released := orchestration.Activity(ctx.Detached(), Release, car).Await()
			return "", errors.Join(err, released)
		}
		return back, err
	}).WithCleanup(time.Minute)

	ctx, c, stop := working(rental, Release)
	defer stop()
	run, err := client.Start(ctx, c, rental, "rental-1", "car 7")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	check(c.Cancel(ctx, run.Instance(), "broken down"))
	_, err = run.Wait(ctx)
	fmt.Println(err, errors.Is(err, orchestration.ErrCancelled))
	// Output: canceled: broken down true
}

// Two blocks charge what another hands them through a channel, and a wait group waits for both.
func ExampleChannel() {
	charges := orchestration.New("Charges", func(ctx *orchestration.Context, cents []int) (int, error) {
		amounts, charged := orchestration.NewChannel[int](ctx, len(cents)), 0
		var group orchestration.WaitGroup
		for range 2 {
			group.Go(ctx, func(ctx *orchestration.Context) error {
				for amount := range amounts.All() {
					if _, err := orchestration.Activity(ctx, Charge, amount).Await(); err != nil {
						return err
					}
					charged += amount
				}
				return nil
			})
		}
		for _, amount := range cents {
			if err := amounts.Send(amount); err != nil {
				return 0, err
			}
		}
		amounts.Close()
		return charged, group.Wait()
	})

	fmt.Println(resultOf(charges, []int{100, 200, 300, 400}, Charge))
	// Output: 1000 <nil>
}

// The first of several offers wins, and the others are cancelled.
func ExampleRace() {
	fastest := orchestration.New("Fastest", func(ctx *orchestration.Context, cities []string) (string, error) {
		var greetings []*orchestration.Future[string]
		for _, city := range cities {
			greetings = append(greetings, orchestration.Activity(ctx, Greet, city))
		}
		return orchestration.Race(greetings...)
	})

	fmt.Println(resultOf(fastest, []string{"Oslo"}, Greet))
	// Output: Hello, Oslo! <nil>
}

// Results are taken in the order in which they come.
func ExampleAsCompleted() {
	report := orchestration.New("Report", func(ctx *orchestration.Context, cities []string) (int, error) {
		var greetings []*orchestration.Future[string]
		for _, city := range cities {
			greetings = append(greetings, orchestration.Activity(ctx, Greet, city))
		}
		done := 0
		for i, greeting := range orchestration.AsCompleted(greetings...) {
			if _, err := greeting.Await(); err != nil {
				return done, fmt.Errorf("%s: %w", cities[i], err)
			}
			done++
			ctx.SetCustomStatus(fmt.Sprintf("%d of %d", done, len(cities)))
		}
		return done, nil
	})

	fmt.Println(resultOf(report, []string{"Oslo", "Lima", "Rome"}, Greet))
	// Output: 3 <nil>
}

// Answer is somebody's answer to a question.
type Answer struct {
	Yes  bool
	From string
}

// What a poll and its clients share.
var (
	Answers = orchestration.NewQueue[Answer]("answers")
	Closing = orchestration.NewEvent[string]("closing")
	Count   orchestration.CustomStatus[int]
	Leader  = orchestration.NewKey[string]("leader")
)

// Declarations give messages, keys and the custom status a name and a type, once for the
// orchestration and for its clients.
func ExampleNewQueue() {
	poll := orchestration.New("Poll", func(ctx *orchestration.Context, question string) (string, error) {
		closing, yes := Closing.Wait(ctx), 0
		for {
			answer := Answers.Dequeue(ctx)
			if orchestration.WaitAny(answer, closing) == 1 {
				break
			}
			a, err := answer.Await()
			if err != nil {
				return "", err
			}
			if a.Yes {
				yes++
				Leader.Set(ctx, a.From)
			}
			Count.Set(ctx, yes)
		}
		by, err := closing.Await()
		return fmt.Sprintf("%s %d say yes, says %s", question, yes, by), err
	})

	ctx, c, stop := working(poll)
	defer stop()
	run, err := client.Start(ctx, c, poll, "poll-1", "Tea?", client.WithMessage(Answers, Answer{Yes: true, From: "Ada"}))
	check(err)
	_, err = c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	check(client.RaiseEvent(ctx, c, Closing, run.Instance(), "Grace"))
	output, err := run.Wait(ctx)
	check(err)
	leader, _, err := client.Value(ctx, c, Leader, run.Instance())
	check(err)
	fmt.Println(output, "and", leader)
	// Output: Tea? 1 say yes, says Grace and Ada
}
