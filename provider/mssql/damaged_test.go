package mssql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	activities "github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/worker"
)

// TestNoIndexFailsWork drops and disables each nonclustered index of the schema while all kinds of work run. No
// orchestration fails for that, verify names the index, up restores it, and the work goes on, with no attempt counted
// but those that were under way. In part, each index is dropped or disabled, by turns.
func TestNoIndexFailsWork(t *testing.T) {
	t.Parallel()
	if racing.On {
		t.Skip("the detector makes so many workers at once so slow that their leases end; the run without it tries each index")
	}
	const sites = 4 // making one takes as long as an index
	indexes := nonclustered(t)
	for part := range slices.Chunk(indexes, (len(indexes)+sites-1)/sites) {
		t.Run("from "+part[0].name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t)
			for i, index := range part {
				drop := fmt.Sprintf("DROP INDEX %s ON [%s].%s", index.name, site.schema, index.table)
				if index.constraint {
					drop = fmt.Sprintf("ALTER TABLE [%s].%s DROP CONSTRAINT %s", site.schema, index.table, index.name)
				}
				disable := fmt.Sprintf("ALTER INDEX %s ON [%s].%s DISABLE", index.name, site.schema, index.table)
				if !racing.Part() || i%2 == 0 {
					site.damage(t, index.name+" dropped", index.name, drop, migrate.ProblemMissingIndex)
				}
				if !racing.Part() || i%2 == 1 {
					site.damage(t, index.name+" disabled", index.name, disable, migrate.ProblemDisabledIndex)
				}
			}
		})
	}
}

// named is an index of the schema.
type named struct {
	table, name string
	constraint  bool
}

// nonclustered are the nonclustered indexes that the scripts make.
func nonclustered(t *testing.T) (list []named) {
	t.Helper()
	schema := mssqltest.NewSchema(t)
	rows, err := mssqltest.DB(t).QueryContext(t.Context(), `
		SELECT t.name, i.name, CASE WHEN i.is_primary_key = 1 OR i.is_unique_constraint = 1 THEN 1 ELSE 0 END
		FROM sys.indexes AS i
		INNER JOIN sys.tables AS t ON t.object_id = i.object_id
		WHERE t.schema_id = SCHEMA_ID(@p1) AND i.type = 2 AND t.name NOT IN (N'migrations', N'modules', N'revisions')
		ORDER BY t.name, i.name`, schema)
	ok(t, err)
	defer func() { ok(t, rows.Close()) }()
	for rows.Next() {
		var one named
		ok(t, rows.Scan(&one.table, &one.name, &one.constraint))
		list = append(list, one)
	}
	ok(t, rows.Err())
	if len(list) < 20 {
		t.Fatalf("only %d indexes: %v", len(list), list)
	}
	return list
}

// site is a schema with a worker at work.
type site struct {
	schema  string
	owner   *sql.DB
	client  *client.Client
	refused chan string
	// entered is told of each activity that holds, which ends when its gate is open.
	entered chan struct{}
	mu      sync.Mutex
	gate    chan struct{}
}

// everything is an orchestration with all kinds of work. It takes a message of a queue and waits for an event.
var (
	everything = orchestration.Declare[bool, string]("Everything")
	messages   = orchestration.NewQueue[string]("messages")
	enough     = orchestration.NewEvent[string]("enough")
)

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{schema: mssqltest.NewSchema(t), owner: mssqltest.DB(t), refused: make(chan string, 10_000), entered: make(chan struct{}, 1000)}
	store := open(t, mssqltest.DSN(t), mssql.Options{Schema: s.schema})
	s.client = client.New(store, client.Options{})
	w, err := worker.New(store, worker.Options{
		Hook: damages{told: s.refused}, Logger: slog.New(slog.DiscardHandler), Limits: worker.Limits{Attempts: 3},
		Leases: worker.Leases{Orchestration: 10 * time.Second, Activity: 10 * time.Second}, ActivityConcurrency: 8,
	})
	ok(t, err)
	hold := activities.New("Hold", func(ctx context.Context, what string) (string, error) {
		s.mu.Lock()
		gate := s.gate
		s.mu.Unlock()
		if what == "loser" { // which ends when it is cancelled
			gate = nil
		}
		s.entered <- struct{}{}
		select {
		case <-gate:
			return what, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, hold, "child").Await()
	})
	def := everything.Implement(func(ctx *orchestration.Context, again bool) (string, error) {
		if again {
			return "done", nil
		}
		orchestration.NewKey[string]("key").Set(ctx, "value")
		ctx.SetCustomStatus("busy")
		message, event := messages.Dequeue(ctx), enough.Wait(ctx)
		slow := orchestration.Activity(ctx, hold, "loser")
		if _, err := orchestration.Join(
			orchestration.Activity(ctx, hold, "plain"), orchestration.Activity(ctx, hold, "session", orchestration.InSession(ctx.Info().Instance)),
			orchestration.SubOrchestration(ctx, child, "x"),
		); err != nil {
			return "", err
		}
		orchestration.SelectAndDrop(slow, message)
		if _, err := message.Await(); err != nil {
			return "", err
		}
		orchestration.SelectAndDrop(orchestration.Activity(ctx, hold, "loser"), event)
		if err := ctx.Sleep(time.Millisecond); err != nil {
			return "", err
		}
		return everything.ContinueAsNew(ctx, true)
	})
	ok(t, w.Register(hold, child, def))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() { stop(); ok(t, <-done) })
	return s
}

