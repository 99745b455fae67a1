package samples

import (
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// An expense waits for somebody's decision, with a reminder each day and an end after ten. After Cadence's expense sample.

type verdict struct{ State, By string }

var (
	register = act[string, string]("RegisterExpense")
	pay      = act[string, string]("PayExpense")
	decided  = orchestration.NewEvent[verdict]("decided")
)

var Expense = orchestration.New("Expense", func(ctx *orchestration.Context, id string) (string, error) {
	if _, err := orchestration.Activity(ctx, register, id).Await(); err != nil {
		return "", err
	}
	answer := decided.Wait(ctx)
	for day := 1; day <= 10; day++ {
		if orchestration.WaitAny(answer, ctx.Timer(24*time.Hour)) == 0 {
			v, err := answer.Await()
			switch {
			case err != nil:
				return "", err
			case strings.EqualFold(v.State, "approved"):
				return orchestration.Activity(ctx, pay, id, patient).Await()
			}
			return "refused by " + v.By, nil
		}
		if err := notify(ctx, fmt.Sprintf("expense %s waits for %d days", id, day)); err != nil {
			ctx.Logger(nil).Warn("no reminder", "error", err)
		}
	}
	return "expired", nil
})
