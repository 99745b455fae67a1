package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
)

// conn is a connection of a client. Two goroutines serve it: one reads, so that it hears of an attention and of the
// client's end at any time; the other one executes and writes.
type conn struct {
	server    *Server
	raw       net.Conn
	buffered  *bufio.Reader // of raw, or of TLS on top of it
	in        packetReader
	out       *packetWriter
	client    client
	encrypted bool
	session   request.Session
	sink      sink

	mu   sync.Mutex
	last *work // that the reader has handed over
	// spare is memory for a message.
	spare []byte
}

// work is a message to be answered.
type work struct {
	message
	ctx    context.Context //nolint:containedctx // of this request; the attention ends it
	cancel context.CancelFunc
	// The connection's mutex guards these two.
	attention bool // the client has lost its interest
	answered  bool // the response ends without regard to an attention
}

// errRefused ends a connection whose login has been refused, which is no news.
var errRefused = errors.New("wire: the login was refused")

func newConn(s *Server, raw net.Conn) *conn {
	c := &conn{server: s, raw: raw, buffered: bufio.NewReaderSize(raw, 8<<10)}
	c.in.r = c.buffered
	c.out = newPacketWriter(raw, packetReply)
	c.sink = sink{out: c.out, server: s.options.ServerName}
	return c
}

// use replaces the connection by one on top of it.
func (c *conn) use(on io.ReadWriter) {
	c.encrypted = true
	c.buffered = bufio.NewReaderSize(on, 8<<10)
	c.in.r = c.buffered
	c.out.w = on
}

// run serves the client to the end. The error says why it ended, if that is not the client's wish.
func (c *conn) run() error {
	ctx, cancel := context.WithCancel(c.server.ctx)
	defer cancel()
	switch err := c.login(ctx); {
	case errors.Is(err, errRefused), errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	defer c.session.Close()
	if s, ok := c.session.(interface{ OnEnd(disconnect func()) }); ok {
		s.OnEnd(func() {
			cancel()
			_ = c.raw.Close()
		})
	}

	queue := make(chan *work)
	var reading error
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(queue)
		reading = c.receive(ctx, queue)
		// Nobody is there to read an answer, or nobody is to.
		cancel()
		_ = c.raw.Close()
	})
	var answering error
	for w := range queue {
		if answering = c.answer(w); answering != nil {
			break
		}
	}
	cancel()
	_ = c.raw.Close()
	reader.Wait()
	return c.reason(answering, reading)
}

// reason chooses why the connection has ended from how answering and reading ended, which run beside each other: a
// client that is told of a severe error may have gone before the reader is told to end.
func (c *conn) reason(answering, reading error) error {
	toldToEnd := errors.Is(reading, net.ErrClosed) || errors.Is(reading, context.Canceled)
	ofTheClient := errors.Is(answering, context.Canceled) || c.sink.err != nil && errors.Is(answering, c.sink.err)
	switch {
	case answering != nil && (toldToEnd || !ofTheClient):
		return answering
	case errors.Is(reading, io.EOF), errors.Is(reading, context.Canceled):
		return nil
	default:
		return reading
	}
}

// receive reads messages and hands them over, until it cannot.
func (c *conn) receive(ctx context.Context, queue chan<- *work) error {
	for {
		m, err := c.in.next(c.takeSpare(), c.server.options.MaxRequest)
		if err != nil {
			return err
		}
		if m.kind == packetAttention && c.attend() {
			continue
		}
		own, cancel := context.WithCancel(ctx)
		w := &work{message: m, ctx: own, cancel: cancel}
		c.mu.Lock()
		c.last = w
		c.mu.Unlock()
		select {
		case queue <- w:
		case <-ctx.Done():
			w.cancel()
			return ctx.Err()
		}
	}
}

// attend passes an attention on to the request that is being answered. If there is none, the attention is to be
// answered by itself: false.
func (c *conn) attend() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.last.answered {
		return false
	}
	c.last.attention = true
	c.last.cancel()
	return true
}

// takeSpare returns memory for a message, which may be none.
func (c *conn) takeSpare() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.spare
	c.spare = nil
	return b
}

// giveSpare gives the memory of a message back, unless it is much.
func (c *conn) giveSpare(b []byte) {
	const keep = 256 << 10
	if cap(b) > keep {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = b
}

// finish decides that an attention from now on is not about w, and returns whether there was one.
func (c *conn) finish(w *work) (attention bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.answered = true
	return w.attention
}

// answer executes a message and writes the response. An error ends the connection.
func (c *conn) answer(w *work) error {
	defer w.cancel()
	c.sink.begin()
	if w.kind == packetAttention {
		c.finish(w)
		return c.sink.end("", true)
	}
	forgotten := c.reset(w)
	command, err := c.execute(w, forgotten)
	if err != nil && w.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // the session says what the attention has done
	}
	if err != nil {
		c.farewell(err)
	}
	c.giveSpare(w.payload)
	attention := c.finish(w)
	if err == nil && !attention && w.ctx.Err() != nil {
		// The connection or the server is ending. The session has stopped somewhere, which must not look like success.
		return w.ctx.Err()
	}
	if sendErr := c.sink.end(command, attention && err == nil); err == nil {
		err = sendErr
	}
	return err
}

// farewell tells the client why the connection is about to end, if it has not been told.
func (c *conn) farewell(err error) {
	if c.sink.severe || c.sink.err != nil {
		return
	}
	var e *fault.Error
	switch {
	case errors.As(err, &e):
		last := *e
		last.Class = max(last.Class, 20)
		e = &last
	case errors.Is(err, errMalformed):
		e = brokenStream(err)
	default:
		e = internalError(err)
	}
	_ = c.sink.Error(e) // the connection ends in any case
}

