package wire

import (
	"encoding/binary"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// cursor reads what is in a message. The first error stays, and whatever is read after it is zero: a caller may look at
// the error once for several reads, but before it allocates or repeats anything by what it has read.
type cursor struct {
	rest []byte
	size int // of the whole message
	err  error
}

func newCursor(payload []byte) *cursor { return &cursor{rest: payload, size: len(payload)} }

// fail sets the error unless there is one.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = malformed(format, args...)
	}
	c.rest = nil
}

// done reports whether nothing is left, or an error has occurred.
func (c *cursor) done() bool { return len(c.rest) == 0 }

// take returns the next n bytes of the message itself, or nil if there are not as many.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.fail("%d bytes are wanted at offset %d of %d", n, c.size-len(c.rest), c.size)
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// text reads text of n UTF-16 units.
func (c *cursor) text(n int) string { return value.DecodeUTF16(c.take(2 * n)) }

// shortText reads a B_VARCHAR: text with its length in one byte.
func (c *cursor) shortText() string { return c.text(int(c.byte())) }

// longText reads a US_VARCHAR: text with its length in two bytes.
func (c *cursor) longText() string { return c.text(int(c.uint16())) }

// appendShortText writes a B_VARCHAR, cut off after 255 units.
func appendShortText(dst []byte, s string) []byte {
	at := len(dst)
	dst = value.EncodeUTF16(append(dst, 0), s)
	units := min((len(dst)-at-1)/2, 255)
	dst[at] = byte(units)
	return dst[:at+1+2*units]
}

// appendLongText writes a US_VARCHAR, cut off after limit units.
func appendLongText(dst []byte, s string, limit int) []byte {
	at := len(dst)
	dst = value.EncodeUTF16(append(dst, 0, 0), s)
	units := min((len(dst)-at-2)/2, limit)
	binary.LittleEndian.PutUint16(dst[at:], uint16(units))
	return dst[:at+2+2*units]
}
