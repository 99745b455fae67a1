package replay

// channel is the state of one event or queue name: who asked, and what came.
//
// The n-th active subscription gets the n-th delivery. A cancelled subscription
// counts as if it had never been made, so those behind it move up (§7.11,
// resolution rules).
type channel struct {
	subs       []*subscription
	deliveries []string
}

// subscription is one wait on a channel.
type subscription struct {
	channel   *channel
	cancelled bool
}

func (c *channel) subscribe() *subscription {
	s := &subscription{channel: c}
	c.subs = append(c.subs, s)
	return s
}

// active counts the subscriptions that were not cancelled.
func (c *channel) active() int {
	n := 0
	for _, s := range c.subs {
		if !s.cancelled {
			n++
		}
	}
	return n
}

// delivered returns what this subscription received.
func (s *subscription) delivered() (string, bool) {
	if s.cancelled {
		return "", false
	}
	position := 0
	for _, other := range s.channel.subs {
		if other == s {
			break
		}
		if !other.cancelled {
			position++
		}
	}
	if position >= len(s.channel.deliveries) {
		return "", false
	}
	return s.channel.deliveries[position], true
}

// channels holds the channels of one sort by name.
type channels map[string]*channel

func (c channels) get(name string) *channel {
	ch, ok := c[name]
	if !ok {
		ch = &channel{}
		c[name] = ch
	}
	return ch
}
