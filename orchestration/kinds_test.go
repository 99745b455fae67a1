package orchestration_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

type decline struct {
	Code int `json:"code"`
}

var errCardDeclined = failure.NewKind[decline]("CardDeclined")

// wantDeclined checks that an error is still what the activity made of it.
func wantDeclined(t *testing.T, where string, err error, text string) {
	t.Helper()
	details, ok := errCardDeclined.Details(err)
	if !errors.Is(err, errCardDeclined) || !ok || details.Code != 51 || !failure.IsFinal(err) || err.Error() != text {
		t.Errorf("%s: %q has details %+v (%v), final %v; want %q", where, err, details, ok, failure.IsFinal(err), text)
	}
}

// A failure keeps its kind, its details and that another attempt does not help, from the
// activity to the orchestration, to its parent and to the client. Each adds its text.
func TestFailuresKeepWhatTheyAre(t *testing.T) {
	t.Parallel()
	tries := 0 // one instance, one attempt at a time
	declining := activity.New("Charge", func(context.Context, string) (string, error) {
		tries++
		return "", fmt.Errorf("charging: %w", failure.Final(errCardDeclined.New(decline{51}, "declined")))
	})
	retried := orchestration.WithRetry(retry.Policy{Backoff: retry.Constant(0)})
	child := orchestration.New("Child", func(ctx *orchestration.Context, input string) (string, error) {
		_, err := orchestration.Activity(ctx, declining, input, retried).Await()
		wantDeclined(t, "the child", err, "charging: declined")
		return "", fmt.Errorf("paying: %w", err)
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, input string) (string, error) {
		_, err := orchestration.SubOrchestration(ctx, child, input, retried).Await()
		wantDeclined(t, "the parent", err, "paying: charging: declined")
		return "", err
	})
	e := newEngine(t, parent, child, declining)
	run := start(e, parent, "")
	_, err := run.Wait(deadline(t))
	wantDeclined(t, "the client", err, "paying: charging: declined")
	if tries != 1 {
		t.Errorf("%d attempts at what is final", tries)
	}
}

// A kind that is returned itself, as ErrTimeout may be, arrives as a failure of that kind.
func TestKindsThatAreReturned(t *testing.T) {
	t.Parallel()
	declining := activity.New("Charge", func(context.Context, string) (string, error) {
		return "", fmt.Errorf("charging: %w", errCardDeclined)
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, input string) (string, error) {
		_, err := orchestration.Activity(ctx, declining, input).Await()
		if !errors.Is(err, errCardDeclined) || err.Error() != "charging: CardDeclined" {
			t.Errorf("the orchestration gets %v", err)
		}
		return "", orchestration.ErrTimeout
	})
	_, err := start(newEngine(t, parent, declining), parent, "").Wait(deadline(t))
	if !errors.Is(err, orchestration.ErrTimeout) {
		t.Errorf("the client gets %v", err)
	}
}

// A timeout is one for the parent and the client, too.
func TestTimeoutsArriveAsTimeouts(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, hang, "", orchestration.WithTimeout(time.Millisecond)).Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (string, error) {
		_, err := orchestration.SubOrchestration(ctx, child, "").Await()
		if !errors.Is(err, orchestration.ErrTimeout) {
			t.Errorf("the parent gets %v", err)
		}
		return "", err
	})
	e := newEngine(t, parent, child, hang)
	_, err := start(e, parent, "").Wait(deadline(t))
	if !errors.Is(err, orchestration.ErrTimeout) || err.Error() != "timeout: activity timed out" {
		t.Errorf("the client gets %v", err)
	}
}

// Who waits for an orchestration that is cancelled learns that it was.
func TestCancellationIsAnError(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		ctx.SetCustomStatus("up")
		return orchestration.NewEvent[string]("never").Wait(ctx).Await()
	})
	parent := orchestration.New("Parent", func(ctx *orchestration.Context, _ string) (bool, error) {
		_, err := orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID("child")).Await()
		return errors.Is(err, orchestration.ErrCancelled), nil
	})
	e := newEngine(t, parent, child)
	run := start(e, parent, "")
	e.status("child", "up")
	if err := e.client.Cancel(t.Context(), "child", "enough"); err != nil {
		t.Fatal(err)
	}
	if !result(t, run) {
		t.Error("the parent does not see that its child was cancelled")
	}
	status, err := e.client.Status(t.Context(), "child")
	if err != nil || !errors.Is(status.Err(), orchestration.ErrCancelled) {
		t.Errorf("the client sees %v, %v", status.Err(), err)
	}
}
