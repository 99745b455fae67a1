package interleave

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// The matrix is every operation of the table beside every other, on one instance and on two. The end of every order
// must be that of one operation after the other: the digests say so.

const aLongTime = 10 * time.Minute

// tries bounds how often a call may be repeated, as the store repeats it when two add the same row.
const tries = 3

// Matrix are the scenarios that follow from the table of operations: each beside each one from itself on, and triples;
// and each that is interrupted at any point.
func Matrix() []Scenario { return slices.Concat(besides(), triples(), overtaken(), cuts()) }

func besides() []Scenario {
	var list []Scenario
	all := operations()
	for i, one := range all {
		for _, two := range all[i:] {
			if one.reads && two.reads {
				continue
			}
			list = append(list, beside(one, two, "a", "a"))
			if !one.anywhere && !two.anywhere {
				list = append(list, beside(one, two, "a", "b"))
			}
		}
	}
	return list
}

// beside is two operations of the table, each of an instance.
func beside(one, two operation, of, other string) Scenario {
	name := fmt.Sprintf("%s | %s", one.name, two.name)
	if of != other {
		name += " elsewhere"
	}
	return Scenario{
		Name: name, world: true, operations: []operation{one, two}, victims: one.disorderly || two.disorderly, differ: one.parts || two.parts,
		Sessions: []tsqltest.Session{one.session("1 ", of, 1), two.session("2 ", other, 2)},
	}
}

// session calls the operation. What it means to be refused is no error: the lease is lost, the instance is gone, the
// event is there.
func (o operation) session(prefix, id string, n int) tsqltest.Session {
	whole := o.batch(id, n)
	return tsqltest.Session{Name: prefix + o.name, Run: func(p *tsqltest.Player) error {
		batch := whole
		for try := 1; ; try++ {
			r, err := p.Exec(batch)
			again := false
			if err == nil {
				o.note(p, r)
				again, err = told(r)
			}
			switch number := numberOf(err); {
			case again && try < tries:
				// Some were refused, and are called again, without what is taken.
				batch, _, _ = strings.Cut(batch, ", @turn")
				continue
			case again && err == nil:
				p.Note(waitedInVain{prefix})
			case number == 0 && err != nil:
				return err
			case number == 2601 || number == 2627:
				if try == tries {
					return fmt.Errorf("called %d times: %w", try, err)
				}
				continue
			case number == 1222 && (o.claims == "" || strings.HasPrefix(o.name, "ack")):
				p.Note(waitedInVain{prefix})
				return nil
			case number == 1222, number >= 50_010 && number < 50_100:
				return nil
			}
			return err
		}
	}}
}

// waitedInVain is what a session notes that has waited too long for a lock, or was told so at each try. It knows that
// it has done nothing.
type waitedInVain struct{ session string }

func isWaited(note any) bool { _, ok := note.(waitedInVain); return ok }

// told judges the errors that a call has told instead of failing: what it means to be refused is none, nor is it to
// have waited too long for a lock, but that is called again, as far as it is no claim.
func told(r *tsqltest.Result) (again bool, err error) {
	for _, set := range r.Sets {
		number := slices.Index(set.Columns, "error_number")
		claim := !slices.Contains(set.Columns, "position")
		for _, row := range set.Rows {
			if number < 0 {
				break
			}
			switch n, _ := row[number].(int64); {
			case n == 1222 && claim, n >= 50_010 && n < 50_100:
			case n == 1222:
				again = true
			case n == 2627:
				again, err = true, fmt.Errorf("told of an error: %v", row)
			default:
				return false, fmt.Errorf("told of an error: %v", row)
			}
		}
	}
	return again, err
}

// note keeps what was claimed.
func (o operation) note(p *tsqltest.Player, r *tsqltest.Result) {
	if id := claimOf(r); o.claims != both && o.claims != "" && id != nil {
		p.Note(fmt.Sprint(o.claims, " ", id))
	}
	for _, set := range r.Sets {
		if o.claims != both || !slices.Contains(set.Columns, "attempt_count") {
			continue
		}
		id := slices.Index(set.Columns, "id")
		for _, row := range set.Rows {
			if id < 0 {
				p.Note(fmt.Sprint("inboxes ", row[0]))
			} else {
				p.Note(fmt.Sprint("worker_queue ", row[id]))
			}
		}
	}
}

