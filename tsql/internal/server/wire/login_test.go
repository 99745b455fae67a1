package wire_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
)

func listen(t testing.TB) net.Listener {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func TestLogin(t *testing.T) {
	t.Parallel()
	server := serve(t, nil, wire.Options{})
	db := open(t, server.addr, "workstation id=wörk", "packet size=1024", "applicationintent=ReadOnly")
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := request.Login{
		User: "sa", Password: "s€cret", Database: "test", HostName: "wörk", AppName: "wiretest", ServerName: "127.0.0.1",
		LibraryName: "go-mssqldb", PacketSize: 1024, ReadOnlyIntent: true,
	}
	if diff := cmp.Diff(want, server.logins[0]); diff != "" {
		t.Error(diff)
	}
}

func TestLoginRefused(t *testing.T) {
	t.Parallel()
	for number, text := range map[int32]string{18456: "Login failed for user 'sa'.", 4060: "Cannot open database"} {
		h := &handler{refuse: func(request.Login) error {
			return &fault.Error{Number: number, Class: 14, State: 1, Message: text}
		}}
		db := open(t, serveHandler(t, h, wire.Options{}).addr)
		err := db.PingContext(t.Context())
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != number || !strings.Contains(e.Message, text) {
			t.Errorf("%d: %v", number, err)
		}
	}
	h := &handler{refuse: func(request.Login) error { return errors.New("out of order") }}
	db := open(t, serveHandler(t, h, wire.Options{}).addr)
	if err := db.PingContext(t.Context()); err == nil || !strings.Contains(chain(err), "out of order") {
		t.Errorf("%v", chain(err))
	}
}

// Each wish of a client meets each setting of the server. The text is long enough for several TLS records.
func TestEncryption(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(astral, 2000)
	for _, c := range []struct {
		server wire.Encryption
		client string
		fails  bool
	}{
		{wire.EncryptOnDemand, "disable", false},
		{wire.EncryptOnDemand, "false", false},
		{wire.EncryptOnDemand, "true", false},
		{wire.EncryptOnDemand, "strict", false},
		{wire.EncryptNever, "disable", false},
		{wire.EncryptNever, "false", false},
		{wire.EncryptNever, "true", true},
		{wire.EncryptAlways, "disable", true},
		{wire.EncryptAlways, "false", false},
		{wire.EncryptAlways, "true", false},
		{wire.EncryptAlways, "strict", false},
	} {
		server := serve(t, nil, wire.Options{Encryption: c.server})
		for _, size := range []string{"4096", "32767"} {
			db := unverified(t, server.addr, "encrypt="+c.client, "packet size="+size)
			var got string
			err := db.QueryRowContext(t.Context(), "echo", long).Scan(&got)
			switch {
			case c.fails && err == nil:
				t.Errorf("server %d, encrypt=%s: no error", c.server, c.client)
			case !c.fails && (err != nil || got != long):
				t.Errorf("server %d, encrypt=%s, packets of %s: %v", c.server, c.client, size, err)
			}
		}
	}
}

// unverified opens a pool whose client trusts everybody.
func unverified(t *testing.T, addr string, options ...string) *sql.DB {
	t.Helper()
	config, err := msdsn.Parse(dsn(addr, options...))
	if err != nil {
		t.Fatal(err)
	}
	if config.TLSConfig != nil {
		config.TLSConfig.InsecureSkipVerify = true
	}
	db := sql.OpenDB(mssql.NewConnectorConfig(config))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// The login is longer than a packet; only its first packet is encrypted.
func TestLongLogin(t *testing.T) {
	t.Parallel()
	server := serve(t, nil, wire.Options{})
	name := strings.Repeat("n", 600)
	for _, encrypt := range []string{"disable", "false", "true"} {
		db := unverified(t, server.addr, "encrypt="+encrypt, "packet size=512", "app name="+name)
		if err := db.PingContext(t.Context()); err != nil {
			t.Errorf("encrypt=%s: %v", encrypt, err)
		}
	}
	for _, l := range server.logins {
		if l.AppName != name {
			t.Errorf("the name has arrived as %q", l.AppName)
		}
	}
}

// A certificate of the application's is presented as it is.
func TestCertificate(t *testing.T) {
	t.Parallel()
	given := &tls.Certificate{}
	ended := make(chan error, 1)
	server := serve(t, nil, wire.Options{Certificate: given, Ended: func(_ net.Addr, reason error) { ended <- reason }})
	db := unverified(t, server.addr, "encrypt=true")
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("an empty certificate is good enough")
	}
	if err := <-ended; err == nil {
		t.Error("the connection has ended without a reason")
	}
}

// A connection need not have been accepted by a listener.
func TestPipe(t *testing.T) {
	t.Parallel()
	server := wire.New(&handler{}, wire.Options{})
	defer server.Close()
	connector, err := mssql.NewConnector(dsn("pipe:1"))
	if err != nil {
		t.Fatal(err)
	}
	connector.Dialer = pipes{server}
	db := sql.OpenDB(connector)
	defer db.Close()
	var got string
	if err := db.QueryRowContext(t.Context(), "echo", astral).Scan(&got); err != nil || got != astral {
		t.Errorf("%q, %v", got, err)
	}
}

// pipes connects to a server without a network.
type pipes struct{ server *wire.Server }

func (p pipes) HostName() string { return "pipe" }

func (p pipes) DialContext(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.server.Handle(far)
	return near, nil
}
