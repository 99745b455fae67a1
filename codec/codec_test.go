package codec_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/codec"
)

func key(id string) codec.Key {
	return codec.Key{ID: id, Secret: []byte(strings.Repeat(id[:1], 32))}
}

func keyring(t *testing.T, current codec.Key, others ...codec.Key) *codec.Keyring {
	t.Helper()
	k, err := codec.NewKeyring(current, others...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newCodec(t *testing.T, stages ...codec.Stage) *codec.Codec {
	t.Helper()
	c, err := codec.New(stages...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encode(t *testing.T, c *codec.Codec, text string) string {
	t.Helper()
	encoded, err := c.Encode(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func expectDecoded(t *testing.T, c *codec.Codec, encoded, want string) {
	t.Helper()
	if got, err := c.Decode(t.Context(), encoded); err != nil || got != want {
		t.Fatalf("decoded %q to %q, %v; want %q", encoded, got, err, want)
	}
}

// Whatever text is encoded, Decode gives it back: by each combination of stages, by none,
// and by a codec that only reads.
func TestEveryTextComesBack(t *testing.T) {
	t.Parallel()
	keys := keyring(t, key("a"))
	blobs := codec.Directory(t.TempDir())
	codecs := []*codec.Codec{
		nil, newCodec(t), newCodec(t, codec.Compress(0)), newCodec(t, codec.Encrypt(keys)),
		newCodec(t, codec.Compress(20), codec.Encrypt(keys), codec.Offload(blobs, 100)),
		newCodec(t, codec.Encrypt(keys)).ReadOnly(),
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(codecs).Draw(rt, "codec")
		text := rapid.OneOf(rapid.String(),
			rapid.StringMatching(`duroxide-codec:([a-z+]{0,5}:)?.{0,10}`),
			rapid.StringMatching(`(word ){0,200}`)).Draw(rt, "text")
		encoded, err := c.Encode(t.Context(), text)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := c.Decode(t.Context(), encoded); err != nil || got != text {
			rt.Fatalf("%q came back from %q as %q, %v", text, encoded, got, err)
		}
	})
}

// A payload that is encoded twice looks different and tells nothing; its form is the one
// that the documents give.
func TestEncryptedText(t *testing.T) {
	t.Parallel()
	c := newCodec(t, codec.Encrypt(keyring(t, key("a"))))
	one, two := encode(t, c, "hello"), encode(t, c, "hello")
	if one == two || strings.Contains(one, "hello") || !strings.HasPrefix(one, "duroxide-codec:aes-gcm:") || !codec.Encoded(one) {
		t.Fatalf("encoded as %q and %q", one, two)
	}
	if empty := encode(t, c, ""); !codec.Encoded(empty) {
		t.Fatalf("the empty text is encoded as %q", empty)
	}
	// The codec of [codec.ReadOnly] reads what the other writes and leaves texts plain.
	expectDecoded(t, c.ReadOnly(), one, "hello")
	if plain := encode(t, c.ReadOnly(), "hello"); plain != "hello" {
		t.Fatalf("a codec that only reads has encoded %q", plain)
	}
	// Plain payloads are decoded as they are.
	expectDecoded(t, c, "plain", "plain")
}

// Keys change while a codec is used: what was encrypted before stays readable as long as its
// key is there, and is readable again when it is back.
func TestRotation(t *testing.T) {
	t.Parallel()
	keys := keyring(t, key("old"))
	c := newCodec(t, codec.Encrypt(keys))
	before := encode(t, c, "x")
	if err := keys.Set(key("new"), key("old")); err != nil {
		t.Fatal(err)
	}
	after := encode(t, c, "x")
	expectDecoded(t, c, before, "x")
	expectDecoded(t, newCodec(t, codec.Encrypt(keyring(t, key("new")))), after, "x")
	if err := keys.Set(key("new")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Decode(t.Context(), before)
	if !errors.Is(err, codec.ErrUnknownKey) || !errors.Is(err, codec.ErrNotDecoded) || !strings.Contains(err.Error(), `"old"`) {
		t.Fatalf("without its key: %v", err)
	}
	// A set of keys that is refused changes nothing.
	for _, keep := range [][]codec.Key{
		{{ID: "short", Secret: []byte("1")}},
		{{Secret: make([]byte, 32)}},
		{key("a"), key("a")},
		{{ID: strings.Repeat("x", 256), Secret: make([]byte, 32)}},
	} {
		if err := keys.Set(keep[0], keep[1:]...); err == nil {
			t.Errorf("%v was accepted", keep)
		}
	}
	expectDecoded(t, c, after, "x")
}

// What cannot be decoded is ErrNotDecoded and says why, and no error quotes a payload.
func TestNotDecoded(t *testing.T) {
	t.Parallel()
	const secret = "secret-4711"
	dir := t.TempDir()
	keys := keyring(t, key("a"))
	plain, sealed := newCodec(t, codec.Compress(0)), newCodec(t, codec.Encrypt(keys))
	away := newCodec(t, codec.Offload(codec.Directory(dir), 0))
	otherSecret := key("a")
	otherSecret.Secret = []byte(strings.Repeat("z", 32))
	encrypted, blob := encode(t, sealed, secret), encode(t, away, secret)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		codec *codec.Codec
		text  string
		says  string
	}{
		"no codec":          {nil, encrypted, "none is set"},
		"no such stage":     {plain, encrypted, `"aes-gcm"`},
		"wrong secret":      {newCodec(t, codec.Encrypt(keyring(t, otherSecret))), encrypted, `key "a"`},
		"cut off":           {sealed, "duroxide-codec:aes-gcm:", "cut off"},
		"no colon":          {sealed, "duroxide-codec:aes-gcm", "damaged"},
		"no base64":         {sealed, "duroxide-codec:aes-gcm:*", "damaged"},
		"changed":           {sealed, encrypted[:len(encrypted)-2] + "AA", `key "a"`},
		"renamed key":       {sealed, renamed(t, encrypted), "not in the keyring"},
		"blob gone":         {away, blob, "blob"},
		"no deflated data":  {plain, "duroxide-codec:deflate:AAAA", "deflate"},
		"no name of a blob": {away, "duroxide-codec:blob:AAAA", "damaged"},
	} {
		got, err := c.codec.Decode(t.Context(), c.text)
		if !errors.Is(err, codec.ErrNotDecoded) || got != "" || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := away.Encode(t.Context(), secret); !errors.Is(err, codec.ErrNotEncoded) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the directory: %v", err)
	}
}

// odd is a stage of a user, of which one call goes wrong.
type odd struct {
	encode, decode func(data []byte) ([]byte, error)
}

func (odd) Name() string { return "odd" }

func (o odd) Encode(_ context.Context, data []byte) ([]byte, error) { return o.encode(data) }

func (o odd) Decode(_ context.Context, data []byte) ([]byte, error) { return o.decode(data) }

// A stage that panics, ends its goroutine or never returns costs its payload and nothing else.
func TestStagesThatDoNotReturn(t *testing.T) {
	t.Parallel()
	same := func(data []byte) ([]byte, error) { return data, nil }
	release := make(chan struct{})
	defer close(release)
	for says, wrong := range map[string]func(data []byte) ([]byte, error){
		"panicked with a string at": func(data []byte) ([]byte, error) { panic("cannot take " + string(data)) },
		"runtime.Goexit":            func([]byte) ([]byte, error) { runtime.Goexit(); return nil, nil },
		"does not return":           func([]byte) ([]byte, error) { <-release; return nil, nil },
	} {
		ctx := t.Context()
		if says == "does not return" {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			ctx = ended
		}
		text := encode(t, newCodec(t, odd{same, same}), "secret")
		_, err := newCodec(t, odd{same, wrong}).Decode(ctx, text)
		if !errors.Is(err, codec.ErrNotDecoded) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("decoding: %v", err)
		}
		_, err = newCodec(t, odd{wrong, same}).Encode(ctx, "secret")
		if !errors.Is(err, codec.ErrNotEncoded) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("encoding: %v", err)
		}
	}
}

// renamed gives an encrypted payload another key's id.
func renamed(t *testing.T, encrypted string) string {
	t.Helper()
	const head = "duroxide-codec:aes-gcm:"
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(encrypted, head))
	if err != nil {
		t.Fatal(err)
	}
	data[1] = 'b'
	return head + base64.RawURLEncoding.EncodeToString(data)
}

// A blob with other data under its name is refused.
func TestChangedBlob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newCodec(t, codec.Offload(codec.Directory(dir), 3))
	if short := encode(t, c, "abc"); short != "abc" {
		t.Errorf("a payload of the limit is encoded as %q", short)
	}
	encoded := encode(t, c, "abcd")
	expectDecoded(t, c, encoded, "abcd")
	if again := encode(t, c, "abcd"); again != encoded {
		t.Errorf("the same payload is %q and %q", encoded, again)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the blobs are %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("abcx"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Decode(t.Context(), encoded); !errors.Is(err, codec.ErrNotDecoded) || !strings.Contains(err.Error(), "has changed") {
		t.Fatalf("decoded %q, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Encode(ended, "abcd"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
}

// Compress leaves alone what is short, and what gets no smaller.
func TestCompress(t *testing.T) {
	t.Parallel()
	c := newCodec(t, codec.Compress(100))
	long := strings.Repeat("word ", 1000)
	if encoded := encode(t, c, long); len(encoded) > len(long)/10 {
		t.Errorf("%d bytes are encoded as %d", len(long), len(encoded))
	}
	for _, same := range []string{strings.Repeat("a", 100), encode(t, newCodec(t, codec.Encrypt(keyring(t, key("a")))), "x")[len("duroxide-codec:"):]} {
		if encoded := encode(t, c, same); encoded != same {
			t.Errorf("%q is encoded as %q", same, encoded)
		}
	}
}

type named string

func (n named) Name() string                                           { return string(n) }
func (named) Encode(context.Context, []byte) ([]byte, error)           { return nil, nil }
func (named) Decode(_ context.Context, encoded []byte) ([]byte, error) { return encoded, nil }

// A stage's name is a part of the encoded text, so New refuses what would not be found again.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, names := range [][]codec.Stage{{named("")}, {named("a:b")}, {named("a+b")}, {named("A")}, {named("a"), named("b"), named("a")}} {
		if _, err := codec.New(names...); err == nil {
			t.Errorf("%q was accepted", names)
		}
	}
	if _, err := codec.New(named("a-1"), named("b")); err != nil {
		t.Error(err)
	}
}

// Formatting a key shows its id and not its secret.
func TestKeysKeepTheirSecret(t *testing.T) {
	t.Parallel()
	k := codec.Key{ID: "k1", Secret: []byte("0123456789abcdef")}
	for _, format := range []string{"%v", "%+v", "%s", "%#v", "%q"} {
		if text := fmt.Sprintf(format, k); strings.Contains(text, "0123") || strings.Contains(text, "48") || !strings.Contains(text, "k1") {
			t.Errorf("%s: %s", format, text)
		}
	}
}

// A keyring that never got a key encrypts and decrypts nothing, and says so.
func TestKeyringWithoutKeys(t *testing.T) {
	t.Parallel()
	encrypted := encode(t, newCodec(t, codec.Encrypt(keyring(t, key("a")))), "text")
	for name, keys := range map[string]*codec.Keyring{"zero": {}, "nil": nil} {
		c := newCodec(t, codec.Encrypt(keys))
		if _, err := c.Encode(t.Context(), "text"); !errors.Is(err, codec.ErrNotEncoded) || !strings.Contains(err.Error(), "has no key") {
			t.Errorf("%s: encoding: %v", name, err)
		}
		if _, err := c.Decode(t.Context(), encrypted); !errors.Is(err, codec.ErrUnknownKey) {
			t.Errorf("%s: decoding: %v", name, err)
		}
	}
}

// No codec is a codec that leaves payloads plain, also one that only reads.
func TestNoCodecReadsPlainPayloads(t *testing.T) {
	t.Parallel()
	var none *codec.Codec
	expectDecoded(t, none.ReadOnly(), encode(t, none.ReadOnly(), "text"), "text")
}
