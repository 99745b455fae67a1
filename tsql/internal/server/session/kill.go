package session

import (
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// lastSession is the greatest number that a session may have.
const lastSession = 32767

// kill executes KILL: the other session's connection ends, and what it has not committed is rolled back, if it is idle
// before KILL returns.
func (s *Session) kill(a *activation, st *syntax.Kill) error {
	if st.StatusOnly {
		return s.unsupported(a.unit, st.Span, "KILL … WITH STATUSONLY")
	}
	if s.transaction.count > 0 {
		return fault.New(6115)
	}
	if !s.server.catalog.MayLogin(s.Login(), "ALTER ANY CONNECTION", nil) {
		return fault.New(6102)
	}
	n, err := strconv.ParseInt(st.Session, 10, 32)
	if err != nil {
		return fault.New(102, st.Session)
	}
	other := s.server.sessions[schedule.ID(n)]
	switch {
	case n < 1 || n > lastSession:
		return fault.New(6101, n, lastSession)
	case n <= firstSession:
		return fault.New(6107)
	case other == s:
		return fault.New(6104)
	case other == nil || other.gone:
		return fault.New(6106, n)
	}
	s.server.observer.Met(other.id)
	other.endNow()
	return nil
}
