package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/provider"
)

// How often a worker looks for code that nobody has, and when it tells of it first, as
// parts of UnknownCodeTimeout.
const (
	looksPerTimeout = 8
	noticeAfter     = 4
)

// never is longer than any work waits. A fetch of what has been unknown for that long
// finds nothing, and counts the caller's code as seen.
const never = 10 * 365 * 24 * time.Hour

// unknownWatch looks for work whose code nobody has, tells of it and finally fails it.
//
// Its fetches also say what this worker has. While all slots are at work nothing else
// does, and other workers would fail what waits for a free slot here.
type unknownWatch struct {
	worker   *Worker
	selector provider.CodeSelector
	// work is the context of what this worker runs.
	work context.Context //nolint:containedctx // for the work that is fetched
	// timeout is UnknownCodeTimeout, or its default when that is never, so that the
	// worker still says what it has.
	timeout time.Duration
	// steady is since when this worker has looked without interruption, and looked when
	// it did so last.
	steady, looked time.Time
	told           map[provider.UnknownCode]bool
	looks          int
	// failed is whether the work that was fetched last was failed.
	failed bool
}

// watchUnknown looks from time to time until ctx ends; work ends when what it fetched must
// stop. A store that does not select by code is not asked.
func (w *Worker) watchUnknown(ctx, work context.Context) {
	selector, ok := observed.As[provider.CodeSelector](w.store)
	if !ok {
		return
	}
	u := &unknownWatch{worker: w, selector: selector, work: work, timeout: w.options.UnknownCodeTimeout, steady: time.Now()}
	if u.timeout < 0 {
		u.timeout = provider.DefaultUnknownFor
	}
	u.looked = u.steady
	for {
		pause := max(u.timeout/looksPerTimeout, time.Millisecond)
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
	steady := u.steadyFor()
	unknownFor := never
	if u.worker.options.UnknownCodeTimeout > 0 && steady >= u.timeout {
		unknownFor = u.timeout
	}
	err := u.failTurns(ctx, unknownFor)
	if err == nil {
		err = u.failActivities(ctx, unknownFor)
	}
	// Not each time: a store may have to read all that waits.
	if u.looks++; err == nil && u.looks%2 == 0 && steady >= u.timeout/noticeAfter {
		err = u.tell(ctx)
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
	if now.Round(0).Sub(u.looked.Round(0)) > u.timeout/2 { // by the wall clock, which also counts sleep
		u.steady = now
	}
	if back := u.worker.outage.steadySince(); back.After(u.steady) {
		u.steady = back
	}
	u.looked = now
	return now.Sub(u.steady)
}

// failTurns fails the instances whose orchestration has been unknown for that long.
func (u *unknownWatch) failTurns(ctx context.Context, unknownFor time.Duration) error {
	w := u.worker
	slot := &orchestrator{worker: w, id: "unknown-" + w.id, unknown: u}
	for w.options.OrchestrationConcurrency > 0 && ctx.Err() == nil {
		fetched, err := w.store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{
			LockTimeout: w.options.OrchestrationLockTimeout, UnknownFor: unknownFor, Known: w.known.orchestrations,
			Filter: &provider.CapabilityFilter{SupportedVersions: w.options.SupportedVersions}, Peek: true,
		})
		if fetched == nil || err != nil {
			return err
		}
		u.failed = false
		if slot.process(u.work, fetched, func() {})(func() {}, nil); !u.failed { //nolint:contextcheck // what settles work has its own context
			return nil
		}
	}
	return nil
}

// failActivities fails the activities that have been unknown for that long.
func (u *unknownWatch) failActivities(ctx context.Context, unknownFor time.Duration) error {
	w := u.worker
	slot := &activities{worker: w, id: "unknown-" + w.id, unknown: u}
	for w.options.ActivityConcurrency > 0 && ctx.Err() == nil {
		fetched, err := w.store.FetchWorkItem(ctx, provider.FetchWorkParams{
			LockTimeout: w.options.ActivityLockTimeout, UnknownFor: unknownFor, Known: w.known.activities,
		})
		if fetched == nil || err != nil {
			return err
		}
		u.failed = false
		if slot.process(u.work, fetched)(func() {}, nil); !u.failed { //nolint:contextcheck // what settles work has its own context
			return nil
		}
	}
	return nil
}

// settleUnknown fails a turn of the watch, unless somebody has its code by now.
func (t *turn) settleUnknown(ctx context.Context) {
	if b, err := t.begin(); err == nil && t.lacksCode() {
		if details, err := t.unknown.details(ctx, anOrchestration, b.code()); err == nil {
			t.unknown.failed = t.failUnknown(ctx, b, details)
			return
		}
	}
	t.abandon(ctx, 0, true)
}

// settleUnknown is as that of a turn.
func (c *call) settleUnknown(ctx context.Context, u *unknownWatch) {
	if _, known := c.worker.handler(c.item.Name); !known {
		if details, err := u.details(ctx, anActivity, c.code()); err == nil {
			u.failed = true
			c.failUnknown(ctx, details)
			return
		}
	}
	c.abandon(ctx, 0, true)
}

// details is the failure of work whose code no worker has had for the timeout.
func (u *unknownWatch) details(ctx context.Context, kind string, code provider.CodeName) (provider.ErrorDetails, error) {
	text := fmt.Sprintf("no worker has had %s for %v", describeCode(kind, code), u.timeout)
	if kind == anOrchestration {
		versions, err := u.selector.KnownVersions(ctx, code.Name, u.timeout)
		if err != nil {
			return nil, err
		}
		text += "; known versions: " + describeVersions(versions)
	}
	return unknown(code, text), nil
}

// tell logs, once, each piece of code that work waits for and nobody has.
func (u *unknownWatch) tell(ctx context.Context) error {
	missing, err := u.selector.UnknownCode(ctx, u.timeout/noticeAfter)
	if err != nil {
		return err
	}
	told := map[provider.UnknownCode]bool{}
	for _, code := range missing {
		key := provider.UnknownCode{CodeName: code.CodeName, Activity: code.Activity}
		told[key] = true
		if u.told[key] {
			continue
		}
		kind := anOrchestration
		if code.Activity {
			kind = anActivity
		}
		u.worker.options.Logger.WarnContext(ctx, "work waits for code that no worker has",
			"kind", kind, "name", code.Name, "version", code.Version, "waiting", code.Waiting,
			"waiting_for", time.Since(code.Since).Round(time.Millisecond), "fails_after", u.worker.options.UnknownCodeTimeout)
	}
	u.told = told
	return nil
}
