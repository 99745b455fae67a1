package demo

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

// The activities by name; [Work] gives them their functions.
var (
	greet  = activity.Declare[string, string]("Greet")
	square = activity.Declare[int, int]("Square")
	count  = activity.Declare[int, int]("Count")
)

// approval is the event that an Approval waits for.
var approval = orchestration.NewEvent[string]("approval")

// waiting is an Approval's custom status while it waits.
const waiting = "waiting for approval"

// helloCities greets one city after the other.
var helloCities = orchestration.New("HelloCities",
	func(ctx *orchestration.Context, cities []string) ([]string, error) {
		var greetings []string
		for _, city := range cities {
			greeting, err := orchestration.Activity(ctx, greet, city).Await()
			if err != nil {
				return nil, err
			}
			greetings = append(greetings, greeting)
		}
		return greetings, nil
	})

// sumOfSquares squares 1 to n side by side and adds the results up, so that one
// result too many or too few shows in the sum.
var sumOfSquares = orchestration.New("SumOfSquares",
	func(ctx *orchestration.Context, n int) (int, error) {
		futures := make([]*orchestration.Future[int], 0, n)
		for i := range n {
			futures = append(futures, orchestration.Activity(ctx, square, i+1))
		}
		squares, err := orchestration.Join(futures...)
		if err != nil {
			return 0, err
		}
		sum := 0
		for _, s := range squares {
			sum += s
		}
		return sum, nil
	})

// nap sleeps on a durable timer.
var nap = orchestration.New("Nap",
	func(ctx *orchestration.Context, length string) (string, error) {
		d, err := time.ParseDuration(length)
		if err != nil {
			return "", err
		}
		return "slept for " + length, ctx.Sleep(d)
	})

// approve waits for somebody's word.
var approve = orchestration.New("Approval",
	func(ctx *orchestration.Context, what string) (string, error) {
		ctx.SetCustomStatus(waiting)
		by, err := approval.Wait(ctx).Await()
		if err != nil {
			return "", err
		}
		ctx.ResetCustomStatus()
		return fmt.Sprintf("%s, approved by %s", what, by), nil
	})

// tour greets the cities of each leg in a sub-orchestration of its own.
var tour = orchestration.New("Tour",
	func(ctx *orchestration.Context, legs [][]string) ([][]string, error) {
		futures := make([]*orchestration.Future[[]string], 0, len(legs))
		for _, leg := range legs {
			futures = append(futures, orchestration.SubOrchestration(ctx, helloCities, leg))
		}
		return orchestration.Join(futures...)
	})

// lapsDone is how far a Laps is.
type lapsDone struct {
	Lap  int `json:"lap"`
	Laps int `json:"laps"`
	Sum  int `json:"sum"`
}

// lap is one execution of laps.
var lap = orchestration.Declare[lapsDone, int]("Laps")

// laps adds up 1 to n, each number in an execution of its own.
var laps = lap.Implement(
	func(ctx *orchestration.Context, done lapsDone) (int, error) {
		n, err := orchestration.Activity(ctx, count, done.Lap+1).Await()
		if err != nil {
			return 0, err
		}
		done.Lap, done.Sum = done.Lap+1, done.Sum+n
		if done.Lap == done.Laps {
			return done.Sum, nil
		}
		return lap.ContinueAsNew(ctx, done)
	})
