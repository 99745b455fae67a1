package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// maxLogin is the greatest length of a PRELOGIN or LOGIN7.
const maxLogin = 128 << 10

// login is a LOGIN7.
type login struct {
	request.Login
	version    uint32
	integrated bool // the operating system is to vouch for the user
	federated  bool // somebody else is
	newPass    bool
	features   map[byte]bool // nil if the client doesn't know of features
}

// The bits of a LOGIN7's flags.
const (
	loginIntegrated     = 0x80 // flags 2
	loginReadOnly       = 0x20 // type flags
	loginChangePassword = 0x01 // flags 3
	loginExtension      = 0x10 // flags 3
)

// The features that the server looks at.
const (
	featureFederated = 0x02
	featureUTF8      = 0x0A
	featureEnd       = 0xFF
)

// parseLogin reads a LOGIN7.
func parseLogin(payload []byte) (l login, err error) {
	c := newCursor(payload)
	size := int(c.uint32())
	l.version = c.uint32()
	l.PacketSize = int(int32(c.uint32()))
	c.take(3 * 4) // the versions of the client's program, its process, its connection
	c.take(1)
	flags2, typeFlags, flags3 := c.byte(), c.byte(), c.byte()
	c.take(4 + 4) // the time zone and the locale
	l.integrated = flags2&loginIntegrated != 0
	l.ReadOnlyIntent = typeFlags&loginReadOnly != 0
	l.newPass = flags3&loginChangePassword != 0
	if c.err == nil && size > len(payload) {
		return login{}, malformed("a login of %d bytes says that it has %d", len(payload), size)
	}
	// A place is an offset and a length, which counts UTF-16 units but for extensions and tickets.
	place := func(unit int) []byte {
		at, n := int(c.uint16()), unit*int(c.uint16())
		if n == 0 {
			return nil
		}
		if at+n > len(payload) {
			c.fail("a text of a login lies outside of it")
			return nil
		}
		return payload[at : at+n]
	}
	text := func() string { return value.DecodeUTF16(place(2)) }
	l.HostName, l.User = text(), text()
	l.Password = value.DecodeUTF16(revealPassword(place(2)))
	l.AppName, l.ServerName = text(), text()
	extension := place(1)
	l.LibraryName, l.Language, l.Database = text(), text(), text()
	if c.err != nil {
		return login{}, c.err
	}
	if flags3&loginExtension != 0 {
		if len(extension) < 4 {
			return login{}, malformed("a login without the extension that it announces")
		}
		at := binary.LittleEndian.Uint32(extension)
		if uint64(at) > uint64(len(payload)) {
			return login{}, malformed("the features of a login lie outside of it")
		}
		if l.features, err = parseFeatures(payload[at:]); err != nil {
			return login{}, err
		}
		l.federated = l.features[featureFederated]
	}
	return l, nil
}

// parseFeatures reads which features a client asks for.
func parseFeatures(b []byte) (map[byte]bool, error) {
	features := map[byte]bool{}
	for c := newCursor(b); ; {
		id := c.byte()
		if c.err != nil {
			return nil, c.err
		}
		if id == featureEnd {
			return features, nil
		}
		c.take(int(int32(c.uint32())))
		features[id] = true
	}
}

// revealPassword undoes what keeps a password from being read over somebody's shoulder: its half bytes are swapped and
// some bits turned.
func revealPassword(b []byte) []byte {
	plain := make([]byte, len(b))
	for i, x := range b {
		x ^= 0xA5
		plain[i] = x<<4 | x>>4
	}
	return plain
}

// refuse says why the server takes such a login from nobody; nil if it might take it.
func (l *login) refuse() *fault.Error {
	switch {
	case l.integrated, l.federated:
		return fault.New(18452)
	case l.Language != "" && !strings.EqualFold(l.Language, "us_english") && !strings.EqualFold(l.Language, "English"):
		return unsupported("the language %s", l.Language)
	case l.newPass:
		return unsupported("changing a password with a login")
	case l.version < version72 && l.version != version80:
		return unsupported("TDS before version 7.2 (the client's is 0x%08X)", l.version)
	default:
		return nil
	}
}

// acknowledged is the version that a client is told to speak: its own, if the server knows it, or the next older one.
func acknowledged(version uint32) uint32 {
	for _, known := range []uint32{version74, version73B, version73} {
		if version == version80 || version >= known {
			return choose(version == version80, version80, known)
		}
	}
	return version72
}

// welcome opens the session of a login and answers it. refused says that the answer was no.
func (c *conn) welcome(ctx context.Context, l *login) (refused bool, err error) {
	refusal := l.refuse()
	l.Encrypted = c.encrypted
	if refusal == nil {
		c.session, err = c.server.handler.Open(ctx, l.Login)
		if err != nil && !errors.As(err, &refusal) {
			refusal = internalError(err)
		}
	}
	o := &c.server.options
	if refusal != nil {
		return true, errors.Join(c.sink.Error(refusal), c.sink.end("", false))
	}
	c.client = client{version: acknowledged(l.version), utf8: l.features[featureUTF8]}
	c.sink.client = c.client
	language := l.Language
	if language == "" {
		language = "us_english"
	}
	body := appendEnvironment(c.out.body, envDatabase, c.session.Database(), "master")
	body = appendMessage(body, fault.New(5701, c.session.Database()), o.ServerName)
	collation := encodeCollation(o.Collation)
	body = appendBinaryEnvironment(body, envCollation, collation[:], nil)
	body = appendEnvironment(body, envLanguage, language, "")
	body = appendMessage(body, fault.New(5703, language), o.ServerName)
	body = appendLoginAck(body, c.client.version, o.ProgramName, o.Version)
	size := c.packetSize(l.PacketSize)
	body = appendEnvironment(body, envPacketSize, strconv.Itoa(size), strconv.Itoa(defaultPacket))
	if l.features != nil {
		body = appendFeatures(body, l.features)
	}
	c.out.body = body
	c.out.size = min(size, defaultPacket) // what is more counts from the next response on
	err = c.sink.end("", false)
	c.out.size = size
	return false, err
}

// packetSize is the size of packets for a client that asks for one. TLS has room for less than TDS.
func (c *conn) packetSize(asked int) int {
	limit := maxPacket
	if c.encrypted {
		limit = 16383
	}
	if asked == 0 {
		return defaultPacket
	}
	return min(max(asked, minPacket), limit)
}

// appendFeatures answers which of the features the server has.
func appendFeatures(dst []byte, asked map[byte]bool) []byte {
	dst = append(dst, tokenFeatures)
	if asked[featureUTF8] {
		dst = append(dst, featureUTF8, 1, 0, 0, 0, 1)
	}
	return append(dst, featureEnd)
}
