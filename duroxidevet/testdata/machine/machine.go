// Package machine has orchestrations that ask for what is another thing in another process.
package machine

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

func bad(ctx *orchestration.Context, n int) (string, error) {
	_ = runtime.NumCPU()         // want `runtime.NumCPU differs between processes; pass it as input, or ask for it in an activity`
	_ = runtime.NumGoroutine()   // want `runtime.NumGoroutine differs`
	_, _ = debug.ReadBuildInfo() // want `debug.ReadBuildInfo differs`
	_ = os.Args[1]               // want `os.Args differs`
	_ = os.Getenv("REGION")      // want `os.Getenv differs`
	_ = os.Getpid()              // want `os.Getpid differs`
	_ = time.Local               // want `time.Local differs`
	if n < 0 {
		os.Exit(1) // want `os.Exit ends the process or its goroutine; return an error`
	}
	return os.Hostname() // want `os.Hostname differs`
}

func good(ctx *orchestration.Context, n int) (string, error) {
	return runtime.GOOS + ctx.Info().Instance, nil
}
