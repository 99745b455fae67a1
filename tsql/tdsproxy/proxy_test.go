package tdsproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLetsThroughAndCounts(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	var mu sync.Mutex
	var got []Request
	p.OnRequest(func(r Request) Action {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r)
		return Action{}
	})
	c := dial(t, p)
	sent := [][]byte{
		message(0x12, endOfMessage, []byte("prelogin"), 100),
		message(0x10, endOfMessage, []byte("login"), 100),
		message(RPC, endOfMessage|resetConnection, []byte(call("[tenant].[ship_order]")), 1000),
		request(RPC, call("[tenant].[ship_order]")),
		request(RPC, headers+"\xff\xff\x0a\x00..."),
		request(RPC, headers+"\xff\xff\x63\x00..."),
		request(Batch, batch("SELECT '𝄞'")),
		request(Batch, "\xff\xff\xff\x7f"),
		request(Transaction, headers+"\x05\x00"),
		request(BulkLoad, "rows"),
		message(Attention, endOfMessage, nil, 10),
	}
	for _, m := range sent {
		c.send(m)
		if want := server.next(t); !bytes.Equal(m, want) {
			t.Fatalf("the server received %x of %x", want, m)
		}
		c.receive(answerSize)
	}
	if diff := cmp.Diff(Counts{RPCs: 4, Batches: 2, Transactions: 1, BulkLoads: 1, Attentions: 1}, p.Requests()); diff != "" {
		t.Error(diff)
	}
	mu.Lock()
	defer mu.Unlock()
	name := call("[tenant].[ship_order]")
	want := []Request{
		{Number: 1, Type: RPC, Name: "[tenant].[ship_order]", Size: packetHeader + len(name), Resets: true},
		{Number: 2, Type: RPC, Name: "[tenant].[ship_order]", Size: len(request(RPC, name))},
		{Number: 3, Type: RPC, Name: "sp_executesql", Size: len(sent[4])},
		{Number: 4, Type: RPC, Name: "system procedure 99", Size: len(sent[5])},
		{Number: 5, Type: Batch, Name: "SELECT '𝄞'", Size: len(sent[6])},
		{Number: 6, Type: Batch, Size: len(sent[7])},
		{Number: 7, Type: Transaction, Size: len(sent[8])},
		{Number: 8, Type: BulkLoad, Size: len(sent[9])},
		{Number: 9, Type: Attention, Size: packetHeader},
	}
	for i := range want {
		want[i].Conn = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLetsAnEncryptedLoginThrough(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	c := dial(t, p)
	hello := record(0x17, strings.Repeat("secret", 100))
	c.send(hello)
	if got := server.next(t); !bytes.Equal(got, hello) {
		t.Errorf("the server received %x", got)
	}
	if got := string(c.receive(10)[5:]); got != "hello" {
		t.Errorf("the client received %q", got)
	}
	c.send(request(RPC, call("p")))
	c.receive(answerSize)
	if got := p.Requests(); got != (Counts{RPCs: 1}) {
		t.Errorf("counted %+v", got)
	}
}

func TestCutRequest(t *testing.T) {
	t.Parallel()
	rpc := request(RPC, call("p"))
	for name, after := range map[string]int{"before": 0, "within a header": 3, "within a packet": 25} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newEndpoint(t)
			p := New(t, server.addr())
			p.OnRequest(func(r Request) Action {
				if r.Number == 2 {
					return Action{Fault: CutRequest, After: after}
				}
				return Action{}
			})
			c := dial(t, p)
			c.send(rpc)
			c.receive(answerSize)
			server.next(t)
			c.send(rpc)
			if got := c.rest(); len(got) > 0 {
				t.Errorf("the client received %x", got)
			}
			if got := server.next(t); got != nil {
				t.Errorf("the server received %x", got)
			}
			if got := p.Requests(); got != (Counts{RPCs: 2}) {
				t.Errorf("counted %+v", got)
			}
		})
	}
}

