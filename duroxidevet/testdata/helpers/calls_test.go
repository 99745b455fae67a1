package helpers_test

import (
	"example.com/app/helpers"
	"github.com/duroxide/duroxide-go/orchestration"
)

func calls(ctx *orchestration.Context, names []string) (string, error) {
	_ = helpers.Stamp()                       // want `helpers.Stamp calls deep.Clock calls read, where time.Now reads the clock, which shows another time in a replay \(deep.go:11\); use ctx.UTCNow\(\)`
	_ = helpers.Numbers[string](names).Draw() // want `helpers.Numbers.Draw calls deep.Draw, where rand.IntN is random`
	_ = helpers.Even(3)                       // want `helpers.Even, where fmt.Println writes again in every replay \(helpers.go:\d+\); use ctx.Logger\(nil\)`
	_ = helpers.Odd(3)                        // want `helpers.Odd calls Even, where fmt.Println`
	_ = new(helpers.Names).Next("a")          // want `helpers.Names.Next, where sync.Mutex.Lock may block`
	stamp := helpers.Stamp                    // want `helpers.Stamp calls deep.Clock`
	_ = stamp
	_ = helpers.WithNow()
	_ = helpers.Trusted()
	return helpers.Pure(names), nil
}