func numberOf(err error) int32 {
	if e, ok := errors.AsType[*tsqltest.Error](err); ok {
		return e.Number
	}
	return 0
}

// giveBack takes claims back and readies what is due, since which one is taken depends on who is looking at the others.
const giveBack = `
DECLARE @turn NVARCHAR(400) = (SELECT b.instance_id FROM duroxide.inboxes AS b WHERE b.lock_token = %[1]s);
IF @turn IS NOT NULL
    EXEC duroxide.abandon_orchestration_item @instance_id = @turn, @lock_token = %[1]s, @delay_ms = 0, @give_back = 1;
DECLARE @work BIGINT = (SELECT w.id FROM duroxide.worker_queue AS w WHERE w.lock_token = %[1]s);
IF @work IS NOT NULL
    EXEC duroxide.abandon_work_item @id = @work, @lock_token = %[1]s, @delay_ms = 0, @give_back = 1;
-- Who claims an instance whose lease has ended counts that attempt.
UPDATE duroxide.orchestrator_queue SET attempt_count = 0, unnamed_count = 0;
DELETE FROM duroxide.sessions WHERE worker_id = N'claimant';
DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
DECLARE @more BIT;
EXEC duroxide.ready_due_inboxes @now = @now, @due_from = 0, @more = @more OUTPUT;
EXEC duroxide.ready_due_work @now = @now, @due_from = 0, @more = @more OUTPUT;
`

// tryAgain tries again at once what is held and fetchable. Which instance a claim takes depends on who is looking at
// the others. A claim makes visible what a hold hides, and giving the instance back does not hide it again. That comes
// to the same: the instance is fetchable, and its next fetch takes the message whatever its time (contract §5.26). The
// time decides only when an instance is fetched that nothing else makes fetchable. There it is compared, as it is under
// a lease.
const tryAgain = `
IF EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.instance_id = N'%[1]s' AND b.head_id IS NOT NULL)
    EXEC duroxide.retry_held_instance @instance_id = N'%[1]s';
`

// settle is the digest of an end without what claims do.
func (s Scenario) settle(e *tsqltest.End) (string, error) {
	for i, o := range s.operations {
		if o.claims == "" {
			continue
		}
		for _, token := range []int{i + 1, another(i + 1)} {
			if _, err := e.Exec(fmt.Sprintf(giveBack, tokenOf(token))); err != nil {
				return "", fmt.Errorf("giving back what was claimed: %w", err)
			}
		}
	}
	if slices.ContainsFunc(s.operations, func(o operation) bool { return strings.Contains(o.claims, "inboxes") }) {
		for _, id := range []string{"a", "b"} {
			if _, err := e.Exec(fmt.Sprintf(tryAgain, id)); err != nil {
				return "", fmt.Errorf("trying again what is held: %w", err)
			}
		}
	}
	return digestOf(e)
}

// ends are what the operations come to one after the other: an order's name by its digest.
type ends map[string]string

// deadlock is the number of the error that a deadlock's victim gets.
const deadlock = 1205

// excused says that the victim of a deadlock is one of a known defect, which has a scenario of its own: if that is of
// operations, the scenario has them too.
func (l *Lab) excused(s Scenario, err error) bool {
	e, ok := errors.AsType[*tsqltest.Error](err)
	return ok && slices.ContainsFunc(l.defects, func(d Scenario) bool {
		return slices.Contains(d.Known.Victims, strings.TrimPrefix(e.Procedure, "duroxide.")) && d.among(s.operations)
	})
}

