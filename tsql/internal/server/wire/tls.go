package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// selfSigned returns a new certificate that nobody vouches for.
func selfSigned(name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("wire: key of the certificate: %w", err)
	}
	const day = 24 * time.Hour
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-day),
		NotAfter:     time.Now().Add(365 * day),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("wire: certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// tlsHandshake is the first byte of a TLS connection, and no type of a packet.
const tlsHandshake = 0x16

// transport is a connection whose way in and out can be replaced under a TLS connection that uses it.
type transport struct {
	net.Conn
	in  io.Reader
	out io.Writer
}

// Read reads from where the transport reads at the moment.
func (t *transport) Read(b []byte) (int, error) { return t.in.Read(b) }

// Write writes to where the transport writes at the moment.
func (t *transport) Write(b []byte) (int, error) { return t.out.Write(b) }

// handshake carries TLS inside of PRELOGIN packets, which is how TDS 7 begins to encrypt. What is written in one go is
// one message: clients expect no more until they have answered.
type handshake struct {
	packets *packetReader
	out     *packetWriter
	rest    []byte // of the message that is being read
}

// Read returns what the client has sent. Before it waits, it sends what was written.
func (h *handshake) Read(b []byte) (int, error) {
	if len(h.rest) == 0 {
		if err := h.flush(); err != nil {
			return 0, err
		}
		m, err := h.packets.next(nil, maxLogin)
		if err != nil {
			return 0, err
		}
		if m.kind != packetPrelogin {
			return 0, malformed("a packet of type 0x%02x instead of a TLS handshake", byte(m.kind))
		}
		h.rest = m.payload
	}
	n := copy(b, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

// Write keeps what is to be sent.
func (h *handshake) Write(b []byte) (int, error) {
	h.out.body = append(h.out.body, b...)
	return len(b), nil
}

// flush sends what was written.
func (h *handshake) flush() error {
	if h.out.buffered() == 0 {
		return nil
	}
	return h.out.finish()
}

// records reads TLS records from a stream, and never more than the one that is asked for: what comes after the last one
// may not be encrypted.
type records struct {
	r    *bufio.Reader
	left int // of the record
}

// Read reads from one record.
func (r *records) Read(b []byte) (int, error) {
	const recordHeader = 5
	if r.left == 0 {
		head, err := r.r.Peek(recordHeader)
		if err != nil {
			return 0, err
		}
		r.left = recordHeader + int(binary.BigEndian.Uint16(head[3:]))
	}
	n, err := r.r.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

// startTLS encrypts a connection, beginning inside of packets.
func (c *conn) startTLS(ctx context.Context) (*tls.Conn, error) {
	certificate, err := c.server.certificate()
	if err != nil {
		return nil, err
	}
	h := &handshake{packets: &c.in, out: newPacketWriter(c.raw, packetPrelogin)}
	h.out.size = minPacket // the client may have room for no more
	t := &transport{Conn: c.raw, in: h, out: h}
	// TLS 1.3 sends tickets after the handshake, for which there is no place in TDS 7.
	encrypted := tls.Server(t, &tls.Config{ //nolint:gosec // G402: see above
		Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
		SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
	})
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("wire: TLS handshake: %w", err)
	}
	if err := h.flush(); err != nil {
		return nil, err
	}
	t.in, t.out = &records{r: c.buffered}, c.raw
	return encrypted, nil
}

// startStrict encrypts a connection from its first byte on, as TDS 8 does.
func (c *conn) startStrict(ctx context.Context) error {
	certificate, err := c.server.certificate()
	if err != nil {
		return err
	}
	encrypted := tls.Server(&transport{Conn: c.raw, in: c.buffered, out: c.raw}, &tls.Config{
		Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"tds/8.0"},
	})
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("wire: TLS handshake: %w", err)
	}
	c.use(encrypted)
	return nil
}

// onlyFirstPacket reads the first packet of a login from an encrypted connection. What follows is not encrypted.
func (c *conn) onlyFirstPacket(encrypted io.Reader) error {
	var scratch [headerSize]byte
	h, err := readHeader(encrypted, &scratch)
	if err != nil {
		return err
	}
	packet, err := readInto(encrypted, scratch[:], h.size)
	if err != nil {
		return err
	}
	c.in.r = io.MultiReader(bytes.NewReader(packet), c.buffered)
	return nil
}
