package client_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// What another package of the program might declare: the event and the key of an Order.
var (
	Approve = orchestration.NewEvent[bool]("approve")
	Shelf   = orchestration.NewKey[int]("shelf")
)

// Order is an orchestration that another package of the program might define.
var Order = orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
	approval := Approve.Wait(ctx)
	ctx.SetCustomStatus("waiting for approval")
	approved, err := approval.Await()
	if err != nil {
		return "", err
	}
	if !approved {
		return "", errors.New("rejected")
	}
	Shelf.Set(ctx, 12)
	return item + " ordered", nil
})

// working starts a worker in this process on a store in memory, and returns a client of the
// store. stop ends both, and the context.
func working() (ctx context.Context, c *client.Client, stop func()) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	check(err)
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	check(err)
	check(w.Register(Order, Review, Reader))
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	return ctx, client.New(store, client.Options{}), func() {
		cancel()
		check(<-done)
		check(store.Close())
	}
}

// check ends an example that went wrong.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Starting, following and answering an orchestration.
func ExampleStart() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Order, "order-1", "chair")
	check(err)
	status, err := c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	fmt.Println(status.State, *status.CustomStatus)

	check(client.RaiseEvent(ctx, c, Approve, run.Instance(), true))
	result, err := run.Wait(ctx)
	check(err)
	shelf, _, err := client.Value(ctx, c, Shelf, run.Instance())
	check(err)
	fmt.Println(result, "for shelf", shelf)
	// Output:
	// Running waiting for approval
	// chair ordered for shelf 12
}

// A failure tells why; a cancelled orchestration is one too.
func ExampleFailedError() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Order, "order-1", "chair")
	check(err)
	check(c.Cancel(ctx, run.Instance(), "customer called"))
	_, err = run.Wait(ctx)
	if failed, ok := errors.AsType[*client.FailedError](err); ok {
		fmt.Println(failed.Instance, failed.Cancelled(), failed)
	}
	// Output: order-1 true canceled: customer called
}

// Review is an orchestration that waits for a verdict and tells how far it is. Its declarations
// are all that a client needs.
var (
	Verdict = orchestration.NewEvent[bool]("verdict")
	Stage   orchestration.CustomStatus[string]
	Review  = orchestration.New("Review", func(ctx *orchestration.Context, title string) (string, error) {
		verdict := Verdict.Wait(ctx)
		Stage.Set(ctx, "waits for a verdict")
		good, err := verdict.Await()
		return fmt.Sprintf("%s: %v", title, good), err
	})
)

// A misspelt name or data of another type would not compile.
func ExampleRaiseEvent() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Review, "review-1", "a paper")
	check(err)
	status, err := c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	stage, _, err := Stage.Decode(status.CustomStatus)
	check(err)
	fmt.Println(stage)
	check(client.RaiseEvent(ctx, c, Verdict, run.Instance(), true))
	fmt.Println(run.Wait(ctx))
	// Output:
	// waits for a verdict
	// a paper: true <nil>
}

// An application has its table in the store's file. The review starts if the paper is stored.
func ExampleInTx() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	folder, err := os.MkdirTemp("", "papers")
	check(err)
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "papers.db")
	store, err := sqlite.Open(ctx, file, sqlite.Options{})
	check(err)
	defer store.Close()
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate")
	check(err)
	defer db.Close()
	c := client.New(store, client.Options{})
	submit := func(title string) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // does nothing after the commit
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS papers (title TEXT PRIMARY KEY)"); err != nil {
			return err
		}
		if _, err := client.Start(ctx, c, Review, title, title, client.InTx(tx)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO papers (title) VALUES (?)", title); err != nil {
			return err
		}
		return tx.Commit()
	}
	fmt.Println(submit("On Time"))
	err = submit("On Time")
	fmt.Println(errors.Is(err, client.ErrAlreadyExists))
	// Output:
	// <nil>
	// true
}

// The id is all you need to come back to an orchestration, in another process or another year.
func ExampleAttach() {
	ctx, c, stop := working()
	defer stop()
	_, err := client.Start(ctx, c, orchestration.Declare[string, string]("Order"), "order-1", "table")
	check(err)
	// A message waits for its reader; an event needs somebody who waits for it.
	_, err = c.WaitForCustomStatus(ctx, "order-1", 0)
	check(err)
	check(client.RaiseEvent(ctx, c, Approve, "order-1", true))
	fmt.Println(client.Attach[string](c, "order-1").Wait(ctx))
	// Output: table ordered <nil>
}

// A start that may be repeated, such as of a request that is sent again, is harmless.
func ExampleUseExisting() {
	ctx, c, stop := working()
	defer stop()
	for range 2 {
		run, err := client.Start(ctx, c, Order, "order-1", "chair", client.UseExisting())
		check(err)
		fmt.Println(run.Instance())
	}
	_, err := client.Start(ctx, c, Order, "order-1", "chair")
	fmt.Println(errors.Is(err, client.ErrAlreadyExists))
	// Output:
	// order-1
	// order-1
	// true
}

