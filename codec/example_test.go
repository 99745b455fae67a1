package codec_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// Worker and client have the plain payload, the store has not.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	check(err)
	defer store.Close()

	secret := make([]byte, 32)
	rand.Read(secret)
	keys, err := codec.NewKeyring(codec.Key{ID: "2026-11", Secret: secret})
	check(err)
	c, err := codec.New(codec.Compress(1024), codec.Encrypt(keys))
	check(err)

	greet := orchestration.New("Greet", func(_ *orchestration.Context, name string) (string, error) {
		return "Hello, " + name + "!", nil
	})
	w, err := worker.New(store, worker.Options{Codec: c, Logger: slog.New(slog.DiscardHandler)})
	check(err)
	check(w.Register(greet))
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()

	run, err := client.Start(ctx, client.New(store, client.Options{Codec: c}), greet, "greet-1", "Ada")
	check(err)
	fmt.Println(run.Wait(ctx))
	info, err := store.Admin().GetInstanceInfo(ctx, "greet-1")
	fmt.Println((*info.Output)[:len("duroxide-codec:aes-gcm")], err)

	cancel()
	<-done
	// Output:
	// Hello, Ada! <nil>
	// duroxide-codec:aes-gcm <nil>
}

// A key is replaced while workers run: the new one comes beside the old one everywhere, then it
// encrypts, and the old one stays as long as something that it encrypted is kept.
func ExampleKeyring_Set() {
	ctx := context.Background()
	first := codec.Key{ID: "2026", Secret: make([]byte, 32)}
	second := codec.Key{ID: "2027", Secret: []byte("32 bytes that nobody can guess..")}
	keys, err := codec.NewKeyring(first)
	check(err)
	c, err := codec.New(codec.Encrypt(keys))
	check(err)
	old, err := c.Encode(ctx, "a card number")
	check(err)

	check(keys.Set(first, second)) // on every machine
	check(keys.Set(second, first)) // then on every machine
	fmt.Println(c.Decode(ctx, old))

	check(keys.Set(second))
	_, err = c.Decode(ctx, old)
	fmt.Println(errors.Is(err, codec.ErrUnknownKey))
	// Output:
	// a card number <nil>
	// true
}

// Large payloads are files, or objects of a service, and the store holds what finds them.
func ExampleOffload() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "blobs")
	check(err)
	defer os.RemoveAll(folder)
	c, err := codec.New(codec.Offload(codec.Directory(folder), 1000))
	check(err)

	stored, err := c.Encode(ctx, strings.Repeat("a long picture ", 1000))
	check(err)
	picture, err := c.Decode(ctx, stored)
	check(err)
	fmt.Println(codec.Encoded(stored), len(stored) < 200, len(picture))
	// Output: true true 15000
}

// A codec comes to a store that is in use in two steps: first everybody can read what it writes.
func ExampleCodec_ReadOnly() {
	ctx := context.Background()
	c, err := codec.New(codec.Compress(10))
	check(err)
	for _, step := range []*codec.Codec{c.ReadOnly(), c} {
		stored, err := step.Encode(ctx, strings.Repeat("again ", 100))
		check(err)
		read, err := c.ReadOnly().Decode(ctx, stored)
		check(err)
		fmt.Println(codec.Encoded(stored), len(read))
	}
	// Output:
	// false 600
	// true 600
}

// check ends an example that went wrong.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
