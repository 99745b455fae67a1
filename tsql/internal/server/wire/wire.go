// Package wire speaks TDS, the protocol of SQL Server, on the server's side: it reads the requests of a client from a
// connection, hands them to a session, and writes what the session returns.
//
// The versions are TDS 7.2 to 7.4, and 8.0, which is 7.4 inside of TLS. The reference is Microsoft's MS-TDS.
//
// In the order in which the files explain each other:
//
//	wire.go        the server and its options
//	packet.go      packets and messages; cursor.go reads what is in a message
//	conn.go        a connection from its first byte to its last; attention
//	prelogin.go    the first exchange; tls.go encryption; login.go who the client is
//	request.go     batches and requests of the transaction manager; rpc.go calls; tvp.go table-valued parameters
//	typeinfo.go    how types are written; collation.go collations
//	values_in.go   values of parameters; variant.go sql_variant, in both directions
//	columns.go     descriptions of result columns; values_out.go values of rows
//	sink.go        the response to a request; tokens.go the parts that it is made of; faults.go errors of the protocol
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Encryption says which connections are encrypted.
type Encryption int

const (
	// EncryptOnDemand encrypts what the client wants to have encrypted: nothing, the login, or all.
	EncryptOnDemand Encryption = iota
	// EncryptNever refuses clients that insist on encryption, as a server without a certificate does.
	EncryptNever
	// EncryptAlways refuses clients that cannot encrypt.
	EncryptAlways
)

// Options configure a server. The zero value is a good start.
type Options struct {
	Encryption Encryption
	// Certificate is what the server presents; nil stands for a new one, signed by itself.
	Certificate *tls.Certificate
	// ServerName is the name in error messages; "tsqltest" if it is empty.
	ServerName string
	// ProgramName and Version are what a login is answered with; "Microsoft SQL Server", 16.0.4135 if they are zero.
	ProgramName string
	Version     Version
	// Collation is the server's: what clients are told, and how varchar parameters without a collation are read. It is
	// value.DefaultCollation if it is nil.
	Collation *value.Collation
	// MaxRequest limits the bytes of a request; 256 MiB if it is 0.
	MaxRequest int
	// Blocking is called with a function that may have to wait until the client reads, while the session executes; nil
	// stands for calling the function.
	Blocking func(session request.Session, wait func())
	// Ended, unless it is nil, is told why a connection has ended, for all ends but the client's closing it.
	Ended func(client net.Addr, reason error)
}

// Version is a version of SQL Server.
type Version struct {
	Major, Minor byte
	Build        uint16
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	if o.ServerName == "" {
		o.ServerName = "tsqltest"
	}
	if o.ProgramName == "" {
		o.ProgramName = "Microsoft SQL Server"
	}
	if o.Version == (Version{}) {
		o.Version = Version{Major: 16, Build: 4135}
	}
	if o.Collation == nil {
		o.Collation = value.DefaultCollation
	}
	if o.MaxRequest == 0 {
		o.MaxRequest = 256 << 20
	}
	if o.Blocking == nil {
		o.Blocking = func(_ request.Session, wait func()) { wait() }
	}
	if o.Ended == nil {
		o.Ended = func(net.Addr, error) {}
	}
	return o
}

// Server accepts connections.
type Server struct {
	handler     request.Handler
	options     Options
	certificate func() (*tls.Certificate, error)

	ctx    context.Context //nolint:containedctx // the server's lifetime, which all its connections share
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	closing map[interface{ Close() error }]struct{} // listeners and connections
	running sync.WaitGroup
}

// New returns a server that opens the sessions of its connections with handler.
func New(handler request.Handler, options Options) *Server {
	s := &Server{handler: handler, options: options.withDefaults(), closing: map[interface{ Close() error }]struct{}{}}
	s.certificate = sync.OnceValues(func() (*tls.Certificate, error) {
		if given := s.options.Certificate; given != nil {
			return given, nil
		}
		return selfSigned(s.options.ServerName)
	})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Serve serves the clients that connect to the listener until ctx ends, which is no error. All of its connections and
// goroutines have ended when it returns.
func Serve(ctx context.Context, listener net.Listener, handler request.Handler, options Options) error {
	s := New(handler, options)
	defer context.AfterFunc(ctx, s.Close)()
	defer s.Close()
	return s.Serve(listener) //nolint:contextcheck // the server has a context of its own, which ends with this one
}

// Serve serves the clients that connect to the listener, which it closes in the end. It returns nil after Close.
func (s *Server) Serve(listener net.Listener) error {
	if !s.admit(listener) {
		return listener.Close()
	}
	defer s.forget(listener)
	for {
		client, err := listener.Accept()
		if err != nil {
			if s.ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("wire: accept: %w", err)
		}
		s.Handle(client)
	}
}

// Handle serves one client, and returns at once. It is for connections that no listener has accepted, such as a pipe.
func (s *Server) Handle(client net.Conn) {
	if !s.admit(client) {
		_ = client.Close()
		return
	}
	go func() {
		defer s.forget(client)
		if err := newConn(s, client).run(); err != nil && s.ctx.Err() == nil {
			s.options.Ended(client.RemoteAddr(), err)
		}
	}()
}

// Close ends all connections and waits until they have ended. Requests that are being executed are cancelled.
func (s *Server) Close() {
	s.cancel()
	s.mu.Lock()
	s.closed = true
	for c := range s.closing {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// admit keeps in mind what Close has to close and to wait for; false once the server is closed.
func (s *Server) admit(c interface{ Close() error }) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	s.closing[c] = struct{}{}
	return true
}

// forget closes what admit has admitted.
func (s *Server) forget(c interface{ Close() error }) {
	_ = c.Close()
	s.mu.Lock()
	delete(s.closing, c)
	s.mu.Unlock()
	s.running.Done()
}