// An id can be used again when its instance has ended.
func ExampleReplaceFinished() {
	ctx, c, stop := working()
	defer stop()
	for _, reason := range []string{"first", "second"} {
		run, err := client.Start(ctx, c, Order, "order-1", "chair", client.ReplaceFinished())
		check(err)
		check(c.Cancel(ctx, run.Instance(), reason))
		_, err = run.Wait(ctx)
		fmt.Println(err)
	}
	// Output:
	// canceled: first
	// canceled: second
}

// By default a message to an id that nobody uses is a message to whoever starts it later.
func ExampleMustExist() {
	ctx, c, stop := working()
	defer stop()
	err := client.RaiseEvent(ctx, c, Approve, "order-1", true, client.MustExist())
	fmt.Println(errors.Is(err, client.ErrNoInstance))
	// Output: true
}

// Letters are what a Reader reads.
var Letters = orchestration.NewQueue[string]("letters")

// Reader reads two letters and keeps who wrote last.
var Reader = orchestration.New("Reader", func(ctx *orchestration.Context, _ string) (string, error) {
	first, err := Letters.Dequeue(ctx).Await()
	if err != nil {
		return "", err
	}
	second, err := Letters.Dequeue(ctx).Await()
	Last.Set(ctx, second)
	return first + " and " + second, err
})

// A message can come with the start, in one step. Later ones are enqueued.
func ExampleWithMessage() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Reader, "reader-1", "", client.WithMessage(Letters, "from Ada"))
	check(err)
	check(client.Enqueue(ctx, c, Letters, run.Instance(), "from Grace"))
	fmt.Println(run.Wait(ctx))
	fmt.Println(c.KVAll(ctx, run.Instance()))
	// Output:
	// from Ada and from Grace <nil>
	// map[last:"from Grace"] <nil>
}

// Last is the last letter that a reader has read.
var Last = orchestration.NewKey[string]("last")

// A client waits until an orchestration has set a key.
func ExampleWaitForValue() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Reader, "reader-1", "", client.WithMessage(Letters, "from Ada"))
	check(err)
	check(client.Enqueue(ctx, c, Letters, run.Instance(), "from Grace"))
	fmt.Println(client.WaitForValue(ctx, c, Last, run.Instance()))
	// Output:
	// from Grace <nil>
}

// A deadline ends the wait and not the orchestration. The error says how far that is.
func ExampleWaitError() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Order, "order-1", "chair")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	hurry, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = run.Wait(hurry)
	if waited, ok := errors.AsType[*client.WaitError](err); ok {
		fmt.Println(waited.Status.State, waited.WaitsFor)
	}
	// Output: Running [event "approve"]
}

// A status answers at once: how far an instance is, its custom status and its result.
func ExampleClient_Status() {
	ctx, c, stop := working()
	defer stop()
	status, err := c.Status(ctx, "order-1")
	check(err)
	fmt.Println(status.State, status.Finished())

	_, err = client.Start(ctx, c, Order.AtVersion("1.0.0"), "order-1", "chair")
	check(err)
	check(c.Cancel(ctx, "order-1", "too expensive"))
	status, err = c.Wait(ctx, "order-1")
	check(err)
	fmt.Println(status.State, status.Finished(), status.Err())
	// Output:
	// NotFound false
	// Cancelled true canceled: too expensive
}

// Lists, counts and deletions are the store's own, for tools and nightly jobs.
func ExampleClient_Admin() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Review, "review-1", "a paper")
	check(err)
	check(c.Cancel(ctx, run.Instance(), "withdrawn"))
	_, err = run.Wait(ctx)
	fmt.Println(err)
	admin, err := c.Admin()
	check(err)
	fmt.Println(admin.ListInstances(ctx))
	stats, err := c.Stats(ctx, run.Instance())
	check(err)
	fmt.Println(stats.HistoryEventCount > 1)
	// Output:
	// canceled: withdrawn
	// [review-1] <nil>
	// true
}

// After a rollback, an instance that was held is tried again at once. One that is not held stays
// as it is.
func ExampleClient_RetryHeld() {
	ctx, c, stop := working()
	defer stop()
	run, err := client.Start(ctx, c, Order, "order-1", "chair")
	check(err)
	_, err = c.WaitForCustomStatus(ctx, run.Instance(), 0)
	check(err)
	fmt.Println(errors.Is(c.RetryHeld(ctx, run.Instance()), client.ErrNotHeld))
	// Output: true
}

// A list of the held instances says what each waits for. Here none is held.
func ExampleClient_ListHeld() {
	ctx, c, stop := working()
	defer stop()
	held, err := c.ListHeld(ctx)
	fmt.Println(held, err)
	// Output: [] <nil>
}
