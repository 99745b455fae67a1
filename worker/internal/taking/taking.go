// Package taking finds work for the slots of a worker, and starts it there.
//
// Work comes with the acknowledgement of other work: a turn's commit brings the next turn, and activities for idle
// slots; that of activities brings the next ones, and a turn for an idle slot. Work that no acknowledgement brings is
// looked for, once for all free slots, when the store gives notice. The package knows neither what a turn nor what an
// activity is: a [Runner] runs them, and settles them with the [Claim] that it gets.
//
// Files: look.go (calls that are made only to take work), start.go (what was taken gets a slot), claim.go (what an
// acknowledgement takes beside), acks.go and batch.go (activities that are acknowledged together), settle.go (calls
// that are repeated as long as a lease lasts), slots.go and pace.go (which slots are free, and how much is taken
// ahead), sessions.go, runners.go (the goroutines of turns).
package taking

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// Config is what a dispatcher needs to know of its worker.
type Config struct {
	Store    provider.Store
	Outage   *outage.Watch
	Sessions *Sessions
	Logger   *slog.Logger
	// Loops counts the goroutines that Start begins, and those of the work.
	Loops *sync.WaitGroup
	// Turns and Activities are how many run at the same time, and TurnLease and ActivityLease how long a lease of one
	// lasts.
	Turns, Activities        int
	TurnLease, ActivityLease time.Duration
	// PollTimeout is how long a look may wait in the store.
	PollTimeout time.Duration
	// TurnSlot and ActivitySlot name a slot.
	TurnSlot, ActivitySlot func(number int) string
}

// Runner runs what was taken.
type Runner interface {
	// FetchTurn returns what a call asks for that takes a turn.
	FetchTurn() provider.FetchOrchestrationParams
	// FetchActivity returns what a call asks for that takes an activity for a slot, also of a session if that is
	// allowed and a further one may begin.
	FetchActivity(slot string, sessions bool) provider.FetchWorkParams
	// RunTurn runs a turn, and calls slow when its function keeps the slot waiting. ctx ends when the work must stop.
	RunTurn(ctx context.Context, slot string, fetched *provider.FetchedOrchestration, slow func()) Decided
	// RunActivity runs an activity.
	RunActivity(ctx context.Context, slot string, fetched *provider.FetchedWorkItem) Decided
}

// Decided is work that has run.
type Decided interface {
	// Settle makes the calls to the store that settle the work. An acknowledgement takes more work beside, and the
	// claim is finished at the end.
	Settle(claim *Claim)
}

// dispatcher finds work for the slots of a worker. Spare slots have work in hand that is short: see [pace].
type dispatcher struct {
	Config

	runner Runner
	// ctx ends when nothing is to be taken any more, and work when what runs must stop.
	ctx, work  context.Context //nolint:containedctx // of the worker's run
	turns      *slots[*slot]
	activities *slots[*slot]
	acks       *activityAcks
	// turnRunners run the turns.
	turnRunners *runners
	// lent counts the turns that are waited for outside their slots.
	lent atomic.Int32
}

// slot runs one piece of work at a time.
type slot struct {
	id string
	// kept has a place for each call that settles work of the slot and that the store has failed or not answered, so
	// that there are no more than KeptPerSlot.
	kept chan struct{}
}

// newSlotList returns n slots, numbered from the first.
func newSlotList(name func(int) string, first, n int) []*slot {
	var list []*slot
	for number := range n {
		list = append(list, &slot{id: name(first + number), kept: make(chan struct{}, KeptPerSlot)})
	}
	return list
}

// Start starts a dispatcher. It takes nothing more when ctx ends, and what runs must stop when work ends. stop ends the
// store's notices; it is called when all work has ended.
func Start(ctx, work context.Context, config Config, runner Runner) (stop func()) {
	turns := newSlotList(config.TurnSlot, 0, config.Turns)
	activities := newSlotList(config.ActivitySlot, 0, config.Activities)
	turnReady, workReady, stop := config.Store.WorkReady()
	d := &dispatcher{
		Config: config, runner: runner, ctx: ctx, work: work,
		turns:       newSlots(turnReady, turns, newSlotList(config.TurnSlot, len(turns), mostAhead)...),
		activities:  newSlots(workReady, activities, newSlotList(config.ActivitySlot, len(activities), mostAhead)...),
		turnRunners: newRunners(config.Loops, ctx.Done()),
	}
	d.turns.quiet, d.turns.storeWaits = d.activities.allFree, true // until it is seen that the store cannot
	d.turns.patience = min(aheadPatience, config.TurnLease/4)
	d.activities.patience = min(aheadPatience, config.ActivityLease/4)
	d.activities.unspared = config.Sessions.Used // whose slots must all look for what is in them
	d.acks = &activityAcks{dispatcher: d, apart: ackApart}
	config.Sessions.freed = d.activities.notice
	d.Loops.Go(newLooker(d).run)
	return stop
}
