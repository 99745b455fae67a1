package codec

import (
	"bytes"
	"compress/flate"
	"context"
	"io"
	"sync"
)

// Compress returns a stage that compresses payloads of more than above bytes by DEFLATE, if
// that makes them smaller. The name is "deflate".
//
// The length of a compressed payload reveals something about its content, even if it is encrypted. Do not compress if
// an attacker can choose part of a payload and observe its size.
func Compress(above int) Stage { return compress{above: above} }

type compress struct{ above int }

// Name implements [Stage].
func (compress) Name() string { return "deflate" }

// deflaters are kept because each has large buffers.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // a level that exists is no error
	return w
}}

// Encode implements [Stage].
func (c compress) Encode(_ context.Context, data []byte) ([]byte, error) {
	if len(data) <= c.above {
		return nil, nil
	}
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer) //nolint:errcheck,forcetypeassert // only these
	defer deflaters.Put(w)
	w.Reset(&out)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if out.Len() >= len(data) {
		return nil, nil
	}
	return out.Bytes(), nil
}

// Decode implements [Stage].
func (compress) Decode(_ context.Context, encoded []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(encoded)))
}
