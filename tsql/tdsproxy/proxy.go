package tdsproxy

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Proxy forwards the connections that it accepts to one server.
type Proxy struct {
	upstream string
	listener net.Listener

	mu     sync.Mutex
	counts Counts
	decide func(Request) Action
	// conns are the connections that are open.
	conns    map[*conn]struct{}
	accepted int
	closed   bool
	running  sync.WaitGroup
}

// New starts a proxy for the server at the address, "host:port", on a free port of this machine. It stops when the test
// ends, after whatever the test registers for cleanup from here on: open the client afterwards.
func New(t testing.TB, upstream string) *Proxy {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("tdsproxy: %v", err)
	}
	p := &Proxy{upstream: upstream, listener: listener, conns: map[*conn]struct{}{}}
	p.running.Go(p.accept)
	t.Cleanup(p.stop)
	return p
}

// Addr is where the proxy listens, "host:port".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Requests counts the requests since the proxy was started, those that were never forwarded included.
func (p *Proxy) Requests() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// OnRequest makes decide say what happens to each request from now on, before anything of it is forwarded; nil lets all
// through. It runs on the goroutine of the request's connection, for several connections at once.
func (p *Proxy) OnRequest(decide func(Request) Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decide = decide
}

// cutAll closes the connections that are open now. New ones are accepted.
func (p *Proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.cut()
	}
}

// stop closes everything and waits for the goroutines.
func (p *Proxy) stop() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.cutAll()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve connects the client to the server and forwards until either has had enough. When the server cannot be
// reached, the client sees that its connection is closed.
func (p *Proxy) serve(client net.Conn) {
	c := newConn(p, client)
	if !p.admit(c) {
		c.cut()
		return
	}
	defer p.forget(c)
	defer c.cut()
	server, err := (&net.Dialer{}).DialContext(c.open, "tcp", p.upstream)
	if err != nil {
		return
	}
	c.run(server)
}

// admit counts a connection in; false once the proxy is stopping.
func (p *Proxy) admit(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.accepted++
	c.number = p.accepted
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) forget(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// judge counts a request and asks what happens to it.
func (p *Proxy) judge(r Request) Action {
	p.mu.Lock()
	p.counts = p.counts.Plus(r.Type)
	r.Number = p.counts.Total()
	decide := p.decide
	p.mu.Unlock()
	if decide == nil {
		return Action{}
	}
	return decide(r)
}

// wait waits until the channel is closed, and reports false if the context ended before. A nil channel is no wait.
func wait(ctx context.Context, hold <-chan struct{}) bool {
	if hold == nil {
		return ctx.Err() == nil
	}
	select {
	case <-hold:
		return true
	case <-ctx.Done():
		return false
	}
}
