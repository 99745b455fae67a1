package patterns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/retry"
)

// Trip is what somebody books.
type Trip struct{ Flight, Hotel, Car string }

// Book books one part of a trip and returns its number; Cancel takes that back.
var (
	Book   = activity.New("Book", func(_ context.Context, part string) (string, error) { return "booking of " + part, nil })
	Cancel = activity.New("Cancel", func(_ context.Context, booking string) (string, error) { return booking, nil })
)

// Booking books all parts of a trip or none: when one fails, or when the booking is cancelled,
// those before it are taken back, the last first.
var Booking = orchestration.New("Booking", func(ctx *orchestration.Context, trip Trip) ([]string, error) {
	var saga orchestration.Saga
	var bookings []string
	for _, part := range []string{trip.Flight, trip.Hotel, trip.Car} {
		booking, err := orchestration.Step(ctx, &saga, func(ctx *orchestration.Context) (string, error) {
			return orchestration.Activity(ctx, Book, part, orchestration.WithRetry(retry.Policy{})).Await()
		}, func(ctx *orchestration.Context, booking string) error {
			_, err := orchestration.Activity(ctx, Cancel, booking, orchestration.WithRetry(retry.Policy{MaxAttempts: 10})).Await()
			return err
		})
		if err != nil {
			return nil, saga.Undo(ctx, errors.Join(fmt.Errorf("booking %s", part), err))
		}
		bookings = append(bookings, booking)
	}
	return bookings, nil
}).WithCleanup(10 * time.Minute)
