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

// Order is an orchestration that another package of the program might define.
var Order = orchestration.New("Order", func(ctx *orchestration.Context, item string) (string, error) {
	approval := orchestration.WaitForEvent[bool](ctx, "approve")
	ctx.SetCustomStatus("waiting for approval")
	approved, err := approval.Await()
	if err != nil {
		return "", err
	}
	if !approved {
		return "", errors.New("rejected")
	}
	orchestration.SetKV(ctx, "shelf", 12)
	return item + " ordered", nil
})

// example gives a client for a store in memory that a worker in this process serves.
func example(do func(ctx context.Context, c *client.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = w.Register(Order, Review)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	if err := do(ctx, client.New(store)); err != nil {
		fmt.Println("error:", err)
	}
	cancel()
	if err := <-done; err != nil {
		fmt.Println(err)
	}
}

// Starting, following and answering an orchestration.
func ExampleStart() {
	example(func(ctx context.Context, c *client.Client) error {
		run, err := client.Start(ctx, c, Order, "order-1", "chair")
		if err != nil {
			return err
		}
		status, err := c.WaitForCustomStatus(ctx, run.Instance(), 0)
		if err != nil {
			return err
		}
		fmt.Println(status.State, *status.CustomStatus)

		if err := c.RaiseEvent(ctx, run.Instance(), "approve", true); err != nil {
			return err
		}
		result, err := run.Wait(ctx)
		if err != nil {
			return err
		}
		shelf, _, err := client.KV[int](ctx, c, run.Instance(), "shelf")
		fmt.Println(result, "for shelf", shelf)
		return err
	})
	// Output:
	// Running waiting for approval
	// chair ordered for shelf 12
}

// A failure tells why; a cancelled orchestration is one too.
func ExampleFailedError() {
	example(func(ctx context.Context, c *client.Client) error {
		run, err := client.Start(ctx, c, Order, "order-1", "chair")
		if err != nil {
			return err
		}
		if err := c.Cancel(ctx, run.Instance(), "customer called"); err != nil {
			return err
		}
		_, err = run.Wait(ctx)
		if failed, ok := errors.AsType[*client.FailedError](err); ok {
			fmt.Println(failed.Instance, failed.Cancelled(), failed)
			return nil
		}
		return err
	})
	// Output: order-1 true canceled: customer called
}

// The id is all one needs to come back to an orchestration, in another process or
// another year.
// Review is an orchestration that waits for a verdict and tells how far it is. Its declarations
// are all that a client needs.
var (
	Verdict = orchestration.NewEvent[bool]("verdict")
	Stage   orchestration.Status[string]
	Review  = orchestration.New("Review", func(ctx *orchestration.Context, title string) (string, error) {
		verdict := Verdict.Wait(ctx)
		Stage.Set(ctx, "waits for a verdict")
		good, err := verdict.Await()
		return fmt.Sprintf("%s: %v", title, good), err
	})
)

// A misspelt name or data of another type would not compile.
func ExampleRaiseEvent() {
	example(func(ctx context.Context, c *client.Client) error {
		run, err := client.Start(ctx, c, Review, "review-1", "a paper")
		if err != nil {
			return err
		}
		status, err := c.WaitForCustomStatus(ctx, run.Instance(), 0)
		if err != nil {
			return err
		}
		stage, _, err := Stage.Decode(status.CustomStatus)
		if err != nil {
			return err
		}
		fmt.Println(stage)
		if err := client.RaiseEvent(ctx, c, Verdict, run.Instance(), true); err != nil {
			return err
		}
		output, err := run.Wait(ctx)
		fmt.Println(output)
		return err
	})
	// Output:
	// waits for a verdict
	// a paper: true
}

// An application has its table in the store's file. The review starts if the paper is stored.
func ExampleInTx() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	folder, err := os.MkdirTemp("", "papers")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "papers.db")
	store, err := sqlite.Open(ctx, file, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	c := client.New(store)
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

func ExampleAttach() {
	example(func(ctx context.Context, c *client.Client) error {
		if err := c.StartNamed(ctx, "Order", "order-1", "table"); err != nil {
			return err
		}
		// A message waits for its reader; an event needs somebody who waits for it.
		if _, err := c.WaitForCustomStatus(ctx, "order-1", 0); err != nil {
			return err
		}
		if err := c.RaiseEvent(ctx, "order-1", "approve", true); err != nil {
			return err
		}
		result, err := client.Attach[string](c, "order-1").Wait(ctx)
		fmt.Println(result)
		return err
	})
	// Output: table ordered
}
