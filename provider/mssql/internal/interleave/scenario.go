package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Scenario is some operations beside each other.
type Scenario struct {
	Name string
	// Prepare is a script that makes what they begin with.
	Prepare  string
	Sessions []tsqltest.Session
	// Allow are the numbers of the errors that a session may end with.
	Allow []int32
	// Check is what must hold in the end besides what holds for every state of the store; nil for nothing.
	Check func(*tsqltest.End) error
	// AnyPlan says that it must hold by any plan, also by those that scan what could be sought.
	AnyPlan bool
	// Known is set if the scenario is known to fail.
	Known *Known

	world      bool // it begins with the world
	operations []operation
	time       time.Duration // that passes
	cuts       bool          // the second session interrupts the first
	victims    bool          // a deadlock is in order
	noStalls   bool          // nobody may have to wait in vain
	differ     bool          // orders differ in what is fetched, and in what comes of that
}

// Known is a defect that is known and not mended yet.
type Known struct {
	// Review is the number that the review of the procedures gave it; 0 if the explorer has found it.
	Review int
	// Exploration finds it.
	Exploration tsqltest.Exploration
	// Want are texts that the failure must have, so that it is the defect and not another.
	Want []string
	// Victims are the procedures that may be the victim of a deadlock by it, in other scenarios too.
	Victims []string
	// VersionsToo says that it is there with row versions too. All are there without.
	VersionsToo bool
}

// Confirm searches for the defect in a lab. It is an error if nothing is found: then the defect is mended, and the
// scenario belongs to those that hold.
func (s Scenario) Confirm(search func(tsqltest.Exploration) *tsqltest.Report) (*tsqltest.Failure, error) {
	r := search(s.Known.Exploration)
	if r.Failure == nil {
		return nil, fmt.Errorf("nothing was found in %d schedules, complete to %d: it belongs to those that hold now", r.Schedules, r.Complete)
	}
	for _, want := range s.Known.Want {
		if !strings.Contains(r.Failure.String(), want) {
			return r.Failure, fmt.Errorf("it fails in another way, without %q", want)
		}
	}
	return r.Failure, nil
}

// Scenarios are those that are written one by one: those that hold, and those that are known to fail. There are more in
// [Matrix].
func Scenarios() []Scenario {
	return append(impatient(slices.Concat(pairs(), Leases(), midway(), mended(), mendedDeletions(), mendedBulks())), defects()...)
}

// WithOptimizedLocking are those for a server where writes look at committed versions of rows before they wait for a
// lock.
func WithOptimizedLocking() []Scenario { return impatient(append(Claims(), Leases()...)) }

// impatient lets calls end because a lock was not to be had. Who holds a lease waits for a lock no longer than a
// second, and calls again. In a deadlock that is no way out.
func impatient(list []Scenario) []Scenario {
	for i := range list {
		if s := &list[i]; !slices.Contains(s.Allow, 1222) {
			s.Allow, s.noStalls = append(slices.Clone(s.Allow), 1222), true
		}
	}
	return list
}

// sound checks what holds for every state of the store in which all instances have been started: one with messages is
// locked, or in the ready index, or in the wake index, and nobody has got what somebody else got too.
func sound(e *tsqltest.End) error {
	const forgotten = `
		SELECT COUNT(*)
		FROM duroxide.orchestrator_queue AS q
		LEFT JOIN duroxide.inboxes AS b ON b.instance_id = q.instance_id AND (b.head_id IS NOT NULL OR b.wake_at IS NOT NULL)
		WHERE b.instance_id IS NULL`
	if n := e.Value(forgotten); n != int64(0) {
		return fmt.Errorf("%v messages would never be fetched", n)
	}
	return fetchedOnce(e)
}

// fetchedOnce checks that nobody has got what somebody else got too.
func fetchedOnce(e *tsqltest.End) error {
	seen := map[any]bool{}
	for _, what := range e.Notes() {
		if seen[what] {
			return fmt.Errorf("%v was fetched twice", what)
		}
		seen[what] = true
	}
	return nil
}

// does is a session that executes a batch.
func does(name, batch string) tsqltest.Session {
	return tsqltest.Session{Name: name, Steps: []string{batch}}
}

// fetches is a session that notes the instance or the row that it has fetched.
func fetches(name, batch string) tsqltest.Session {
	return tsqltest.Session{Name: name, Run: func(p *tsqltest.Player) error {
		r, err := p.Exec(batch)
		if id := claimOf(r); err == nil && id != nil {
			p.Note(id)
		}
		return err
	}}
}

// claimOf is the instance or the row that a fetch returns, nil for none.
func claimOf(r *tsqltest.Result) any {
	if r == nil {
		return nil
	}
	for _, set := range r.Sets {
		if slices.Contains(set.Columns, "attempt_count") && len(set.Rows) > 0 {
			return set.Rows[0][max(0, slices.Index(set.Columns, "id"))]
		}
	}
	return nil
}

// setWith returns the rows of the result set that has a column, nil if there is none.
func setWith(r *tsqltest.Result, column string) [][]any {
	for _, set := range r.Sets {
		if slices.Contains(set.Columns, column) {
			return set.Rows
		}
	}
	return nil
}

// passing is a session that lets time pass at some point.
func passing(d time.Duration) tsqltest.Session {
	return tsqltest.Session{Name: "clock", Run: func(p *tsqltest.Player) error {
		p.Advance(d)
		return nil
	}}
}
