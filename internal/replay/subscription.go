package replay

import "slices"

// channel is the state of one event or queue name: who asked, and what came.
//
// The n-th open subscription gets the n-th value that is left. How long one that was
// dropped stays open is the policy's matter (see policy.go).
type channel struct {
	*channels
	// open are the subscriptions that hold a place, values those that nobody has read.
	// Under the exact policy both leave together when the function reads one; under the
	// legacy one they stay, and a subscription leaves only by being cancelled.
	open   []*subscription
	values []value
	// unread are the values that the function has not read, by their place among all.
	arrived int
	unread  map[int]bool
}

// value is something that arrived, and its place among all that did.
type value struct {
	data  string
	place int
}

// subscription is one wait on a channel. event is its schedule event.
type subscription struct {
	channel *channel
	event   uint64
}

func (c *channel) subscribe(event uint64) *subscription {
	s := &subscription{channel: c, event: event}
	c.open = append(c.open, s)
	return s
}

// arrive adds a value.
func (c *channel) arrive(data string) {
	c.values = append(c.values, value{data: data, place: c.arrived})
	if c.unread == nil {
		c.unread = map[int]bool{}
	}
	c.unread[c.arrived] = true
	c.arrived++
}

// admits reports whether a positional event finds a subscription without a value.
func (c *channel) admits() bool { return len(c.open) > len(c.values) }

// cancel gives a subscription's place up. A positional value that it held and nobody
// read is gone with it under the exact policy; all others move up.
func (s *subscription) cancel() {
	c := s.channel
	i := slices.Index(c.open, s)
	if i < 0 {
		return
	}
	c.open = slices.Delete(c.open, i, i+1)
	if c.exact && !c.mailbox && i < len(c.values) {
		c.values = slices.Delete(c.values, i, i+1)
	}
}

// take returns what this subscription received, for the function to read.
func (s *subscription) take() (string, bool) {
	c := s.channel
	i := slices.Index(c.open, s)
	if i < 0 || i >= len(c.values) {
		return "", false
	}
	v := c.values[i]
	delete(c.unread, v.place)
	c.reads++
	if s.event >= c.turnFrom {
		c.readAtOnce++
	}
	if c.exact {
		c.open = slices.Delete(c.open, i, i+1)
		c.values = slices.Delete(c.values, i, i+1)
	}
	return v.data, true
}

// channels holds the channels of one sort by name.
type channels struct {
	exact bool
	// mailbox is true for queues: a value outlives the subscription that had it.
	mailbox bool
	byName  map[string]*channel
	// reads counts what the function has read.
	reads int
	// turnFrom is the first event of the present turn, and readAtOnce counts the waits of this
	// turn that were answered in it.
	turnFrom   uint64
	readAtOnce int
}

func newChannels(exact, mailbox bool) *channels {
	return &channels{exact: exact, mailbox: mailbox, byName: map[string]*channel{}}
}

// beginTurn begins to count the waits of a turn.
func (c *channels) beginTurn(from uint64) { c.turnFrom, c.readAtOnce = from, 0 }

func (c *channels) get(name string) *channel {
	ch, ok := c.byName[name]
	if !ok {
		ch = &channel{channels: c}
		c.byName[name] = ch
	}
	return ch
}
