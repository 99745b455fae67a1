package session

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Touch is how many keys of an index a statement has touched in one way, with locks of one mode.
type Touch struct {
	Way                              store.Way
	Mode                             lock.Mode
	Granted, Waited, Skipped, Ghosts int // as in store.Count
	Times                            int // that the statement was executed and touched some
	Table, Index                     string

	unit *unit
	at   syntax.Stmt
}

// touchKey is what counts are added up by.
type touchKey struct {
	at    syntax.Stmt
	index *store.Index
	way   store.Way
	mode  lock.Mode
}

// touches are what the statements of a request have touched, in the order of first touching.
type touches struct {
	list  []Touch
	place map[touchKey]int // in list
}

// add adds counts to those of a statement. What no other session can see is left out.
func (t *touches) add(u *unit, at syntax.Stmt, counts []store.Count) {
	for i := range counts {
		c := &counts[i]
		if c.Index.Table.Private {
			continue
		}
		to := t.of(touchKey{at, c.Index, c.Way, c.Mode})
		if to.unit == nil {
			*to = Touch{Way: c.Way, Mode: c.Mode, Table: c.Index.Table.Name, Index: c.Index.Name, unit: u, at: at}
		}
		to.Times++
		to.Granted += c.Granted
		to.Waited += c.Waited
		to.Skipped += c.Skipped
		to.Ghosts += c.Ghosts
	}
}

// of is the entry of a key.
func (t *touches) of(key touchKey) *Touch {
	i, ok := t.place[key]
	if !ok {
		if t.place == nil {
			t.place = map[touchKey]int{}
		}
		i = len(t.list)
		t.place[key], t.list = i, append(t.list, Touch{})
	}
	return &t.list[i]
}

// maxTouches bounds what a session keeps for its next request.
const maxTouches = 1024

// begin forgets what the last request has touched.
func (t *touches) begin() {
	if len(t.list) > maxTouches {
		*t = touches{}
	}
	clear(t.place)
	t.list = t.list[:0]
}

// touch counts what the present statement has touched.
func (s *Session) touch(counts []store.Count) {
	if a := s.top(); a != nil && a.at != nil {
		s.touched.add(a.unit, a.at, counts)
	}
}

// Touched is what the last request has touched.
func (s *Session) Touched() []Touch { return append([]Touch(nil), s.touched.list...) }

// Watch calls f with what every request has touched, when it ends, until stop is called.
func (v *Server) Watch(f func([]Touch)) (stop func()) {
	v.watching.Lock()
	defer v.watching.Unlock()
	w := &f
	v.watchers = append(v.watchers, w)
	return func() {
		v.watching.Lock()
		defer v.watching.Unlock()
		for i, o := range v.watchers {
			if o == w {
				v.watchers = append(v.watchers[:i:i], v.watchers[i+1:]...)
				return
			}
		}
	}
}

// tellWatchers is called when a request ends.
func (s *Session) tellWatchers() {
	s.server.watching.Lock()
	defer s.server.watching.Unlock()
	for _, f := range s.server.watchers {
		(*f)(s.touched.list)
	}
}

// Place is where the statement stands.
func (t *Touch) Place() Place { return t.unit.placeOf(t.at) }

// placeOf is where a statement stands.
func (u *unit) placeOf(at syntax.Stmt) Place {
	p := Place{Line: int(line(u.file, at.Range().From))}
	if u.module != nil {
		p.Module = u.file.Name
	}
	p.Text, _, _ = strings.Cut(u.file.Slice(at.Range()), "\n")
	p.Text = strings.TrimSpace(p.Text)
	return p
}
