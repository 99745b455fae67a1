package mssql_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// A shop is an application: it has a table in the store's database, and sends messages together with rows of it.
type shop struct {
	// db are the store's connections, too.
	db     *sql.DB
	store  *mssql.Store
	schema string
	// orders is the name of the table.
	orders string
}

func openShop(t *testing.T) *shop {
	t.Helper()
	db, schema := mssqltest.Pooled(t)
	s := &shop{db: db, store: storeWith(t, db, schema), schema: schema, orders: "dbo.[" + mssqltest.Name() + "]"}
	ok(t, run(t, db, "CREATE TABLE "+s.orders+" (id NVARCHAR(100) NOT NULL PRIMARY KEY)"))
	t.Cleanup(func() {
		_, err := db.ExecContext(context.WithoutCancel(t.Context()), "DROP TABLE "+s.orders)
		ok(t, err)
	})
	return s
}

// storeWith makes a store on connections that are there, and which it leaves open.
func storeWith(t *testing.T, db *sql.DB, schema string) *mssql.Store {
	t.Helper()
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { ok(t, store.Close()) })
	return store
}

// begin begins a transaction that the test's end rolls back if nothing else has ended it.
func (s *shop) begin(t *testing.T) *sql.Tx {
	t.Helper()
	return begin(t, s.db, sql.LevelDefault)
}

func begin(t *testing.T, db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	// Not the context of the test, which ends before the cleanup: the driver does not wait for the answer to a rollback
	// whose context has ended, and another call may have the connection when it comes.
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), &sql.TxOptions{Isolation: level})
	ok(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// insert stores an order, in the transaction.
func (s *shop) insert(ctx context.Context, tx *sql.Tx, order string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO "+s.orders+" (id) VALUES (@p1)", order)
	return err
}

// send starts the orchestration of an order, in the transaction.
func (s *shop) send(ctx context.Context, tx *sql.Tx, order string) error {
	return s.store.EnqueueTx(ctx, tx, start(order), 0)
}

// place stores an order and starts its orchestration, in a transaction that stays open.
func (s *shop) place(t *testing.T, order string) *sql.Tx {
	t.Helper()
	tx := s.begin(t)
	ok(t, s.insert(t.Context(), tx, order))
	ok(t, s.send(t.Context(), tx, order))
	return tx
}

// check wants so many rows and messages of an order. The transaction has ended, so that nobody has to wait.
func (s *shop) check(t *testing.T, order string, rows, messages int) {
	t.Helper()
	var gotRows, gotMessages int
	ok(t, s.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+s.orders+" WHERE id = @p1", order).Scan(&gotRows))
	ok(t, s.db.QueryRowContext(t.Context(),
		"SELECT COUNT(*) FROM ["+s.schema+"].orchestrator_queue WHERE instance_id = @p1", order).Scan(&gotMessages))
	if gotRows != rows || gotMessages != messages {
		t.Errorf("%s has %d rows and %d messages, want %d and %d", order, gotRows, gotMessages, rows, messages)
	}
}

// checkRefused wants what a failed call leaves of its transaction: nothing, whatever the caller does next.
func (s *shop) checkRefused(t *testing.T, tx *sql.Tx, order string) {
	t.Helper()
	// The driver knows that the server has ended the transaction. If it did not, this would be stored by itself.
	if err := s.insert(t.Context(), tx, order+" again"); err == nil {
		t.Errorf("%s: the transaction goes on after EnqueueTx has failed", order)
	}
	if err := tx.Commit(); err == nil {
		t.Errorf("%s: the transaction can be committed after EnqueueTx has failed", order)
	}
	s.check(t, order, 0, 0)
	s.check(t, order+" again", 0, 0)
}

// wantBusy wants the error that says: nothing was stored, do all of it again.
func wantBusy(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, mssql.ErrBusy) || !provider.IsRetryable(err) {
		t.Errorf("got %v, want a retryable ErrBusy", err)
	}
}