// among says whether all operations of a scenario are among others, of which one may do the same to several instances.
func (s Scenario) among(others []operation) bool {
	return !slices.ContainsFunc(s.operations, func(o operation) bool {
		return !slices.ContainsFunc(others, func(other operation) bool {
			return strings.HasPrefix(other.name, o.name) || o.name == "delete instance" && other.name == "delete in bulk"
		})
	})
}

// orders runs the operations one after the other, in every order, and those of them alone that others may give way to.
func (l *Lab) orders(t testing.TB, s Scenario) ends {
	t.Helper()
	found := ends{}
	for _, sessions := range s.serial() {
		r := tsqltest.Search(t, tsqltest.Scenario{
			Base: l.world(), Sessions: sessions,
			Check: func(e *tsqltest.End) error {
				d, err := s.settle(e)
				found[d] = fmt.Sprintf("%d sessions", len(sessions))
				return err
			},
		}, tsqltest.Exploration{Preemptions: -1})
		if r.Failure != nil {
			t.Errorf("%s, one after the other: %v", s.Name, r.Failure)
		}
	}
	return found
}

// serial are the sets of sessions that may come one after the other in the place of all of them.
func (s Scenario) serial() [][]tsqltest.Session {
	switch {
	case s.cuts:
		return [][]tsqltest.Session{s.Sessions[:1], {does("nobody", "SELECT 1;")}}
	case s.victims:
		return [][]tsqltest.Session{s.Sessions, s.Sessions[:1], s.Sessions[1:]}
	}
	return [][]tsqltest.Session{s.Sessions}
}

// serializable checks the end of an order against those of the operations one after the other.
func (l *Lab) serializable(s Scenario, found ends) func(e *tsqltest.End) error {
	return func(e *tsqltest.End) error {
		for _, session := range s.Sessions {
			err := e.Err(session.Name)
			switch {
			case err == nil, s.cuts, s.victims && numberOf(err) == deadlock:
			case (s.Known == nil || len(s.Known.Victims) == 0) && numberOf(err) == deadlock && l.excused(s, err):
				return nil
			default:
				return fmt.Errorf("%s: %w", session.Name, err)
			}
		}
		if err := consistent(e); err != nil {
			return err
		}
		if ms, ok := e.Value(waited).(int64); !ok || ms > longestWait+s.time.Milliseconds() {
			return fmt.Errorf("somebody has waited for %d ms, at most %d are in order", ms-s.time.Milliseconds(), longestWait)
		}
		if s.time > 0 {
			if err := kept(e); err != nil {
				return err
			}
		}
		if s.portions() || s.differ || slices.ContainsFunc(e.Notes(), isWaited) {
			return nil
		}
		got, err := s.settle(e)
		if err != nil {
			return err
		}
		return found.explain(got)
	}
}

// explain returns how an end differs from the nearest of those that are expected, nil if it is one of them.
func (f ends) explain(got string) error {
	if f[got] != "" {
		return nil
	}
	nearest := ""
	for want := range f {
		if d := compare(got, want); nearest == "" || len(d) < len(nearest) {
			nearest = d
		}
	}
	return fmt.Errorf("the end is that of no order of the operations one after the other:%s", nearest)
}

// kept checks that nobody has lost the activity that a fetch has given to him, by what somebody else does whose lease
// had ended.
func kept(e *tsqltest.End) error {
	for _, note := range e.Notes() {
		id, work := strings.CutPrefix(fmt.Sprint(note), "worker_queue ")
		if !work {
			continue
		}
		if e.Value(fmt.Sprintf("SELECT w.id FROM duroxide.worker_queue AS w WHERE w.id = %s AND w.lock_token IN (%s, %s);", id, tokenOf(1), tokenOf(2))) == nil {
			return fmt.Errorf("activity %s was fetched and is lost", id)
		}
	}
	return nil
}

// waited is how far the clock has moved, which it does only while all wait for a LOCK_TIMEOUT.
const (
	waited      = "SELECT CAST(DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - 1704110400000 AS BIGINT)"
	longestWait = 600 + 2000 // two holders of a lease may wait for a second each, and call no more
)

