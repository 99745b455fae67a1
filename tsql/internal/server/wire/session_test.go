package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
)

// nothing does nothing.
func nothing(*query) error { return nil }

func TestTransactions(t *testing.T) {
	t.Parallel()
	server, db := start(t, scripts{"p": nothing})
	for level, want := range map[sql.IsolationLevel]string{
		sql.LevelDefault: "", sql.LevelReadUncommitted: "READ UNCOMMITTED", sql.LevelReadCommitted: "READ COMMITTED",
		sql.LevelRepeatableRead: "REPEATABLE READ", sql.LevelSerializable: "SERIALIZABLE", sql.LevelSnapshot: "SNAPSHOT",
	} {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		end, verb := tx.Commit, "COMMIT"
		if level == sql.LevelSnapshot {
			end, verb = tx.Rollback, "ROLLBACK"
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		asked := server.sessions[0].requests()
		asked = asked[len(asked)-3:]
		d := asked[1].(request.Call).Transaction
		if d == 0 {
			t.Error("the call is in no transaction")
		}
		if diff := cmp.Diff([]request.Request{
			request.Transaction{Verb: "BEGIN", Isolation: want},
			request.Call{Name: "p", Transaction: d},
			request.Transaction{Verb: verb, Current: d},
		}, asked); diff != "" {
			t.Errorf("%v: %s", level, diff)
		}
	}
}

// The server has ended the transaction on its own, as with XACT_ABORT: the driver knows of it at once.
func TestTransactionEndsByItself(t *testing.T) {
	t.Parallel()
	_, db := start(t, scripts{"p": func(q *query) error {
		return errors.Join(q.TransactionRolledBack(q.transaction), q.Error(raise(1205, "deadlock")))
	}})
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var e mssql.Error
	if _, err := tx.ExecContext(t.Context(), "p"); !errors.As(err, &e) || e.Number != 1205 {
		t.Errorf("%v is no deadlock", err)
	}
	if err := tx.Commit(); !errors.As(err, &e) || e.Number != 0 {
		t.Errorf("commit of what is no more: %v", err)
	}
}

// A connection from the pool is reset with the first request, whatever was left open on it.
func TestReset(t *testing.T) {
	t.Parallel()
	server, db := start(t, scripts{
		"begin;": func(q *query) error { return q.TransactionBegan(77) },
		"use;":   func(q *query) error { return q.session.use(q, "other") },
		"next;": func(q *query) error {
			if q.transaction != 0 {
				return errors.New("a transaction from before the reset")
			}
			return q.write("INSERT", 1)
		},
	})
	db.SetMaxOpenConns(1)
	for _, text := range []string{"begin;", "next;", "use;", "next;"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, chain(err))
		}
	}
	s := server.sessions[0]
	// The driver asks for a reset with the first request as well.
	if diff := cmp.Diff([]bool{false, false, false, false}, s.resets); diff != "" || len(server.sessions) != 1 {
		t.Errorf("resets: %s, %d sessions", diff, len(server.sessions))
	}
}

// use is USE.
func (s *session) use(q *query, database string) error {
	s.mu.Lock()
	before := s.database
	s.database = database
	s.mu.Unlock()
	return q.DatabaseChanged(before, database)
}

// waits is a script that tells when it has begun, and returns when it is cancelled.
func waits(begun chan<- struct{}, before func(q *query) error) script {
	return func(q *query) error {
		if before != nil {
			if err := before(q); err != nil {
				return err
			}
		}
		begun <- struct{}{}
		<-q.ctx.Done()
		return nil
	}
}

func TestAttention(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	server, db := start(t, scripts{
		"waits":  waits(begun, nil),
		"waits;": waits(begun, nil),
		"error": func(q *query) error {
			begun <- struct{}{}
			<-q.ctx.Done()
			return q.ctx.Err()
		},
		"rolls back": waits(begun, func(q *query) error { return q.Message(fault.New(5701, "x")) }),
	})
	db.SetMaxOpenConns(1)
	for _, text := range []string{"waits", "waits;", "error", "rolls back"} {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() {
			_, err := db.ExecContext(ctx, text)
			result <- err
		}()
		<-begun
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", text, err)
		}
		if err := db.PingContext(t.Context()); err != nil {
			t.Errorf("%s: the connection is lost: %v", text, err)
		}
	}
	if n := len(server.sessions); n != 1 {
		t.Errorf("%d sessions instead of one that survives", n)
	}
}

// A client that has seen enough rows cancels the rest, whether the server waits or writes.
func TestAttentionAmongRows(t *testing.T) {
	t.Parallel()
	const many = 5000
	begun := make(chan struct{}, 1)
	first := func(q *query) error {
		rows := make([]int64, many)
		return q.numbers("a", rows...)
	}
	server, db := start(t, scripts{
		"slow":    waits(begun, first),
		"endless": endless,
	})
	db.SetMaxOpenConns(1)
	for _, text := range []string{"slow", "endless"} {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := db.QueryContext(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatalf("%s: no rows: %v", text, rows.Err())
		}
		if text == "slow" {
			<-begun
		}
		cancel()
		for rows.Next() {
		}
		_ = rows.Close() //nolint:sqlclosecheck // the next iteration needs the only connection
		if err := db.PingContext(t.Context()); err != nil {
			t.Errorf("%s: the connection is lost: %v", text, err)
		}
	}
	if n := len(server.sessions); n != 1 {
		t.Errorf("%d sessions instead of one that survives", n)
	}
}

// Rows that nobody reads to their end are cancelled by closing them.
func TestRowsClosed(t *testing.T) {
	t.Parallel()
	server, db := start(t, scripts{"q": endless})
	db.SetMaxOpenConns(1)
	for range 20 {
		rows, err := db.QueryContext(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal("no rows")
		}
		if err := errors.Join(rows.Close(), rows.Err()); err != nil { //nolint:sqlclosecheck // closing is what is tested
			t.Fatal(err)
		}
	}
	if n := len(server.sessions); n != 1 {
		t.Errorf("%d sessions instead of one that survives", n)
	}
}

// Attentions that come while the answer is under way find either this answer or the next one; the connection
// survives both.
func TestAttentionRace(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	server, db := start(t, scripts{"p": func(q *query) error {
		begun <- struct{}{}
		return q.numbers("a", 1, 2, 3)
	}})
	db.SetMaxOpenConns(1)
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancelled := 0
	for range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-begun
			cancel()
		}()
		rows, err := db.QueryContext(ctx, "p")
		if err == nil {
			_, err = list(rows)
		}
		if err != nil {
			cancelled++
		}
		<-ctx.Done()
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cancelled", cancelled)
	if n := len(server.sessions); n != 1 {
		t.Errorf("%d sessions instead of one that survives", n)
	}
}

// Closing the server ends what is executing.
func TestClose(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 3)
	h := &handler{scripts: scripts{"waits": waits(begun, nil)}}
	server := wire.New(h, wire.Options{})
	listener := listen(t)
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	db := open(t, listener.Addr().String())
	result := make(chan error)
	for range cap(begun) {
		go func() {
			_, err := db.ExecContext(t.Context(), "waits")
			result <- err
		}()
	}
	for range cap(begun) {
		<-begun
	}
	server.Close()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	for range cap(begun) {
		if err := <-result; err == nil {
			t.Error("a request has survived the server")
		}
	}
	if err := server.Serve(listen(t)); err != nil {
		t.Errorf("Serve after Close: %v", err)
	}
	for _, s := range h.sessions {
		if !s.closed {
			t.Error("a session was not closed")
		}
	}
}
