package samples

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

// A trip books a car, a hotel and a flight, and undoes what was booked when one of them fails. After the saga samples of
// Temporal and Cadence.

type step struct {
	name     string
	do, undo activity.Definition[string, string]
}

var trip = []step{
	{"car", act[string, string]("BookCar"), act[string, string]("CancelCar")},
	{"hotel", act[string, string]("BookHotel"), act[string, string]("CancelHotel")},
	{"flight", act[string, string]("BookFlight"), act[string, string]("CancelFlight")},
}

var Trip = orchestration.New("Trip", bookTrip)

func bookTrip(ctx *orchestration.Context, traveller string) (booked map[string]string, err error) {
	booked = map[string]string{}
	var done []func() error
	for _, s := range trip {
		id, err := orchestration.Activity(ctx, s.do, traveller, patient).Await()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.name, err), undoAll(done))
		}
		booked[s.name] = id
		done = append(done, func() error {
			_, err := orchestration.Activity(ctx, s.undo, id, patient).Await()
			return err
		})
	}
	return booked, nil
}

func undoAll(done []func() error) (err error) {
	for i := len(done) - 1; i >= 0; i-- {
		err = errors.Join(err, done[i]())
	}
	return err
}
