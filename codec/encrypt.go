package codec

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrUnknownKey reports a payload that was encrypted with a key that is not in the keyring.
var ErrUnknownKey = errors.New("the key is not in the keyring")

// Key is a secret with a name. Formatting it shows the name only.
type Key struct {
	// ID is stored in plain text in each payload that the key encrypts. It has 1 to 255 bytes. Never use an ID for
	// another secret.
	ID string
	// Secret has 16, 24 or 32 bytes, for AES-128, AES-192 or AES-256.
	Secret []byte
}

// String returns the id.
func (k Key) String() string { return "key " + k.ID }

// GoString returns the id.
func (k Key) GoString() string { return k.String() }

// Keyring holds the current key, which encrypts and decrypts, and other keys, which only decrypt. It is safe for
// concurrent use, so keys can change while workers run.
//
// To rotate keys, first add the new key beside the current one in all workers and clients. Then make it the current
// key in all of them. Keep the old key as long as payloads exist that it encrypted. Use a key for at most 2³²
// payloads.
type Keyring struct{ keys atomic.Pointer[ring] }

// ring is what a keyring holds at a time.
type ring struct {
	current string
	ciphers map[string]cipher.AEAD
}

// NewKeyring returns a keyring. Errors are those of [Keyring.Set].
func NewKeyring(current Key, others ...Key) (*Keyring, error) {
	k := &Keyring{}
	if err := k.Set(current, others...); err != nil {
		return nil, err
	}
	return k, nil
}

// Set replaces all keys: current encrypts, and all of them decrypt. Error: the id or the secret of a key has an
// invalid length, or two keys have the same id. The keys then stay as they are.
func (k *Keyring) Set(current Key, others ...Key) error {
	r := &ring{current: current.ID, ciphers: map[string]cipher.AEAD{}}
	for _, key := range append([]Key{current}, others...) {
		if key.ID == "" || len(key.ID) > 255 {
			return fmt.Errorf("the id of a key has %d bytes, it must have 1 to 255", len(key.ID))
		}
		if r.ciphers[key.ID] != nil {
			return fmt.Errorf("two keys have the id %q", key.ID)
		}
		block, err := aes.NewCipher(key.Secret)
		if err != nil {
			return fmt.Errorf("key %q: the secret has %d bytes, it must have 16, 24 or 32", key.ID, len(key.Secret))
		}
		if r.ciphers[key.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return fmt.Errorf("key %q: %w", key.ID, err)
		}
	}
	k.keys.Store(r)
	return nil
}

// ring is what the keyring holds now, nothing before the first Set.
func (k *Keyring) ring() *ring {
	if k != nil {
		if r := k.keys.Load(); r != nil {
			return r
		}
	}
	return &ring{}
}

// Encrypt returns a stage that encrypts payloads by AES-GCM with a random nonce. The name is "aes-gcm". It does not
// protect against replacement: whoever can write to the database can replace a payload by another encrypted payload
// or by a plain one. Changes within an encrypted payload are detected.
func Encrypt(keys *Keyring) Stage { return encrypt{keys: keys} }

type encrypt struct{ keys *Keyring }

// Name implements [Stage].
func (encrypt) Name() string { return "aes-gcm" }

// Encode implements [Stage]. The result is the length of the key's id in a byte, the id, and
// the sealed data; length and id are authenticated.
func (e encrypt) Encode(_ context.Context, data []byte) ([]byte, error) {
	r := e.keys.ring()
	aead := r.ciphers[r.current]
	if aead == nil {
		return nil, errors.New("the keyring has no key")
	}
	header := append([]byte{byte(len(r.current))}, r.current...)
	out := make([]byte, len(header), len(header)+len(data)+aead.Overhead())
	copy(out, header)
	return aead.Seal(out, nil, data, header), nil //nolint:gosec // the cipher makes the nonce
}

// Decode implements [Stage].
func (e encrypt) Decode(_ context.Context, encoded []byte) ([]byte, error) {
	if len(encoded) == 0 || len(encoded) < 1+int(encoded[0]) {
		return nil, errors.New("the data is cut off")
	}
	header, sealed := encoded[:1+int(encoded[0])], encoded[1+int(encoded[0]):]
	id := string(header[1:])
	aead := e.keys.ring().ciphers[id]
	if aead == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownKey, id)
	}
	data, err := aead.Open(nil, nil, sealed, header)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", id, err)
	}
	return data, nil
}
