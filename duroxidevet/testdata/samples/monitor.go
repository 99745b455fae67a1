package samples

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

// A monitor looks at a place until the sky is clear or the time is over, with longer and longer pauses. After the monitor
// sample of Durable Functions.

type watch struct {
	Place string
	Until time.Time
	Pause time.Duration
	Looks int
}

var (
	weather = act[string, string]("Weather")
	looks   = orchestration.NewKey[int]("looks")
	again   = orchestration.Declare[watch, string]("Monitor")
)

var Monitor = again.Implement(func(ctx *orchestration.Context, w watch) (string, error) {
	now, err := ctx.UTCNow()
	if err != nil {
		return "", err
	}
	if now.After(w.Until) {
		return "time is over", nil
	}
	sky, err := orchestration.Activity(ctx, weather, w.Place, patient, orchestration.WithTimeout(time.Minute)).Await()
	if err == nil && sky == "clear" {
		return "clear at " + now.Format(time.RFC3339), notify(ctx, w.Place)
	}
	w.Looks++
	looks.Set(ctx, w.Looks)
	ctx.SetCustomStatus(fmt.Sprintf("%d looks, the last at %s", w.Looks, now.UTC().Format(time.Kitchen)))
	ctx.Sleep(min(w.Pause, w.Until.Sub(now)))
	w.Pause = min(2*w.Pause, time.Hour)
	return again.ContinueAsNew(ctx, w)
})