func TestCutAfterTheRequest(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	p.OnRequest(func(r Request) Action { return Action{Fault: CutRequest, After: r.Size} })
	c := dial(t, p)
	rpc := request(RPC, call("p"))
	c.send(rpc)
	if got := server.next(t); !bytes.Equal(got, rpc) {
		t.Errorf("the server received %x", got)
	}
	if got := c.rest(); len(got) > 0 {
		t.Errorf("the client received %x", got)
	}
	// The next connection is as good as new.
	p.OnRequest(nil)
	c = dial(t, p)
	c.send(rpc)
	c.receive(answerSize)
}

func TestCutAnswer(t *testing.T) {
	t.Parallel()
	for after := range answerSize + 3 {
		server := newEndpoint(t)
		p := New(t, server.addr())
		p.OnRequest(func(Request) Action { return Action{Fault: CutAnswer, After: after} })
		c := dial(t, p)
		c.send(request(RPC, call("p")))
		if got := c.rest(); len(got) != min(after, answerSize) {
			t.Errorf("after %d bytes: the client received %x", after, got)
		}
	}
}

func TestHoldRequest(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	asked, release := make(chan struct{}), make(chan struct{})
	p.OnRequest(func(r Request) Action {
		if r.Number == 1 {
			close(asked)
			return Action{HoldRequest: release}
		}
		return Action{}
	})
	c := dial(t, p)
	held := request(RPC, call("held"))
	c.send(held)
	<-asked
	// Others pass it by.
	other := request(RPC, call("other"))
	o := dial(t, p)
	o.send(other)
	o.receive(answerSize)
	if got := server.next(t); !bytes.Equal(got, other) {
		t.Errorf("the server received %x first", got)
	}
	close(release)
	c.receive(answerSize)
	if got := server.next(t); !bytes.Equal(got, held) {
		t.Errorf("the server received %x second", got)
	}
}

// TestHoldAnswer sends an attention after a request whose answer is held, as a driver does when its caller gives up.
func TestHoldAnswer(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	release := make(chan struct{})
	p.OnRequest(func(r Request) Action {
		if r.Type == RPC {
			return Action{HoldAnswer: release}
		}
		return Action{}
	})
	c := dial(t, p)
	c.send(request(RPC, call("p")))
	server.next(t)
	c.send(message(Attention, endOfMessage, nil, 10))
	server.next(t) // it has arrived, so it was not held
	close(release)
	c.receive(2 * answerSize)
}

func TestSwallowAnswer(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	p.OnRequest(func(r Request) Action {
		if r.Type == RPC {
			return Action{Fault: SwallowAnswer}
		}
		return Action{}
	})
	c := dial(t, p)
	c.send(request(RPC, call("p")))
	server.next(t)
	c.send(message(Attention, endOfMessage, nil, 10))
	// An attention has no payload, and the endpoint's answer tells how long what it answers was.
	if got := c.receive(answerSize); got[packetHeader] != 0 {
		t.Errorf("the client received %x, which answers the RPC", got)
	}
}

func TestCutAll(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	p := New(t, server.addr())
	held := make(chan struct{}, 2)
	p.OnRequest(func(r Request) Action {
		if r.Type == RPC {
			held <- struct{}{}
			return Action{HoldRequest: make(chan struct{})}
		}
		return Action{}
	})
	a, b := dial(t, p), dial(t, p)
	a.send(request(RPC, call("p")))
	b.send(request(RPC, call("p")))
	<-held
	<-held
	p.cutAll()
	if got := append(a.rest(), b.rest()...); len(got) > 0 {
		t.Errorf("the clients received %x", got)
	}
	c := dial(t, p)
	c.send(request(Batch, batch("SELECT 1")))
	c.receive(answerSize)
}

// TestEndsWithTheServer has a server that is not there, and one that goes away.
func TestEndsWithTheServer(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := New(t, listener.Addr().String())
	c := dial(t, p)
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	c.rest()
	listener.Close()
	dial(t, p).rest()
}

