package wire_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// script is what a procedure or a text does.
type script func(q *query) error

// scripts are the procedures and texts of a server.
type scripts map[string]script

// query is one execution of a script.
type query struct {
	ctx context.Context //nolint:containedctx // of the execution; a script has no other parameter
	request.Sink
	session *session
	params  []request.Param
	// transaction is the descriptor in the request's header.
	transaction uint64
	inProcedure bool
}

// handler is a server with scripts in the place of T-SQL.
type handler struct {
	scripts scripts
	refuse  func(request.Login) error

	mu       sync.Mutex
	logins   []request.Login
	sessions []*session
	last     uint64 // descriptor
}

// session remembers what was asked of it.
type session struct {
	handler *handler

	mu          sync.Mutex
	database    string
	resets      []bool
	asked       []request.Request
	transaction uint64
	closed      bool
}

func (h *handler) Open(_ context.Context, login request.Login) (request.Session, error) {
	if h.refuse != nil {
		if err := h.refuse(login); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &session{handler: h, database: login.Database}
	h.logins = append(h.logins, login)
	h.sessions = append(h.sessions, s)
	return s, nil
}

func (s *session) Database() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.database
}

func (s *session) Reset(keepTransaction bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resets = append(s.resets, keepTransaction)
	s.database = "test"
	if !keepTransaction {
		s.transaction = 0
	}
}

func (s *session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// requests returns what the session was asked for so far.
func (s *session) requests() []request.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request.Request(nil), s.asked...)
}

func (s *session) Execute(ctx context.Context, r request.Request, sink request.Sink) error {
	s.mu.Lock()
	if len(s.asked) < 1000 { // which is enough for tests, and bounds benchmarks
		s.asked = append(s.asked, r)
	}
	s.mu.Unlock()
	switch r := r.(type) {
	case request.Batch:
		return s.run(strings.TrimSpace(r.Text), &query{ctx: ctx, Sink: sink, session: s, transaction: r.Transaction})
	case request.Call:
		q := &query{ctx: ctx, Sink: sink, session: s, params: r.Params, transaction: r.Transaction, inProcedure: true}
		name := r.Name
		if name == "sp_executesql" {
			name, q.params = r.Params[0].Value.Str(), r.Params[2:]
		}
		return s.run(name, q)
	case request.Bulk:
		return sink.Done("INSERT", int64(len(r.Rows)), true, false)
	case request.Transaction:
		return s.manage(r, sink)
	default:
		return fmt.Errorf("a request of type %T", r)
	}
}

func (s *session) run(name string, q *query) error {
	f, ok := s.handler.scripts[name]
	if !ok {
		f = common[name]
	}
	if f == nil {
		return q.Error(fault.New(2812, name))
	}
	return f(q)
}

// manage is a transaction manager without transactions.
func (s *session) manage(r request.Transaction, sink request.Sink) error {
	s.handler.mu.Lock()
	defer s.handler.mu.Unlock()
	end := func() error {
		d := s.transaction
		s.transaction = 0
		if r.Verb == "COMMIT" {
			return sink.TransactionCommitted(d)
		}
		return sink.TransactionRolledBack(d)
	}
	begin := func() error {
		s.handler.last++
		s.transaction = s.handler.last
		return sink.TransactionBegan(s.transaction)
	}
	switch r.Verb {
	case "BEGIN":
		return begin()
	case "COMMIT", "ROLLBACK":
		if s.transaction == 0 {
			return sink.Error(fault.New(3902))
		}
		if err := end(); err != nil || !r.Begin {
			return err
		}
		return begin()
	default:
		return nil
	}
}

// common are scripts that every server has.
var common = scripts{
	"select 1;": func(q *query) error {
		return q.set([]request.Column{{Type: value.OfKind(sqltype.Int)}}, []value.Value{value.OfInt(1)})
	},
	"echo": echo,
}

// set returns a result set.
func (q *query) set(columns []request.Column, rows ...[]value.Value) error {
	if err := q.Columns(columns); err != nil {
		return err
	}
	for _, r := range rows {
		if err := q.Row(r); err != nil {
			return err
		}
	}
	return q.Done("SELECT", int64(len(rows)), true, q.inProcedure)
}

// numbers returns a result set with one column of int.
func (q *query) numbers(name string, numbers ...int64) error {
	var rows [][]value.Value
	for _, n := range numbers {
		rows = append(rows, []value.Value{value.OfInt(n)})
	}
	return q.set([]request.Column{{Name: name, Type: value.OfKind(sqltype.Int)}}, rows...)
}

// endless returns rows until the client cancels them. They are wide, so that few are on their way then: the driver
// reads those before the server's confirmation, for which it waits five seconds.
func endless(q *query) error {
	if err := q.Columns([]request.Column{{Type: value.VarBinary(8000)}}); err != nil {
		return err
	}
	for row := []value.Value{value.OfBytes(make([]byte, 8000))}; q.ctx.Err() == nil; {
		if err := q.Row(row); err != nil {
			return err
		}
	}
	return nil
}

// echo returns a row of the parameters, and as output those that are by reference.
func echo(q *query) error {
	var columns []request.Column
	var row []value.Value
	for i, p := range q.params {
		name := strings.TrimPrefix(p.Name, "@")
		if name == "" {
			name = fmt.Sprint(i)
		}
		columns = append(columns, request.Column{Name: name, Type: p.Type, Nullable: true})
		row = append(row, p.Value)
	}
	if err := q.set(columns, row); err != nil {
		return err
	}
	if err := q.ReturnStatus(7); err != nil {
		return err
	}
	for i, p := range q.params {
		if !p.Output {
			continue
		}
		if err := q.Output(p.Name, i, p.Type, p.Value); err != nil {
			return err
		}
	}
	return nil
}

// server is a server for a test.
type server struct {
	*handler
	addr string
}

// serve starts a server, which ends with the test.
func serve(t testing.TB, s scripts, o wire.Options) *server {
	t.Helper()
	return serveHandler(t, &handler{scripts: s}, o)
}

func serveHandler(t testing.TB, h *handler, o wire.Options) *server {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- wire.Serve(ctx, listener, h, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for i, s := range h.sessions {
			if !s.closed {
				t.Errorf("session %d was not closed", i)
			}
		}
	})
	return &server{handler: h, addr: listener.Addr().String()}
}

// dsn is the URL of a server, with options such as "encrypt=true".
func dsn(addr string, options ...string) string {
	query := url.Values{"database": {"test"}, "encrypt": {"disable"}, "app name": {"wiretest"}}
	for _, o := range options {
		name, v, _ := strings.Cut(o, "=")
		query.Set(name, v)
	}
	return (&url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", "s€cret"), Host: addr, RawQuery: query.Encode()}).String()
}

// open opens a pool of connections, which is closed with the test.
func open(t testing.TB, addr string, options ...string) *sql.DB {
	t.Helper()
	connector, err := mssql.NewConnector(dsn(addr, options...))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// start starts a server and opens a pool.
func start(t testing.TB, s scripts, options ...string) (*server, *sql.DB) {
	t.Helper()
	server := serve(t, s, wire.Options{})
	return server, open(t, server.addr, options...)
}
