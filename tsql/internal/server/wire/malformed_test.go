package wire_test

import (
	"net"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
)

// What is not TDS ends the connection, with a word if the client may understand it.
func TestMalformed(t *testing.T) {
	t.Parallel()
	param := func(b ...byte) []byte { return append(append(headers(0), call("p", 0)...), b...) }
	for name, c := range map[string]struct {
		kind    byte
		payload []byte
		number  string
	}{
		"batch without headers":        {batch, []byte{1, 0}, "4002"},
		"headers beyond the message":   {batch, []byte{200, 0, 0, 0, 1, 2, 3, 4}, "4002"},
		"negative headers":             {batch, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0}, "4002"},
		"header of no length":          {batch, []byte{8, 0, 0, 0, 0, 0, 0, 0}, "4002"},
		"half a character":             {batch, append(text("q"), 1), "4002"},
		"name beyond the message":      {rpc, append(headers(0), 50, 0, 'p', 0), "4002"},
		"no call at all":               {rpc, headers(0), "4002"},
		"unknown procedure by number":  {rpc, append(headers(0), 0xFF, 0xFF, 99, 0, 0, 0), "4002"},
		"unknown type":                 {rpc, param(0, 0, 0x99), "4002"},
		"value beyond the message":     {rpc, param(0, 0, 0xE7, 10, 0, 0, 0, 0, 0, 0, 10, 0, 1), "4002"},
		"chunk beyond the message":     {rpc, param(0, 0, 0xA5, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F), "4002"},
		"large value that isn't there": {rpc, param(0, 0, 0xA5, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0), "4002"},
		"isolation level":              {manager, append(headers(0), 5, 0, 77, 0), "4002"},
		"login after the login":        {login, loginMessage(tds74, nil), "4002"},
		"infinity":                     {rpc, param(0, 0, 0x6D, 4, 4, 0, 0, 0x80, 0x7F), "8023"},
		"decimal with too many digits": {rpc, param(0, 0, 0x6A, 5, 2, 0, 5, 1, 100, 0, 0, 0), "8023"},
		"date after the last one":      {rpc, param(0, 0, 0x28, 3, 0xFF, 0xFF, 0xFF), "8023"},
		"collation":                    {rpc, param(0, 0, 0xA7, 5, 0, 0x99, 0x09, 0, 0, 0, 1, 0, 'x'), "49900"},
		"encrypted parameter":          {rpc, param(0, 8, 0x38, 1, 0, 0, 0), "49900"},
		"call that isn't to be done":   {rpc, param(0xFE), "49900"},
		"unknown .NET type":            {rpc, param(0, 0, 0xF0, 0, 0, 1, 'x', 0), "49900"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			server := serve(t, scripts{"p": nothing}, wire.Options{Ended: func(_ net.Addr, reason error) { ended <- reason }})
			r := dial(t, server.addr)
			r.in(tds74, nil)
			r.send(c.kind, last, c.payload)
			if got := r.answer(); !strings.Contains(strings.Join(got, " "), "message "+c.number) {
				t.Fatalf("%v", got)
			}
			if c.number == "4002" {
				if _, err := r.receive(); err == nil {
					t.Error("the connection goes on")
				}
				<-ended
				return
			}
			r.send(rpc, last, param())
			r.expect("the connection goes on", "done fe 0 0")
		})
	}
}

// What is broken before there is a session ends the connection without a word.
func TestMalformedFraming(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"short packet":        {18, 1, 0, 7, 0, 0, 0, 0},
		"long packet":         {18, 1, 0xFF, 0xFF, 0, 0, 0, 0},
		"something else":      []byte("GET / HTTP/1.1\r\n\r\n"),
		"request first":       packet(batch, last, text("q")),
		"prelogin outside":    packet(prelogin, last, []byte{1, 0, 200, 0, 200, 0xFF}),
		"prelogin endless":    packet(prelogin, last, []byte{1, 0, 0}),
		"short login":         packet(login, last, []byte{1, 2, 3}),
		"login outside":       packet(login, last, append(loginMessage(tds74, nil)[:40], make([]byte, 60)...)),
		"features outside":    packet(login, last, loginMessage(tds74, []byte{1, 9, 0, 0, 0})),
		"mixed":               append(packet(prelogin, 0, nil), packet(login, last, nil)...),
		"nothing of TLS":      {0x16, 3, 1, 0, 4, 2, 0, 0, 0},
		"too much of a login": append(packet(login, 0, make([]byte, 32000)), append(packet(login, 0, make([]byte, 32000)), append(packet(login, 0, make([]byte, 32000)), append(packet(login, 0, make([]byte, 32000)), packet(login, 0, make([]byte, 32000))...)...)...)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			server := serve(t, nil, wire.Options{Ended: func(_ net.Addr, reason error) { ended <- reason }})
			r := dial(t, server.addr)
			_, _ = r.Write(b)
			if tcp, ok := r.Conn.(*net.TCPConn); ok {
				_ = tcp.CloseWrite()
			}
			if err := <-ended; err == nil {
				t.Error("the connection has ended without a reason")
			}
		})
	}
}

// A request may not have more bytes than the server allows.
func TestMaxRequest(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	server := serve(t, nil, wire.Options{MaxRequest: 1000, Ended: func(_ net.Addr, reason error) { ended <- reason }})
	db := open(t, server.addr)
	if _, err := db.ExecContext(t.Context(), "echo", strings.Repeat("x", 1000)); err == nil {
		t.Error("the request is within the limit")
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "more than 1000 bytes") {
		t.Errorf("%v", err)
	}
}
