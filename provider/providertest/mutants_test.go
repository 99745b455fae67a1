package providertest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// mutant is a sound store that breaks one rule.
type mutant struct {
	// name says what the store does wrong.
	name string
	// rule is part of the sentence that the failures quote.
	rule string
	// caught are the scenarios that fail, each by itself.
	caught []string
	// mutate replaces calls of the store; sound are those it had.
	mutate func(c *calls, sound calls)
}

// mutants are all of them, by subject.
func mutants() []mutant {
	var all []mutant
	for _, some := range [][]mutant{
		turnMutants(), tokenMutants(), leaseMutants(), attemptMutants(), queueMutants(), peekingMutants(), selectionMutants(), sessionMutants(),
		keyMutants(), statusMutants(), statsMutants(), listMutants(), deletionMutants(), bulkMutants(), pruneMutants(),
		damageMutants(), waitMutants(), contextMutants(), takingMutants(), takeWaitMutants(), endingMutants(), noticeMutants(), renewingMutants(), heartbeatMutants(), startingMutants(), holdingMutants(), unknownMutants(), letterMutants(), pageMutants(), truthMutants(),
	} {
		all = append(all, some...)
	}
	return all
}

// mutantLease is short, since many of the scenarios let it run out.
const mutantLease = 300 * time.Millisecond

// TestKitCatchesMutants breaks one rule of the contract at a time and shows that the kit
// says which.
func TestKitCatchesMutants(t *testing.T) {
	t.Parallel()
	all, names := mutants(), map[string]bool{}
	var trials []*trial
	for _, m := range all {
		if names[m.name] || len(m.rule) < len("§1.1") || len(m.caught) == 0 {
			t.Errorf("%q occurs twice, breaks no rule, or is caught by nothing", m.name)
		}
		names[m.name] = true
		for _, scenario := range m.caught {
			trials = append(trials, &trial{mutant: m, scenario: scenario})
		}
	}
	if len(names) < 60 {
		t.Errorf("%d mutants, want at least 60", len(names))
	}
	runTrials(t, trials)
	for _, r := range trials {
		switch {
		case r.failure == "":
			t.Errorf("%s passes with a store that %s", r.scenario, r.name)
		case !r.asExpected():
			t.Errorf("%s, with a store that %s, does not quote %q: %s", r.scenario, r.name, r.rule, r.failure)
		}
	}
}

// TestMutantsAreSoundOtherwise runs the same scenarios on the store that the mutants are
// made of: it is the broken rule that makes them fail.
func TestMutantsAreSoundOtherwise(t *testing.T) {
	t.Parallel()
	var trials []*trial
	tried := map[string]bool{}
	for _, m := range mutants() {
		for _, scenario := range m.caught {
			if !tried[scenario] {
				trials = append(trials, &trial{mutant: mutant{mutate: func(*calls, calls) {}}, scenario: scenario})
			}
			tried[scenario] = true
		}
	}
	runTrials(t, trials)
	for _, r := range trials {
		if !r.asExpected() {
			t.Errorf("%s: %s", r.scenario, r.failure)
		}
	}
}

// trial is a scenario on a mutant.
type trial struct {
	mutant

	scenario string
	// failure is what the scenario said, empty if it passed.
	failure string
}

// asExpected reports whether the scenario quoted the rule, or passed if none is broken.
func (r *trial) asExpected() bool {
	sentence, _, _ := strings.Cut(r.failure, "\n")
	if r.rule == "" {
		return sentence == ""
	}
	return strings.HasPrefix(sentence, "violates ") && strings.Contains(sentence, r.rule)
}

// runTrials runs them, many at once: most of them wait for leases to end.
func runTrials(t *testing.T, trials []*trial) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 12)
	for _, r := range trials {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			// A machine that is too busy for a short lease gets longer ones.
			for lease := mutantLease; lease <= 16*mutantLease; lease *= 4 {
				r.failure = failureOf(t, r.scenario, lease, r.mutate)
				if r.asExpected() {
					return
				}
			}
		})
	}
	wg.Wait()
}

// failureOf runs one scenario on a mutant and returns what it failed with first, empty if
// it passed.
func failureOf(t *testing.T, name string, lease time.Duration, mutate func(c *calls, sound calls)) string {
	t.Helper()
	run := scenarioNamed(name)
	if run == nil {
		return "no scenario has this name"
	}
	store, err := openMutable(t)
	if err != nil {
		return err.Error()
	}
	sound, ok := store.Provider.(provider.Store)
	if !ok {
		return "the store is no provider.Store"
	}
	c := callsOf(sound)
	mutate(c, *c)
	store.Provider = broken{c, sound}
	config := Config{
		Open:        func(*testing.T) Store { return store },
		LockTimeout: lease, ShortPollLimit: lease, LongPolling: true,
	}.withDefaults(t)
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(newEnv(r, t, config))
	}()
	<-done
	if r.skipped != "" {
		r.failures = append(r.failures, "skipped: "+r.skipped)
	}
	return strings.Join(r.failures, "\n")
}

func scenarioNamed(name string) func(*env) {
	for _, c := range categories() {
		for _, s := range c.scenarios {
			if c.name+"/"+s.name == name {
				return s.run
			}
		}
	}
	return nil
}

// openMutable opens a store, with hooks that have a connection of their own.
func openMutable(t *testing.T) (Store, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		return Store{}, err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return Store{}, err
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	exec := func(ctx context.Context, query string, args ...any) error {
		_, err := db.ExecContext(ctx, query, args...)
		return err
	}
	return Store{
		Provider: store,
		Reopen: func(t *testing.T) provider.Provider {
			t.Helper()
			other, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = other.Close() })
			return other
		},
		CorruptHistory: func(ctx context.Context, instance string, executionID, eventID uint64, data string) error {
			return exec(ctx, `UPDATE history SET event_data = ? WHERE instance_id = ? AND execution_id = ? AND event_id = ?`,
				data, instance, int64(executionID), int64(eventID))
		},
		CorruptOrchestratorItem: func(ctx context.Context, instance, data string) error {
			return exec(ctx, `UPDATE orchestrator_queue SET work_item = ?
				WHERE id = (SELECT min(id) FROM orchestrator_queue WHERE instance_id = ?)`, data, instance)
		},
		CorruptWorkItem: func(ctx context.Context, a provider.ActivityRef, data string) error {
			return exec(ctx, `UPDATE worker_queue SET work_item = ? WHERE instance_id = ? AND execution_id = ? AND activity_id = ?`,
				data, a.Instance, int64(a.ExecutionID), int64(a.ActivityID))
		},
		MendDeadLetter: func(ctx context.Context, id uint64, data string) error {
			return exec(ctx, `UPDATE dead_letters SET work_item = ? WHERE id = ?`, data, int64(id))
		},
		Sessions: func(ctx context.Context) (ids []string, err error) {
			rows, err := db.QueryContext(ctx, `SELECT session_id FROM sessions ORDER BY session_id`)
			if err != nil {
				return nil, err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var id string
				if err := rows.Scan(&id); err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
			return ids, rows.Err()
		},
	}, nil
}

// recorder is a test that notes its failures and does not fail.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	skipped  string
}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) { r.Skipf("%s", fmt.Sprint(args...)) }
