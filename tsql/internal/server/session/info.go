package session

import (
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Store is the session's handle on data and locks.
func (s *Session) Store() *store.Session { return s.store }

// Isolation is the isolation level.
func (s *Session) Isolation() store.Isolation { return s.options.isolation }

// Database is the current database: that of the module that executes.
func (s *Session) Database() *schema.Database { return s.db }

// Now is the server's clock, in UTC. All of a statement sees one time.
func (s *Session) Now() time.Time {
	if s.current == nil {
		return s.server.now().UTC()
	}
	if s.current.now.IsZero() {
		s.current.now = s.server.now().UTC()
	}
	return s.current.now
}

// TransactionTime is when the transaction began: with BEGIN TRANSACTION, or with the statement that is one of its own.
func (s *Session) TransactionTime() time.Time {
	if s.transaction.count > 0 {
		return s.transaction.began.UTC()
	}
	own := s.current
	for st := s.current; st != nil; st = st.outer {
		if st.auto {
			own = st
		}
	}
	if own == nil {
		return s.Now()
	}
	if own.now.IsZero() {
		own.now = s.server.now().UTC()
	}
	return own.now
}

// Random are random bits.
func (s *Session) Random() uint64 {
	s.store.Draw(0)
	return s.server.random()
}

// RowCount is @@ROWCOUNT.
func (s *Session) RowCount() int64 { return s.rowCount }

// LastError is @@ERROR.
func (s *Session) LastError() int32 { return s.lastError }

// LastIdentity is @@IDENTITY.
func (s *Session) LastIdentity() value.Value { return s.lastIdentity }

// ScopeIdentity is SCOPE_IDENTITY().
func (s *Session) ScopeIdentity() value.Value {
	if a := s.top(); a != nil {
		return a.scope
	}
	return value.Value{}
}

// SetIdentity notes the identity value that an INSERT has made.
func (s *Session) SetIdentity(v value.Value) {
	s.lastIdentity = v
	if a := s.top(); a != nil {
		a.scope = v
	}
}

// NextValue is NEXT VALUE FOR. A rollback does not give values back.
func (s *Session) NextValue(q *schema.Sequence) (value.Value, error) {
	s.store.Draw(q.ID)
	if q.Exhausted {
		return value.Value{}, fault.New(11728, q.Name)
	}
	v := q.Next
	q.Used = true
	switch past := q.Increment > 0 && v > q.Max-q.Increment || q.Increment < 0 && v < q.Min-q.Increment; {
	case !past:
		q.Next += q.Increment
	case q.Cycle && q.Increment > 0:
		q.Next = q.Min
	case q.Cycle:
		q.Next = q.Max
	default:
		q.Exhausted = true
	}
	return value.OfInt(v), nil
}

// CaughtError is the error of the innermost CATCH block.
func (s *Session) CaughtError() *execute.CaughtError {
	e := s.innermostCaught()
	if e == nil {
		return nil
	}
	return &execute.CaughtError{
		Number: e.Number, Class: e.Class, State: e.State, Line: e.Line, Procedure: e.Procedure, Message: e.Message,
	}
}

// xactState is XACT_STATE().
func (s *Session) xactState() int64 {
	switch {
	case s.transaction.count == 0:
		return 0
	case s.transaction.doomed:
		return -1
	default:
		return 1
	}
}

// Info is a fact about the session.
func (s *Session) Info(name string) value.Value {
	switch name {
	case "LOGIN":
		return value.OfString(s.Login().Name)
	case "USER":
		return value.OfString(s.user().Name)
	case "ORIGINAL_LOGIN":
		return value.OfString(s.login.Name)
	case "HOST_NAME":
		return value.OfString(s.host)
	case "APP_NAME":
		return value.OfString(s.app)
	case "SERVER_NAME":
		return value.OfString(s.server.name)
	case "DEFAULT_SCHEMA":
		return value.OfString(s.defaultSchema())
	case "SPID":
		return value.OfInt(int64(s.id))
	case "TRANCOUNT":
		return value.OfInt(int64(s.transaction.count))
	case "XACT_STATE":
		return value.OfInt(s.xactState())
	case "NESTLEVEL":
		return value.OfInt(int64(s.level()))
	case "DATEFIRST":
		return value.OfInt(int64(s.options.dateFirst))
	case "FETCH_STATUS":
		return value.OfInt(s.fetchStatus)
	case "CURSOR_ROWS":
		return value.OfInt(s.cursorRows())
	case "TRANSACTION_ID":
		return value.OfInt(s.store.TransactionID())
	case "CONTEXT_INFO":
		if s.info == nil {
			return value.Value{}
		}
		return value.OfBytes(s.info)
	case "PROCID":
		if a := s.top(); a != nil && a.unit.module != nil {
			return value.OfInt(int64(a.unit.module.ID))
		}
		return value.OfInt(0)
	default:
		return value.Value{}
	}
}

// SessionContext is SESSION_CONTEXT(key).
func (s *Session) SessionContext(key string) value.Value { return s.context[fold(key)].value }

// Principal is the user whose rights count.
func (s *Session) Principal() *schema.Principal { return s.user() }

// defaultSchema is where names without a schema are looked for first in a batch.
func (s *Session) defaultSchema() string {
	if name := s.user().DefaultSchema; name != "" {
		return name
	}
	return "dbo"
}

// Temporary finds a temporary table; nil if there is none.
func (s *Session) Temporary(name string) *schema.Table { return s.findTemporary(name) }

// TemporaryProcedure finds a temporary procedure; nil if there is none.
func (s *Session) TemporaryProcedure(name string) *schema.Module {
	return s.findTemporaryProcedure(name)
}

var _ ask.Facts = (*Session)(nil)
