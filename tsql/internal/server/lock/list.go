package lock

import (
	"cmp"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
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
	For      Resource    // of a request for an Xact that waits: see Request
	ForMode  Mode        // of that key
	Blocker  schedule.ID // of a request that waits: the first session that it waits for
	Since    time.Time   // of a request that waits: when that began
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
		i.Mode, i.Since = h.wants, h.owner.Client.began
		i.For, i.ForMode = h.behind, h.behindMode
		h.blockers(func(b *Hold) bool {
			i.Blocker = b.owner.Client.ID
			return false
		})
	}
	return i
}

// Waiting is the request that a session waits for; false if it waits for none.
func (c *Client) Waiting() (Info, bool) {
	switch {
	case c.waiting == nil:
		return Info{}, false
	case c.waiting.granted:
		return c.waiting.info(StatusConvert), true
	default:
		return c.waiting.info(StatusWait), true
	}
}
