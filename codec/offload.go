package codec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Blobs stores payloads that are too large for the store of the orchestrations. It must be safe for concurrent use.
type Blobs interface {
	// Put stores data under a name, which is the hexadecimal SHA-256 of the data. If the name exists, it already has
	// the same data. Put returns when the data is durable.
	Put(ctx context.Context, name string, data []byte) error
	// Get returns the data of a name. It returns an error for an unknown name.
	Get(ctx context.Context, name string) ([]byte, error)
}

// Offload returns a stage that keeps payloads of more than above bytes in blobs. The store gets only a reference. The
// name is "blob".
//
// This package never deletes blobs. A blob is needed as long as a history refers to it. A turn that is not committed
// can leave blobs that no history refers to.
func Offload(blobs Blobs, above int) Stage { return offload{blobs: blobs, above: above} }

type offload struct {
	blobs Blobs
	above int
}

// Name implements [Stage].
func (offload) Name() string { return "blob" }

// Encode implements [Stage].
func (o offload) Encode(ctx context.Context, data []byte) ([]byte, error) {
	if len(data) <= o.above {
		return nil, nil
	}
	sum := sha256.Sum256(data)
	return sum[:], o.blobs.Put(ctx, hex.EncodeToString(sum[:]), data)
}

// Decode implements [Stage].
func (o offload) Decode(ctx context.Context, encoded []byte) ([]byte, error) {
	if len(encoded) != sha256.Size {
		return nil, errors.New("the name of the blob is damaged")
	}
	name := hex.EncodeToString(encoded)
	data, err := o.blobs.Get(ctx, name)
	if err == nil && sha256.Sum256(data) != [sha256.Size]byte(encoded) {
		err = errors.New("its data has changed")
	}
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", name, err)
	}
	return data, nil
}

// Directory keeps blobs as files of a directory, for tests and for programs on one machine.
// The directory must exist.
func Directory(path string) Blobs { return directory(path) }

type directory string

// Put implements [Blobs].
func (d directory) Put(ctx context.Context, name string, data []byte) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(d), "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(string(d), name))
}

// Get implements [Blobs].
func (d directory) Get(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(string(d), name))
}
