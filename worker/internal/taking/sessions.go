package taking

import (
	"sync"

	"github.com/duroxide/duroxide-go/provider"
)

// Sessions counts the sessions that activities of this worker are in.
type Sessions struct {
	mu     sync.Mutex
	limit  int
	active map[string]int
	// claimed means that there was ever one, also of an activity that was not run.
	claimed bool
	// freed, if not nil, is called when a session may begin again.
	freed func()
}

// NewSessions counts none yet, and allows at most limit.
func NewSessions(limit int) *Sessions {
	return &Sessions{limit: limit, active: map[string]int{}}
}

// Full reports whether no further session may begin.
func (s *Sessions) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.active) >= s.limit
}

// Used reports whether this worker has ever claimed a session.
func (s *Sessions) Used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claimed
}

// Enter counts an activity of the session; false when that session would be one
// too many. Several activities of one session count once.
func (s *Sessions) Enter(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[session] == 0 && len(s.active) >= s.limit {
		return false
	}
	s.active[session]++
	return true
}

// taken notes that an activity was taken, which claims its session.
func (s *Sessions) taken(item provider.WorkItem) {
	if a, ok := item.(provider.ActivityExecuteItem); ok && a.SessionID != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.claimed = true
	}
}

// Leave ends what Enter counted.
func (s *Sessions) Leave(session string) {
	if s.remove(session) && s.freed != nil {
		s.freed()
	}
}

// remove reports whether a session may begin that could not before.
func (s *Sessions) remove(session string) (room bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := len(s.active) >= s.limit
	s.active[session]--
	if s.active[session] == 0 {
		delete(s.active, session)
	}
	return full && len(s.active) < s.limit
}