// damage runs a round of work, in the middle of which the statement is executed.
func (s *site) damage(t *testing.T, round, index, statement string, want migrate.ProblemKind) {
	t.Helper()
	s.mu.Lock()
	gate := make(chan struct{})
	s.gate = gate
	s.mu.Unlock()
	for len(s.entered) > 0 { // the losers of the round before
		<-s.entered
	}
	run, err := client.Start(t.Context(), s.client, everything, round, false)
	ok(t, err)
	for range 4 { // two losers come later
		<-s.entered
	}
	ok(t, client.RaiseEvent(t.Context(), s.client, enough, round, "1"))
	ok(t, client.Enqueue(t.Context(), s.client, messages, round, "1"))
	for len(s.refused) > 0 {
		<-s.refused
	}
	if _, err := s.owner.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	m := &migrate.Migration{DB: s.owner, Schema: s.schema}
	problems, err := m.Verify(t.Context())
	ok(t, err)
	if len(problems) != 1 || problems[0].Kind != want || problems[0].Object != index {
		t.Errorf("%s: verify says %v, want %s", statement, problems, want)
	}
	close(gate)
	wait := func() error {
		got, err := run.Wait(t.Context())
		if err == nil && got != "done" {
			err = fmt.Errorf("the orchestration returned %q", got)
		}
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	err = s.awaitRefusals(ended)
	if _, late := client.Start(t.Context(), s.client, everything, round+" late", true); late != nil && !errors.Is(late, mssql.ErrDamagedSchema) {
		t.Errorf("%s: a start ended with %v", statement, late)
	}
	if attempts := s.attempts(t); attempts > 2 {
		t.Errorf("%s: work has %d attempts", statement, attempts)
	}
	plan, failed := m.Up(t.Context())
	ok(t, failed)
	if len(plan.Steps) != 1 || plan.Steps[0].Name != "index "+index {
		t.Errorf("%s: up did %+v", statement, plan.Steps)
	}
	if errors.Is(err, errUnderWay) {
		err = <-ended
	}
	if errors.Is(err, mssql.ErrDamagedSchema) { // of the client, whose waiting is not the orchestration
		err = wait()
	}
	if err != nil {
		t.Errorf("%s: %v", statement, err)
	}
	if _, err := client.Start(t.Context(), s.client, everything, round+" after", true); err != nil {
		t.Errorf("%s: a start after up ended with %v", statement, err)
	}
}

var errUnderWay = errors.New("the orchestration has not ended")

// awaitRefusals waits until calls were refused several times, or until the orchestration has ended without that, and
// returns how.
func (s *site) awaitRefusals(ended <-chan error) error {
	for range 4 {
		select {
		case err := <-ended:
			return err
		case <-s.refused:
		}
	}
	return errUnderWay
}

// attempts is how often the work that waits was fetched.
func (s *site) attempts(t *testing.T) (n int) {
	t.Helper()
	query := strings.ReplaceAll(`SELECT COALESCE(MAX(a.attempt_count), 0) FROM (
		SELECT q.attempt_count FROM duroxide.orchestrator_queue AS q WITH (INDEX (pk_orchestrator_queue))
		UNION ALL SELECT q.attempt_count FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue))) AS a`, "duroxide.", "["+s.schema+"].")
	ok(t, s.owner.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

// damages tells of the calls that met a damaged schema.
type damages struct {
	hook.None

	told chan string
}

func (d damages) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		if errors.Is(end.Err, mssql.ErrDamagedSchema) && errors.Is(end.Err, provider.ErrOutOfOrder) {
			d.told <- operation
		}
	}
}
