package replay

import "slices"

// channel is the state of one event or queue name: who asked, and what came.
//
// The n-th open subscription gets the n-th value that is left. How long one that was
// dropped stays open is the policy's matter (see policy.go).
type channel struct {
	exact bool
	// mailbox is true for a queue: a value outlives the subscription that had it.
	mailbox bool
	// open are the subscriptions that hold a place, values those that nobody has read.
	// Under the exact policy both leave together when the function reads one; under the
	// legacy one they stay, and a subscription leaves only by being cancelled.
	open   []*subscription
	values []value
	// arrived counts all values, read those the function has read, by their place among
	// all.
	arrived int
	read    map[int]bool
}

// value is something that arrived, and its place among all that did.
type value struct {
	data  string
	place int
}

// subscription is one wait on a channel.
type subscription struct{ channel *channel }

func (c *channel) subscribe() *subscription {
	s := &subscription{channel: c}
	c.open = append(c.open, s)
	return s
}

// arrive adds a value.
func (c *channel) arrive(data string) {
	c.values = append(c.values, value{data: data, place: c.arrived})
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
	if c.read == nil {
		c.read = map[int]bool{}
	}
	c.read[v.place] = true
	if c.exact {
		c.open = slices.Delete(c.open, i, i+1)
		c.values = slices.Delete(c.values, i, i+1)
	}
	return v.data, true
}

// channels holds the channels of one sort by name.
type channels struct {
	exact, mailbox bool
	byName         map[string]*channel
}

func newChannels(exact, mailbox bool) channels {
	return channels{exact: exact, mailbox: mailbox, byName: map[string]*channel{}}
}

func (c channels) get(name string) *channel {
	ch, ok := c.byName[name]
	if !ok {
		ch = &channel{exact: c.exact, mailbox: c.mailbox}
		c.byName[name] = ch
	}
	return ch
}
