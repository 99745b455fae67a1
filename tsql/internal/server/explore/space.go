package explore

import "github.com/duroxide/duroxide-go/tsql/internal/server/schedule"

// Space is what the runs of one scenario have in common: which things its actors share, and which of their steps are in
// each other's way there. It makes runs fewer in two ways. An actor is interrupted only where it has done what another
// one may notice: whoever is interrupted elsewhere might as well have been interrupted before. And a run ends where it
// has come to what another run has come to: where the same steps of all actors were made, and those that are in each
// other's way in the same order.
//
// What actors have in common is learned as they run, so a search that has learned something begins again.
type Space struct {
	things map[uint64]*thing
	runs   int
	met    map[int]bool // actors to which something is done wherever they are
	grown  bool         // something has been learned since Search last asked
}

// NewSpace returns the space of a scenario of which nothing is known.
func NewSpace() *Space { return &Space{things: map[uint64]*thing{}, met: map[int]bool{}} }

// ways is how many ways of changing a thing there are.
const ways = 32

// thing is what is known of a thing that sessions share.
type thing struct {
	changed []uint32 // by actor: the ways in which it has changed it, in any run
	minds   []uint32 // by actor: the ways that it must not be exchanged with
	run     int      // the run that the sums are of
	sums    [ways]uint64
}

// maxThings bounds what a space remembers. Beyond it every step counts.
const maxThings = 1 << 18

// of is a thing in the present run; nil for one too many.
func (s *Space) of(id uint64) *thing {
	t := s.things[id]
	switch {
	case t == nil && len(s.things) == maxThings:
		return nil
	case t == nil:
		t = &thing{run: s.runs}
		s.things[id] = t
	case t.run != s.runs:
		t.run, t.sums = s.runs, [ways]uint64{}
	}
	return t
}

// note remembers what an actor does to a thing, and reports whether that is in another one's way.
func (s *Space) note(t *thing, actor int, changes, minds uint32) bool {
	for len(t.changed) <= actor {
		t.changed, t.minds = append(t.changed, 0), append(t.minds, 0)
	}
	fresh := changes&^t.changed[actor]|minds&^t.minds[actor] != 0
	t.changed[actor] |= changes
	t.minds[actor] |= minds
	noticed := false
	for other := range t.changed {
		if other != actor && (t.changed[other]&minds|t.minds[other]&changes) != 0 {
			noticed = true
		}
	}
	s.grown = s.grown || noticed && fresh
	return noticed
}

// sum stands for the changes of some ways in the present run.
func (t *thing) sum(of uint32) uint64 {
	total := uint64(0)
	for way := 0; of != 0; way, of = way+1, of>>1 {
		if of&1 != 0 {
			total = mix(total, t.sums[way])
		}
	}
	return total
}

// mix makes one number of two.
func mix(a, b uint64) uint64 {
	x := a*0x9E3779B97F4A7C15 + b
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// observed is the actor that runs, and the thing; false if nobody observes.
func (m *Machine) observed(id uint64) (*actor, *thing, bool) {
	a := m.current
	if a == nil || m.fault != "" || m.Space == nil {
		return nil, nil, false
	}
	t := m.Space.of(id)
	if t == nil {
		m.noticed++
		a.past = mix(a.past, m.noticed)
	}
	return a, t, t != nil
}

// Changed is told of a change. The actor's past is that of all changes that had to be before.
func (m *Machine) Changed(id uint64, way uint8, against uint32) {
	a, t, ok := m.observed(id)
	if !ok {
		return
	}
	if m.Space.note(t, a.index, 1<<way, against) {
		m.noticed++
	}
	a.past = mix(a.past, mix(id+uint64(way), t.sum(against)))
	t.sums[way] += a.past
}

// Looked is told of a look.
func (m *Machine) Looked(id uint64, ways uint32) {
	if a, t, ok := m.observed(id); ok {
		m.look(a, t, id, ways)
	}
}

func (m *Machine) look(a *actor, t *thing, id uint64, ways uint32) (found uint64) {
	if m.Space.note(t, a.index, 0, ways) {
		m.noticed++
	}
	found = t.sum(ways)
	a.past = mix(a.past, mix(^id, found))
	return found
}

// patience is how often an actor may be refused the same thing, which nobody has changed meanwhile, before others go
// on. Whoever tries again and again would otherwise do that for as long as it likes, while another one that could make
// an end of it is interrupted.
const patience = 8

// refusal is what an actor was refused last.
type refusal struct {
	found uint64 // what it looked like
	times int
}

// Refused is told of a look that had the wrong answer.
func (m *Machine) Refused(id uint64, ways uint32) {
	a, t, ok := m.observed(id)
	if !ok {
		return
	}
	found := m.look(a, t, id, ways)
	if a.refused == nil {
		a.refused = map[uint64]refusal{}
	}
	what := mix(id, uint64(ways))
	r := a.refused[what]
	if r.found != found {
		r = refusal{found: found}
	}
	if r.times++; r.times == patience {
		r.times, a.spins = 0, true
	}
	a.refused[what] = r
}

// Wrote is told that the actor makes progress.
func (m *Machine) Wrote() {
	if a := m.current; a != nil {
		clear(a.refused)
	}
}

// LookedAtAll is told of a look at everybody.
func (m *Machine) LookedAtAll() {
	a := m.current
	if a == nil || m.fault != "" {
		return
	}
	m.noticed++
	for _, b := range m.actors {
		a.past = mix(a.past, b.past)
	}
	m.meet(a)
}

// Met is told that the actor has done something to another one, wherever that was.
func (m *Machine) Met(id schedule.ID) {
	a, b := m.current, m.byID[id]
	if a == nil || b == nil || m.fault != "" {
		return
	}
	m.noticed++
	a.past = mix(a.past, b.past)
	b.past = mix(b.past, a.past)
	m.meet(b)
}

// meet notes that it matters to somebody where an actor is.
func (m *Machine) meet(b *actor) {
	if s := m.Space; s != nil && !s.met[b.index] {
		s.met[b.index], s.grown = true, true
	}
}

// state stands for all that the actors have done and seen, and for where they are.
func (m *Machine) state(current int) uint64 {
	state := mix(uint64(current+1), uint64(m.Stalls))
	for _, a := range m.actors {
		state = mix(mix(state, a.past), uint64(a.pauses)<<2|uint64(a.state))
	}
	return state
}
