package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
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

// endedEarly ends an activity, and returns the turn that the call takes, which it is told of early,
// and what the call returns: it is under way, and waits for the turn's acknowledgement.
func endedEarly(
	t *testing.T, s *Store, ack provider.WorkAck, params provider.TakeParams,
) (*provider.FetchedOrchestration, <-chan outcome) {
	t.Helper()
	turns, ending := make(chan *provider.FetchedOrchestration, 1), make(chan outcome, 1)
	params.Early = func(turn *provider.FetchedOrchestration) { turns <- turn }
	go func() {
		outcomes, taken, err := s.AckWorkAndTake(t.Context(), []provider.WorkAck{ack}, params)
		ending <- outcome{taken, errors.Join(append(outcomes, err)...)}
	}()
	return soon(t, turns), ending
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

// failCommits makes the writer's transactions fail, and returns what setCommit takes to end that.
func failCommits(t *testing.T, s *Store) (commit *sql.Stmt) {
	t.Helper()
	commit = s.writer.control.commit
	setCommit(t, s, s.writer.control.undo) // which fails without a savepoint
	return commit
}

func setCommit(t *testing.T, s *Store, commit *sql.Stmt) {
	t.Helper()
	must(t, s.writer.do(t.Context(), &job{operation: "test", bare: func(context.Context) error {
		s.writer.control.commit = commit
		return nil
	}}))
}

// toldEffects are what the process was told of.
type toldEffects []effects

// recordEffects records what the process is told of from now on. It is to be read after setCommit.
func recordEffects(t *testing.T, s *Store) *toldEffects {
	t.Helper()
	var told toldEffects
	published := s.writer.published
	must(t, s.bare(t, func(context.Context) error {
		s.writer.published = func(e effects) {
			told = append(told, e)
			published(e)
		}
		return nil
	}))
	return &told
}

func (told *toldEffects) wantNothing(t *testing.T) {
	t.Helper()
	if want := (toldEffects{{}}); !reflect.DeepEqual(*told, want) {
		t.Errorf("told of %+v; want %+v", *told, want)
	}
}

// When the transaction fails after the Take has returned, the start and the acknowledgement fail,
// nothing is there, and the turn's token is unknown.
func TestStartAndTurnFailTogether(t *testing.T) {
	t.Parallel()
	s := patient(t, openMemory(t, nil))
	commit := failCommits(t, s)
	turn, starting := started(t, s, "i", turnOnly())
	ack := firstTurn(turn)
	_, err := s.AckTurnAndTake(t.Context(), ack, turnOnly())
	if startErr := soon(t, starting); err == nil || startErr == nil {
		t.Errorf("the start returned %v, and the acknowledgement %v; want an error of the transaction", startErr, err)
	}
	setCommit(t, s, commit)
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

// What a Take that was told early has done in a transaction that failed is not taken for committed:
// the next one makes its set of code seen, and nobody is told when the lock would have ended.
func TestFailedStartLeavesNothingOfItsTake(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	patient(t, s)
	params := turnOnly()
	turn := *params.Turn
	turn.Known = know("Order", "1.0.0")
	params.Turn = &turn
	_, err := s.Take(t.Context(), params)
	must(t, err)
	turns := waitingTake(t.Context(), t, s, params)
	clock.Add(seenEvery)
	commit := failCommits(t, s)
	told := recordEffects(t, s)
	starting := make(chan error, 1)
	go func() {
		_, err := s.StartInstance(t.Context(), start("i"))
		starting <- err
	}()
	got := soon(t, turns)
	must(t, got.err)
	_, err = s.AckTurnAndTake(t.Context(), firstTurn(got.Turn), provider.TakeParams{})
	if startErr := soon(t, starting); err == nil || startErr == nil {
		t.Errorf("the start returned %v, and the acknowledgement %v; want an error of the transaction", startErr, err)
	}
	setCommit(t, s, commit)
	told.wantNothing(t)
	_, err = s.Take(t.Context(), params)
	must(t, err)
	seen, err := s.queryTexts(t.Context(), "SELECT CAST(seen_at AS TEXT) FROM known_code")
	must(t, err)
	if want := fmt.Sprint(clock.Load()); len(seen) != 1 || seen[0] != want {
		t.Errorf("the set was seen at %v; want %s", seen, want)
	}
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

// A turn that sees a start sees the messages that were sent with it.
func TestStartBringsItsMessages(t *testing.T) {
	t.Parallel()
	s := patient(t, openMemory(t, nil))
	turns := waitingTake(t.Context(), t, s, turnOnly())
	starting := make(chan error, 1)
	go func() {
		message := provider.QueueMessageItem{Instance: "i", Name: "queue", Data: "1"}
		_, err := s.StartInstanceWith(t.Context(), start("i"), []provider.WorkItem{message}, false)
		starting <- err
	}()
	got := soon(t, turns)
	must(t, got.err)
	if got.Turn == nil || len(got.Turn.Item.Messages) != 2 {
		t.Fatalf("served %+v", got.Taken)
	}
	_, err := s.AckTurnAndTake(t.Context(), firstTurn(got.Turn), provider.TakeParams{})
	must(t, errors.Join(err, soon(t, starting)))
}

// There is notice of what a turn leaves ready that has joined the transaction which locked it.
func TestJoinedTurnGivesNotice(t *testing.T) {
	t.Parallel()
	s := patient(t, openMemory(t, nil))
	must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "i", Name: "event"}, 0))
	turns := waitingTake(t.Context(), t, s, turnOnly())
	starting := make(chan error, 1)
	go func() {
		_, err := s.StartInstance(t.Context(), start("i"))
		starting <- err
	}()
	got := soon(t, turns)
	must(t, got.err)
	ready, _, stop := s.WorkReady()
	defer stop()
	soon(t, ready) // the notice that comes at once
	ack := firstTurn(got.Turn)
	ack.OrchestratorItems = []provider.WorkItem{provider.QueueMessageItem{Instance: "i", Name: "queue", Data: "1"}}
	_, err := s.AckTurnAndTake(t.Context(), ack, provider.TakeParams{})
	must(t, errors.Join(err, soon(t, starting)))
	soon(t, ready)
}

