package tsqltest

import (
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/session"
)

// Base is a prepared server that several scenarios share, for example because migrations take longer than the
// scenarios. The scenarios use it one after the other, in any order. Each finds it in the state that the preparation
// left.
type Base struct {
	options Options
	setup   func(t testing.TB, s *Server)
	using   sync.Mutex
	server  *Server
	image   *session.Image
}

// NewBase makes a base that ends with the test. setup may do the same as [Scenario].Setup.
func NewBase(t testing.TB, o Options, setup func(t testing.TB, s *Server)) *Base {
	t.Helper()
	b := &Base{options: o, setup: setup}
	b.make(t)
	t.Cleanup(func() { b.server.Close() })
	return b
}

func (b *Base) make(t testing.TB) {
	t.Helper()
	b.server = prepare(t, b.options, b.setup)
	b.image = b.server.sessions.Save()
}

// lend gives the server away, as the preparation and a setup of the scenario's own leave it, until using is unlocked.
func (b *Base) lend(t testing.TB, setup func(t testing.TB, s *Server)) *Server {
	t.Helper()
	b.using.Lock()
	lent := false
	defer func() {
		if !lent { // the test has failed
			b.using.Unlock()
		}
	}()
	s := b.server
	s.exploring, s.latch.Scheduler = nil, schedule.NewReal()
	if !b.image.Restore() {
		s.Close()
		b.make(t)
		s = b.server
	}
	if setup != nil {
		s.sessions.ForgetPlans()
		s.random.Seed(s.options.Seed, 0)
		setup(t, s)
	}
	lent = true
	return s
}

// prepare makes a server whose clock stands still, and ends what has prepared it.
func prepare(t testing.TB, o Options, setup func(t testing.TB, s *Server)) *Server {
	t.Helper()
	if o.Clock == nil {
		o.Clock = NewClock(defaultStart)
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	if setup != nil {
		setup(t, s)
	}
	s.hangUp()
	return s
}
