package taking

import (
	"github.com/duroxide/duroxide-go/provider"
)

// batch makes one request of those of several claims, and gives each claim its part of the answer.
type batch struct {
	request request
	claims  []*Claim
	// turn is whose claim asks for the turn, if there is one in the request, and activities are those that the request
	// asks for, in its order.
	turn       int
	activities []place
}

// place is where an activity stands in the request of its claim.
type place struct{ claim, index int }

// ask adds what the claim asks for. Only one claim asks for a turn.
func (b *batch) ask(c *Claim) {
	turns := 1
	if b.request.params.Turn != nil {
		turns = 0
	}
	r, ok := c.ask(turns, 0)
	if !ok {
		return
	}
	this := len(b.claims)
	b.claims = append(b.claims, c)
	if r.params.Turn != nil {
		b.turn, b.request.params.Turn, b.request.turnsSeen = this, r.params.Turn, r.turnsSeen
	}
	if len(b.activities) == 0 {
		b.request.activitiesSeen = r.activitiesSeen
	}
	for i, work := range r.params.Work {
		b.activities = append(b.activities, place{this, i})
		b.request.params.Work = append(b.request.params.Work, work)
	}
}

// answered delivers to each claim what was taken for it, or the failure of the call.
func (b *batch) answered(taken provider.Claimed, err error) {
	parts := make([]provider.Claimed, len(b.claims))
	for i := range parts {
		parts[i].Err = taken.Err
	}
	if taken.Turn != nil {
		parts[b.turn].Turn = taken.Turn
	}
	for _, work := range taken.Work {
		at := b.activities[work.For]
		work.For = at.index
		parts[at.claim].Work = append(parts[at.claim].Work, work)
	}
	for i, c := range b.claims {
		c.answered(parts[i], err)
	}
}
