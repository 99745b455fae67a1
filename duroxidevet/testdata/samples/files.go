package samples

import (
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// Files are fetched, converted and sent on one machine, and on another one if that dies. After the file processing sample
// of Cadence and Temporal.

type job struct{ Source, Target string }

var (
	fetch   = act[string, string]("Fetch")
	convert = act[string, string]("Convert")
	send    = act[job, int]("Send")
)

var Files = orchestration.New("Files", func(ctx *orchestration.Context, j job) (size int, err error) {
	for attempt := range 3 {
		if size, err = onOneMachine(ctx, j); err == nil {
			return size, nil
		}
		ctx.Logger(nil).Info("another machine is tried", "attempt", attempt+1, "error", err)
	}
	return 0, err
})

func onOneMachine(ctx *orchestration.Context, j job) (int, error) {
	session, err := ctx.NewGUID()
	if err != nil {
		return 0, err
	}
	here, soon := orchestration.InSession(session), orchestration.WithTimeout(10*time.Minute)
	local, err := orchestration.Activity(ctx, fetch, j.Source, here, soon).Await()
	if err != nil {
		return 0, err
	}
	converted, err := orchestration.Activity(ctx, convert, local, here, soon).Await()
	if errors.Is(err, orchestration.ErrTimeout) {
		converted, err = local, nil
	}
	if err != nil {
		return 0, err
	}
	return orchestration.Activity(ctx, send, job{converted, j.Target}, here).Await()
}
