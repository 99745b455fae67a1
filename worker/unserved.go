package worker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// maxSent bounds how many activities sent are remembered in all; later ones are not watched.
const maxSent = 10_000

// maxSentByRoute bounds how many activities sent are remembered for one tag and session, so that one
// whose results other workers receive leaves room for the others.
const maxSentByRoute = 500

// readsPerLook bounds how many histories one look reads for one tag and session.
const readsPerLook = 16

// route is what decides which workers may take an activity.
type route struct{ tag, session string }

// sent is an activity that waits for its result.
type sent struct {
	name  string
	since time.Time
}

// unserved watches the activities that this worker's turns have sent and of which nobody else tells, see mayHang. Each
// route is told once, until a result comes from it.
type unserved struct {
	mu     sync.Mutex
	routes map[provider.ActivityRef]route
	open   map[route]map[provider.ActivityRef]sent
	told   map[route]bool
}

// mayHang are those activities that could wait for ever without a word: in a session whose owner is stuck.
func mayHang(items []provider.WorkItem) (list []provider.ActivityExecuteItem) {
	for _, item := range items {
		a, ok := item.(provider.ActivityExecuteItem)
		if !ok {
			continue
		}
		if a.SessionID != nil {
			list = append(list, a)
		}
	}
	return list
}

// add notes what a committed turn has sent.
func (u *unserved) add(items []provider.ActivityExecuteItem) {
	if len(items) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range items {
		if len(u.routes) >= maxSent {
			continue
		}
		var r route
		if a.Tag != nil {
			r.tag = *a.Tag
		}
		if a.SessionID != nil {
			r.session = *a.SessionID
		}
		ref := provider.ActivityRef{Instance: a.Instance, ExecutionID: a.ExecutionID, ActivityID: a.ID}
		if len(u.open[r]) >= maxSentByRoute {
			continue
		}
		if u.open[r] == nil {
			u.open[r] = map[provider.ActivityRef]sent{}
		}
		u.routes[ref], u.open[r][ref] = r, sent{name: a.Name, since: time.Now()}
	}
}

// answered notes the results that a turn has received.
func (u *unserved) answered(messages []provider.WorkItem) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, message := range messages {
		var ref provider.ActivityRef
		switch m := message.(type) {
		case provider.ActivityCompletedItem:
			ref = provider.ActivityRef{Instance: m.Instance, ExecutionID: m.ExecutionID, ActivityID: m.ID}
		case provider.ActivityFailedItem:
			ref = provider.ActivityRef{Instance: m.Instance, ExecutionID: m.ExecutionID, ActivityID: m.ID}
		}
		u.remove(ref, true) // of a message that is no result, nothing
	}
}

// remove forgets an activity. served means that a result has come by its route.
func (u *unserved) remove(ref provider.ActivityRef, served bool) {
	r, ok := u.routes[ref]
	if !ok {
		return
	}
	delete(u.routes, ref)
	delete(u.open[r], ref)
	if served {
		delete(u.told, r)
	}
	if len(u.open[r]) == 0 {
		delete(u.open, r)
		delete(u.told, r)
	}
}

// drop is remove for an activity that is not open any more.
func (u *unserved) drop(ref provider.ActivityRef) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.remove(ref, true)
}

// overdue is an activity that has waited for long.
type overdue struct {
	ref provider.ActivityRef
	sent
	route
	waiting int
}

// overdue lists, for each route that was not told yet, the activities sent before a time, the
// latest first.
func (u *unserved) overdue(before time.Time) [][]overdue {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all [][]overdue
	for r, open := range u.open {
		var found []overdue
		for ref, s := range open {
			if !u.told[r] && s.since.Before(before) {
				found = append(found, overdue{ref: ref, sent: s, route: r, waiting: len(open)})
			}
		}
		slices.SortFunc(found, func(a, b overdue) int {
			return cmp.Or(b.since.Compare(a.since), cmp.Compare(b.ref.ActivityID, a.ref.ActivityID))
		})
		if len(found) > 0 {
			all = append(all, found)
		}
	}
	return all
}

func (u *unserved) tell(r route) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.told[r] = true
}

// watchQuiet looks from time to time until ctx ends for what has waited for QuietTime.
func (w *Worker) watchQuiet(ctx context.Context) {
	held := heldWatch{worker: w}
	for clock.Sleep(ctx, max(w.options.QuietTime/4, time.Millisecond)) == nil {
		for _, route := range w.unserved.overdue(time.Now().Add(-w.options.QuietTime)) {
			w.tellUnserved(ctx, route)
		}
		held.look(ctx)
	}
}

// tellUnserved logs the latest of these activities that is still open. Another worker may
// have received a result, which only the history tells: then the route is served, and the
// activities before it are forgotten.
func (w *Worker) tellUnserved(ctx context.Context, waiting []overdue) {
	for i, a := range waiting[:min(len(waiting), readsPerLook)] {
		history, err := w.store.ReadWithExecution(ctx, a.ref.Instance, a.ref.ExecutionID)
		if err != nil {
			return // the next look will see
		}
		switch fateOf(history, a.ref.ActivityID) {
		case answered:
			for _, served := range waiting[i:] {
				w.unserved.drop(served.ref)
			}
			return
		case withdrawn:
			w.unserved.drop(a.ref)
		case awaited:
			w.unserved.tell(a.route)
			w.options.Logger.WarnContext(ctx, "an activity has no result yet; check that a worker has it and takes its tag, and that the owner of its session still runs",
				"instance_id", a.ref.Instance, "execution_id", a.ref.ExecutionID, "activity_name", a.name, "activity_id", a.ref.ActivityID,
				"tag", cmp.Or(a.tag, "none"), "session_id", a.session, "waiting_for", time.Since(a.since).Round(time.Millisecond), "waiting_alike", a.waiting)
			return
		}
	}
}

// fate is what a history says about an activity that was sent.
type fate int

const (
	// withdrawn is one that nobody waits for any more.
	withdrawn fate = iota
	// awaited is one whose result the history still waits for.
	awaited
	answered
)

func fateOf(history []provider.Event, id uint64) fate {
	found := withdrawn
	for _, event := range history {
		if event.EventID == id {
			found = awaited
		}
		about := event.SourceEventID != nil && *event.SourceEventID == id
		switch event.Kind.(type) {
		case provider.ActivityCompleted, provider.ActivityFailed:
			if about {
				return answered
			}
		case provider.ActivityCancelRequested:
			if about {
				return withdrawn
			}
		}
		if event.Terminal() {
			return withdrawn
		}
	}
	return found
}
