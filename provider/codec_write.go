package provider

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// typicalSize holds most events without growing.
	typicalSize = 512
	// tailSize is what growing for a text leaves free behind it, for the few fields
	// that may follow a large payload: growing once more would copy it.
	tailSize = 128
)

// writer appends compact JSON to buf.
type writer struct {
	buf []byte
	err error
	// shortest is how long a text is at least to become apart; 0 for none.
	shortest int
	apart    *string
}

func newWriter() writer { return writer{buf: make([]byte, 0, typicalSize)} }

// finish returns the document or the error.
func (w *writer) finish() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.buf, nil
}

// unknown records that value is none of the contract's. Names of kinds are
// quoted; other values show only their type, as they may hold payloads.
func (w *writer) unknown(what string, value any) {
	switch v := value.(type) {
	case nil:
		w.err = fmt.Errorf("no %s: %w", what, ErrInvalidArgument)
	case string:
		w.err = fmt.Errorf("unknown %s %s: %w", what, shorten(v), ErrInvalidArgument)
	case AppErrorKind:
		w.err = fmt.Errorf("unknown %s %s: %w", what, shorten(string(v)), ErrInvalidArgument)
	default:
		w.err = fmt.Errorf("unknown %s of type %T (the contract's types are held by value): %w",
			what, value, ErrInvalidArgument)
	}
}

// maxNameLen bounds how much of an unknown name an error repeats.
const maxNameLen = 40

func shorten(name string) string {
	if len(name) > maxNameLen {
		return strconv.QuoteToASCII(name[:maxNameLen]) + "…"
	}
	return strconv.QuoteToASCII(name)
}

func (w *writer) raw(s string) { w.buf = append(w.buf, s...) }

// key begins a member. Keys are ours and need no escaping.
func (w *writer) key(key string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, key...)
	w.buf = append(w.buf, '"', ':')
}

func (w *writer) null(key string) {
	w.key(key)
	w.raw("null")
}

func (w *writer) number(n uint64) { w.buf = strconv.AppendUint(w.buf, n, 10) }

func (w *writer) flag(b bool) { w.buf = strconv.AppendBool(w.buf, b) }

func (w *writer) pairs(pairs []CarriedMessage) {
	w.raw("[")
	for i, pair := range pairs {
		if i > 0 {
			w.raw(",")
		}
		w.raw("[")
		w.text(pair.Name)
		w.raw(",")
		w.text(pair.Data)
		w.raw("]")
	}
	w.raw("]")
}

// text writes a string with the few escapes the contract asks for.
func (w *writer) text(s string) {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // each invalid byte becomes U+FFFD
	}
	s = w.leaveOut(s)
	buf := w.buf
	if cap(buf)-len(buf) < len(s)+len(`""`) {
		// A payload is often JSON itself, so quotes are worth counting.
		escapes := strings.Count(s, `"`) + strings.Count(s, `\`)
		buf = slices.Grow(buf, len(s)+escapes+tailSize)
	}
	buf = append(buf, '"')
	for {
		n := plainLen(s)
		buf = append(buf, s[:n]...)
		if n == len(s) {
			break
		}
		buf = appendEscape(buf, s[n])
		s = s[n+1:]
	}
	buf = append(buf, '"')
	w.buf = buf
}

func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	}
	const digits = "0123456789abcdef"
	return append(buf, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
}
