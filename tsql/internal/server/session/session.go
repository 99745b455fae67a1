// Package session executes requests of a client: the flow of control of batches and procedures, variables,
// transactions, and what an error ends.
//
// In the order in which the files explain each other:
//
//	session.go      a connection's state, and how a request becomes executions
//	server.go       what all sessions share
//	unit.go         a text that is ready to be executed: a batch or a module, with its variables and plans
//	run.go          statements, one after the other; control.go those that decide which one is next
//	failure.go      what an error ends
//	transaction.go  transactions, and the statement that each one is
//	exec.go         EXECUTE, and dynamic SQL; call.go calls that come over the wire; function.go functions and triggers
//	identity.go     EXECUTE AS and REVERT; kill.go KILL
//	option.go       SET; cursor*.go cursors; message.go PRINT, RAISERROR and THROW
//	sysproc.go      system procedures; applock.go application locks
//	info.go         what expressions ask the session
//	explored.go     what tsqltest.Explore needs; touched.go the counts of keys
package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Session is one connection.
type Session struct {
	server *Server
	id     schedule.ID
	store  *store.Session
	login  *schema.Login
	host   string
	app    string
	// encrypted says that all of the connection is, not only the login.
	encrypted bool
	// home is the database of the login, to which a reset returns.
	home *schema.Database
	db   *schema.Database
	// identities are those that EXECUTE AS has put on top of each other; the last one acts.
	identities []identity
	acting     *schema.Principal // the user that it is in a database, actingIn
	actingIn   *schema.Database

	options    options
	temporary  []temporary
	procedures map[string]*schema.Module // #p, by folded name
	prepared   map[int32]*prepared
	lastHandle int32
	cursors    map[string]*cursor
	context    map[string]sessionValue // sp_set_session_context
	info       []byte                  // CONTEXT_INFO

	announced *bulk // the INSERT BULK whose rows come next; nil without one

	transaction transaction
	current     *statement // the statement that reads and writes; nil between statements

	stack     []*activation
	arguments []argument   // of the calls that are being made, see beginArguments
	spare     []*statement // that have ended, for those that begin
	tries     int          // how many TRY blocks are being executed, in all activations

	opened, began time.Time // the session, and its last request
	text          string    // of the last request
	executing     bool
	at            syntax.Stmt // the statement that it executes, or the last one
	sleeps        time.Time   // when WAITFOR began; zero outside

	gone       bool   // another session has ended this one, or the client has
	disconnect func() // breaks the connection; nil without one
	cancel     func() // ends the request of a session without a connection; nil if there is none

	ctx context.Context //nolint:containedctx // of the request, which executes for as long as it lives
	out output

	rowCount     int64
	lastError    int32
	lastIdentity value.Value
	fetchStatus  int64
	lastCursor   *cursor // that was opened last
	requests     uint64  // how many there have been
	delayed      bool    // the transaction is committed with delayed durability
	touched      touches // of the request, or of the last one
}

// sessionValue is an entry of SESSION_CONTEXT.
type sessionValue struct {
	value    value.Value
	readOnly bool
}

// errClosed ends the connection.
var errClosed = errors.New("the session ends")

// DatabaseName is the name of the current database.
func (s *Session) DatabaseName() string { return s.db.Name }

// ID is @@SPID.
func (s *Session) ID() int32 { return int32(s.id) }

// Execute executes a request.
func (s *Session) Execute(ctx context.Context, r request.Request, sink request.Sink) (err error) {
	s.server.scheduler.Enter(s.id)
	defer s.server.scheduler.Leave(s.id)
	if s.gone {
		return errors.Join(sink.Error(fault.New(596)), errClosed)
	}
	if s.disconnect == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		s.cancel = cancel
		defer func() { s.cancel = nil }()
	}
	s.requests++
	s.server.requests.Add(1)
	s.touched.begin()
	s.ctx, s.out, s.executing, s.began = ctx, output{sink: sink}, true, s.server.now()
	defer func() { s.ctx, s.out = context.Background(), output{} }()
	return s.finish(s.perform(r))
}

// perform executes a request. A panic is a mistake of this server: the client gets its stack, and the session ends.
func (s *Session) perform(r request.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.report(&fault.Error{
				Number: fault.Unsupported, Class: 20, State: 1, Message: fmt.Sprintf("tsqltest has failed: %v\n%s", p, debug.Stack()),
			})
			err = errClosed
		}
	}()
	if _, rows := r.(request.Bulk); !rows {
		s.announced = nil
	}
	switch r := r.(type) {
	case request.Batch:
		s.text = r.Text
		if announcesRows(r.Text) {
			return s.announce(r.Text)
		}
		return s.batch(r.Text)
	case request.Call:
		s.text = r.Name
		return s.call(r)
	case request.Bulk:
		return s.loadRows(r)
	case request.Transaction:
		return s.manage(r)
	default:
		return nil
	}
}

// finish brings the session into the state between two requests. The error is what ended the request.
func (s *Session) finish(err error) error {
	s.stack, s.tries, s.current, s.executing = s.stack[:0], 0, nil, false
	s.tellWatchers()
	if s.gone {
		s.report(fault.New(596))
		s.shut()
		return errClosed
	}
	if s.transaction.doomed {
		// A batch may not end with a transaction that can only be rolled back.
		s.rollback()
		s.report(fault.New(3998))
	}
	if sendErr := s.out.err; sendErr != nil {
		return sendErr
	}
	if errors.Is(err, errClosed) {
		return err
	}
	return nil
}

// batch compiles and executes a text.
func (s *Session) batch(text string) error {
	u, err := s.batchUnit(text)
	if err != nil {
		return s.refuse(err)
	}
	a := s.enter(u, nil)
	_, err = s.statements(a, u.stmts)
	s.leave(a)
	return s.ended(err)
}

// Reset makes the session as new, but for what keepTransaction says.
func (s *Session) Reset(keepTransaction bool) {
	s.server.scheduler.Enter(s.id)
	defer s.server.scheduler.Leave(s.id)
	if s.gone {
		return
	}
	if !keepTransaction {
		s.rollback()
		s.options.isolation = store.ReadCommitted
	}
	s.dropAllTemporary()
	s.store.ReleaseSession()
	isolation := s.options.isolation
	s.options = defaults()
	s.options.isolation = isolation
	s.applyOptions()
	s.revertTo(1)
	clear(s.prepared)
	dropCursors(s.cursors)
	s.fetchStatus, s.lastCursor = 0, nil
	clear(s.context)
	s.info = nil
	s.enterDatabase(s.home)
	s.rowCount, s.lastError, s.lastIdentity = 0, 0, value.Value{}
}

// Close ends the session: what it has not committed is rolled back.
func (s *Session) Close() {
	s.server.scheduler.Enter(s.id)
	defer s.server.scheduler.Leave(s.id)
	s.shut()
}

// level is @@NESTLEVEL: 0 in a batch.
func (s *Session) level() int {
	n := 0
	for _, a := range s.stack {
		if a.unit.nests {
			n++
		}
	}
	return n
}

// top is the activation that executes; nil between requests.
func (s *Session) top() *activation {
	if len(s.stack) == 0 {
		return nil
	}
	return s.stack[len(s.stack)-1]
}

var _ execute.Session = (*Session)(nil)
