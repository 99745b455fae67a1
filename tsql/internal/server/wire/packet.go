package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// packetType is the type of a packet, and of the message that it is a part of.
type packetType byte

// The types of packets.
const (
	packetBatch       packetType = 0x01
	packetRPC         packetType = 0x03
	packetReply       packetType = 0x04
	packetAttention   packetType = 0x06
	packetBulkLoad    packetType = 0x07
	packetTransaction packetType = 0x0E
	packetLogin       packetType = 0x10
	packetPrelogin    packetType = 0x12
)

// The bits of a packet's status.
const (
	statusLast           = 0x01 // of the message
	statusIgnore         = 0x02 // of the last packet: the client takes the message back
	statusReset          = 0x08 // of the first packet: the session is to be reset
	statusResetKeepsTran = 0x10 // as statusReset, but the transaction stays
)

const (
	headerSize = 8
	// defaultPacket is the size of packets until a login has negotiated another one.
	defaultPacket = 4096
	minPacket     = 512
	maxPacket     = 32767
)

// errMalformed is input that is not TDS. It ends the connection.
var errMalformed = errors.New("wire: malformed input")

// malformed is an errMalformed with the reason.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

// message is what a client has sent in one or several packets.
type message struct {
	kind    packetType
	status  byte // of the first packet
	payload []byte
}

// resets reports whether the session is to be reset before the message is looked at.
func (m message) resets() (reset, keepTransaction bool) {
	keepTransaction = m.status&statusResetKeepsTran != 0
	return keepTransaction || m.status&statusReset != 0, keepTransaction
}

// header is that of a packet.
type header struct {
	kind   packetType
	status byte
	size   int // of the payload
}

// readHeader reads the header of the next packet. The error is io.EOF between packets only.
func readHeader(r io.Reader, scratch *[headerSize]byte) (header, error) {
	if _, err := io.ReadFull(r, scratch[:]); err != nil {
		return header{}, err
	}
	size := int(binary.BigEndian.Uint16(scratch[2:]))
	if size < headerSize || size > maxPacket {
		return header{}, malformed("a packet of type 0x%02x says that it has %d bytes", scratch[0], size)
	}
	return header{kind: packetType(scratch[0]), status: scratch[1], size: size - headerSize}, nil
}

// packetReader puts messages together.
type packetReader struct {
	r       io.Reader
	scratch [headerSize]byte
}

// next reads the next message, of at most limit bytes, into buffer, which grows with what has arrived. An attention in
// the middle of a message cancels it, and so does the client's taking it back: then the message that is returned is the
// attention, or the one after it.
func (p *packetReader) next(buffer []byte, limit int) (message, error) {
	m := message{payload: buffer[:0]}
	for first := true; ; {
		h, err := readHeader(p.r, &p.scratch)
		if err != nil {
			if errors.Is(err, io.EOF) && !first {
				err = io.ErrUnexpectedEOF
			}
			return message{}, err
		}
		switch {
		case first:
			m.kind, m.status = h.kind, h.status
		case h.kind == packetAttention:
			m.kind, m.status, m.payload = h.kind, h.status, m.payload[:0]
		case h.kind != m.kind:
			return message{}, malformed("a packet of type 0x%02x within a message of type 0x%02x", byte(h.kind), byte(m.kind))
		}
		first = false
		if len(m.payload)+h.size > limit {
			return message{}, malformed("a message of more than %d bytes", limit)
		}
		if m.payload, err = readInto(p.r, m.payload, h.size); err != nil {
			return message{}, err
		}
		if h.status&statusLast == 0 {
			continue
		}
		if h.status&statusIgnore == 0 || m.kind == packetAttention {
			return m, nil
		}
		first, m.payload = true, m.payload[:0]
	}
}

// readInto appends the next n bytes to buffer. n is at most that of a packet, so that growing is bounded by what
// arrives.
func readInto(r io.Reader, buffer []byte, n int) ([]byte, error) {
	at := len(buffer)
	if cap(buffer)-at < n {
		grown := make([]byte, at, max(2*cap(buffer), at+n))
		copy(grown, buffer)
		buffer = grown
	}
	buffer = buffer[:at+n]
	if _, err := io.ReadFull(r, buffer[at:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return buffer[:at], err
	}
	return buffer, nil
}

// packetWriter splits what it is given into packets. Tokens are appended to body, which begins with room for the header
// of a packet: a response that fits one packet is written as it stands.
type packetWriter struct {
	w    io.Writer
	kind packetType
	size int // of packets
	body []byte
	// number counts the packets of the message.
	number byte
	frames []byte
}

// framesSize is how much is written at once, roughly.
const framesSize = 64 << 10

func newPacketWriter(w io.Writer, kind packetType) *packetWriter {
	return &packetWriter{w: w, kind: kind, size: defaultPacket, body: make([]byte, headerSize, defaultPacket), number: 1}
}

// buffered is how many bytes wait to be written.
func (p *packetWriter) buffered() int { return len(p.body) - headerSize }

// finish writes all that waits, and ends the message.
func (p *packetWriter) finish() error {
	defer func() { p.number = 1 }()
	if len(p.body) <= p.size {
		p.header(p.body, statusLast)
		_, err := p.w.Write(p.body)
		p.reuse()
		return err
	}
	return p.split(true)
}

// full reports whether flush has something to write.
func (p *packetWriter) full() bool { return len(p.body) > p.size }

// flush writes the packets that are full. Something is left for the last one, however much waits.
func (p *packetWriter) flush() error { return p.split(false) }

// split writes what waits in packets.
func (p *packetWriter) split(last bool) error {
	rest, room := p.body[headerSize:], p.size-headerSize
	p.frames = p.frames[:0]
	for len(rest) > room {
		p.frame(rest[:room], 0)
		rest = rest[room:]
		if len(p.frames) >= framesSize {
			if err := p.drain(); err != nil {
				return err
			}
		}
	}
	if last {
		p.frame(rest, statusLast)
		rest = nil
	}
	if err := p.drain(); err != nil {
		return err
	}
	left := len(rest)
	copy(p.body[headerSize:], rest)
	p.reuse()
	p.body = p.body[:headerSize+left]
	return nil
}

// frame adds a packet to those that are about to be written.
func (p *packetWriter) frame(payload []byte, status byte) {
	at := len(p.frames)
	p.frames = append(p.frames, make([]byte, headerSize)...)
	p.frames = append(p.frames, payload...)
	p.header(p.frames[at:], status)
}

// drain writes the packets that stand ready.
func (p *packetWriter) drain() error {
	_, err := p.w.Write(p.frames)
	p.frames = p.frames[:0]
	return err
}

// header fills in the header of a packet.
func (p *packetWriter) header(packet []byte, status byte) {
	packet[0], packet[1] = byte(p.kind), status
	binary.BigEndian.PutUint16(packet[2:], uint16(len(packet)))
	packet[4], packet[5], packet[6], packet[7] = 0, 0, p.number, 0
	p.number++
}

// reuse empties the body. Memory that a large response has taken goes back.
func (p *packetWriter) reuse() {
	const keep = 256 << 10
	if cap(p.body) > keep {
		p.body = append(make([]byte, 0, keep), p.body[:min(len(p.body), maxPacket)]...)
	}
	p.body = p.body[:headerSize]
}
