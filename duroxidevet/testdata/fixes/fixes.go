// Package fixes has what the analyser can repair.
package fixes

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

var Charge = activity.New("Charge", charge)

func charge(_ context.Context, cents int) (string, error) { return "paid", nil }

type order struct{ Due time.Time }

func clock(ctx *orchestration.Context, d time.Duration) (order, error) {
	time.Sleep(d)     // want `time.Sleep waits without a record`
	<-time.After(d)   // want `time.After starts a timer without a record`
	now := time.Now() // want `time.Now reads the clock`
	if d > 0 {
		later := time.Now() // want `time.Now reads the clock`
		return order{Due: later}, nil
	}
	return order{Due: now.Add(time.Now().Sub(now))}, nil // want `time.Now reads the clock`
}

func ids(ctx *orchestration.Context, n int) (int, bool, []string, error) {
	id := uuid.NewString()       // want `uuid.NewString is another id each time`
	other := uuid.New().String() // want `uuid.New is another id each time`
	array := uuid.New()          // want `uuid.New is another id each time`
	return 0, false, []string{id, other, array.String()}, nil
}

func noError(ctx *orchestration.Context) time.Time {
	time.Sleep(1)     // want `time.Sleep waits without a record`
	now := time.Now() // want `time.Now reads the clock`
	return now
}

func maps1(ctx *orchestration.Context, stock map[string]int) error {
	for name := range stock { // want `the order of a map`
		orchestration.NewKey[int](name).Set(ctx, 1)
	}
	for name, count := range stock { // want `the order of a map`
		orchestration.NewKey[int](name).Set(ctx, count)
	}
	for _, count := range stock { // want `the order of a map`
		orchestration.NewKey[int]("last").Set(ctx, count)
	}
	return nil
}

func direct(ctx *orchestration.Context, cents int) (string, error) {
	slog.Info("charging", "cents", cents)      // want `slog.Info writes again in every replay`
	return charge(context.Background(), cents) // want `charge is the function of an activity`
}

func block(ctx *orchestration.Context, cents int) (string, error) {
	return orchestration.Go(ctx, func(own *orchestration.Context) (string, error) {
		time.Sleep(1)                                             // want `time.Sleep waits without a record`
		return orchestration.Activity(ctx, Charge, cents).Await() // want `ctx is the context outside this block`
	}).Await()
}