// TestEnqueueTx sends messages together with rows of an application's table.
//
//nolint:paralleltest,tparallel // the subtests share a store and take what they find in it
func TestEnqueueTx(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	t.Run("is sent by the commit", s.testCommit)
	t.Run("is not sent if it rolls back", s.testRollback)
	t.Run("keeps the delay", s.testDelays)
	t.Run("is noticed by a fetch that waits", s.testNotice)
	t.Run("refuses what cannot be sent", s.testArguments)
	t.Run("ends with its context", s.testCancelled)
	t.Run("one of two with the first message may be sent again", s.testFirstMessages)
	t.Run("one of two that wait for each other is sent again", s.testDeadlock)
	t.Run("holds up other senders until it ends", s.testHold)
	t.Run("is refused under other isolation levels", s.testIsolation)
	t.Run("is lost with the connection", s.testBreak)
	t.Run("the role is enough", s.testRole)
}

func (s *shop) testCommit(t *testing.T) {
	tx := s.place(t, "committed")
	turn, err := fetchTurn(t.Context(), s.store)
	ok(t, err)
	if turn != nil {
		t.Errorf("a message that is not committed was fetched: %+v", turn.Item)
	}
	ok(t, tx.Commit())
	s.check(t, "committed", 1, 1)
	turn = anyTurn(t, s.store)
	if diff := cmp.Diff([]provider.WorkItem{start("committed")}, turn.Item.Messages); diff != "" {
		t.Errorf("(-sent +fetched)\n%s", diff)
	}
	if err := s.send(t.Context(), tx, "too late"); !errors.Is(err, sql.ErrTxDone) || provider.IsRetryable(err) {
		t.Errorf("after the commit: %v, want an ErrTxDone that is not retryable", err)
	}
	s.check(t, "too late", 0, 0)
}

func (s *shop) testRollback(t *testing.T) {
	tx := s.place(t, "rolled back")
	ok(t, tx.Rollback())
	s.check(t, "rolled back", 0, 0)
	turn, err := fetchTurn(t.Context(), s.store)
	ok(t, err)
	if turn != nil {
		t.Errorf("a message that was rolled back was fetched: %+v", turn.Item)
	}
}

// testNotice has a worker of the same process wait, which polling tells of the message.
func (s *shop) testNotice(t *testing.T) {
	store, err := mssql.New(s.db, mssql.Options{Schema: s.schema})
	ok(t, err)
	t.Cleanup(func() { ok(t, store.Close()) })
	turns, _, stop := store.WorkReady()
	defer stop()
	tx := s.place(t, "noticed")
	ok(t, tx.Commit())
	for {
		<-turns
		turn, err := fetchTurn(t.Context(), store)
		ok(t, err)
		if turn != nil {
			if turn.Item.Instance != "noticed" {
				t.Errorf("fetched %+v", turn)
			}
			return
		}
	}
}

// testDelays sends an event that is hidden for an hour, and a timer that is due in two.
func (s *shop) testDelays(t *testing.T) {
	tx := s.place(t, "delayed")
	due := time.Now().Add(2 * time.Hour)
	ok(t, s.store.EnqueueTx(t.Context(), tx, provider.ExternalRaisedItem{Instance: "delayed", Name: "event"}, time.Hour))
	ok(t, s.store.EnqueueTx(t.Context(), tx, provider.TimerFiredItem{
		Instance: "delayed", ExecutionID: 1, ID: 2, FireAtMs: uint64(due.UnixMilli()),
	}, 0))
	ok(t, tx.Commit())
	rows, err := s.db.QueryContext(t.Context(),
		"SELECT q.visible_at - q.created_at FROM ["+s.schema+"].orchestrator_queue AS q WHERE q.instance_id = N'delayed' ORDER BY q.id")
	ok(t, err)
	defer rows.Close()
	var delays []time.Duration
	for rows.Next() {
		var ms int64
		ok(t, rows.Scan(&ms))
		delays = append(delays, time.Duration(ms)*time.Millisecond)
	}
	ok(t, rows.Err())
	// A timer's delay is counted from the call, a bit after due was.
	if len(delays) != 3 || delays[0] != 0 || delays[1] != time.Hour || delays[2] <= 110*time.Minute || delays[2] > 2*time.Hour {
		t.Errorf("the delays are %v, want none, an hour and close to two", delays)
	}
	if turn := anyTurn(t, s.store); len(turn.Item.Messages) != 1 {
		t.Errorf("fetched with what is hidden: %+v", turn.Item.Messages)
	}
}

