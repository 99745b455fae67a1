package main

import (
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// bill is what to charge. The provider of payments does nothing for a key that it has
// seen, so a charge that is sent again takes the money once.
type bill struct {
	Key   string `json:"key"`
	Cents int    `json:"cents"`
}

// answer is what the provider of payments says. A refusal is an answer and not an error:
// asking again would not change it.
type answer struct {
	Receipt  string `json:"receipt"`
	Declined bool   `json:"declined"`
}

// charge is defined by [shop.activities], which knows the provider.
var charge = activity.Declare[bill, answer]("Charge")

// payment charges through a provider that does not always answer: up to 8 times, with pauses
// of 200 ms, 400 ms and so on. The pauses are timers: no process waits for them, and they go
// on across restarts, as does the count.
var payment = orchestration.New("Payment", func(ctx *orchestration.Context, cents int) (string, error) {
	b := bill{Key: ctx.Info().Instance, Cents: cents}
	a, err := orchestration.Activity(ctx, charge, b, orchestration.WithRetry(retry.Policy{
		MaxAttempts: 8,
		Backoff:     retry.Exponential(200*time.Millisecond, 2, time.Minute),
	})).Await()
	if err == nil && a.Declined {
		return "", errors.New("the card was declined")
	}
	return a.Receipt, err
})
