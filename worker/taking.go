package worker

import (
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// taking is one call that takes work, and the slots that it takes work for. A nil taking
// takes nothing.
type taking struct {
	dispatcher *dispatcher

	mu sync.Mutex
	// turn and activities are the slots that wait for the call: nil when it is not for them,
	// and when they wait no longer.
	turn       *orchestrator
	activities []*activities
	// turnsSeen and activitiesSeen are the store's notices before the call.
	turnsSeen, activitiesSeen uint64
	// made means that the call was made, and asked what it takes.
	made  bool
	asked provider.TakeParams
	// began is when a slot began to wait for the call, and settled is told how long it did.
	began   time.Time
	settled func(time.Duration)
	// from is where what it asks for begins in a call with others.
	from int
	// succeeded means that the call has brought taken.
	succeeded, finished bool
	taken               provider.Taken
	// more means that there may well be more turns.
	more bool
}

// begin returns what the first try of an acknowledgement takes beside: for its own slot, and for
// as many idle ones as are wanted and there are. ok is false when it takes nothing.
func (k *taking) begin(turns, work int) (params provider.TakeParams, ok bool) {
	if k == nil {
		return params, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.dispatcher
	if k.made || k.turn == nil && k.activities == nil || d.ctx.Err() != nil {
		return params, false
	}
	var own []*orchestrator
	if k.turn != nil {
		own, turns, k.turn = append(own, k.turn), 1, nil
	}
	var idle []*orchestrator
	idle, k.turnsSeen = d.turns.reserve(turns, own...)
	if len(idle) > 0 {
		k.turn = idle[0]
	}
	k.activities, k.activitiesSeen = d.activities.reserve(work+len(k.activities), k.activities...)
	params = k.ask()
	return params, params.Turn != nil || len(params.Work) > 0
}

// ask returns what the call takes for its slots. The caller has the mutex, or is alone.
func (k *taking) ask() provider.TakeParams {
	w := k.dispatcher.worker
	k.made = true
	if k.turn != nil {
		turn := w.fetchTurn()
		k.asked.Turn = &turn
	}
	for _, slot := range k.activities {
		spare := k.dispatcher.activities.spare[slot] // whose sessions nobody would keep
		k.asked.Work = append(k.asked.Work, slot.fetchWork(!spare))
	}
	return k.asked
}

// answered notes what the call has brought: nothing if it failed. After a failure that may pass
// there is a look, which tells whether the store is away, and when it is back.
func (k *taking) answered(taken provider.Taken, err error) {
	k.receive(taken, err)
	k.note(err)
}

// receive takes in what the call has brought. It is run at once if nobody waits for it any more.
func (k *taking) receive(taken provider.Taken, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.putBack()
		return
	}
	k.succeeded, k.taken = true, taken
	if k.settled != nil {
		k.settled(time.Since(k.began))
	}
	if k.finished {
		k.run()
	}
}

// note notes whether there may be more to take.
func (k *taking) note(err error) {
	d := k.dispatcher
	switch {
	case err == nil:
		k.noteTurn()
		k.noteActivities()
	case provider.IsRetryable(err):
		d.turns.notice()
		d.activities.notice()
	}
}

// noteTurn notes whether there may be more turns.
func (k *taking) noteTurn() {
	d := k.dispatcher
	if k.asked.Turn == nil {
		return
	}
	found := 0
	if k.taken.Turn != nil {
		found = 1
	}
	if found == 0 && k.taken.Err != nil {
		d.turns.notice()
		return
	}
	k.more = d.turns.looked(k.turnsSeen, 1, found)
}

// noteActivities notes whether there may be more activities.
func (k *taking) noteActivities() {
	d, asked, found := k.dispatcher, len(k.asked.Work), len(k.taken.Work)
	if found < asked && k.taken.Err != nil {
		d.activities.notice()
		return
	}
	d.activities.looked(k.activitiesSeen, asked, found)
}

// observe tells the outage how the looks beside an acknowledgement went.
func (k *taking) observe(taken provider.Taken) {
	d, o := k.dispatcher, k.dispatcher.worker.outage
	failed := taken.Err != nil
	if k.asked.Turn != nil {
		if failed && taken.Turn == nil {
			o.Observe(d.ctx, outage.OpFetchTurn, taken.Err)
			return // and the activities were not looked for
		}
		o.Observe(d.ctx, outage.OpFetchTurn, nil)
	}
	if len(k.asked.Work) > 0 {
		o.Observe(d.ctx, outage.OpFetchWork, taken.Err)
	}
}

// release frees the slots that wait for the call, as it may take long. When the call has been made,
// and the acknowledgement is to be made again, what was taken does not wait for that.
func (k *taking) release() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.succeeded {
		k.finishOnce()
	} else {
		k.putBack()
	}
}

// putBack frees the slots that wait. The caller has the mutex.
func (k *taking) putBack() {
	d := k.dispatcher
	if k.turn != nil {
		d.turns.put(false, k.turn)
	}
	if len(k.activities) > 0 {
		// Other slots have not seen what is in this one's sessions.
		unseen := d.worker.sessions.used() && (!k.succeeded || d.activities.noticedSince(k.activitiesSeen))
		d.activities.put(unseen, k.activities...)
	}
	k.turn, k.activities = nil, nil
}

// finish runs what was taken and frees the other slots. It is called when the worker knows
// the effects of the work that was acknowledged; only the first call counts.
func (k *taking) finish() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.finishOnce()
}

// finishOnce is finish for a caller that has the mutex.
func (k *taking) finishOnce() {
	if !k.finished {
		k.finished = true
		k.run()
	}
}

// run starts what was taken and frees the other slots. The caller has the mutex.
func (k *taking) run() {
	slots := slices.Clone(k.activities)
	for _, work := range k.taken.Work {
		var a *activities
		if work.For < len(slots) {
			a = slots[work.For]
			k.activities = slices.DeleteFunc(k.activities, func(other *activities) bool { return other == a })
		}
		k.dispatcher.startActivity(a, work.FetchedWorkItem)
	}
	if k.taken.Turn != nil {
		k.dispatcher.startTurn(k.turn, k.taken.Turn)
		k.turn = nil
	}
	k.putBack()
}
