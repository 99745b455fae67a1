package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

// Shape is an orchestration with what must come of it.
type Shape struct {
	// Name is a short name for instance ids, Title tells people what it is.
	Name, Title string
	// Output is the text of the only right result.
	Output string
	// Executions and Instances are how many there are in the end, children
	// included, and Results how many activities' results are counted in them.
	Executions, Instances, Results int
	// Approves is set when it waits for an event.
	Approves bool
	// Queue is the queue in which it takes Messages, in this order.
	Queue    orchestration.Queue[string]
	Messages []string
	// Drops is set when it stops waiting for some of what it asked for: answers to that
	// may be missing, and results of that don't count.
	Drops bool
	// Detaches is set when it starts an orchestration that is no child of it, under the id
	// that [AsideOf] tells.
	Detaches bool
	// Start starts the shape under an instance id.
	Start func(ctx context.Context, c *client.Client, instance string) error
}

// starting returns what starts an orchestration with an input.
func starting[I, O any](def orchestration.Definition[I, O], input I) func(context.Context, *client.Client, string) error {
	return func(ctx context.Context, c *client.Client, instance string) error {
		_, err := client.Start(ctx, c, def, instance, input)
		return err
	}
}

// Cities is a shape with one activity after the other.
func Cities(cities ...string) Shape {
	return Shape{
		Name: "hello-cities", Title: fmt.Sprintf("%d activities, one after the other", len(cities)),
		Output: asJSON(greetings(cities)), Executions: 1, Instances: 1, Results: len(cities),
		Start: starting(helloCities, cities),
	}
}

// Squares is a shape with n activities side by side.
func Squares(n int) Shape {
	return Shape{
		Name: "fan-out", Title: fmt.Sprintf("%d activities side by side, and the sum of their results", n),
		Output: asJSON(n * (n + 1) * (2*n + 1) / 6), Executions: 1, Instances: 1, Results: n,
		Start: starting(sumOfSquares, n),
	}
}

// Timer is a shape that sleeps.
func Timer(length time.Duration) Shape {
	return Shape{
		Name: "timer", Title: fmt.Sprintf("a timer of %v", length),
		Output: fmt.Sprintf("slept for %v", length), Executions: 1, Instances: 1,
		Start: starting(nap, length.String()),
	}
}

// Approval is a shape that waits for an event, which [Approve] raises.
func Approval(what, by string) Shape {
	return Shape{
		Name: "external-event", Title: "an event from outside",
		Output: fmt.Sprintf("%s, approved by %s", what, by), Executions: 1, Instances: 1, Approves: true,
		Start: starting(approve, what),
	}
}

// Approve raises the event that an [Approval] waits for.
func Approve(ctx context.Context, c *client.Client, instance, by string) error {
	return client.RaiseEvent(ctx, c, approval, instance, by)
}

// Tour is a shape with a sub-orchestration for each leg.
func Tour(legs ...[]string) Shape {
	outputs, results := make([][]string, 0, len(legs)), 0
	for _, leg := range legs {
		outputs = append(outputs, greetings(leg))
		results += len(leg)
	}
	return Shape{
		Name: "sub-orchestrations", Title: fmt.Sprintf("%d sub-orchestrations", len(legs)),
		Output: asJSON(outputs), Executions: 1 + len(legs), Instances: 1 + len(legs), Results: results,
		Start: starting(tour, legs),
	}
}

// Laps is a shape that continues as new until the n-th execution.
func Laps(n int) Shape {
	return Shape{
		Name: "continue-as-new", Title: fmt.Sprintf("%d executions, each continued as the next", n),
		Output: asJSON(n * (n + 1) / 2), Executions: n, Instances: 1, Results: n,
		Start: starting(laps, lapsDone{Laps: n}),
	}
}

// Medley is a shape with everything that the others lack. It takes two messages in another
// version than the first.
func Medley(by string) Shape {
	messages := []string{"one", "two", "three"}
	return Shape{
		Name: "medley", Title: "a little of everything else",
		Output: asJSON(medleyDone{
			Notes: messages, Squares: []int{4, 9, 16}, Mapped: []int{25, 36, 49}, Refused: true, Taken: true, Dropped: 6, By: by, SameGUID: true,
			Undone: []int{81, 64},
		}),
		// A built-in activity, ten squares, two refusals, and one of the two children that are
		// dropped cleans up.
		Executions: 4, Instances: 3, Results: 14, Approves: true, Queue: notes, Messages: messages, Drops: true,
		Detaches: true, Start: starting(medleyBegins.AtVersion(medleyBegins.Version()), ""),
	}
}

func greetings(cities []string) []string {
	list := make([]string, 0, len(cities))
	for _, city := range cities {
		list = append(list, greeting(city))
	}
	return list
}

func greeting(city string) string { return "Hello, " + city + "!" }

// asJSON is for values that always have JSON.
func asJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
