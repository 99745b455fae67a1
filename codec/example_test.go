package codec_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"

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
	store, err := sqlite.OpenMemory(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	secret := make([]byte, 32)
	rand.Read(secret)
	keys, err := codec.NewKeyring(codec.Key{ID: "2026-11", Secret: secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := codec.New(codec.Compress(1024), codec.Encrypt(keys))
	if err != nil {
		fmt.Println(err)
		return
	}

	greet := orchestration.New("Greet", func(_ *orchestration.Context, name string) (string, error) {
		return "Hello, " + name + "!", nil
	})
	w, err := worker.New(store, worker.Options{Codec: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Register(greet); err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()

	run, err := client.Start(ctx, client.New(store, client.WithCodec(c)), greet, "greet-1", "Ada")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Wait(ctx))
	info, err := store.Admin().GetInstanceInfo(ctx, "greet-1")
	fmt.Println((*info.Output)[:len("duroxide-codec:aes-gcm")], err)

	cancel()
	<-done
	// Output:
	// Hello, Ada! <nil>
	// duroxide-codec:aes-gcm <nil>
}
