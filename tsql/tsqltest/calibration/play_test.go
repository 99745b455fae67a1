package calibration

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"
)

const (
	// patience is how long a case may take. SQL Server looks for deadlocks every five seconds, so those take that long.
	patience = time.Minute
	// pause is between two looks at a statement that should not wait for anybody: nothing depends on its length.
	pause = 20 * time.Millisecond
)

// play is a case that is being executed.
type play struct {
	db       *sql.DB
	monitor  *session
	sessions map[string]*session
	begin    string // what every session executes first
}

// perform executes a case. The sessions execute begin before their first step.
func perform(t *testing.T, db *sql.DB, begin string, c scriptCase) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	monitor, err := open(ctx, db, "monitor")
	if err != nil {
		t.Fatal(err)
	}
	p := &play{db: db, monitor: monitor, sessions: map[string]*session{}, begin: begin}
	defer p.close(cancel)
	for _, s := range c.steps {
		if !p.step(ctx, t, s) {
			return
		}
	}
	for name, s := range p.sessions {
		if s.pending != nil {
			t.Errorf("%s still executes its last statement", name)
		}
	}
}

// close ends all sessions. Those that still wait are interrupted first.
func (p *play) close(cancel context.CancelFunc) {
	cancel()
	for _, s := range p.sessions {
		if s.pending != nil {
			<-s.pending.done
		}
		s.close()
	}
	p.monitor.close()
}

// session finds a session or opens it.
func (p *play) session(ctx context.Context, t *testing.T, name string) *session {
	t.Helper()
	if s := p.sessions[name]; s != nil {
		return s
	}
	s, err := open(ctx, p.db, name)
	if err != nil {
		t.Fatal(err)
	}
	p.sessions[name] = s
	if p.begin != "" {
		if lines := execute(ctx, s.conn, p.begin); len(lines) > 0 {
			t.Fatalf("%s: %s", p.begin, strings.Join(lines, "; "))
		}
	}
	return s
}

// step executes a step and reports whether the case can go on.
func (p *play) step(ctx context.Context, t *testing.T, s step) bool {
	t.Helper()
	who := p.session(ctx, t, s.session)
	switch {
	case s.text == "" && who.pending == nil:
		t.Errorf("line %d: %s does not wait", s.line, s.session)
		return false
	case s.text != "" && who.pending != nil:
		t.Errorf("line %d: %s still executes the statement before", s.line, s.session)
		return false
	case s.text != "":
		who.start(ctx, s.text)
	}
	var blocker string
	if s.waits() {
		blocker = p.untilBlocked(ctx, t, who)
	} else {
		blocker = p.untilDone(ctx, t, who, s.timesOut())
	}
	if blocker != "" {
		if s.waits() {
			return true
		}
		t.Errorf("line %d: %s waits for %s: %s", s.line, s.session, blocker, s.text)
		return false
	}
	got := who.pending.lines
	who.pending = nil
	if !isExpected(got, s.expected) {
		t.Errorf("line %d: %s: %s\n got %s\nwant %s", s.line, s.session, s.text, list(got), list(s.expected))
		return false
	}
	return true
}

func list(lines []string) string {
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n     ")
}

// untilBlocked returns when the server has the session wait for another one, whose name it returns, or when its
// statement is done, with "".
func (p *play) untilBlocked(ctx context.Context, t *testing.T, s *session) string {
	t.Helper()
	for {
		select {
		case <-s.pending.done:
			return ""
		default:
		}
		if blocker, _ := p.blocker(ctx, t, s.id); blocker != 0 {
			return p.name(blocker)
		}
	}
}

// untilDone returns "" when the statement of a session is done. It returns the name of another session if that one has
// a lock in the way and nothing to do: it would keep it for ever. A session that waits itself may be in a deadlock,
// which ends, and so does a statement that times out.
func (p *play) untilDone(ctx context.Context, t *testing.T, s *session, timesOut bool) string {
	t.Helper()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-s.pending.done:
			return ""
		case <-ticker.C:
		}
		blocker, waiting := p.blocker(ctx, t, s.id)
		if blocker == 0 || waiting || timesOut || p.isBusy(blocker) {
			continue
		}
		select {
		case <-s.pending.done:
			return ""
		default:
			return p.name(blocker)
		}
	}
}

// blocker asks the server whom a session waits for, 0 for nobody, and whether that one waits as well.
func (p *play) blocker(ctx context.Context, t *testing.T, id int) (blocker int, waiting bool) {
	t.Helper()
	const query = `SELECT r.blocking_session_id, CASE WHEN EXISTS (
		SELECT * FROM sys.dm_exec_requests AS b WHERE b.session_id = r.blocking_session_id AND b.blocking_session_id <> 0
	) THEN 1 ELSE 0 END
	FROM sys.dm_exec_requests AS r WHERE r.session_id = @p1`
	err := p.monitor.conn.QueryRowContext(ctx, query, id).Scan(&blocker, &waiting)
	if err != nil && !errors.Is(err, sql.ErrNoRows) && ctx.Err() == nil {
		t.Fatalf("asking who waits: %v", err)
	}
	return blocker, waiting
}

// isBusy reports whether a session of the case executes something.
func (p *play) isBusy(id int) bool {
	for _, s := range p.sessions {
		if s.id == id && s.pending != nil {
			select {
			case <-s.pending.done:
			default:
				return true
			}
		}
	}
	return false
}

func (p *play) name(id int) string {
	for name, s := range p.sessions {
		if s.id == id {
			return name
		}
	}
	return "somebody else"
}