// reset makes the session new if the message asks for it. It returns whether a transaction was lost, of which the
// client does not know yet.
func (c *conn) reset(w *work) (lost bool) {
	reset, keep := w.resets()
	if !reset {
		return false
	}
	before := c.session.Database()
	c.session.Reset(keep)
	if c.sink.transaction != 0 && !keep {
		lost = true
		_ = c.sink.TransactionRolledBack(c.sink.transaction) // its error stays in the sink
	}
	c.out.body = appendBinaryEnvironment(c.out.body, envResetIsDone, nil, nil)
	if now := c.session.Database(); now != before {
		_ = c.sink.DatabaseChanged(before, now)
	}
	return lost
}

// execute executes a message. forgotten says that the transaction that it names is no more. It returns what the last
// done token is to be called, if the session does not say.
func (c *conn) execute(w *work, forgotten bool) (command string, err error) {
	if w.ctx.Err() != nil {
		return "", nil //nolint:nilerr // there is nothing to report: answer looks at the context itself
	}
	switch w.kind {
	case packetBatch:
		r, err := parseBatch(w.payload)
		if err != nil {
			return "", err
		}
		r.Transaction = choose(forgotten, 0, r.Transaction)
		return "", c.perform(w, r)
	case packetTransaction:
		r, err := parseTransaction(w.payload)
		if err != nil {
			return "", c.orReport(err)
		}
		r.Current = choose(forgotten, 0, r.Current)
		return r.Verb, c.perform(w, r)
	case packetRPC:
		return "", c.calls(w, forgotten)
	case packetBulkLoad:
		r, err := parseBulk(w.payload, c.server.options.Collation)
		if err != nil {
			return "", c.orReport(err)
		}
		return "", c.perform(w, r)
	default:
		return "", malformed("a packet of type 0x%02x after the login", byte(w.kind))
	}
}

// perform has the session execute a request. What may block in the meantime goes through the hook.
func (c *conn) perform(w *work, r request.Request) error {
	c.sink.outside = func(wait func()) { c.server.options.Blocking(c.session, wait) }
	defer func() { c.sink.outside = nil }()
	return c.session.Execute(w.ctx, r, &c.sink)
}

// orReport sends an error that ends nothing to the client. What else is an error stays one.
func (c *conn) orReport(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return c.sink.Error(e)
	}
	return err
}

// calls executes the calls of a message, one after the other.
func (c *conn) calls(w *work, forgotten bool) error {
	reader, err := newCallReader(w.payload, c.server.options.Collation)
	if err != nil {
		return err
	}
	c.sink.call = true
	for reader.more() && w.ctx.Err() == nil {
		r, err := reader.next()
		if err != nil {
			// What comes after it cannot be read.
			err = c.orReport(err)
			c.sink.endCall()
			return err
		}
		r.Transaction = choose(forgotten, 0, r.Transaction)
		c.sink.noMetadata = r.NoMetadata
		if err := c.perform(w, r); err != nil {
			return err
		}
		c.sink.endCall()
	}
	return nil
}

// login reads what comes before the requests.
func (c *conn) login(ctx context.Context) error {
	// Closing ends waiting for the client.
	first, err := c.buffered.Peek(1)
	if err != nil {
		return err
	}
	if first[0] == tlsHandshake {
		if err := c.startStrict(ctx); err != nil {
			return err
		}
	}
	m, err := c.in.next(nil, maxLogin)
	if err != nil {
		return err
	}
	if m.kind == packetPrelogin {
		if err := c.prelogin(ctx, m.payload); err != nil {
			return err
		}
		if m, err = c.in.next(nil, maxLogin); err != nil {
			return err
		}
		if !c.encrypted {
			c.in.r = c.buffered
		}
	} else if c.server.options.Encryption == EncryptAlways && !c.encrypted {
		return malformed("a login without encryption")
	}
	if m.kind != packetLogin {
		return malformed("a packet of type 0x%02x instead of a login", byte(m.kind))
	}
	l, err := parseLogin(m.payload)
	if err != nil {
		return err
	}
	refused, err := c.welcome(ctx, &l)
	if err != nil {
		if c.session != nil {
			c.session.Close()
		}
		return fmt.Errorf("wire: answer a login: %w", err)
	}
	if refused {
		return errRefused
	}
	return nil
}

// prelogin answers a PRELOGIN and does what it has come to.
func (c *conn) prelogin(ctx context.Context, payload []byte) error {
	asked, err := parsePrelogin(payload)
	if err != nil {
		return err
	}
	wish := byte(encryptUnsupported)
	if option := asked[preloginEncryption]; len(option) > 0 {
		wish = option[0]
	}
	answer, loginOnly, all, refuse := negotiate(c.server.options.Encryption, wish)
	if c.encrypted { // as a whole; there is nothing to negotiate
		answer, loginOnly, all, refuse = encryptAll, false, false, false
	}
	c.out.body = appendPrelogin(c.out.body, c.server.options.Version, answer, asked)
	if err := c.out.finish(); err != nil {
		return err
	}
	switch {
	case refuse:
		return errRefused
	case !loginOnly && !all:
		return nil
	}
	encrypted, err := c.startTLS(ctx)
	if err != nil {
		return err
	}
	if loginOnly {
		return c.onlyFirstPacket(encrypted)
	}
	c.use(encrypted)
	return nil
}
