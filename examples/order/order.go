package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

// order is the input of an Order.
type order struct {
	Item  string `json:"item"`
	Cents int    `json:"cents"`
}

// decision is what somebody says of a large order, and decided the event that brings it.
type decision struct {
	Approved bool   `json:"approved"`
	By       string `json:"by"`
}

var decided = orchestration.NewEvent[decision]("decision")

// What an order does outside; see [shop.activities].
var (
	reserve = activity.Declare[string, string]("Reserve")
	release = activity.Declare[string, string]("Release")
	ship    = activity.Declare[string, string]("Ship")
)

// firstOrder is how orders began with version 1.0.0. It goes when none of them is left.
var firstOrder = orchestration.New("Order", fulfil)

// newOrder asks somebody before it takes a large sum.
var newOrder = orchestration.New("Order", func(ctx *orchestration.Context, o order) (string, error) {
	const large = 1000_00
	if o.Cents >= large {
		if err := askSomebody(ctx); err != nil {
			return "", err
		}
	}
	return fulfil(ctx, o)
}).WithVersion("2.0.0")

// askSomebody waits for a decision, but not for ever.
func askSomebody(ctx *orchestration.Context) error {
	answer := decided.Wait(ctx)
	deadline := ctx.Timer(24 * time.Hour)
	// For those who decide, and for a program: an event before it would be lost.
	ctx.SetCustomStatus("waits for a decision")
	first := orchestration.SelectAndDrop(answer, deadline)
	ctx.ResetCustomStatus()
	if first == 1 {
		return errors.New("nobody decided within a day")
	}
	d, err := answer.Await()
	if err == nil && !d.Approved {
		err = fmt.Errorf("rejected by %s", d.By)
	}
	return err
}

// fulfil reserves, charges and ships. What was reserved for nothing is released.
func fulfil(ctx *orchestration.Context, o order) (string, error) {
	if _, err := orchestration.Activity(ctx, reserve, o.Item).Await(); err != nil {
		return "", err
	}
	receipt, err := orchestration.SubOrchestration(ctx, payment, o.Cents).Await()
	if err != nil {
		_, releaseErr := orchestration.Activity(ctx, release, o.Item).Await()
		return "", errors.Join(err, releaseErr)
	}
	parcel, err := orchestration.Activity(ctx, ship, o.Item).Await()
	return receipt + ", " + parcel, err
}