// testArguments makes calls that reach no server: the transaction goes on as if they had not been made.
func (s *shop) testArguments(t *testing.T) {
	closed := storeWith(t, s.db, s.schema)
	ok(t, closed.Close())
	tx := s.begin(t)
	ok(t, s.insert(t.Context(), tx, "argued"))
	for _, refused := range []struct {
		store *mssql.Store
		item  provider.WorkItem
		after time.Duration
		want  error
	}{
		{s.store, activity("argued", 2), 0, provider.ErrInvalidArgument},
		{s.store, start(""), 0, provider.ErrInvalidArgument},
		{s.store, start("argued"), -1, provider.ErrInvalidArgument},
		{closed, start("argued"), 0, provider.ErrClosed},
	} {
		err := refused.store.EnqueueTx(t.Context(), tx, refused.item, refused.after)
		if !errors.Is(err, refused.want) || provider.IsRetryable(err) {
			t.Errorf("%+v after %v: %v, want %v", refused.item, refused.after, err, refused.want)
		}
	}
	ok(t, s.send(t.Context(), tx, "argued"))
	ok(t, tx.Commit())
	s.check(t, "argued", 1, 1)
	anyTurn(t, s.store)
}

// testCancelled gives a call a context of its own that ends while the call waits.
func (s *shop) testCancelled(t *testing.T) {
	holder := s.place(t, "cancelled")
	tx := s.begin(t)
	ok(t, s.insert(t.Context(), tx, "cancelled too"))
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the customer has left")
	waiting := s.sendWaiting(ctx, t, holder, tx, "cancelled")
	cancel(reason)
	if err := <-waiting; !errors.Is(err, reason) {
		t.Errorf("got %v, want the context's cause", err)
	}
	ok(t, holder.Rollback())
	s.checkRefused(t, tx, "cancelled too")
}

// sendWaiting calls EnqueueTx, waits until the server has it wait for the holder's transaction, and returns where its
// error will be.
func (s *shop) sendWaiting(ctx context.Context, t *testing.T, holder, tx *sql.Tx, order string) <-chan error {
	t.Helper()
	held, waiting := s.session(t, holder), s.session(t, tx)
	sent := make(chan error, 1)
	go func() { sent <- s.send(ctx, tx, order) }()
	s.awaitBlocked(t, held, waiting)
	return sent
}

