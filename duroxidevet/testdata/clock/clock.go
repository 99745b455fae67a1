// Package clock has orchestrations that look at the clock.
package clock

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

var now = time.Now

func bad(ctx *orchestration.Context, since time.Time) (time.Duration, error) {
	started := time.Now()                            // want `time.Now reads the clock, which shows another time in a replay; use ctx.UTCNow\(\)`
	_ = time.Since(started)                          // want `time.Since reads the clock`
	_ = time.Until(started)                          // want `time.Until reads the clock`
	time.Sleep(time.Second)                          // want `time.Sleep waits without a record; use ctx.Sleep\(d\)`
	<-time.After(time.Second)                        // want `time.After starts a timer without a record; use ctx.Timer\(d\)`
	<-time.NewTimer(time.Second).C                   // want `time.NewTimer starts a timer` `a receive may block on another goroutine`
	time.AfterFunc(time.Second, func() {})           // want `time.AfterFunc starts a timer`
	ticker := time.NewTicker(time.Second)            // want `time.NewTicker starts a timer`
	ticker.Stop()                                    // want `time.Ticker.Stop starts a timer`
	_, stop := context.WithTimeout(nil, time.Hour)   // want `context.WithTimeout ends by the clock; use orchestration.WithTimeout for a call`
	stop()                                           // the function is not known, and harmless
	_, stop = context.WithDeadline(nil, time.Time{}) // want `context.WithDeadline ends by the clock`
	clock := time.Now                                // want `time.Now reads the clock`
	_ = clock()
	_ = now()                     // want `now, where time.Now reads the clock, which shows another time in a replay \(clock.go:11\); use ctx.UTCNow`
	_ = since.Local()             // want `time.Time.Local differs between processes`
	return time.Since(since), nil // want `time.Since reads the clock`
}

// good asks through the context, and computes with times.
func good(ctx *orchestration.Context, since time.Time) (time.Duration, error) {
	at, err := ctx.UTCNow()
	if err != nil {
		return 0, err
	}
	ctx.Sleep(time.Second)
	_ = time.Date(2026, time.May, 1, 0, 0, 0, 0, time.UTC).Add(time.Hour).Format(time.RFC3339)
	_, err = time.ParseDuration("1h")
	return at.Sub(since).Round(time.Minute), err
}

// outside is no orchestration.
func outside(ctx context.Context) time.Time { return time.Now() }
