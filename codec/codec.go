// Package codec changes payloads before they go to the store: it compresses them, encrypts them, or keeps them
// elsewhere.
//
//	keys, err := codec.NewKeyring(codec.Key{ID: "2026-11", Secret: secret})
//	if err != nil {
//		return err
//	}
//	c, err := codec.New(codec.Compress(1024), codec.Encrypt(keys))
//	if err != nil {
//		return err
//	}
//	w, err := worker.New(store, worker.Options{Codec: c})
//	cl := client.New(store, client.Options{Codec: c})
//
// Orchestrations and activities see plain payloads. The store, its tools and whoever can
// read its database see encoded ones. Payloads are inputs, results, the data of events and
// messages, custom statuses, the values of keys, the reason of a cancellation, and the text
// and details of a failure. Names and ids stay readable: those of instances,
// orchestrations, activities, events, queues, keys, sessions and tags, and the kind of a
// failure.
//
// All workers and clients of a store need the same codec. A worker that cannot decode a payload, or has no codec,
// does not fail the instance: it gives the work back, logs the reason and tries again later. A client returns
// [ErrNotDecoded]. Plain payloads are decoded as they are. To introduce a codec to a store that is in use, first give
// all workers and clients its [Codec.ReadOnly], then the codec itself. A runtime in another language sees an encoded
// payload as a string.
package codec

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Why a payload was not encoded or decoded. Match them with errors.Is. No error quotes a payload.
var (
	// ErrNotEncoded is matched by every error of [Codec.Encode].
	ErrNotEncoded = errors.New("a payload cannot be encoded")
	// ErrNotDecoded is matched by every error of [Codec.Decode].
	ErrNotDecoded = errors.New("a payload cannot be decoded")
)

// Stage is one step of a codec, such as [Compress]. It must be safe for concurrent use.
type Stage interface {
	// Name is stored in each payload that the stage has encoded. It consists of a-z, 0-9 and '-', and must not change
	// as long as such payloads exist.
	Name() string
	// Encode returns the encoded data, or nil to leave the data as it is. It must not modify the argument or quote it
	// in an error.
	Encode(ctx context.Context, data []byte) ([]byte, error)
	// Decode undoes Encode. If Encode or Decode panics, or does not return soon after the context has ended, the
	// payload counts as not encoded or not decoded.
	Decode(ctx context.Context, encoded []byte) ([]byte, error)
}

// Codec encodes payloads in one or more stages. It is safe for concurrent use. A nil Codec leaves payloads plain, and
// can decode only plain payloads.
type Codec struct {
	stages   []Stage
	readOnly bool
}

// New returns a codec that applies these stages in this order. Put [Compress] before [Encrypt], and Encrypt before
// [Offload]. Error: a stage has an invalid name, or two stages have the same name.
func New(stages ...Stage) (*Codec, error) {
	for i, stage := range stages {
		name := stage.Name()
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return nil, fmt.Errorf("a codec's stage has the name %q; it must consist of a-z, 0-9 and '-'", name)
		}
		if slices.ContainsFunc(stages[:i], func(s Stage) bool { return s.Name() == name }) {
			return nil, fmt.Errorf("two of a codec's stages have the name %q", name)
		}
	}
	return &Codec{stages: slices.Clone(stages)}, nil
}

// ReadOnly returns a codec that decodes as c does but leaves new payloads plain. Give it to all workers and clients
// before the first of them uses c.
func (c *Codec) ReadOnly() *Codec {
	if c == nil {
		return nil
	}
	return &Codec{stages: c.stages, readOnly: true}
}

// An encoded payload is the prefix, the names of the stages that have encoded it, in order
// and joined by '+', a colon, and the data in base64 (RFC 4648, URL alphabet, no padding).
const (
	prefix    = "duroxide-codec:"
	separator = "+"
)

var encoding = base64.RawURLEncoding

// Encoded reports whether a text has the form of an encoded payload.
func Encoded(text string) bool { return strings.HasPrefix(text, prefix) }

// Encode returns the payload in the form that goes to the store. [Codec.Decode] restores every text. Error:
// [ErrNotEncoded].
func (c *Codec) Encode(ctx context.Context, text string) (string, error) {
	if c == nil || c.readOnly || len(c.stages) == 0 {
		return plain(text), nil
	}
	data := []byte(text)
	var names []string
	for _, stage := range c.stages {
		encoded, err := run(ctx, stage, stage.Encode, data)
		if err != nil {
			return "", fmt.Errorf("%w: stage %q: %w", ErrNotEncoded, stage.Name(), err)
		}
		if encoded != nil {
			data, names = encoded, append(names, stage.Name())
		}
	}
	if names == nil {
		return plain(text), nil
	}
	return prefix + strings.Join(names, separator) + ":" + encoding.EncodeToString(data), nil
}

// plain is a text that no stage encodes. One that looks encoded is wrapped.
func plain(text string) string {
	if !Encoded(text) {
		return text
	}
	return prefix + ":" + encoding.EncodeToString([]byte(text))
}

// Decode returns the plain payload. A text that is not encoded is returned as it is. Error: [ErrNotDecoded], for
// example when the codec lacks a stage; it also matches [ErrUnknownKey] when the key is missing.
func (c *Codec) Decode(ctx context.Context, text string) (string, error) {
	if !Encoded(text) {
		return text, nil
	}
	names, encoded, ok := strings.Cut(text[len(prefix):], ":")
	data, err := encoding.DecodeString(encoded)
	if !ok || err != nil {
		return "", fmt.Errorf("%w: it is damaged", ErrNotDecoded)
	}
	for _, name := range slices.Backward(split(names)) {
		stage := c.stage(name)
		if stage == nil {
			return "", fmt.Errorf("%w: it was encoded by stage %q, which %s", ErrNotDecoded, name, c.lacks())
		}
		if data, err = run(ctx, stage, stage.Decode, data); err != nil {
			return "", fmt.Errorf("%w: stage %q: %w", ErrNotDecoded, name, err)
		}
	}
	return string(data), nil
}

func split(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, separator)
}

func (c *Codec) stage(name string) Stage {
	if c == nil {
		return nil
	}
	for _, stage := range c.stages {
		if stage.Name() == name {
			return stage
		}
	}
	return nil
}

func (c *Codec) lacks() string {
	if c == nil {
		return "needs a codec, and none is set"
	}
	return "this codec does not have"
}
