package tsqltest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/explore"
	"github.com/duroxide/duroxide-go/tsql/internal/server/session"
)

// Scenario is what several sessions do at the same time, and what must hold in whichever order they do it.
type Scenario struct {
	// Options of the server. Its clock moves only when sessions wait or call [Player.Advance]. It begins at the time
	// of Options.Clock, or at noon on 1 January 2024.
	Options Options
	// Setup prepares the database: definitions and rows. Every schedule begins with the state that Setup leaves.
	// Setup may use the driver; its connections are closed afterwards.
	Setup func(t testing.TB, s *Server)
	// Base is a server that has been prepared for several scenarios. If it is nil, the scenario makes its own server.
	// With a Base, its options apply instead of Options, and Setup adds to its database. Setup then cannot use the
	// driver, only [Server.ApplyText] and [Server.Connect].
	Base *Base
	// Sessions do their work at the same time, each on a connection of its own.
	Sessions []Session
	// Allow lists the numbers of the errors that a session may end with, such as 1205 if a session may be a
	// deadlock's victim. Any other error of a session is a failure, unless the session was cut or killed.
	Allow []int32
	// NoStalls makes it a failure if all sessions that have not ended wait for locks until the LOCK_TIMEOUT of one of
	// them ends. Such a cycle is not resolved by choosing a deadlock's victim.
	NoStalls bool
	// Ordered says that Check looks at which requests ended before others began, as a check for linearizability does.
	// Without it, Check must look only at the results of sessions and at the database, because of several schedules
	// with the same results only one is tried.
	Ordered bool
	// Check checks the result of a schedule after all sessions have ended, and returns an error if something does not
	// hold. If it is nil, only errors of sessions, and sessions that wait for ever, are failures.
	Check func(e *End) error
}

// Session is one of the sessions of a scenario.
type Session struct {
	Name string
	// Steps are batches that are executed one after the other. The session ends at the first error.
	Steps []string
	// Run replaces Steps if a session needs more than batches. The only waiting calls that it may make are the
	// player's methods.
	Run func(p *Player) error
}

// Exploration says which schedules of a scenario are tried. A session can be interrupted at every statement and every
// request for a lock.
type Exploration struct {
	// Schedules is the greatest number of schedules to try; 10,000 if it is 0.
	Schedules int
	// Preemptions limits how often a session that could continue is interrupted. Every schedule with so many
	// interruptions or fewer is tried, those with the fewest first. 0 means 2, and -1 means none. A session that ends
	// or waits is not interrupted. If a LOCK_TIMEOUT or a WAITFOR ends while other sessions could continue, that
	// counts as an interruption.
	Preemptions int
	// Random tries schedules with random priorities instead (the PCT algorithm). It finds more if there are too many
	// schedules to try them all.
	Random bool
	// Changes is how often a random schedule changes priorities; 3 if it is 0.
	Changes int
	// Seed determines the random schedules; 1 if it is 0.
	Seed uint64
	// Plans is how many times the exploration is repeated with other plans, chosen at random among those that the
	// hints allow. It finds code that is right only with the planner's choice. The plans share the number of
	// Schedules.
	Plans int
	// RowLocks makes other plans lock rows at first, as if each statement had the hint ROWLOCK. Otherwise they lock
	// rows, pages or tables, whatever the hints and the options of the indexes allow.
	RowLocks bool
	// Every also tries schedules that have the same result as others, because they differ only in the order of
	// independent steps. Set it if a check looks at more than the results of sessions and the database.
	Every bool
	// FirstPlan is the number of the first choice of plans to try; 0 is the planner's choice. Set it to continue
	// where an earlier exploration has stopped.
	FirstPlan uint64
	// Seeks makes other plans seek an index wherever they can, as if each reference to a table had the hint FORCESEEK.
	// Otherwise they may scan it, as SQL Server may where a table is small or was small once.
	Seeks bool
	// Repeat is a schedule from [Failure].Repeat. If it is set, only this schedule is tried.
	Repeat string
}

