package columns

import (
	"cmp"
	"math"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// Arrived is a message of an item, with its place in the order of arrival.
type Arrived struct {
	ID   int64
	Item provider.WorkItem
}

// Shown returns the messages in the order of their arrival. If a peeked item may not have all
// messages of a queue, queue messages that arrived after those are left out: messages of several
// queues are read in the order of their arrival.
func Shown(messages []Arrived, peeked bool) []provider.WorkItem {
	slices.SortFunc(messages, func(a, b Arrived) int { return cmp.Compare(a.ID, b.ID) })
	counts, last := map[string]int{}, int64(math.MaxInt64)
	for _, m := range messages {
		if q, ok := m.Item.(provider.QueueMessageItem); ok && peeked {
			if counts[q.Name]++; counts[q.Name] == provider.MaxPeeked {
				last = m.ID
				break
			}
		}
	}
	items := make([]provider.WorkItem, 0, len(messages))
	for _, m := range messages {
		if _, queued := m.Item.(provider.QueueMessageItem); !queued || m.ID <= last {
			items = append(items, m.Item)
		}
	}
	return items
}
