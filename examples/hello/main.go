// Command hello is the program of the README: it greets three cities, durably.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

var greet = activity.New("Greet", func(_ context.Context, city string) (string, error) {
	return "Hello, " + city + "!", nil // whatever has a side effect belongs in an activity
})

var hello = orchestration.New("Hello", func(ctx *orchestration.Context, cities []string) ([]string, error) {
	var greetings []*orchestration.Future[string]
	for _, city := range cities {
		greetings = append(greetings, orchestration.Activity(ctx, greet, city)) // all at once
	}
	return orchestration.Join(greetings...)
})

func main() {
	ctx, stop := context.WithCancel(context.Background())
	store := must(sqlite.Open(ctx, "hello.db", sqlite.Options{}))
	w := must(worker.New(store, worker.Options{}))
	check(w.Register(hello, greet))
	stopped := make(chan error)
	go func() { stopped <- w.Run(ctx) }()

	c := client.New(store, client.Options{})
	run := must(client.Start(ctx, c, hello, "hello-1", []string{"Oslo", "Lima", "Hanoi"}, client.UseExisting()))
	fmt.Println(must(run.Wait(ctx)))

	stop()
	check(<-stopped)
	check(store.Close())
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
