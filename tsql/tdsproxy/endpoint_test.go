package tdsproxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
)

// endpoint is the least of a server: it answers each message with a message of two packets, 20 bytes in all, and keeps
// what it was sent.
type endpoint struct {
	listener net.Listener
	messages chan []byte
	running  sync.WaitGroup
}

const answerSize = 20

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{listener: listener, messages: make(chan []byte, 100)}
	e.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.running.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		e.running.Wait()
	})
	return e
}

func (e *endpoint) addr() string { return e.listener.Addr().String() }

func (e *endpoint) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		p, err := readPacket(r)
		if err != nil {
			e.messages <- nil // this connection is over
			return
		}
		if p.isTLS() {
			e.messages <- p
			conn.Write(record(0x17, "hello"))
			continue
		}
		bytes, payload, err := readMessage(r, p)
		if err != nil {
			e.messages <- nil
			return
		}
		e.messages <- bytes
		mark := byte(len(payload))
		conn.Write(message(4, 0, []byte{mark, 1}, 2))
		conn.Write(message(4, endOfMessage, []byte{mark, 2}, 2))
	}
}

// next is the next message that the endpoint received; nil when a connection ended.
func (e *endpoint) next(t *testing.T) []byte {
	t.Helper()
	select {
	case m := <-e.messages:
		return m
	case <-t.Context().Done():
		return nil
	}
}

// message is the payload in packets of at most so many bytes of it; the last packet has the status.
func message(kind Type, status byte, payload []byte, most int) []byte {
	var bytes []byte
	for {
		n := min(most, len(payload))
		header := make([]byte, packetHeader)
		header[0] = byte(kind)
		binary.BigEndian.PutUint16(header[2:], uint16(packetHeader+n))
		if n == len(payload) {
			header[1] = status
		}
		bytes = append(append(bytes, header...), payload[:n]...)
		if payload = payload[n:]; len(payload) == 0 {
			return bytes
		}
	}
}

func record(kind byte, text string) []byte {
	header := []byte{kind, 3, 3, 0, 0}
	binary.BigEndian.PutUint16(header[3:], uint16(len(text)))
	return append(header, text...)
}

// request is a request as a driver sends it, in packets of ten bytes of payload.
func request(kind Type, payload string) []byte {
	return message(kind, endOfMessage, []byte(payload), 10)
}

// call is the payload of an RPC to the procedure, batch that of a text.
func call(procedure string) string {
	text := encode(procedure)
	length := binary.LittleEndian.AppendUint16(nil, uint16(len(text)/2))
	return headers + string(length) + text + "\x00\x00"
}

func batch(text string) string { return headers + encode(text) }

// headers is an ALL_HEADERS of 22 bytes.
const headers = "\x16\x00\x00\x00\x12\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"

func encode(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

// client is a client's connection to the proxy.
type client struct {
	t *testing.T
	net.Conn
}

func dial(t *testing.T, p *Proxy) client {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return client{t: t, Conn: conn}
}

func (c client) send(bytes []byte) {
	c.t.Helper()
	if _, err := c.Write(bytes); err != nil {
		c.t.Fatal(err)
	}
}

// receive reads so many bytes.
func (c client) receive(n int) []byte {
	c.t.Helper()
	bytes := make([]byte, n)
	if _, err := io.ReadFull(c, bytes); err != nil {
		c.t.Fatalf("reading %d bytes: %v", n, err)
	}
	return bytes
}

// rest reads until the connection is closed.
func (c client) rest() []byte {
	c.t.Helper()
	bytes, err := io.ReadAll(c)
	var cut *net.OpError // a reset, because we had sent what nobody read
	if err != nil && !errors.As(err, &cut) {
		c.t.Fatal(err)
	}
	return bytes
}
