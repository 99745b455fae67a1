package codec

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrUnknownKey is the decoding of a payload whose key is not in the keyring.
var ErrUnknownKey = errors.New("the key is not in the keyring")

// Key is a secret with a name. Formatting it shows the name only.
type Key struct {
	// ID stands, readable, in each payload that the key encrypts. It has 1 to 255 bytes and
	// is never used for another secret.
	ID string
	// Secret has 16, 24 or 32 bytes, for AES-128, AES-192 or AES-256.
	Secret []byte
}

// String returns the id.
func (k Key) String() string { return "key " + k.ID }

// GoString returns the id.
func (k Key) GoString() string { return k.String() }

// Keyring holds the key that encrypts and those that also decrypt. It is safe for concurrent
// use, so that keys change while workers run.
//
// To rotate, add the new key beside the current one everywhere, then make it the current one
// everywhere, and leave the old key in as long as something it has encrypted is kept. A key
// is for at most 2³² payloads.
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

// Set replaces all keys: current encrypts, and all of them decrypt. Error: a key whose id or
// secret does not have a valid length, or an id that is given twice; then the keys stay as they are.
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

// Encrypt returns a stage that encrypts payloads by AES-GCM with a random nonce. The name is
// "aes-gcm". Whoever can write to the database can put a payload in the place of another,
// or a plain one, but not change one.
func Encrypt(keys *Keyring) Stage { return encrypt{keys: keys} }

type encrypt struct{ keys *Keyring }

// Name implements [Stage].
func (encrypt) Name() string { return "aes-gcm" }

// Encode implements [Stage]. The result is the length of the key's id in a byte, the id, and
// the sealed data; length and id are authenticated.
func (e encrypt) Encode(_ context.Context, data []byte) ([]byte, error) {
	r := e.keys.keys.Load()
	aead := r.ciphers[r.current]
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
	aead := e.keys.keys.Load().ciphers[id]
	if aead == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownKey, id)
	}
	data, err := aead.Open(nil, nil, sealed, header)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", id, err)
	}
	return data, nil
}