// A Take that comes while something is made ready is served in the same transaction.
func TestLateTakeIsServed(t *testing.T) { //nolint:paralleltest // all statements are counted
	s := patient(t, openCounted(t))
	m, err := columns.NewMessage("test", start("i"), longText)
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

// An end of activities waits no longer for the turn that its call has taken when somebody else
// calls. The turn is told of once.
func TestEndWaitsForNobodyElse(t *testing.T) {
	t.Parallel()
	e := newEnding(t)
	turn, ending := endedEarly(t, patient(t, e.Store), e.acks[1], turnOnly())
	must(t, e.EnqueueForOrchestrator(t.Context(), start("other"), 0))
	got := soon(t, ending)
	must(t, got.err)
	if got.Turn != nil {
		t.Errorf("the call has told of the turn and returned %s", e.turn(got.Turn))
	}
	if name := e.turn(turn); name != "b Order 1 events, attempt 1: [3]" {
		t.Errorf("told of %s", name)
	}
	must(t, e.AckOrchestrationItem(t.Context(), nextTurn(turn)))
}

// A turn whose acknowledgement joins the transaction that ended an activity, and fails, leaves that
// end and the turn's lock.
func TestEndStaysWhenItsTurnFails(t *testing.T) {
	t.Parallel()
	e := newEnding(t)
	turn, ending := endedEarly(t, patient(t, e.Store), e.acks[1], turnOnly())
	twice := nextTurn(turn)
	twice.HistoryDelta = append(twice.HistoryDelta, twice.HistoryDelta...)
	if _, err := e.AckTurnAndTake(t.Context(), twice, turnOnly()); !errors.Is(err, provider.ErrDuplicateEvent) {
		t.Errorf("a turn with an event twice: %v", err)
	}
	must(t, soon(t, ending).err)
	must(t, e.AckOrchestrationItem(t.Context(), nextTurn(turn)))
	if err := e.AckWorkItem(t.Context(), e.acks[1].LockToken, nil); !errors.Is(err, provider.ErrInvalidLockToken) {
		t.Errorf("the activity that has ended: %v", err)
	}
}

// When the transaction fails after the turn was told of, the end and the acknowledgement fail, the
// turn's token is unknown, and the activity can be ended again.
func TestEndAndTurnFailTogether(t *testing.T) {
	t.Parallel()
	e := newEnding(t)
	s := patient(t, e.Store)
	commit := failCommits(t, s)
	told := recordEffects(t, s)
	turn, ending := endedEarly(t, s, e.acks[1], turnOnly())
	_, err := s.AckTurnAndTake(t.Context(), nextTurn(turn), turnOnly())
	if endErr := soon(t, ending).err; err == nil || endErr == nil {
		t.Errorf("the end returned %v, and the acknowledgement %v; want an error of the transaction", endErr, err)
	}
	setCommit(t, s, commit)
	told.wantNothing(t)
	if err := s.AckOrchestrationItem(t.Context(), nextTurn(turn)); !errors.Is(err, provider.ErrInvalidLockToken) {
		t.Errorf("the turn that is not there: %v", err)
	}
	again, ending := endedEarly(t, s, e.acks[1], turnOnly())
	_, err = s.AckTurnAndTake(t.Context(), nextTurn(again), turnOnly())
	must(t, errors.Join(err, soon(t, ending).err))
}

// Who leaves after he was told of the turn keeps it.
func TestTurnToldOfIsKept(t *testing.T) {
	t.Parallel()
	e := newEnding(t)
	s := patient(t, e.Store)
	ctx, leave := context.WithCancel(t.Context())
	params, turns := turnOnly(), make(chan *provider.FetchedOrchestration, 1)
	params.Early = func(turn *provider.FetchedOrchestration) { turns <- turn }
	ending := make(chan error, 1)
	go func() {
		_, _, err := s.AckWorkAndTake(ctx, e.acks[1:2], params)
		ending <- err
	}()
	turn := soon(t, turns)
	leave()
	if err := soon(t, ending); !errors.Is(err, context.Canceled) {
		t.Errorf("the call that was left returned %v", err)
	}
	// The first ends the wait, and what was left is taken back before the second.
	for _, instance := range []string{"c", "d"} {
		must(t, s.EnqueueForOrchestrator(t.Context(), start(instance), 0))
	}
	must(t, s.AckOrchestrationItem(t.Context(), nextTurn(turn)))
}