func TestCutsWhatIsNotTDS(t *testing.T) {
	t.Parallel()
	server := newEndpoint(t)
	for name, sent := range map[string][]byte{
		"too short":           {3, 1, 0, 7, 0, 0, 0, 0},
		"within a message":    append(message(RPC, 0, []byte("half"), 10), message(Batch, endOfMessage, []byte("other"), 10)...),
		"record in a message": append(message(RPC, 0, []byte("half"), 10), record(0x17, "other")...),
	} {
		p := New(t, server.addr())
		c := dial(t, p)
		c.send(sent)
		if got := c.rest(); len(got) > 0 {
			t.Errorf("%s: the client received %x", name, got)
		}
		if got := p.Requests(); got.Total() > 0 {
			t.Errorf("%s: counted %+v", name, got)
		}
	}
}

func TestReadPacketTellsWhereTheStreamEnds(t *testing.T) {
	t.Parallel()
	whole := request(RPC, "12345")
	for n := range whole {
		_, err := readPacket(bytes.NewReader(whole[:n]))
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) {
			t.Errorf("of %d bytes: %v", n, err)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	later := Counts{Batches: 5, RPCs: 4, Attentions: 3, BulkLoads: 2, Transactions: 1}
	if got := later.Minus(Counts{Batches: 1, RPCs: 1, Attentions: 1, BulkLoads: 1, Transactions: 1}); got != (Counts{4, 3, 2, 1, 0}) {
		t.Errorf("%+v", got)
	}
	if got := later.Total(); got != 15 {
		t.Error(got)
	}
}

// Texts come as nvarchar, or in chunks as nvarchar(max), and the procedure by its name or its number.
func TestTextOfExecuteSQL(t *testing.T) {
	t.Parallel()
	const (
		number   = "\xff\xff\x0a\x00"
		flags    = "\x00\x00"
		nameless = "\x00\x00"
		nvarchar = "\xe7\x40\x1f\x09\x04\xd0\x00\x34" // of 8,000 bytes, with a collation
		unbound  = "\xe7\xff\xff\x09\x04\xd0\x00\x34"
		integer  = "\x26\x04\x04\x2a\x00\x00\x00"
		unknown  = "\xfe\xff\xff\xff\xff\xff\xff\xff" // how long the whole is
	)
	text := encode("EXEC p '𝄞'")
	sized := string([]byte{byte(len(text)), 0})
	chunk := func(s string) string { return string([]byte{byte(len(s)), 0, 0, 0}) + s }
	for what, payload := range map[string]string{
		"by number":                   headers + number + flags + nameless + nvarchar + sized + text + integer,
		"by name":                     call("sp_executesql") + nameless + nvarchar + sized + text,
		"a parameter that has a name": headers + number + flags + "\x05" + encode("@stmt") + "\x00" + nvarchar + sized + text,
		"in chunks":                   headers + number + flags + nameless + unbound + unknown + chunk(text[:6]) + chunk(text[6:]) + chunk(""),
	} {
		if name, got := describe(RPC, []byte(payload)); name != "sp_executesql" || got != "EXEC p '𝄞'" {
			t.Errorf("%s: %q of %q", what, got, name)
		}
		// Whatever is missing, there is no text then, or less.
		for n := range payload {
			if _, got := describe(RPC, []byte(payload[:n])); len(got) > len("EXEC p '𝄞'") {
				t.Errorf("%s: %q of %d bytes", what, got, n)
			}
		}
	}
	for what, payload := range map[string]string{
		"a number":          headers + number + flags + nameless + integer,
		"another procedure": call("p") + nameless + nvarchar + sized + text,
	} {
		if _, got := describe(RPC, []byte(payload)); got != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestRequestString(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Request{
		`RPC "p"`:        {Type: RPC, Name: "p"},
		`batch "SELECT"`: {Type: Batch, Name: "SELECT"},
		"attention":      {Type: Attention},
		"bulk load":      {Type: BulkLoad},
		"transaction":    {Type: Transaction},
		"type 0x55":      {Type: 0x55},
	} {
		if got := r.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
