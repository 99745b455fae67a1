package session

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// What an explorer of schedules needs: a server that begins again at the same state, that takes other plans, and that
// tells what its sessions do. Only sessions that have ended may have been there when an image is made or put back.

// Image is the state of a server.
type Image struct {
	server *Server
	data   *schema.Image
	lastID int32
}

// Save makes an image. From then on every request for a lock is a scheduling point.
func (v *Server) Save() *Image {
	v.engine.Locks().Preempt = true
	v.ForgetPlans()
	return &Image{server: v, data: v.catalog.Save(v.engine), lastID: v.lastID.Load()}
}

// Restore puts the image back, and reports whether it could: not if definitions have changed or somebody is connected.
func (i *Image) Restore() bool {
	if len(i.server.sessions) > 0 {
		return false
	}
	i.server.lastID.Store(i.lastID)
	return i.data.Restore()
}

// Observe makes an observer be told of what sessions do to what they share.
func (v *Server) Observe(o schedule.Observer) {
	v.observer = o
	v.engine.Observe(o)
}

// Plans says which plans are taken.
type Plans struct {
	Seed     uint64 // 0 is the planner's choice; else any plan is taken that the hints allow, by the seed
	RowLocks bool   // what is locked at first is rows all the same
	Seeks    bool   // an index that can be sought is not scanned all the same
}

// Take makes statements take other plans.
func (v *Server) Take(p Plans) { v.plans, v.engine.Pages = p, p.Seed != 0 && !p.RowLocks }

// ForgetPlans makes statements be planned anew, for what tables hold now.
func (v *Server) ForgetPlans() { v.planning++ }

// chooser chooses plans by the seed of the server. It depends on nothing but the seed and the place of the statement.
func (s *Session) chooser(u *unit, node syntax.Node) binder.Chooser {
	if s.server.plans.Seed == 0 {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(u.file.Text))
	return &anyPlan{s.server.plans, rand.New(rand.NewPCG(s.server.plans.Seed, h.Sum64()+uint64(node.Range().From)))} //nolint:gosec // a seed must repeat
}

type anyPlan struct {
	plans  Plans
	random *rand.Rand
}

// Choose implements plan.Chooser.
func (c *anyPlan) Choose(what string, costs []float64) int {
	if what == "grain" && c.plans.RowLocks || what == "access" && c.plans.Seeks {
		return 0
	}
	return c.random.IntN(len(costs))
}

// Waiting is the lock that a session waits for; false if it waits for none.
func (v *Server) Waiting(id schedule.ID) (lock.Info, bool) {
	if s := v.sessions[id]; s != nil {
		return s.store.Client().Waiting()
	}
	return lock.Info{}, false
}

// Held are the locks of a session, but for intents.
func (v *Server) Held(id schedule.ID) []lock.Info {
	return slices.DeleteFunc(v.engine.Locks().List(), func(i lock.Info) bool {
		return i.Session != id || i.Status != lock.StatusGrant || i.Mode.Intends()
	})
}

// Name names what is locked: the index, and the key as the values of its columns.
func (v *Server) Name(r lock.Resource) string {
	if r.Kind == lock.Xact {
		return "transaction " + r.Key
	}
	db := v.catalog.DatabaseByID(r.Database)
	if r.Kind == lock.Application || db == nil || db.Objects[r.Object] == nil {
		return r.String()
	}
	head := db.Objects[r.Object].Head()
	name := head.Schema.Name + "." + head.Name
	t, ok := db.Objects[r.Object].(*schema.Table)
	if !ok || r.Kind == lock.Object {
		return name
	}
	for _, ix := range t.Indexes {
		if ix.ID != r.Index {
			continue
		}
		if ix.Name != "" {
			name += "." + ix.Name
		}
		switch r.Kind {
		case lock.End:
			return name + " (end)"
		case lock.RID:
			return fmt.Sprintf("%s (row %d)", name, binary.BigEndian.Uint64([]byte(r.Key)))
		case lock.Page:
			return name + " (page)"
		default:
		}
		return name + " (" + strings.Join(keyValues(t, ix, t.Data.At(r.Index, r.Key)), ", ") + ")"
	}
	return name
}

// keyValues are the values of a row in the columns of an index.
func keyValues(t *schema.Table, ix *schema.Index, row []value.Value) []string {
	var values []string
	for _, c := range ix.Columns {
		if row == nil {
			continue
		}
		v, err := value.Assign(row[c.Ordinal], t.Columns[c.Ordinal].Type, printType)
		switch {
		case v.IsNull():
			values = append(values, "NULL")
		case err == nil:
			values = append(values, v.Str())
		}
	}
	return values
}

// Place is where a session is.
type Place struct {
	Module string // empty in a batch
	Line   int    // in the module or the batch
	Text   string // the statement's first line
	Plan   string // an operator a line; empty if the statement has none
}

// Place is where the session is.
func (v *Server) Place(id schedule.ID) Place {
	s := v.sessions[id]
	if s == nil || s.top() == nil || s.top().at == nil {
		return Place{}
	}
	u, at := s.top().unit, s.top().at
	p := u.placeOf(at)
	if c := u.plans[at]; c != nil {
		if st, ok := c.what.(*planner.Statement); ok {
			p.Plan = st.Explain
		}
	}
	return p
}

// End ends a session from outside of all sessions, as KILL does.
func (v *Server) End(id schedule.ID) {
	if s := v.sessions[id]; s != nil {
		v.observer.Met(id)
		s.endNow()
	}
}
