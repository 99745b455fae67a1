package demo

import (
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// The activities of a Medley by name; [Work] gives them their functions.
var (
	refuse = activity.Declare[string, string]("Refuse")
	linger = activity.Declare[int, int]("Linger")
)

// medleyTag is the tag of an activity that only tagged workers take.
const medleyTag = "medley"

// notes is the queue of a Medley's messages, and guidKey the key of its value.
var (
	notes   = orchestration.NewQueue[string]("notes")
	guidKey = orchestration.NewKey[string]("guid")
)

// AsideOf is the instance that a [Medley] detaches.
func AsideOf(instance string) string { return instance + "-aside" }

// medleyDone is what a Medley's first execution hands to its second, and what comes of both.
type medleyDone struct {
	Notes    []string `json:"notes"`
	Squares  []int    `json:"squares"`
	Mapped   []int    `json:"mapped"`
	Refused  bool     `json:"refused"`
	Taken    bool     `json:"taken"`
	Dropped  int      `json:"dropped"`
	By       string   `json:"by"`
	SameGUID bool     `json:"same_guid"`
	Undone   []int    `json:"undone"`
	GUID     string   `json:"guid,omitempty"`
}

// medley continues as its second version.
var medley = orchestration.Declare[medleyDone, medleyDone]("Medley")

// medleyBegins uses what the other orchestrations do not: custom status, key-value data,
// built-in activities, sessions, tags, failures, retries, time-outs, blocks side by side, taken
// ids, detached orchestrations, losers of a select, a clean-up, a saga, and messages, of which it leaves some to the
// next execution, in another version.
var medleyBegins = orchestration.New(medley.Name(),
	func(ctx *orchestration.Context, _ string) (medleyDone, error) {
		var done medleyDone
		by, err := approval.Wait(ctx).Await()
		if err != nil {
			return done, err
		}
		ctx.SetCustomStatus("approved by " + by)
		guid, err := ctx.NewGUID()
		if err != nil {
			return done, err
		}
		guidKey.Set(ctx, guid)
		done.GUID, done.By = guid, by
		own := ctx.Info().Instance
		orchestration.Detach(ctx, nap, AsideOf(own), "1ms")
		if done.Squares, err = orchestration.Join(
			orchestration.Activity(ctx, square, 2, orchestration.InSession(own)),
			orchestration.Activity(ctx, square, 3, orchestration.InSession(own)),
			orchestration.Activity(ctx, square, 4, orchestration.WithTag(medleyTag)),
		); err != nil {
			return done, err
		}
		var failed *orchestration.CallError
		_, err = orchestration.Activity(ctx, refuse, "this",
			orchestration.WithRetry(retry.Policy{MaxAttempts: 2, Backoff: retry.Constant(time.Millisecond)}),
			orchestration.WithTimeout(time.Hour)).Await()
		done.Refused = errors.As(err, &failed)
		if done.Mapped, err = orchestration.Map(ctx, []int{5, 6, 7}, 2, napAndSquare); err != nil {
			return done, err
		}
		_, err = orchestration.SubOrchestration(ctx, helloCities, nil, orchestration.WithInstanceID(own)).Await()
		done.Taken = errors.As(err, &failed)
		if done.Dropped, err = dropped(ctx); err != nil {
			return done, err
		}
		note, err := notes.Dequeue(ctx).Await()
		if err != nil {
			return done, err
		}
		done.Notes = append(done.Notes, note)
		return medley.AtVersion("2.0.0").ContinueAsNew(ctx, done)
	})

// napAndSquare is a block with two waits.
func napAndSquare(ctx *orchestration.Context, n int) (int, error) {
	if err := ctx.Sleep(time.Millisecond); err != nil {
		return 0, err
	}
	return orchestration.Activity(ctx, square, n).Await()
}

// dropped lets a timer win against one of each that can lose, and counts them.
func dropped(ctx *orchestration.Context) (int, error) {
	losers := []orchestration.Awaitable{
		orchestration.Activity(ctx, linger, 1),
		orchestration.SubOrchestration(ctx, nap, "1h"),
		orchestration.SubOrchestration(ctx, tidy, 11),
		orchestration.NewQueue[string]("never").Dequeue(ctx),
		orchestration.NewEvent[string]("never").Wait(ctx),
		ctx.Timer(time.Hour),
	}
	winner := ctx.Timer(time.Millisecond)
	if won := orchestration.SelectAndDrop(append(losers, winner)...); won != len(losers) {
		return 0, errors.New("a loser has won")
	}
	return len(losers), nil
}

// tidy waits until it is cancelled, and cleans up.
var tidy = orchestration.New("Tidy", func(ctx *orchestration.Context, n int) (int, error) {
	cause := ctx.Sleep(time.Hour)
	done, err := orchestration.Activity(ctx.Detached(), square, n).Await()
	return done, errors.Join(cause, err)
}).WithCleanup(time.Hour)

// undone does two steps of a saga, and returns what its undo steps were told, in their order.
func undone(ctx *orchestration.Context) (told []int, err error) {
	var saga orchestration.Saga
	for _, n := range []int{8, 9} {
		if _, err := orchestration.Step(ctx, &saga, func(ctx *orchestration.Context) (int, error) {
			return orchestration.Activity(ctx, square, n).Await()
		}, func(ctx *orchestration.Context, done int) error {
			told = append(told, done)
			_, err := orchestration.Activity(ctx, square, done).Await()
			return err
		}); err != nil {
			return nil, err
		}
	}
	mind := errors.New("changed its mind")
	if err := saga.Undo(ctx, mind); err != mind { //nolint:errorlint // nothing may be wrapped around it
		return nil, err
	}
	return told, nil
}

// medleyEnds is the second execution.
var medleyEnds = medley.Implement(
	func(ctx *orchestration.Context, done medleyDone) (medleyDone, error) {
		for range 2 {
			note, err := notes.Dequeue(ctx).Await()
			if err != nil {
				return done, err
			}
			done.Notes = append(done.Notes, note)
		}
		guid, ok, err := guidKey.Get(ctx)
		if err != nil {
			return done, err
		}
		done.SameGUID, done.GUID = ok && guid == done.GUID, ""
		guidKey.Clear(ctx)
		done.Undone, err = undone(ctx)
		return done, err
	}).WithVersion("2.0.0")
