package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// How often a worker looks for code that nobody has: in UnknownCodeTimeout, and at least in LiveFor.
const (
	looksPerTimeout = 8
	looksPerLife    = 3
)

// never is longer than any work waits. A fetch of what has been unknown for that long
// finds nothing, and counts the caller's code as seen.
const never = 10 * 365 * 24 * time.Hour

// maxKept is how many turns one look keeps that need their code.
const maxKept = 100

// unknownWatch looks for work whose code nobody has. It ends instances of which that is requested, and with an
// UnknownCodeTimeout it fails what has waited for that long.
//
// Its fetches also say what this worker has. While all slots are at work nothing else
// does, and what waits for a free slot here would count as held.
type unknownWatch struct {
	worker *Worker
	// work is the context of what this worker runs.
	work context.Context //nolint:containedctx // for the work that is fetched
	// steady is since when this worker has looked without interruption, and looked when
	// it did so last.
	steady, looked time.Time
	// unknownFor is how long the work that is looked for has been unknown, and requested whether it is for instances
	// whose end was requested. ended is whether the work that was fetched last ends.
	unknownFor       time.Duration
	requested, ended bool
	// kept is how often in a row there were instances whose end was requested and that need their code. They are looked
	// at again after restUntil.
	kept      uint32
	restUntil time.Time
}

// watchUnknown looks from time to time until ctx ends; work ends when what it fetched must
// stop.
func (w *Worker) watchUnknown(ctx, work context.Context) {
	u := &unknownWatch{worker: w, work: work, steady: time.Now()}
	u.looked = u.steady
	pause := provider.LiveFor / looksPerLife
	if timeout := w.options.UnknownCodeTimeout; timeout > 0 {
		pause = min(pause, max(timeout/looksPerTimeout, time.Millisecond))
	}
	for {
		// Not all workers of a fleet that was started at once look at once.
		if clock.Sleep(ctx, pause-rand.N(pause/4+1)) != nil { //nolint:gosec // no secret
			return
		}
		u.look(ctx)
	}
}

// look is one round. What goes wrong is left to the next one: the slots' own fetches tell
// of a store that is away.
func (u *unknownWatch) look(ctx context.Context) {
	w, steady := u.worker, u.steadyFor()
	patience, timeout := w.requestPatience(), w.options.UnknownCodeTimeout
	requested, failing := never, never
	if steady >= patience && time.Now().After(u.restUntil) {
		requested = patience
	}
	if timeout > 0 && steady >= timeout {
		failing = timeout
	}
	err := u.endTurns(ctx, requested, requested < never)
	if err == nil && failing < never {
		err = u.endTurns(ctx, failing, false)
	}
	if err == nil {
		err = u.failActivities(ctx, failing)
	}
	if err != nil && ctx.Err() == nil {
		u.steady = time.Now()
	}
}

// steadyFor is how long this worker has looked without interruption: since it started,
// since the store was away, or since the process stood still. The other workers may have
// been away for as long, and get that much time to say what they have.
func (u *unknownWatch) steadyFor() time.Duration {
	now := time.Now()
	if now.Round(0).Sub(u.looked.Round(0)) > u.worker.requestPatience()/2 { // by the wall clock, which also counts sleep
		u.steady = now
	}
	if back := u.worker.outage.SteadySince(); back.After(u.steady) {
		u.steady = back
	}
	u.looked = now
	return now.Sub(u.steady)
}

// endTurns ends the instances whose orchestration has been unknown for that long, or only those whose end was
// requested. Others stay fetched until it has looked at all, so that each is looked at once.
func (u *unknownWatch) endTurns(ctx context.Context, unknownFor time.Duration, requested bool) error {
	w := u.worker
	u.unknownFor, u.requested = unknownFor, requested
	var kept []*turn
	defer func() { u.giveBack(kept) }()
	params := runner{w}.FetchTurn()
	params.Held, params.UnknownFor, params.Cancelled = nil, unknownFor, requested
	for w.options.OrchestrationConcurrency > 0 && ctx.Err() == nil && len(kept) < maxKept {
		fetched, err := w.store.FetchOrchestrationItem(ctx, params)
		if fetched == nil || err != nil {
			return err
		}
		u.ended = false
		t := w.decideTurn(u.work, "unknown-"+w.id, fetched, func() {}, u) //nolint:contextcheck // what settles work has its own context
		if u.ended {
			t.Settle(new(taking.Claim))
		} else {
			kept = append(kept, t)
		}
	}
	return nil
}

// giveBack gives turns back that need their code.
func (u *unknownWatch) giveBack(kept []*turn) {
	for _, t := range kept {
		t.Settle(new(taking.Claim))
	}
	if u.kept++; len(kept) == 0 {
		u.kept = 0
		return
	}
	u.restUntil = time.Now().Add(u.worker.unregisteredDelay(u.kept))
}

// failActivities fails the activities that have been unknown for that long.
func (u *unknownWatch) failActivities(ctx context.Context, unknownFor time.Duration) error {
	w := u.worker
	u.unknownFor = unknownFor
	params := runner{w}.FetchActivity("", false)
	params.UnknownFor = unknownFor
	for w.options.ActivityConcurrency > 0 && ctx.Err() == nil {
		fetched, err := w.store.FetchWorkItem(ctx, params)
		if fetched == nil || err != nil {
			return err
		}
		u.ended = false
		w.decideCall(u.work, "unknown-"+w.id, fetched, u).Settle(new(taking.Claim)) //nolint:contextcheck // what settles work has its own context
		if !u.ended {
			return nil
		}
	}
	return nil
}

// decideUnknown ends a turn of the watch, unless somebody has its code by now, or it was fetched for a request that
// needs the code.
func (t *turn) decideUnknown(ctx context.Context) verdict {
	u := t.unknown
	b, err := t.batch().Begin()
	if err != nil || !t.lacksCode() || u.requested && !t.batch().EndsByRequest(b) {
		return giveBack{IgnoreAttempt: true}
	}
	details, err := u.details(ctx, anOrchestration, b.Code())
	if err != nil {
		return giveBack{IgnoreAttempt: true}
	}
	u.ended = true
	return t.endUnrun(ctx, b, details)
}

// decideUnknown fails an activity of the watch, unless this worker has its code by now.
func (c *call) decideUnknown(ctx context.Context, u *unknownWatch) verdict {
	if _, known := c.worker.handler(c.item.Name); !known {
		if details, err := u.details(ctx, anActivity, c.code()); err == nil {
			u.ended = true
			return c.failUnknown(ctx, details)
		}
	}
	return giveBack{IgnoreAttempt: true}
}

// details is the failure of work whose code no worker has had for the time.
func (u *unknownWatch) details(ctx context.Context, kind string, code provider.CodeName) (provider.ErrorDetails, error) {
	text := fmt.Sprintf("no worker has had %s for %v", describeCode(kind, code), u.unknownFor)
	if kind == anOrchestration {
		versions, err := u.worker.store.KnownVersions(ctx, code.Name, u.unknownFor)
		if err != nil {
			return nil, err
		}
		text += "; known versions: " + describeVersions(versions)
	}
	return unknown(code, text), nil
}
