package tsqltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// Deadlock is a cycle of sessions that waited for each other's locks. SQL Server shows the same as a deadlock graph.
type Deadlock struct {
	// Victim is the session whose transaction was rolled back with error 1205. With TimedOut it is the session whose
	// LOCK_TIMEOUT ended before SQL Server would have looked for deadlocks. It is the session's number, @@SPID, or in
	// a scenario its name.
	Victim   string
	TimedOut bool
	// Waits has one entry for each session: each waits for the next one, and the last one waits for the first. The
	// first is the session that connected first.
	Waits []DeadlockWait
}

// DeadlockWait describes what one session of a deadlock waits for.
type DeadlockWait struct {
	Session string
	// Resource is what the session asks for: "KEY dbo.items.pk_items (1)", "OBJECT dbo.items". A wait for a
	// transaction, under optimized locking, is "XACT of bob for KEY dbo.items.pk_items (1)".
	Resource string
	Mode     string // the lock mode that it asks for, such as "X"
	Had      string // the mode that it has already and wants to convert; empty for a new lock
	// Owner is the session that it waits for, and OwnerMode the mode that Owner has on the resource. If OwnerWaits is
	// true, Owner does not have that lock yet, but waits for it further ahead in the queue.
	Owner      string
	OwnerMode  string
	OwnerWaits bool
}

// Deadlocks returns the last 64 deadlocks of the server, the oldest first.
func (s *Server) Deadlocks() []Deadlock {
	return deadlocksOf(s.sessions.Deadlocks(false), func(id schedule.ID) string { return fmt.Sprint(int64(id)) })
}

// Deadlocks returns the deadlocks of the schedule, with the names of the sessions.
func (e *End) Deadlocks() []Deadlock { return e.explorer.deadlocks() }

func (e *explorer) deadlocks() []Deadlock {
	return deadlocksOf(e.server.sessions.Deadlocks(false), e.nameOf)
}

func deadlocksOf(list []lock.Deadlock, name func(id schedule.ID) string) []Deadlock {
	out := make([]Deadlock, len(list))
	for i := range list {
		members := list[i].Members
		first := 0
		for j := range members {
			if members[j].Session < members[first].Session {
				first = j
			}
		}
		d := Deadlock{Victim: name(list[i].Victim), TimedOut: list[i].TimedOut}
		for _, m := range slices.Concat(members[first:], members[:first]) {
			d.Waits = append(d.Waits, waitOf(m, name))
		}
		out[i] = d
	}
	return out
}

func waitOf(m lock.Member, name func(id schedule.ID) string) DeadlockWait {
	w := DeadlockWait{
		Session: name(m.Session), Resource: m.Resource.Type() + " " + m.Name, Mode: m.Asked.String(),
		Owner: name(m.Blocker), OwnerMode: m.Blocking.String(), OwnerWaits: m.Queued,
	}
	if m.Had != lock.NL {
		w.Had = m.Had.String()
	}
	if m.Resource.Kind == lock.Xact {
		w.Resource = fmt.Sprintf("XACT of %s for %s %s", w.Owner, m.For.Type(), m.ForName)
	}
	if m.Resource.Kind == lock.Application {
		w.Resource = m.Name // which says what it is
	}
	return w
}

// String describes the deadlock, with a line for each session.
func (d Deadlock) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock, victim %s", d.Victim)
	if d.TimedOut {
		b.WriteString(", whose LOCK_TIMEOUT was over")
	}
	for _, w := range d.Waits {
		fmt.Fprintf(&b, "\n  %s", w)
	}
	return b.String()
}

// String describes the wait.
func (w DeadlockWait) String() string {
	had, does := "", "has"
	if w.Had != "" {
		had = ", of which it has " + w.Had
	}
	if w.OwnerWaits {
		does = "waits for"
	}
	return fmt.Sprintf("%s waits for %s on %s%s; %s %s %s", w.Session, w.Mode, w.Resource, had, w.Owner, does, w.OwnerMode)
}
