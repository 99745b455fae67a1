package samples

import (
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// A number is sent to a telephone, and its owner has three tries in ninety seconds. After the human interaction sample of
// Durable Functions.

var (
	text  = act[string, int]("SendNumber")
	typed = orchestration.NewEvent[int]("typed")
)

var Verify = orchestration.New("Verify", func(ctx *orchestration.Context, telephone string) (bool, error) {
	number, err := orchestration.Activity(ctx, text, telephone).Await()
	if err != nil {
		return false, err
	}
	late := ctx.Timer(90 * time.Second)
	for range 3 {
		answer := typed.Wait(ctx)
		if orchestration.WaitAny(answer, late) == 1 {
			break
		}
		if got, err := answer.Await(); err != nil {
			return false, err
		} else if got == number {
			return true, nil
		}
	}
	return false, nil
})
