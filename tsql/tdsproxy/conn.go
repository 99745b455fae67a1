package tdsproxy

import (
	"bufio"
	"context"
	"net"
	"sync"
)

// conn is a client's connection and the one to the server that belongs to it.
type conn struct {
	proxy  *Proxy
	client net.Conn
	number int
	// open ends when the connection is cut.
	open   context.Context //nolint:containedctx // it is the connection's lifetime, and belongs to no call
	cancel context.CancelFunc

	mu sync.Mutex
	// server is nil until it has been reached.
	server net.Conn
	// pending are the actions of the requests whose answers have not come to their ends, in order.
	pending []Action
}

func newConn(p *Proxy, client net.Conn) *conn {
	c := &conn{proxy: p, client: client}
	c.open, c.cancel = context.WithCancel(context.Background())
	return c
}

// cut closes the connection on both sides, which ends whatever the connection is waiting for. More than once is as good
// as once.
func (c *conn) cut() {
	c.cancel()
	_ = c.client.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		_ = c.server.Close()
	}
}

// run forwards in both directions until the connection is cut or one side closes its end. The caller cuts afterwards.
func (c *conn) run(server net.Conn) {
	c.mu.Lock()
	c.server = server
	c.mu.Unlock()
	var pumps sync.WaitGroup
	pumps.Go(func() {
		defer c.cut()
		c.requests()
	})
	pumps.Go(func() {
		defer c.cut()
		c.answers()
	})
	pumps.Wait()
}

// requests forwards what the client sends, a request at a time.
func (c *conn) requests() {
	client := bufio.NewReader(c.client)
	for {
		p, err := readPacket(client)
		if err != nil {
			return
		}
		if !p.isRequest() {
			if _, err := c.server.Write(p); err != nil {
				return
			}
			continue
		}
		message, payload, err := readMessage(client, p)
		if err != nil || !c.request(p, message, payload) {
			return
		}
	}
}

// request forwards one request, or as much of it as it is to be. false ends the connection.
func (c *conn) request(first packet, message, payload []byte) bool {
	name, text := describe(first.kind(), payload)
	action := c.proxy.judge(Request{
		Conn: c.number, Type: first.kind(), Name: name, Text: text, Size: len(message), Resets: first.resets(),
	})
	if !wait(c.open, action.HoldRequest) {
		return false
	}
	if action.Fault == CutRequest {
		_, _ = c.server.Write(message[:min(action.After, len(message))])
		return false
	}
	c.expect(first.kind(), action)
	_, err := c.server.Write(message)
	return err == nil
}

// expect prepares for the answer of a request that is about to be forwarded. A client has read the last answer to its
// end when it sends another request, unless that is an attention.
func (c *conn) expect(kind Type, action Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind != Attention {
		c.pending = c.pending[:0]
	}
	c.pending = append(c.pending, action)
}

// answers forwards what the server sends, a packet at a time.
func (c *conn) answers() {
	server := bufio.NewReader(c.server)
	for {
		p, err := readPacket(server)
		if err != nil || !c.answer(p) {
			return
		}
	}
}

// answer forwards one packet of an answer, or as much of it as it is to be. false ends the connection.
func (c *conn) answer(p packet) bool {
	action := c.take(p)
	if !wait(c.open, action.HoldAnswer) {
		return false
	}
	switch action.Fault {
	case SwallowAnswer:
		return true
	case CutAnswer:
		_, err := c.client.Write(p[:min(action.After, len(p))])
		return err == nil && action.After > len(p) && !p.last()
	case None, CutRequest:
	}
	_, err := c.client.Write(p)
	return err == nil
}

// take returns what happens to the packet and keeps in mind what is left for the next one.
func (c *conn) take(p packet) Action {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 { // the login's
		return Action{}
	}
	action := c.pending[0]
	if p.last() {
		c.pending = c.pending[1:]
	} else {
		c.pending[0].After = max(0, action.After-len(p))
	}
	return action
}