// portions says that one of the operations was interrupted which commits more than once.
func (s Scenario) portions() bool {
	return s.cuts && slices.ContainsFunc(s.operations, func(o operation) bool { return o.portions })
}

// cuts are scenarios in which an operation is given up by its client at any point, or its connection ends: it has done
// all or nothing, or some of its portions.
func cuts() []Scenario {
	var list []Scenario
	for _, o := range append(operations(), rare()...) {
		if o.reads {
			continue
		}
		victim := o.session("", "a", 1)
		for name, f := range map[string]func(*tsqltest.Player, string){"cut": (*tsqltest.Player).Cut, "killed": (*tsqltest.Player).Kill} {
			list = append(list, Scenario{
				Name: o.name + ", " + name, world: true, cuts: true, operations: []operation{o},
				Sessions: []tsqltest.Session{victim, {Name: "world", Run: func(p *tsqltest.Player) error {
					f(p, victim.Name)
					return nil
				}}},
			})
		}
	}
	slices.SortFunc(list, func(a, b Scenario) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// triples are three operations of the table on one instance, or two of which one is rare.
func triples() []Scenario {
	var list []Scenario
	for _, names := range [][]string{
		{"fetch turn", "ack turn with everything", "renew turn"},
		{"fetch turn", "ack turn with everything", "delete instance"},
		{"fetch turn", "renew turn", "delete instance"},
		{"ack turn with everything", "renew turn", "delete instance"},
		{"fetch turn", "fetch turn", "ack turn, continue as new"},
		{"fetch turn", "fetch turn", "abandon turn"},
		{"fetch turn", "fetch turn", "fetch turn"},
		{"fetch work", "ack work of a session", "renew work"},
		{"fetch work", "ack work of a session", "delete instance"},
		{"fetch work", "renew work", "delete instance"},
		{"ack work of a session", "renew work", "delete instance"},
		{"fetch work", "fetch work", "ack turn with everything"},
		{"fetch work", "fetch work", "fetch work"},
		{"fetch work", "renew sessions", "abandon work of a session"},
		{"ack turn with everything", "ack work", "enqueue in a transaction"},
		{"delete the ended e", "e runs again"},
		{"delete the ended", "e runs again"},
		{"delete in bulk", "e runs again"},
		{"clean up sessions", "claim an ended session"},
		{"set work aside", "fetch work of the session of a"},
		{"start an orphan by its history", "enqueue for an orphan"},
	} {
		list = append(list, among(names))
	}
	for _, o := range operations() {
		list = append(list, among([]string{o.name, "begin anew"}))
	}
	return list
}

// overtaken are operations beside each other while the leases that they are about end.
func overtaken() []Scenario {
	var list []Scenario
	for _, names := range [][]string{
		{"fetch turn", "ack turn with everything"},
		{"fetch turn", "abandon turn"},
		{"fetch turn", "renew turn"},
		{"fetch work", "ack work of a session"},
		{"fetch work", "abandon work of a session"},
		{"fetch work", "renew work"},
		{"fetch work", "renew sessions"},
		{"fetch work", "ack work"},
		{"fetch work", "abandon work"},
		{"fetch work", "fetch work"},
		{"renew sessions", "claim the session of a"},
	} {
		s := among(names)
		s.Name, s.time, s.differ = s.Name+" | the leases end", passed, slices.Contains(names[1:], "fetch work") || slices.Contains(names, "ack work") || slices.Contains(names, "abandon work")
		s.Sessions = append(s.Sessions, passing(passed))
		list = append(list, s)
	}
	return list
}

// passed is longer than the leases of the world.
const passed = 31 * time.Second

// among is operations of the table on instance a.
func among(names []string) Scenario {
	all := append(operations(), rare()...)
	s := Scenario{Name: strings.Join(names, " | "), world: true}
	for i, name := range names {
		at := slices.IndexFunc(all, func(o operation) bool { return o.name == name })
		s.operations = append(s.operations, all[at])
		s.Sessions = append(s.Sessions, all[at].session(fmt.Sprintf("%d ", i+1), "a", i+1))
	}
	return s
}
