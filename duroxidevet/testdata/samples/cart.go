package samples

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// A cart takes changes, reminds its owner once when nothing happens, and ends with an order. After the shopping cart
// samples of Temporal and the entities of Durable Functions.

type change struct {
	Item  string
	Count int
	Buy   bool
}

type cart struct {
	Items    map[string]int
	Reminded bool
}

var (
	changes = orchestration.NewQueue[change]("changes")
	shown   orchestration.CustomStatus[cart]
	anew    = orchestration.Declare[cart, string]("Cart")
	receive = orchestration.Declare[[]change, string]("Order")
)

var Cart = anew.Implement(func(ctx *orchestration.Context, c cart) (string, error) {
	if c.Items == nil {
		c.Items = map[string]int{}
	}
	for n := 0; ; n++ {
		if n == 50 {
			return anew.ContinueAsNew(ctx, c)
		}
		shown.Set(ctx, c)
		next := changes.Dequeue(ctx)
		if orchestration.SelectAndDrop(next, ctx.Timer(c.patience())) == 1 {
			if c.Reminded {
				return "", nil
			}
			c.Reminded = true
			orchestration.Detach(ctx, orchestration.Declare[string, string]("Remind"), ctx.Info().Instance+"-reminder", "")
			continue
		}
		change, err := next.Await()
		if err != nil {
			return "", err
		}
		if change.Buy {
			return orchestration.SubOrchestration(ctx, receive, c.lines(), patient).Await()
		}
		if c.Items[change.Item] += change.Count; c.Items[change.Item] <= 0 {
			delete(c.Items, change.Item)
		}
	}
})

func (c cart) patience() time.Duration {
	if c.Reminded {
		return 24 * time.Hour
	}
	return 10 * time.Minute
}

func (c cart) lines() []change {
	lines := make([]change, 0, len(c.Items))
	for item, count := range c.Items {
		lines = append(lines, change{Item: item, Count: count})
	}
	slices.SortFunc(lines, func(a, b change) int { return cmp.Compare(a.Item, b.Item) })
	return lines
}

// String is for the log.
func (c cart) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
