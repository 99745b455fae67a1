// Package activities calls the functions of activities.
package activities

import (
	"context"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

var (
	Charge = activity.New("Charge", charge)
	ship   = activity.New("Ship", Post)
	Refund = activity.Declare[int, string]("Refund").Implement(giveBack)
)

func giveBack(_ context.Context, cents int) (string, error) { return "refunded", nil }

func charge(_ context.Context, cents int) (string, error) { return "paid", nil }

func Post(_ context.Context, item string) (string, error) { return item, nil } // want Post:"activity"

type shop struct {
	reserve func(ctx context.Context, item string) (string, error)
}

func (s shop) activities() any { return activity.New("Reserve", s.reserve) }

func (s shop) bad(ctx *orchestration.Context, item string) (string, error) {
	if _, err := charge(context.Background(), 3); err != nil { // want `charge is the function of an activity, and called directly it is not recorded; use orchestration.Activity\(ctx, Charge, …\)`
		return "", err
	}
	if _, err := s.reserve(context.Background(), item); err != nil { // want `reserve is the function of an activity, and called directly it is not recorded; call its definition by orchestration.Activity`
		return "", err
	}
	if _, err := giveBack(context.Background(), 3); err != nil { // want `giveBack is the function of an activity, and called directly it is not recorded; use orchestration.Activity\(ctx, Refund, …\)`
		return "", err
	}
	return Post(context.Background(), item) // want `Post is the function of an activity`
}

func good(ctx *orchestration.Context, item string) (string, error) {
	if _, err := orchestration.Activity(ctx, Charge, 3).Await(); err != nil {
		return "", err
	}
	return orchestration.Activity(ctx, ship, item).Await()
}
