package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// started starts an instance while a Take waits for its turn, and returns the turn and what the
// start returns: the latter is under way, and waits for the turn's acknowledgement.
func started(t *testing.T, s *Store, instance string, params provider.TakeParams) (*provider.FetchedOrchestration, <-chan error) {
	t.Helper()
	turns := waitingTake(t.Context(), t, s, params)
	starting := make(chan error, 1)
	go func() {
		_, err := s.StartInstance(t.Context(), start(instance))
		starting <- err
	}()
	got := soon(t, turns)
	must(t, got.err)
	if got.Turn == nil || got.Turn.Item.Instance != instance || got.Turn.AttemptCount != 1 || !got.Waited {
		t.Fatalf("served %+v", got.Taken)
	}
	return got.Turn, starting
}

// patient makes the writer wait for as long as a test may take, and has it know the queues.
func patient(t *testing.T, s *Store) *Store {
	t.Helper()
	s.writer.joinFor = long
	for range 2 {
		_, err := s.Take(t.Context(), everything())
		must(t, err)
	}
	return s
}

// A start waits no longer for its turn's acknowledgement when somebody else calls, or when the turn
// is given back.
func TestStartWaitsForNobodyElse(t *testing.T) {
	t.Parallel()
	for why, call := range map[string]func(context.Context, *Store, *provider.FetchedOrchestration) error{
		"a call": func(ctx context.Context, s *Store, _ *provider.FetchedOrchestration) error {
			return s.EnqueueForOrchestrator(ctx, start("other"), 0)
		},
		"abandoned": func(ctx context.Context, s *Store, turn *provider.FetchedOrchestration) error {
			return s.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: turn.LockToken})
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			s := patient(t, openMemory(t, nil))
			turn, starting := started(t, s, "i", turnOnly())
			must(t, call(t.Context(), s, turn))
			must(t, soon(t, starting))
		})
	}
}

// A turn whose acknowledgement joins the transaction that started the instance, and fails, leaves
// the start and the turn's lock: it can be acknowledged again.
func TestStartStaysWhenItsTurnFails(t *testing.T) {
	t.Parallel()
	s := patient(t, openMemory(t, nil))
	turn, starting := started(t, s, "i", turnOnly())
	ack := firstTurn(turn)
	twice := ack
	twice.HistoryDelta = append(twice.HistoryDelta, twice.HistoryDelta[0])
	if _, err := s.AckTurnAndTake(t.Context(), twice, turnOnly()); !errors.Is(err, provider.ErrDuplicateEvent) {
		t.Errorf("a turn with an event twice: %v", err)
	}
	must(t, soon(t, starting))
	taken, err := s.AckTurnAndTake(t.Context(), ack, everything())
	must(t, err)
	if len(taken.Work) != 2 {
		t.Errorf("the turn that was acknowledged again brought %+v", taken)
	}
	events, err := s.ReadHistory(t.Context(), "i")
	must(t, err)
	if len(events) != len(ack.HistoryDelta) {
		t.Errorf("%d events; want %d", len(events), len(ack.HistoryDelta))
	}
}

// When the transaction fails after the Take has returned, the start and the acknowledgement fail,
// nothing is there, and the turn's token is unknown.
func TestStartAndTurnFailTogether(t *testing.T) {
	t.Parallel()
	s := patient(t, openMemory(t, nil))
	setCommit := func(commit *sql.Stmt) {
		t.Helper()
		must(t, s.writer.do(t.Context(), &job{operation: "test", bare: func(context.Context) error {
			s.writer.control.commit = commit
			return nil
		}}))
	}
	commit := s.writer.control.commit
	setCommit(s.writer.control.undo) // which fails without a savepoint
	turn, starting := started(t, s, "i", turnOnly())
	ack := firstTurn(turn)
	_, err := s.AckTurnAndTake(t.Context(), ack, turnOnly())
	if startErr := soon(t, starting); err == nil || startErr == nil {
		t.Errorf("the start returned %v, and the acknowledgement %v; want an error of the transaction", startErr, err)
	}
	setCommit(commit)
	if _, err := s.AckTurnAndTake(t.Context(), ack, turnOnly()); !errors.Is(err, provider.ErrInvalidLockToken) {
		t.Errorf("the turn that is not there: %v", err)
	}
	if n := s.parkedJobs(t); n != 0 {
		t.Errorf("%d calls wait; want 0", n)
	}
	if use, err := s.FindInstance(t.Context(), "i"); use != nil || err != nil {
		t.Errorf("FindInstance: %v, %v", use, err)
	}
	again, starting := started(t, s, "i", turnOnly())
	_, err = s.AckTurnAndTake(t.Context(), firstTurn(again), turnOnly())
	must(t, errors.Join(err, soon(t, starting)))
}

// A start of an id that is used, or under which something is stored, is not handed to a Take that
// waits before that is known.
func TestHandedStartsAreFresh(t *testing.T) {
	t.Parallel()
	s := patient(t, openMemory(t, nil))
	starts := make(chan error, 1)
	turn, starting := started(t, s, "used", turnOnly())
	_, err := s.AckTurnAndTake(t.Context(), firstTurn(turn), provider.TakeParams{})
	must(t, errors.Join(err, soon(t, starting)))
	must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "called", Name: "event"}, 0))
	turns := waitingTake(t.Context(), t, s, turnOnly())
	use, err := s.StartInstance(t.Context(), start("used"))
	must(t, err)
	if use == nil {
		t.Error("an id that is used was started again")
	}
	if n := s.parkedJobs(t); n != 1 {
		t.Fatalf("%d calls wait on; want 1", n)
	}
	go func() {
		_, err := s.StartInstance(t.Context(), start("called"))
		starts <- err
	}()
	got := soon(t, turns)
	must(t, got.err)
	if got.Turn == nil || len(got.Turn.Item.Messages) != 2 {
		t.Fatalf("a start after a message: served %+v", got.Taken)
	}
	_, err = s.AckTurnAndTake(t.Context(), firstTurn(got.Turn), provider.TakeParams{})
	must(t, errors.Join(err, soon(t, starts)))
}

// A Take that comes while something is made ready is served in the same transaction.
func TestLateTakeIsServed(t *testing.T) { //nolint:paralleltest // all statements are counted
	s := patient(t, openCounted(t))
	m, err := columns.NewMessage("test", start("i"))
	must(t, err)
	statements.take()
	begun, end := make(chan struct{}), make(chan struct{})
	making, taking := make(chan error, 1), make(chan outcome, 1)
	go func() {
		making <- s.write(t.Context(), "test", func(ctx context.Context, t *tx) error {
			close(begun)
			<-end
			return t.deliver(ctx, m, 0)
		})
	}()
	<-begun
	go func() {
		params := turnOnly()
		params.Wait = long
		taken, err := s.Take(t.Context(), params)
		taking <- outcome{taken, err}
	}()
	s.writer.queuedCalls(t, 1)
	close(end)
	got := soon(t, taking)
	must(t, errors.Join(got.err, soon(t, making)))
	if got.Turn == nil || got.Waited {
		t.Errorf("served %+v", got.Taken)
	}
	if counts, _ := statements.take(); counts["COMMIT"] != 1 {
		t.Errorf("%d transactions; want 1: %v", counts["COMMIT"], counts)
	}
}
