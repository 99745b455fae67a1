// Package trusted is stated to be deterministic as a whole.
//
//duroxide:deterministic it is a simulation in which the clock is replaced
package trusted

import (
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

func now(ctx *orchestration.Context) time.Time { return time.Now() }
