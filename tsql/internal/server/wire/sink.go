package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// sink writes the response to a request. A done token says whether another one follows, which is not known when the
// statement ends: so one is always held back.
type sink struct {
	out    *packetWriter
	client client
	server string
	// outside calls what may block, while a session executes. It is nil at other times.
	outside func(wait func())

	call       bool // the request calls a procedure
	noMetadata bool // the caller knows the columns
	columns    []column
	open       bool // rows may come
	held       done
	holds      bool
	failed     bool // there was an error since the last done token
	severe     bool // there was one that ends the connection
	// transaction is the descriptor of the session's; 0 if there is none. It outlives the request.
	transaction uint64
	err         error // of the connection
}

var _ request.Sink = (*sink)(nil)

// begin prepares for another request.
func (s *sink) begin() {
	s.call, s.noMetadata, s.open, s.holds, s.failed, s.severe = false, false, false, false, false, false
}

// release writes the done token that was held back, because another token follows.
func (s *sink) release() {
	if s.holds {
		s.out.body = s.held.append(s.out.body, true)
		s.holds = false
	}
}

// hold takes a done token.
func (s *sink) hold(d done) {
	s.release()
	if s.transaction != 0 {
		d.status |= doneInTransaction
	}
	if s.failed {
		d.status |= doneError
	}
	s.held, s.holds, s.failed, s.open = d, true, false, false
}

// written lets the packets go that are full. SQL Server doesn't keep them back either: a client sees the rows that fill
// packets while the server waits for a lock.
func (s *sink) written() error {
	switch {
	case s.err != nil || !s.out.full():
	case s.outside != nil:
		s.outside(func() { s.err = s.out.flush() })
	default:
		s.err = s.out.flush()
	}
	return s.err
}

// Columns begins a result set.
func (s *sink) Columns(columns []request.Column) error {
	if s.open || s.failed {
		// The statement before has ended in the middle of its rows, or with an error.
		s.hold(done{token: choose[byte](s.call, tokenDoneInProc, tokenDone)})
	}
	s.release()
	s.columns = s.columns[:0]
	for _, c := range columns {
		described, err := describe(c, s.client)
		if err != nil {
			return err
		}
		s.columns = append(s.columns, described)
	}
	s.open = true
	if s.noMetadata {
		const none = 0xFFFF
		s.out.body = binary.LittleEndian.AppendUint16(append(s.out.body, tokenColumns), none)
	} else {
		s.out.body = appendColumns(s.out.body, s.columns)
	}
	return s.written()
}

// Row writes a row.
func (s *sink) Row(values []value.Value) error {
	if !s.open || len(values) != len(s.columns) {
		return fmt.Errorf("wire: a row of %d values for %d columns", len(values), len(s.columns))
	}
	body, err := appendRow(s.out.body, s.columns, values, s.client.hasNullBits())
	if err != nil {
		return err
	}
	s.out.body = body
	return s.written()
}

// Done ends a statement. Within a procedure, nothing is written for a statement that has nothing to tell, as with SET
// NOCOUNT ON.
func (s *sink) Done(kind string, rows int64, counted, inProcedure bool) error {
	d := done{token: tokenDone, command: commands[kind]}
	switch {
	case inProcedure || s.call && kind != "EXEC":
		if !counted && kind != "" && !s.open && !s.failed {
			return s.err
		}
		d.token = tokenDoneInProc
	case kind == "EXEC":
		d.token = tokenDoneProc
	}
	if s.failed && (counted || kind == "") {
		// What has failed changes and returns nothing: this is another statement.
		s.hold(done{token: d.token})
	}
	if counted {
		d.status |= doneCount
		d.rows = uint64(rows)
	}
	s.hold(d)
	return s.err
}

// Error writes an error.
func (s *sink) Error(e *fault.Error) error {
	s.failed = true
	s.severe = s.severe || e.Class >= 20
	return s.message(e)
}

// Message writes a message that is no error.
func (s *sink) Message(e *fault.Error) error { return s.message(e) }

func (s *sink) message(e *fault.Error) error {
	s.release()
	s.out.body = appendMessage(s.out.body, e, s.server)
	return s.written()
}

// ReturnStatus writes what a procedure has returned.
func (s *sink) ReturnStatus(status int32) error {
	s.release()
	s.out.body = binary.LittleEndian.AppendUint32(append(s.out.body, tokenReturnStatus), uint32(status))
	return s.written()
}

// Output writes the value of an output parameter.
func (s *sink) Output(name string, ordinal int, t value.Type, v value.Value) error {
	s.release()
	c, err := describeType(t, true, s.client)
	if err != nil {
		return fmt.Errorf("wire: parameter %s: %w", name, err)
	}
	c.name = name
	body, err := appendReturnValue(s.out.body, ordinal, &c, v)
	if err != nil {
		return err
	}
	s.out.body = body
	return s.written()
}

// DatabaseChanged tells the client of another database, with the message that goes with it.
func (s *sink) DatabaseChanged(from, to string) error {
	s.release()
	s.out.body = appendEnvironment(s.out.body, envDatabase, to, from)
	return s.message(fault.New(5701, to))
}

// TransactionBegan tells the client of a transaction.
func (s *sink) TransactionBegan(descriptor uint64) error {
	s.transaction = descriptor
	return s.transactionChanged(envBegin, descriptor)
}

// TransactionCommitted tells the client of the end of a transaction.
func (s *sink) TransactionCommitted(descriptor uint64) error {
	s.transaction = 0
	return s.transactionChanged(envCommit, descriptor)
}

// TransactionRolledBack tells the client of the end of a transaction.
func (s *sink) TransactionRolledBack(descriptor uint64) error {
	s.transaction = 0
	return s.transactionChanged(envRollback, descriptor)
}

func (s *sink) transactionChanged(what byte, descriptor uint64) error {
	s.release()
	s.out.body = appendTransaction(s.out.body, what, descriptor)
	return s.written()
}

// endCall ends what one of the calls of a request returns.
func (s *sink) endCall() {
	if !s.holds || s.held.token != tokenDoneProc || s.failed {
		s.hold(done{token: tokenDoneProc, command: commands["EXEC"]})
	}
}

// end ends the response. command is what the last done token names if there is none yet; attention says that the
// request has been cancelled.
func (s *sink) end(command string, attention bool) error {
	if s.err != nil {
		return s.err
	}
	last := done{token: tokenDone, command: commands[command]}
	switch {
	case s.severe:
		last.status |= doneSevereError
		s.hold(last)
	case attention:
		s.hold(done{token: tokenDone, status: doneAttention})
	case !s.holds, s.failed, s.open, s.held.token == tokenDoneInProc:
		s.hold(last)
	}
	s.out.body = s.held.append(s.out.body, false)
	s.holds = false
	s.err = s.out.finish()
	return s.err
}
