package patterns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

// Decision is what somebody says of an expense.
type Decision struct {
	Approved bool
	By       string
}

// Decided brings the decision.
var Decided = orchestration.NewEvent[Decision]("decided")

// Remind asks the people in charge once more.
var Remind = activity.New("Remind", func(_ context.Context, expense string) (string, error) {
	return "", fmt.Errorf("no mail server to remind somebody of %s", expense)
})

// Approval waits a week for a decision, and reminds once a day of the days that are left.
var Approval = orchestration.New("Approval", func(ctx *orchestration.Context, expense string) (string, error) {
	decided := Decided.Wait(ctx)
	for day := range 7 {
		tomorrow := ctx.Timer(24 * time.Hour)
		if orchestration.WaitAny(decided, tomorrow) == 0 {
			decision, err := decided.Await()
			if err == nil && !decision.Approved {
				err = fmt.Errorf("rejected by %s", decision.By)
			}
			return "approved by " + decision.By, err
		}
		if day < 6 {
			// A reminder that fails is no reason to give up.
			_, _ = orchestration.Activity(ctx, Remind, expense).Await()
		}
	}
	return "", errors.New("nobody decided within a week")
})
