package tdsproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Type is the type of a packet that a client sends (MS-TDS 2.2.3.1.1).
type Type byte

// The types that are requests. Whatever else a client sends belongs to its login.
const (
	Batch       Type = 0x01
	RPC         Type = 0x03
	Attention   Type = 0x06
	BulkLoad    Type = 0x07
	Transaction Type = 0x0E
)

// String is the type's name, for messages.
func (t Type) String() string {
	switch t {
	case Batch:
		return "batch"
	case RPC:
		return "RPC"
	case Attention:
		return "attention"
	case BulkLoad:
		return "bulk load"
	case Transaction:
		return "transaction"
	default:
		return fmt.Sprintf("type 0x%02x", byte(t))
	}
}

func (t Type) isRequest() bool {
	switch t {
	case Batch, RPC, Attention, BulkLoad, Transaction:
		return true
	default:
		return false
	}
}

const (
	packetHeader = 8
	recordHeader = 5

	// The bits of a packet's status (MS-TDS 2.2.3.1.2).
	endOfMessage     = 0x01
	resetConnection  = 0x08
	resetKeepingTran = 0x10
)

// packet is a TDS packet, or a TLS record of a login that is encrypted. The records stand on the wire without a TDS
// header of their own; their first byte, 0x14 to 0x17, is no TDS type.
type packet []byte

func (p packet) isTLS() bool       { return isRecord(p[0]) }
func (p packet) kind() Type        { return Type(p[0]) }
func (p packet) last() bool        { return p.isTLS() || p[1]&endOfMessage != 0 }
func (p packet) payload() []byte   { return p[packetHeader:] }
func (p packet) isRequest() bool   { return !p.isTLS() && p.kind().isRequest() }
func (p packet) resets() bool      { return p[1]&(resetConnection|resetKeepingTran) != 0 }
func isRecord(firstByte byte) bool { return firstByte >= 0x14 && firstByte <= 0x17 }

// errFraming is a stream that is not TDS.
var errFraming = errors.New("tdsproxy: not a TDS packet")

// readPacket reads the next packet or TLS record. At the end of the stream the error is io.EOF, in the middle of a
// packet io.ErrUnexpectedEOF.
func readPacket(r io.Reader) (packet, error) {
	header := make([]byte, recordHeader, packetHeader)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	if isRecord(header[0]) {
		return readRest(r, header, recordHeader+int(binary.BigEndian.Uint16(header[3:])))
	}
	length := int(binary.BigEndian.Uint16(header[2:]))
	if length < packetHeader {
		return nil, fmt.Errorf("%w: type 0x%02x says it is %d bytes long", errFraming, header[0], length)
	}
	return readRest(r, header, length)
}

// readRest reads on until the packet that begins with start is complete.
func readRest(r io.Reader, start []byte, length int) (packet, error) {
	whole := make(packet, length)
	n := copy(whole, start)
	if _, err := io.ReadFull(r, whole[n:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the header was there
		}
		return nil, err
	}
	return whole, nil
}

// readMessage reads packets up to the one that ends a message. bytes are all of them with their headers, payload is
// what they carry.
func readMessage(r io.Reader, first packet) (bytes, payload []byte, err error) {
	for p := first; ; {
		bytes = append(bytes, p...)
		payload = append(payload, p.payload()...)
		if p.last() {
			return bytes, payload, nil
		}
		if p, err = readPacket(r); err != nil {
			return nil, nil, err
		}
		if p.isTLS() || p.kind() != first.kind() {
			return nil, nil, fmt.Errorf("%w: type 0x%02x within a message of type 0x%02x", errFraming, p[0], first[0])
		}
	}
}
