// Package trust states what the analyser cannot see.
package trust

import (
	"os"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

func lines(ctx *orchestration.Context, n int) (string, error) {
	_ = os.Getenv("REGION") //duroxide:deterministic all workers of a store have the same region
	_ = os.Getenv("REGION") // want `os.Getenv differs`
	//duroxide:deterministic the same in all of them
	_ = os.Getenv("TENANT")
	_ = os.Getenv("TENANT") // want `os.Getenv differs`
	_ = time.Now()          //duroxide:deterministic // want `time.Now reads the clock` `//duroxide:deterministic needs a reason behind it`
	_ = stamp()
	return "", nil
}

// stamp is for a log.
//
//duroxide:deterministic it ends in a log line only
func stamp() time.Time { return time.Now() }

//duroxide:deterministic the tests replace the clock
var Fixed = orchestration.New("Fixed", func(ctx *orchestration.Context, n int) (int64, error) {
	return time.Now().Unix(), nil
})

//duroxide:deterministic // want `needs a reason`
func unreasoned(ctx *orchestration.Context) time.Time { return time.Now() } // want `time.Now reads the clock`

//duroxide:deterministically is another word
func another(ctx *orchestration.Context) time.Time { return time.Now() } // want `time.Now reads the clock`
