package lock

import (
	"cmp"
	"slices"

	"github.com/duroxide/duroxide-go/tsqltest/internal/schedule"
)

// Status says what has become of a request.
type Status string

// The statuses, as sys.dm_tran_locks has them.
const (
	StatusGrant   Status = "GRANT"
	StatusConvert Status = "CONVERT"
	StatusWait    Status = "WAIT"
)

// Info describes a request, as a row of sys.dm_tran_locks does.
type Info struct {
	Session  schedule.ID
	Owner    OwnerKind
	Resource Resource
	Mode     Mode // granted, or wanted if Status is not StatusGrant
	Status   Status
	Count    int         // how often it was asked for
	Blocker  schedule.ID // of a request that waits: the first session that it waits for
}

// List returns all requests, ordered by session and resource.
func (m *Manager) List() []Info {
	var list []Info
	for _, q := range m.queues {
		for _, h := range q.holds {
			list = append(list, h.info(StatusGrant))
		}
		for _, h := range q.conversions {
			list = append(list, h.info(StatusConvert))
		}
		for _, h := range q.newcomers {
			list = append(list, h.info(StatusWait))
		}
	}
	slices.SortFunc(list, func(a, b Info) int {
		x, y := a.Resource, b.Resource
		return cmp.Or(
			cmp.Compare(a.Session, b.Session), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Database, y.Database),
			cmp.Compare(x.Object, y.Object), cmp.Compare(x.Index, y.Index), cmp.Compare(x.Key, y.Key),
			cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Status, b.Status),
		)
	})
	return list
}

func (h *Hold) info(status Status) Info {
	i := Info{
		Session: h.owner.Client.ID, Owner: h.owner.Kind, Resource: h.queue.resource, Mode: h.mode, Status: status,
	}
	for _, n := range h.counts {
		i.Count += int(n)
	}
	if status != StatusGrant {
		i.Mode = h.wants
		h.blockers(func(b *Hold) bool {
			i.Blocker = b.owner.Client.ID
			return false
		})
	}
	return i
}

// Blocker is the session that another one waits for; false if it waits for none.
func (m *Manager) Blocker(c *Client) (schedule.ID, bool) {
	if c.waiting == nil {
		return 0, false
	}
	i := c.waiting.info(StatusWait)
	return i.Blocker, i.Blocker != 0
}
