package rig

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// ChildrenConfig is one configuration of the rig of a wide family.
type ChildrenConfig struct {
	Store provider.Provider
	// Commits counts the transactions below the store, nil when nothing does.
	Commits *CommitCounter
	// Slots is the number of turns at a time.
	Slots int
	// Children is how many sub-orchestrations one parent starts at once.
	Children int
	Logger   *slog.Logger
}

// Children is what one family came to.
type Children struct {
	Children int `json:"children"`
	// Seconds is the time from the parent's start to its known end.
	Seconds float64 `json:"seconds"`
	// Rate is children a second.
	Rate float64 `json:"rate"`

	Costs
}

// RunChildren runs one family, on a store that has passed [MustBeEmpty] before the first
// one.
func RunChildren(ctx context.Context, config ChildrenConfig) (Children, error) {
	m, err := startMeter(ctx, config.Store, config.Commits)
	if err != nil {
		return Children{}, err
	}
	defer m.rss.Stop()
	stop, err := startWorker(ctx, m.store, m.work, config.Slots, config.Logger, family, child)
	if err != nil {
		return Children{}, err
	}
	defer stop()
	c := m.client()
	began := time.Now()
	run, err := client.Start(ctx, c, family, "bench-"+rand.Text(), config.Children)
	if err != nil {
		return Children{}, err
	}
	if _, err := run.Wait(ctx); err != nil {
		return Children{}, err
	}
	seconds := time.Since(began).Seconds()
	costs, _, err := m.read(1+config.Children, stop)
	return Children{
		Children: config.Children, Seconds: seconds, Rate: float64(config.Children) / seconds, Costs: costs,
	}, err
}

// The work of the rig: children that do nothing, and a parent that waits for all of them.
var (
	child  = orchestration.New("Child", func(_ *orchestration.Context, n int) (int, error) { return n, nil })
	family = orchestration.New("Family", func(ctx *orchestration.Context, children int) (int, error) {
		futures := make([]*orchestration.Future[int], 0, children)
		for i := range children {
			futures = append(futures, orchestration.SubOrchestration(ctx, child, i))
		}
		results, err := orchestration.Join(futures...)
		return len(results), err
	})
)