// session is the server's number of the session that the transaction is in. It skips the test if the login may not look
// at other sessions, which would then wait for a sign that never comes.
func (s *shop) session(t *testing.T, tx *sql.Tx) (session int) {
	t.Helper()
	ok(t, tx.QueryRowContext(t.Context(), "SELECT @@SPID").Scan(&session))
	var seen int
	ok(t, s.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sys.sysprocesses AS p WHERE p.spid = @p1", session).Scan(&seen))
	if seen == 0 {
		t.Skip("the login of the tests may not look at other sessions")
	}
	return session
}

// anySession is for a session whose number is not known.
const anySession = 0

// awaitBlocked waits until the server has a session wait for a lock that the holder has.
func (s *shop) awaitBlocked(t *testing.T, holder, session int) {
	t.Helper()
	for blocked := 0; blocked == 0; {
		ok(t, s.db.QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM sys.sysprocesses AS p WHERE p.blocked = @p1 AND @p2 IN (p.spid, 0)", holder, session).Scan(&blocked))
	}
}

// testFirstMessages sends the first message of an instance in two transactions at a time. The second waits for the
// first. Then it is sent too, as on SQL Server if it found the other's message, or has to be sent again with all of its
// transaction, as on a server that shows it nothing of the other's before the commit.
func (s *shop) testFirstMessages(t *testing.T) {
	first := s.place(t, "first")
	second := s.begin(t)
	ok(t, s.insert(t.Context(), second, "second"))
	waiting := s.sendWaiting(t.Context(), t, first, second, "first")
	ok(t, first.Commit())
	if err := <-waiting; err != nil {
		wantBusy(t, err)
		s.checkRefused(t, second, "second")
		second = s.begin(t)
		ok(t, s.insert(t.Context(), second, "second"))
		ok(t, s.send(t.Context(), second, "first"))
	}
	ok(t, second.Commit())
	s.check(t, "second", 1, 0)
	s.check(t, "first", 1, 2)
	if turn := anyTurn(t, s.store); len(turn.Item.Messages) != 2 {
		t.Errorf("fetched %+v, want both messages", turn.Item.Messages)
	}
}

// testDeadlock sends to two instances in opposite orders.
func (s *shop) testDeadlock(t *testing.T) {
	ctx := t.Context()
	// Both have their inbox already: a first message would fail for another reason.
	for _, instance := range []string{"left", "right"} {
		ok(t, s.store.EnqueueForOrchestrator(ctx, start(instance), 0))
	}
	one, two := s.begin(t), s.begin(t)
	ok(t, s.insert(ctx, one, "one"))
	ok(t, s.send(ctx, one, "left"))
	ok(t, s.insert(ctx, two, "two"))
	ok(t, s.send(ctx, two, "right"))
	crossing := s.sendWaiting(ctx, t, two, one, "right")
	errTwo := s.send(ctx, two, "left")
	errOne := <-crossing
	winner, loser, lost, err := one, two, "two", errTwo
	if errTwo == nil {
		winner, loser, lost, err = two, one, "one", errOne
	} else {
		ok(t, errOne)
	}
	wantBusy(t, err)
	ok(t, winner.Commit())
	s.checkRefused(t, loser, lost)
	for range 2 {
		if turn := anyTurn(t, s.store); len(turn.Item.Messages) != 2 {
			t.Errorf("fetched %+v, want the first message and that of the winner", turn.Item.Messages)
		}
	}
}

// testHold sends to an instance that a transaction has already sent to.
func (s *shop) testHold(t *testing.T) {
	ok(t, s.store.EnqueueForOrchestrator(t.Context(), start("held"), 0))
	tx := s.place(t, "held")
	session := s.session(t, tx)
	sent := make(chan error, 1)
	go func() { sent <- s.store.EnqueueForOrchestrator(t.Context(), start("held"), 0) }()
	s.awaitBlocked(t, session, anySession)
	ok(t, tx.Commit())
	ok(t, <-sent)
	s.check(t, "held", 1, 3)
	if turn := anyTurn(t, s.store); len(turn.Item.Messages) != 3 {
		t.Errorf("fetched %+v, want all three", turn.Item.Messages)
	}
}

// testIsolation sends in transactions of every level, on a connection that nobody uses afterwards: the level may
// outlast the transaction. It is sent under each but SNAPSHOT, and the transaction's own level is what it was.
func (s *shop) testIsolation(t *testing.T) {
	for _, level := range []sql.IsolationLevel{
		sql.LevelSnapshot, sql.LevelSerializable, sql.LevelRepeatableRead, sql.LevelReadUncommitted,
	} {
		s.testLevel(t, level, level.String(), s.send)
		s.testLevel(t, level, level.String()+" start", func(ctx context.Context, tx *sql.Tx, order string) error {
			use, err := s.store.StartInstanceTx(ctx, tx, start(order).(provider.StartOrchestrationItem))
			if use != nil {
				t.Errorf("%s is used by %+v", order, use)
			}
			return err
		})
	}
}

// testLevel sends an order's message in a transaction of that level.
func (s *shop) testLevel(t *testing.T, level sql.IsolationLevel, order string, send func(context.Context, *sql.Tx, string) error) {
	t.Helper()
	db := connect(t, mssqltest.DSN(t))
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	if err == nil {
		err = s.insert(t.Context(), tx, order)
	}
	if err != nil {
		t.Logf("the server has no level %v: %v", level, err)
		if tx != nil {
			_ = tx.Rollback()
		}
		return
	}
	before := s.level(t, tx)
	err = send(t.Context(), tx, order)
	if level == sql.LevelSnapshot {
		if !hasNumber(err, 50001) || !errors.Is(err, errors.ErrUnsupported) || provider.IsRetryable(err) {
			t.Errorf("%s: %v, want 50001 and an ErrUnsupported that is not retryable", order, err)
		}
		s.checkRefused(t, tx, order)
		return
	}
	ok(t, err)
	if after := s.level(t, tx); after != before {
		t.Errorf("a transaction of level %d has level %d after %s", before, after, order)
	}
	ok(t, tx.Commit())
	s.check(t, order, 1, 1)
	anyTurn(t, s.store)
}

// level is the number of the transaction's isolation level.
func (s *shop) level(t *testing.T, tx *sql.Tx) (level int) {
	t.Helper()
	ok(t, tx.QueryRowContext(t.Context(),
		"SELECT s.transaction_isolation_level FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID").Scan(&level))
	return level
}

// connect opens a single connection to the database, which the test's end closes.
func connect(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", dsn)
	ok(t, err)
	t.Cleanup(func() { ok(t, db.Close()) })
	db.SetMaxOpenConns(1)
	return db
}

// testBreak loses the connection when the server has carried the call out: without the commit that is nothing.
func (s *shop) testBreak(t *testing.T) {
	proxy := tdsproxy.New(t, mssqltest.Addr(t))
	dsn, marker := marked(t, mssqltest.Via(t, proxy.Addr()))
	db := connect(t, dsn)
	store := storeWith(t, db, s.schema)
	tx := begin(t, db, sql.LevelDefault)
	ok(t, s.insert(t.Context(), tx, "broken"))
	proxy.OnRequest(func(tdsproxy.Request) tdsproxy.Action { return tdsproxy.Action{Fault: tdsproxy.CutAnswer} })
	err := store.EnqueueTx(t.Context(), tx, start("broken"), 0)
	if !errors.Is(err, mssql.ErrUnreachable) || !provider.IsRetryable(err) {
		t.Errorf("got %v, want a retryable ErrUnreachable", err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("a transaction is committed whose connection is lost")
	}
	awaitSessions(t, marker, func() int { return 0 })
	s.check(t, "broken", 0, 0)
	ok(t, s.place(t, "broken").Commit())
	s.check(t, "broken", 1, 1)
	anyTurn(t, s.store)
}

// testRole is a user who may do what the store does, and what the application does with its own table.
func (s *shop) testRole(t *testing.T) {
	user, dsn := loginWithRole(t, migrate.RoleName(s.schema))
	ok(t, run(t, s.db, "GRANT INSERT ON "+s.orders+" TO ["+user+"]"))
	db := connect(t, dsn)
	store := storeWith(t, db, s.schema)
	tx := begin(t, db, sql.LevelDefault)
	ok(t, s.insert(t.Context(), tx, "of the role"))
	ok(t, store.EnqueueTx(t.Context(), tx, start("of the role"), 0))
	ok(t, tx.Commit())
	s.check(t, "of the role", 1, 1)
	anyTurn(t, s.store)
}