// Report is the result of an exploration.
type Report struct {
	// Schedules is how many schedules were tried.
	Schedules int
	// Complete is the greatest number of interruptions up to which every schedule was tried, with each plan; -1 if
	// there is none.
	Complete int
	// Failure is the first failing schedule; nil if there was none.
	Failure *Failure
}

// Failure is a schedule after which something did not hold.
type Failure struct {
	// Err says what did not hold.
	Err error
	// Repeat is the schedule, for [Exploration].
	Repeat string
	// Preemptions is the number of interruptions in the schedule. No failing schedule with fewer was found.
	Preemptions int
	// Table shows the schedule: which session executed which statement, and which locks it held and asked for.
	Table string
}

// String returns the error and the schedule.
func (f *Failure) String() string {
	return fmt.Sprintf("%v\n%s\nExploration{Repeat: %q} repeats it.", f.Err, f.Table, f.Repeat)
}

// Explore runs a scenario in many orders, on a server of its own, and fails the test with the first schedule after
// which something does not hold.
func Explore(t testing.TB, s Scenario, o Exploration) *Report {
	t.Helper()
	r := Search(t, s, o)
	if r.Failure != nil {
		t.Error(r.Failure)
	}
	return r
}

// Search is like [Explore] but does not fail the test. Use it in a test that expects a failure, such as that of a
// known defect.
func Search(t testing.TB, s Scenario, o Exploration) *Report {
	t.Helper()
	o.setDefaults()
	e := &explorer{t: t, scenario: s, options: o, report: &Report{Complete: o.Preemptions}}
	defer e.close()
	e.space = explore.NewSpace()
	e.begin()
	if o.Repeat != "" {
		e.repeat()
		return e.report
	}
	for i := range uint64(o.Plans) + 1 {
		plan := o.FirstPlan + i
		e.server.sessions.Take(e.options.plans(plan))
		e.space = explore.NewSpace()
		e.plan, e.budget = plan, o.Schedules*int(i+1)/(o.Plans+1)
		complete := -1
		if o.Random {
			e.random()
		} else {
			complete = explore.Search(e, o.Preemptions)
		}
		e.report.Complete = min(e.report.Complete, complete)
		if e.report.Failure != nil {
			break
		}
	}
	return e.report
}

func (o *Exploration) setDefaults() {
	if o.Schedules == 0 {
		o.Schedules = 10_000
	}
	switch o.Preemptions {
	case 0:
		o.Preemptions = 2
	case -1:
		o.Preemptions = 0
	}
	if o.Changes == 0 {
		o.Changes = 3
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
}

// explorer tries schedules on one server.
type explorer struct {
	t        testing.TB
	scenario Scenario
	options  Exploration
	report   *Report
	plan     uint64
	budget   int // how many schedules may have been tried
	stage
	judge func(s explore.Schedule, err error) bool // takes failures while one is being minimized; nil otherwise
}

// Finish looks at what a schedule has come to.
func (e *explorer) Finish(s explore.Schedule, fault explore.Fault) bool {
	err := e.verdict(fault)
	if e.judge != nil {
		return e.judge(s, err)
	}
	e.report.Schedules++
	if err != nil {
		e.report.Failure = e.explain(s, err)
		return false
	}
	return e.report.Schedules < e.budget
}

// verdict is what did not hold; nil if all did.
func (e *explorer) verdict(fault explore.Fault) error {
	if fault != "" {
		return fmt.Errorf("%s", fault)
	}
	if e.scenario.NoStalls && e.machine.Stalls > 0 {
		return errStalled
	}
	for _, p := range e.players {
		if p.err != nil && !p.ended && !allowed(p.err, e.scenario.Allow) {
			return fmt.Errorf("%s: %w", p.session.Name, p.err)
		}
	}
	if e.scenario.Check == nil {
		return nil
	}
	end := &End{explorer: e}
	defer end.close()
	return e.scenario.Check(end)
}

var errStalled = errors.New("all sessions wait until a LOCK_TIMEOUT is over")

// allowed reports whether an error is made of allowed ones only.
func allowed(err error, numbers []int32) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(several.Unwrap(), func(one error) bool { return !allowed(one, numbers) })
	}
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(numbers, e.Number)
}

