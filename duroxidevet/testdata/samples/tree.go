package samples

import (
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// A parent starts children, hears from them by events, and takes a timer back. After the samples of go-workflows.

type answer struct {
	Child string
	Value int
}

var heard = orchestration.NewEvent[answer]("heard")

var Parent = orchestration.New("Parent", func(ctx *orchestration.Context, children int) (sum int, err error) {
	var futures []*orchestration.Future[int]
	for i := range children {
		id := fmt.Sprintf("%s-child-%d", ctx.Info().Instance, i)
		futures = append(futures, orchestration.SubOrchestration(ctx, Child, i, orchestration.WithInstanceID(id)))
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("parent of %d: %w", children, err)
		}
	}()
	reminder := orchestration.Go(ctx, func(ctx *orchestration.Context) (int, error) {
		ctx.Sleep(time.Hour)
		_, err := orchestration.Activity(ctx, audit, "still waiting").Await()
		return -1, err
	})
	all := orchestration.Go(ctx, func(*orchestration.Context) (int, error) {
		values, err := orchestration.Join(futures...)
		total := 0
		for _, value := range values {
			total += value
		}
		return total, err
	})
	if orchestration.SelectAndDrop(all, reminder) == 1 {
		return 0, errors.New("too slow")
	}
	return all.Await()
})

var Child = orchestration.New("Child", func(ctx *orchestration.Context, n int) (int, error) {
	got := heard.Wait(ctx)
	if orchestration.SelectAndDrop(got, ctx.Timer(time.Duration(n)*time.Second)) == 1 {
		return n, nil
	}
	a, err := got.Await()
	return n + a.Value, err
})
