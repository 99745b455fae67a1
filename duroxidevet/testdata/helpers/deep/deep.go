// Package deep is far away from orchestrations.
package deep

import (
	"math/rand/v2"
	"time"
)

func Clock() string { return read().String() } // want Clock:"clock"

func read() time.Time { return time.Now() }

func Draw(n int) int { return rand.IntN(n) } // want Draw:"random"