// random tries schedules with random priorities.
func (e *explorer) random() {
	length := 0
	for i := e.report.Schedules; ; i++ {
		on, steps := explore.Random(e, e.options.Seed<<32+uint64(i), e.options.Changes, length)
		if !on {
			return
		}
		length = max(length, steps)
	}
}

// repeat runs the schedule that was asked for.
func (e *explorer) repeat() {
	plan, text := uint64(0), e.options.Repeat
	if number, rest, ok := strings.Cut(text, ": "); ok {
		number = e.options.restrict(number)
		n, err := strconv.ParseUint(strings.TrimPrefix(number, "plan "), 10, 32)
		if err != nil {
			e.t.Fatalf("tsqltest: %q is no schedule", e.options.Repeat)
		}
		plan, text = n, rest
	}
	s, err := explore.Parse(text)
	if err != nil {
		e.t.Fatalf("tsqltest: %v", err)
	}
	e.plan = plan
	e.server.sessions.Take(e.options.plans(plan))
	explore.Follow(e, s)
}

// explain makes the shortest schedule that fails in the same way, and tells it.
func (e *explorer) explain(s explore.Schedule, err error) *Failure {
	kind := kindOf(err)
	fails := func(s explore.Schedule) (failed bool) {
		e.judge = func(_ explore.Schedule, found error) bool {
			failed = found != nil && kindOf(found) == kind
			if failed {
				err = found
			}
			return true
		}
		defer func() { e.judge = nil }()
		explore.Follow(e, s)
		return failed
	}
	s = explore.Minimize(s, tries, fails)
	if e.options.Random {
		s = explore.Minimize(e.fewer(s, kind), tries, fails)
	}
	f := &Failure{Repeat: s.String()}
	if e.plan != 0 {
		f.Repeat = fmt.Sprintf("plan %d%s: %s", e.plan, e.options.restrictions(), s)
	}
	table := newTable(e)
	e.watch = table.note
	e.judge = func(_ explore.Schedule, found error) bool {
		err = found
		return true
	}
	_, f.Preemptions = explore.Follow(e, s)
	e.watch, e.judge = nil, nil
	f.Err, f.Table = err, table.String()
	return f
}

// plans are those that a schedule takes.
func (o *Exploration) plans(seed uint64) session.Plans {
	return session.Plans{Seed: seed, RowLocks: o.RowLocks, Seeks: o.Seeks}
}

// What the number of a plan is followed by in the text of a schedule.
const withSeeks, withRowLocks = " seeking", " locking rows"

func (o *Exploration) restrictions() string {
	text := ""
	if o.Seeks {
		text += withSeeks
	}
	if o.RowLocks {
		text += withRowLocks
	}
	return text
}

// restrict reads what restrictions has written behind the number of a plan.
func (o *Exploration) restrict(text string) (number string) {
	text, o.RowLocks = strings.CutSuffix(text, withRowLocks)
	text, o.Seeks = strings.CutSuffix(text, withSeeks)
	return text
}

// tries bounds how many schedules are tried to make a failing one shorter, in each of two ways.
const tries = 1000

// fewer looks for a schedule that fails in the same way with fewer preemptions.
func (e *explorer) fewer(s explore.Schedule, kind string) explore.Schedule {
	left, best := tries, s
	e.judge = func(tried explore.Schedule, found error) bool {
		left--
		if found != nil && kindOf(found) == kind {
			best = tried
			return false
		}
		return left > 0
	}
	_, preemptions := explore.Follow(e, s)
	best, left = s, tries
	explore.Search(e, preemptions-1)
	e.judge = nil
	return best
}

// kindOf is what failures must have in common to be taken for the same one: the numbers of the errors.
func kindOf(err error) string {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var kinds []string
		for _, one := range several.Unwrap() {
			kinds = append(kinds, kindOf(one))
		}
		return strings.Join(kinds, " ")
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return strconv.Itoa(int(e.Number))
	}
	return fmt.Sprintf("%T", err)
}

// defaultStart is when schedules begin.
var defaultStart = time.Date(2024, time.January, 1, 12, 0, 0, 0, time.UTC)
