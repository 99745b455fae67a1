package schedule

// Queued is how many sessions wait for the latch.
func (s *Real) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready) - s.first
}

// Parked reports whether a session is in Park.
func (s *Real) Parked(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.sessions[id]
	return p != nil && p.parked
}
