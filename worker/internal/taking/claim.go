package taking

import (
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// seats are reserved slots that a call takes work for.
type seats struct {
	// turn is nil if the call takes no turn.
	turn       *slot
	activities []*slot
}

func (s seats) empty() bool { return s.turn == nil && len(s.activities) == 0 }

// request is what one call asks the store for. It does not change.
type request struct {
	params provider.ClaimParams
	// turnsSeen and activitiesSeen count the store's notices before the call.
	turnsSeen, activitiesSeen uint64
}

// operations are those of the store that the request stands for.
func (r request) operations() []string {
	var list []string
	if r.params.Turn != nil {
		list = append(list, outage.OpFetchTurn)
	}
	if len(r.params.Work) > 0 {
		list = append(list, outage.OpFetchWork)
	}
	return list
}

// request asks for work for the seats.
func (d *dispatcher) request(s seats, turnsSeen, activitiesSeen uint64) request {
	r := request{turnsSeen: turnsSeen, activitiesSeen: activitiesSeen}
	if s.turn != nil {
		turn := d.runner.FetchTurn()
		r.params.Turn = &turn
	}
	for _, seat := range s.activities {
		spare := d.activities.spare[seat] // whose sessions nobody would keep
		r.params.Work = append(r.params.Work, d.runner.FetchActivity(seat.id, !spare))
	}
	return r
}

// observe reports to the outage how the looks beside an acknowledgement went.
func (d *dispatcher) observe(r request, taken provider.Claimed) {
	o := d.Outage
	if r.params.Turn != nil {
		if taken.Err != nil && taken.Turn == nil {
			o.Observe(d.ctx, outage.OpFetchTurn, taken.Err)
			return // and the activities were not looked for
		}
		o.Observe(d.ctx, outage.OpFetchTurn, nil)
	}
	if len(r.params.Work) > 0 {
		o.Observe(d.ctx, outage.OpFetchWork, taken.Err)
	}
}

// note notes whether the store may have more than it has answered, and reports whether it may well have more turns.
// After a failure that may pass there is a look, which tells whether the store is away, and when it is back.
func (d *dispatcher) note(r request, taken provider.Claimed, err error) (moreTurns bool) {
	switch {
	case err == nil:
		moreTurns = d.noteTurn(r, taken)
		d.noteActivities(r, taken)
	case provider.IsRetryable(err):
		d.turns.notice()
		d.activities.notice()
	}
	return moreTurns
}

func (d *dispatcher) noteTurn(r request, taken provider.Claimed) (more bool) {
	if r.params.Turn == nil {
		return false
	}
	found := 0
	if taken.Turn != nil {
		found = 1
	}
	if found == 0 && taken.Err != nil {
		d.turns.notice()
		return false
	}
	return d.turns.looked(r.turnsSeen, 1, found)
}

func (d *dispatcher) noteActivities(r request, taken provider.Claimed) {
	asked, found := len(r.params.Work), len(taken.Work)
	if found < asked && taken.Err != nil {
		d.activities.notice()
		return
	}
	d.activities.looked(r.activitiesSeen, asked, found)
}

// start starts what was taken, and frees the seats that are left. The seats are its own from then on. Work whose seat
// is no longer reserved gets another slot, or is given back.
func (d *dispatcher) start(s seats, r request, taken provider.Claimed) {
	for _, work := range taken.Work {
		var seat *slot
		if work.For < len(s.activities) {
			seat, s.activities[work.For] = s.activities[work.For], nil
		}
		d.startActivity(seat, work.FetchedWorkItem)
	}
	s.activities = slices.DeleteFunc(s.activities, func(seat *slot) bool { return seat == nil })
	if taken.Turn != nil {
		d.startTurn(s.turn, taken.Turn)
		s.turn = nil
	}
	d.free(s, len(s.activities) > 0 && d.activities.noticedSince(r.activitiesSeen))
}

// free frees seats. missed means that what came for their sessions meanwhile was not looked for: a call for other slots
// does not find it.
func (d *dispatcher) free(s seats, missed bool) {
	if s.turn != nil {
		d.turns.put(false, s.turn)
	}
	if len(s.activities) > 0 {
		d.activities.put(missed && d.Sessions.Used(), s.activities...)
	}
}

// Claim asks for more work beside the acknowledgement of a slot's work. Its slot waits for the answer, unless that
// takes long. The zero Claim asks for nothing.
type Claim struct {
	dispatcher *dispatcher
	// answer has the one answer, if there is one, and is closed when the call has returned.
	answer chan provider.Claimed
	// began is when the slot began to wait, and called is told how long that took.
	began  time.Time
	called func(time.Duration)

	mu sync.Mutex
	// seats wait for the answer. They are empty when they wait no longer.
	seats seats
	// asked means that the call was made, with the request.
	asked   bool
	request request
}

// newClaim returns a claim for the seat of work that is to be acknowledged.
func (d *dispatcher) newClaim(seat seats, called func(time.Duration)) *Claim {
	return &Claim{dispatcher: d, answer: make(chan provider.Claimed, 1), seats: seat, called: called}
}

// ask returns what the first try of an acknowledgement takes beside: for its own slot, and for as many idle ones as are
// wanted and there are. ok is false if it takes nothing. If it is true, answered is to be called.
func (c *Claim) ask(turns, work int) (r request, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.dispatcher
	if c.asked || c.seats.empty() || d.ctx.Err() != nil {
		return request{}, false
	}
	var own, idle []*slot
	if c.seats.turn != nil {
		own, turns = append(own, c.seats.turn), 1
	}
	var turnsSeen, activitiesSeen uint64
	idle, turnsSeen = d.turns.reserve(turns, own...)
	if c.seats.turn = nil; len(idle) > 0 {
		c.seats.turn = idle[0]
	}
	c.seats.activities, activitiesSeen = d.activities.reserve(work+len(c.seats.activities), c.seats.activities...)
	if c.seats.empty() {
		return request{}, false
	}
	c.asked, c.request = true, d.request(c.seats, turnsSeen, activitiesSeen)
	return c.request, true
}

// answered delivers the answer, or frees the seats if the call failed.
func (c *Claim) answered(taken provider.Claimed, err error) {
	if err != nil {
		close(c.answer)
		c.release()
		return
	}
	if c.called != nil {
		c.called(time.Since(c.began))
	}
	c.answer <- taken
	close(c.answer)
}

// release frees the seats, as the call may take long. If it was answered, and the acknowledgement is to be made again,
// what was taken does not wait for that.
func (c *Claim) release() { c.end() }

// Finish starts what was taken and frees the other seats. It is called when the worker knows the effects of the work
// that was acknowledged. An answer that comes later is started then.
func (c *Claim) Finish() {
	if c.end() {
		return
	}
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	if asked {
		c.dispatcher.Loops.Go(func() {
			taken, ok := <-c.answer
			c.use(taken, ok)
		})
	}
}

// end starts what was taken, if there is an answer, and frees the seats. It reports whether the call has returned.
func (c *Claim) end() (returned bool) {
	select {
	case taken, ok := <-c.answer:
		c.use(taken, ok)
		return true
	default:
		c.use(provider.Claimed{}, false)
		return false
	}
}

// use starts what was taken on the seats that still wait, and frees the others. ok means that there is an answer.
func (c *Claim) use(taken provider.Claimed, ok bool) {
	s := c.takeSeats()
	if ok {
		c.dispatcher.start(s, c.request, taken)
	} else {
		c.dispatcher.free(s, true)
	}
}

// takeSeats returns the seats, which wait no longer.
func (c *Claim) takeSeats() seats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.seats
	c.seats = seats{}
	return s
}
